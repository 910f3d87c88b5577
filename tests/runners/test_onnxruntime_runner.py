# SPDX-License-Identifier: Apache-2.0
"""The runner of ONNX Runtime in C has the verdicts of the adapter in Python, with and without an execution provider.

The tests need the C header of ONNX Runtime, which no wheel contains: set ONNXRUNTIME_INCLUDE to its folder.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from commands import command
from compiled import STRICT, C, c_program
from onnx_conformance.backends import protocol
from onnx_conformance.environments import python_environment
from onnx_conformance.environments.kept_environment import NoEnvironmentError
from onnx_conformance.results.stream import Run

pytestmark = [pytest.mark.usefixtures("ends"), pytest.mark.xdist_group("runners")]

SOURCE = "onnxruntime_runner.c"
HEADER = "onnxruntime_c_api.h"
FOLDERS = ("/usr/include/onnxruntime", "/usr/include/onnxruntime/core/session", "/usr/local/include/onnxruntime")
"""Where packages of systems install the header."""
NO_TYPE = "no way to pass this type"
"""The only reason for which the verdicts of two interfaces of one library may differ."""
NO_FALLBACK = "the execution provider does not take every node"
SAMPLE = (
    "Split/18", "SplitToSequence/24", "Loop/25", "Unique/11", "QuantizeLinear/25", "StringConcat/20", "Optional/15",
    "SequenceErase/11", "ai.onnx.ml/ZipMap/1", "ai.onnx.ml/DictVectorizer/1", "Conv/22", "Bernoulli/22", "GRU/22",
)  # fmt: skip
"""Operator versions whose cases have every kind of value, and faults of ONNX Runtime."""


@pytest.fixture(scope="module")
def library() -> Path:
    """Return the library in the installed wheel, which the adapter in Python uses."""
    spec = importlib.util.find_spec("onnxruntime")
    if spec is None or spec.origin is None:
        pytest.skip("onnxruntime is not installed")
    found = sorted(Path(spec.origin).parent.glob("capi/libonnxruntime.so.*"))
    if not found:
        pytest.skip("the installed onnxruntime has no shared library")
    return found[0]


@pytest.fixture(scope="module")
def runner() -> Path:
    folders = [os.environ.get("ONNXRUNTIME_INCLUDE", ""), *FOLDERS]
    folder = next((folder for folder in folders if folder and Path(folder, HEADER).is_file()), None)
    if folder is None:
        pytest.skip(f"there is no {HEADER}; ONNXRUNTIME_INCLUDE can name its folder")
    return c_program(SOURCE, "-ldl", flags=(*STRICT, "-isystem", folder))


def compared(tmp_path: Path, python: str, program: str, *words: str) -> tuple[list[Any], list[Any]]:
    """Return the pairs of results of an adapter in Python and of a program that are equal, and those that are not."""
    results = tmp_path / "results.ndjson"
    backends = ("--backend", python, "--backend", f"cmd:{program}")
    done = command("run", *words, "--core", *backends, "--results", results, "--table", "none", "--jobs", "2")
    assert done.status in {0, 1}, done.text
    found: dict[str, dict[str, Any]] = {}
    for item in Run(results).results():
        found.setdefault(item.case, {})[item.backend] = item
    pairs = [(each[python], each[f"cmd:{program}"]) for each in found.values() if len(each) == 2]
    alone = [each for each in found.values() if len(each) == 1]
    assert len(alone) <= len(pairs) / 50, "older versions, of which one runs more if it lacks a newer one"
    equal = [one.verdict == other.verdict for one, other in pairs]
    split = [[pair for pair, same in zip(pairs, equal, strict=True) if same == wanted] for wanted in (True, False)]
    return split[0], split[1]


def reasons(pair: tuple[Any, Any]) -> set[str]:
    """Return the missing features of the unsupported results of a pair."""
    return {item.message.partition(":")[0] for item in pair if item.verdict == "unsupported"}


@pytest.mark.slow
def test_the_verdicts_are_those_of_the_adapter_in_python(runner: Path, library: Path, tmp_path: Path) -> None:
    words = [word for op in SAMPLE for word in ("--op", op)]
    equal, different = compared(tmp_path, "onnxruntime", f"{runner} --library {library}", *words, "--sample", "1/6")
    assert len(equal) >= 100
    verdicts = {str(one.verdict) for one, _ in equal}
    assert verdicts >= {"pass", "unsupported", "unspecified", "wrong_value", "refused"}, verdicts
    assert [pair for pair in different if NO_TYPE not in reasons(pair)] == []
    phases = {(one.error, other.error) for one, other in equal if one.verdict == "refused"}
    assert phases
    assert all(one == other for one, other in phases), phases
    assert {one.form for one, _ in equal} >= {"twice", "external_data", "plain"}


@pytest.mark.slow
def test_the_end_of_a_pattern_may_precede_a_line_end(runner: Path, library: Path, tmp_path: Path) -> None:
    """The message of this error ends with one. In a pattern of Python, $ also matches in front of it."""
    case = "ai.onnx/ConstantOfShape/25/dtypes_zero/float8e4m3fn"
    equal, different = compared(tmp_path, "onnxruntime", f"{runner} --library {library}", "--case", case)
    assert (len(equal), different) == (1, [])
    assert reasons(equal[0]) == {"no kernel"}


@pytest.mark.slow
def test_the_verdicts_of_a_plugin_are_those_of_the_adapter_in_python(
    runner: Path, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = python_environment.provider("ep=nxrt")
    assert needed is not None
    try:
        python = python_environment.python_of(needed)
    except NoEnvironmentError as error:
        pytest.skip(f"the environment of the plugin cannot be made: {error}")
    asked = "import nxrt_ep_cpu; print(nxrt_ep_cpu.get_library_path())"
    plugin = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "my_ep.toml").write_text(f'[provider]\nnames = ["cpu_ep"]\nlibrary = "{plugin}"\n')
    monkeypatch.chdir(tmp_path)
    program = f"{runner} --library {library} --ep-library {plugin} --ep-name cpu_ep --ep-device cpu"
    ops = ("--op", "Add/14", "--op", "Relu/14", "--op", "Split/18")
    equal, different = compared(tmp_path, "onnxruntime[ep=./my_ep.toml]", program, *ops, "--sample", "1/2")
    assert len(equal) >= 60
    assert {str(one.verdict) for one, _ in equal} >= {"pass", "unsupported"}
    assert [pair for pair in different if not reasons(pair) & {NO_TYPE, NO_FALLBACK}] == []
    assert "cpu_ep" in json.dumps(Run(tmp_path / "results.ndjson").header["backends"][f"cmd:{program}"])


# The start


def said(runner: Path, *words: str | Path, **environment: str) -> tuple[int, dict[str, Any], str]:
    """Return the status, the first message and the output to standard error of the runner."""
    done = subprocess.run([runner, *words], input=b"", capture_output=True, timeout=30, check=False, env=environment)
    return done.returncode, protocol.parse_header(done.stdout) if done.stdout else {}, done.stderr.decode()


def test_the_hello_describes_the_library(runner: Path, library: Path) -> None:
    status, hello, _ = said(runner, "--library", library)
    assert status == 0
    assert hello["runtime"] == "onnxruntime"
    assert f"libonnxruntime.so.{hello['version']}" == library.name
    assert hello["opset"] >= 24
    assert {"float", "string", "int4", "bfloat16"} <= set(hello["types"])
    assert not {"complex64", "float6e2m3"} & set(hello["types"])


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--library", "/missing/lib.so"), "/missing/lib.so"),
        (("--library", "libz.so.1"), "OrtGetApiBase"),
        (("--level", "most"), "--level"),
        (("--ep-library", "/missing/ep.so", "--ep-name", "mine"), "/missing/ep.so"),
    ],
)
def test_a_runtime_that_does_not_start_is_reported(
    runner: Path, library: Path, words: tuple[str, ...], named: str
) -> None:
    status, message, _ = said(runner, "--library", library, *words)
    assert (status, message["kind"]) == (3, "failed")
    assert named in message["message"]


def test_a_missing_locale_is_reported(runner: Path, library: Path) -> None:
    status, message, _ = said(runner, "--library", library, ONNX_CONFORMANCE_LOCALE="xx_XX.UTF-8")
    assert (status, message["kind"]) == (3, "failed")
    assert "xx_XX.UTF-8" in message["message"]
    assert said(runner, "--library", library, ONNX_CONFORMANCE_LOCALE="C")[1]["kind"] == "hello"


@pytest.mark.parametrize("words", [("--nope", "1"), ("--level",), ("--ep-name", "mine"), ("--ep-option", "no value")])
def test_wrong_options_are_refused(runner: Path, words: tuple[str, ...]) -> None:
    status, message, err = said(runner, *words)
    assert (status, message) == (2, {})
    assert "onnxruntime_runner" in err


def test_a_malformed_request_ends_the_runner(runner: Path, library: Path) -> None:
    done = subprocess.run([runner, "--library", library], input=b"{}\n", capture_output=True, timeout=30, check=False)
    assert done.returncode == 2
    assert done.stderr.decode() == 'onnx_conformance: the header of a request has no field "kind"; expected a string\n'


# The same facts in two languages


def rows(text: str, name: str) -> list[tuple[str, str, str]]:
    """Return the rows of a table of C, whose patterns are POSIX's."""
    table = text.partition(f"{name}[][3] = {{")[2].partition("};")[0]
    strings = r'((?:"(?:[^"\\]|\\.)*"\s*)+|NOT_\w+)'
    found = re.findall(rf"\{{{strings},\s*{strings},\s*{strings}\}}", table)
    names = dict(re.findall(r"#define (NOT_\w+) \"(\w+)\"", text))
    assert found
    return [tuple(names.get(word) or joined(word) for word in row) for row in found]  # type: ignore[misc]


