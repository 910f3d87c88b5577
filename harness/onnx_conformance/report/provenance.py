# SPDX-License-Identifier: Apache-2.0
"""Sentences on results that are shown together, although they are of different suites or versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.version import Version

from onnx_conformance.base import under_test
from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from onnx_conformance.findings.finding import Findings

MOST_NAMED = 20
"""Maximum number of runs that a sentence names for one digest."""


@dataclass(frozen=True)
class Shown:
    """The results of one backend in one run.

    Attributes:
        backend: as the user named it.
        version: reported by the runtime; may be empty.
        suite: name of the suite.
        digest: digest of the suite.
        name: the name of these results where they are shown; empty: the label names them.
    """

    backend: str
    version: str
    suite: str
    digest: str
    name: str = ""

    @property
    def label(self) -> str:
        """The name; if it is empty, the backend without the version in its name, then the reported version."""
        return line(self.name or f"{under_test.unversioned(self.backend)} {self.version}".strip(), 120)


def age(version: str) -> tuple[bool, Version, str]:
    """Return the sort key of versions; texts that are not versions come first."""
    try:
        return True, Version(version), version
    except ValueError:
        return False, Version("0"), version


def of_names(shown: Iterable[Shown]) -> list[str]:
    """Return a sentence if the results are of several suites; it names the runs of each suite."""
    by_suite: dict[str, dict[str, None]] = {}
    for item in shown:
        by_suite.setdefault(item.suite, {})[item.label] = None
    if len(by_suite) < 2:  # noqa: PLR2004 - several
        return []
    groups = "; ".join(f"{listed(labels)} used {line(suite, 80) or 'unknown'}" for suite, labels in by_suite.items())
    return [f"These results are of different suites, so a case of one suite has no results of the others: {groups}."]


def of_suites(shown: Iterable[Shown]) -> list[str]:
    """Return a sentence for each suite that was used in several versions; it names the runs of each version."""
    by_suite: dict[str, dict[str, dict[str, None]]] = {}
    for item in shown:
        by_suite.setdefault(item.suite, {}).setdefault(item.digest, {})[item.label] = None
    sentences = []
    for suite, by_digest in by_suite.items():
        if len(by_digest) > 1:
            groups = "; ".join(
                f"{listed(labels)} used version {line(digest, 40) or 'unknown'}" for digest, labels in by_digest.items()
            )
            sentences.append(
                f"These results are of different versions of the suite {line(suite, 80)}, so cases with the same name "
                f"may differ: {groups}."
            )
    return sentences


def of_versions(shown: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return a sentence for each runtime with several shown versions.

    Args:
        shown: name and version of the runtime, and the name of its results, such as the backend or the suite.
    """
    by_name: dict[str, dict[str, dict[str, None]]] = {}
    for name, version, results in shown:
        by_name.setdefault(name, {}).setdefault(version, {})[results] = None
    return [
        f"These results are of {len(versions)} versions of {line(name, 80)}: "
        + ", ".join(
            f"{line(version, 40) or 'unknown'} ({listed(results)})"
            for version, results in sorted(versions.items(), key=lambda pair: age(pair[0]))
        )
        + "."
        for name, versions in by_name.items()
        if len(versions) > 1
    ]


def of_findings(found: Findings, shown: Iterable[Shown]) -> dict[str, str]:
    """Return the differences between findings and the shown results, for `about_findings`.

    Args:
        found: the findings.
        shown: the shown results.

    Returns:
        By backend, without a version in its name; only backends whose findings are of another version or suite.
    """
    results: dict[str, list[Shown]] = {}
    for item in shown:
        results.setdefault(under_test.unversioned(item.backend), []).append(item)
    backends = dict.fromkeys(item.identity.backend for item in found.findings)
    by_backend = {
        under_test.unversioned(backend): "; ".join(_differences(found, backend, own))
        for backend in backends
        if (own := results.get(under_test.unversioned(backend)))
    }
    return {backend: differences for backend, differences in sorted(by_backend.items()) if differences}


def about_findings(differences: Mapping[str, str], backends: Iterable[str] | None = None) -> list[str]:
    """Return sentences on findings that are not of the shown results; one for backends with the same difference.

    Args:
        differences: of `of_findings`.
        backends: only these; None: all.
    """
    wanted = None if backends is None else {under_test.unversioned(backend) for backend in backends}
    same: dict[str, list[str]] = {}
    for backend, text in differences.items():
        if wanted is None or backend in wanted:
            same.setdefault(text, []).append(backend)
    return [
        f"The findings of {listed(names)} were not made from the results that are shown here: {text}."
        for text, names in same.items()
    ]


def _differences(found: Findings, backend: str, own: list[Shown]) -> Iterator[str]:
    version = found.version_of(backend)
    versions = [item.version for item in own if item.version]
    if version and versions and version not in versions:
        yield f"the findings are of version {line(version, 40)}, the results of {listed(dict.fromkeys(versions))}"
    digest = found.digest_of(backend)
    of_version = [item for item in own if item.version == version] or own
    used = f"{found.suite.get('name', '')} {digest}"
    suites = dict.fromkeys(f"{item.suite} {item.digest}" for item in of_version if item.digest)
    if digest and suites and used not in suites:
        yield f"the findings used suite {line(used, 120)}, the results used {listed(suites)}"


def listed(names: Iterable[str]) -> str:
    """Return names as a list in words, shortened if it is very long."""
    shown = [line(name, 120) for name in names]
    if len(shown) > MOST_NAMED:
        return f"{', '.join(shown[:MOST_NAMED])} and {len(shown) - MOST_NAMED} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))
