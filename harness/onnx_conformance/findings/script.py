# SPDX-License-Identifier: Apache-2.0
"""The script of a finding: a file that needs only onnx, numpy and the runtime, and reports whether the fault is there.

It runs itself in a second process, because the runtime may crash or hang. Exit status: 1 while the fault is there, 0
when it is gone, 2 if neither can be observed, for example without the runtime.
"""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.printing import quoted
from onnx_conformance.base.verdict import Verdict, clean, line
from onnx_conformance.judging import transformer
from onnx_conformance.repro import script, tool_code

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.case.case import Case

SECONDS = 30
"""The time limit for the answer of the runtime, in seconds."""
THERE = "the fault is there: "
GONE = "the fault is gone: the answer is as expected"
_MODEL = re.compile(r'model = onnx\.parser\.parse_model\((""".*?""")\)', re.DOTALL)
WORDS = {
    Verdict.CRASH: "crash",
    Verdict.TIMEOUT: "timeout",
    Verdict.REFUSED: "refused",
    Verdict.DECLINED: "refused",
    Verdict.FALLBACK: "refused",
    Verdict.ACCEPTED_INVALID: "accepted",
    Verdict.INVALID_MODEL: "invalid",
    Verdict.UNSUPPORTED: "unsupported",
}
"""The word for a kind in a script's output; `wrong` for all other kinds."""

ENDED = """\


def ended(kind, error, trace):
    print(f"{kind.__name__}: {error}", flush=True)
    os._exit(101 if issubclass(kind, AssertionError) else 2)


"""
"""The function that turns an exception of a script into its exit status."""

AGAIN = """\
if sys.argv[1:] == ["once"]:
    sys.excepthook = ended
    reproduce()
else:  # In a separate process, because the runtime may crash or hang.
    try:
        status = subprocess.run([sys.executable, __file__, "once"], timeout={seconds}).returncode
    except subprocess.TimeoutExpired:
        status = "timeout"
    words = {{0: "", 2: None, 101: "wrong", 102: "refused", 103: "accepted", 104: "invalid", "timeout": "timeout"}}
    word = words.get(status, f"crash, status {{status}}")
    if word is None:
        sys.exit(2)
    print({there!r} + word if word else {gone!r})
    sys.exit(1 if word else 0)
"""
OF_GAP = """\
if sys.argv[1:] in (["earlier"], ["later"]):
    sys.excepthook = ended
    reproduce()
else:  # In separate processes, because the runtime may crash or hang.
    status = {{}}
    for version in ("earlier", "later"):
        try:
            status[version] = subprocess.run([sys.executable, __file__, version], timeout={seconds}).returncode
        except subprocess.TimeoutExpired:
            status[version] = "timeout"
    if status["earlier"] != 0 or status["later"] == 2:
        print("this call does not run in the earlier version either, so there is no gap between versions")
        sys.exit(2)
    print({there!r} + "unsupported" if status["later"] == 102 else "the fault is gone: the version is supported")
    sys.exit(1 if status["later"] == 102 else 0)
"""
CALL = """\
try:
{call}
except (ImportError, FileNotFoundError, SystemExit):  # There is no runtime to ask, or it has ended.
    raise
except BaseException as error:  # A panic of a runtime in Rust is no Exception.
    print("refused: ", error, flush=True)
    os._exit({status})
"""
ACCEPTED = """\
print("the runtime returned an answer, but the text forbids the model", flush=True)
os._exit(103)
"""

ENDS = """
def invalid(why):
    print("the tool returned an invalid model: ", why, flush=True)
    os._exit(104)


def unseen(why):
    print(why, flush=True)
    os._exit(2)
"""
"""The end of a script if the tool returned an invalid model, and if no available evaluator can judge the model."""


