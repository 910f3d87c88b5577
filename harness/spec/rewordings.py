"""Since which release of onnx a sentence stands in the text of an operator version: ONNX rewords old versions in place.

A runtime that was built before a rewording met another text. The data is `generated_cases/rewordings.toml`, which
`harness.generation.rewordings` writes.
"""

from __future__ import annotations

import functools
import re
import tomllib
from typing import TYPE_CHECKING

from harness.spec.folders import GENERATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NAME = "rewordings.toml"
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")

Release = tuple[int, ...]


def release(text: str) -> Release:
    """Return a version of onnx as numbers without trailing zeros; empty where the text is none."""
    match = _VERSION.match(text)
    numbers = [int(part) for part in match.groups() if part] if match else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


@functools.cache
def read() -> Mapping[str, Mapping[str, str]]:
    """Return for each operator version its reworded sentences, and the release since which each reads so.

    Empty where there is no such file.
    """
    for folder in GENERATED:
        try:
            return tomllib.loads((folder / NAME).read_text("utf-8"))
        except (OSError, ValueError):
            continue
    return {}


def latest(version: str, sentences: Iterable[str]) -> str:
    """Return the latest release that reworded one of the sentences of an operator version; empty where none did."""
    known = read().get(version, {})
    return max((known[text] for text in sentences if text in known), key=release, default="")
