"""The commands by name. Their modules are imported on demand, so `--help` does not import ONNX."""

from __future__ import annotations

import difflib
import errno
import importlib
import io
import textwrap
import traceback
from dataclasses import dataclass

import click

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import VERSION
from onnx_conformance.cli.interrupts import BROKEN, importing


@dataclass(frozen=True)
class Command:
    """The implementation of a command.

    Attributes:
        module: a module of this package.
        name: its function in the module.
        about: the first sentence of its help.
    """

    module: str
    name: str
    about: str


COMMANDS = {
    "backends": Command(
        "backends", "backends_",
        "List the backends: origin, version, supported types, and how to install missing ones.",
    ),
    "cache": Command("cache", "cache_", "Show where the cache is and how large it is, or empty it."),
    "check": Command("check", "check", "Check operator files, and print a sentence for each fault."),
    "check-model": Command(
        "check_model", "check_model",
        "List the operators of a model, and the findings of a runtime that concern its operator versions and types.",
    ),
    "compare": Command("reports", "compare", "Compare two results files: fixed, broken, changed, new, missing cases."),
    "coverage": Command(
        "cases", "coverage_",
        "Show how many schema points and sentences of the specification have a case, and which have no case.",
    ),
    "dissent": Command(
        "diagnose", "dissent_",
        "List cases in which implementations agree with each other, but not with this project's oracle.",
    ),
    "expectations": Command("gate", "expectations_", "Maintain the file of currently accepted failures."),
    "explain": Command(
        "diagnose", "explain_", "Find conditions that the failures of each operator share and its passing cases do not."
    ),
    "findings": Command(
        "findings", "findings_",
        "Deduplicate failures into faults, each with its sentence, its smallest case and a script that reproduces it.",
    ),
    "gate": Command("gate", "gate_", "Compare a results file with expectations."),
    "generate": Command("cases", "generate", "Write cases in ONNX's test-data layout, for runners of any language."),
    "list": Command("cases", "list_", "List cases: id, expected outcome, tags."),
    "manifest": Command(
        "cases", "manifest_",
        "Write or check the manifest: id and digests of every generated case, and the cases of the core.",
    ),
    "merge": Command("gate", "merge_", "Merge the results files of shards, or of several backends, into one."),
    "minimize": Command(
        "diagnose", "minimize_",
        "Reduce a failing case to a smaller one that fails in the same way, and write a reproduction of it.",
    ),
    "new": Command("new", "new", "Write the skeleton of an operator file, or a case from a failing model."),
    "opset": Command(
        "opset", "opset_",
        "Show the changes between two opsets or two onnx packages, and the parts without a case.",
    ),
    "publish": Command(
        "publish", "publish",
        "Write results files into a folder of published reports: an index, the web site, and a badge of each file.",
    ),
    "readings": Command("cases", "readings_", "List the readings: decisions on questions that the specification "
"leaves open."),
    "report": Command(
        "reports", "report", "Write a results file in another format: to standard output, a file, or a folder."
    ),
    "repro": Command(
        "diagnose", "repro_",
        "Write a reproduction of a case on a backend: a Python file, a bug report, or a folder.",
    ),
    "run": Command(
        "run", "run", "Run cases on backends, and report which sentences of the specification they violate."
    ),
    "scripts": Command("findings", "scripts_", "Write README.md and the scripts of a folder of findings."),
    "search": Command(
        "search", "search_",
        "Run random operator calls and models on a backend, and store the failing ones as cases.",
    ),
    "show": Command("cases", "show", "Show a case: sentence, model, inputs, expected outcome and tolerance."),
    "site": Command(
        "site", "site_",
        "Write a static web site of results files: a ranking, and pages of operators, runtimes, findings and cases.",
    ),
    "trend": Command(
        "trend", "trend_",
        "Show in which version of a runtime the verdicts of each operator version changed.",
    ),
    "version": Command("cases", "version_", "Show the versions that decide the cases and their expected values."),
}  # fmt: skip
"""By the name on the command line."""


class LazyGroup(click.Group):
    """Commands whose modules are imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's
        """Return the names, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return a command, or None if there is no command with this name."""
        if cmd_name not in COMMANDS:
            return None
        command = COMMANDS[cmd_name]
        with importing():
            loaded = getattr(importlib.import_module(f"onnx_conformance.cli.{command.module}"), command.name)
            onnx_option = importlib.import_module("onnx_conformance.cli.options").ONNX
        assert isinstance(loaded, click.Command)  # noqa: S101 - a test loads each of them
        if onnx_option not in loaded.params:
            loaded.params.append(onnx_option)
        return loaded

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name.

        Raises:
            UsageError: there is no such command; the text contains similar names.
        """
        name = args[0] if args else ""
        if name and name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, 3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"see {printing.PROGRAM} --help"
            ctx.fail(f"there is no command {name[:40]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands in the help without importing them."""
        room = formatter.width - 6 - max(map(len, COMMANDS))
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, textwrap.shorten(COMMANDS[name].about, room, placeholder="...")) for name in sorted(COMMANDS)]
            )


main = click.version_option(VERSION, prog_name=printing.PROGRAM)(
    LazyGroup(
        help="Test ONNX runtimes and tools against the specification of every operator version.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
)


def run() -> int:
    """Run the command of sys.argv; return the exit status: 2, with a message, if it could not do its work."""
    printing.prepare()
    try:
        status = main(standalone_mode=False)
        printing.flush()
    except HarnessError as error:
        printing.warn(error)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)  # It quotes the arguments, which may contain control characters.
        printing.note(shown.getvalue().rstrip("\n"))
    except (click.Abort, KeyboardInterrupt):
        printing.warn("interrupted")
    except (printing.ReaderGoneError, SystemExit):  # click exits like this if the reader of its help has gone.
        pass
    except OSError as error:
        _report_os_error(error)
    except Exception:  # noqa: BLE001 - status 1 means failed cases; a fault of the harness must not
        _report_fault()
    else:
        return status if isinstance(status, int) else 0
    return BROKEN


def _report_os_error(error: OSError) -> None:
    """Report that standard output cannot be written, for example by click; otherwise, report a fault of the harness."""
    try:
        printing.flush()
    except HarnessError as why:
        printing.warn(why)
    except printing.ReaderGoneError:
        pass
    else:
        if error.errno == errno.ENOSPC:
            printing.warn(f"cannot write to standard output: {error.strerror}")
        else:
            _report_fault()


def _report_fault() -> None:
    printing.note(traceback.format_exc().rstrip("\n"))
    printing.warn("this is a fault of the harness; please report it with the lines above")
