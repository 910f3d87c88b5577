# SPDX-License-Identifier: Apache-2.0
"""`backends`: list the backends, and test an adapter briefly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from tabulate import tabulate

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line
from onnx_conformance.cli.options import exit_with, with_adapter_options
from onnx_conformance.environments import backend_names, node_environment, sandbox
from onnx_conformance.judging import self_check
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker

if TYPE_CHECKING:
    from pathlib import Path


@click.group("backends", invoke_without_command=True)
@click.option("--all", "every", is_flag=True, help="Install the missing environments, and query those backends too.")
@click.pass_context
def backends_(ctx: click.Context, every: bool) -> None:  # noqa: FBT001
    """List the backends: origin, version, supported types, and how to install missing ones."""
    if ctx.invoked_subcommand is not None:
        return
    rows = [_row(name, every=every) for name in backend_names.names()]
    heads = ["backend", "is", "from", "version", "opset", "types", "containers"]
    printing.show(tabulate(rows, heads, tablefmt="simple", disable_numparse=True))
    printing.show(
        "\nTo run another version in a separate environment: --backend NAME==VERSION. To use your own "
        "environment: --python."
    )


def _row(name: str, *, every: bool) -> list[str]:
    needed = backend_names.needs(name)
    in_node = isinstance(needed, node_environment.Needs)
    if needed is not None and not needed.here and not every:
        missing = node_environment.missing(needed) if isinstance(needed, node_environment.Needs) else ""
        hint = line(missing, 150) or "not started; see --all"
        return [name, "", f"an environment, created by {'npm' if in_node else 'uv'}", needed.version, "", hint, ""]
    source = "an environment" if needed is not None and (in_node or not needed.here) else "here"
    try:
        with Asker(backend_names.resolve(name), Limits()) as asker:
            hello = asker.process.hello
    except HarnessError as error:
        return [name, "", source, "", "", line(f"does not start: {error}", 80), ""]
    types = hello.get("types")
    containers = hello.get("containers")
    return [
        name,
        line(hello.get("subject", "runtime"), 20),
        source,
        line(hello.get("version", ""), 30),
        line(hello.get("opset", ""), 10),
        f"{len(types)}" if isinstance(types, list) else "unknown",
        line(", ".join(map(str, containers)), 40) if isinstance(containers, list) else "unknown",
    ]


@backends_.command("check")
@click.argument("name", metavar="BACKEND")
@click.option(
    "--python", default="", metavar="PATH", help="A Python interpreter that has the runtime installed, as in `run`."
)
@with_adapter_options
def check(name: str, python: str, passes: tuple[str, ...], isolate: tuple[Path, ...] | None) -> None:
    """Test an adapter briefly: its description, every type sent and returned, and invalid input.

    Exit status: 0 all checks pass, 1 a check fails, 2 the adapter does not start.
    """
    failures, target = 0, backend_names.resolve(name, python, passes)
    target = sandbox.isolated(target, isolate)
    for row in self_check.check(target, Limits()):
        mark = {True: "ok", False: "NO", None: "--"}[row.good]
        failures += row.good is False
        printing.show(f"{mark}  {row.what:<32} {row.seen}")
    printing.show(f"{failures} checks failed" if failures else "all checks passed (--: not supported by the runtime)")
    exit_with(1 if failures else 0)
