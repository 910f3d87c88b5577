# SPDX-License-Identifier: Apache-2.0
"""`search`: runs random operator calls and models, and stores the failing ones as cases."""

from __future__ import annotations

import importlib.util
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.cli.options import SIZE, Seconds, exit_with, with_adapter_options, with_operator_options
from onnx_conformance.environments import backend_names, sandbox
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.run import progress
from onnx_conformance.specification import packages
from onnx_conformance.suites.case_json import StoreError
from onnx_conformance.suites.lookup import check_selection, suite_of
from onnx_conformance.suites.selection import Selection

HAS_HYPOTHESIS = importlib.util.find_spec("hypothesis") is not None
if HAS_HYPOTHESIS:  # Without it, the command still has its help.
    from onnx_conformance.report import search_text as report
    from onnx_conformance.search import causes, freeze, grammar
    from onnx_conformance.search.property_search import Options, Search

if TYPE_CHECKING:
    from onnx_conformance.search.freeze import State
    from onnx_conformance.search.property_search import Failure, Outcome

RESTARTS = 1 << 30
"""A search of several hours may encounter any number of crashes."""
MINUTE = 60


@click.command("search")
@click.option("--backend", required=True, metavar="BACKEND", help="The backend to test, as in `run`.")
@click.option(
    "--minutes", type=float, default=None,
    help="Duration of the search; shrinking the last failure may take some more seconds.  [default: 10]",
)  # fmt: skip
@click.option(
    "--examples",
    type=click.IntRange(1),
    help="Stop after this number of examples, not counting those that shrink a failure.",
)
@click.option("--seed", type=click.IntRange(0), help="Repeat the search with this seed.  [default: random]")
@with_operator_options()
@click.option(
    "--folder", type=click.Path(path_type=Path),
    help="Write failing cases to this folder, a suite for `run`.  [default: search-BACKEND]",
)  # fmt: skip
@click.option(
    "--known", "known", multiple=True, type=click.Path(path_type=Path), metavar="RESULTS",
    help="Ignore the causes of failures in this results file. Repeatable.",
)  # fmt: skip
@click.option("--package", default=packages.ONNX.name, show_default=True, help="The operator package of the calls.")
@click.option("--single", is_flag=True, help="Only single operators, no models with several nodes.")
@click.option(
    "--python", default="", metavar="PATH", help="A Python interpreter that has the runtime installed, as in `run`."
)
@click.option(
    "--timeout", type=Seconds(0.01), default=10.0, show_default=True, help="Time limit of one case, in seconds."
)
@click.option("--memory", type=SIZE, help="Limit of an adapter process's address space, such as 4G.")
@with_adapter_options
def search_(
    backend: str, minutes: float | None, examples: int | None, seed: int | None, selection: Selection,
    folder: Path | None, known: tuple[Path, ...], python: str, timeout: float, memory: int | None,
    passes: tuple[str, ...], package: str, *, single: bool, isolate: tuple[Path, ...] | None,
) -> None:  # fmt: skip
    """Run random operator calls and models on a backend, and store the failing ones as cases.

    Calls are random variations of the declared cases: other types, sizes, attributes, values and forms. Models combine
    several such calls. The oracle computes the expected outcome. The first failure of each distinct cause is shrunk and
    written to a folder in ONNX's layout.

    Exit status: 0 nothing fails, 1 something fails, 2 the command or the adapter failed.
    """
    if not HAS_HYPOTHESIS:
        raise HarnessError("hypothesis-missing", "search needs the package hypothesis: pip install hypothesis")
    seconds = _seconds(minutes, examples)
    where = folder or Path(f"search-{re.sub(r'[^A-Za-z0-9._=+]+', '-', backend).strip('-.')}")
    freeze.check(where)
    chosen_package = packages.named(package)
    of_onnx = chosen_package is packages.ONNX
    check_selection(suite_of(chosen_package), selection)
    target = backend_names.resolve(backend, python, passes)
    target = sandbox.isolated(target, isolate)
    is_known = {cause for path in known for cause in causes.known(path, backend)}
    selected = grammar.sources(selection, chosen_package)
    if not selected:
        raise HarnessError(
            "only-deprecated", f"{selection} selects only deprecated operator versions, which cannot be searched"
        )
    chosen = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    limits = Limits(timeout=timeout, memory=memory, restarts=RESTARTS)
    every = grammar.sources(Selection()) if str(selection) and not single else selected
    options = Options(
        target, limits, selected, every, chosen, seconds, examples, is_known, compose=of_onnx and not single
    )
    count = "1 operator version" if len(selected) == 1 else f"{len(selected):,} operator versions"
    printing.note(f"seed {chosen}: {count}, for {_length(seconds, examples)}")
    outcome, frozen = _searched(options, where)
    for text in report.lines(outcome, frozen, where, backend, chosen):
        printing.show(text)
    exit_with(2 if outcome.errors else 1 if outcome.failures else 0)


def _searched(options: Options, folder: Path) -> tuple[Outcome, dict[int, tuple[Path, State]]]:
    """Run a search; return its outcome, and the folder and state of the case of each failure, by index."""
    frozen: dict[int, tuple[Path, State]] = {}
    with Asker(options.target, options.limits) as asker:
        search = Search(options, asker)

        def on_failure(found: Failure) -> None:
            try:
                frozen[len(search.outcome.failures) - 1] = freeze.freeze(found, folder, options.seed)
            except StoreError as error:
                printing.warn(error)
            printing.note(report.failure(found))

        watch = progress.Watch(search.outcome.verdicts, {options.target.name: 1.0}, lambda: None)
        with progress.shown(watch) as advance:
            search.on_example, search.on_failure = advance, on_failure
            search.run()
    return search.outcome, frozen


def _seconds(minutes: float | None, examples: int | None) -> float | None:
    """Return the duration of the search in seconds; None if only the number of examples limits it.

    Raises:
        HarnessError: it is not a valid time.
    """
    if minutes is None:
        return None if examples is not None else 10.0 * MINUTE
    if not 0 < minutes <= 1e6:  # noqa: PLR2004 - two years
        raise HarnessError(
            "not-a-time", f"--minutes {minutes:g} is not a valid time; write a number above 0, such as 10"
        )
    return minutes * MINUTE


def _length(seconds: float | None, examples: int | None) -> str:
    parts = [f"{seconds / MINUTE:g} minutes"] if seconds is not None else []
    parts += [f"{examples:,} examples"] if examples is not None else []
    return " or ".join(parts)
