# SPDX-License-Identifier: Apache-2.0
"""The parts of a backend's name, which one module alone takes apart, and what a backend is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onnx_conformance.base import under_test


@pytest.mark.parametrize(
    ("name", "stem", "option", "version", "unversioned"),
    [
        ("onnxruntime", "onnxruntime", "", "", "onnxruntime"),
        ("onnxruntime==1.20.1", "onnxruntime", "", "1.20.1", "onnxruntime"),
        ("onnx_checker[full]", "onnx_checker", "full", "", "onnx_checker[full]"),
        ("tool[18]==1.20.1", "tool", "18", "1.20.1", "tool[18]"),
        ("tool[a==b]==1", "tool", "a==b", "1", "tool[a==b]"),
        ("./my[1]/adapter.py", "./my[1]/adapter.py", "", "", "./my[1]/adapter.py"),
        ("cmd:./run [x]==1", "cmd:./run [x]==1", "", "", "cmd:./run [x]==1"),
        ("tool[]", "tool[]", "", "", "tool[]"),
    ],
)
def test_the_parts_of_a_name(name: str, stem: str, option: str, version: str, unversioned: str) -> None:
    parts = under_test.parts(name)
    assert (parts.stem, parts.option, parts.version, parts.unversioned) == (stem, option, version, unversioned)
    assert (under_test.stem(name), under_test.unversioned(name)) == (stem, unversioned)


def test_no_other_module_takes_a_name_apart() -> None:
    root = Path(under_test.__file__).parents[1]
    files = [*root.rglob("*.py"), *root.rglob("*.js")]
    found = {
        path.name
        for path in files
        if re.search(r"""(r?partition|split)\(["']==["']""", path.read_text(encoding="utf-8"))
    }
    assert not found


def test_a_hello_that_says_nothing_is_of_a_runtime() -> None:
    assert under_test.subject({}) is under_test.Subject.RUNTIME
    assert under_test.subject({"subject": "checker"}) is under_test.Subject.CHECKER


@pytest.mark.parametrize(
    ("hellos", "expected"),
    [
        ({"cmd:a": {"runtime": "newrt"}}, {"cmd:a": "newrt"}),
        ({"cmd:a": {"name": "newrt"}}, {"cmd:a": "newrt"}),
        ({"cmd:a": {}}, {"cmd:a": "cmd:a"}),
        ({"cmd:a": {"runtime": "newrt"}, "cmd:b": {"runtime": "newrt"}}, {"cmd:a": "cmd:a", "cmd:b": "cmd:b"}),
        ({"cmd:a": {"runtime": "mine"}, "mine": {}}, {"cmd:a": "cmd:a", "mine": "mine"}),
        ({"cmd:a": {"runtime": "onnxruntime"}}, {"cmd:a": "cmd:a"}),
        ({"cmd:a": {"runtime": "oracle"}}, {"cmd:a": "cmd:a"}),
        ({"./mine.py": {"runtime": "newrt"}}, {"./mine.py": "./mine.py"}),
    ],
)
def test_a_command_is_called_by_its_hello_unless_it_takes_the_name_of_another(
    hellos: dict[str, dict[str, str]], expected: dict[str, str]
) -> None:
    assert under_test.labels(hellos) == expected
