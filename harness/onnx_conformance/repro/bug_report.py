# SPDX-License-Identifier: Apache-2.0
"""A failure as Markdown for a bug report, which GitHub renders correctly for any text of a runtime.

Foreign texts (messages, names, values) occur only as code, in which markup, @mentions and #numbers have no effect.
Paths of this machine are shortened to their last name.
"""

from __future__ import annotations

import dataclasses
import functools
import platform
import re
import shlex
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.analysis.sentences import leading, readings_of
from onnx_conformance.analysis.whole_sentence import whole_of
from onnx_conformance.base.package import REPOSITORY, VERSION
from onnx_conformance.base.printing import quoted
from onnx_conformance.base.verdict import MAX_MESSAGE, WITH_MESSAGE, Verdict, clean, line
from onnx_conformance.case import compare
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.expected_text import expected_rows
from onnx_conformance.case.model_text import model_text
from onnx_conformance.case.value_text import one
from onnx_conformance.judging import transformer
from onnx_conformance.repro import script, stored, tool_code
from onnx_conformance.specification import links

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.judging.ask import LiveAnswer

MOST_ELEMENTS = 20
"""Maximum number of differing elements in the list."""
STDERR_LINES = 10
MOST_WEIGHTS = 20
"""Maximum number of weights that are named."""
MOST_TITLE = 200
"""Maximum length of a message in a title, in characters."""
ACCOUNTS = r"(?:/(?:home|Users)/[^/\s'\"]+|/root|[A-Za-z]:\\Users\\[^\\\s'\"]+)"
"""Home folders, on any machine."""


@dataclass(frozen=True)
class Issue:
    """The content of a bug report.

    Attributes:
        case: the failing case.
        result: the backend's result.
        answer: the backend's hello and its complete answer.
        others: the answers of other backends to the same case.
        origin: the id of the case from which this one was minimized, or empty.
        guilty: the guilty passes of an optimizer, or empty. The code in the answer's hello runs only these.
        reference: the backend whose outputs are the expected ones, or empty.
    """

    case: Case
    result: Result
    answer: LiveAnswer
    others: Sequence[LiveAnswer] = ()
    origin: str = ""
    guilty: Sequence[str] = ()
    reference: str = ""

    @functools.cached_property
    def made(self) -> tool_code.Made:
        """The model that a transformer returned for the case; the oracle evaluates it only once."""
        return tool_code.made(self.case, self.answer.model, self.answer.hello)


def runtime(backend: str, hello: Mapping[str, Any]) -> str:
    """Return a runtime's name and version from its hello. If that has no name, use the user's name for the backend."""
    name = hello.get("runtime") or public_name(backend)
    return line(f"{name} {hello.get('version', '')}", 120)


def public_name(backend: str) -> str:
    """Return a backend's name without the paths of this machine."""
    if not backend.startswith("cmd:"):
        return public(backend)  # The user may have named a file by its full path.
    words = [Path(word).name if Path(word).is_absolute() else word for word in shlex.split(backend[4:])]
    return "cmd:" + shlex.join(map(public, words))


def public(text: str) -> str:
    """Return a text in which paths of this machine are shortened to their last name."""
    here = {Path.home(), Path.cwd(), Path(sys.prefix), Path(sys.base_prefix), Path(tempfile.gettempdir())}
    roots = sorted({re.escape(str(path)) for path in here if path != Path(path.anchor)}, key=len, reverse=True)
    path = rf"(?<![\w./-])(?:{'|'.join([*roots, ACCOUNTS])})(?P<rest>(?:[/\\][^\s'\":,;()\[\]<>]*)?)(?![\w-])"
    return re.sub(path, lambda match: re.split(r"[/\\]", match["rest"].rstrip("/\\"))[-1] or "...", text)


def code(text: object, limit: int = 300) -> str:
    """Return a text as an inline code span, in which markup has no effect; an empty text as a hyphen."""
    plain = line(text, limit)
    if not plain:
        return "-"
    if "|" in plain:  # Tables are split into cells before code spans are recognized, so only an entity is safe.
        return "<code>" + re.sub(r"[^A-Za-z0-9 ]", lambda match: f"&#{ord(match[0])};", plain) + "</code>"
    fence = "`" * (1 + max(map(len, re.findall(r"`+", plain)), default=0))
    pad = " " if plain[0] == "`" or plain[-1] == "`" else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def fenced(text: str, language: str) -> str:
    """Return a text as a fenced block that the text cannot close."""
    fence = "`" * (1 + max([2, *map(len, re.findall(r"`+", text))]))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


