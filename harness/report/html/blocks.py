"""The data of a page, in blocks: JSON or arrays of numbers, packed with gzip and written in base64.

base64 has no character that means something to HTML, so whatever a runtime said cannot end the block it is in.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.case.case import PLAIN
from harness.generation import plans
from harness.generation.forms import Form, Plan, delivered_id
from harness.report.html import delivered

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from harness.case.case import Case
    from harness.report.html.table import Table

CASES = 128
"""Cases in a block: what is unpacked when a page of one of them is opened."""


LEVEL = 6
"""Of compression. The highest, 9, takes half as long again for blocks that are two percent smaller."""


def packed(data: bytes) -> str:
    """Return bytes as a block."""
    return base64.b64encode(gzip.compress(data, LEVEL, mtime=0)).decode()


def packed_json(data: object) -> str:
    """Return data as a block."""
    return packed(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def details(table: Table, order: Sequence[int]) -> Iterator[str]:
    """Yield blocks of what each backend said, by case; texts are written once a block."""
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
    """Cases that are described together.

    Attributes:
        ids: of the cases, in their order.
        packed: what is told of them.
    """

    ids: tuple[str, ...]
    packed: str


class Packer:
    """Packs what is told of cases as it comes, so that no more than a block of it is in memory."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._ids: list[str] = []
        self._waiting: list[Mapping[str, Any]] = []

    def add(self, case_id: str, told: Mapping[str, Any]) -> Iterator[Block]:
        """Take what is told of a case, and yield the block that is full by it."""
        self._ids.append(case_id)
        self._waiting.append(told)
        if len(self._waiting) == CASES:
            yield from self.finish()

    def finish(self) -> Iterator[Block]:
        """Yield what has not been packed yet."""
        if self._waiting:
            yield Block(tuple(self._ids), packed_json(self._waiting))
        self._ids, self._waiting = [], []


def described(cases: Iterable[Case], wanted: Iterable[str]) -> Iterator[Block]:
    """Yield blocks of what is told of those of the cases that are wanted, each once."""
    left = set(wanted)
    packer, describer = Packer(), delivered.Describer()
    for case in cases:
        if case.id in left:
            left.remove(case.id)
            yield from packer.add(case.id, describer.of(case))
    yield from packer.finish()


class Watcher:
    """Describes the cases of an operator where their plans are made for another reason; see explain.Watcher.

    Attributes:
        ids: of the cases to describe.
        versions: of the operator that they are of.
    """

    def __init__(self, ids: frozenset[str], versions: frozenset[int]) -> None:
        """Take what is to be described."""
        self.ids, self.versions = ids, versions
        self._packer, self._describer = Packer(), delivered.Describer()
        self._blocks: list[Block] = []

    def add(self, plan: Plan, every: Sequence[Form], plain: Case) -> None:
        """Describe the cases of a plan, of which one is made already."""
        for form in every:
            if delivered_id(plan.id, form.name) in self.ids:
                case = plain if form.name == PLAIN else plans.deliver(plan, form)
                if case is not None:
                    self._blocks += self._packer.add(case.id, self._describer.of(case))

    def finish(self) -> tuple[Block, ...]:
        """Return the blocks."""
        return (*self._blocks, *self._packer.finish())


def places(table: Table, blocks: Iterable[Block]) -> dict[int, int]:
    """Return by number of a case where it is described: block * CASES + place in the block."""
    found: dict[int, int] = {}
    for number, block in enumerate(blocks):
        for place, case_id in enumerate(block.ids):
            case = table.number_of(case_id)
            if case is not None:
                found.setdefault(case, number * CASES + place)
    return found


def columns(table: Table, order: Sequence[int], places: Mapping[int, int]) -> tuple[str, list[list[Any]]]:
    """Return the numbers by case as one block, and what is where in it: name, type, first byte, length."""
    ranks = np.asarray(order, np.int64)
    arrays: list[tuple[str, np.ndarray[Any, Any]]] = [
        (name, np.asarray(getattr(table, name), "<i4")[ranks])
        for name in ("operator", "type", "form", "tags", "clauses", "outcome")
    ]
    arrays.append(("described", np.asarray([places.get(case, -1) for case in order], "<i4")))
    for place, column in enumerate(table.columns):
        arrays.append((f"messages{place}", np.asarray(column.messages, "<i4")[ranks]))
    for place, column in enumerate(table.columns):  # After the wider ones, which must begin at a multiple of four.
        arrays.append((f"verdicts{place}", np.frombuffer(bytes(column.verdicts), np.uint8)[ranks]))
    layout, first = [], 0
    for name, numbers in arrays:
        layout.append([name, str(numbers.dtype), first, len(numbers)])
        first += numbers.nbytes
    return packed(b"".join(numbers.tobytes() for _, numbers in arrays)), layout
