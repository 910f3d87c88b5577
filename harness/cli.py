"""The command line: arguments only; the work is done by the modules it calls."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
import sys
import traceback
from pathlib import Path
from typing import Any

import click
from tabulate import tabulate

from harness import (
    __version__,
    coverage,
    expectations,
    manifest,
    merging,
    registry,
    renewal,
    repro,
    session,
    store,
    suite,
    targets,
)
from harness.errors import HarnessError
from harness.gate import Gate
from harness.lane import Lane
from harness.process import Limits
from harness.report import case as case_report
from harness.report import comparison, markdown, terminal
from harness.report import coverage as coverage_report
from harness.report import gate as gate_report
from harness.report.summary import Summary
from harness.results import Run
from harness.runner import judge


class Shard(click.ParamType[tuple[int, int]]):
    """i/n, with i from 1 to n."""

    name = "i/n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:  # noqa: ANN401
        """Return (i, n)."""
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"(\d+)/(\d+)", value)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            self.fail(f"{value!r} is no shard; write i/n with i from 1 to n, such as 1/4", param, ctx)
        return int(match[1]), int(match[2])


class Seconds(click.FloatRange):
    """A time that ends: neither nan nor inf."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401
        """Return seconds."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no time; write seconds, such as 20", param, ctx)
        return number


class Size(click.ParamType[int]):
    """A number of bytes: 512M, 4G."""

    name = "size"
    units = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}  # noqa: RUF012 - never changed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401
        """Return bytes."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+)([KMG]?)i?B?", value, re.IGNORECASE)
        if not match or not int(match[1]):
            self.fail(f"{value!r} is no size; write a number and K, M or G, such as 4G", param, ctx)
        return int(match[1]) * self.units[match[2].upper()]


SHARD, SIZE = Shard(), Size()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="onnx-conformance")
def main() -> None:
    """Hold ONNX runtimes against the text of every operator version."""


