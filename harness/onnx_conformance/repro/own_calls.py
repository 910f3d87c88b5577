# SPDX-License-Identifier: Apache-2.0
"""Whether the code that calls a runtime is that of this project's adapter, or only a text in a results file.

Anybody may have written a results file, and a page made of it offers its code to copy. The code of an adapter in
`backends/` is known: it is one of the texts in the adapter's file, in which a format field may be a few plain words.
"""

from __future__ import annotations

import ast
import functools
import re
from typing import TYPE_CHECKING, Any

from onnx_conformance.base import under_test
from onnx_conformance.base.package import BACKENDS

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIELD = re.compile(r"\\\{\w+\\\}")
"""A format field, in a text that is escaped for a pattern."""
_PLAIN = r"""[\w "',.=:\[\]-]*"""
"""Text that may replace a field: it calls nothing and begins no line."""


@functools.cache
def _patterns(name: str) -> tuple[re.Pattern[str], ...]:
    try:
        tree = ast.parse((BACKENDS / f"{name}.py").read_text(encoding="utf-8"))
    except (OSError, ValueError, SyntaxError):
        return ()
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    # Two braces are one in a template, and stay two in a text that is not formatted.
    escaped = {re.escape(form) for text in texts if "\n" in text for form in (text, _unbraced(text))}
    return tuple(re.compile(_FIELD.sub(lambda _: _PLAIN, text)) for text in sorted(escaped))


def _unbraced(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")


def is_own(backend: str, hello: Mapping[str, Any], field: str) -> bool:
    """Return whether the code in a field of a hello is in the file of the backend's adapter in this project.

    Args:
        backend: the name by which the user called the backend.
        hello: its description, of a results file.
        field: the field with the code, such as `repro`.
    """
    text = hello.get(field)
    if not isinstance(text, str) or under_test.is_foreign(backend):
        return False
    return any(pattern.fullmatch(text) for pattern in _patterns(under_test.stem(backend)))
