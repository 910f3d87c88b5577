# SPDX-License-Identifier: Apache-2.0
"""`findings`: deduplicates failures into faults, each confirmed by a script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from onnx_conformance.base import atomic_file, printing, under_test
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.cli.options import (
    NO_VERIFY_HASHES,
    Seconds,
    available_cores,
    exit_with,
    suite_of,
    with_operator_options,
)
from onnx_conformance.environments import backend_names, python_environment
from onnx_conformance.findings import chosen_sentence, collect, confirm, finding, findings_file
from onnx_conformance.report import findings_bundle
from onnx_conformance.report import findings_text as written
from onnx_conformance.results.stream import Run
from onnx_conformance.run import progress
from onnx_conformance.specification import schema
from onnx_conformance.suites import profile_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.findings.finding import Findings
    from onnx_conformance.suites.selection import Selection


@click.command("findings")
@click.argument("files", metavar="[RESULTS...]", nargs=-1, type=click.Path(path_type=Path))
@click.option("--script", "script_id", metavar="ID", help="Only print the script of a finding of the folder.")
@click.option(
    "--sentence", "sentences", type=(str, str), multiple=True, metavar="ID TEXT",
    help="Only choose the sentence that a finding of the folder quotes. TEXT is a part of the operator's text. "
    "Repeatable.",
)  # fmt: skip
@click.option(
    "--report", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Only write reports for the authors of the runtimes into DIR: one for each of the "
    f"{findings_bundle.MOST} gravest causes of the folder that are not reported yet.",
)  # fmt: skip
@click.option(
    "--folder", required=True, type=click.Path(file_okay=False, path_type=Path),
    help="Write findings.json, README.md and a script for each finding into this folder.",
)  # fmt: skip
@click.option(
    "--update", is_flag=True, help="Compare with the findings of the folder: new, still open, fixed, regressed."
)
@click.option(
    "--search-again", is_flag=True,
    help="With --update: search for the smallest cases again, instead of starting from those of the old findings.",
)  # fmt: skip
@with_operator_options("version")  # Its --version names versions of runtimes.
@click.option(
    "--other", "others", multiple=True, metavar="BACKEND",
    help="Show the outputs of this backend for the smallest cases. Repeatable.  [default: the backends of the results]",
)  # fmt: skip
@click.option(
    "--version", "versions", multiple=True, metavar="NAME==VERSION",
    help="Also run the scripts on this version of a runtime, to find out since when the fault exists. Repeatable.",
)  # fmt: skip
@click.option(
    "--profile", type=click.Path(dir_okay=False, path_type=Path),
    help="File with the claims of the runtime's author, as in `run`.",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 256), help="Number of processes.  [default: one per core]")
@click.option(
    "--seconds",
    type=Seconds(0.01),
    default=20.0,
    show_default=True,
    help="Time limit for minimizing one case, in seconds.",
)
@click.option(
    "--timeout", type=Seconds(0.01), default=20.0, show_default=True, help="Time limit of one case, in seconds."
)
@NO_VERIFY_HASHES
def findings_(
    files: tuple[Path, ...], script_id: str | None, sentences: tuple[tuple[str, str], ...], report: Path | None,
    folder: Path, selection: Selection,
    others: tuple[str, ...], versions: tuple[str, ...],
    profile: Path | None, jobs: int | None, seconds: float, timeout: float, *, update: bool, search_again: bool,
) -> None:  # fmt: skip
    """Deduplicate failures into faults, each with its sentence, its smallest case and a script that reproduces it.

    A finding is a fault that a script reproduces in a fresh environment of the runtime. Accepted invalid models, and
    failures that depend on a reading, a reworded sentence or rounding, are listed separately and not counted.

    Exit status: 0 there are no open findings, 1 there are some, 2 the command failed.
    """
    if script_id or report or sentences:
        _use(files, folder, script_id, report, sentences)
        return
    if not files:
        raise HarnessError(
            "no-results-for-findings", "name the results files of a run, or use --script, --sentence or --report"
        )
    if search_again and not update:
        raise HarnessError("search-again-without-update", "add --update; without it, every smallest case is searched")
    runs = [Run(path) for path in files]
    before = _before(folder, update=update)
    _check(runs)
    selection.respell(schema.every_version())
    names = {under_test.unversioned(name) for run in runs for name in run.header["backends"]}
    asked = others or tuple(sorted(name for run in runs for name in run.header["backends"]))
    options = collect.Options(
        selection=selection,
        jobs=jobs or available_cores(),
        seconds=seconds,
        timeout=timeout,
        others=tuple(dict.fromkeys(asked)),
        versions=_versions(versions, names),
        profile=profile_file.text_of(profile) if profile else "",
        search_again=search_again,
    )
    with progress.phases() as on_step:
        collected = collect.collect([(run, suite_of(run)) for run in runs], options, before, on_step)
    for option, glob in sorted(selection.idle):
        raise HarnessError("no-operator-of-findings", f"{option} {glob!r} matches no operator of these results")
    found = collected.findings
    findings_file.write(folder, found)
    findings_file.write_derived(folder, found, written.markdown(found))
    for note in collected.notes:
        printing.warn(note)
    for text in written.lines(found, collected.dropped):
        printing.show(text)
    printing.show(f"\n{folder / findings_file.FILE}")
    exit_with(1 if any(item.counted for item in found.findings) else 0)


@click.command("scripts")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Write into this folder; default: FOLDER itself."
)
def scripts_(folder: Path, out: Path | None) -> None:
    """Write README.md and the scripts of a folder of findings.

    FOLDER contains the findings.json that `findings` wrote.

    A script needs only onnx, numpy and the runtime. It exits with 1 if the runtime has the fault, and with 0 if the
    fault is gone.

    Exit status: 0 the files are written, 2 a file cannot be read or written.
    """
    found, target = findings_file.read(folder), out or folder
    findings_file.write_derived(target, found, written.markdown(found))
    printing.show(f"{target / 'README.md'} and {len(found.scripts):,} scripts in {target / finding.SCRIPTS}")


def _use(
    files: Sequence[Path],
    folder: Path,
    script_id: str | None,
    report: Path | None,
    sentences: Sequence[tuple[str, str]],
) -> None:
    """Print a script of the folder's findings, write the reports on the gravest causes, or choose sentences.

    Raises:
        HarnessError: results are named, too; there is no such finding; a sentence is not in the text; or a file cannot
            be written.
    """
    if files or sum(map(bool, (script_id, report, sentences))) > 1:
        raise HarnessError(
            "findings-shown-and-made",
            "--script, --sentence and --report use only the findings of --folder; use one of them, without results "
            "files",
        )
    found = findings_file.read(folder)
    if script_id:
        if not (text := found.scripts.get(script_id)):
            raise findings_file.no_such_finding(script_id, found.scripts)
        printing.show(text)
    if sentences:
        for name, text in sentences:
            found = chosen_sentence.choose(found, name, text, confirm.today())
        findings_file.write(folder, found)
        if (folder / finding.SCRIPTS).exists():  # The published folder has only findings.json.
            findings_file.write_derived(folder, found, written.markdown(found))
        printing.show(f"{folder / findings_file.FILE}: sentences chosen: {len(sentences)}")
    if report:
        groups = findings_bundle.gravest(found)
        try:
            report.mkdir(parents=True, exist_ok=True)
            for number, group in enumerate(groups, 1):
                path = report / findings_bundle.name_of(number, group)
                atomic_file.write(path, [findings_bundle.markdown(group, found.scripts)])
        except OSError as error:
            raise HarnessError("bundle-not-writable", f"cannot write {error.filename}: {error.strerror}") from error
        printing.show(f"{len(groups)} reports in {report}, the gravest cause first")


def _before(folder: Path, *, update: bool) -> Findings | None:
    """Return the findings of the folder if they are to be updated.

    Raises:
        HarnessError: they do not exist; or they exist, and --update is missing.
    """
    if update:
        return findings_file.read(folder)
    if (folder / findings_file.FILE).exists():
        raise HarnessError(
            "findings-exist",
            f"{folder} has findings already; --update compares with them and keeps their ids and links",
        )
    return None


def _check(runs: Sequence[Run]) -> None:
    """Raise HarnessError if the runs cannot have findings together."""
    suites = {(run.header["suite"].get("name"), run.header["suite"].get("digest")) for run in runs}
    if len(suites) > 1:
        raise HarnessError(
            "suites-differ-in-findings",
            "the results files have different suites or suite versions; run all backends with the same suite",
        )
    for run in runs:
        for name in run.header["backends"]:
            backend_names.resolve(name)
            if backend_names.needs(name) is None:
                raise HarnessError(
                    "no-environment-to-confirm",
                    f"{run.path}: {name} has no separate environment, which scripts need to confirm faults; "
                    "`onnx-conformance backends` lists the backends that have one",
                )


def _versions(words: Sequence[str], names: set[str]) -> dict[str, list[str]]:
    """Return the versions to run, by backend.

    Raises:
        HarnessError: a text is not NAME==VERSION of a backend of the results, or the backend is an execution provider.
    """
    versions: dict[str, list[str]] = {}
    for word in words:
        parts = under_test.parts(word)
        if not parts.version or parts.unversioned not in names:
            raise HarnessError(
                "not-a-version-of-a-backend",
                f"--version {word!r}: expected NAME==VERSION, where NAME is one of {', '.join(sorted(names))}",
            )
        if python_environment.provider(backend_names.option_of(parts.unversioned)) is not None:
            raise HarnessError(
                "provider-without-versions",
                f"--version {word!r}: the version of an execution provider is in its file; change the file, and run "
                "again",
            )
        versions.setdefault(parts.unversioned, []).append(parts.version)
    return versions
