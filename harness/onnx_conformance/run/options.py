# SPDX-License-Identifier: Apache-2.0
"""The options of a run, and the work that follows from them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.environments import backend_names, environment_variables, sandbox
from onnx_conformance.judging import profile
from onnx_conformance.run.worker import Work

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from onnx_conformance.processes.adapter_process import Limits
    from onnx_conformance.suites.selection import Selection

TABLES = ("operators", "versions", "full", "none")
"""The tables of `run`: a row for each operator that fails, for each operator version, or for each operator version and
backend with every verdict, or none."""


@dataclass(frozen=True)
class Options:
    """Options of `run`; see `onnx-conformance run --help`.

    Attributes:
        groups: groups of failures shown for each backend; 0: all.
        table: one of TABLES.
        brief: the end of the run fits on a screen: an overview of the faults instead of the table and the groups.
        apart: `results` is a folder with one file for each backend.
        overwrite: existing results may be replaced.
        pythons: by backend, the interpreter of an environment that the user made; "" is for all others.
        samples: by backend, n where it runs 1 case in n; without an entry, it runs all.
        passes: names of environment variables that adapters get in addition to those that all get.
        isolate: files and folders that adapters in a sandbox see in addition; None: they are not isolated.
        without_readings: the numbers of readings whose cases are not scored.
        locale: the locale of adapters; empty: that of Python.
        profile: the text of the profile of backends whose own file has none.
        threads: the number of threads that runtimes may use; None: as the adapters choose.
        jobs: how many workers; None: as many as there are processors, and cases for them.
        cluster: the address of a Dask scheduler whose workers run the slices, or local:N; empty: none.
        resources: by backend, the resources that it needs on a Dask worker, such as {"GPU": 1}.
    """

    backends: tuple[str, ...]
    suite: str
    selection: Selection
    limits: Limits
    jobs: int | None = 1
    cluster: str = ""
    resources: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    repeat: int = 0
    reference: str | None = None
    pythons: Mapping[str, str] = field(default_factory=dict)
    results: Path | None = None
    apart: bool = False
    resume: bool = False
    overwrite: bool = False
    max_fail: int | None = None
    groups: int = 10
    table: str = TABLES[0]
    brief: bool = False
    expectations: Path | None = None
    samples: Mapping[str, int] = field(default_factory=dict)
    passes: tuple[str, ...] = ()
    isolate: tuple[Path, ...] | None = None
    without_readings: frozenset[str] = frozenset()
    locale: str = ""
    threads: int | None = None
    profile: str = ""

    def work(self) -> Work:
        """Return the work of this machine's workers.

        Raises:
            HarnessError: a backend cannot be used.
        """
        default_python = self.pythons.get("", "")
        settings = environment_variables.settings(self.locale, self.threads)
        targets = [
            backend_names.resolve(name, self.pythons.get(name, default_python), self.passes)
            for name in dict.fromkeys(self.backends)
        ]
        targets = [
            profile.with_file(dataclasses.replace(target, environment={**target.environment, **settings}), self.profile)
            for target in targets
        ]
        reference = backend_names.resolve(self.reference, passes=self.passes) if self.reference else None
        if self.isolate is not None:
            isolation = sandbox.around(self.suite, self.results, apart=self.apart, shown=self.isolate)
            targets = [isolation.of(target) for target in targets]
            reference = isolation.of(reference) if reference else None
        return Work(
            targets=tuple(targets),
            limits=self.limits,
            suite=self.suite,
            selection=self.selection,
            reference=reference,
            repeat=self.repeat,
            without_readings=self.without_readings,
        )