def text(
    case: Case,
    backend: str,
    hello: Mapping[str, Any],
    title: str,
    came: tool_code.Made = tool_code.NOTHING,
    clause: str = "",
) -> str:
    """Return the script. The model and the call are at its beginning, the code that compares is behind them.

    Args:
        case: the smallest case.
        backend: the name by which the user called the backend.
        hello: the hello of its adapter, whose `repro` is code that calls the runtime.
        title: the title of the finding.
        came: the model that a transformer returned, and the oracle's evaluation of it.
        clause: the sentence that the runtime violates; default: the last one of the case.
    """
    pieces = script.parts(transformer.held_to(case, hello))
    call = textwrap.indent(script.call(backend, hello, pieces.way).rstrip(), "    ", bool)
    sentence = clause or next(iter(case.clauses[-1:]), "")
    head = _head(title, [said(sentence)] if sentence else [], backend, hello)
    request = CALL.format(call=call, status=0 if pieces.may_refuse else 102)
    if pieces.may_refuse:
        got = "" if tool_code.is_tool(hello) else script.GOT
        rest = f"{got}{ACCEPTED if pieces.rejects else ''}"
    else:
        rest = script.after(hello, pieces, came, ENDS)
    again = AGAIN.format(seconds=SECONDS, there=THERE, gone=GONE)
    return f"{head}{_function(f'{pieces.before}{request}{rest}')}{ENDED}{again}"


def program_of(text: str) -> str:
    """Return a script without its introduction, the title and the sentence: scripts with one program do the same."""
    _, _, rest = text.partition('"""')
    _, _, program = rest.partition('"""')
    return program or text


def model_of(script: str) -> str | None:
    """Return the model that a script contains, in ONNX's text syntax; None if it does not contain the text."""
    found = _MODEL.search(script)
    return str(ast.literal_eval(found[1])).strip() if found else None


def said(sentence: str) -> str:
    """Return the line of a script that quotes a sentence."""
    return f"The text: {_safe(quoted(sentence))}"


def of_gap(later: Case, earlier: Case, backend: str, hello: Mapping[str, Any], title: str) -> str:
    """Return the script of a version gap. It runs a call in the earlier version, then in the later one.

    Args:
        later: the case in the version without support.
        earlier: the same case in an earlier version. Only the models of the two differ.
        backend: the name by which the user called the backend.
        hello: the hello of its adapter.
        title: the title of the finding.
    """
    pieces = script.parts(later)
    call = textwrap.indent(script.call(backend, hello, pieces.way).rstrip(), "    ", bool)
    request = CALL.format(call=call, status=102)
    head = _head(title, [f"The two versions: {later.operator} and {earlier.operator}"], backend, hello)
    other = "\n    ".join(script.model_lines(earlier.model, script.Model.of(earlier.model)))
    choice = f'if sys.argv[1:] == ["earlier"]:\n    {other}\n'
    body = f"{pieces.before}{choice}{request}{script.after(hello, pieces, tool_code.NOTHING, ENDS)}"
    return f"{head}{_function(body)}{ENDED}{OF_GAP.format(seconds=SECONDS, there=THERE)}"


def _function(code: str) -> str:
    """Return code as the body of the function `reproduce`. Strings of several lines and comments are not indented."""
    inside: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type == tokenize.STRING:
            inside.update(range(token.start[0] + 1, token.end[0] + 1))
    lines = [
        text if number in inside or not text.strip() or text.startswith("#") else f"    {text}"
        for number, text in enumerate(code.splitlines(keepends=True), 1)
    ]
    return "def reproduce():\n" + "".join(lines).rstrip() + "\n"


def _head(title: str, sentences: Sequence[str], backend: str, hello: Mapping[str, Any]) -> str:
    return "\n".join(
        [
            f'"""{_safe(title)}', "", *sentences,
            "Exit status: 1 while the fault is there, 0 when it is gone, 2 if neither can be observed.",
            script.needs(backend, hello), '"""', "", "import os", "import subprocess", "import sys", "", "", "",
        ]
    )  # fmt: skip


def shows(said: str, kind: Verdict) -> bool:
    """Return whether a script with this output has shown a fault of a kind."""
    last = re.findall(rf"^{re.escape(THERE)}(\w+)", said, re.MULTILINE)
    words = {WORDS.get(kind, "wrong")}
    if kind is Verdict.INVALID_MODEL:  # Wrong values may show a violation that the model checker does not detect.
        words.add("wrong")
    return bool(last) and last[-1] in words


def _safe(value: object) -> str:
    return line(clean(value, 500), 500).replace("\\", "\\\\").replace('"""', "'''")
