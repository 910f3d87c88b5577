"""Which keys a query of Attention attends: the sentences on masks, causality, padding and windows, and their cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare.arguments import typed
from harness.declare.data import ramp, waves
from harness.declare.op import Tag
from harness.operators.nn._attention import bias

if TYPE_CHECKING:
    from harness.declare.clause import Clause, Version
    from harness.declare.op import Op
    from harness.operators.nn._attention import Array

QKV: dict[str, Any] = {"Q": waves(2, 3, 4, 5) / 2, "K": waves(2, 3, 6, 5)[..., ::-1] / 2, "V": waves(2, 3, 6, 7)}
"""Batches of 2, 3 heads, 4 queries and 6 keys of size 5, values of size 7."""
PAST: dict[str, Any] = {"past_key": waves(2, 3, 8, 5)[:, ::-1] / 2, "past_value": waves(2, 3, 8, 7)[:, ::-1]}
ALL: dict[str, Any] = {"n": 4, "omits": ("present_key", "present_value")}
MASK = waves(4, 6)
SOME = MASK > -1
MAX_RANK = 4
DISPUTES = {
    "The function body of onnx multiplies the probabilities with values of another type, which MatMul does not take.": (
        "dtypes_values",
    ),
    "The function body of onnx rounds the root of the default scale to float.": ("dtypes_flat",),
    "The function body of onnx hands Pad a constant_value of one dimension, which has to be a scalar.": (
        "causal_*_mask", "closed_row_*", "dtypes", "mask_*", "mode_*", "window_*_nonpad",
        "test_attention_*padded_kv*_expanded", "test_attention_*mask*_expanded", "test_attention_24_*_mode3_*_expanded",
    ),
    "The function body of onnx rounds every step to float16, and the official tolerance is one step of it.": (
        "test_attention_4d_causal_fp16_expanded",
    ),
}  # fmt: skip


class Attending:
    """What the text says of the keys that a query attends."""

    def __init__(self, op: Op) -> None:
        """Declare the sentences on `op`."""
        self.op = op
        for reason, globs in DISPUTES.items():
            op.dispute(reason, *globs)
        said = op.clause
        self.boolean = said(
            "A boolean mask where a value of `True` indicates that the element should take part in attention",
            result=True,
        )
        self.boolean_input = said(
            "boolean mask where a value of `True` indicates that the element should take part in attention", result=True
        )
        self.added = said("a float mask of the same type as query, key, value that is added to the attention score.")
        self.types_old = said(
            "Two types of masks are supported.",
            before=24,
            note="The signature also lets integers through, which onnx.reference and onnxruntime add: they are refused "
            "by this sentence.",
        )
        self.types = said("Two types of masks are supported: a boolean mask", since=24)
        self.causal_old = said("query `i` attends key `j` iff `j <= i + past_sequence_length`", before=24)
        self.causal = said("query `i` attends key `j` iff `j <= i + offset`, as illustrated below.", since=24)
        self.in_block = said("query in-block index `i` attends key `j` iff `j <= i + offset`", since=24)
        self.rule = said("Rule: query i attends key j iff j <= i + offset", since=24)
        self.offset = said("`offset` is the count of valid keys preceding the current query block:", since=24)
        self.negative = said("and are fully masked.", since=24)
        self.composed = said("is added to the attention scores rather than disabling positions.")
        self.zero_row = said("produces a zero output row")
        self.window = said("attends keys `j` satisfying `p - left_window_size <= j <= p + right_window_size`", since=25)
        self.upper = said("when `is_causal=1`, the causal upper bound still excludes future keys.", since=25)
        self.unbounded = said("A value of `-1` leaves that side unbounded.", since=25, note="Says nothing of less.")
        self.right = said("A value of `0` allows the current position but no following position", since=25)
        self.left = said("A value of `0` allows the current position but no preceding position", since=25)
        self.long_enough = said("needs to be at least as long as the maximum value of `nonpad_kv_seqlen`.", since=24)
        self.valid = said("that indicates the number of valid", since=24, note="Says nothing of values out of range.")
        self.vector = said("A vector of integers of shape `(batch_size,)`", since=24)
        self.broadcast_old = said("Shape must be broadcastable to 4D tensor with shape", before=24)
        self.broadcast = said("Shape must be broadcastable to `(batch_size, q_num_heads,", since=24)
        self.shorter = said(
            "The last dimension can also be shorter than `total_sequence_length` and will be padded to "
            "`total_sequence_length` with negative infinity.",
            since=24,
            note="Says not whether a last dimension of 1 is broadcast or padded.",
        )

    def _check(self, v: Version, mask: Array, shape: tuple[int, ...], nonpad: Array | None) -> None:
        """Raise what follows from a mask and the shape of the scores."""
        old, last = not self.shorter.in_force(v.since), mask.shape[-1] if mask.ndim else 1
        v.require(self.types_old if old else self.types, mask.dtype.kind not in "iu")
        same = {v.dtypes["U"]} == {v.dtypes["T1"], v.dtypes["T2"]}
        v.require(self.added, mask.dtype.kind == "b" or same)
        if not old and mask.ndim and last < shape[3]:
            v.silent(self.shorter, last == 1)
            v.require(self.long_enough, nonpad is None or last >= nonpad.max(initial=0))
        pairs = list(zip(mask.shape[::-1], shape[::-1], strict=False))
        fits = all(mine in {1, wanted} for mine, wanted in pairs[0 if old else 1 :])
        v.require(self.broadcast_old if old else self.broadcast, fits and mask.ndim <= MAX_RANK and last <= shape[3])

    def bias(
        self, v: Version, shape: tuple[int, ...], mask: Array | None, past: int, nonpad: Array | None, is_causal: int,
        sizes: tuple[int | None, int | None],
    ) -> Array:  # fmt: skip
        """Return what is added to scores of a shape; `sizes` are those of the window, None where no text has it."""
        if nonpad is not None:
            v.require(self.vector, nonpad.shape == shape[:1])
            v.silent(self.valid, bool(((nonpad < 0) | (nonpad > shape[3])).any()))
        v.silent(self.causal if self.causal.in_force(v.since) else self.causal_old, is_causal not in {0, 1})
        left, right = (-1 if size is None else size for size in sizes)
        v.silent(self.unbounded, min(left, right) < -1)
        if mask is not None and v.dtypes:
            self._check(v, mask, shape, nonpad)
        offset = np.full(shape[0], past) if nonpad is None else nonpad - shape[2]
        return bias(shape, mask, offset, nonpad=nonpad, causal=bool(is_causal), left=left, right=right)

    def _both(self, name: str, old: tuple[Clause, ...], new: tuple[Clause, ...], *tags: Tag, **given: Any) -> None:  # noqa: ANN401
        """Declare a case of version 23, and one of those after it."""
        self.op.case(f"{name}_old", *tags, **given, before=24, cites=old)
        self.op.case(name, *tags, **given, since=24, cites=new)

    def cases(self) -> None:
        """Declare the cases."""
        self._causal()
        self._masks()
        case = self.op.case
        for value in (0, 1):
            given: dict[str, Any] = {**QKV, **ALL, "nonpad_kv_seqlen": [6, 3], "is_causal": value}
            case(
                f"nonpad_causal_{value}",
                **given,
                qk_matmul_output_mode=3,
                cites=(self.offset, self.valid, self.negative),
            )
        case("nonpad_none", Tag.EDGE, **QKV, nonpad_kv_seqlen=[0, 6], cites=(self.valid, self.zero_row))
        case("nonpad_beyond", Tag.EDGE, **QKV, nonpad_kv_seqlen=[7, 6], unspecified=self.valid)
        case("nonpad_negative", Tag.EDGE, **QKV, nonpad_kv_seqlen=[-1, 6], unspecified=self.valid)
        case("nonpad_too_few", **QKV, nonpad_kv_seqlen=[6], rejects=self.vector)
        case("nonpad_matrix", **QKV, nonpad_kv_seqlen=[[6, 3]], rejects=self.vector)
        for left, right in ((2, 1), (0, 0), (2, 0), (-1, 1), (1, -1), (-1, -1), (9, 9)):
            window: dict[str, Any] = {"left_window_size": left, "right_window_size": right}
            name = f"window_{left}_{right}".replace("-1", "all")
            sides = (self.window, self.unbounded, self.right, self.left)
            case(name, **QKV, **window, **ALL, qk_matmul_output_mode=3, cites=sides)
            case(f"{name}_past", **QKV, **PAST, n=3, **window, is_causal=1, cites=(self.window, self.upper))
            case(f"{name}_nonpad", **QKV, **window, nonpad_kv_seqlen=[5, 2], attn_mask=MASK, cites=(self.window,))
        case("window_below", Tag.EDGE, **QKV, left_window_size=-2, unspecified=self.unbounded)

    def _causal(self) -> None:
        case, new = self.op.case, (self.causal, self.offset, self.in_block, self.rule)
        self._both("causal", (self.causal_old,), new, **QKV, is_causal=1)
        shown: dict[str, Any] = {**QKV, **PAST, "n": 4, "qk_matmul_output_mode": 3}
        self._both("past_causal", (self.causal_old,), new, **shown, is_causal=1)
        case("causal_more_queries", Tag.EDGE, **{**QKV, "Q": waves(2, 3, 9, 5)}, is_causal=1)
        case("causal_float_mask", **QKV, is_causal=1, attn_mask=MASK, cites=(self.composed, self.added))
        case("causal_bool_mask", **QKV, is_causal=1, attn_mask=typed("bool", SOME), cites=(self.boolean,))
        case("causal_two_old", Tag.EDGE, **QKV, is_causal=2, before=24, unspecified=self.causal_old)
        case("causal_two", Tag.EDGE, **QKV, is_causal=2, since=24, unspecified=self.causal)

    def _masks(self) -> None:
        case = self.op.case
        shapes: dict[str, tuple[int, ...]] = {
            "whole": (2, 3, 4, 6), "heads": (3, 4, 6), "batch": (2, 1, 1, 6), "row": (6,), "queries": (4, 6), "one": (),
        }  # fmt: skip
        for name, shape in shapes.items():
            shown: dict[str, Any] = {**QKV, **ALL, "qk_matmul_output_mode": 2, "attn_mask": waves(*shape)}
            self._both(f"mask_{name}", (self.broadcast_old,), (self.broadcast,), **shown)
            boolean: dict[str, Any] = {**QKV, "attn_mask": typed("bool", waves(*shape) > -1)}
            cites = (self.boolean, self.boolean_input)
            self._both(f"mask_bool_{name}", (self.types_old, *cites), (self.types, *cites), **boolean)
        case("mask_column", **QKV, attn_mask=waves(4, 1), before=24, cites=(self.broadcast_old,))
        case("mask_column_short", Tag.CHANGE, **QKV, attn_mask=waves(4, 1), since=24, unspecified=self.shorter)
        for name, mask in (("float", MASK[:, :4]), ("bool", typed("bool", SOME[:, :4]))):
            short: dict[str, Any] = {**QKV, "attn_mask": mask}
            case(f"mask_short_{name}", Tag.CHANGE, **short, cites=(self.shorter,))
            case(f"mask_short_{name}_old", Tag.CHANGE, **short, rejects=self.broadcast_old)
            case(f"mask_short_{name}_nonpad", **short, nonpad_kv_seqlen=[4, 2], cites=(self.long_enough,))
        case("mask_too_short", **QKV, attn_mask=MASK[:, :3], nonpad_kv_seqlen=[4, 2], rejects=self.long_enough)
        for name, shape in (("longer", (4, 7)), ("queries", (5, 6)), ("rank5", (1, 2, 3, 4, 6))):
            case(f"mask_{name}_not_old", **QKV, attn_mask=ramp(*shape), rejects=self.broadcast_old)
            case(f"mask_{name}_not", **QKV, attn_mask=ramp(*shape), rejects=self.broadcast)
        for name in ("int64", "uint8"):
            for suffix, clause in (("_old", self.types_old), ("", self.types)):
                case(f"mask_{name}{suffix}", **QKV, attn_mask=typed(name, [[1] * 6] * 4), rejects=clause)
        case("mask_double", **QKV, attn_mask=typed("double", MASK), rejects=self.added)
        closed = SOME.copy()
        closed[1] = False
        for mode in range(4):
            shown = {**QKV, **ALL, "qk_matmul_output_mode": mode, "attn_mask": typed("bool", closed)}
            case(f"closed_row_mode_{mode}", Tag.EDGE, **shown, cites=(self.zero_row,))
        infinite = np.where(closed, 0, -np.inf)
        case("closed_row_infinite", Tag.EDGE, **QKV, attn_mask=infinite, cites=(self.zero_row,))
