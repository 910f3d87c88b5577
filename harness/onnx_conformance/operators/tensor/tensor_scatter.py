# SPDX-License-Identifier: Apache-2.0
"""TensorScatter: write an update into a cache, at an index along its sequence dimension.

    present_cache = TensorScatter(past_cache, update, write_indices=None, axis=-2, mode="linear")

Version: 24.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Version, extremes, ramp, vary
from onnx_conformance.declare.sizes import filled, grid, indices_of

SCATTER = Op("TensorScatter", versions=(24,), compare=EXACT, rank="past_cache", widens=False)
SCATTER.example(past_cache=ramp(2, 5, 3), update=ramp(2, 2, 3), write_indices=[3, 1], axis=1, mode="circular")

PRESENT = SCATTER.clause("It is a functional operation that models an in-place update to a KV cache buffer.")
SHAPES = SCATTER.clause(
    "The past and present cache tensors have the same shape (batch_size, D1, D2, ..., max_sequence_length, ..., Dn), "
    "with the sequence dimension (indicated by the `axis` attribute) being max_sequence_length"
)
UPDATE_SHAPE = SCATTER.clause(
    "The `update` tensor's shape only differs from the cache tensors in the sequence dimension: (batch_size, D1, D2, "
    "..., sequence_length, ..., Dn), where sequence_length <= max_sequence_length."
)
INDICATES = SCATTER.clause(
    "The optional `write_indices` input indicates the write index for each sample in the batch, assumed to be zero if "
    "not provided.",
    note="The text does not define a negative index, for which the remainders of Python and C differ.",
)
MODULO = SCATTER.clause(
    'When the `mode` attribute is set to "circular", the write index is modulo max_sequence_length.'
)
PSEUDOCODE = SCATTER.clause("present_cache[cache_idx] = update[update_idx]")
PREFILL = SCATTER.clause("During the prefill phase of attention, only the first two inputs are needed.")
DECODE = SCATTER.clause("During the decode phase, `write_indices` is also needed")
MODES = SCATTER.clause(
    "Supported modes include `linear` and `circular`.", note="The text does not define whether there are other modes."
)
FITS = SCATTER.clause("`linear` mode requires write_indices+sequence_length<=max_sequence_length.")
WRAPS = SCATTER.clause(
    "For `circular` mode, the updates happen in wrap-around fashion, ie, the update index is modulo "
    "`max_sequence_length`"
)
AXIS = SCATTER.clause("Sequence dimension of the `past_cache` and `update` tensors.")
NOT_BATCH = SCATTER.clause("It cannot be 0 (the batch dimension).")
DEFAULT_AXIS = SCATTER.clause("Default is -2.", note="Therefore a negative axis counts from the back.")
VECTOR = SCATTER.clause("Shape is `(batch_size,)`.")
ZEROS = SCATTER.clause("Assumed to be all zeros if not provided.")
SAME_SHAPE = SCATTER.clause("Updated cache. Same shape as `past_cache`.")


@SCATTER.oracle()
def scattered(v: Version, past_cache: Array, update: Array, write_indices: Array | None, axis: int, mode: str) -> Array:
    """Return the cache with the update of each sample written from its index on.

    write_indices is None if it is omitted.
    """
    rank = past_cache.ndim
    v.require(AXIS, -rank <= axis < rank)
    axis %= rank
    v.require(NOT_BATCH, axis != 0)
    v.require(UPDATE_SHAPE, update.ndim == rank)
    v.require(UPDATE_SHAPE, np.delete(past_cache.shape, axis).tolist() == np.delete(update.shape, axis).tolist())
    size, length = past_cache.shape[axis], update.shape[axis]
    v.require(UPDATE_SHAPE, length <= size)
    first = np.zeros(len(past_cache), np.int64) if write_indices is None else write_indices
    v.require(VECTOR, first.shape == past_cache.shape[:1])
    v.silent(MODES, mode not in {"linear", "circular"})
    v.silent(INDICATES, bool((first < 0).any()))
    v.require(FITS, mode == "circular" or bool((first + length <= size).all()))
    present = past_cache.copy()
    for prefix in np.ndindex(past_cache.shape[:axis]):
        for place in range(length):
            target = int(first[prefix[0]]) + place
            present[(*prefix, target % size if mode == "circular" else target)] = update[(*prefix, place)]
    return present


case = SCATTER.case
CACHE, NEW = -1 - np.arange(90).reshape(2, 3, 5, 3), 1 + np.arange(36).reshape(2, 3, 2, 3)
FLAT, FLAT_NEW = -1 - np.arange(48).reshape(3, 4, 4), 1 + np.arange(24).reshape(3, 2, 4)
CIRCULAR: dict[str, Any] = {"past_cache": CACHE, "update": NEW, "mode": "circular"}

case("prefill", past_cache=CACHE, update=NEW, cites=(PREFILL, ZEROS, DEFAULT_AXIS, SAME_SHAPE))
case("prefill_whole", past_cache=CACHE, update=-CACHE, cites=(PREFILL, UPDATE_SHAPE))
for name, indices in {"zeros": [0, 0], "first_and_last": [0, 3], "last": [3, 3], "middle": [2, 1]}.items():
    case(f"linear_{name}", past_cache=CACHE, update=NEW, write_indices=indices, cites=(DECODE, INDICATES, PSEUDOCODE))
    call: dict[str, Any] = {"past_cache": CACHE, "update": NEW, "write_indices": indices}
    case(f"circular_{name}", **call, mode="circular", cites=(PSEUDOCODE, MODES))
    case(f"linear_by_name_{name}", **call, mode="linear", cites=(FITS, MODES, PRESENT))
for name, indices in {"wraps": [4, 3], "both": [4, 4], "beyond": [5, 9], "far": [1004, 2**33]}.items():
    call = {"past_cache": CACHE, "update": NEW, "write_indices": indices}
    case(f"circular_{name}", **call, mode="circular", cites=(WRAPS, MODULO))
case("circular_unset_indices", past_cache=CACHE, update=NEW, mode="circular", cites=(WRAPS, ZEROS))
case("circular_whole", past_cache=CACHE, update=-CACHE, write_indices=[2, 4], mode="circular", cites=(WRAPS, MODULO))
for axis in (1, 2, -1, -2):
    update = np.delete(-FLAT, 0, axis)
    case(f"axis_{axis}".replace("-", "minus_"), past_cache=FLAT, update=update, axis=axis, cites=(AXIS, SHAPES))
    call = {"past_cache": FLAT, "update": update, "write_indices": [1, 0, 1], "axis": axis}
    case(f"axis_{axis}_indices".replace("-", "minus_"), **call, cites=(AXIS, PSEUDOCODE))
    case(f"axis_{axis}_circular".replace("-", "minus_"), **call, mode="circular", cites=(AXIS, WRAPS))
case("rank3", past_cache=FLAT, update=FLAT_NEW, write_indices=[2, 0, 1], cites=DEFAULT_AXIS)
case("rank2", past_cache=ramp(2, 4), update=[[7], [9]], write_indices=[1, 3], axis=-1, cites=AXIS)
case("rank5_axis_minus_3", past_cache=ramp(2, 1, 4, 3, 2), update=ramp(2, 1, 3, 3, 2), axis=-3, cites=AXIS)
case("one_sample", Tag.EDGE, past_cache=CACHE[:1], update=NEW[:1], write_indices=[1], cites=DECODE)
case("one_step", Tag.EDGE, past_cache=CACHE, update=NEW[:, :, :1], write_indices=[4, 0], cites=DECODE)
case("one_step_circular", past_cache=CACHE, update=NEW[:, :, :1], write_indices=[7, 4], mode="circular", cites=MODULO)
case("nothing_new", Tag.EDGE, past_cache=CACHE, update=NEW[:, :, :0], write_indices=[5, 0], cites=SAME_SHAPE)
case("no_samples", Tag.EDGE, past_cache=ramp(0, 4, 3), update=ramp(0, 2, 3), write_indices=[], cites=SAME_SHAPE)
case("no_features", Tag.EDGE, past_cache=ramp(2, 4, 0), update=ramp(2, 1, 0), write_indices=[3, 0], cites=SAME_SHAPE)
case(
    "extremes", Tag.DTYPE, Tag.EDGE, each="T", past_cache=extremes(2, 4, 3), update=extremes(2, 2, 3), cites=PSEUDOCODE
)
case("too_far", past_cache=CACHE, update=NEW, write_indices=vary(one=[0, 4], both=[5, 4], far=[2**40, 0]), rejects=FITS)
case("update", past_cache=CACHE, update=vary(longer=ramp(2, 3, 6, 3), rank3=ramp(2, 2, 3)), rejects=UPDATE_SHAPE)
OTHERS = vary(samples=ramp(1, 3, 2, 3), heads=ramp(2, 1, 2, 3), features=ramp(2, 3, 2, 1))
case("update_of_other", past_cache=CACHE, update=OTHERS, rejects=UPDATE_SHAPE)
INDICES = vary(one=[1], scalar=1, matrix=[[1, 0]], three=[1, 0, 1], column=[[1], [0]])
case("indices", Tag.EDGE, past_cache=CACHE, update=NEW, write_indices=INDICES, rejects=VECTOR)
case("axis", Tag.AXIS, past_cache=FLAT, update=FLAT, axis=vary(zero=0, first_from_back=-3), rejects=NOT_BATCH)
case("axis", Tag.AXIS, past_cache=FLAT, update=FLAT, axis=vary(too_high=3, too_low=-4), rejects=AXIS)
case("rank1", Tag.EDGE, past_cache=ramp(4), update=ramp(2), axis=-1, rejects=NOT_BATCH)
case("negative", Tag.EDGE, past_cache=CACHE, update=NEW, write_indices=[-1, 0], unspecified=INDICATES)
case("negative_circular", Tag.EDGE, **CIRCULAR, write_indices=[-1, 0], unspecified=INDICATES)
case("mode_other", Tag.EDGE, past_cache=CACHE, update=NEW, mode="ring", unspecified=MODES)

SCATTER.sized(
    "prefill",
    grid(b=(2,), h=(3,), most=(64,), s=(9, 33), d=(8, 64)),
    each="T",
    cites=(PREFILL, PSEUDOCODE),
    arguments={"past_cache": filled("b", "h", "most", "d"), "update": filled("b", "h", "s", "d")},
)
SCATTER.sized(
    "decode",
    grid(b=(3,), h=(2,), most=(65, 256), s=(1, 4), d=(64,), last=(61,)),
    cites=(DECODE, PSEUDOCODE),
    arguments={
        "past_cache": filled("b", "h", "most", "d"),
        "update": filled("b", "h", "s", "d"),
        "write_indices": indices_of("last", "b"),
    },
)
SCATTER.sized(
    "circular",
    grid(b=(3,), h=(2,), most=(33, 128), s=(1, 17), d=(33,)),
    cites=(WRAPS, PSEUDOCODE),
    arguments={
        "past_cache": filled("b", "h", "most", "d"),
        "update": filled("b", "h", "s", "d"),
        "write_indices": indices_of("most", "b"),
        "mode": "circular",
    },
)
