# SPDX-License-Identifier: Apache-2.0
"""`verify`: whether runtimes run a user's model correctly, and which node is wrong; whether tools keep its values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import onnx

from onnx_conformance.base import printing, under_test
from onnx_conformance.base.package import CHECKOUT
from onnx_conformance.cli import report_output, repro_output
from onnx_conformance.cli.options import SIZE, Seconds, exit_with, with_adapter_options
from onnx_conformance.environments import backend_names, sandbox
from onnx_conformance.findings import findings_file, model_use
from onnx_conformance.report import verification
from onnx_conformance.report.html import verification_page
from onnx_conformance.repro.bug_report import Issue
from onnx_conformance.run import progress
from onnx_conformance.specification.model_use import calls
from onnx_conformance.verification import verify as verifying

if TYPE_CHECKING:
    from onnx_conformance.base.target import Target
    from onnx_conformance.findings.finding import Finding
    from onnx_conformance.verification.verified import Verified

PUBLISHED = CHECKOUT / "reports" / "findings" if CHECKOUT is not None else None
"""The published findings of a checkout."""


class SizeOfDimension(click.ParamType[tuple[str, int]]):
    """NAME=SIZE of a symbolic dimension."""

    name = "name=size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:  # noqa: ANN401
        """Return name and size."""
        if isinstance(value, tuple):
            return value
        name, sign, text = value.rpartition("=")
        if not sign or not name or not text.isdecimal():
            self.fail(f"{value!r} is not a size of a dimension; write NAME=SIZE, such as batch=1", param, ctx)
        return name, int(text)


@click.command("verify")
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--backend", "backends", multiple=True, help="A runtime, named as in `run`. Repeatable.")
@click.option(
    "--tool",
    "tools",
    multiple=True,
    help="A tool that changes models, such as onnxslim: is its model equal to the original? Repeatable.",
)
@click.option(
    "--inputs", type=click.Path(path_type=Path), metavar="PATH",
    help="A .npz file with inputs by name, or a folder with input_0.pb. Other inputs are drawn.",
)  # fmt: skip
@click.option(
    "--shape", "shape", type=SizeOfDimension(), multiple=True, metavar="NAME=SIZE",
    help="The size of a symbolic dimension of drawn inputs. Repeatable.",
)  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the drawn inputs.")
@click.option(
    "--nodes", "nodes", multiple=True, metavar="GLOB",
    help="Judge only these nodes, by name, operator or output. Repeatable.",
)  # fmt: skip
@click.option(
    "--memory", type=SIZE, default="1G", show_default=True, metavar="SIZE",
    help="Maximum size of the values that a backend returns at once.",
)  # fmt: skip
@click.option(
    "--timeout", type=Seconds(0.01), default=verifying.TIMEOUT, show_default=True,
    help="Time limit of one run of the model, in seconds.",
)  # fmt: skip
@click.option(
    "--end-to-end", type=Seconds(0), default=verifying.END_TO_END, show_default=True,
    help="Maximum time to compute how far the outputs may be from the oracle's, in seconds.",
)  # fmt: skip
@click.option("--no-reduce", is_flag=True, help="Do not reduce the first node at fault to its smallest case.")
@click.option(
    "--format", "kind", type=click.Choice(("text", "json", "html")), default="text", show_default=True,
    help="html needs --out.",
)  # fmt: skip
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file instead of printing.")
@click.option(
    "--script", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write a script that shows the first fault without this project; as .md, a bug report.",
)  # fmt: skip
@click.option(
    "--findings", "folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Name the findings of this folder that concern the first node at fault.  [default: those of the checkout]",
)  # fmt: skip
@click.option("--python", default="", metavar="PATH", help="A Python interpreter with the runtime, as in `run`.")
@with_adapter_options
def verify_(
    model: Path, backends: tuple[str, ...], tools: tuple[str, ...],
    shape: tuple[tuple[str, int], ...], kind: str, out: Path | None,
    script: Path | None, folder: Path | None,
    python: str, passes: tuple[str, ...], isolate: tuple[Path, ...] | None, no_reduce: bool,  # noqa: FBT001 - click's
    **options: Any,  # noqa: ANN401 - click's
) -> None:  # fmt: skip
    """Find out whether runtimes run a model as ONNX demands; if not, which node is wrong.

    Every node is judged by the text of its operator, for the values that the runtime itself computed before. Other
    inputs than those of --inputs are drawn.

    Exit status: 0 no fault, 1 a node or an output is at fault or the model does not run, 2 the model, the inputs or a
    backend cannot be used.
    """
    report_output.check(kind, out)
    if not backends and not tools:
        raise click.UsageError("name a runtime with --backend, or a tool with --tool")
    targets, of_tools = ([_target(name, python, passes, isolate) for name in names] for names in (backends, tools))
    with progress.phases() as advance:
        options.update(shape=dict(shape), reduce=not no_reduce, progress=advance)
        done = verifying.verify(model, targets, tool=of_tools, **options)
    known = _findings(done, folder)
    texts = {"text": lambda: "\n".join(verification.lines(done, known)), "json": lambda: verification.as_json(done)}
    text = verification_page.page(done) if kind == "html" else texts[kind]()
    if out is None:
        printing.show(text)
    else:
        report_output.write(out, text)
        for shown in verification.lines(done, known):
            printing.show(shown)
    if script is not None:
        _write_script(done, script)
    exit_with(0 if done.ok else 1)


def _target(name: str, python: str, passes: tuple[str, ...], isolate: tuple[Path, ...] | None) -> Target:
    return sandbox.isolated(backend_names.resolve(name, python, passes), isolate)


def _findings(done: Verified, folder: Path | None) -> dict[str, list[Finding]]:
    """Return by backend the findings that concern the operator, the version and the types of its first fault."""
    used = folder or PUBLISHED
    if used is None or (folder is None and not (used / findings_file.FILE).exists()):
        return {}
    known = findings_file.read(used)
    found: dict[str, list[Finding]] = {}
    for item in done.backends:
        name = under_test.unversioned(item.backend)
        if item.first is not None and item.first.case is not None and name in known.runtimes:
            judged = model_use.judge(calls(onnx.load_from_string(item.first.case.model)), None, known, name)
            concerns = [concern for call in judged for concern in call.concerns]
            # The first ones are those whose conditions the node meets; the others may concern it.
            found[item.backend] = [concern.finding for concern in sorted(concerns, key=lambda one: one.meets is None)]
    return found


def _write_script(done: Verified, path: Path) -> None:
    """Write the first fault that has a case as a script or a bug report."""
    found = next((item.smallest for item in done.backends if item.smallest is not None), None)
    if found is None:
        printing.note("--script: no fault could be written as one case, so there is no script")
        return
    case, result, answer = found
    repro_output.file(Issue(case, result, answer, ()), "markdown" if path.suffix == ".md" else "python", path)
    printing.note(f"{result.verdict}: {path}")