LINKED = re.compile(r"[@#]\w|\bGH-\d|://|\bwww\.|\b[0-9a-f]{7,40}\b|:\w+:|\$", re.IGNORECASE)
"""Text that GitHub turns into a link, a picture or a formula outside of code."""
MARKUP = re.compile(r"[\\`*_\[\]<>~&|]|^[#+=-]|(?<=^\d)[.)]")


def prose(text: str) -> str:
    """Return a sentence with escaped markup, or as code if GitHub would turn parts of it into links or formulas."""
    plain = line(text, 2000)
    return code(plain, 2000) if LINKED.search(plain) else MARKUP.sub(lambda match: f"\\{match[0]}", plain)


def markdown(issue: Issue) -> str:
    """Return the bug report."""
    return "\n\n".join(_blocks(issue)) + "\n"


def script_text(issue: Issue, *, shared: bool) -> str:
    """Return the one-file reproduction. If `shared`, it contains no paths of this machine."""
    result = issue.result
    if shared:
        result = dataclasses.replace(result, backend=public_name(result.backend), message=public(result.message))
    return script.script(issue.case, result, issue.answer.hello, issue.made)


def _blocks(issue: Issue) -> Iterator[str]:
    case, result = issue.case, issue.result
    name = runtime(result.backend, issue.answer.hello)
    yield f"# {_title(issue)}: {code(case.operator)}, {code(name)}"
    where = links.place(case.operator)
    link = f"[{case.operator}]({where})" if where else code(case.operator)
    if case.clauses:
        yield f"The text of {link}:"
        first, *others = dict.fromkeys(whole_of(case.operator, clause) for clause in leading(case, result))
        yield f"> {prose(quoted(first))}"
        if others:
            yield "Other sentences that apply:"
            yield "\n>\n".join(f"> {prose(quoted(clause))}" for clause in others)
        if case.notes:
            yield "\n".join(f"- {prose(note)}" for note in case.notes)
        if case.readings:
            rests = map(prose, readings_of(case))
            yield "\n".join(
                ["The text does not define a word, so the expected answer rests on this reading of it:", ""]
                + [f"- {text}" for text in rests]
            )
    else:
        yield f"A case of {link}."
    yield "## Model"
    model, weights = stored.without_weights(case)
    yield fenced(model_text(model, 20_000), "text")
    if weights:
        yield f"Weights that are not shown: {', '.join(map(code, weights[:MOST_WEIGHTS]))}" + (
            f", and {len(weights) - MOST_WEIGHTS} more." if len(weights) > MOST_WEIGHTS else "."
        )
    yield "## Inputs"
    inputs = "\n".join(f"{line(name)} = {clean(one(value), 600)}" for name, value in case.inputs.items())
    yield fenced(inputs or "none", "text")
    yield "## Expected"
    yield _expected(case)
    if issue.reference:
        yield f"These are the outputs of {code(public_name(issue.reference))}; the specification may expect others."
    yield "## Actual"
    yield from _actual(issue, name)
    if issue.guilty:
        alone = "this pass alone causes the fault" if len(issue.guilty) == 1 else "the fault needs all of them"
        yield f"Guilty passes of the optimizer: {', '.join(map(code, issue.guilty))}; {alone}."
    yield "## One-file reproduction"
    text = stored.shortened(script_text(issue, shared=True), stored.MOST_SHOWN, "`--format folder` writes them")
    body = fenced(text, "python")
    yield f"<details>\n<summary>Python, needs only onnx and the runtime</summary>\n\n{body}\n\n</details>"
    if issue.others:
        yield "## Other runtimes"
        yield "\n".join(_table(issue.others))
    yield "## Versions"
    yield "\n".join(_versions(issue, name))


def _title(issue: Issue) -> str:
    """Return the actual answer (for a refusal, the message of the runtime) and the expected one, in short form."""
    case, result = issue.case, issue.result
    if result.verdict in WITH_MESSAGE:
        return f"{code(_cut(public(result.message or result.error)))} (expected {_kinds(case)})"
    if result.verdict in {Verdict.ACCEPTED_INVALID, Verdict.LENIENT}:
        return f"{code(_cut(result.actual))} (expected a rejection)"
    if result.verdict in {Verdict.CRASH, Verdict.TIMEOUT}:
        return f"{code(result.signal) if result.signal else prose(result.message)} (expected {_kinds(case)})"
    mismatch = result.mismatch
    if result.verdict.failed and {"where", "expected", "actual"} <= set(mismatch):
        expected, actual = (code(_cut(mismatch[name], 80)) for name in ("expected", "actual"))
        return f"{code(mismatch['where'], 60)}: {actual} (expected {expected})"
    return str(result.verdict)


