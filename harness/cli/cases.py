"""`list`, `show`, `generate`, `manifest`, `coverage`: what there is to run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from tabulate import tabulate

from harness import coverage, manifest, registry, store, suite
from harness.cli.options import all_met, end, find, selected, selecting
from harness.report import case as case_report
from harness.report import coverage as coverage_report


@click.command("list")
@selecting
@click.option("--operators", is_flag=True, help="One line an operator version, with its number of cases.")
def list_(suite_name: str, ops: Any, cases: Any, tags: Any, operators: bool) -> None:  # noqa: ANN401, FBT001
    """List cases: id, what is expected, tags."""
    chosen, selection = selected(suite_name, ops, cases, tags)
    counts: dict[str, dict[str, int]] = {}
    for case in chosen.cases(selection):
        row = counts.setdefault(case.operator, {})
        row[str(case.outcome)] = row.get(str(case.outcome), 0) + 1
        if not operators:
            click.echo(f"{case.id}  {case.outcome}  {','.join(sorted(case.tags))}")
    if operators:
        heads = ["operator version", "values", "rejects", "unspecified"]
        rows = [[name, *(row.get(head, 0) for head in heads[1:])] for name, row in counts.items()]
        click.echo(tabulate(rows, heads, tablefmt="simple"))
    all_met(chosen, selection, bool(counts))


@click.command()
@click.argument("case_id", metavar="CASE")
@click.option("--suite", "suite_name", metavar="SUITE", help="The folder that the case is in.")
def show(case_id: str, suite_name: str | None) -> None:
    """Show a case: sentence, model, inputs, what is expected, tolerance and why."""
    for line in case_report.lines(find(case_id, suite_name)):
        click.echo(line)


@click.command()
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder to write to.")
@selecting
def generate(out: Path, suite_name: str, ops: Any, cases: Any, tags: Any) -> None:  # noqa: ANN401
    """Write cases in ONNX's test-data layout, for runners of any language."""
    chosen, selection = selected(suite_name, ops, cases, tags)
    count = 0
    for count, case in enumerate(chosen.cases(selection), 1):  # noqa: B007 - used below
        store.write(case, out)
    all_met(chosen, selection, bool(count))
    click.echo(f"{count} cases in {out}")


@click.command("manifest")
@click.option("--check", is_flag=True, help="Compare instead of writing; exit status 1 where they differ.")
@click.option(
    "--out", default="generated_cases", show_default=True, type=click.Path(file_okay=False, path_type=Path),
    help="The folder of the manifest.",
)  # fmt: skip
def manifest_(check: bool, out: Path) -> None:  # noqa: FBT001
    """Write or check the manifest: id and digests of every generated case."""
    if not check:
        for path in manifest.write(registry.load(), out):
            click.echo(f"wrote {path}")
        return
    if not out.is_dir():
        raise manifest.ManifestError(f"{out} is not a folder; `onnx-conformance manifest --out {out}` makes it")
    differences = list(manifest.check(registry.load(), out))
    for line in differences:
        click.echo(line)
    if differences:
        click.echo("the generated cases are not those of the manifest; `onnx-conformance manifest` writes it anew")
        end(1)
    click.echo("the generated cases are those of the manifest")


@click.command("coverage")
@click.option("--op", "ops", multiple=True, metavar="GLOB", help="Only these operators.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def coverage_(ops: Any, as_json: bool) -> None:  # noqa: ANN401, FBT001
    """Tell how many schema points and sentences of the text have a case, and which have none."""
    chosen, selection = suite.Generated(), suite.Selection(tuple(ops))
    suite.check_operators(chosen, selection)
    wanted = {name for name in chosen.operators() if selection.takes_operator(name)}
    ops = [op for op in registry.load() if any(name.rpartition("/")[0] == str(op) for name in wanted)]
    found = [item for op in ops for item in coverage.of(op) if str(item.version) in wanted]
    if as_json:
        click.echo(json.dumps(coverage_report.record(found), indent=2, ensure_ascii=False))
        return
    for line in coverage_report.lines(found):
        click.echo(line)
