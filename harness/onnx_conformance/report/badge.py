# SPDX-License-Identifier: Apache-2.0
"""A badge, as JSON for shields.io's endpoint: passed of specified and further counts, never one percentage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.report import json_text, profile_rows
from onnx_conformance.results.sampling import in_words
from onnx_conformance.results.scope import Scope
from onnx_conformance.results.summary import rates

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator, Mapping

    from onnx_conformance.report.report_data import ReportData

NAMED: Mapping[Verdict, bool] = {
    Verdict.PASS: False,
    Verdict.WRONG_VALUE: False,
    Verdict.WRONG_SHAPE: False,
    Verdict.WRONG_TYPE: False,
    Verdict.WRONG_COUNT: False,
    Verdict.INVALID_MODEL: False,
    Verdict.REFUSED: False,
    Verdict.DECLINED: False,
    Verdict.FALLBACK: False,
    Verdict.ACCEPTED_INVALID: False,
    Verdict.LENIENT: False,
    Verdict.KNOWS_LESS: False,
    Verdict.CRASH: True,
    Verdict.TIMEOUT: True,
    Verdict.FLAKY: True,
    Verdict.UNSUPPORTED: True,
    Verdict.UNSPECIFIED: False,
    Verdict.ADAPTER_ERROR: True,
}
"""Whether the badge shows the count of a verdict: those that end the process, and those without an answer."""

ENDS = (Verdict.CRASH, Verdict.TIMEOUT)
BRIGHT, YELLOW, ORANGE, GREY = "brightgreen", "yellow", "orange", "lightgrey"
STEPS = ((1000, BRIGHT), (950, "green"), (800, "yellowgreen"), (500, YELLOW), (0, ORANGE))
"""The lowest passed of specified, in tenths of a percent, of each colour; the same steps as on the site."""
LEGEND = (
    (BRIGHT, "all specified cases pass"),
    ("green", "at least 95 % pass"),
    ("yellowgreen", "at least 80 % pass"),
    (YELLOW, "at least 50 % pass, or more pass, but a case ends in a crash or timeout"),
    (ORANGE, "less than 50 % pass"),
    (GREY, "no data, an incomplete run, or adapter errors"),
)
"""The meaning of each colour."""


def report(data: ReportData) -> Iterator[str]:
    """Yield the document; with several backends, each part of the message begins with the backend's name."""
    counts = data.counts
    several = len(counts) > 1
    foreign = data.not_isolated
    parts = [
        (f"{line(name, 40)} " if several else "")
        + " · ".join(
            (
                _text(counter, data.samples.get(name, 1), isolated=name not in foreign),
                *profile_rows.short(data.summary.profile(name)),
            )
        )
        for name, counter in counts.items()
    ]
    broken = not data.run.complete or any(counter[Verdict.ADAPTER_ERROR] for counter in counts.values())
    message = " | ".join(parts) + ("" if data.run.complete else " · cut off")
    scope = Scope.of(data.run.header)
    suite = line(f"{scope.suite} core" if scope.is_core else scope.suite, 40)
    badge = {
        "schemaVersion": 1,
        "label": f"ONNX {line(data.run.header.get('onnx', ''), 20)} {suite}",
        "message": message,
        "color": GREY if broken else _color(list(counts.values())),
    }
    yield json_text.text(badge | ({"isError": True} if broken else {})) + "\n"


def _text(counts: Mapping[Verdict, int], sample: int, *, isolated: bool) -> str:
    shares = rates(counts)
    if not shares.specified:
        return "no data"
    named = [f"{counts[verdict]} {verdict}" for verdict in Verdict if NAMED[verdict] and counts.get(verdict)]
    part = [in_words(sample)] if sample > 1 else []
    return " · ".join(
        [f"{shares.passed}/{shares.specified} of specified", *part, *named, *([] if isolated else ["not isolated"])]
    )


def _color(counts: list[Counter[Verdict]]) -> str:
    """Return the colour of the worst backend, as in LEGEND; never red, which means a failed build."""
    shares = [rates(counter) for counter in counts]
    if not all(share.specified for share in shares):
        return GREY
    tenths = min((share.passed * 1000 // share.specified for share in shares), default=0)
    color = next(name for least, name in STEPS if tenths >= least)
    ended = any(counter[verdict] for counter in counts for verdict in ENDS)
    return YELLOW if ended and color != ORANGE else color
