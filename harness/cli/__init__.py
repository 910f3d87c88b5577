"""The command line: arguments only; the work is done by the modules it calls. One file a kind of command."""

from __future__ import annotations

import sys
import traceback

import click

from harness import __version__
from harness.cli import adapters, cases, causes, gate, reports, run, trend
from harness.errors import HarnessError


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="onnx-conformance")
def main() -> None:
    """Hold ONNX runtimes against the text of every operator version."""


for _command in (
    run.run,
    adapters.backends_,
    cases.list_,
    cases.show,
    cases.generate,
    cases.coverage_,
    cases.manifest_,
    gate.gate_,
    gate.expectations_,
    gate.merge_,
    causes.explain_,
    causes.repro_,
    causes.minimize_,
    causes.dissent_,
    reports.report,
    reports.publish,
    reports.compare,
    trend.trend_,
):
    main.add_command(_command)


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
