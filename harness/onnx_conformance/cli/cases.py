# SPDX-License-Identifier: Apache-2.0
"""`list`, `show`, `generate`, `manifest`, `coverage`: commands about the available cases."""

from __future__ import annotations

import json
import os
import platform
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
import onnx
from tabulate import tabulate

from onnx_conformance.base import atomic_file, globs, printing
from onnx_conformance.base.errors import HarnessError, Note
from onnx_conformance.base.package import VERSION
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.case.case import Outcome
from onnx_conformance.cli.options import (
    JOBS,
    CaseOptions,
    exit_with,
    load_case,
    with_case_options,
    with_operator_options,
    with_part_options,
)
from onnx_conformance.declare.readings import READINGS
from onnx_conformance.generation import coverage, manifest, suite_digest
from onnx_conformance.generation import mutant_figures as figures
from onnx_conformance.layouts import layout as layouts
from onnx_conformance.opset import operator_file
from onnx_conformance.report import case as case_report
from onnx_conformance.report import coverage as coverage_report
from onnx_conformance.report import operator as operator_report
from onnx_conformance.results import stream
from onnx_conformance.results.stream import Run
from onnx_conformance.run import export
from onnx_conformance.specification import packages, registry, schema
from onnx_conformance.suites import of_package, onnx_python
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import check_all_matched, check_selection, find_operator, suite_of
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.declare import Op
    from onnx_conformance.suites.suite import Suite

OUTCOMES = tuple(str(outcome) for outcome in Outcome)


@click.command("list")
@with_case_options
@with_part_options
@click.option("--by-version", is_flag=True, help="Print one line per operator version, with its number of cases.")
def list_(case_options: CaseOptions, shard: tuple[int, int] | None, sample: int, by_version: bool) -> None:  # noqa: FBT001 - click's
    """List cases: id, expected outcome, tags."""
    suite, selection = case_options.open(shard, sample)
    counts: dict[str, dict[str, int]] = {}
    for case in suite.listed(selection):
        row = counts.setdefault(case.operator, {})
        row[case.outcome] = row.get(case.outcome, 0) + 1
        if not by_version:
            printing.show(f"{line(case.id, 1000)}  {case.outcome}  {line(','.join(sorted(case.tags)), 1000)}")
    if by_version:
        heads = ["operator version", *OUTCOMES]
        rows = [[line(name), *(row.get(head, 0) for head in OUTCOMES)] for name, row in counts.items()]
        printing.show(tabulate(rows, heads, tablefmt="simple"))
        if (covers := of_package.covers(suite)) is not None:
            printing.show(f"\n{stream.completeness({'suite': {'name': suite.name}, 'covers': covers})}")
    check_all_matched(suite, selection, empty=not counts)


@click.command()
@click.argument("name", metavar="CASE|OPERATOR")
@click.option(
    "--suite", "suite_name", metavar="SUITE", help="The suite of the case, such as the folder that contains it."
)
def show(name: str, suite_name: str | None) -> None:
    """Show a case: sentence, model, inputs, expected outcome and tolerance.

    For an operator, such as Split or Split/18: its versions, its sentences, and the number of cases of each.
    """
    operator = None if suite_name else find_operator(name)
    for text in case_report.lines(load_case(name, suite_name)) if operator is None else _operator(*operator):
        printing.show(text)


def _operator(op: Op, since: int | None) -> Iterator[str]:
    """Yield the lines about an operator, or about one of its versions."""
    versions = [version for version in registry.versions(op) if since in {None, version.since}]
    name = str(op) if since is None else f"{op}/{since}"
    suite = suite_of(packages.owner_of(op.domain, op.name))
    listed = suite.listed(Selection(ops=(globs.literal(name),)))
    return operator_report.lines(op, versions, listed, os.path.relpath(operator_file.path_of(op)))


