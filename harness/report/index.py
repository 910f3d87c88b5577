"""The index of a folder of published reports: one row a suite and backend, with links to what tells more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabulate import tabulate

from harness.report.markup import plain
from harness.results.sampling import in_words
from harness.results.summary import rate, rates
from harness.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.report.subject import Subject

HEAD = """\
# Published reports

What these runtimes make of the cases, as `onnx-conformance publish` wrote it. A case that the text leaves open is never
scored; `accepted invalid` stands apart, for ONNX obliges no runtime to refuse. Rates are floored. The pages ask the
network for nothing: save one, and open it in a browser.
"""
COUNTED = (Verdict.CRASH, Verdict.TIMEOUT, Verdict.FLAKY, Verdict.ACCEPTED_INVALID, Verdict.UNSUPPORTED)
HEADS = ("suite", "backend", "passed of specified", "passed of attempted", *(str(v).replace("_", " ") for v in COUNTED))


def report(published: Sequence[tuple[Subject, Mapping[str, str]]]) -> Iterator[str]:
    """Yield the index as Markdown.

    Args:
        published: of each results file what was counted, and the files that tell it, by what they are.
    """
    yield f"{HEAD}\n"
    rows = []
    for subject, files in published:
        head = subject.run.header
        links = ", ".join(f"[{plain(what)}]({name})" for what, name in files.items())
        cut = "" if subject.run.complete else ", cut off"
        sampled = subject.samples
        for backend, counts in sorted(subject.counts.items()):
            found = rates(counts)
            version = head["backends"].get(backend, {}).get("version", "")
            passed = [
                f"{found.passed} of {whole}, {rate(found.passed, whole)}"
                for whole in (found.specified, found.attempted)
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
    for subject, _ in published:
        head = subject.run.header
        yield (
            f"\n{plain(subject.title)}: onnx {plain(head.get('onnx', '?'))}, "
            f"suite digest `{plain(head['suite'].get('digest', ''))}`, {plain(head.get('started', '?'))}.\n"
        )