def joined(text: str) -> str:
    """Return the value of adjacent strings of C."""
    return "".join(json.loads(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', text))


def test_the_errors_of_missing_support_are_those_of_the_adapter_in_python() -> None:
    pytest.importorskip("onnxruntime")
    from onnx_conformance.backends import onnxruntime  # noqa: PLC0415 - it needs the runtime

    text = (C / SOURCE).read_text(encoding="utf-8")
    posix = [
        (name, pattern.replace(r"\d", "[0-9]").replace(r"\w", "[A-Za-z0-9_]"), why)
        for name, pattern, why in (*onnxruntime.OPT_OUTS, *onnxruntime.OPT_OUTS_OF_PROVIDERS)
    ]
    assert sorted(rows(text, "OPT_OUTS") + rows(text, "OPT_OUTS_OF_PROVIDERS")) == sorted(posix)


def test_a_row_that_differs_is_noticed() -> None:
    table = 'OPT_OUTS[][3] = {\n    {"Fail", "a|b: [0-9]+$", "no kernel"},\n    {NOT_X, "",\n     "x" "y"}};'
    assert rows(f'#define NOT_X "NotX"\n{table}', "OPT_OUTS") == [
        ("Fail", "a|b: [0-9]+$", "no kernel"),
        ("NotX", "", "xy"),
    ]
