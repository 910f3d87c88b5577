# SPDX-License-Identifier: Apache-2.0
"""`export`: lets an exporter make models of programs, and compares their results with those of the framework."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.case.case import Case, Outcome
from onnx_conformance.cli.options import OVERWRITE, SHARE, SIZE, Seconds, exit_with, with_adapter_options
from onnx_conformance.environments import backend_names, sandbox
from onnx_conformance.processes import examiner
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.report import export_text
from onnx_conformance.results.stream import Writer, header
from onnx_conformance.run import progress
from onnx_conformance.suites import onnx_layout
from onnx_conformance.suites.case_json import StoreError
from onnx_conformance.verification import programs
from onnx_conformance.verification.programs import SHAPES, Producer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.processes.program_requests import Program
    from onnx_conformance.verification.programs import Exported

TIMEOUT = 60.0
"""Seconds that an exporter may take for one program, if the user does not choose."""


@click.command("export")
@click.option(
    "--producer", required=True, metavar="NAME",
    help="The exporter to test: torch, skl2onnx, jax2onnx, your own file, such as ./my_exporter.py, or cmd:COMMAND.",
)  # fmt: skip
@click.option(
    "--program", "globs", multiple=True, metavar="GLOB",
    help="Only these programs, by name or by operation, such as add or 'nn.*'. Repeatable.",
)  # fmt: skip
@click.option(
    "--opset", "opsets", multiple=True, type=click.IntRange(1), metavar="N",
    help="The opset of the models. Repeatable.  [default: the one that the exporter names]",
)  # fmt: skip
@click.option(
    "--shapes", multiple=True, type=click.Choice(SHAPES),
    help="Export with the sizes of the inputs, or with sizes that stay open. Repeatable.  [default: both]",
)  # fmt: skip
@click.option("--sample", type=SHARE, default=1, metavar=SHARE.name, help="Only 1 program in n, always the same ones.")
@click.option("--list", "listing", is_flag=True, help="List the programs, and export nothing.")
@click.option(
    "--results", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write the results to this file, which `report` and `compare` read.",
)  # fmt: skip
@OVERWRITE
@click.option(
    "--failures", "folder", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Write each failing model to this folder, with inputs and the framework's results: a suite for `run`.",
)  # fmt: skip
@click.option(
    "--timeout", type=Seconds(0.01), default=TIMEOUT, show_default=True, help="Time limit of one program, in seconds."
)
@click.option("--memory", type=SIZE, help="Limit of the exporter's address space, such as 4G.")
@click.option("--python", default="", metavar="PATH", help="A Python interpreter that has the exporter installed.")
@with_adapter_options
def export_(
    producer: str, globs: tuple[str, ...], opsets: tuple[int, ...], shapes: tuple[str, ...], sample: int,
    results: Path | None, folder: Path | None, timeout: float, memory: int | None, python: str,
    passes: tuple[str, ...], *, listing: bool, overwrite: bool, isolate: tuple[Path, ...] | None,
) -> None:  # fmt: skip
    """Test an exporter: does a model that it makes of a program have the program's results?

    The oracle evaluates each model, and no runtime takes part. Its result must agree with that of the framework, within
    the error bounds of the operators. If only the framework's run in the types of the program differs, and not its run
    in double precision, the exporter is right.

    Exit status: 0 nothing fails, 1 something fails, 2 the command or the exporter's adapter failed.
    """
    target = backend_names.producer(producer, python, passes)
    target = sandbox.isolated(target, isolate)
    with Producer(target, Limits(timeout=timeout, memory=memory, restarts=1 << 30)) as subject:
        names = subject.programs(globs)
        if listing:
            for name in names:
                printing.show(line(name))
            return
        wanted = opsets or (_opset(producer, subject),)
        requests = list(programs.requests(producer, names, wanted, shapes or SHAPES, sample))
        if not requests:
            raise HarnessError(
                "sample-without-programs", f"--sample 1/{sample} contains none of the programs; use a larger sample"
            )
        printing.note(export_text.title(producer, subject.hello, len(requests)))
        done = _exported(subject, producer, requests, sample, results, folder, overwrite=overwrite)
    for text in (*export_text.failures(done), "", *export_text.counts(done)):
        printing.show(text)
    broken = any(result.verdict is Verdict.ADAPTER_ERROR for result in done)
    exit_with(2 if broken else int(any(result.verdict.failed for result in done)))


def _opset(producer: str, subject: Producer) -> int:
    """Return the opset of an exporter's models if the user does not choose one."""
    found = subject.hello.get("opset")
    if not isinstance(found, int):
        raise HarnessError(
            "producer-without-opset", f"the hello of {line(producer)} names no opset; choose one with --opset N"
        )
    return found


def _exported(
    subject: Producer,
    producer: str,
    requests: Sequence[Program],
    sample: int,
    path: Path | None,
    folder: Path | None,
    *,
    overwrite: bool,
) -> list[Result]:
    """Export programs one after the other, and return the results, which are written immediately."""
    digest = hashlib.sha256("\n".join(request.id for request in requests).encode()).hexdigest()[:16]
    suite = {"name": f"programs of {producer}", "digest": digest, "cases": len(requests)}
    arguments = {"sample": sample} if sample > 1 else {}
    writer, began, done = Writer(path, overwrite=overwrite), time.monotonic(), []
    try:
        writer.open(header(suite, {producer: subject.hello}, arguments))
        with progress.steps("exports programs") as advance:
            for place, request in enumerate(requests):
                exported = subject.export(request)
                writer.add(exported.result)
                done.append(exported.result)
                if folder is not None and exported.result.verdict.failed:
                    _keep(exported, request, folder)
                advance(place + 1, len(requests))
        writer.finish(time.monotonic() - began)
    finally:
        writer.close()
    return done


def _keep(exported: Exported, request: Program, folder: Path) -> None:
    """Write a failing model with the inputs and the results of the framework."""
    if exported.product is None:
        return
    made, run = examiner.parsed(exported.product.model), exported.product.runs[0]
    if isinstance(made, str):
        printing.warn(f"{request.id} is not written: the exporter returned {made}")
        return
    fields = {field.name: getattr(request, field.name) for field in dataclasses.fields(Case) if field.init}
    fields |= {"model": exported.product.model, "inputs": run.inputs, "expected": run.outputs}
    fields |= {"outputs": tuple(item.name for item in made.graph.output), "outcome": Outcome.VALUES}
    try:
        onnx_layout.write(Case(**fields), folder, replace=True)
    except StoreError as error:
        printing.warn(f"{request.id} is not written: {line(error, 200)}")
