# SPDX-License-Identifier: Apache-2.0
"""The expected values of a case as rows of text; each row has a name and a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_conformance.case.value_text import one

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_conformance.base.values import Drawn, Value
    from onnx_conformance.case.case import Case


def expected_rows(case: Case, write: Callable[[Value | Drawn], str] = one) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each output, followed by the other values that it may have.

    Args:
        case: the case. It has no rows if it expects no values.
        write: formats a value.
    """
    for index, (name, value) in enumerate(zip(case.outputs, case.expected or (), strict=False)):
        yield name, write(value)
        several = case.allowance.any_of[index] if case.allowance.any_of else None
        if several is not None:
            label = f"or, element by element, {name}" if several.elementwise else f"or {name}"
            yield from ((label, write(other)) for other in several.values[1:])
