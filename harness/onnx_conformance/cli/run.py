# SPDX-License-Identifier: Apache-2.0
"""`run`: the options; `onnx_conformance.run` does the work."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.suite_names import PROVISIONAL
from onnx_conformance.cli.execution import execute
from onnx_conformance.cli.options import (
    DESTINATION,
    OVERWRITE,
    REFERENCE,
    SAMPLE,
    SHARD,
    SIZE,
    CaseOptions,
    Seconds,
    check_resume,
    exit_with,
    with_adapter_options,
    with_case_options,
)
from onnx_conformance.declare.readings import named
from onnx_conformance.environments import backend_names
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.results import sampling
from onnx_conformance.run.options import TABLES, Options
from onnx_conformance.suites import profile_file
from onnx_conformance.suites.generated import Generated

if TYPE_CHECKING:
    from onnx_conformance.suites.selection import Selection


@click.command()
@click.option(
    "--backend", "backends", multiple=True, default=("onnx_reference",), show_default=True, metavar="BACKEND",
    help="The backend to test: a name (see `backends`), ./my_file.py, a dotted path, or cmd:COMMAND. Repeatable.",
)  # fmt: skip
@with_case_options
@click.option(
    "--max-elements", type=click.IntRange(0), metavar="N",
    help="Leave out cases with a tensor of more elements; the end of the run shows their number.",
)  # fmt: skip
@click.option(
    "--provisional", is_flag=True,
    help="Run versions that are not declared yet, on cases of their previous versions; same as --suite provisional.",
)  # fmt: skip
@click.option(
    "--python", "pythons", multiple=True, metavar="PATH",
    help="A Python interpreter that has the runtimes installed; NAME=PATH for one backend. Repeatable.",
)  # fmt: skip
@with_adapter_options
@click.option(
    "--results", type=DESTINATION,
    help="Write the result stream to this file, or one file per backend into FOLDER/.",
)  # fmt: skip
@OVERWRITE
@click.option("--resume", is_flag=True, help="Continue a --results file that is incomplete.")
@REFERENCE
@click.option(
    "--jobs", type=click.IntRange(1, 1024),
    help="Number of workers, each with a process of every backend.  [default: depends on cores, backends and cases]",
)  # fmt: skip
@click.option(
    "--cluster", default="", metavar="ADDRESS",
    help="Run on the workers of this Dask scheduler, or on local:N; see docs/cluster.md.",
)  # fmt: skip
@click.option(
    "--resource", "resources", multiple=True, metavar="BACKEND=KEY:N",
    help="Run a backend only on Dask workers with this resource, such as my_gpu_backend=GPU:1. Repeatable.",
)  # fmt: skip
@click.option("--no-cache", is_flag=True, help="Do not use the cache of encoded cases and compiled programs.")
@click.option(
    "--repeat", type=click.IntRange(0, 100), default=0, show_default=True,
    help="Rerun each failure this often, in the same and in a new process; differing verdicts make it flaky.",
)  # fmt: skip
@click.option(
    "--shard", type=SHARD, help="Only part i of n of the cases. A case stays in its part when cases are added."
)
@click.option(
    "--sample", "samples", type=SAMPLE, multiple=True,
    help="Only 1 case in n, always the same ones; NAME=1/n for one backend. Repeatable.",
)  # fmt: skip
@click.option(
    "--timeout", type=Seconds(0.01), default=20.0, show_default=True, help="Time limit of one case, in seconds."
)
@click.option("--memory", type=SIZE, help="Limit of an adapter process's address space, such as 4G.")
@click.option(
    "--restarts",
    type=click.IntRange(0),
    default=Limits.restarts,
    show_default=True,
    help="How many times a process may be restarted.",
)
@click.option(
    "--locale", default="", metavar="NAME",
    help="Run adapters in this locale, such as de_DE.UTF-8, which has a decimal comma.",
)  # fmt: skip
@click.option(
    "--threads", type=click.IntRange(1, 1024),
    help="Number of threads of a runtime.  [default: chosen by its adapter, mostly 1]",
)  # fmt: skip
@click.option("--max-fail", type=click.IntRange(1), help="Stop after this many failures.")
@click.option(
    "--table", type=click.Choice(TABLES),
    help="The table at the end: failing operators, operator versions, these with every verdict, or none.  [default: "
    "versions with --opsets; else operators, or none on a terminal]",
)  # fmt: skip
@click.option(
    "--groups", type=click.IntRange(0),
    help="Number of faults shown in full per backend, most severe first; 0: all.  [default: 10; an overview on a "
    "terminal]",
)  # fmt: skip
@click.option(
    "--expectations", type=click.Path(dir_okay=False, path_type=Path),
    help="File of currently accepted failures; the exit status is that of the gate.",
)  # fmt: skip
@click.option(
    "--profile", type=click.Path(dir_okay=False, path_type=Path),
    help="File with the claims, exclusions, overrides and bounds of the runtime's author, for backends whose own file "
    "has none.  [default: the file of --claims]",
)  # fmt: skip
@click.option(
    "--without-reading", "readings", multiple=True, metavar="NUMBER",
    help="Do not score cases that depend on this reading; see `readings`. Repeatable.",
)  # fmt: skip
def run(case_options: CaseOptions, shard: Any, samples: Any, **options: Any) -> None:  # noqa: ANN401 - click's
    """Run cases on backends, and report which sentences of the specification they violate.

    Exit status: 0 all scored cases pass, 1 some fail, 2 the command or the harness itself failed.
    """
    check_resume(resume=options["resume"], overwrite=options["overwrite"])
    if options["provisional"]:
        if case_options.suite_name not in {Generated.name, PROVISIONAL}:
            raise HarnessError(
                "provisional-and-suite",
                f"--provisional selects the suite provisional; remove --suite {case_options.suite_name}",
            )
        case_options = dataclasses.replace(case_options, suite_name=PROVISIONAL)
    backends = tuple(dict.fromkeys(options["backends"]))
    by_backend = sampling.by_backend(samples, backends)
    results, apart = options["results"] or (None, False)
    if options["no_cache"]:
        os.environ["ONNX_CONFORMANCE_CACHE"] = ""
    selection = case_options.selection(shard, sampling.widest(by_backend, backends))
    run_options = Options(
        backends=backends,
        suite=case_options.suite_name,
        selection=selection,
        samples=by_backend,
        limits=Limits(timeout=options["timeout"], memory=options["memory"], restarts=options["restarts"]),
        jobs=options["jobs"],
        repeat=options["repeat"],
        reference=options["reference"],
        pythons=backend_names.interpreters(options["pythons"], backends),
        results=results,
        apart=apart,
        resume=options["resume"],
        overwrite=options["overwrite"],
        max_fail=options["max_fail"],
        groups=10 if options["groups"] is None else options["groups"],
        table=options["table"] or _table(selection, options["expectations"]),
        brief=options["groups"] is None and options["table"] is None and printing.is_terminal(),
        expectations=options["expectations"],
        passes=options["passes"],
        isolate=options["isolate"],
        without_readings=named(options["readings"]),
        locale=options["locale"],
        threads=options["threads"],
        profile=_profile(options["profile"], case_options),
        cluster=_cluster(options["cluster"], options["jobs"]),
        resources=_resources(options["resources"], backends, options["cluster"]),
    )
    exit_with(execute(run_options))


def _profile(path: Path | None, case_options: CaseOptions) -> str:
    """Return the text of --profile; without it, of --claims.

    Raises:
        HarnessError: it cannot be read.
    """
    chosen = path or case_options.choice.get("claims")
    return "" if chosen is None else profile_file.text_of(Path(chosen))


def _table(selection: Selection, expectations: Path | None) -> str:
    """Return the table at the end; with expectations, the deviations from them are shown instead."""
    return "versions" if selection.opsets is not None and expectations is None else TABLES[0]


def _cluster(address: str, jobs: int | None) -> str:
    """Return the address of a Dask scheduler, or local:N.

    Raises:
        HarnessError: it is neither, or --jobs is set as well.
    """
    if not address:
        return ""
    if jobs is not None:
        raise HarnessError(
            "jobs-and-cluster",
            "--jobs is for workers on this machine, --cluster for workers of a cluster; use only one of them",
        )
    if re.fullmatch(r"local:([1-9]\d{0,3})|(?:tcp|tls|ws|wss|ucx)://\S+|(?!local:)[^\s:/]+:\d+", address) is None:
        raise HarnessError(
            "not-an-address",
            f"--cluster {address!r} is not an address; write that of a Dask scheduler, such as tcp://10.0.0.1:8786, or "
            "local:N",
        )
    return address


def _resources(words: tuple[str, ...], backends: tuple[str, ...], cluster: str) -> dict[str, dict[str, float]]:
    """Return the resources that each backend needs on a Dask worker.

    Raises:
        HarnessError: a text is not BACKEND=KEY:N with a backend of this run, or --cluster is missing.
    """
    needs: dict[str, dict[str, float]] = {}
    for text in words:
        name, _, need = text.rpartition("=")
        match = re.fullmatch(r"([^\s:]+):(\d+(?:\.\d+)?)", need)
        if match is None or name not in backends:
            raise HarnessError(
                "not-a-resource",
                f"--resource {text!r}: expected BACKEND=KEY:N with one of {', '.join(backends)}, such as "
                f"{backends[0]}=GPU:1",
            )
        needs.setdefault(name, {})[match[1]] = float(match[2])
    if needs and not cluster:
        raise HarnessError("resource-without-cluster", "--resource needs --cluster")
    return needs
