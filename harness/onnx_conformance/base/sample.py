# SPDX-License-Identifier: Apache-2.0
"""Which cases are in a sample or a shard: only the id of a case decides."""

from __future__ import annotations

import hashlib


def in_shard(case_id: str, shard: tuple[int, int]) -> bool:
    """Return whether a case belongs to shard i of n (i from 1); depends only on its id."""
    index, count = shard
    return int.from_bytes(hashlib.sha256(case_id.encode()).digest()[:8], "big") % count == index - 1


def in_sample(case_id: str, count: int) -> bool:
    """Return whether a case belongs to the sample of 1 in n; depends only on its id, and is independent of its shard.

    A sample is a subset of every larger one, so that two runs share the cases of the smaller one.
    """
    if count == 1:
        return True
    digest = hashlib.sha256(b"sample\0" + case_id.encode()).digest()
    return int.from_bytes(digest[:8], "big") * count < 1 << 64
