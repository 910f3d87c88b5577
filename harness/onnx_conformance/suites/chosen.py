# SPDX-License-Identifier: Apache-2.0
"""The selection that options name; see `base.selection_options` for the table of options."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.base.selection_options import OPTIONS
from onnx_conformance.declare.type import Type, TypeTextError
from onnx_conformance.specification.element_types import ELEMENT_TYPES, ElementTypeError, element_type
from onnx_conformance.suites.claims import read as read_claims
from onnx_conformance.suites.narrowing import Model, Narrowing
from onnx_conformance.suites.operator_versions import Opsets
from onnx_conformance.suites.selection import Selection, SelectionError

if TYPE_CHECKING:
    from onnx_conformance.base.selection_options import Choice

NEWEST = "newest"
_KEYS = {row.key for row in OPTIONS}


def selection_of(
    choice: Choice, *, shard: tuple[int, int] | None = None, sample: int = 1, max_elements: int | None = None
) -> Selection:
    """Return the selection that options name.

    Args:
        choice: the values of the options as a user writes them.
        shard: as in Selection.
        sample: as in Selection.
        max_elements: as in Selection.

    Raises:
        HarnessError: a value cannot be read.
        TypeError: there is no such option.
    """
    if unknown := sorted(set(choice) - _KEYS):
        raise TypeError(f"there is no option {unknown[0]!r} that selects cases; there are {', '.join(sorted(_KEYS))}")
    model, claims = choice.get("model"), choice.get("claims")
    return Selection(
        ops=_several(choice.get("op")),
        cases=_several(choice.get("case")),
        tags=_several(choice.get("tag")),
        forms=_several(choice.get("form")),
        shard=shard,
        sample=sample,
        core=bool(choice.get("core")),
        max_elements=max_elements,
        opsets=_opsets(choice.get("opsets")),
        newest=_newest(choice.get("version")),
        narrowing=Narrowing(
            types=_types(choice.get("type")),
            containers=not choice.get("no_containers"),
            model=None if model is None else Model.read(Path(model)),
            claims=None if claims is None else read_claims(Path(claims)),
        ),
        at_most=_number(choice.get("at_most")),
    )


def _several(globs: object) -> tuple[str, ...]:
    if globs is None:
        return ()
    return (globs,) if isinstance(globs, str) else tuple(map(str, globs))  # type: ignore[call-overload]


def _opsets(text: str | None) -> Opsets | None:
    try:
        return None if text is None else Opsets.parse(text)
    except ValueError:
        raise SelectionError(
            "not-opsets", f"--opsets {text!r} is not a range of opsets; write 27..28, 28, ..13 or 25.."
        ) from None


def _newest(text: str | None) -> bool:
    if text in {None, NEWEST}:
        return text is not None
    raise SelectionError(
        "not-newest",
        f"--version {text!r} is not a choice of versions; write --version newest, --op 'Split/18' for one version of "
        "an operator, or --opsets ..18 --version newest for the versions in force in opset 18",
    )


def _types(text: str | None) -> tuple[str, ...]:
    """Return the names of element types in the order of ONNX."""
    if text is None:
        return ()
    wanted = {element_type_called(word.strip(), "--type ") for word in text.split(",")}
    return tuple(row.name for row in ELEMENT_TYPES if row.name in wanted)


def element_type_called(word: str, option: str = "") -> str:
    """Return the element type that a user calls float or tensor(float).

    Args:
        word: the name.
        option: the option before it, for the message.

    Raises:
        SelectionError: there is no such type. The message suggests similar ones.
    """
    names = [row.name for row in ELEMENT_TYPES]
    try:
        parsed = Type.parse_short(word)
    except TypeTextError:
        parsed = None
    if parsed is not None and parsed.is_tensor and parsed.element in names:
        return parsed.element
    near = _of_numpy(word) or difflib.get_close_matches(word.lower(), names, 2, 0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else f"ONNX has {', '.join(names)}"
    raise SelectionError("not-an-element-type", f"{option}{word!r} is not an element type of ONNX; {hint}")


def _of_numpy(word: str) -> list[str]:
    """Return the element type that numpy calls by a name: float32 is float."""
    try:
        return [element_type(np.dtype(word)).name]
    except (TypeError, ValueError, ElementTypeError):
        return []


def _number(text: int | str | None) -> int | None:
    if text is None:
        return None
    if str(text).isdecimal() and len(str(text)) < 10 and int(text) > 0:  # noqa: PLR2004 - digits of a large number
        return int(text)
    raise SelectionError("not-a-number-of-cases", f"--at-most {text!r} is not a number of cases; write 1 or more")
