# SPDX-License-Identifier: Apache-2.0
"""The measured accuracy of a runtime: data types, and their JSON.

Every error is in units in the last place (ULP) of the element type, and is the distance from the exact result, not from
the nearest number. So a correctly rounded result has an error of at most 0.5.
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fastjsonschema
import numpy as np

from onnx_conformance.base import schemas
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import VERSION
from onnx_conformance.base.printing import clipped
from onnx_conformance.base.verdict import clean, line

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FORMAT_VERSION = 1
"""The version of the JSON; see the schema `accuracy`."""
MOST_EXAMPLES = 5
"""The number of examples that a record has of each kind of fault."""
MOST_CODE = 8000
"""The largest length of the code that calls a runtime, in characters."""
INFINITE = "infinity"
"""An infinite number in JSON."""


class AccuracyFileError(HarnessError):
    """A file is not the JSON of `accuracy`; the text contains the place and the correction."""


@dataclass(frozen=True)
class Place:
    """An input and its results, each with the digits that determine it.

    Attributes:
        ulp: the error.
        input: the input.
        expected: the exact result, rounded to a double.
        actual: the result of the runtime.
    """

    ulp: float
    input: str
    expected: str
    actual: str


@dataclass(frozen=True)
class Example:
    """An input with its exact and its actual result, whose distance has no size or is not of interest."""

    input: str
    expected: str
    actual: str


@dataclass(frozen=True)
class Errors:
    """The errors of some inputs.

    Attributes:
        count: the number of inputs.
        median: the median error of the sweep.
        percentile: the error that 99 % of the inputs of the sweep do not exceed.
        worst: the largest error, also of the search.
    """

    count: int
    median: float
    percentile: float
    worst: Place


@dataclass(frozen=True)
class Elementwise:
    """The accuracy of an elementwise function in one type.

    Attributes:
        operator: the operator version.
        attributes: the attributes that the node sets.
        type: the element type.
        inputs: the number of inputs.
        exhaustive: whether these are all numbers of the type.
        unspecified: the number of inputs for which the text does not define the result.
        unknown: the number of inputs whose exact result is unknown, because mpmath is not installed.
        normal: the errors where both the input and the result are normal; None without such inputs.
        subnormal: the errors of the other finite inputs.
        flushed: the number of results that are zero although the nearest number is subnormal.
        of_bound: the largest error as a multiple of the bound of the suite; infinity if no error is allowed.
        bound: this bound.
        special: examples of results that are NaN and must not be, or the other way round, or wrong for an infinity.
        special_count: their number.
        disorder: examples of neighbouring inputs whose results are in another order than the exact ones.
        disorder_count: their number.
        chart: the largest error in each part of the inputs, with the input.
    """

    operator: str
    attributes: Mapping[str, str]
    type: str
    inputs: int
    exhaustive: bool
    unspecified: int
    unknown: int
    normal: Errors | None
    subnormal: Errors | None
    flushed: int
    of_bound: float
    bound: str
    special: tuple[Example, ...]
    special_count: int
    disorder: tuple[tuple[Example, Example], ...]
    disorder_count: int
    chart: tuple[tuple[str, float], ...]

    @property
    def ulp(self) -> float:
        """The largest error of normal numbers; infinity if a result is NaN and must not be, or the other way round."""
        if self.special_count:
            return math.inf
        return self.normal.worst.ulp if self.normal is not None else 0.0


@dataclass(frozen=True)
class Terms:
    """The errors of an operator with K terms.

    Attributes:
        terms: K.
        ulp: the largest error.
        median: the median error.
        of_bound: the largest error as a multiple of the bound of the suite.
    """

    terms: int
    ulp: float
    median: float
    of_bound: float


@dataclass(frozen=True)
class Accumulator:
    """How a runtime adds.

    Attributes:
        bits: the bits of the significand of the accumulator; None: it has at least as many as the probe can show.
        order: sequential, pairwise, blocked or unordered; empty: the accumulator is too wide to show an order.
        depth: the largest number of additions through which a term passes; 0 without an order.
        count: the number of terms of the probe.
    """

    bits: int | None
    order: str
    depth: int
    count: int


@dataclass(frozen=True)
class Growth:
    """The errors of an operator over its number of terms, in one type.

    Attributes:
        operator: the operator version.
        type: the element type.
        terms: the errors, for each number of terms.
        exponent: the error grows with this power of the number of terms; None if it does not exceed rounding.
        accumulator: how the runtime adds; None if the operator is not a plain sum, or the probes had no answer.
    """

    operator: str
    type: str
    terms: tuple[Terms, ...]
    exponent: float | None
    accumulator: Accumulator | None


@dataclass(frozen=True)
class LeftOut:
    """A function or operator that was not measured in a type, with the reason."""

    operator: str
    attributes: Mapping[str, str]
    type: str
    reason: str


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of one runtime.

    Attributes:
        backend: the name of the backend, as in --backend.
        runtime: the name of the runtime.
        version: its version.
        onnx: the version of the onnx package.
        notes: sentences about the measurement.
        elementwise: elementwise functions.
        growth: operators with many terms.
        left_out: functions and operators that were not measured.
        repro: Python code that calls the runtime: from `model` and `inputs` to `outputs`; may be empty.
        repro_wide: the same, for element types that numpy itself does not have.
    """

    backend: str
    runtime: str
    version: str
    onnx: str
    notes: tuple[str, ...]
    elementwise: tuple[Elementwise, ...]
    growth: tuple[Growth, ...]
    left_out: tuple[LeftOut, ...]
    repro: str = ""
    repro_wide: str = ""

    @property
    def label(self) -> str:
        """The backend with the version of the runtime."""
        name = clipped(self.backend)
        return line(name if "==" in name else f"{name} {self.version}".strip(), 60)