@click.command()
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder to write to.")
@with_case_options
@with_part_options
@click.option("--overwrite", is_flag=True, help="Replace existing cases that differ.")
@click.option(
    "--layout",
    "layout_name",
    default=layouts.DEFAULT,
    show_default=True,
    type=click.Choice(layouts.names()),
    help="The layout of the files: that of ONNX, or that of the test harness of another project.",
)
@click.option(
    "--known-failures",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="RESULTS",
    help="Results of one backend. The lists of the layout skip the cases that did not pass there.",
)
@click.option(
    "--python", is_flag=True,
    help="Write Python for onnx's generator of node tests instead, one file for each operator.",
)  # fmt: skip
def generate(
    out: Path,
    case_options: CaseOptions,
    shard: tuple[int, int] | None,
    sample: int,
    overwrite: bool,  # noqa: FBT001 - click's
    layout_name: str,
    known_failures: Path | None,
    python: bool,  # noqa: FBT001
) -> None:
    """Write cases in ONNX's test-data layout, for runners of any language.

    With --layout, the harness of another project reads the folder. The command leaves out the cases that this harness
    cannot judge, and counts them.

    Each case is written completely or not at all. Identical cases in the folder are kept, so repeating an interrupted
    command continues it. If a case in the folder differs, the command stops, unless --overwrite replaces it.
    """
    suite, selection = case_options.open(shard, sample)
    if python:
        _generate_python(suite, selection, out, overwrite=overwrite)
        return
    failing = _failing(known_failures, layout_name) if known_failures else frozenset[str]()
    done = export.Export(suite, selection, out, overwrite, layouts.named(layout_name), failing)
    try:
        done.run()
    except (HarnessError, KeyboardInterrupt):
        printing.warn(f"stopped; {done.whole} cases in {out} are complete")
        raise
    unchanged = f", {done.same} of them unchanged" if done.same else ""
    printing.show(f"{done.whole} cases in {out}{unchanged}")
    if done.left_out:
        printing.show(f"left out {done.left_out.total()} cases that the reader of {layout_name} cannot judge:")
        for why, number in done.left_out.most_common():
            printing.show(f"{number:7}  {why}")
    if done.faults:
        raise HarnessError("cases-not-exported", "\n".join(done.faults))
    check_all_matched(suite, selection, empty=not done.whole and not done.left_out)


def _failing(path: Path, layout_name: str) -> frozenset[str]:
    """Return the ids of the cases that did not pass, for a layout that has a list of them."""
    if layout_name == layouts.DEFAULT:
        raise HarnessError(
            "layout-without-list",
            f"--known-failures needs a layout with a list of cases; the layout {layout_name} has no list",
        )
    run = Run(path)
    backends = len(run.header["backends"])
    if backends != 1:
        raise HarnessError(
            "known-failures-of-several-backends",
            f"{path} has results of {backends} backends; --known-failures needs those of one backend",
        )
    return frozenset(result.case for result in run.results() if result.verdict is not Verdict.PASS)


def _generate_python(suite: Suite, selection: Selection, out: Path, *, overwrite: bool) -> None:
    """Write a file for each operator, and report the cases that onnx's node tests cannot express."""
    faults: list[str] = []
    written = 0
    for name, text, own in onnx_python.texts(suite.cases(selection)):
        faults += own
        path = out / onnx_python.file_name(name)
        if not text:
            continue
        if path.exists() and not overwrite and path.read_text("utf-8") != text:
            raise HarnessError(
                "case-file-differs", f"{path} exists and differs; replace it with --overwrite, or name another folder"
            )
        out.mkdir(parents=True, exist_ok=True)
        atomic_file.write(path, [text])
        cases = text.count("\n    def export_")
        written += cases
        printing.show(f"{path}: {cases} cases")
    check_all_matched(suite, selection, empty=not written and not faults)
    if faults and not written:
        raise HarnessError(
            "no-case-is-a-node-test",
            f"none of the {len(faults)} cases can be a node test of onnx; the first: {faults[0]}",
        )
    if faults:
        text = f"skipping {len(faults)} cases that cannot be node tests of onnx; the first: {faults[0]}"
        printing.warn(Note("cases-not-node-tests", text))


