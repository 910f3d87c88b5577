# SPDX-License-Identifier: Apache-2.0
"""Every error, and every note, has an id that names one problem."""

from __future__ import annotations

import ast
import functools
import pickle
import re
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError, Note
from paths import ROOT
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATTERN = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
SENTENCES = 68
"""How many assertions may compare the sentence of an error; this number only falls. `refuses` compares the id."""
SLACK = 5
"""How far the count may fall before the number must be lowered, too."""


def name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


@functools.cache
def modules() -> dict[Path, ast.Module]:
    return {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for folder in (ROOT / "harness", ROOT / "tools")
        for path in sorted(folder.rglob("*.py"))
    }


def error_classes() -> set[str]:
    """Return the names of the classes that derive from HarnessError."""
    bases = {
        node.name: {name_of(base) for base in node.bases}
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found = {"HarnessError"}
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return found


def ids() -> Iterator[tuple[str, Path]]:
    classes = error_classes() | {Note.__name__}
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and name_of(node.func) in classes:
                for argument in node.args:
                    if isinstance(argument, ast.Constant) and PATTERN.fullmatch(str(argument.value)):
                        yield str(argument.value), path


@pytest.mark.slow
def test_an_id_names_the_problems_of_one_module() -> None:
    places = defaultdict(set)
    for name, path in ids():
        places[name].add(path)
    assert len(places) > 250, len(places)
    assert not [f"{name}: {sorted(map(str, paths))}" for name, paths in places.items() if len(paths) > 1]


@pytest.mark.slow
def test_every_error_of_the_harness_has_a_literal_id() -> None:
    classes = error_classes()
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and name_of(node.exc.func) in classes:
                forwarded = any(isinstance(one, ast.Attribute) and one.attr == "id" for one in node.exc.args)
                literal = any(
                    isinstance(one, ast.Constant) and PATTERN.fullmatch(str(one.value)) for one in node.exc.args
                )
                assert literal or forwarded, f"{path}: {ast.unparse(node.exc)}"


@pytest.mark.slow
def test_every_note_has_an_id() -> None:
    """A note is an object with a literal id, or takes that of another note; no text begins as one."""
    found = 0
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and name_of(node.func) == Note.__name__:
                id_ = node.args[0]
                literal = isinstance(id_, ast.Constant) and PATTERN.fullmatch(str(id_.value))
                assert literal or (isinstance(id_, ast.Attribute) and id_.attr == "id"), f"{path}: {ast.unparse(node)}"
                found += 1
            elif isinstance(node, ast.Call) and name_of(node.func) in {"warn", "note"} and path.name != "errors.py":
                assert "'note: " not in ast.unparse(node), f"{path}: {ast.unparse(node)}"
    assert found > 10


def test_a_note_is_printed_with_its_id(capsys: pytest.CaptureFixture[str]) -> None:
    printing.warn(Note("worker-lost", "a worker is gone"))
    assert capsys.readouterr().err == "onnx-conformance: note: a worker is gone [worker-lost]\n"


def test_an_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(HarnessError("a-problem", "the text")))
    assert (error.id, str(error), error.labelled) == ("a-problem", "the text", "the text [a-problem]")


def test_the_command_prints_the_id() -> None:
    done = command("list", "--op", "Splat")
    assert (done.status, done.err.rstrip().endswith("[operator-not-in-suite]")) == (2, True), done.text


def test_another_id_is_noticed() -> None:
    with pytest.raises(AssertionError), refuses("another-problem"):
        raise HarnessError("a-problem", "the text")
    with pytest.raises(AssertionError), refuses("a-problem", "another text"):
        raise HarnessError("a-problem", "the text")


def sentences(path: Path) -> int:
    """Return how many assertions of a module compare several words with the message of an error."""
    count = 0
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and name_of(node.func) == "raises":
            count += any(item.arg == "match" and " " in ast.unparse(item.value) for item in node.keywords)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
            words, text = ast.unparse(node.left), ast.unparse(node.comparators[0])
            count += words.count(" ") > 1 and text.endswith((".err", ".stderr"))
    return count


@pytest.mark.slow
def test_tests_compare_ids() -> None:
    counts = {path: sentences(path) for path in sorted((ROOT / "tests").rglob("test_*.py"))}
    total = sum(counts.values())
    most = "\n".join(f"{count:4} {path}" for path, count in sorted(counts.items(), key=lambda item: -item[1])[:10])
    assert total <= SENTENCES, f"{total} assertions compare the sentence of an error; use refusals.refuses\n{most}"
    assert total >= SENTENCES - SLACK, f"lower SENTENCES to {total}"
