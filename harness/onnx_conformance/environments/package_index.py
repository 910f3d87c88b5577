# SPDX-License-Identifier: Apache-2.0
"""Lists the versions of a runtime that uv or npm finds in the package index that it is configured for."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from onnx_conformance.base.verdict import clean
from onnx_conformance.environments import node_environment, python_environment
from onnx_conformance.environments.kept_environment import NoEnvironmentError

if TYPE_CHECKING:
    from onnx_conformance.environments.python_environment import Needs


def minors(needs: Needs | node_environment.Needs, count: int) -> list[str]:
    """Return the newest release of each of the last `count` minor versions, oldest first; fewer, if there are no more.

    Raises:
        NoEnvironmentError: there is no release, or the index cannot be read.
    """
    return _by_npm(needs, count) if isinstance(needs, node_environment.Needs) else _by_uv(needs, count)


def _by_npm(needs: node_environment.Needs, count: int) -> list[str]:
    newest: dict[tuple[int, int], Version] = {}
    for text in node_environment.versions(needs):
        try:
            version = Version(text)
        except ValueError:  # A nightly build, such as 1.21.0-dev.20241212-1f88284f96.
            continue
        if not version.is_prerelease:
            minor = (version.major, version.minor)
            newest[minor] = max(version, newest.get(minor, version))
    if not newest:
        raise NoEnvironmentError(
            "npm-lists-no-release",
            f"npm lists no release of {needs.package}; name versions: {needs.name}=={needs.version}",
        )
    return [str(newest[minor]) for minor in sorted(newest)[-count:]]


def _by_uv(needs: Needs, count: int) -> list[str]:
    """Return the same for a runtime in Python.

    uv has no command that lists the versions of an index, so it resolves the newest, then the newest below that one's
    minor version, and so on: these are versions that it can install with this Python.

    Raises:
        NoEnvironmentError: uv finds none.
    """
    releases: list[str] = []
    below = ""
    while len(releases) < count:
        version = _newest(f"{needs.distribution}{below}")
        if version is None:
            break
        releases.append(str(version))
        below = f"<{version.major}.{version.minor}"
    if not releases:
        raise NoEnvironmentError(
            "uv-finds-no-version",
            f"uv finds no version of {needs.distribution} for this Python; name versions: "
            f"{needs.name}=={needs.version}",
        )
    return releases[::-1]


def _newest(requirement: str) -> Version | None:
    """Return the newest release that a requirement allows, or None if there is no such release.

    Raises:
        NoEnvironmentError: the index cannot be read.
    """
    words = [python_environment.uv(), "pip", "compile", "-", "--quiet", "--no-deps", "--no-header", "--no-annotate"]
    with python_environment.no_project() as folder:
        done = subprocess.run(  # noqa: S603 - uv, with names from the adapter's data
            [*words, f"--project={folder}"],
            input=requirement,
            capture_output=True,
            text=True,
            check=False,
            env=python_environment.uv_environment(),
        )
    if done.returncode:
        if "no solution found" in done.stderr.lower():
            return None
        reason = " ".join(clean(done.stderr).split()) or "no reason reported"
        raise NoEnvironmentError("uv-lists-no-versions", f"uv cannot list the versions of {requirement}: {reason}")
    try:
        (pinned,) = Requirement(done.stdout.strip()).specifier
    except (InvalidRequirement, ValueError):
        text = f"uv returned an unexpected version of {requirement}: {clean(done.stdout)!r}"
        raise NoEnvironmentError("index-not-readable", text) from None
    return Version(pinned.version)
