"""`case.json` and `data.json`: what a stored case says beside its model and its tensors."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.protocol import ElementTypeError, clip
from harness.case import properties
from harness.case.case import PLAIN, Allowance, Case, Outcome
from harness.declare import Drawn
from harness.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LAYOUT_RTOL, LAYOUT_ATOL = 1e-3, 1e-7
"""What onnx's own runner allows where data.json is silent."""


class StoreError(HarnessError):
    """A stored case cannot be read; the text names the file and what is wrong with it."""


def describe(case: Case) -> dict[str, Any]:
    """Return what case.json says of a case."""
    allowance = case.allowance
    return {
        "id": case.id,
        "operator": case.operator,
        "outcome": str(case.outcome),
        "clauses": list(case.clauses),
        "detail": case.detail,
        "notes": list(case.notes),
        "tags": sorted(case.tags),
        "form": case.form,
        "drawn": {
            str(index): properties.describe(value)
            for index, value in enumerate(case.expected or ())
            if isinstance(value, Drawn)
        },
        "tolerance": {
            "reason": allowance.reason,
            "ulp": allowance.ulp,
            "rtol": allowance.rtol,
            "atol": allowance.atol,
            "signed_zero": allowance.signed_zero,
        },
    }


def text(case: Case) -> bytes:
    """Return case.json; names that are no Unicode, such as those of a file system, are written as escapes."""
    described = describe(case)
    try:
        return json.dumps(described, indent=2, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(described, indent=2).encode() + b"\n"


@dataclass(frozen=True)
class Description:
    """What a case.json says; its absence says that the text expects values, within the layout's tolerance."""

    outcome: Outcome
    allowance: Allowance
    operator: str
    clauses: tuple[str, ...]
    notes: tuple[str, ...]
    tags: frozenset[str]
    form: str
    detail: str
    drawn: Mapping[int, Drawn]


def read(case_path: Path, case_text: bytes, data_path: Path, data_text: bytes) -> Description:
    """Return what the two files say together; empty text means that there is no such file.

    Raises:
        StoreError: one of them is not JSON, or a field is none of its kind.
    """
    said = _object(case_path, case_text)
    layout = _object(data_path, data_text)
    outcome = _text(case_path, said, "outcome") or Outcome.VALUES
    if outcome not in list(Outcome):
        raise StoreError(f"{case_path}: outcome {clip(outcome)}; expected one of {', '.join(Outcome)}")
    return Description(
        outcome=Outcome(outcome),
        allowance=_allowance(case_path, said.get("tolerance"), data_path, layout),
        operator=_text(case_path, said, "operator"),
        clauses=tuple(_texts(case_path, said, "clauses")),
        notes=tuple(_texts(case_path, said, "notes")),
        tags=frozenset(_texts(case_path, said, "tags")),
        form=_text(case_path, said, "form") or PLAIN,
        detail=_text(case_path, said, "detail"),
        drawn=_drawn(case_path, said.get("drawn", {})),
    )


def _drawn(path: Path, said: object) -> dict[int, Drawn]:
    try:
        return {int(index): properties.parse(what) for index, what in said.items()}  # type: ignore[attr-defined]
    except (AttributeError, ArithmeticError, MemoryError, ValueError, TypeError, KeyError, ElementTypeError) as error:
        raise StoreError(f"{path}: drawn is not what must hold of outputs: {type(error).__name__}: {error}") from error


def _object(path: Path, text: bytes) -> dict[str, Any]:
    if not text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise StoreError(f"{path}: expected a JSON object, found a {type(value).__name__}")
    return value


def _text(path: Path, said: Mapping[str, Any], key: str) -> str:
    value = said.get(key, "")
    if not isinstance(value, str):
        raise StoreError(f"{path}: {key} is {clip(value)}; expected a text")
    return value


def _texts(path: Path, said: Mapping[str, Any], key: str) -> list[str]:
    value = said.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise StoreError(f"{path}: {key} is {clip(value)}; expected a list of texts")
    return value


def _allowance(case_path: Path, told: object, data_path: Path, layout: Mapping[str, Any]) -> Allowance:
    if told is None:
        rtol = _number(data_path, layout, "rtol", LAYOUT_RTOL)
        atol = _number(data_path, layout, "atol", LAYOUT_ATOL)
        return Allowance("the suite's own tolerance", rtol=rtol, atol=atol)
    if not isinstance(told, dict):
        raise StoreError(f"{case_path}: tolerance is {clip(told)}; expected an object")
    return Allowance(
        reason=_text(case_path, told, "reason") or "the suite's own tolerance",
        ulp=_number(case_path, told, "ulp", 0),
        rtol=_number(case_path, told, "rtol", 0),
        atol=_number(case_path, told, "atol", 0),
        signed_zero=told.get("signed_zero") is True,
    )


def _number(path: Path, said: Mapping[str, Any], key: str, default: float) -> float:
    value = said.get(key, default)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= sys.float_info.max:
        raise StoreError(f"{path}: {key} is {clip(value)}; expected a number of at least 0")
    return float(value)
