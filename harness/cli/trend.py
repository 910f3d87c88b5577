"""`trend`: versions of one runtime, and what changed from each to the next."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from harness import printing
from harness.cli.options import OVERWRITE, SAMPLE, Seconds, Wanted, end, keeping, selecting, surrounding
from harness.errors import HarnessError
from harness.execution import backend_names, package_index
from harness.execution.adapter_process import Limits
from harness.report import formats
from harness.report import trend as written
from harness.results import sampling
from harness.results.stream import Run
from harness.results.trend import trend
from harness.run import run
from harness.verdict import line

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("trend")
@click.argument("sources", metavar="BACKEND|RESULTS...", nargs=-1, required=True)
@click.option(
    "--last", type=click.IntRange(2, 100), default=6, show_default=True,
    help="How many minor versions, the newest release of each, where BACKEND alone is given.",
)  # fmt: skip
@selecting
@surrounding
@click.option(
    "--sample", "asked", type=SAMPLE, multiple=True, help="Only 1 case in n, always the same ones, as in `run`."
)
@click.option("--results", type=click.Path(dir_okay=False, path_type=Path), help="Keep the result stream here.")
@OVERWRITE
@click.option("--resume", is_flag=True, help="Go on with a --results file that was cut off.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes for each version.")
@click.option("--timeout", type=Seconds(0.01), default=20.0, show_default=True, help="Seconds that one case may take.")
@click.option(
    "--restarts",
    type=click.IntRange(0),
    default=Limits.restarts,
    show_default=True,
    help="How often a process is started again.",
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it as Markdown to this file as well."
)
def trend_(sources: tuple[str, ...], last: int, out: Path | None, **given: Any) -> None:  # noqa: ANN401
    """Tell for each operator version when a verdict changed, over several versions of one runtime.

    BACKEND is run in its last minor versions, each in an environment of its own; several, such as onnxruntime==1.20.1
    onnxruntime==1.31.1, in these. RESULTS are files of runs that are there already, one or more.

    Exit status: 0 whatever passed in the version before the newest passes in it, 1 something does not, 2 the command or
    the harness itself failed.
    """
    keeping(resume=given["resume"], overwrite=given["overwrite"])
    files = [Path(name) for name in sources if _is_results(name)]
    if files and len(files) < len(sources):
        other = next(name for name in sources if Path(name) not in files)
        raise HarnessError(f"{other} is no results file; give backends to run, or results files, not both")
    if files:
        status = _tell([Run(path) for path in files], out)
    else:
        with tempfile.TemporaryDirectory() as folder:
            kept = given.pop("results") or Path(folder) / "trend.ndjson"
            measured = _measure(_versions(sources, last), kept, **given)
            status = max(_tell([Run(kept)], out), measured)  # What was measured is told whatever went wrong beside it.
    end(status)


def _is_results(name: str) -> bool:
    """Tell whether a source is a results file, and no backend of the user's own."""
    return name.endswith(".ndjson") or (Path(name).is_file() and not name.endswith(".py"))


def _versions(names: Sequence[str], last: int) -> tuple[str, ...]:
    """Return the backends to run: those that are named, or the last versions of the one that is."""
    if len(names) > 1 or "==" in names[0]:
        return tuple(names)
    needed = backend_names.needs(names[0])
    if needed is None:
        backend_names.resolve(names[0])  # Which says so, where there is no such backend at all.
        raise HarnessError(
            f"nothing is known of the versions of {names[0]!r}; name a backend of which `backends` says that it has an "
            "environment, or run each version by itself and give the results files"
        )
    return tuple(f"{names[0]}=={version}" for version in package_index.minors(needed, last))


def _measure(
    backends: tuple[str, ...],
    results: Path,
    *,
    wanted: Wanted,
    asked: Any,  # noqa: ANN401 - click's tuples
    resume: bool,
    overwrite: bool,
    jobs: int,
    timeout: float,
    restarts: int,
    passes: tuple[str, ...],
    isolate: bool,
) -> int:
    """Run the versions; return 0, or 2 where results are missing."""
    printing.note(f"runs {line(', '.join(backends))}")
    sampled = sampling.by_backend(asked, backends)
    options = run.Options(
        backends=backends,
        suite=wanted.suite_name,
        selection=wanted.selection(None, sampling.widest(sampled, backends)),
        samples=sampled,
        limits=Limits(timeout=timeout, restarts=restarts),
        jobs=jobs,
        results=results,
        resume=resume,
        overwrite=overwrite,
        passes=passes,
        isolate=isolate,
    )
    status = run.execute(options, report=run.print_faults)
    return run.EXIT_PASSED if status == run.EXIT_FAILED else status


def _tell(runs: Sequence[Run], out: Path | None) -> int:
    found = trend(runs)
    for block in written.text(found):
        printing.show(block)
    if out is not None:
        formats.write(out, written.markdown(found))
        printing.show(f"\n{out}")
    return run.EXIT_FAILED if found.broke(found.versions[-1]) else run.EXIT_PASSED
