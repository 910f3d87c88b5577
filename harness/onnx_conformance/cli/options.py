# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share: parameter types, the selection of cases, the exit status."""

from __future__ import annotations

import functools
import math
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.selection_options import OPTIONS
from onnx_conformance.environments import onnx_environment, python_environment
from onnx_conformance.results import sampling
from onnx_conformance.specification import packages
from onnx_conformance.suites.chosen import selection_of
from onnx_conformance.suites.lookup import check_selection, find_case, notes, open_suite
from onnx_conformance.suites.suite import Suite, SuiteError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from onnx_conformance.base.selection_options import Choice, SelectionOption
    from onnx_conformance.case.case import Case
    from onnx_conformance.results.stream import Run
    from onnx_conformance.suites.selection import Selection


class Shard(click.ParamType[tuple[int, int]]):
    """i/n, with i from 1 to n."""

    name = "i/n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:  # noqa: ANN401
        """Return (i, n)."""
        if isinstance(value, tuple):
            return value
        match = re.fullmatch(r"(\d+)/(\d+)", value)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            self.fail(f"{value!r} is not a shard; write i/n with i from 1 to n, such as 1/4", param, ctx)
        return int(match[1]), int(match[2])


class Sample(click.ParamType[tuple[str, int]]):
    """1/n, or NAME=1/n."""

    name = "[name=]1/n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:  # noqa: ANN401
        """Return (name, n); the name is empty if the text has only a number."""
        if isinstance(value, tuple):
            return value
        try:
            return sampling.parse(value)
        except sampling.SampleError as error:
            self.fail(str(error), param, ctx)


class Share(click.ParamType[int]):
    """1/n, for commands in which no backend has a separate sample."""

    name = "1/n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401
        """Return n."""
        if isinstance(value, int):
            return value
        try:
            name, count = sampling.parse(value)
        except sampling.SampleError as error:
            self.fail(str(error), param, ctx)
        if name:
            self.fail(
                f"{value!r} is a sample for one backend, but this command runs no backends; write 1/{count}", param, ctx
            )
        return count


