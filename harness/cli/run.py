"""`run`: arguments only; the work is done by `harness.run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from harness.cli.options import (
    DESTINATION,
    OVERWRITE,
    SAMPLE,
    SHARD,
    SIZE,
    Seconds,
    Wanted,
    end,
    keeping,
    selecting,
    surrounding,
)
from harness.execution import backend_names
from harness.execution.adapter_process import Limits
from harness.results import sampling
from harness.run import run as session


@click.command()
@click.option(
    "--backend", "backends", multiple=True, default=("onnx_reference",), show_default=True, metavar="BACKEND",
    help="What to test: a name (see README), ./my_file.py, a dotted path such as my_runtime.backend, or cmd:COMMAND. "
    "Repeatable.",
)  # fmt: skip
@selecting
@click.option(
    "--python", "pythons", multiple=True, metavar="PATH",
    help="The interpreter of an environment of yours that holds the runtimes; NAME=PATH for one of them. Repeatable.",
)  # fmt: skip
@surrounding
@click.option(
    "--results", type=DESTINATION,
    help="Write the result stream here; into a folder, named with a slash behind it, one for each backend.",
)  # fmt: skip
@OVERWRITE
@click.option("--resume", is_flag=True, help="Go on with a --results file that was cut off.")
@click.option("--reference", metavar="BACKEND", help="Take this backend's answers as the expected ones.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes for each backend.")
@click.option(
    "--repeat", type=click.IntRange(0, 100), default=0, show_default=True,
    help="Run what failed so often again, in the same process and in a fresh one; two verdicts make a case flaky.",
)  # fmt: skip
@click.option("--shard", type=SHARD, help="Only this part of the cases; stable when cases are added.")
@click.option(
    "--sample", "asked", type=SAMPLE, multiple=True,
    help="Only 1 case in n, always the same ones; NAME=1/n for one backend, such as a slow one. Repeatable.",
)  # fmt: skip
@click.option("--timeout", type=Seconds(0.01), default=20.0, show_default=True, help="Seconds that one case may take.")
@click.option("--memory", type=SIZE, help="Address space of an adapter process, such as 4G.")
@click.option(
    "--restarts",
    type=click.IntRange(0),
    default=Limits.restarts,
    show_default=True,
    help="How often a process is started again.",
)
@click.option("--max-fail", type=click.IntRange(1), help="Stop after so many failures.")
@click.option(
    "--table", type=click.Choice(session.TABLES), default=session.TABLES[0], show_default=True,
    help="The table at the end: operators that fail, all operator versions with every verdict, or none.",
)  # fmt: skip
@click.option(
    "--groups", type=click.IntRange(0), default=10, show_default=True,
    help="Faults shown of each backend, the gravest first; 0: all.",
)  # fmt: skip
@click.option(
    "--expectations", type=click.Path(dir_okay=False, path_type=Path),
    help="What the runtime's author accepts for now; the exit status tells whether that still holds.",
)  # fmt: skip
def run(wanted: Wanted, shard: Any, asked: Any, **given: Any) -> None:  # noqa: ANN401 - click's
    """Run cases on backends and say which sentences they break.

    Exit status: 0 all scored verdicts pass, 1 some do not, 2 the command or the harness itself failed.
    """
    keeping(resume=given["resume"], overwrite=given["overwrite"])
    backends = tuple(dict.fromkeys(given["backends"]))
    sampled = sampling.by_backend(asked, backends)
    results, apart = given["results"] or (None, False)
    options = session.Options(
        backends=backends,
        suite=wanted.suite_name,
        selection=wanted.selection(shard, sampling.widest(sampled, backends)),
        samples=sampled,
        limits=Limits(timeout=given["timeout"], memory=given["memory"], restarts=given["restarts"]),
        jobs=given["jobs"],
        repeat=given["repeat"],
        reference=given["reference"],
        pythons=backend_names.interpreters(given["pythons"], backends),
        results=results,
        apart=apart,
        resume=given["resume"],
        overwrite=given["overwrite"],
        max_fail=given["max_fail"],
        groups=given["groups"],
        table=given["table"],
        expectations=given["expectations"],
        passes=given["passes"],
        isolate=given["isolate"],
    )
    end(session.execute(options))
