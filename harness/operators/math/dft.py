"""DFT: the discrete Fourier transform along one axis, its inverse, and both of real signals by half a spectrum.

Versions: 17 (axis as attribute, 1 if left out), 20 (axis as input, -2 if left out; formulas).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import Array, Clause, Op, Rule, Tag, Version, bounded, ramp, typed
from harness.declare.data import waves
from harness.operators.math._fourier import COMPLEX, Transform, half_spectrum


def _asked(
    input: Array, dft_length: Array | None, axis: Any, inverse: int, onesided: int  # noqa: A002, ANN401
) -> Transform:  # fmt: skip
    """Return the transform that arguments ask for."""
    at = int(-2 if axis is None else axis) % input.ndim
    dim = input.shape[at]
    length = int(dft_length) if dft_length is not None else 2 * (dim - 1) if inverse and onesided else dim
    return Transform(at, length, bool(inverse), bool(onesided))


def _rounding(input: Array, **given: Any) -> list[Array]:  # noqa: A002, ANN401
    return [_asked(input, **given).off(input)]


DFT = Op(
    "DFT",
    versions=(17, 20),
    compare=bounded(_rounding, "every addition, in any order, every factor and the angle of each rounds"),
    rank="input",
)

Pair = tuple[Clause, Clause]


def _pair(old: str, new: str = "", note: str = "") -> Pair:
    """Declare a sentence of both versions; if nothing else changed, the new one has names between backticks."""
    return DFT.clause(old.replace("`", ""), before=20, note=note), DFT.clause(new or old, since=20, note=note)


NAMED = DFT.clause(
    "Computes the discrete Fourier transform of input.",
    before=20,
    note="Gives no formula, nor the factor 1/N of the inverse; those of version 20 hold, as the official cases show. "
    "Where that of the inverse is off, the formula of version 20 says.",
    against=("test_dft_inverse_opset19",),
)
FORMULA = DFT.clause(r"$$y[m, k] = \sum_{n=0}^{N-1} e^{-2 \pi j \frac{k n}{N} } x[m, n] ,$$", since=20)
INVERSE = DFT.clause(
    r"$$x[m, n] = \frac{1}{N} \sum_{k=0}^{N-1} e^{2 \pi j \frac{k n}{N} } y[m, k] ,$$",
    since=20,
    note="Where this sum is 0 the official cases expect 1.9e-7, a rounding of their own float32, and allow 1e-7.",
    against=("test_dft_inverse",),
)
OTHERS = DFT.clause('and `M` denotes the conceptual "all other dimensions,"', since=20)
FALSE = _pair(
    "By default this value is set to 0, which corresponds to false.",
    "Default is 0, which corresponds to `false`.",
    "Says nothing of values other than 0 and 1.",
)
AXIS_ONE = DFT.clause("set to 1, which corresponds to the first dimension after the batch index.", before=20)
AXIS_LAST = DFT.clause("Default is `-2` (last signal axis).", since=20)
AXIS_SCALAR = DFT.clause("The axis as a scalar on which to perform the DFT.", since=20)
BACK = DFT.clause("Negative value means counting dimensions from the back.")
RANGE = DFT.clause(r"Accepted range is $[-r, -2] \cup [0, r-2]$ where `r = rank(input)`.")
INVALID = DFT.clause("The last dimension is for representing complex numbers and thus is an invalid axis.")
USED = _pair(
    "only values for w in [0, 1, 2, ..., floor(n_fft/2) + 1] are used or returned",
    "only values for `k` in `[0, 1, 2, ..., floor(n_fft/2) + 1]` are used or returned",
    "The shape of the output has floor(dft_length/2) + 1 of them, from 0 on: it decides.",
)
SYMMETRY = DFT.clause(
    "because the real-to-complex Fourier transform satisfies the conjugate symmetry",
    note="Says nothing of a spectrum that does not: whose value at 0, or of even lengths in the middle, is not real.",
)
NOT_COMPLEX = _pair(
    "When `onesided=1` and `inverse=0` (forward DFT), only real input is supported and a one-sided complex spectrum is "
    "returned (RFFT)."
)
NOT_REAL = _pair(
    "When `onesided=1` and `inverse=1` (inverse DFT), only complex input is supported and a full real signal is "
    "returned (IRFFT)."
)
WHOLE = DFT.clause("When invoked with real or complex valued input, the default value is 0.", before=20)
ZERO_ONE = _pair("Values can be 0 or 1.", "Value can be `0` or `1`. Default is `0`.")
EXPECTED = "input, the following shape is expected:"
REAL, SHAPE = (
    _pair(
        f"For {kind} {EXPECTED} [batch_idx][signal_dim1][signal_dim2]...[signal_dimN]{last}.",
        f"For {kind} {EXPECTED} `[signal_dim0][signal_dim1][signal_dim2]...[signal_dimN]{last}`.",
    )
    for kind, last in (("real", [1]), ("complex", [2]))
)
PARTS = DFT.clause("The final dimension represents the real and imaginary parts of the value in that order.")
SCALAR = DFT.clause("The length of the signal as a scalar.", note="Says nothing of less than 1.")
PADDED = DFT.clause("If greater than the axis dimension, the signal will be zero-padded up to")
CUT = DFT.clause("If less than the axis dimension, only the first", note="onnxruntime takes others for IRFFT.")
LENGTH = _pair("If not provided, the default `dft_length = signal_dim_axis`,")
LENGTH_HALF = _pair("in which case the default dft_length is `2 * (signal_dim_axis - 1)`.")
RFFT = _pair("(one-sided complex), with `signal_dim_axis = floor(dft_length/2) + 1`.")
IRFFT = _pair("(real), where `signal_dim_axis = dft_length`.")
LENGTH_TYPES = _pair(
    "Constrain scalar length types to int64_t.", "Constrain scalar length types to integers.", "int32 is allowed too."
)
FLOATS = DFT.clause("Constrain input and output types to float tensors.")


@DFT.oracle()
def transformed(
    v: Version, input: Array, dft_length: Array | None, axis: Any, inverse: int, onesided: int  # noqa: A002, ANN401
) -> Array:  # fmt: skip
    """Return the transform; axis is an attribute before version 20, and then an input."""
    new, rank = v.since // 20, input.ndim
    v.require(AXIS_SCALAR, not (isinstance(axis, np.ndarray) and axis.ndim))
    v.require(RANGE, int(-2 if axis is None else axis) in {*range(-rank, -1), *range(rank - 1)})
    v.require(SHAPE[new], input.shape[-1] in {1, COMPLEX})
    v.require(SCALAR, dft_length is None or dft_length.ndim == 0)
    v.require(ZERO_ONE[new], onesided in {0, 1})
    v.silent(FALSE[new], inverse not in {0, 1})
    if onesided:
        real = input.shape[-1] == 1
        v.require(NOT_COMPLEX[new], real or bool(inverse))
        v.require(NOT_REAL[new], not (real and inverse))
    asked = _asked(input, dft_length, axis, inverse, onesided)
    v.silent(SCALAR, asked.n < 1)
    own = asked.whole(input).take(asked.own_mirror(), asked.at)
    v.silent(SYMMETRY, asked.inverse and asked.onesided and bool(own.imag.any()))
    return asked.of(input)


case = DFT.case


def twice(
    name: str, *tags: Tag, cites: tuple[Clause | Pair, ...] = (), rejects: Pair | None = None,
    unspecified: Pair | None = None, **given: Any,  # noqa: ANN401 - see Op.case
) -> None:  # fmt: skip
    """Declare a case in each version, with the sentences of that version."""
    for index, suffix in enumerate(("_old", "")):
        mine = [item[index] if isinstance(item, tuple) else item for item in cites]
        clauses = tuple(item for item in mine if item.in_force(DFT.versions[index]))
        limits: dict[str, Any] = {"since": 20} if index else {"before": 20}
        limits |= {"rejects": rejects and rejects[index], "unspecified": unspecified and unspecified[index]}
        case(f"{name}{suffix}", *tags, cites=clauses, **limits, **given)


REAL_LINE, LINE = waves(2, 5, 1), waves(2, 5, COMPLEX)

twice("real", input=REAL_LINE, axis=1, cites=(NAMED, FORMULA, REAL, LENGTH, FALSE, WHOLE, OTHERS))
twice("complex", input=LINE, axis=1, cites=(NAMED, FORMULA, SHAPE, PARTS, INVALID))
twice("axis_left_out", Tag.CHANGE, input=waves(2, 3, 4, COMPLEX), cites=(AXIS_ONE, AXIS_LAST))
for name, values in (("real", REAL_LINE), ("complex", LINE)):
    for wanted in (0, 1):
        given: dict[str, Any] = {"input": values, "axis": 1, "inverse": wanted, "onesided": 0}
        twice(f"{name}_inverse_{wanted}", **given, cites=(NAMED, INVERSE if wanted else FORMULA, ZERO_ONE))
for n in (1, 2, 3, 4, 5, 8, 9):
    size: dict[str, Any] = {"axis": 1, "onesided": 1}
    twice(f"rfft_of_{n}", input=waves(3, n, 1), **size, cites=(NOT_COMPLEX, USED, RFFT, SYMMETRY))
    size |= {"inverse": 1, "input": half_spectrum(1, n, 3, n // 2 + 1), "dft_length": n}
    twice(f"irfft_of_{n}", **size, cites=(NOT_REAL, IRFFT))
    case(f"length_{n}", input=LINE, axis=1, dft_length=n, cites=(PADDED if n >= len(LINE[0]) else CUT, SCALAR))
    case(f"length_{n}_inverse", input=LINE, axis=1, dft_length=n, inverse=1, cites=(SCALAR,))
    case(f"length_{n}_rfft", input=REAL_LINE, axis=1, dft_length=n, onesided=1, cites=(SCALAR,))
    size["input"] = half_spectrum(1, n, 2, 4)
    case(f"length_{n}_irfft", **size, cites=(PADDED if n >= 4 else CUT,))  # noqa: PLR2004 - the axis dimension
half_line: dict[str, Any] = {"input": half_spectrum(1, 6, 3, 4), "axis": 1, "inverse": 1, "onesided": 1}
twice("irfft_length_left_out", **half_line, cites=(LENGTH_HALF,))
case("length_int32", input=LINE, axis=1, dft_length=typed("int32", 4), cites=(SCALAR,))
for name, n in (("prime", 17), ("power", 32), ("product", 12)):
    case(f"long_{name}", input=np.cos(np.arange(2.0 * n) ** 2).reshape(1, n, COMPLEX), axis=1)
    case(f"long_{name}_inverse", input=np.cos(np.arange(2.0 * n) ** 2).reshape(1, n, COMPLEX), axis=1, inverse=1)
case("impulse", Tag.EDGE, input=np.eye(1, 10, 2).reshape(1, 5, COMPLEX), axis=1, inverse=1)
case("size_one", Tag.EDGE, input=[[[3.0, -2.0]]], axis=1)
case("no_batch", Tag.EDGE, input=ramp(0, 3, COMPLEX), axis=1)
case("nothing_padded", Tag.EDGE, input=ramp(2, 0, 1), axis=1, dft_length=3, cites=(PADDED,))

SIZES = (3, 4, 5)
for rank in range(2, 5):
    shape = SIZES[: rank - 1]
    for axis in (*range(-rank, -1), *range(rank - 1)):
        name, clauses = f"rank{rank}_axis{axis}".replace("-", "_minus"), (RANGE, BACK) if axis < 0 else (RANGE,)
        case(name, Tag.AXIS, input=waves(*shape, COMPLEX), axis=axis, cites=clauses)
        case(f"{name}_rfft", Tag.AXIS, input=waves(*shape, 1), axis=axis, onesided=1, dft_length=6, cites=clauses)
        turned = {"input": half_spectrum(axis % rank, 4, *shape), "axis": axis, "dft_length": 4}
        case(f"{name}_irfft", Tag.AXIS, **turned, inverse=1, onesided=1, cites=clauses)
    for name, axis in (("last", rank - 1), ("minus_one", -1), ("too_high", rank), ("too_low", -rank - 1)):
        case(f"rank{rank}_axis_{name}", Tag.AXIS, input=waves(*shape, COMPLEX), axis=axis, rejects=RANGE)
case("rank0", Tag.EDGE, input=ramp(), axis=0, rejects=RANGE)
case("rank1", Tag.EDGE, input=ramp(COMPLEX), axis=0, rejects=RANGE)
case("rank2_axis_left_out_old", Tag.CHANGE, input=LINE[0], before=20, rejects=RANGE)
case("rank2_axis_left_out", Tag.CHANGE, input=LINE[0], cites=(AXIS_LAST,))
case("axis_vector", input=LINE, axis=[1], since=20, rejects=AXIS_SCALAR)
case("axis_int32", input=LINE, axis=typed("int32", 1), since=20, rejects=Rule.TYPES)
for last in (0, 3):
    twice(f"last_of_{last}", input=ramp(2, 5, last), axis=1, rejects=SHAPE)
case("length_vector", input=LINE, axis=1, dft_length=[4], rejects=SCALAR)
case("length_negative", Tag.EDGE, input=LINE, axis=1, dft_length=-5, unspecified=SCALAR)
case("nothing", Tag.EDGE, input=ramp(2, 0, 1), axis=1, unspecified=SCALAR)
case("irfft_of_one_value", Tag.EDGE, input=half_spectrum(1, 1, 2, 1), axis=1, inverse=1, onesided=1, unspecified=SCALAR)
IRFFT_OF: dict[str, Any] = {"input": LINE, "axis": 1, "inverse": 1, "onesided": 1}
case("irfft_not_symmetric", Tag.EDGE, **IRFFT_OF, unspecified=SYMMETRY)
twice("onesided_two", input=REAL_LINE, axis=1, onesided=2, rejects=ZERO_ONE)
twice("rfft_of_complex", input=LINE, axis=1, onesided=1, rejects=NOT_COMPLEX)
twice("irfft_of_real", input=REAL_LINE, axis=1, inverse=1, onesided=1, rejects=NOT_REAL)
twice("inverse_two", Tag.EDGE, input=LINE, axis=1, inverse=2, unspecified=FALSE)

case("dtypes", Tag.DTYPE, each="T1", input=waves(2, 5, COMPLEX), axis=1, cites=(FLOATS,))
case("dtypes_rfft", Tag.DTYPE, each="T1", input=waves(2, 6, 1), axis=1, onesided=1, cites=(FLOATS,))
case("dtypes_irfft", Tag.DTYPE, each="T1", **half_line, cites=(FLOATS,))
twice("length_dtypes", Tag.DTYPE, each="T2", input=LINE, axis=1, dft_length=3, cites=(LENGTH_TYPES,))
case("outside", Tag.DTYPE, outside="T1", input=ramp(2, 5, 1), axis=1, since=20, rejects=Rule.TYPES)
case("length_outside", Tag.DTYPE, outside="T2", input=LINE, axis=1, dft_length=3, since=20, rejects=LENGTH_TYPES[1])
case("no_outputs", input=LINE, axis=1, n=0, rejects=Rule.ARITY)
case("two_outputs", input=LINE, axis=1, n=2, rejects=Rule.ARITY)
case("attribute_axis", Tag.CHANGE, input=LINE, stray={"axis": 1}, since=20, rejects=Rule.ATTRIBUTES)
