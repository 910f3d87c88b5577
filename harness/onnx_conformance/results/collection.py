# SPDX-License-Identifier: Apache-2.0
"""Collects the results that other repositories publish, and refuses those that a combined site must not show."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.base import under_test
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.results import fetching
from onnx_conformance.results.stream import ResultsError, Run, suite_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from onnx_conformance.results.fetching import Limits
    from onnx_conformance.results.sources import Source

NO_ANSWER = frozenset(
    {Verdict.ADAPTER_ERROR, Verdict.CRASH, Verdict.TIMEOUT, Verdict.REFUSED, Verdict.UNSUPPORTED, Verdict.UNSPECIFIED}
)
"""Verdicts of cases in which a backend returned no outputs that could be compared."""


class CollectionError(HarnessError):
    """The results of a source are refused; the text names the source and the reason."""


@dataclass(frozen=True)
class Collection:
    """The results of several sources.

    Attributes:
        runs: the accepted ones.
        refused: a reason for each other one.
    """

    runs: list[Run] = field(default_factory=list)
    refused: list[HarnessError] = field(default_factory=list)


def collect(sources: Iterable[Source], suite: Mapping[str, str], folder: Path, limits: Limits) -> Collection:
    """Fetch the results of sources, and check them.

    Args:
        sources: their places. If two have results of the same version of a backend, the first is accepted.
        suite: the name and the digest that the suite must have.
        folder: an empty folder for the files; it must exist as long as the runs are read.
        limits: of each file.
    """
    found = Collection()
    owners: dict[tuple[str, str, str], Source] = {}
    for source in sources:
        path = folder / f"{source.name}.ndjson"
        try:
            fetching.fetch(source, path, limits)
            found.runs.append(_checked(source, path, suite, owners))
        except ResultsError as error:
            reason = error.text.replace(str(path), "the file")
            found.refused.append(CollectionError(error.id, f"{source}: {line(reason, 300)}"))
        except HarnessError as error:
            found.refused.append(error)
    return found


def _checked(source: Source, path: Path, suite: Mapping[str, str], owners: dict[tuple[str, str, str], Source]) -> Run:
    """Return the results of a source, and add their backends to the owners.

    Raises:
        HarnessError: the results are refused.
    """
    run = Run(path)
    if not run.complete:
        raise CollectionError("collected-run-cut-off", f"{source}: it was cut off; complete it with `run --resume`")
    if suite_text(run.header["suite"]) != suite_text(suite):
        made_by = f"onnx-conformance {line(run.header.get('harness'), 20)} and onnx {line(run.header.get('onnx'), 20)}"
        raise CollectionError(
            "collected-of-another-suite",
            f"{source}: the results of {made_by} have the suite {line(suite_text(run.header['suite']), 80)}, not "
            f"{suite_text(suite)}; run again with the release that builds the site",
        )
    _check_answers(source, run)
    keys = {
        (under_test.unversioned(name), str(hello.get("runtime", "")), str(hello.get("version", "")))
        for name, hello in run.header["backends"].items()
    }
    for key in sorted(keys & owners.keys()):
        shown = line(f"{key[0]} {key[2]}", 80)
        raise CollectionError(
            "results-of-the-same-version", f"{source}: {owners[key].name} has results of {shown}, too; list only one"
        )
    owners |= dict.fromkeys(keys, source)
    return run


def _check_answers(source: Source, run: Run) -> None:
    """Raise CollectionError if a backend returned no output in any case that expects one.

    Invalid models do not count: a runtime that cannot be loaded rejects them, too.
    """
    counts: dict[str, Counter[Verdict]] = {name: Counter() for name in run.header["backends"]}
    for result in run.results():
        if result.outcome != "rejects":
            counts[result.backend][result.verdict] += 1
    for name, verdicts in counts.items():
        if verdicts.keys() <= NO_ANSWER:
            usual = f"{verdicts.most_common(1)[0][0]} in most" if verdicts else "no results"
            raise CollectionError(
                "results-without-answers",
                f"{source}: {line(name, 80)} returned no outputs in {verdicts.total():,} cases with expected outputs "
                f"({usual}); check its installation and run again",
            )
