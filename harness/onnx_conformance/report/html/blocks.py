# SPDX-License-Identifier: Apache-2.0
"""The data of a page, in blocks: JSON or arrays of numbers, compressed with gzip and encoded in base64.

base64 has no character with a meaning in HTML, so no text of a runtime can end its block.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.generation import plans
from onnx_conformance.report.html import case_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.case.case import Case
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.report.html.table import Table

CASES = 128
"""Number of cases in a block, which is unpacked when the page of one of them is opened."""
LEVEL = 6
"""Compression level. The highest, 9, takes 1.5 times as long for blocks that are two percent smaller."""


def packed(data: bytes) -> str:
    """Return bytes as a block."""
    return base64.b64encode(gzip.compress(data, LEVEL, mtime=0)).decode()


def packed_json(data: object) -> str:
    """Return data as a block."""
    return packed(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def details(table: Table, order: Sequence[int]) -> Iterator[str]:
    """Yield blocks with the details of each backend's results, by case; each text is written once in a block."""
    for first in range(0, len(order), CASES):
        texts: dict[str, int] = {}
        rows = [
            [
                {
                    key: texts.setdefault(value, len(texts)) if isinstance(value, str) else value
                    for key, value in column.details.get(case, {}).items()
                }
                | ({} if math.isnan(column.times[case]) else {"time": column.times[case]})
                for column in table.columns
            ]
            for case in order[first : first + CASES]
        ]
        yield packed_json({"texts": list(texts), "rows": rows})


@dataclass(frozen=True)
class Block:
    """Descriptions of cases that are packed together.

    Attributes:
        ids: the ids of the cases, in order.
        packed: the descriptions of the cases.
    """

    ids: tuple[str, ...]
    packed: str


class Packer:
    """Packs descriptions of cases one by one; at most one block of them is in memory."""

    def __init__(self) -> None:
        """Start empty."""
        self._ids: list[str] = []
        self._waiting: list[Mapping[str, Any]] = []

    def add(self, case_id: str, description: Mapping[str, Any]) -> Iterator[Block]:
        """Add the description of a case; yield the block, if it is full."""
        self._ids.append(case_id)
        self._waiting.append(description)
        if len(self._waiting) == CASES:
            yield from self.finish()

    def finish(self) -> Iterator[Block]:
        """Yield a block of the remaining descriptions, if any."""
        if self._waiting:
            yield Block(tuple(self._ids), packed_json(self._waiting))
        self._ids, self._waiting = [], []


def described(cases: Iterable[Case], wanted: Iterable[str]) -> Iterator[Block]:
    """Yield blocks with the descriptions of the wanted cases, each case once."""
    left = set(wanted)
    packer, describer = Packer(), case_data.Describer()
    for case in cases:
        if case.id in left:
            left.remove(case.id)
            yield from packer.add(case.id, describer.of(case))
    yield from packer.finish()


class Watcher:
    """Describes the cases of an operator while an explanation generates their plans; see explain.Watcher.

    Attributes:
        ids: the ids of the cases to describe.
        versions: the versions of their operator.
    """

    def __init__(self, ids: frozenset[str], versions: frozenset[int]) -> None:
        """Select the cases to describe."""
        self.ids, self.versions = ids, versions
        self._packer, self._describer = Packer(), case_data.Describer()
        self._blocks: list[Block] = []

    def add(self, plan: Plan) -> None:
        """Describe the cases of a plan."""
        for case in plans.delivered(plan, self.ids.__contains__):
            self._blocks += self._packer.add(case.id, self._describer.of(case))

    def finish(self) -> tuple[Block, ...]:
        """Return the blocks."""
        return (*self._blocks, *self._packer.finish())


def places(table: Table, blocks: Iterable[Block]) -> dict[int, int]:
    """Return the place of each case's description, by the number of the case: block * CASES + place in the block."""
    by_case: dict[int, int] = {}
    for number, block in enumerate(blocks):
        for place, case_id in enumerate(block.ids):
            case = table.number_of(case_id)
            if case is not None:
                by_case.setdefault(case, number * CASES + place)
    return by_case


def columns(table: Table, order: Sequence[int], places: Mapping[int, int]) -> tuple[str, list[list[Any]]]:
    """Return the numbers of all cases as one block, and its layout: name, type, first byte and length of each array."""
    ranks = np.asarray(order, np.int64)
    arrays: list[tuple[str, np.ndarray[Any, Any]]] = [
        (name, np.asarray(getattr(table, name), "<i4")[ranks])
        for name in ("operator", "type", "form", "tags", "clauses", "outcome")
    ]
    arrays.append(("described", np.asarray([places.get(case, -1) for case in order], "<i4")))
    for place, column in enumerate(table.columns):
        arrays.append((f"messages{place}", np.asarray(column.messages, "<i4")[ranks]))
    for place, column in enumerate(table.columns):  # After the wider arrays, which must begin at a multiple of four.
        arrays.append((f"verdicts{place}", np.frombuffer(bytes(column.verdicts), np.uint8)[ranks]))
    layout, first = [], 0
    for name, numbers in arrays:
        layout.append([name, str(numbers.dtype), first, len(numbers)])
        first += numbers.nbytes
    return packed(b"".join(numbers.tobytes() for _, numbers in arrays)), layout
