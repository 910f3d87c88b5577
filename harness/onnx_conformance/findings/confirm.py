# SPDX-License-Identifier: Apache-2.0
"""Runs the scripts of findings in a fresh environment of the runtime. Faults that no script shows are dropped."""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import os
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base import under_test
from onnx_conformance.base.verdict import clean, line
from onnx_conformance.environments import (
    backend_names,
    environment_variables,
    node_environment,
    python_environment,
    python_lock,
)
from onnx_conformance.environments.kept_environment import NoEnvironmentError
from onnx_conformance.findings import script
from onnx_conformance.suites import packs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MORE_SECONDS = 60.0
"""How many seconds longer than its runtime a script may take."""
SAID = 300
"""The number of characters of a script's output that are kept."""


@dataclass(frozen=True)
class Said:
    """The output and exit status of a script.

    Attributes:
        status: the exit status: 1 if the fault is there, 0 if it is gone, another number if neither could be observed.
        text: the output.
    """

    status: int
    text: str

    @property
    def last(self) -> str:
        """Its last line."""
        return line(self.text.strip().rpartition("\n")[2], SAID)


@dataclass(frozen=True)
class Place:
    """An environment that has a runtime, onnx and numpy.

    Attributes:
        python: the Python interpreter.
        folder: the folder in which scripts run; None for a temporary folder.
        environment: variables that the runtime needs.
        content: the installed packages; empty if they are not known.
    """

    python: str
    folder: Path | None
    environment: tuple[tuple[str, str], ...] = ()
    content: str = ""


@functools.cache
def place(backend: str, version: str) -> Place:
    """Return an environment of a version of a backend's runtime, which exists until this process ends.

    Raises:
        NoEnvironmentError: the environment cannot be made.
    """
    provider = python_environment.provider(backend_names.option_of(backend))
    backend = under_test.stem(backend)
    reference = python_environment.needs("onnx_reference")
    assert reference is not None  # noqa: S101 - an adapter of this project
    of_onnx = reference.locks_of(onnx.__version__)
    if (script_needs := node_environment.needs(backend)) is not None:
        packages, node_lock = script_needs.of(version), script_needs.lock_of(version)
        folder = node_environment.environment(packages, node_lock)
        python = python_environment.interpreter(reference.of(onnx.__version__), reference.python, of_onnx)
        content = _content(packages, (node_lock,)) if node_lock else ""
        return Place(python, folder, tuple(script_needs.environment.items()), content)
    if provider is not None:
        version = ""  # A provider reports the version of its library, which need not be that of its package.
    needed = provider or python_environment.needs(backend)
    if needed is None:
        raise NoEnvironmentError(
            "no-environment-for-findings",
            f"{backend} has no separate environment, so its findings cannot be confirmed; "
            "`onnx-conformance backends` lists the backends that have one",
        )
    requirements, locks = needed.of(version), needed.locks_of(version)
    if needed.module != "onnx":  # Scripts need onnx, even if the runtime does not.
        requirements = tuple(dict.fromkeys((*requirements, "onnx")))
        locks = (*locks, *of_onnx) if locks else ()
    complete = bool(locks) and not python_lock.unmet(python_lock.joined(locks), requirements)
    python = python_environment.interpreter(requirements, needed.python, locks, complete=complete)
    return Place(python, None, tuple(needed.environment.items()), _content(requirements, locks) if complete else "")


def _content(requirements: str | Iterable[str], locks: Iterable[Path]) -> str:
    """Return a text that is equal for two environments only if they have the same packages."""
    return "\n".join((onnx.__version__, *requirements, *(lock.read_text(encoding="utf-8") for lock in locks)))


def run(where: Place, text: str) -> Said:
    """Run a script in a separate process, in an empty folder."""
    variables = {**environment_variables.variables(programs=False), **dict(where.environment)}
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-") as folder:
        path = Path(folder, "script.py")
        path.write_text(text, encoding="utf-8")
        process = subprocess.Popen(  # noqa: S603 - a script that this project wrote for this runtime
            [where.python, str(path)],
            cwd=where.folder or folder,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=script.SECONDS + MORE_SECONDS)
        except subprocess.TimeoutExpired:
            return Said(2, f"it did not end within {script.SECONDS + MORE_SECONDS:g} s")
        finally:  # A compiler that the runtime started may run for hours.
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return Said(process.returncode, clean(said[-4000:].decode("utf-8", "replace"), 4000))


def run_all(backend: str, version: str, texts: Iterable[str], jobs: int) -> Iterator[Said]:
    """Yield the outputs of scripts on a version of a runtime, in the order of the scripts.

    Raises:
        NoEnvironmentError: its environment cannot be made.
    """
    where = place(backend, version)
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        yield from pool.map(lambda text: run(where, text), texts)


def run_new(backend: str, version: str, texts: Sequence[str], jobs: int) -> Iterator[Said]:
    """Yield the outputs of scripts on a version of a runtime, with those of an interrupted command from the cache.

    Raises:
        NoEnvironmentError: its environment cannot be made.
    """
    content = place(backend, version).content
    names = [packs.key("said", backend, version, content, text) if content else "" for text in texts]
    known = {name: Said(*said) for name in names if name and isinstance(said := packs.read_json(name), list)}
    left = run_all(backend, version, [text for name, text in zip(names, texts, strict=True) if name not in known], jobs)
    for name in names:
        said = known.get(name) or next(left)
        if name and name not in known:
            packs.write_json(name, [said.status, said.text])
        yield said


def today() -> str:
    """Return the date, in UTC."""
    return dt.datetime.now(dt.UTC).date().isoformat()