class Destination(click.ParamType[tuple[Path, bool]]):
    """A file, or a folder with a file per backend: an existing folder, or a path that ends with a slash."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[Path, bool]:  # noqa: ANN401
        """Return the path, and whether it is a folder; a missing folder is created."""
        if isinstance(value, tuple):
            return value
        path, folder = Path(value), value.endswith(("/", os.sep))
        try:
            if folder:
                path.mkdir(parents=True, exist_ok=True)
            return path, path.is_dir()
        except FileExistsError:
            self.fail(
                f"{value!r} ends with a slash, but {path} is a file; name a folder, or remove the slash", param, ctx
            )
        except OSError as error:
            self.fail(f"cannot create {value!r}: {error.strerror}", param, ctx)


class Seconds(click.FloatRange):
    """A finite number of seconds."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401
        """Return seconds."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a time; write seconds, such as 20", param, ctx)
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
            self.fail(f"{value!r} is not a size; write a number and K, M or G, such as 4G", param, ctx)
        return int(match[1]) * self.units[match[2].upper()]


_Command = TypeVar("_Command")

OVERWRITE = click.option("--overwrite", is_flag=True, help="Replace an existing results file.")


def check_resume(*, resume: bool, overwrite: bool) -> None:
    """Raise HarnessError if both --resume and --overwrite are set."""
    if resume and overwrite:
        raise HarnessError(
            "resume-and-overwrite",
            "--resume keeps the existing results, --overwrite replaces them; use only one of them",
        )


def _with_onnx(ctx: click.Context, param: click.Parameter, value: str | None) -> None:  # noqa: ARG001 - click's
    """Run the command with another onnx in a new process, and end this process with its status."""
    if value is None or onnx_environment.is_running(wanted := onnx_environment.requirement(value)):
        return
    ctx.exit(onnx_environment.run(wanted, sys.argv[1:]))


ONNX = click.Option(
    ["--onnx"], metavar="VERSION", is_eager=True, expose_value=False, callback=_with_onnx,
    help="Use another version of onnx than the installed one, in a separate environment: 1.22.0, onnx-weekly.",
)  # fmt: skip
"""An option of every command."""


def _with_operators(ctx: click.Context, _: click.Parameter, value: tuple[str, ...]) -> None:
    """Let the command use operator packages in folders."""
    del ctx
    for folder in value:
        packages.add_folder(Path(folder))


OPERATORS = click.Option(
    ["--operators", "operator_folders"], metavar="FOLDER", multiple=True, is_eager=True, expose_value=False,
    callback=_with_operators,
    help="Use the operator package in this folder, too. Its suite has the name of the package.",
)  # fmt: skip
"""An option of every command."""

DESTINATION, SAMPLE, SHARD, SHARE, SIZE = Destination(), Sample(), Shard(), Share(), Size()


@dataclass(frozen=True)
class CaseOptions:
    """The suite and the selection of cases that the options name; see `base.selection_options`."""

    suite_name: str
    choice: Choice
    max_elements: int | None

    def selection(self, shard: tuple[int, int] | None = None, sample: int = 1) -> Selection:
        """Return the selection for a suite.

        Raises:
            HarnessError: the value of an option cannot be read.
        """
        return selection_of(self.choice, shard=shard, sample=sample, max_elements=self.max_elements)

    def open(self, shard: tuple[int, int] | None = None, sample: int = 1) -> tuple[Suite, Selection]:
        """Return the suite and the selection.

        Raises:
            HarnessError: there is no such suite, or no such operator or core in it.
        """
        suite, selection = open_suite(self.suite_name), self.selection(shard, sample)
        check_selection(suite, selection)
        for note in notes(suite, selection):
            printing.warn(note)
        return suite, selection


def _with_selection_options(command: Any, rows: Sequence[SelectionOption]) -> Any:  # noqa: ANN401 - click's decorators
    """Add options that select cases; the command gets them as one argument, `choice`."""

    @functools.wraps(command)
    def collected(**options: Any) -> Any:  # noqa: ANN401
        values = {row.key: options.pop(f"choice_{row.key}") for row in rows}
        return command(choice={key: value for key, value in values.items() if value not in {None, ()}}, **options)

    wrapped: Any = collected
    for row in reversed(rows):
        form: dict[str, Any] = {"metavar": row.metavar} if row.metavar else {"is_flag": True}
        wrapped = click.option(f"--{row.name}", f"choice_{row.key}", multiple=row.repeatable, help=row.help, **form)(
            wrapped
        )
    return wrapped


def with_operator_options(*without: str) -> Callable[[_Command], _Command]:
    """Add the options that select operator versions, except some; the command gets a Selection, `selection`."""
    rows = [row for row in OPTIONS if row.of_operators and row.key not in without]

    def decorate(command: Any) -> Any:  # noqa: ANN401 - click's decorators
        @functools.wraps(command)
        def selecting(*, choice: Choice, **options: Any) -> Any:  # noqa: ANN401
            return command(selection=selection_of(choice), **options)

        return _with_selection_options(selecting, rows)

    return decorate


def with_list_options(formats: Iterable[str]) -> Callable[[_Command], _Command]:
    """Add the arguments of a list about operators of a package, which results files may extend.

    The command gets `files`, `package` and `kind`, and a Selection, `selection`.

    Args:
        formats: the formats of the list, such as text; this one is the default.
    """

    def decorate(command: Any) -> Any:  # noqa: ANN401 - click's decorators
        for option in (
            click.option(
                "--format", "kind", type=click.Choice([*formats]), default="text", show_default=True,
                help="The format of the list.",
            ),
            click.option(
                "--package", default=packages.ONNX.name, show_default=True, help="The operator package."
            ),
            with_operator_options(),
            click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[RESULTS...]"),
        ):  # fmt: skip
            command = option(command)
        return command

    return decorate


def with_case_options(command: Any) -> Any:  # noqa: ANN401 - click's decorators
    """Add the options that select cases; the command gets them as one argument, `case_options`."""

    @functools.wraps(command)
    def collected(*, suite_name: str, choice: Choice, max_elements: int | None = None, **options: Any) -> Any:  # noqa: ANN401
        return command(case_options=CaseOptions(suite_name, choice, max_elements), **options)

    return click.option(
        "--suite", "suite_name", default="generated", show_default=True, metavar="SUITE",
        help="generated, kernels (sizes of real models), provisional (undeclared versions), transforms (graphs "
        "that optimizers rewrite), official (onnx's own tests), a pack, or a folder in ONNX's layout.",
    )(_with_selection_options(collected, OPTIONS))  # fmt: skip


def with_part_options(command: Any) -> Any:  # noqa: ANN401 - click's decorators
    """Add --shard and --sample, for commands that run no backend."""
    for option in (
        click.option(
            "--sample", type=SHARE, default=1, metavar=SHARE.name, help="Only 1 case in n, always the same ones."
        ),
        click.option(
            "--shard", type=SHARD, help="Only part i of n of the cases; a case keeps its part when cases are added."
        ),
    ):
        command = option(command)
    return command


def _without_hashes(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001, FBT001 - click's
    """Switch the check of digests off, also for the processes of this command."""
    if value:
        os.environ[python_environment.NO_VERIFY] = "1"


NO_VERIFY_HASHES = click.option(
    "--no-verify-hashes", is_flag=True, expose_value=False, callback=_without_hashes,
    help="Install the versions of the locks without checking the digests of the files, for an index with custom "
    "builds.",
)  # fmt: skip
"""An option of commands that make environments of runtimes."""


REFERENCE = click.option(
    "--reference", metavar="BACKEND",
    help="Use the outputs of this backend as the expected ones.  [default: the outputs that are stored with the case; "
    "without any, those of the oracle]",
)  # fmt: skip


def with_adapter_options(command: Any) -> Any:  # noqa: ANN401 - click's decorators
    """Add the options for the files and variables that an adapter can access on this machine.

    The command gets `isolate`: None if adapters are not isolated; else the paths that they see in addition.
    """

    @functools.wraps(command)
    def joined(*args: Any, isolate: bool, shown: tuple[Path, ...], **options: Any) -> Any:  # noqa: ANN401 - click's
        if shown and not isolate:
            raise click.UsageError("--show is for adapters in a sandbox; add --isolate, or remove it")
        return command(*args, isolate=shown if isolate else None, **options)

    wrapped: Any = joined
    for option in (
        click.option(
            "--show", "shown", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
            help="With --isolate, a file or folder that adapters can read in addition. Repeatable.",
        ),
        click.option(
            "--isolate", is_flag=True,
            help="Run adapters in a sandbox that shows their runtime, their own files and system libraries (Linux).",
        ),
        click.option(
            "--env", "passes", multiple=True, metavar="NAME",
            help="Also pass this environment variable to adapters; by default they get only a few. Repeatable.",
        ),
        NO_VERIFY_HASHES,
    ):  # fmt: skip
        wrapped = option(wrapped)
    return wrapped


def load_case(case_id: str, suite_name: str | None) -> Case:
    """Return a case by its id, from the named suite or the one that the id begins with; see `find_case`."""
    return find_case(case_id, (open_suite(suite_name),) if suite_name else ())


def suite_of(run: Run) -> Suite | None:
    """Return the suite of a run, or None if it no longer exists."""
    try:
        return open_suite(str(run.header["suite"].get("name")))
    except SuiteError:
        return None


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


JOBS = click.option(
    "--jobs", type=click.IntRange(1, 256), default=available_cores(), show_default="one per core",
    help="Number of processes.",
)  # fmt: skip
"""An option of commands that generate cases in several processes."""


def exit_with(status: int) -> None:
    """End the command with a status, without sys.exit(): click uses that if the reader of its output has gone."""
    click.get_current_context().exit(status)
