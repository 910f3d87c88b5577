"""The index of a folder of published reports: one row a suite and backend, with links to its reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabulate import tabulate

from harness.report.markup import plain
from harness.results.sampling import in_words
from harness.results.summary import rate, rates
from harness.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.report.report_data import ReportData

HEAD = """\
# Published reports

The results of these runtimes, as `onnx-conformance publish` wrote them. A case that the text leaves open is never
scored; `accepted invalid` has a column of its own, because ONNX obliges no runtime to refuse. Rates are floored. The
pages load nothing from the network: save one, and open it in a browser.
"""
COUNTED = (
    Verdict.CRASH,
    Verdict.TIMEOUT,
    Verdict.FLAKY,
    Verdict.ACCEPTED_INVALID,
    Verdict.LENIENT,
    Verdict.UNSUPPORTED,
)
HEADS = ("suite", "backend", "passed of specified", "passed of attempted", *(str(v).replace("_", " ") for v in COUNTED))


def report(published: Sequence[tuple[ReportData, Mapping[str, str]]]) -> Iterator[str]:
    """Yield the index as Markdown.

    Args:
        published: the data of each results file, and its report files by format.
    """
    yield f"{HEAD}\n"
    rows = []
    for data, files in published:
        head = data.run.header
        links = ", ".join(f"[{plain(what)}]({name})" for what, name in files.items())
        cut = "" if data.run.complete else ", cut off"
        sampled = data.samples
        for backend, counts in sorted(data.counts.items()):
            shares = rates(counts)
            version = head["backends"].get(backend, {}).get("version", "")
            passed = [
                f"{shares.passed} of {whole}, {rate(shares.passed, whole)}"
                for whole in (shares.specified, shares.attempted)
            ]
            name = plain(f"{backend} {version}" if f"=={version}" not in backend else backend)
            part = f", {in_words(sampled[backend])}" if backend in sampled else ""
            rows.append(
                [
                    f"{plain(head['suite'].get('name', ''))}{part}{cut}: {links}",
                    name,
                    *passed,
                    *(counts[v] for v in COUNTED),
                ]
            )
    yield tabulate(
        rows, HEADS, tablefmt="github", disable_numparse=True, colalign=["left"] * 2 + ["right"] * (len(HEADS) - 2)
    )
    yield "\n"
    for data, _ in published:
        head = data.run.header
        yield (
            f"\n{plain(data.title)}: onnx {plain(head.get('onnx', '?'))}, "
            f"suite digest `{plain(head['suite'].get('digest', ''))}`, {plain(head.get('started', '?'))}.\n"
        )
