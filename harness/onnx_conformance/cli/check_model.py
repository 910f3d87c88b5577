# SPDX-License-Identifier: Apache-2.0
"""`check-model`: whether a runtime passes, fails or lacks each call of a model, from results and findings."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnx_conformance.analysis import support as supporting
from onnx_conformance.analysis import support_file
from onnx_conformance.analysis.support import Standing, Support
from onnx_conformance.base import printing, under_test
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import CHECKOUT
from onnx_conformance.base.verdict import line
from onnx_conformance.case.model_file import load_nodes
from onnx_conformance.cli import page_cases
from onnx_conformance.cli.options import exit_with
from onnx_conformance.findings import findings_file, model_use
from onnx_conformance.report import model_use as written
from onnx_conformance.report import provenance
from onnx_conformance.results.stream import Run, suite_text
from onnx_conformance.specification.model_use import calls

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from onnx_conformance.findings.finding import Findings
    from onnx_conformance.specification.model_use import Call

REPORTS = "reports"
"""The folder of published reports in a checkout."""


@click.command("check-model")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--backend", required=True, help="The runtime for the model, as named in the results or findings.")
@click.option(
    "--results", "files", multiple=True, type=click.Path(path_type=Path), metavar="FILE",
    help="Results of the runtime: a file of `run`, or support.json of published reports. Repeatable.  "
    "[default: the published results]",
)  # fmt: skip
@click.option(
    "--findings", "folder", type=click.Path(file_okay=False, path_type=Path),
    help="The folder that `findings` wrote.  [default: the published findings]",
)  # fmt: skip
def check_model(model: Path, backend: str, files: tuple[Path, ...], folder: Path | None) -> None:
    """Show whether a runtime passes, fails, opts out of or lacks each operator version, type and attribute of a model.

    The runtime does not run: the verdicts are those of cases that are called in the same way, in its results. Findings
    whose conditions the model does not meet are listed separately.

    Exit status: 0 every node passes, 1 some do not or are untested, 2 the model, results or findings cannot be used.
    """
    published = CHECKOUT / REPORTS if CHECKOUT is not None and not files and folder is None else None
    if published is not None:
        folder = published / "findings" if (published / "findings" / findings_file.FILE).is_file() else None
        files = (published / support_file.FILE,) if (published / support_file.FILE).is_file() else ()
    used = calls(load_nodes(model))
    if folder is None and not files:
        raise HarnessError(
            "nothing-published",
            "there are no published results here; run the cases of the operators with "
            f"`{_run(used, backend)}`, and name that file with --results; or name findings with --findings",
        )
    known = findings_file.read(folder) if folder is not None else None
    operators = {call.operator for call in used}
    supports = [item for path in files for item in _read(path, operators)]
    support = _support(supports, backend)
    _check_known(backend, supports, support, known, [*files, *([folder] if folder is not None else [])])
    name = under_test.unversioned(backend)
    judged = model_use.judge(used, support, known, name)
    for text in written.lines(model.name, _title(backend, support, known), judged, folder):
        printing.show(text)
    passes = all(item.standing is Standing.PASSES for item in judged)
    if support is None and not passes:
        printing.note(
            f"there are no results of {line(backend, 80)}, so no node can pass; run the cases of its operators with "
            f"`{_run(used, backend)}`, and name that file with --results"
        )
    exit_with(0 if passes else 1)


MOST_OPERATORS = 12
"""Maximum number of operators that a suggested command names; for a model with more, it runs the whole core."""


def _run(used: Iterable[Call], backend: str) -> str:
    """Return the command that runs the cases of the operators of a model.

    It runs all versions of them, and calls with other attributes: `run --model` would leave out most cases.
    """
    names = sorted({call.operator.rpartition("/")[2] for call in used if call.version is not None})
    ops = [word for name in names for word in ("--op", name)] if len(names) <= MOST_OPERATORS else []
    return shlex.join(["onnx-conformance", "run", "--core", *ops, "--backend", backend, "--results", "now.ndjson"])


def _read(path: Path, operators: Collection[str]) -> list[Support]:
    """Return the support of the runtimes of a results file, or of published results."""
    if path.suffix == ".json":
        return support_file.read(path)
    run = Run(path)
    suite, _ = page_cases.suite_of_runs([run])
    if suite is None:
        raise HarnessError(
            "results-of-another-suite",
            f"{path} has results of suite {line(suite_text(run.header['suite']), 200)}, which is not here in this "
            "version, so its cases cannot be compared with the model; run again",
        )
    return supporting.of_runs([run], suite, operators.__contains__)


def _support(supports: Sequence[Support], backend: str) -> Support | None:
    """Return the support of a backend from all files; of its newest version if the backend is named without one."""
    name = under_test.unversioned(backend)
    named = [item for item in supports if item.backend == backend]
    wanted = under_test.parts(backend).version
    alike = [
        item
        for item in supports
        if under_test.unversioned(item.backend) == name and (not wanted or item.version == wanted)
    ]
    if not (named or alike):
        return None
    newest = max(named or alike, key=lambda item: provenance.age(item.version))
    return supporting.merged([item for item in named or alike if item.version == newest.version])


def _check_known(
    backend: str, supports: Iterable[Support], support: Support | None, known: Findings | None, sources: Sequence[Path]
) -> None:
    """Raise HarnessError unless results or findings are about the backend."""
    name = under_test.unversioned(backend)
    if support is not None or (known is not None and name in known.runtimes):
        return
    there = {f"{under_test.unversioned(item.backend)} {item.version}".strip() for item in supports} | set(
        known.runtimes if known is not None else ()
    )
    listed = ", ".join(sorted(line(item, 80) for item in there)) or "none"
    named = " and ".join(map(str, sources))
    raise HarnessError(
        "backend-without-results", f"{named}: there is nothing about {line(backend, 80)!r}; the backends are {listed}"
    )


def _title(backend: str, support: Support | None, known: Findings | None) -> str:
    if support is not None:
        return support.title
    name = under_test.unversioned(backend)
    runtime = known.runtimes.get(name, {}) if known is not None else {}
    return line(f"{runtime.get('runtime', name)} {runtime.get('version', '')}".strip(), 120)
