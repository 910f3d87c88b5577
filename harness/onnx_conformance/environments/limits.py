# SPDX-License-Identifier: Apache-2.0
"""Documented limits of a runtime: cases that its own documentation excludes. Their failures are listed separately.

    [[limits]]                          # in the file of the adapter's environment
    sentence = "shapes must be known when it compiles"
    link = "https://..."                # the page of its documentation
    compiler = true                     # a limit of every ahead-of-time compiler
    forms = ["symbolic", "unranked"]    # only cases in these forms; default: all
    types = ["int64"]                   # only cases of these element types; default: all
    empty = true                        # only cases with an empty tensor; default: all

Only a refusal is excused: a wrong result or a crash is a failure in any case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import EMPTY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.verdict import Result

_KEYS = frozenset({"sentence", "link", "compiler", "forms", "types", "empty"})


@dataclass(frozen=True)
class Limit:
    """A documented limit.

    Attributes:
        sentence: the missing feature, or the requirement.
        link: the page of its documentation.
        compiler: whether every ahead-of-time compiler has the limit.
        forms, types: the forms and element types of the excused cases; empty: all.
        empty: whether only cases with an empty tensor are excused.
    """

    sentence: str
    link: str
    compiler: bool = False
    forms: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    empty: bool = False

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Limit:
        """Return the limit of a table.

        Raises:
            ValueError: a key is unknown, the sentence or the link is missing, or nothing restricts the limit.
        """
        if unknown := sorted(table.keys() - _KEYS):
            raise ValueError(f"a limit has no {unknown[0]!r}; it has {', '.join(sorted(_KEYS))}")
        if not table.get("sentence") or not str(table.get("link", "")).startswith("https://"):
            raise ValueError("a limit needs a sentence, and a link that begins with https://")
        if not (table.get("forms") or table.get("types") or table.get("empty")):
            raise ValueError("a limit needs forms, types or empty: without them it would excuse every refusal")
        return cls(
            table["sentence"],
            table["link"],
            table.get("compiler", False),
            tuple(table.get("forms", ())),
            tuple(table.get("types", ())),
            table.get("empty", False),
        )

    def excuses(self, result: Result) -> bool:
        """Return whether a refusal is one of this limit."""
        return (
            (not self.forms or result.form in self.forms)
            and (not self.types or result.element_type in self.types)
            and (not self.empty or EMPTY.search(result.expected) is not None)
        )

    @property
    def reason(self) -> str:
        """Why such refusals do not count."""
        kind = "a limit of an ahead-of-time compiler" if self.compiler else "a documented limit of the runtime"
        return f"{kind}: {self.sentence} ({self.link})"
