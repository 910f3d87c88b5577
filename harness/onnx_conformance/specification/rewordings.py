# SPDX-License-Identifier: Apache-2.0
"""Sentences that ONNX reworded in place in old operator versions, with the release of onnx that introduced them.

A runtime that was built before a rewording followed another text. The data is in `generated_cases/rewordings.toml`,
which `tools.rewordings` writes.
"""

from __future__ import annotations

import functools
import html
import re
import tomllib
from typing import TYPE_CHECKING

from onnx_conformance.base.package import GENERATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx_conformance.declare import Clause
    from onnx_conformance.specification.schema import OperatorVersion

NAME = "rewordings.toml"
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")

Release = tuple[int, ...]


def release(text: str) -> Release:
    """Return a version of onnx as numbers without trailing zeros; empty if the text is not a version."""
    match = _VERSION.match(text)
    numbers = [int(part) for part in match.groups() if part] if match else []
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)


@functools.cache
def read() -> Mapping[str, Mapping[str, str]]:
    """Return the reworded sentences of each operator version, with the release that introduced the present wording.

    The result is empty if there is no such file.
    """
    try:
        return tomllib.loads((GENERATED / NAME).read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def unread(version: OperatorVersion, clauses: Iterable[Clause]) -> Clause | None:
    """Return a clause that the text of a version does not contain and that is not a known rewording, or None.

    If there is one, the installed onnx is newer than the operator file and has another text, whose meaning has not been
    reviewed yet.
    """
    return next((item for item in clauses if item.operator and not _is_read(version, item.text)), None)


def _is_read(version: OperatorVersion, text: str) -> bool:
    if text in version.text or text in read().get(str(version), {}):
        return True
    return plain(text) in plain(version.text)


_MARKUP = re.compile(r"</?(a|b|br|code|dd|dl|dt|em|h\d|i|li|ol|p|sub|sup|table|td|th|tr|tt|ul)\b[^<>]{0,80}>")
_PUNCTUATION = re.compile(r"[\s`'\"*_\\.,;:!()\[\]{}|$]+")


def plain(text: str) -> str:
    """Return a text in lower case, without markup, punctuation and white space, to ignore cosmetic differences."""
    return _PUNCTUATION.sub("", html.unescape(_MARKUP.sub(" ", text))).lower()


def latest(version: str, sentences: Iterable[str]) -> str:
    """Return the latest release that reworded one of the sentences of an operator version; empty if none did."""
    known = read().get(version, {})
    return max((known[text] for text in sentences if text in known), key=release, default="")
