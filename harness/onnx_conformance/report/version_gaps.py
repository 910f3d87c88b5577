# SPDX-License-Identifier: Apache-2.0
"""Version gaps as text, Markdown or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tabulate import tabulate

from onnx_conformance.base.verdict import line
from onnx_conformance.report import json_text
from onnx_conformance.report.markup import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.results.version_gaps import Gap, VersionGaps

MEANING = """\
A version gap: the runtime does not support an operator version, although it
runs an earlier version with the same meaning."""
MOST_TYPES = 4
"""Maximum number of types that a table names."""


class Shown(NamedTuple):
    """The gaps of one backend, and the support that they were found in."""

    found: Sequence[Gap]
    support: VersionGaps


def text(known: Mapping[str, Shown]) -> Iterator[str]:
    """Yield a table for each backend, for a terminal.

    Args:
        known: by the name and version of a backend, its gaps.
    """
    yield f"{MEANING}\n"
    for backend, shown in known.items():
        yield f"{line(backend)}: {_count(shown.found)}\n"
        if shown.found:
            heads = ("operator", "runs", "lacks", "types")
            rows = [row[:4] for row in _rows(shown.found)]
            yield tabulate(rows, heads, tablefmt="simple", disable_numparse=True, colalign=_ALIGN[:4]) + "\n"
        yield from (f"{note}\n" for note in _notes(shown))


def markdown(known: Mapping[str, Shown]) -> Iterator[str]:
    """Yield a section for each backend, in Markdown."""
    yield f"# Version gaps\n\n{MEANING}\n"
    for backend, shown in known.items():
        yield f"## {plain(backend)}\n\n{_count(shown.found).capitalize()}.\n"
        if shown.found:
            heads = ("operator", "runs", "lacks", "types", "message", "unsupported case", "passing case")
            rows = [[plain(cell) for cell in row] for row in _rows(shown.found)]
            yield tabulate(rows, heads, tablefmt="github", disable_numparse=True, colalign=_ALIGN) + "\n"
        yield from (f"{note}\n" for note in _notes(shown))


def as_json(known: Mapping[str, Shown]) -> Iterator[str]:
    """Yield a JSON document: by backend, a list of gaps, and the versions that are too new for the runtime."""
    document = {
        backend: {
            "gaps": [
                {
                    "operator": gap.operator, "lacks": gap.lacks, "runs": gap.runs, "types": list(gap.types),
                    "case": gap.case, "passing": gap.passing, "message": gap.message,
                }
                for gap in shown.found
            ],
            "newest_opset": shown.support.newest,
            "too_new": shown.support.too_new(),
        }
        for backend, shown in known.items()
    }  # fmt: skip
    yield json_text.text(document) + "\n"


FORMATS = {"text": text, "markdown": markdown, "json": as_json}
"""By the name on the command line."""
_ALIGN = ("left", "right", "right", "left", "left", "left", "left")


def _count(found: Sequence[Gap]) -> str:
    return f"{len(found) or 'no'} version {'gap' if len(found) == 1 else 'gaps'}"


def _rows(found: Sequence[Gap]) -> list[list[str]]:
    return [
        [
            line(gap.operator.removeprefix("ai.onnx/")), str(gap.runs), str(gap.lacks),
            _few(gap.types), line(gap.message, 160), line(gap.case), line(gap.passing),
        ]
        for gap in found
    ]  # fmt: skip


def _few(types: Sequence[str]) -> str:
    more = len(types) - MOST_TYPES
    return line(", ".join(types[:MOST_TYPES])) + (f" and {more} more" if more > 0 else "")


def _notes(shown: Shown) -> Iterator[str]:
    if names := shown.support.too_new():
        yield (
            f"Not counted: {len(names)} operator versions that are newer than opset {shown.support.newest}, the newest "
            "that the runtime knows."
        )
