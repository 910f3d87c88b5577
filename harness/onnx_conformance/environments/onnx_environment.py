# SPDX-License-Identifier: Apache-2.0
"""Runs this program with another onnx than the installed one, in a separate environment.

The environment contains the requested onnx and the other imports of the harness; the harness itself is the one that
runs now. Adapters of runtimes run where they would without this: their runtimes are installed there.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import FOLDER
from onnx_conformance.environments import python_environment
from onnx_conformance.environments.kept_environment import NoEnvironmentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

STABLE, NIGHTLY = "onnx", "onnx-weekly"
"""The packages that are onnx."""
OLDEST = Version("1.19")
"""The oldest onnx that the harness works with: it brought the element types that the wire format has."""
RUNNING = "ONNX_CONFORMANCE_ONNX"
"""Variable: the requirement that this process already runs with."""
_DISTRIBUTION = "onnx-conformance"


class OnnxError(HarnessError):
    """There is no such onnx, or it cannot be installed; the text contains the version and the correction."""


def requirement(text: str) -> str:
    """Return the requirement of an onnx: 1.22.0, onnx==1.22.0, onnx-weekly, onnx-weekly==1.24.0.dev20261026.

    Raises:
        OnnxError: it is neither of these, or older than OLDEST.
    """
    hint = f"write a version such as 1.22.0, or {NIGHTLY}"
    with contextlib.suppress(ValueError):
        return _checked(STABLE, Version(text))
    try:
        asked = Requirement(text)
    except InvalidRequirement:
        raise OnnxError("not-an-onnx-version", f"{text!r} is not a version of onnx; {hint}") from None
    name = re.sub(r"[-_.]+", "-", asked.name).lower()
    exact = re.fullmatch(r"==([^*,]+)", str(asked.specifier))
    if name not in {STABLE, NIGHTLY} or asked.extras or asked.url or (asked.specifier and not exact):
        raise OnnxError("not-an-onnx-version", f"{text!r} is not a version of onnx; {hint}")
    if not exact:
        return name
    return _checked(name, Version(exact[1]))


def _checked(name: str, version: Version) -> str:
    if version < OLDEST:
        raise OnnxError("onnx-too-old", f"onnx {version}: the harness needs onnx {OLDEST} or later")
    return f"{name}=={version}"


def is_running(wanted: str) -> bool:
    """Return whether this process has the onnx of a requirement already."""
    return os.environ.get(RUNNING) == wanted or wanted == f"{STABLE}=={onnx.__version__}"


def run(wanted: str, words: Sequence[str]) -> int:
    """Run this program with an onnx; its streams are this process's. Return its exit status.

    Args:
        wanted: a requirement, see `requirement`.
        words: the arguments of the program.

    Raises:
        OnnxError: the environment cannot be made.
    """
    with _environment(wanted) as (python, variables):
        process = subprocess.Popen([python, "-m", "onnx_conformance", *words], env=variables)  # noqa: S603 - this program
        # An interrupt from the terminal reaches both; the one that works ends, and this one with it.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            status = process.wait()
        finally:
            signal.signal(signal.SIGINT, before)
    return status if status >= 0 else 128 - status


def output(wanted: str, words: Sequence[str]) -> str:
    """Return the output of a module of the harness, run with another onnx.

    Args:
        wanted: a requirement, see `requirement`.
        words: the module, and its arguments.

    Raises:
        OnnxError: the environment cannot be made, or the module fails.
    """
    with _environment(wanted) as (python, variables):
        done = subprocess.run(  # noqa: S603 - this program
            [python, "-m", *words], env=variables, capture_output=True, text=True, check=False, errors="replace"
        )
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2] or f"status {done.returncode}"
        raise OnnxError("onnx-not-readable", f"{wanted}: cannot read its specification: {last}")
    return done.stdout


@contextlib.contextmanager
def _environment(wanted: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Give the Python of an environment, and the variables of a process that runs the harness in it."""
    try:
        python = python_environment.interpreter((wanted, *_beside_onnx()))
    except NoEnvironmentError as error:
        raise OnnxError("onnx-not-installable", f"{wanted} cannot be installed: {error}") from None
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-") as folder:
        # Only the harness must be imported from its folder, because the folder may also contain an onnx.
        Path(folder, FOLDER.name).symlink_to(FOLDER)
        paths = [folder, *filter(None, [os.environ.get("PYTHONPATH")])]
        yield (
            python,
            {
                **os.environ,
                "PYTHONPATH": os.pathsep.join(paths),
                RUNNING: wanted,
                python_environment.RUNTIMES: python_environment.of_runtimes(),
            },
        )


def _beside_onnx() -> tuple[str, ...]:
    """Return the requirements of the harness except onnx, with the installed numpy, so that values are the same."""
    try:
        listed = [Requirement(text) for text in metadata.requires(_DISTRIBUTION) or ()]
    except metadata.PackageNotFoundError:
        raise OnnxError("distribution-missing", f"--onnx needs an installed {_DISTRIBUTION}: pip install .") from None
    needed = [item for item in listed if item.name not in {STABLE, "numpy"} and _is_needed(item)]
    return (f"numpy=={np.__version__}", "uv", *sorted(f"{item.name}{item.specifier}" for item in needed))


def _is_needed(item: Requirement) -> bool:
    return item.marker is None or item.marker.evaluate({"extra": ""})
