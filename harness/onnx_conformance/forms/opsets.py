# SPDX-License-Identifier: Apache-2.0
"""Forms that use another opset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.forms.delivered import in_opset, opset_of
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from onnx_conformance.forms.delivered import Delivered

BEHIND = 2
"""The number of opsets by which runtimes are behind the newest one of ONNX."""


def top(start: Delivered) -> Delivered | None:
    """Use the last opset in which the nodes have the same meaning."""
    last = start.opsets[-1]
    return None if opset_of(start.model, start.domain) == last else in_opset(start, start.domain, last)


def oldest(start: Delivered) -> Delivered | None:
    """Use the first opset in which the nodes have the same meaning."""
    return _in_another(start, start.opsets[0])


def recent(start: Delivered) -> Delivered | None:
    """Use the opset that runtimes of today support, or the last one in which the nodes have the same meaning."""
    return _in_another(start, min(schema.newest_opset(start.domain) - BEHIND, start.opsets[-1]))


def _in_another(start: Delivered, opset: int) -> Delivered | None:
    if opset not in start.opsets or opset == opset_of(start.model, start.domain):
        return None
    made = in_opset(start, start.domain, opset)
    return None if start.expected is not None and made.answers is None else made
