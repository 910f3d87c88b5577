# SPDX-License-Identifier: Apache-2.0
"""Links to the text of an operator in onnx's documentation."""

from __future__ import annotations

import re

PAGES = "https://onnx.ai/onnx/operators/"
"""The list of all operators."""
_PLAIN = re.compile(r"[A-Za-z_]\w{0,100}")


def page(operator: str) -> str:
    """Return the address of the page of an operator version such as ai.onnx/Split/18; of the list, if it is unknown."""
    domain, _, name = (operator.rpartition("/")[0] or operator).rpartition("/")
    parts = domain.split(".")
    if domain not in {"ai.onnx", ""} and not (parts[:2] == ["ai", "onnx"] and all(map(_PLAIN.fullmatch, parts))):
        return PAGES
    if not _PLAIN.fullmatch(name):
        return PAGES
    return f"{PAGES}onnx_{'' if domain in {'ai.onnx', ''} else ''.join(parts)}_{name}.html"


def place(operator: str) -> str:
    """Return the address of a version on its operator's page; empty if the page has none."""
    domain, _, name = operator.rpartition("/")[0].partition("/")
    version = operator.rpartition("/")[2]
    address = page(operator)
    if address == PAGES or not domain or not name or not version.isdigit():
        return ""
    label = "" if domain == "ai.onnx" else domain.replace(".", "-")
    return f"{address}#l-onnx-op{label}-{name.lower()}-{version}"
