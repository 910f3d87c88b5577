# SPDX-License-Identifier: Apache-2.0
"""Finds answers that depend on uninitialized memory: they change with the bytes that `malloc` fills memory with.

glibc fills each block with one byte when it is allocated, and with another one when it is freed, if the variable
MALLOC_PERTURB_ is set. A failed case runs in processes with two different fills, alternately. If its answers are equal
for one fill and differ between the fills, then they depend on bytes that the runtime never wrote.

Other C libraries ignore the variable, and a runtime may have its own allocator. Then nothing is found: equal
answers do not show that the memory is initialized.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from onnx_conformance.case.case import digest_values
from onnx_conformance.processes.replies import Answered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.target import Target
    from onnx_conformance.processes.replies import Reply

FILLS = (0xC0, 0xBF)
"""Values of MALLOC_PERTURB_. Allocated blocks contain the complements, which as float32 are 0.75 and 3.0; freed blocks
contain the values, which are -6.0 and -1.5. NaN would hide differences."""
ROUNDS = 2
"""Number of processes of each fill. They take turns, so that a change over time is not mistaken for one of the fill."""
RUNS = 2
"""How often a case runs in each of these processes."""
TUNABLES = "GLIBC_TUNABLES"
UNCACHED = "glibc.malloc.tcache_count=0"
"""Setting of glibc: small blocks are filled, too. By default, it reuses them without filling them."""

MEMORY, VALUES = "memory", "values"
"""Causes of different answers: uninitialized memory; unknown."""
CAUSES = {
    MEMORY: "the answer depends on uninitialized memory: it changes with the bytes that malloc fills memory with",
    VALUES: "the answers to the same inputs differ",
}


def filled(target: Target, fill: int) -> Target:
    """Return a target whose processes have their memory filled."""
    settings = (target.environment.get(TUNABLES, os.environ.get(TUNABLES, "")), UNCACHED)
    environment = {"MALLOC_PERTURB_": str(fill), TUNABLES: ":".join(filter(None, settings))}
    return dataclasses.replace(target, environment={**target.environment, **environment})


def fingerprint(reply: Reply) -> str:
    """Return a text that is equal only for equal answers; empty if there is no answer."""
    return digest_values(reply.outputs) if isinstance(reply, Answered) else ""


def cause(answers: Sequence[str], by_fill: Mapping[int, Sequence[str]]) -> str:
    """Return why the answers to a case differ: MEMORY, VALUES, or empty if they are equal.

    Args:
        answers: fingerprints of the answers of processes whose memory was not filled; empty texts do not count.
        by_fill: fingerprints of the replies by fill.
    """
    distinct = [set(by_fill.get(fill, ())) for fill in FILLS]
    complete = all(len(by_fill.get(fill, ())) == ROUNDS * RUNS for fill in FILLS)
    if complete and all(len(found) == 1 and "" not in found for found in distinct) and distinct[0] != distinct[1]:
        return MEMORY
    return VALUES if len(set(filter(None, answers))) > 1 else ""
