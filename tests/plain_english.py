# SPDX-License-Identifier: Apache-2.0
"""Counts the words and constructions that make the project's texts hard to read, by kind of text.

    python tests/plain_english.py            # the counts
    python tests/plain_english.py notes what # where they are: a kind of text, and a pattern

The patterns are habits, not errors: a text may need one of them. So `test_plain_english.py` compares the counts with
allowances, which a change may lower but not raise.
"""

from __future__ import annotations

import ast
import functools
import io
import re
import sys
import tokenize
from collections import Counter
from typing import TYPE_CHECKING

from tabulate import tabulate

from paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATTERNS = {
    "what": r"\b[Ww]hat\b(?![^.?!]*\?)",
    "gives": r"\b(?:gives?|given|gave|giving)\b",
    "says": r"\b(?:says?|said|tells?|told)\b",
    "came": r"\b(?:came|comes?|coming)\b",
    "beside": r"\b(?:beside|besides|apart|anew|alike)\b",
    "stands": r"\b(?:stands?|stood|lies|lying|lay|holds|held)\b",
    "none": r"\b(?:is|are|was|were) none\b|\b[Nn]obody\b|\bto be had\b",
    "own": r"\bof before\b|\bof (?:its|their|his|your|our) own\b|\bby (?:itself|themselves)\b",
    "where": r"(?:^|[.:;]\s+|\n\n)Where\b[^.?]*,",
    "fronted": r"(?:^|[.:;]\s+)Of (?!course)",
    "inverted": r"\bof which\b|\bbut for\b|\b[Nn]or\b|\bas it is\b|\bto the word\b",
}
"""By name, a construction that shared readers had to read twice."""
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "backends/README.md",
    "tests/README.md",
    "docs/**/*.md",
)
SOURCES = ("harness/onnx_conformance/**/*.py", "backends/*.py", "tools/**/*.py")
_QUOTED = re.compile(r"«[^»]*»|`[^`]*`")
_GENERATED = re.compile(r"^<!-- generated: .*?^<!-- end of generated -->$", re.DOTALL | re.MULTILINE)
_CODE_BLOCK = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


def files(*globs: str) -> list[Path]:
    """Return the files of globs, in order."""
    return sorted(path for glob in globs for path in ROOT.glob(glob))


def documents() -> Iterator[tuple[Path, str]]:
    """Yield the prose of each document: no code, no quoted sentences of the specification, and no texts of the code."""
    for path in files(*DOCUMENTS):
        yield path, _QUOTED.sub("", _CODE_BLOCK.sub("", _GENERATED.sub("", path.read_text("utf-8"))))


@functools.cache
def _sources() -> tuple[tuple[Path, str, ast.Module], ...]:
    read = ((path, path.read_text("utf-8")) for path in files(*SOURCES))
    return tuple((path, text, ast.parse(text)) for path, text in read)


def docstrings() -> Iterator[tuple[Path, str]]:
    """Yield the docstrings of modules, classes and functions, and the texts below constants."""
    for path, _, tree in _sources():
        texts = [node.value.value for node in ast.walk(tree) if _is_text(node)]
        yield path, _QUOTED.sub("", "\n\n".join(texts))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def comments() -> Iterator[tuple[Path, str]]:
    """Yield the comments of each source file."""
    for path, text, _ in _sources():
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        yield path, "\n\n".join(item.string for item in tokens if item.type == tokenize.COMMENT)


def notes() -> Iterator[tuple[Path, str]]:
    """Yield the notes and reasons of operator files, which reports print."""
    for path, _, tree in _sources():
        if {"operators", "operators_microsoft", "families"} & set(path.parts):
            texts = [text for node in ast.walk(tree) if isinstance(node, ast.Call) for text in _reasons(node)]
            yield path, _QUOTED.sub("", "\n\n".join(texts))


def _reasons(call: ast.Call) -> Iterator[str]:
    """Yield the texts of a call that are our words: those of `note=`, of tolerances and of disputes."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    values = [item.value for item in call.keywords if item.arg in {"note", "reason", "why"}]
    if name in {"ulp", "measured", "bounded", "Tolerance", "dispute", "within"}:
        values += call.args
    yield from (text for value in values for text in _texts(value))


def messages() -> Iterator[tuple[Path, str]]:
    """Yield the texts that commands print: every string with a blank, outside operators, that is not a docstring."""
    for path, _, tree in _sources():
        if {"operators", "operators_microsoft", "families", "rewrites"} & set(path.parts):
            continue
        skipped = {id(node.value) for node in ast.walk(tree) if _is_text(node)}
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped
        ]
        yield path, _QUOTED.sub("", "\n\n".join(text for text in texts if " " in text))


def _texts(node: ast.AST) -> Iterator[str]:
    yield from (item.value for item in ast.walk(node) if isinstance(item, ast.Constant) and isinstance(item.value, str))


KINDS = {"documents": documents, "notes": notes, "messages": messages, "docstrings": docstrings, "comments": comments}
"""By name, a kind of text."""


@functools.cache
def counts(kind: str) -> Counter[str]:
    """Return how often each pattern occurs in the texts of a kind."""
    found: Counter[str] = Counter()
    for _, text in KINDS[kind]():
        for name, pattern in PATTERNS.items():
            found[name] += len(re.findall(pattern, text, re.MULTILINE))
    return found


def places(kind: str, pattern: str) -> Iterator[str]:
    """Yield where a pattern occurs: the file, and the words around it."""
    for path, text in KINDS[kind]():
        for match in re.finditer(PATTERNS[pattern], text, re.MULTILINE):
            around = " ".join(text[max(0, match.start() - 50) : match.end() + 50].split())
            yield f"{path.relative_to(ROOT)}: ...{around}..."


if __name__ == "__main__":
    if sys.argv[1:]:
        print("\n".join(places(*sys.argv[1:3])))
    else:
        rows = [[kind, *(counts(kind)[name] for name in PATTERNS)] for kind in KINDS]
        print(tabulate(rows, ["texts", *PATTERNS]))
