"""The commands by name; the module of one is imported when it is asked for, so that `--help` needs no ONNX."""

from __future__ import annotations

import errno
import importlib
import io
import textwrap
import traceback
from dataclasses import dataclass

import click

from harness import __version__, printing
from harness.cli.interrupts import BROKEN, importing
from harness.errors import HarnessError


@dataclass(frozen=True)
class Command:
    """Where a command is.

    Attributes:
        module: in this folder.
        name: in the module.
        about: the first sentence of its own help.
    """

    module: str
    name: str
    about: str


COMMANDS = {
    "backends": Command(
        "backends", "backends_",
        "List what can be tested: where it is from, its version, what it takes, and how to get what is missing.",
    ),
    "compare": Command("reports", "compare", "Compare two result files: what was fixed, broke, changed, came, went."),
    "coverage": Command(
        "cases", "coverage_",
        "Tell how many schema points and sentences of the text have a case, and which have none.",
    ),
    "dissent": Command(
        "diagnose", "dissent_",
        "Say where implementations agree with one another, and not with the text as it is read here.",
    ),
    "expectations": Command("gate", "expectations_", "Keep the file of what a runtime's author accepts for now."),
    "explain": Command(
        "diagnose", "explain_", "Say what the failures of each operator share that its passing cases do not."
    ),
    "gate": Command("gate", "gate_", "Hold a results file against expectations."),
    "generate": Command("cases", "generate", "Write cases in ONNX's test-data layout, for runners of any language."),
    "list": Command("cases", "list_", "List cases: id, what is expected, tags."),
    "manifest": Command(
        "cases", "manifest_",
        "Write or check the manifest: id and digests of every generated case, and which of them are the core.",
    ),
    "merge": Command("gate", "merge_", "Join the results files of shards, or of several backends, into one."),
    "minimize": Command(
        "diagnose", "minimize_",
        "Cut a failing case down to a smaller one that fails in the same way, and show that as `repro` does.",
    ),
    "publish": Command(
        "reports", "publish",
        "Write the reports of results files into a folder, with an index: Markdown, a page, and a badge of each.",
    ),
    "report": Command(
        "reports", "report", "Tell a results file in another format: to standard output, a file, or a folder."
    ),
    "repro": Command(
        "diagnose", "repro_",
        "Show what a backend makes of a case, without this project: as a file of Python, a bug report, a folder.",
    ),
    "run": Command("run", "run", "Run cases on backends and say which sentences they break."),
    "show": Command("cases", "show", "Show a case: sentence, model, inputs, what is expected, tolerance and why."),
    "trend": Command(
        "trend", "trend_",
        "Tell for each operator version when a verdict changed, over several versions of one runtime.",
    ),
}  # fmt: skip
"""By what is typed."""


class Group(click.Group):
    """Commands whose modules are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        """Return the names, in their order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return a command, or None where there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        command = COMMANDS[cmd_name]
        with importing():
            loaded = getattr(importlib.import_module(f"harness.cli.{command.module}"), command.name)
        assert isinstance(loaded, click.Command)  # noqa: S101 - a test loads each of them
        return loaded

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the commands into the help, without importing them."""
        room = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, textwrap.shorten(COMMANDS[name].about, room, placeholder="...")) for name in sorted(COMMANDS)]
            )


main = click.version_option(__version__, prog_name=printing.PROGRAM)(
    Group(
        help="Hold ONNX runtimes against the text of every operator version.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
)


def run() -> int:
    """Run the command that is asked for; return the exit status: 2 for whatever it cannot do, with a sentence."""
    printing.prepare()
    try:
        status = main(standalone_mode=False)
        printing.flush()
    except HarnessError as error:
        printing.warn(error)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)  # With what was typed, which is not always typed by hand.
        printing.note(shown.getvalue().rstrip("\n"))
    except (click.Abort, KeyboardInterrupt):
        printing.warn("interrupted")
    except (printing.NobodyReadsError, SystemExit):  # click ends so where its help is not read to the end.
        pass
    except OSError as error:
        _tell(error)
    except Exception:  # noqa: BLE001 - status 1 means failed cases; a fault of ours must not look like it
        _tell_fault()
    else:
        return status if isinstance(status, int) else 0
    return BROKEN


def _tell(error: OSError) -> None:
    """Say what went wrong: standard output, where click could not write its help, or what nobody thought of."""
    try:
        printing.flush()
    except HarnessError as why:
        printing.warn(why)
    except printing.NobodyReadsError:
        pass
    else:
        if error.errno == errno.ENOSPC:
            printing.warn(f"cannot write to standard output: {error.strerror}")
        else:
            _tell_fault()


def _tell_fault() -> None:
    printing.note(traceback.format_exc().rstrip("\n"))
    printing.warn("this is a fault of the harness; please report it with the lines above")
