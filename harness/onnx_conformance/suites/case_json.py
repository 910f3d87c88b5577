# SPDX-License-Identifier: Apache-2.0
"""`case.json` and `data.json`: the data of a stored case, in addition to its model and tensors."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import onnx

from onnx_conformance.backends import protocol
from onnx_conformance.backends.protocol import clip
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.values import Drawn
from onnx_conformance.base.verdict import split_operator
from onnx_conformance.case import properties
from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import PLAIN, Case, Outcome
from onnx_conformance.case.lane_sums import LaneSums
from onnx_conformance.declare import Order
from onnx_conformance.declare.clause import Force
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import ElementTypeError
from onnx_conformance.specification.usage import table as usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from onnx_conformance.base.values import Array
    from onnx_conformance.declare import AnyOf
    from onnx_conformance.declare.type import Type

FORMAT = 1
"""Version of the format. Readers ignore members that they do not know; a change of a known one increases the number."""
LAYOUT_RTOL, LAYOUT_ATOL = 1e-3, 1e-7
"""The tolerance of onnx's own runner, used if data.json has none."""
MOST_VALUES = 10_000
"""How many values an output may have."""


class StoreError(HarnessError):
    """A stored case cannot be read; the text contains the file and the problem."""


def describe(case: Case) -> dict[str, Any]:
    """Return the content of case.json for a case, except the digest of its model."""
    allowance, model = case.allowance, onnx.load_from_string(case.model)
    operator, _ = split_operator(case.operator)
    types = list(_types(model))
    return {
        "format": FORMAT,
        "id": case.id,
        "operator": case.operator,
        "opsets": {item.domain or "ai.onnx": item.version for item in model.opset_import},
        "types": sorted(_element_types(model, types)),
        "containers": sorted({*_containers(types)}),
        "usage_rank": usage.read().rank(operator),
        "outcome": str(case.outcome),
        "clauses": list(case.clauses),
        "detail": case.detail,
        "force": case.force,
        "reworded": case.reworded,
        "readings": list(case.readings),
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
            "interval": list(allowance.interval or ()),
            "sums": allowance.sums.members if allowance.sums else None,
            "any_of": {
                str(index): {"values": len(several.values), "elementwise": several.elementwise}
                for index, several in enumerate(allowance.any_of)
                if several is not None
            },
            "any_order": dataclasses.asdict(allowance.any_order) if allowance.any_order else None,
        },
    }


def _element_types(model: onnx.ModelProto, types: Iterable[Type]) -> set[str]:
    """Return the element types of the inputs, outputs and initializers of a model, as far as ONNX defines them."""
    numbers = {item.data_type for item in model.graph.initializer}
    numbers |= {item.values.data_type for item in model.graph.sparse_initializer}
    own = {row.name for row in protocol.ELEMENT_TYPES if row.number in numbers}
    return own | {type_.innermost.element for type_ in types}


def _containers(types: Iterable[Type]) -> Iterator[str]:
    """Yield sequence, map and optional, as far as types are such, or contain them."""
    for type_ in types:
        if type_.inner is not None:
            yield type_.kind.name.lower()
            yield from _containers([type_.inner])


def _types(model: onnx.ModelProto) -> Iterator[Type]:
    """Yield the types of the inputs and outputs of a model, as far as ONNX defines them."""
    for info in (*model.graph.input, *model.graph.output):
        with contextlib.suppress(KeyError):  # ONNX has no element type of this number.
            if (type_ := schema.type_of_proto(info.type)) is not None:
                yield type_


def text(case: Case) -> bytes:
    """Return case.json as bytes; names that are not valid Unicode, such as those of files, are escaped."""
    content = {**describe(case), "model_sha256": hashlib.sha256(case.model).hexdigest()}
    try:
        return json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(content, indent=2).encode() + b"\n"


@dataclass(frozen=True)
class Several:
    """That an output may have any of several values, the expected one among them; see `declare.AnyOf`."""

    values: int
    elementwise: bool


