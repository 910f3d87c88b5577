"""The data of a page, in blocks: JSON or arrays of numbers, packed with gzip and written in base64.

base64 has no character that means something to HTML, so whatever a runtime said cannot end the block it is in.
"""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.report.html.delivered import described

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from harness.case.case import Case
    from harness.report.html.table import Table

CASES = 128
"""Cases in a block: what is unpacked when a page of one of them is opened."""


def packed(data: bytes) -> str:
    """Return bytes as a block."""
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


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
                for column in table.columns
            ]
            for case in order[first : first + CASES]
        ]
        yield packed_json({"texts": list(texts), "rows": rows})


class Described:
    """Packs cases as they come, so that no more than a block of them is in memory.

    Attributes:
        places: by number of the case, the block and the place in it, as block * CASES + place.
        blocks: what is packed.
    """

    def __init__(self, table: Table, cases: Iterable[Case]) -> None:
        """Take those of the cases that the table has."""
        self.places: dict[int, int] = {}
        self.blocks: list[str] = []
        waiting: list[Mapping[str, Any]] = []
        for case in cases:
            number = table.number_of(case.id)
            if number is None or number in self.places:
                continue
            self.places[number] = len(self.blocks) * CASES + len(waiting)
            waiting.append(described(case))
            if len(waiting) == CASES:
                self.blocks.append(packed_json(waiting))
                waiting = []
        if waiting:
            self.blocks.append(packed_json(waiting))


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
