# SPDX-License-Identifier: Apache-2.0
"""Replaces the sentences of published findings: `python -m tools.sentences [RESULTS]... --folder reports/findings`.

The sentence of a finding depends on its smallest case, and on which cases of a run passed and failed. When only the
rules of `findings.sentence` change, the smallest case is still valid, so no runtime is needed: `onnx-conformance
findings --update` takes minutes for a runtime, this command less than one. A finding of an accepted model keeps its
sentence, because the sentence is its cause; only the rest of it is added if it is cut. A sentence that a reader chose
stays.

A title without versions, or with names of forms, is of an earlier release. It gets the beginning of today's titles.

A run of another suite is accepted, with a note. Only its results are used then, not its cases, so the sentences are
less precise.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np
import onnx
import onnx.parser
from google.protobuf.message import DecodeError

from onnx_conformance.analysis.whole_sentence import whole_of
from onnx_conformance.base import printing, under_test
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import PLAIN
from onnx_conformance.findings import findings_file, titles
from onnx_conformance.findings.earlier import dtype_of, parts_of, value_of
from onnx_conformance.findings.failure_groups import failure_groups
from onnx_conformance.findings.script import model_of, said
from onnx_conformance.findings.sentence import sentence
from onnx_conformance.minimize.reducer import MINIMIZED
from onnx_conformance.results.stream import Run
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import find_case
from onnx_conformance.suites.selection import Selection, SelectionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from onnx_conformance.base.values import Array
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.findings.failure_groups import FailureGroup
    from onnx_conformance.findings.finding import Finding, Findings

_CUT = re.compile(r"\(\d[\d,]* characters\)$")
"""The end of a message that a finding contains only in part."""
_SERIALIZED = re.compile(r"model = onnx\.load_from_string\((b(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"))\)")
"""A model that a script contains as bytes, because onnx's text syntax cannot express it."""
Groups = dict[tuple[str, str, Verdict], list["FailureGroup"]]
"""The failure groups of runs by backend, operator and kind."""


def groups_of(paths: tuple[Path, ...], findings: Findings, jobs: int) -> tuple[Groups, list[str]]:
    """Return the failure groups of runs, and notes on findings of another version and on unused data of a run.

    Args:
        paths: files of results.
        findings: the published findings.
        jobs: the number of parallel processes.

    Raises:
        HarnessError: a file cannot be read.
    """
    source, made, notes = Generated(), defaultdict(list), []
    for path in paths:
        run = Run(path)
        for full, hello in run.header["backends"].items():
            name = under_test.unversioned(full)
            of, ran = findings.version_of(name), hello.get("version", "")
            if of != ran:
                notes.append(f"{path}: the findings of {name} are of version {of}, not of {ran}; left out")
                break
        else:
            groups, note = failure_groups(run, source, Selection(), jobs=jobs)
            notes += [f"{path}: {note}"] if note else []
            for group in groups:
                made[under_test.unversioned(group.backend), group.operator, group.kind].append(group)
    return made, notes


def chosen(finding: Finding, script: str, groups: Groups) -> tuple[str, str]:
    """Return the title and the sentence of a finding by today's rules.

    If a part that the rules need is missing, they are the present ones. So is a title of today's rules, because its
    conditions may be on values that the finding contains only in part.

    Args:
        finding: the finding.
        script: its script, which contains the whole model.
        groups: the failure groups of the run.
    """
    identity, ids = finding.identity, set(finding.cases.ids)
    shared = [
        (len(ids & {item.case for item in group.results}), group)
        for group in groups.get((identity.backend, identity.operator, identity.kind), ())
    ]
    # A finding may consist of several groups: the one of the smallest case explains it.
    found = [(*_first(group, finding), most, group) for most, group in shared if most]
    if not found:
        return finding.title, finding.cases.clause
    _, first, _, group = min(found, key=lambda item: (item[0], -item[2]))
    case = _smallest(first.case, finding, script)
    message = finding.example.message
    if not _CUT.search(message):  # The end of a message may name the refused argument.
        first = dataclasses.replace(first, message=message)
    title, versions = finding.title, finding.cases.versions
    of_today = titles.is_of_today(title) or not versions
    if case is None:
        return title if of_today else titles.without_forms(title, versions), finding.cases.clause
    if not of_today:
        title = titles.with_beginning(title, titles.beginning(identity.operator, versions, case, group.conditions))
    return title, sentence(case, first, group)


def of_whole(finding: Finding, text: str) -> str:
    """Return the whole sentence around a clause of a finding."""
    return whole_of(f"{finding.identity.operator}/{max(finding.cases.versions, default=0)}", text)