@dataclass(frozen=True)
class Description:
    """The content of a case.json; without one, the case expects values within the tolerance of the layout."""

    outcome: Outcome
    allowance: Allowance
    operator: str
    clauses: tuple[str, ...]
    notes: tuple[str, ...]
    tags: frozenset[str]
    form: str
    detail: str
    force: str
    reworded: str
    readings: tuple[str, ...]
    drawn: Mapping[int, Drawn]
    any_of: Mapping[int, Several]

    def fields(
        self, *, bounds: tuple[Array, ...] | None = None, any_of: tuple[AnyOf | None, ...] = ()
    ) -> dict[str, Any]:
        """Return the members of a case that are described here, with the parts of its tolerance that are tensors."""
        allowance = dataclasses.replace(self.allowance, bounds=bounds, any_of=any_of)
        own = {name: getattr(self, name) for name in _OF_CASE}
        return {**own, "allowance": allowance}


_OF_CASE = ("outcome", "operator", "clauses", "notes", "tags", "form", "detail", "force", "reworded", "readings")
"""The members that a case has by the same names."""


def read(case_path: Path, case_text: bytes, data_path: Path, data_text: bytes) -> Description:
    """Return the combined content of the two files; an empty text means that a file is missing.

    Raises:
        StoreError: one of them is not JSON, or a field has a wrong type or value.
    """
    return described(case_path, _object(case_path, case_text), data_path, _object(data_path, data_text))


def described(case_path: Path, fields: Mapping[str, Any], data_path: Path, layout: Mapping[str, Any]) -> Description:
    """Return the combined content of two files that are JSON objects; see `read`.

    Raises:
        StoreError: a field has a wrong type or value.
    """
    if _number(case_path, fields, "format", FORMAT) > FORMAT:
        raise StoreError(
            "case-format-newer",
            f"{case_path}: format {clip(fields['format'])}; this onnx-conformance reads formats up to {FORMAT}, so "
            "install a newer one",
        )
    outcome = _text(case_path, fields, "outcome") or Outcome.VALUES
    if outcome not in list(Outcome):
        raise StoreError(
            "case-outcome-invalid", f"{case_path}: outcome {clip(outcome)}; expected one of {', '.join(Outcome)}"
        )
    return Description(
        outcome=Outcome(outcome),
        allowance=_allowance(case_path, fields.get("tolerance"), data_path, layout),
        operator=_text(case_path, fields, "operator"),
        clauses=tuple(_texts(case_path, fields, "clauses")),
        notes=tuple(_texts(case_path, fields, "notes")),
        tags=frozenset(_texts(case_path, fields, "tags")),
        form=_text(case_path, fields, "form") or PLAIN,
        detail=_text(case_path, fields, "detail"),
        force=_force(case_path, fields),
        reworded=_text(case_path, fields, "reworded"),
        readings=tuple(_texts(case_path, fields, "readings")),
        drawn=_drawn(case_path, fields.get("drawn", {})),
        any_of=_any_of(case_path, fields.get("tolerance")),
    )


def _any_of(path: Path, tolerance: object) -> dict[int, Several]:
    fields = tolerance.get("any_of") or {} if isinstance(tolerance, dict) else {}
    try:
        return {int(index): _several(item["values"], item["elementwise"]) for index, item in fields.items()}
    except (AttributeError, ValueError, TypeError, KeyError) as error:
        raise StoreError(
            "any-of-invalid", f"{path}: any_of is {clip(fields)}; expected how many values each output may have"
        ) from error


def _several(values: object, elementwise: object) -> Several:
    if type(values) is not int or type(elementwise) is not bool or not 0 < values <= MOST_VALUES:
        raise TypeError("not a number of values")
    return Several(values, elementwise)


def _any_order(path: Path, order: object) -> Order | None:
    if order is None:
        return None
    axis, lanewise = (order.get("axis"), order.get("lanewise")) if isinstance(order, dict) else (None, None)
    if type(axis) is not int or axis < 0 or type(lanewise) is not bool:
        raise StoreError(
            "any-order-invalid",
            f'{path}: any_order is {clip(order)}; expected {{"axis": 0, "lanewise": false}} or the like',
        )
    return Order(axis, lanewise)


