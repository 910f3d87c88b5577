# SPDX-License-Identifier: Apache-2.0
"""The scope of the numbers of a run: all cases of a suite, its core, or another part."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import line
from onnx_conformance.results import sampling

if TYPE_CHECKING:
    from collections.abc import Mapping

CORE = "--core"
MOST_SELECTION = 100
"""Maximum number of characters of a selection that are shown."""


@dataclass(frozen=True)
class Scope:
    """The part of a suite that a run has.

    Attributes:
        suite: the name of the suite.
        total: the number of all cases of the suite; None if it is not known.
        selection: the options that select cases; empty: all cases.
        samples: by backend, n of its sample of 1 case in n.
        older: by backend, the number of cases in older versions that it ran instead of versions that it lacks, if it
            is known.
    """

    suite: str
    total: int | None = None
    selection: str = ""
    samples: Mapping[str, int] = field(default_factory=dict)
    older: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> Scope:
        """Return the scope of the run that has this header."""
        source, total = header["suite"], header["suite"].get("cases")
        known = isinstance(total, int) and not isinstance(total, bool) and total >= 0
        return cls(
            line(source.get("name", ""), 200),
            total if known else None,
            str(header["arguments"].get("selection", "")),
            sampling.from_header(header),
        )

    @property
    def is_core(self) -> bool:
        """Whether all its cases are in the core."""
        return CORE in self._words

    @property
    def _words(self) -> list[str]:
        try:
            return shlex.split(self.selection)
        except ValueError:  # A results file from outside may contain any text.
            return self.selection.split()

    def text(self, count: int, backend: str = "") -> str:
        """Return the scope of a number of cases, such as "core: 20,692 of 228,383 cases of the suite generated".

        Args:
            count: the number of cases that a backend has results for.
            backend: its name, for its sample.
        """
        more = " ".join(word for word in self._words if word != CORE)
        part = " of the ".join([*(["part"] if more else []), *(["core"] if self.is_core else [])])
        if in_words := sampling.in_words(self.samples.get(backend, 1)):
            part = f"{part}, {in_words}" if part else in_words
        total = "" if self.total is None else f" of {self.total:,}"
        noun = "case" if count == 1 and not total else "cases"
        if not part:
            return f"all {count:,} {noun} of the suite {self.suite}"
        selected = f" ({line(more, MOST_SELECTION)})" if more else ""
        older = self.older.get(backend, 0)
        instead = f"; {older:,} of them in older versions, because it lacks the newest ones" if older else ""
        return f"{part}: {count:,}{total} {noun} of the suite {self.suite}{selected}{instead}"