def _cut(text: object, limit: int = MOST_TITLE) -> str:
    shown = line(text, MAX_MESSAGE)
    return shown if len(shown) <= limit else f"{shown[:limit]}..."


def _kinds(case: Case) -> str:
    """Return the expected outputs without elements: types and shapes of tensors."""
    if case.expected is None:
        return "a rejection" if case.outcome is Outcome.REJECTS else "any other behaviour"
    kinds = [one(value).partition(" (")[0].partition(" {")[0] for value in case.expected]
    kinds = [kind if kind.startswith(("sequence", "an empty")) else kind.partition(" ")[0] for kind in kinds]
    return code(_cut(", ".join(kinds) or "no output", 80))


def _expected(case: Case) -> str:
    if case.outcome is Outcome.REJECTS:
        return f"A rejection: {prose(case.decided)}"
    if case.outcome is Outcome.UNSPECIFIED:
        return f"Unspecified by the text: {prose(case.decided)}"
    if case.expected is None:
        return "Not stored with the case."
    rows = [f"{line(name)} = {clean(value, 600)}" for name, value in expected_rows(case)]
    return fenced("\n".join(rows), "text") + f"\n\nTolerance: {prose(str(case.allowance))}."


def _actual(issue: Issue, name: str) -> Iterator[str]:
    case, result = issue.case, issue.result
    yield f"{code(name)}: **{result.verdict}**" + (f", {code(result.error)}" if result.error else "")
    if result.message:
        yield fenced(clean(public(result.message)), "text")
    outputs = issue.answer.outputs
    if issue.answer.model is not None:
        outputs = issue.made.outputs or ()
        meaning = ", and the oracle's outputs of it" if outputs else ""
        yield f"The returned model{meaning}:"
        yield fenced(model_text(issue.answer.model, 20_000), "text")
    if outputs:
        names = [*case.outputs, *("?" for _ in outputs[len(case.outputs) :])]
        rows = [f"{line(name)} = {clean(one(value), 600)}" for name, value in zip(names, outputs, strict=False)]
        yield fenced("\n".join(rows), "text")
    if case.expected is not None and result.verdict is Verdict.WRONG_VALUE:
        allowance = transformer.held_to(case, issue.answer.hello).allowance
        differing = list(compare.differing(case.expected, outputs, allowance))
        if differing:
            rows = ["| element | expected | actual |", "| --- | --- | --- |"]
            rows += [f"| {' | '.join(map(code, row))} |" for row in differing[:MOST_ELEMENTS]]
            more = len(differing) - MOST_ELEMENTS
            yield "\n".join(rows) + (f"\n\nand {more} more." if more > 0 else "")
    if result.stderr.strip():
        last = "\n".join(public(result.stderr).splitlines()[-STDERR_LINES:])
        yield f"The end of its output:\n\n{fenced(clean(last), 'text')}"


def _table(others: Sequence[LiveAnswer]) -> Iterator[str]:
    yield "| runtime | verdict | answer |"
    yield "| --- | --- | --- |"
    for other in others:
        named = code(runtime(other.backend, other.hello))
        if other.result is None:
            yield f"| {named} | not run | {code(public(other.problem))} |"
            continue
        result = other.result
        answer = result.message or result.actual or ("; ".join(map(one, other.outputs)))
        text = f"{result.error}: {answer}" if result.error and answer else answer or result.error
        yield f"| {named} | {result.verdict} | {code(public(text))} |"


def _versions(issue: Issue, name: str) -> Iterator[str]:
    yield f"- runtime: {code(name)}"
    yield f"- onnx {onnx.__version__}, numpy {np.__version__}, Python {platform.python_version()}"
    yield f"- {code(f'{platform.system()} {platform.release()} {platform.machine()}')}"
    case = issue.case.id
    origin = f", minimized from {code(issue.origin)}" if issue.origin else ""
    yield f"- case {code(case)} of [onnx-conformance]({REPOSITORY}) {VERSION}{origin}"
