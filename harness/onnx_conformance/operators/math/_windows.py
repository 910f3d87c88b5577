# SPDX-License-Identifier: Apache-2.0
"""Windows that are sums of cosines: the common part of HannWindow, HammingWindow and BlackmanWindow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from onnx_conformance.declare import Array
from onnx_conformance.declare.arguments import element_type, typed, vary
from onnx_conformance.declare.data import ramp
from onnx_conformance.declare.op import Op, Tag
from onnx_conformance.declare.rounding import is_float, nearest
from onnx_conformance.declare.sizes import LENGTHS, grid
from onnx_conformance.declare.tolerance import Tolerance, bounded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.declare.clause import Clause, Version

STEPS = 24
"""Upper limit of the roundings of one element.

An angle of up to 4 pi has an error of half an epsilon in tau, in the quotient and in the product. Cosines,
coefficients, products and sums have one rounding each. All of these are below 1 in magnitude.
"""


Curve = Callable[[Array], Array]
"""The window as a function of the angle, which goes from 0 to 2 pi."""


def angles(size: int, periodic: int) -> Array:
    """Return 2 pi n / N for each n. N is the number of points of one period: all points, or all except the last one."""
    return np.asarray(2 * np.pi * np.arange(size) / (size if periodic else size - 1))


def data_type(_: Mapping[str, str], attributes: Mapping[str, Any]) -> Any:  # noqa: ANN401 - see Op.derives
    """Return the type of the output, as an element type or by its name."""
    return attributes.get("output_datatype", "tensor(float)")


def between(*curves: Curve) -> Tolerance:
    """Return the tolerance of a window. If there are several curves, every value between them is allowed."""

    def rounding(v: Version, size: Array, periodic: int) -> list[Array]:
        """Return the absolute error of a computation in float, as in the function body, in epsilons of the output.

        For types of 16 bits one more unit is allowed, because some implementations compute in the output type.
        """
        dtype = v.dtypes["T2"]
        if not is_float(dtype):
            return [np.zeros(int(size.item()))]
        windows = np.array([curve(angles(int(size.item()), periodic)) for curve in curves])
        error = STEPS / 2 * float(np.finfo(np.float32).eps) + np.ptp(windows, axis=0)
        low, exact, high = (nearest(windows[0] + sign * error, dtype).astype(np.float64) for sign in (-1, 0, 1))
        narrow = np.abs(exact) * (dtype.itemsize <= np.dtype(np.float16).itemsize)
        return [np.maximum(high - exact, exact - low) / float(ml_dtypes.finfo(dtype).eps) + narrow]  # type: ignore[no-untyped-call]

    return bounded(rounding, "the function body of onnx computes in float for every type and rounds last", steps=True)


@dataclass(frozen=True)
class Window:
    """The sentences of the texts, one field for each sentence.

    Attributes:
        op: the operator.
        described: the sentence that cites the paper.
        shape: the sentence on the length and the shape of the output. It contains the name of the window.
        periodic, length, default, default_type, data_type, numeric, integer: sentences that the texts share.
    """

    op: Op
    described: Clause
    shape: Clause
    periodic: Clause
    length: Clause
    default: Clause
    default_type: Clause
    data_type: Clause
    numeric: Clause
    integer: Clause

    @classmethod
    def of(cls, op: Op, described: Clause, shape: Clause) -> Window:
        """Declare the sentences that the texts share."""
        op.example(size=5, periodic=0, output_datatype=element_type("{T2}"))
        return cls(
            op,
            described,
            shape,
            periodic=op.clause(
                "If 1, returns a window to be used as periodic function. If 0, return a symmetric window. When "
                "'periodic' is specified, hann computes a window of length size + 1 and returns the first size points.",
                note="The text does not define other values. A symmetric window of one point has no period.",
            ),
            length=op.clause(
                "A scalar value indicating the length of the window.",
                note="The text does not define a negative length. ONNX's shape inference rejects a length of 0.",
            ),
            default=op.clause("The default value is 1."),
            default_type=op.clause("The default value is 1 = FLOAT."),
            data_type=op.clause(
                "Strictly must be one of the values from DataType enum in TensorProto whose values correspond to T2.",
                note="The text does not define how a fraction becomes an integer. It does not define the integer for a "
                "value slightly below it because of rounding errors either. Only 0 and 1 that involve no rounded "
                "coefficient are decided.",
            ),
            numeric=op.clause("Constrain output types to numeric tensors."),
            integer=op.clause("Constrain the input size to int32_t or int64_t."),
        )

    def points(self, v: Version, size: Array, periodic: int, curve: Curve) -> Array:
        """Return the window, or raise if the text does not decide."""
        length = int(v.scalar(self.length, size).item())
        v.silent(self.length, length < 1)
        v.silent(self.periodic, periodic not in {0, 1})
        v.silent(self.periodic, length == 1 and not periodic)
        window = curve(angles(length, periodic))
        v.silent(self.data_type, not is_float(v.dtypes["T2"]) and bool((window % 1).any()))
        return window

    def cases(self, integers: Sequence[tuple[int, int]] = ()) -> None:
        """Declare the cases. `integers` are the sizes and values of `periodic` of the cases with integer types."""
        case, number = self.op.case, element_type("{T2}")
        for type_ in INTEGERS if not integers else ():
            reason = "Every window has fractions, or values that are whole only without rounding."
            self.op.excuse(f"type T2 tensor({type_})", reason)
        for periodic, name in ((1, "periodic"), (0, "symmetric")):
            lengths = vary(**{f"of_{size}": size for size in (3, 8, 11)})
            case(name, size=lengths, periodic=periodic, cites=(self.described, self.shape, self.periodic))
            case(f"{name}_empty", Tag.EDGE, size=0, periodic=periodic, unspecified=self.length)
            case(f"{name}_negative", Tag.EDGE, size=-1, periodic=periodic, unspecified=self.length)
            case(
                f"{name}_dtypes",
                Tag.DTYPE,
                each="T2",
                but=INTEGERS,
                size=9,
                periodic=periodic,
                output_datatype=number,
                cites=self.numeric,
            )
        for type_, datatype in {"float": 1, "double": 11}.items():
            case(f"long_{type_}", Tag.EDGE, size=100, output_datatype=datatype, cites=self.described)
        case("default", size=10, cites=(self.default, self.default_type, self.periodic))
        case("one_point", Tag.EDGE, size=1, periodic=1, cites=self.periodic)
        case("one_point_symmetric", Tag.EDGE, size=1, periodic=0, unspecified=self.periodic)
        case("periodic_other", Tag.EDGE, size=6, periodic=vary(two=2, negative=-1), unspecified=self.periodic)
        case("size_dtypes", Tag.DTYPE, each="T1", size=6, cites=self.integer)
        case("size_of_shape_1", Tag.EDGE, size=[6], cites=self.length)
        wrong = vary(of_shape_2=[6, 6], of_shape_1x1=[[6]], of_shape_0=ramp(0))
        case("size", Tag.EDGE, size=wrong, rejects=self.length)
        case("integers_of_fractions", Tag.DTYPE, Tag.EDGE, size=5, output_datatype=6, unspecified=self.data_type)
        for size, periodic in integers:
            name = f"integers_{'periodic' if periodic else 'symmetric'}_{size}"
            case(
                name,
                Tag.DTYPE,
                each="T2",
                size=typed("int32", size),
                periodic=periodic,
                output_datatype=number,
                cites=self.data_type,
            )
        for periodic, name in ((1, "periodic"), (0, "symmetric")):
            self.op.sized(
                name,
                grid(n=(*LENGTHS[1 :: 2 if periodic else 4], 65_537)),
                cites=(self.described, self.shape),
                arguments={"size": lambda sizes: sizes["n"], "periodic": periodic},
            )
        self.op.sized(
            "double",
            grid(n=(64, 400, 1025)),
            cites=(self.described, self.shape),
            arguments={"size": lambda sizes: sizes["n"], "output_datatype": element_type("double")},
        )
        case(
            "datatype", Tag.DTYPE, size=5, output_datatype=vary(of_no_type=99, bool=9, string=8), rejects=self.data_type
        )


INTEGERS = tuple(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u"))
"""The integer types among the element types of T2."""
