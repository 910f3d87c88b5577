"""`backends`: what can be tested here, and a short test of an adapter."""

from __future__ import annotations

import click
from tabulate import tabulate

from harness import printing
from harness.cli.options import end, surrounding
from harness.errors import HarnessError
from harness.execution import backend_names, node_environment, sandbox, self_check
from harness.execution.adapter_process import Limits
from harness.execution.ask import Asker
from harness.verdict import line


@click.group("backends", invoke_without_command=True)
@click.option(
    "--all", "every", is_flag=True, help="Make the environments of those that are not here, and ask them too."
)
@click.pass_context
def backends_(ctx: click.Context, every: bool) -> None:  # noqa: FBT001
    """List what can be tested: where it is from, its version, what it takes, and how to get what is missing."""
    if ctx.invoked_subcommand is not None:
        return
    rows = [_row(name, every=every) for name in backend_names.names()]
    heads = ["backend", "from", "version", "opset", "types", "containers"]
    printing.show(tabulate(rows, heads, tablefmt="simple", disable_numparse=True))
    printing.show(
        "\nAny version of those with an environment: --backend NAME==VERSION. An environment of yours: --python."
    )


def _row(name: str, *, every: bool) -> list[str]:
    needed = backend_names.needs(name)
    in_node = isinstance(needed, node_environment.Needs)
    if needed is not None and not needed.here and not every:
        missing = node_environment.missing(needed) if isinstance(needed, node_environment.Needs) else ""
        told = line(missing, 150) or "not asked: --all"
        return [name, f"an environment that {'npm' if in_node else 'uv'} makes", needed.version, "", told, ""]
    source = "an environment" if needed is not None and (in_node or not needed.here) else "here"
    try:
        with Asker(backend_names.resolve(name), Limits()) as lane:
            hello = lane.process.hello
    except HarnessError as error:
        return [name, source, "", "", line(f"cannot be had: {error}", 80), ""]
    types = hello.get("types")
    containers = hello.get("containers")
    return [
        name,
        source,
        line(hello.get("version", ""), 30),
        line(hello.get("opset", ""), 10),
        f"{len(types)}" if isinstance(types, list) else "not said",
        line(", ".join(map(str, containers)), 40) if isinstance(containers, list) else "not said",
    ]


@backends_.command("check")
@click.argument("name", metavar="BACKEND")
@click.option("--python", default="", metavar="PATH", help="As in `run`.")
@surrounding
def check(name: str, python: str, passes: tuple[str, ...], isolate: bool) -> None:  # noqa: FBT001
    """Test an adapter in short: its hello, every type there and back, and what it makes of nonsense.

    Exit status: 0 nothing is amiss, 1 something is, 2 it does not come up.
    """
    amiss, target = 0, backend_names.resolve(name, python, passes)
    if isolate:
        target = sandbox.around("generated", None).of(target)
    for found in self_check.check(target, Limits()):
        mark = {True: "ok", False: "NO", None: "--"}[found.good]
        amiss += found.good is False
        printing.show(f"{mark}  {found.what:<32} {found.seen}")
    printing.show(f"{amiss} things are amiss" if amiss else "nothing is amiss; -- is what the runtime does not take")
    end(1 if amiss else 0)
