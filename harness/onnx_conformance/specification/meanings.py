# SPDX-License-Identifier: Apache-2.0
"""The versions of an operator that share a meaning, which is one oracle."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from onnx_conformance.declare import Op


def represented(op: Op) -> dict[int, int]:
    """Return the versions of an operator that another one represents: by version, the newest with the same oracle."""
    current = [item.since for item in registry.versions(op) if not item.deprecated]
    newest = {op.oracle_for(since): since for since in current}
    return {since: last for since in current if (last := newest[op.oracle_for(since)]) != since}


@functools.cache
def newest_of(operator: str) -> dict[int, int]:
    """Return, by version of an operator such as ai.onnx/Split, the newest version with its meaning.

    It is empty if no operator file declares the operator.
    """
    for op in registry.load().some(lambda name: name.rpartition("/")[0] == operator):
        newest = represented(op)
        return {since: newest.get(since, since) for since in op.versions}
    return {}


def alike(operator: str, since: int) -> tuple[int, ...]:
    """Return the other versions of an operator with the same meaning, the newest first."""
    newest = newest_of(operator)
    same = (other for other, last in newest.items() if other != since and last == newest.get(since))
    return tuple(sorted(same, reverse=True))


def earlier(operator: str, since: int) -> tuple[int, ...]:
    """Return the earlier versions of an operator with the same meaning, the newest first."""
    return tuple(other for other in alike(operator, since) if other < since)
