"""The greatest and the least: of several tensors element by element, and along axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare.arguments import typed
from harness.declare.clause import Rule
from harness.declare.data import Array, extremes, ramp
from harness.declare.families.broadcasting import Multidirectional
from harness.declare.families.elementwise import float_types
from harness.declare.families.reduction import Reduction
from harness.declare.op import Op, Tag

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.declare.clause import Version
    from harness.declare.families.reduction import Ints


def rank_of_all(given: Mapping[str, Any]) -> int:
    """Return the rank of the result of all tensors."""
    return max((np.ndim(given[name]) for name in given if name.startswith("data_0_")), default=0)


class Extremum:
    """Max and Min: tensors of one shape before version 8, integers since 12."""

    def __init__(self, op: Op, word: str, adjective: str, beats: np.ufunc) -> None:
        """Declare the sentences on `op`, and its meaning.

        Args:
            op: the operator.
            word: its name in them.
            adjective: what each element is among the others.
            beats: the comparison that tells.
        """
        self.op, self.beats = op, beats
        self.computes = op.clause(
            f"Element-wise {word} of each of the input tensors",
            note=f"Says neither what is {adjective[:-2]}r of a number and NaN nor of +0 and -0; alone, each is the "
            f"{adjective}.",
        )
        self.same_shape = op.clause("All inputs and outputs must have the same shape and data type.", before=8)
        self.same_dimension = op.clause("Same dimension as inputs.", before=8)
        self.same_type = op.clause("All inputs and outputs must have the same data type.", since=8)
        self.numpy = Multidirectional(op, since=8)
        self.list_old = op.clause(f"List of tensors for {op.name}", before=8)
        self.list = op.clause(f"List of tensors for {word}.", since=8)
        self.legacy = op.clause("legacy optimization attribute.", before=6)
        self.floats = op.clause("Constrain input and output types to float tensors.", before=12)
        self.numeric = op.clause("Constrain input and output types to numeric tensors.", since=12)

        @op.oracle(before=8)
        def of_one_shape(v: Version, data_0: list[Array]) -> Array:
            v.require(self.same_shape, all(item.shape == data_0[0].shape for item in data_0))
            return self.of(v, data_0)

        @op.oracle(since=8)
        def multidirectional(v: Version, data_0: list[Array]) -> Array:
            self.numpy.require(v, *data_0)
            return self.of(v, data_0)

    def of(self, v: Version, data: list[Array]) -> Array:
        """Return the one that beats all others, in the shape that all are broadcast to."""
        if len(data) == 1:
            return data[0]
        v.silent(self.computes, any(item.dtype.kind == "f" and bool(np.isnan(item).any()) for item in data))
        found = data[0]
        for item in data[1:]:
            tie = (found == 0) & (item == 0)
            v.silent(self.computes, bool((tie & (np.signbit(found) != np.signbit(item))).any()))
            found = np.where(self.beats(item, found), item, found)
        return found

    def cases(self) -> None:
        """Declare the cases."""
        case = self.op.case
        first, second, third = [1, 5, 3], [4, 2, 6], [7, 0, 4]
        case("one", Tag.EDGE, data_0=(ramp(2, 3),), cites=(self.computes, self.same_dimension))
        case("two", data_0=(first, second), cites=(self.computes, self.same_dimension))
        case("three", data_0=(first, second, third), cites=(self.computes, self.list_old))
        case("three_now", data_0=(first, second, third), cites=(self.computes, self.list))
        case(
            "seven",
            data_0=tuple([(item * index) % 7 for item in range(6)] for index in range(1, 8)),
            cites=(self.computes,),
        )
        case("rank4", data_0=(ramp(2, 3, 4, 5), np.arange(120)[::-1].reshape(2, 3, 4, 5)), cites=(self.computes,))
        case("twice_the_same", Tag.EDGE, data_0=(first, first), cites=(self.computes,))
        case("negative", data_0=([-1, -5, 0], [-4, -2, -6]), cites=(self.computes,))
        case("rank0", Tag.EDGE, data_0=(3, 4), cites=(self.computes,))
        case("size_one", Tag.EDGE, data_0=([4], [3]), cites=(self.computes,))
        case("zero_size", Tag.EDGE, data_0=(ramp(2, 0, 3), ramp(2, 0, 3)), cites=(self.computes,))
        case("zero_size_one", Tag.EDGE, data_0=(ramp(0),), cites=(self.computes,))
        case("consumed_inputs", data_0=(first, second), consumed_inputs=[0, 0], cites=(self.legacy,))
        case("legacy_shapes", Tag.CHANGE, data_0=(ramp(2, 3), ramp(3)), rejects=self.same_shape)
        case("legacy_scalar", Tag.CHANGE, data_0=(ramp(2, 3), 2), rejects=self.same_shape)
        case("legacy_shape_of_third", data_0=(ramp(2, 3), ramp(2, 3), ramp(1, 3)), rejects=self.same_shape)
        case("legacy_same_count", Tag.EDGE, data_0=(ramp(2, 3), ramp(3, 2)), rejects=self.same_shape)

        self.numpy.cases(_operands)
        for shapes in _TUPLES:
            name = "_and_".join("x".join(map(str, shape)) or "scalar" for shape in shapes)
            case(f"broadcast_{name}", Tag.CHANGE, **_operands(*shapes), cites=(self.numpy.clause,))
        case("mismatch_of_third", data_0=(ramp(2, 3), ramp(3), ramp(4)), rejects=self.numpy.clause)
        case("mismatch_first_and_third", Tag.EDGE, data_0=(ramp(2), 1, ramp(3)), rejects=self.numpy.clause)
        self._types_and_misfits()

    def _types_and_misfits(self) -> None:
        case = self.op.case
        first, second, third = [1, 5, 3], [4, 2, 6], [7, 0, 4]
        case("dtypes_floats", Tag.DTYPE, each="T", data_0=(first, second), cites=(self.floats,))
        case("dtypes_numeric", Tag.DTYPE, each="T", data_0=(first, second), cites=(self.numeric,))
        case("dtypes_one", Tag.DTYPE, each="T", data_0=(first,))
        case("dtypes_one_extremes", Tag.DTYPE, Tag.EDGE, each="T", data_0=(extremes(11),))
        case("dtypes_three", Tag.DTYPE, each="T", data_0=(first, second, third))
        case(
            "dtypes_broadcast",
            Tag.DTYPE,
            each="T",
            data_0=(ramp(2, 1), [0, 1, 2], 1),
            cites=(self.numpy.clause, self.same_type),
        )
        case("outside", Tag.DTYPE, outside="T", data_0=(first, second), rejects=Rule.TYPES)
        case("two_types_old", Tag.DTYPE, data_0=(first, typed("double", second)), rejects=self.same_shape)
        case("two_types", Tag.DTYPE, data_0=(first, typed("double", second)), rejects=self.same_type)
        case("third_type", Tag.DTYPE, data_0=(first, second, typed("float16", third)), rejects=self.same_type)
        for type_, since in float_types(13).items():

            def pair(*numbers: tuple[Any, Any], type_: str = type_) -> dict[str, Any]:
                """Return two tensors that hold the pairs."""
                return {"data_0": tuple(typed(type_, list(side)) for side in zip(*numbers, strict=True))}

            inf, nan = np.inf, np.nan
            case(f"infinities_{type_}", Tag.EDGE, **pair((inf, 1), (1, -inf), (inf, -inf), (-inf, -inf)), since=since)
            case(
                f"fractions_{type_}", Tag.EDGE, **pair((0.1, 0.2), (-0.1, -0.2), (1e-7, 2e-7), (-0.0, -1)), since=since
            )
            case(f"negative_zero_{type_}", Tag.EDGE, **pair((-0.0, -0.0), (-0.0, -1), (0.0, 0.0)), since=since)
            case(
                f"two_zeros_{type_}", Tag.EDGE, **pair((-0.0, 0.0), (0.0, -0.0)), since=since, unspecified=self.computes
            )
            case(
                f"nan_{type_}", Tag.EDGE, **pair((nan, 1), (1, nan), (nan, nan)), since=since, unspecified=self.computes
            )
            case(f"nan_inf_{type_}", Tag.EDGE, **pair((nan, inf), (-inf, nan)), since=since, unspecified=self.computes)
        for bits in (8, 16, 32, 64):
            for type_ in (f"int{bits}", f"uint{bits}"):
                low, high = int(np.iinfo(type_).min), int(np.iinfo(type_).max)
                left, right = (
                    np.array(side, type_) for side in ([low, high, high - 1, low], [high, low, high, low + 1])
                )
                case(
                    f"limits_{type_}",
                    Tag.EDGE,
                    data_0=(typed(type_, left), typed(type_, right)),
                    since=12,
                    cites=(self.computes,),
                )

        case(
            "attribute_consumed_inputs",
            data_0=(first,),
            stray={"consumed_inputs": [0]},
            since=6,
            rejects=Rule.ATTRIBUTES,
        )
        case("attribute_broadcast", data_0=(first, second), stray={"broadcast": 1}, rejects=Rule.ATTRIBUTES)
        case("no_inputs", data_0=(), rejects=Rule.ARITY)
        case("no_outputs", data_0=(first, second), n=0, rejects=Rule.ARITY)
        case("two_outputs", data_0=(first, second), n=2, rejects=Rule.ARITY)


class ReducedExtremum:
    """ReduceMax and ReduceMin: of 8 bit since version 12, axes as an input since 18, Boolean since 20."""

    def __init__(self, op: Op, word: str, of: Callable[..., Array], *, yields: str, beyond: float) -> None:
        """Declare the sentences on `op`, and its meaning.

        Args:
            op: the operator, made with `rank=reduced_rank`.
            word: what is computed.
            of: the numpy function that computes it.
            yields: the end of the sentence that begins with: Reduction over an empty set of values.
            beyond: the infinity of an empty set.
        """
        self.op, self.beyond = op, beyond
        self.reduction = Reduction(op, yields=yields, silent=12, by_input=18)
        self.computes = op.clause(
            f"Computes the {word} of the input tensor's element",
            note=f"Says not whether a NaN or a number is the {word}, nor which zero is.",
        )
        self.boolean = op.clause(
            "If the input data type is Boolean, the comparison should consider `False < True`.", since=20, result=True
        )

        @op.oracle()
        def reduced(
            v: Version, data: Array, axes: Ints, keepdims: int | None, noop_with_empty_axes: int | None
        ) -> Array:
            gone = self.reduction.axes(v, data, axes, keepdims, noop_with_empty_axes)
            found = of(data, gone, keepdims=keepdims == 1, initial=self.initial(data.dtype))
            return self.settled(v, data, np.asarray(found), gone)

    def initial(self, dtype: np.dtype[Any]) -> Any:  # noqa: ANN401 - a value of the type
        """Return the infinity, or the limit of a type that has none."""
        if dtype.kind == "f":
            return self.beyond
        if dtype.kind == "b":
            return self.beyond > 0
        limits = np.iinfo(dtype)
        return limits.max if self.beyond > 0 else limits.min

    def settled(self, v: Version, data: Array, found: Array, gone: tuple[int, ...]) -> Array:
        """Return what was found, where the text says which element it is."""
        if gone and data.dtype.kind == "f":
            v.silent(self.computes, bool(np.isnan(found).any()))
            zeros = np.signbit(data[data == 0])
            v.silent(self.computes, bool((found == 0).any() and zeros.any() and not zeros.all()))
        return found

    def cases(self) -> None:
        """Declare the cases."""
        case = self.op.case
        self.reduction.cases(self.computes)
        case(
            "dtypes_empty_set", Tag.DTYPE, Tag.EDGE, each="T", data=ramp(0, 3), axes=[0], cites=(self.reduction.empty,)
        )
        case(
            "dtypes_empty_first",
            Tag.DTYPE,
            Tag.EDGE,
            each="T",
            data=ramp(0, 3),
            axes=[0],
            cites=(self.reduction.empty_first,),
        )
        case("negative", Tag.EDGE, data=[[-3, -1, -2], [-5, -7, -6]], axes=[1], cites=(self.computes,))
        case(
            "infinities",
            Tag.EDGE,
            data=[[np.inf, 1], [-np.inf, 2], [-np.inf, -np.inf]],
            axes=[1],
            cites=(self.computes,),
        )
        case("subnormal", Tag.EDGE, data=[[1e-45, 3e-45], [-1e-40, -1e-45]], axes=[1], cites=(self.computes,))
        case("minus_zeros", Tag.EDGE, data=[[-0.0, -0.0], [-1.0, -0.0]], axes=[1], cites=(self.computes,))
        case("both_zeros", Tag.EDGE, data=[[-0.0, 0.0], [0.0, -0.0]], axes=[1], unspecified=self.computes)
        case(
            "nan",
            Tag.EDGE,
            data=[[np.nan, 1, 2], [3, np.nan, np.inf], [5, 6, np.nan]],
            axes=[1],
            unspecified=self.computes,
        )
        case("nan_all", Tag.EDGE, data=[np.nan, np.nan], unspecified=self.computes)
        case("int64_neighbours", Tag.EDGE, data=typed("int64", [2**60, 2**60 + 1, 2**60 - 1]), cites=(self.computes,))
        case(
            "uint64_high",
            Tag.EDGE,
            data=typed("uint64", np.array([1, 2**63 + 1, 2**63], np.uint64)),
            cites=(self.computes,),
        )
        case(
            "dtypes_extremes_noop",
            Tag.EDGE,
            each="T",
            data=extremes(12),
            noop_with_empty_axes=1,
            cites=(self.reduction.noop,),
        )
        self._types()

    def _types(self) -> None:
        case = self.op.case
        bools = typed("bool", [[False, True, False], [False, False, False], [True, True, True]])
        case("boolean", Tag.CHANGE, data=bools, axes=[1], cites=(self.boolean,))
        case("boolean_columns", Tag.CHANGE, data=bools, axes=[0], keepdims=0, cites=(self.boolean,))
        case("boolean_all", Tag.CHANGE, data=bools, keepdims=0, cites=(self.boolean,))
        case("dtypes_kept", Tag.DTYPE, each="T", data=ramp(2, 3), cites=(self.reduction.keep,))
        case("dtypes", Tag.DTYPE, each="T", data=ramp(2, 3), axes=[1], keepdims=0, cites=(self.reduction.along,))
        case("dtypes_noop", Tag.DTYPE, each="T", data=ramp(2, 3), noop_with_empty_axes=1, cites=(self.reduction.noop,))


def _operands(*shapes: tuple[int, ...]) -> dict[str, Any]:
    """Return tensors whose ramps are turned against one another: no two of one shape have the same order."""
    return {"data_0": tuple(np.roll(ramp(*dims).of(np.dtype("int64")), index) for index, dims in enumerate(shapes))}


_TUPLES: list[tuple[tuple[int, ...], ...]] = [
    ((2, 1, 1), (3, 1), (4,)), ((4,), (3, 1), (2, 1, 1)), ((), (3,), (1, 1), (2, 1)), ((1, 0), (), (2, 1)),
]  # fmt: skip