def name_of(operator: str, attributes: Mapping[str, str]) -> str:
    """Return a short name: Exp, or Gelu tanh for a value of an attribute."""
    domain, name, _ = operator.split("/")
    return " ".join([name if domain == "ai.onnx" else f"{domain}/{name}", *attributes.values()])


def written(value: Any, dtype: np.dtype[Any]) -> str:  # noqa: ANN401 - a number of numpy or ml_dtypes
    """Return the shortest decimal number that determines a value of a type."""
    number = float(value)
    if not math.isfinite(number) or dtype.kind != "f":
        return f"{number:.6g}"  # bfloat16 has 3 digits.
    own = dtype.type(value)
    plain = 1e-4 <= abs(number) < 1e9 or number == 0  # noqa: PLR2004 - as Python writes numbers
    text = np.format_float_positional(own, trim="0") if plain else np.format_float_scientific(own, trim="-")
    return str(text)


def as_json(of: Accuracy) -> str:
    """Return the JSON."""
    members = {"format": FORMAT_VERSION, "onnx_conformance": VERSION, **_plain(dataclasses.asdict(of))}
    members |= {name: clean(getattr(of, name), MOST_CODE) for name in ("repro", "repro_wide")}
    return json.dumps(members, ensure_ascii=False, indent=1, allow_nan=False)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return INFINITE if math.isinf(value) else float(f"{value:.6g}")
    return line(value, 1000) if isinstance(value, str) else value


def read(path: Path) -> Accuracy:
    """Return the accuracy that a file contains.

    Raises:
        AccuracyFileError: it cannot be read, or is another file.
    """
    try:
        parsed = json.loads(path.read_bytes())
    except OSError as error:
        raise AccuracyFileError("accuracy-not-readable", f"cannot read {line(path)}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise AccuracyFileError(
            "accuracy-not-json", f"{line(path)} is not JSON; write it with: accuracy --backend NAME --format json"
        ) from None
    try:
        _validator()(parsed)
    except fastjsonschema.JsonSchemaValueException as error:
        raise AccuracyFileError(
            "accuracy-not-valid",
            f"{line(path)} is not the JSON of `accuracy`: {line(error.message, 200)}; "
            "write it with: accuracy --backend NAME --format json",
        ) from None
    return _accuracy(parsed)


def _validator() -> Any:  # noqa: ANN401 - fastjsonschema has no types
    return fastjsonschema.compile(schemas.as_draft_7("accuracy"))


def _number(value: Any) -> float:  # noqa: ANN401 - a JSON value
    return math.inf if value == INFINITE else float(value)


def _accuracy(parsed: dict[str, Any]) -> Accuracy:
    return Accuracy(
        **{key: parsed[key] for key in ("backend", "runtime", "version", "onnx")},
        notes=tuple(parsed["notes"]),
        elementwise=tuple(map(_elementwise, parsed["elementwise"])),
        growth=tuple(map(_growth, parsed["growth"])),
        left_out=tuple(LeftOut(**_known(LeftOut, item)) for item in parsed["left_out"]),
        repro=parsed.get("repro", ""),
        repro_wide=parsed.get("repro_wide", ""),
    )


def _known(kind: Any, item: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - a dataclass
    """Return the members that a dataclass has; a newer version may write more."""
    names = {field.name for field in dataclasses.fields(kind)}
    return {key: value for key, value in item.items() if key in names}


def _example(item: Mapping[str, Any]) -> Example:
    return Example(**_known(Example, item))


def _errors(item: Mapping[str, Any] | None) -> Errors | None:
    if item is None:
        return None
    worst = _known(Place, item["worst"])
    return Errors(
        item["count"],
        _number(item["median"]),
        _number(item["percentile"]),
        Place(**{**worst, "ulp": _number(worst["ulp"])}),
    )


def _elementwise(item: dict[str, Any]) -> Elementwise:
    return Elementwise(**{
        **_known(Elementwise, item),
        "normal": _errors(item["normal"]),
        "subnormal": _errors(item["subnormal"]),
        "of_bound": _number(item["of_bound"]),
        "special": tuple(map(_example, item["special"])),
        "disorder": tuple((_example(one), _example(other)) for one, other in item["disorder"]),
        "chart": tuple((text, _number(error)) for text, error in item["chart"]),
    })  # fmt: skip


def _growth(item: dict[str, Any]) -> Growth:
    return Growth(**{
        **_known(Growth, item),
        "terms": tuple(
            Terms(one["terms"], _number(one["ulp"]), _number(one["median"]), _number(one["of_bound"]))
            for one in item["terms"]
        ),
        "accumulator": Accumulator(**_known(Accumulator, item["accumulator"])) if item["accumulator"] else None,
    })  # fmt: skip