def _drawn(path: Path, fields: object) -> dict[int, Drawn]:
    try:
        return {int(index): properties.parse(what) for index, what in fields.items()}  # type: ignore[attr-defined]
    except (AttributeError, ArithmeticError, MemoryError, ValueError, TypeError, KeyError, ElementTypeError) as error:
        raise StoreError(
            "drawn-invalid", f"{path}: drawn does not describe properties of outputs: {type(error).__name__}: {error}"
        ) from error


def _object(path: Path, text: bytes) -> dict[str, Any]:
    if not text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise StoreError("case-not-json", f"{path}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise StoreError("case-not-an-object", f"{path}: expected a JSON object, not a {type(value).__name__}")
    return value


def _text(path: Path, fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise StoreError("text-invalid", f"{path}: {key} is {clip(value)}; expected a string")
    return value


def _force(path: Path, fields: Mapping[str, Any]) -> str:
    force = _text(path, fields, "force")
    if force and force not in list(Force):
        raise StoreError("force-invalid", f"{path}: force {clip(force)}; expected one of {', '.join(Force)}")
    return force


def _texts(path: Path, fields: Mapping[str, Any], key: str) -> list[str]:
    value = fields.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise StoreError("list-invalid", f"{path}: {key} is {clip(value)}; expected a list of strings")
    return value


def _allowance(case_path: Path, tolerance: object, data_path: Path, layout: Mapping[str, Any]) -> Allowance:
    if tolerance is None:
        rtol = _number(data_path, layout, "rtol", LAYOUT_RTOL)
        atol = _number(data_path, layout, "atol", LAYOUT_ATOL)
        return Allowance("the suite's own tolerance", rtol=rtol, atol=atol)
    if not isinstance(tolerance, dict):
        raise StoreError("tolerance-invalid", f"{case_path}: tolerance is {clip(tolerance)}; expected an object")
    return Allowance(
        reason=_text(case_path, tolerance, "reason") or "the suite's own tolerance",
        ulp=_number(case_path, tolerance, "ulp", 0),
        rtol=_number(case_path, tolerance, "rtol", 0),
        atol=_number(case_path, tolerance, "atol", 0),
        signed_zero=tolerance.get("signed_zero") is True,
        interval=_interval(case_path, tolerance.get("interval")),
        sums=_sums(case_path, tolerance.get("sums")),
        any_order=_any_order(case_path, tolerance.get("any_order")),
    )


def _interval(path: Path, interval: object) -> tuple[float, float] | None:
    """Return an interval. An integer stays one, because the digest of a case depends on how a number is written."""
    if interval is None or interval == []:
        return None
    numbers = interval if isinstance(interval, list) else []
    real = [item for item in numbers if isinstance(item, int | float) and not isinstance(item, bool)]
    if len(real) != len(numbers) or len(real) != 2 or not real[0] <= real[1]:  # noqa: PLR2004 - the two ends
        raise StoreError(
            "interval-invalid", f"{path}: interval is {clip(interval)}; expected two numbers, the lower one first"
        )
    return real[0], real[1]


def _sums(path: Path, sums: object) -> LaneSums | None:
    if sums is None:
        return None
    members = sums if isinstance(sums, dict) else {}
    axes, output = members.get("axes"), members.get("output")
    if not isinstance(axes, list) or not axes or not all(map(_is_index, [*axes, output])) or len({*axes}) < len(axes):
        raise StoreError(
            "sums-invalid",
            f"{path}: sums is {clip(sums)}; expected the members axes (different numbers of at least 0), total, within "
            "and output",
        )
    for name in ("total", "within"):
        _number(path, members, name, 0)
    numbers = {name: members.get(name, 0) for name in ("total", "within")}  # An integer stays one, as in `_interval`.
    return LaneSums.of_members({"axes": axes, **numbers, "output": output})


def _is_index(value: object) -> bool:
    return type(value) is int and value >= 0


def _number(path: Path, fields: Mapping[str, Any], key: str, default: float) -> float:
    value = fields.get(key, default)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= sys.float_info.max:
        raise StoreError("number-invalid", f"{path}: {key} is {clip(value)}; expected a number of at least 0")
    return float(value)