def _selecting(command: Any) -> Any:  # noqa: ANN401 - click's decorators
    """Add the options that select cases."""
    for option in (
        click.option("--tag", "tags", multiple=True, metavar="GLOB", help="Only cases with such a tag."),
        click.option("--case", "cases", multiple=True, metavar="GLOB", help="Only cases with such an id."),
        click.option(
            "--op", "ops", multiple=True, metavar="GLOB", help="Only these operators: Split*, Split/18, ai.onnx/*."
        ),
        click.option(
            "--suite", "suite_name", default="generated", show_default=True, metavar="SUITE",
            help="generated, official (the node cases of the installed onnx), or a folder in ONNX's layout.",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


@main.command()
@click.option(
    "--backend", "backends", multiple=True, default=("onnx_reference",), show_default=True, metavar="BACKEND",
    help="What to test: a name (see README), a dotted path such as my_runtime.backend, or cmd:COMMAND. Repeatable.",
)  # fmt: skip
@_selecting
@click.option("--results", type=click.Path(dir_okay=False, path_type=Path), help="Write the result stream here.")
@click.option("--resume", is_flag=True, help="Go on with a --results file that was cut off.")
@click.option("--reference", metavar="BACKEND", help="Take this backend's answers as the expected ones.")
@click.option("--jobs", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes for each backend.")
@click.option("--shard", type=SHARD, help="Only this part of the cases; stable when cases are added.")
@click.option("--timeout", type=Seconds(0.01), default=20.0, show_default=True, help="Seconds that one case may take.")
@click.option("--memory", type=SIZE, help="Address space of an adapter process, such as 4G.")
@click.option(
    "--restarts", type=click.IntRange(0), default=200, show_default=True, help="How often a process is started again."
)
@click.option("--max-fail", type=click.IntRange(1), help="Stop after so many failures.")
@click.option(
    "--groups", type=click.IntRange(0), default=20, show_default=True,
    help="Groups of failures shown for each backend; 0: all.",
)  # fmt: skip
@click.option(
    "--expectations", type=click.Path(dir_okay=False, path_type=Path),
    help="What the runtime's author accepts for now; the exit status tells whether that still holds.",
)  # fmt: skip
def run(suite_name: str, ops: Any, cases: Any, tags: Any, shard: Any, **given: Any) -> None:  # noqa: ANN401
    """Run cases on backends and say which sentences they break.

    Exit status: 0 all scored verdicts pass, 1 some do not, 2 the command or the harness itself failed.
    """
    options = session.Options(
        backends=tuple(given["backends"]),
        suite=suite_name,
        selection=suite.Selection(tuple(ops), tuple(cases), tuple(tags), shard),
        limits=Limits(timeout=given["timeout"], memory=given["memory"], restarts=given["restarts"]),
        jobs=given["jobs"],
        reference=given["reference"],
        results=given["results"],
        resume=given["resume"],
        max_fail=given["max_fail"],
        groups=given["groups"],
        expectations=given["expectations"],
    )
    _end(session.execute(options))


@main.command("list")
@_selecting
@click.option("--operators", is_flag=True, help="One line an operator version, with its number of cases.")
def list_(suite_name: str, ops: Any, cases: Any, tags: Any, operators: bool) -> None:  # noqa: ANN401, FBT001
    """List cases: id, what is expected, tags."""
    chosen, selection = _selected(suite_name, ops, cases, tags)
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
    _all_met(chosen, selection, bool(counts))


def _selected(suite_name: str, ops: Any, cases: Any, tags: Any) -> tuple[suite.Suite, suite.Selection]:  # noqa: ANN401
    chosen = suite.open_suite(suite_name)
    selection = suite.Selection(tuple(ops), tuple(cases), tuple(tags))
    suite.check_operators(chosen, selection)
    return chosen, selection


def _all_met(chosen: suite.Suite, selection: suite.Selection, found: bool) -> None:  # noqa: FBT001
    """Raise if a part of the suite could not be read, or a glob matched nothing."""
    if chosen.faults:
        raise HarnessError("\n".join(chosen.faults))
    for option, glob in sorted(selection.idle):
        raise suite.SelectionError(f"{option} {glob!r} matches no case of suite {chosen.name}")
    if not found:
        raise suite.SelectionError(f"suite {chosen.name} has no case for {str(selection) or 'anything'}")


@main.command()
@click.argument("case_id", metavar="CASE")
@click.option("--suite", "suite_name", metavar="SUITE", help="The folder that the case is in.")
def show(case_id: str, suite_name: str | None) -> None:
    """Show a case: sentence, model, inputs, what is expected, tolerance and why."""
    for line in case_report.lines(_find(case_id, suite_name)):
        click.echo(line)


def _find(case_id: str, suite_name: str | None) -> Any:  # noqa: ANN401 - a Case
    return suite.find(case_id, (suite.open_suite(suite_name),) if suite_name else ())


@main.command()
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder to write to.")
@_selecting
def generate(out: Path, suite_name: str, ops: Any, cases: Any, tags: Any) -> None:  # noqa: ANN401
    """Write cases in ONNX's test-data layout, for runners of any language."""
    chosen, selection = _selected(suite_name, ops, cases, tags)
    count = 0
    for count, case in enumerate(chosen.cases(selection), 1):  # noqa: B007 - used below
        store.write(case, out)
    _all_met(chosen, selection, bool(count))
    click.echo(f"{count} cases in {out}")


@main.command("manifest")
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
        _end(1)
    click.echo("the generated cases are those of the manifest")


@main.command("gate")
@click.argument("results", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--expectations", "expected", required=True, type=click.Path(dir_okay=False, path_type=Path),
    help="What the runtime's author accepts for now.",
)  # fmt: skip
def gate_(results: Path, expected: Path) -> None:
    """Hold a results file against expectations.

    Exit status: 0 everything is as the file says, 1 it is not, 2 they cannot be compared.
    """
    found = Run(results)
    gate = Gate(expectations.read(expected), found.header)
    for result in found.results():
        gate.add(result)
    opened = gate.finish(complete=found.complete)
    for line in gate_report.lines(gate):
        click.echo(line)
    _end(0 if opened else 1)


@main.command("merge")
@click.argument("results", nargs=-1, required=True, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
def merge_(results: tuple[Path, ...], out: Path) -> None:
    """Join the results files of shards, or of several backends, into one."""
    click.echo(f"{merging.merge(results, out)} results in {out}")


@main.group("expectations")
def expectations_() -> None:
    """Keep the file of what a runtime's author accepts for now."""


@expectations_.command("update")
@click.argument("results", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--expectations", "path", required=True, type=click.Path(dir_okay=False, path_type=Path),
    help="The file to rewrite; it is made where it is missing.",
)  # fmt: skip
@click.option("--backend", help="That a new file is to speak of, where the results are of several.")
@click.option("--accept-new", is_flag=True, help="Accept failures that the file does not have yet; needs --reason.")
@click.option("--reason", default="", help="Why they are accepted for now.")
def update(results: Path, path: Path, backend: str | None, accept_new: bool, reason: str) -> None:  # noqa: FBT001
    """Rewrite a file so that its gate opens for these results, and say what was done.

    Reasons, links, comments and order stay; new failures are refused without --accept-new.
    """
    if accept_new != bool(reason.strip()):
        raise HarnessError("--accept-new and --reason go together: what is accepted for now has a reason")
    found = Run(results)
    if backend is None and not path.exists() and len(found.header["backends"]) > 1:
        raise HarnessError(f"{results} is of {', '.join(found.header['backends'])}; name one with --backend")
    name = backend or next(iter(found.header["backends"]))
    text, said = renewal.renew(path, found, name, reason.strip(), dt.datetime.now(dt.UTC).date())
    renewal.write(path, text)
    for line in said or ["nothing to change"]:
        click.echo(line)


@main.command("coverage")
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


@main.command("repro")
@click.argument("case_id", metavar="CASE")
@click.option("--backend", required=True, help="As in `run`.")
@click.option("--suite", "suite_name", metavar="SUITE", help="The folder that the case is in.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write the file here instead of printing it."
)
def repro_(case_id: str, backend: str, suite_name: str | None, out: Path | None) -> None:
    """Write one Python file that shows what a backend makes of a case, without this project."""
    case = _find(case_id, suite_name)
    with Lane(targets.resolve(backend), Limits()) as lane:
        hello = dict(lane.session.hello)
        result = judge(case, backend, lane.ask(case))
    text = repro.script(case, result, hello)
    if out is None:
        click.echo(text, nl=False)
        return
    try:
        out.write_text(text)
    except OSError as error:
        raise HarnessError(f"cannot write {out}: {error.strerror}") from error
    click.echo(f"{result.verdict}: {out}")


@main.command()
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
def compare(before: Path, after: Path) -> None:
    """Compare two result files: what was fixed, broke, changed, came, went.

    Exit status: 0 nothing that passed before fails or is gone, 1 something does, 2 a file cannot be read.
    """
    old, new = Run(before), Run(after)
    found = comparison.compare_runs(old, new)
    for line in comparison.lines(old, new, found):
        click.echo(line)
    _end(1 if found.broke or any(was == "pass" for _, was, _ in found.went) else 0)


@main.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--format", "kind", type=click.Choice(["markdown", "json"]), default="markdown", show_default=True)
@click.option(
    "--groups", type=click.IntRange(0), default=0, show_default=True,
    help="Groups of failures shown for each backend; 0: all.",
)  # fmt: skip
def report(results: Path, kind: str, groups: int) -> None:
    """Write the report of a results file to standard output."""
    found, summary = Run(results), Summary()
    for result in found.results():
        summary.add(result)
    if kind == "json":
        rows = [
            {"operator": op, "backend": name, **{str(v): n for v, n in sorted(counter.items())}}
            for (op, name), counter in sorted(summary.counts.items())
        ]
        click.echo(json.dumps({"header": found.header, "complete": found.complete, "counts": rows}, indent=2))
        return
    examples = [group.example for group in terminal.visible(summary, groups)[0]]
    source = suite.open_suite(found.header["suite"]["name"])
    references = session.reference_answers(examples, source, Limits())
    click.echo(markdown.report(found, summary, references, groups), nl=False)


def _end(status: int) -> None:
    """End the command with a status; sys.exit() is left to click, which ends so where nobody reads its output."""
    click.get_current_context().exit(status)


def entry() -> None:
    """Run the command; whatever the harness cannot do ends with status 2 and a sentence."""
    try:
        status = main(standalone_mode=False)
    except SystemExit:
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("onnx-conformance: interrupted", err=True)
        sys.exit(2)
    except HarnessError as error:
        click.echo(f"onnx-conformance: {error}", err=True)
        sys.exit(2)
    except Exception:  # noqa: BLE001 - status 1 means failed cases; a fault of ours must not look like it
        traceback.print_exc()
        click.echo("onnx-conformance: this is a fault of the harness; please report it with the lines above", err=True)
        sys.exit(2)
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    entry()
