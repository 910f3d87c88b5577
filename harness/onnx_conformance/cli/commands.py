# SPDX-License-Identifier: Apache-2.0
"""The commands by name. Their modules are imported on demand, so `--help` does not import ONNX."""

from __future__ import annotations

import difflib
import errno
import importlib
import io
import textwrap
import traceback
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass

import click

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import REPOSITORY, VERSION
from onnx_conformance.cli.interrupts import BROKEN, importing


@dataclass(frozen=True)
class Command:
    """The implementation of a command.

    Attributes:
        module: a module of this package.
        name: its function in the module.
        about: a short description, which fits on a line of the help.
    """

    module: str
    name: str
    about: str


COMMANDS = {
    "accuracy": Command(
        "accuracy", "accuracy_",
        "Measure the largest errors of a runtime, and their inputs.",
    ),
    "backends": Command(
        "backends", "backends_",
        "List the backends, their versions and types, or check one.",
    ),
    "bounds": Command("bounds", "bounds_", "List the allowed errors, with reasons."),
    "cache": Command("cache", "cache_", "Show where the cache is and how large it is, or empty it."),
    "check": Command("check", "check", "Check operator files, and print a sentence for each fault."),
    "check-model": Command(
        "check_model", "check_model",
        "Show which nodes of a model a runtime runs correctly.",
    ),
    "claims": Command("claims", "claims_", "Write the claims of a backend from a run."),
    "compare": Command("reports", "compare", "Compare two results files: fixed, broken and changed cases."),
    "coverage": Command(
        "cases", "coverage_",
        "Show which sentences of the specification have no case.",
    ),
    "dissent": Command(
        "diagnose", "dissent_",
        "List cases in which runtimes disagree with the oracle.",
    ),
    "expectations": Command("gate", "expectations_", "Maintain the file of currently accepted failures."),
    "explain": Command(
        "diagnose", "explain_", "Find conditions that the failures of each operator share."
    ),
    "export": Command(
        "export", "export_",
        "Test an exporter of models against its framework.",
    ),
    "findings": Command(
        "findings", "findings_",
        "Group failures into faults, each with a script.",
    ),
    "gaps": Command("gaps", "gaps_", "List operator versions that a runtime lacks but ran before."),
    "gate": Command("gate", "gate_", "Compare a results file with expectations."),
    "generate": Command("cases", "generate", "Write cases as files, for runners of any language."),
    "list": Command("cases", "list_", "List cases: id, expected outcome, tags."),
    "manifest": Command(
        "cases", "manifest_",
        "Write or check the manifest of all generated cases.",
    ),
    "merge": Command("gate", "merge_", "Merge the results files of shards or backends into one."),
    "minimize": Command(
        "diagnose", "minimize_",
        "Reduce a failing case to a smaller one.",
    ),
    "new": Command("new", "new", "Write a new operator file, or a case from a failing model."),
    "open-points": Command("open_points", "open_points", "List points that the specification leaves open."),
    "opset": Command(
        "opset", "opset_",
        "Show the changes between two opsets or two onnx packages.",
    ),
    "pack": Command("pack", "pack", "Write cases to one file, for programs in any language."),
    "publish": Command(
        "publish", "publish",
        "Write an index, a web site and badges of results files.",
    ),
    "readings": Command("cases", "readings_", "List decisions on questions that ONNX leaves open."),
    "report": Command(
        "reports", "report", "Write results in another format, such as HTML or JUnit."
    ),
    "repro": Command(
        "diagnose", "repro_",
        "Write a script or a bug report that reproduces a case.",
    ),
    "run": Command(
        "run", "run", "Run cases on backends, and report the failures."
    ),
    "schema": Command("schema", "schema", "Print the JSON Schema of a file or message."),
    "scripts": Command("findings", "scripts_", "Write README.md and the scripts of a folder of findings."),
    "search": Command(
        "search", "search_",
        "Run random calls and models, and store the failing ones.",
    ),
    "show": Command("cases", "show", "Show a case: sentence, model, inputs and expected outcome."),
    "site": Command(
        "site", "site_",
        "Write a static web site of results files.",
    ),
    "trend": Command(
        "trend", "trend_",
        "Show in which version of a runtime verdicts changed.",
    ),
    "verify": Command("verify", "verify_", "Find out which node of a model a runtime computes wrongly."),
    "version": Command("cases", "version_", "Show the versions of this project, onnx and the suite."),
}  # fmt: skip
"""By the name on the command line."""


GROUPS = {
    "Test a runtime or tool": ("run", "backends", "search", "trend", "verify", "check-model", "export", "accuracy"),
    "Understand a failure": ("show", "repro", "minimize", "explain", "dissent"),
    "Gate a pull request": ("gate", "expectations", "claims", "compare", "merge"),
    "Report and publish": ("report", "findings", "gaps", "scripts", "site", "publish"),
    "Look at the cases": (
        "list",
        "generate",
        "pack",
        "coverage",
        "readings",
        "open-points",
        "bounds",
        "opset",
        "schema",
    ),
    "Work on this project": ("new", "check", "manifest", "cache", "version"),
}
"""The commands by the work that they are for, as the help lists them."""


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
            options = importlib.import_module("onnx_conformance.cli.options")
        assert isinstance(loaded, click.Command)  # noqa: S101 - a test loads each of them
        loaded.params += [option for option in (options.ONNX, options.OPERATORS) if option not in loaded.params]
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
        width = max(map(len, COMMANDS))  # The same in every group.
        room = formatter.width - 6 - width
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                rows = [(f"{name:<{width}}", textwrap.shorten(COMMANDS[name].about, room)) for name in names]
                formatter.write_dl(rows)


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
    except BrokenExecutor:
        printing.warn(
            "a process of this command was killed, as the system does if memory runs out; use fewer processes with "
            "--jobs, or free some memory"
        )
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
            printing.warn(printing.not_writable(error))
        else:
            _report_fault()


def _report_fault() -> None:
    printing.note(traceback.format_exc().rstrip("\n"))
    printing.warn(f"this is a fault of the harness; please report it with the lines above at {REPOSITORY}/issues")