def _first(group: FailureGroup, finding: Finding) -> tuple[int, Result]:
    """Return the result of the case that the smallest case was made from, and how far its id differs.

    The id of a smallest case has no element type, and possibly another form or version. If that case is not in the
    group, as one of another run, any result of the group is the last choice.
    """
    name = finding.example.case.replace(MINIMIZED, "")
    plain = name.partition("@")[0]
    own = name.removeprefix(f"{finding.identity.operator}/").partition("/")[2]
    tests: tuple[Callable[[str], bool], ...] = (
        lambda case: case == name,
        lambda case: case.startswith(f"{plain}/"),
        lambda case: case.partition("@")[0] == plain,
        lambda case: case.endswith(f"/{own}"),
    )
    for rank, test in enumerate(tests):
        if found := [item for item in group.results if test(item.case)]:
            # Cases of several element types may have different messages.
            return rank, max(found, key=lambda item: _shared_beginning(item.message, finding.example.message))
    return len(tests), group.results[0]


def _shared_beginning(first: str, second: str) -> int:
    """Return the number of characters at the beginning of two texts that are equal."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _smallest(name: str, finding: Finding, script: str) -> Case | None:
    """Return the smallest case of a finding, with zeros for values that are cut.

    Args:
        name: the case that failed in the run. It may be in a form that only the suite transforms has.
        finding: the finding.
        script: its script.

    Returns:
        The case; None without a model, or if only the suite transforms has the case.
    """
    model = _model(script)
    try:
        case = find_case(name.partition("@")[0])
    except SelectionError:
        return None
    if model is None:
        return None
    inputs = {name: made for name, text in finding.example.inputs.items() if (made := _value(text)) is not None}
    form = finding.example.case.partition("@")[2] or PLAIN
    return dataclasses.replace(case, id=finding.example.case, model=model.SerializeToString(), inputs=inputs, form=form)


def _model(script: str) -> onnx.ModelProto | None:
    """Return the model in a script, which is text or the bytes of a ModelProto; None if it contains none."""
    text = model_of(script)
    try:
        if text is not None:
            return onnx.parser.parse_model(text)
        found = _SERIALIZED.search(script)
        return onnx.load_from_string(ast.literal_eval(found[1])) if found else None
    except (onnx.parser.ParseError, DecodeError):
        return None


def _value(text: str) -> Array | None:
    """Return a tensor from its text, or zeros of its type and shape if the text is cut; None if it has no numbers."""
    parts = parts_of(text)
    if parts is None or parts[0] == "string":
        return None
    value = value_of(text)
    return np.zeros(parts[1], dtype_of(parts[0])) if value is None else value


def replaced(findings: Findings, groups: Groups) -> tuple[Findings, int]:
    """Return findings with the sentences and titles of today's rules, and how many sentences changed."""
    items, scripts = [], dict(findings.scripts)
    for item in findings.findings:
        before = item.cases.clause
        fixed = not before or item.identity.kind is Verdict.ACCEPTED_INVALID
        title, found = (item.title, before) if fixed else chosen(item, scripts.get(item.id, ""), groups)
        after = before if item.cases.chosen else of_whole(item, found)
        if after != before:
            scripts[item.id] = scripts.get(item.id, "").replace(said(before), said(after), 1)
        if title != item.title:
            scripts[item.id] = scripts.get(item.id, "").replace(item.title, title, 1)
        items.append(dataclasses.replace(item, title=title, cases=dataclasses.replace(item.cases, clause=after)))
    changed = sum(old.cases.clause != new.cases.clause for old, new in zip(findings.findings, items, strict=True))
    return dataclasses.replace(findings, findings=tuple(items), scripts=scripts), changed


@click.command()
@click.argument("results", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--folder", required=True, type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="The folder of findings.json, which is replaced.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="Parallel processes.")
def main(results: tuple[Path, ...], folder: Path, jobs: int) -> None:
    """Replace the sentences and old titles of findings, from the RESULTS of the runs that showed their faults.

    Without RESULTS, only add the rest of sentences that are cut.
    """
    printing.prepare()
    try:
        before = findings_file.read(folder)
        groups, notes = groups_of(results, before, jobs)
        after, changed = replaced(before, groups)
        findings_file.write(folder, after)
    except HarnessError as error:
        printing.note(f"sentences: {error}")
        sys.exit(2)
    for text in notes:
        printing.note(f"sentences: {text}")
    printing.show(f"{changed} of {len(after.findings)} findings have another sentence")


if __name__ == "__main__":
    main()
