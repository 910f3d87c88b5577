# SPDX-License-Identifier: Apache-2.0
"""`trend`: compare successive versions of one runtime."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onnx_conformance.base import printing, under_test
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line
from onnx_conformance.cli.execution import execute, print_faults
from onnx_conformance.cli.options import (
    OVERWRITE,
    SAMPLE,
    CaseOptions,
    Seconds,
    check_resume,
    exit_with,
    with_adapter_options,
    with_case_options,
)
from onnx_conformance.environments import backend_names, package_index
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.report import formats
from onnx_conformance.report import trend as written
from onnx_conformance.results import sampling
from onnx_conformance.results.stream import Run
from onnx_conformance.results.trend import check_options, trend
from onnx_conformance.run.options import Options
from onnx_conformance.run.run import EXIT_FAILED, EXIT_PASSED

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("trend")
@click.argument("sources", metavar="BACKEND|RESULTS...", nargs=-1, required=True)
@click.option(
    "--last", type=click.IntRange(2, 100), default=6, show_default=True,
    help="For a single BACKEND without a version: number of minor versions, each in its newest release.",
)  # fmt: skip
@with_case_options
@with_adapter_options
@click.option(
    "--sample", "samples", type=SAMPLE, multiple=True, help="Only 1 case in n, always the same ones, as in `run`."
)
@click.option(
    "--results", type=click.Path(dir_okay=False, path_type=Path), help="Write the result stream to this file."
)
@OVERWRITE
@click.option("--resume", is_flag=True, help="Continue a --results file that is incomplete.")
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Number of processes per version."
)
@click.option(
    "--timeout", type=Seconds(0.01), default=20.0, show_default=True, help="Time limit of one case, in seconds."
)
@click.option(
    "--restarts",
    type=click.IntRange(0),
    default=Limits.restarts,
    show_default=True,
    help="How many times a process may be restarted.",
)
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Also write the trend as Markdown to this file."
)
def trend_(sources: tuple[str, ...], last: int, out: Path | None, **options: Any) -> None:  # noqa: ANN401
    """Show in which version of a runtime the verdicts of each operator version changed.

    A single BACKEND is run in its last minor versions, each in a separate environment. Several, such as
    onnxruntime==1.20.1 onnxruntime==1.31.1, are run in the named versions. RESULTS are existing results files.

    Exit status: 0 every case that passed in the previous version passes in the newest one, 1 some case does not, 2 the
    command or the harness itself failed.
    """
    check_resume(resume=options["resume"], overwrite=options["overwrite"])
    files = [Path(name) for name in sources if _is_results(name)]
    if files and len(files) < len(sources):
        other = next(name for name in sources if Path(name) not in files)
        raise HarnessError(
            "not-a-results-file", f"{other} is not a results file; name backends to run or results files, not both"
        )
    if files:
        status = _report([Run(path) for path in files], out)
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = options.pop("results") or Path(folder) / "trend.ndjson"
            measured = _measure(_versions(sources, last), path, **options)
            status = max(
                _report([Run(path)], out), measured
            )  # Existing results are reported, even if something failed.
    exit_with(status)


def _is_results(name: str) -> bool:
    """Return whether a source is a results file, not an adapter of the user."""
    return name.endswith(".ndjson") or (Path(name).is_file() and not name.endswith(".py"))


def _versions(names: Sequence[str], last: int) -> tuple[str, ...]:
    """Return the named backends, or the last versions of a single one."""
    check_options(names)
    if len(names) > 1 or under_test.parts(names[0]).version:
        return tuple(names)
    needed = backend_names.needs(names[0])
    if needed is None:
        backend_names.resolve(names[0])  # Raises if there is no such backend at all.
        raise HarnessError(
            "versions-unknown",
            f"the versions of {names[0]!r} are unknown; name a backend that has an environment (see `backends`), "
            "or run each "
            "version separately and pass the results files",
        )
    return tuple(f"{names[0]}=={version}" for version in package_index.minors(needed, last))


def _measure(
    backends: tuple[str, ...],
    results: Path,
    *,
    case_options: CaseOptions,
    samples: Any,  # noqa: ANN401 - click's tuples
    resume: bool,
    overwrite: bool,
    jobs: int,
    timeout: float,
    restarts: int,
    passes: tuple[str, ...],
    isolate: tuple[Path, ...] | None,
) -> int:
    """Run the versions; return 0, or 2 if results are missing."""
    printing.note(f"running {line(', '.join(backends))}")
    by_backend = sampling.by_backend(samples, backends)
    run_options = Options(
        backends=backends,
        suite=case_options.suite_name,
        selection=case_options.selection(None, sampling.widest(by_backend, backends)),
        samples=by_backend,
        limits=Limits(timeout=timeout, restarts=restarts),
        jobs=jobs,
        results=results,
        resume=resume,
        overwrite=overwrite,
        passes=passes,
        isolate=isolate,
    )
    status = execute(run_options, report=print_faults)
    return EXIT_PASSED if status == EXIT_FAILED else status


def _report(runs: Sequence[Run], out: Path | None) -> int:
    changes = trend(runs)
    for block in written.text(changes):
        printing.show(block)
    if out is not None:
        formats.write(out, written.markdown(changes))
        printing.show(f"\n{out}")
    return EXIT_FAILED if changes.broke(changes.versions[-1]) else EXIT_PASSED