@click.command("manifest")
@click.option("--check", is_flag=True, help="Compare instead of writing; exit status 1 if they differ.")
@click.option(
    "--out", default="generated_cases", show_default=True, type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the manifest.",
)  # fmt: skip
@with_operator_options()
@JOBS
def manifest_(check: bool, out: Path, selection: Selection, jobs: int) -> None:  # noqa: FBT001 - click's flags
    """Write or check the manifest: id and digests of every generated case, and the cases of the core."""
    check_selection(Generated(), selection)
    whole = not str(selection)
    ops = list(registry.load().some(selection.takes_operator))
    if not check:
        for path in manifest.write(ops, out, jobs, whole=whole):
            printing.show(f"wrote {path}")
        if whole:
            printing.show(f"wrote {suite_digest.record(out)}")
        return
    if not out.is_dir():
        raise manifest.ManifestError(
            "manifest-not-a-folder", f"{out} is not a folder; `onnx-conformance manifest --out {out}` creates it"
        )
    differences = [*manifest.check(ops, out, jobs, whole=whole), *suite_digest.differences(out)]
    for difference in differences:
        printing.show(difference)
    if differences:
        printing.show("the generated cases differ from the manifest; `onnx-conformance manifest` rewrites it")
        exit_with(1)
    printing.show("the generated cases match the manifest")


@click.command("coverage")
@with_operator_options()
@click.option("--package", default=packages.ONNX.name, show_default=True, help="The operator package.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def coverage_(selection: Selection, package: str, as_json: bool) -> None:  # noqa: FBT001 - click's flags
    """Show how many schema points and sentences of the specification have a case, and which have no case.

    The numbers refer to all of ONNX: an undeclared operator counts with all its points and sentences. With --package,
    they refer to the operators of that package.
    """
    chosen = packages.named(package)
    declared = registry.load(chosen)
    suite = suite_of(chosen)
    selection.respell(schema.every_version(chosen))
    measured: list[coverage.Coverage] = []
    for op_path, versions in schema.every(chosen).items():
        selected = {name for name in versions if selection.takes_operator(name)}
        if selected:
            op = declared.find(*op_path.split("/"))
            every = [*(coverage.of(op) if op else ()), *coverage.undeclared(op_path, op)]
            measured += sorted(
                (item for item in every if str(item.version) in selected), key=lambda item: item.version.since
            )
    every_missing = [f"{op}/{since}" for op in declared for since in registry.missing(op)]
    lacking = [name for name in every_missing if selection.takes_operator(name)]
    if not measured and not lacking:
        check_selection(suite, selection)
    of_measured = {(item.version.domain, item.version.name) for item in measured}
    of_text = (op for op in declared if (op.domain, op.name) in of_measured)
    faults = figures.of(of_text, figures.path(chosen))
    if as_json:
        printing.show(json.dumps(coverage_report.record(measured, faults, lacking), indent=2, ensure_ascii=False))
        return
    for text in coverage_report.lines(measured, faults, lacking):
        printing.show(text)


@click.command("readings")
def readings_() -> None:
    """List the readings: decisions on questions that the specification leaves open.

    Each question is decided once, for all operators. A case that depends on a reading names it. With `run
    --without-reading NUMBER`, such cases are not scored.
    """
    for reading in READINGS.values():
        printing.show(f"{reading.number}  {reading.question}")
        for text in (reading.answer, reading.reason, *reading.see):
            printing.show(textwrap.fill(text, 110, initial_indent="    ", subsequent_indent="    "))


@click.command("version")
def version_() -> None:
    """Show the versions that decide the cases and their expected values.

    Results with the same digest of the suite have the same cases.
    """
    rows = {
        printing.PROGRAM: VERSION,
        "onnx": onnx.__version__,
        "numpy": np.__version__,
        "Python": platform.python_version(),
        "suite generated": Generated().digest(),
    }
    printing.show(tabulate(rows.items(), tablefmt="plain", disable_numparse=True))
