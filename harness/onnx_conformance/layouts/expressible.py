# SPDX-License-Identifier: Apache-2.0
"""Facts about cases that decide whether the reader of a layout can judge them."""

from __future__ import annotations

import functools
import hashlib
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_conformance.backends.protocol import element_type
from onnx_conformance.case.case import Outcome
from onnx_conformance.case.elements import is_float
from onnx_conformance.suites import case_json
from onnx_conformance.suites.onnx_layout import DATA_SET

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from onnx_conformance.case.case import Case

Array = np.ndarray[Any, Any]
MOST_NAME, DIGEST = 200, 8
"""Characters of a name, and of the digest at the end of a name that lost characters."""
_SIMPLE = re.compile(r"\w+", re.ASCII)
_OUTCOMES = {
    Outcome.REJECTS: "the model is invalid, and the reader cannot expect an error",
    Outcome.PROPERTY: "the outputs are random",
    Outcome.UNSPECIFIED: "the specification does not decide the result",
}


def identifier(case_id: str) -> str:
    """Return a name of letters, digits and underscores, which is a different one for each case.

    Readers make names of functions from it. `/` becomes `__`, `@` becomes `__at_`, and the dot of a domain `_`. A name
    that loses another character, or is too long, ends with a digest of the id.
    """
    domain, slash, rest = case_id.partition("/")
    plain = f"test_{domain.replace('.', '_')}{slash}{rest}".replace("/", "__").replace("@", "__at_")
    if _SIMPLE.fullmatch(plain) and len(plain) <= MOST_NAME:
        return plain
    digest = hashlib.sha256(case_id.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST]
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', plain)[:MOST_NAME]}_{digest}"


def reason(case: Case, inputs: Collection[str], outputs: Collection[str] = ()) -> str:
    """Return why a reader with tensors and one value for each output cannot judge a case; empty: it can.

    Args:
        case: the case.
        inputs: the names of the element types that the reader reads as inputs.
        outputs: those that it compares; empty: the same ones.
    """
    return next(_reasons(case, set(inputs), set(outputs or inputs)), "")


def _reasons(case: Case, read: set[str], compared: set[str]) -> Iterator[str]:
    """Yield the reasons; each check requires that those before it found none."""
    if case.outcome in _OUTCOMES:
        yield _OUTCOMES[case.outcome]
    expected = tensors(case)
    fed = [value for value in case.inputs.values() if isinstance(value, np.ndarray)]
    if expected is None or len(fed) < len(case.inputs):
        yield "an input or output is a sequence, a map or an optional"
        return
    if case.earlier is not None:
        yield "the session runs the model twice"
    if case.files:
        yield "the model has external data"
    if case.allowance.any_of or case.allowance.any_order is not None:
        yield "several outputs are permitted"
    if list(case.inputs) != _fed(case.model):
        yield "an input overrides an initializer"
    if not _types(fed) <= read or not _types(expected) <= compared:
        yield "an element type is unknown to the reader"
    if any(np.isinf(permitted(case, index)).any() for index in range(len(expected))):
        yield "an element may have any value"


def _types(arrays: Iterable[Array]) -> set[str]:
    """Return the names of the element types of arrays."""
    return {element_type(array.dtype).name for array in arrays}


def tensors(case: Case) -> tuple[Array, ...] | None:
    """Return the expected outputs; None if one is not a tensor."""
    expected = tuple(value for value in case.expected or () if isinstance(value, np.ndarray))
    return expected if case.expected is not None and len(expected) == len(case.expected) else None


@functools.lru_cache(maxsize=64)
def _fed(model: bytes) -> list[str]:
    """Return the names of the graph inputs without an initializer."""
    graph = onnx.load_from_string(model).graph
    fixed = {item.name for item in graph.initializer}
    return [item.name for item in graph.input if item.name not in fixed]


def permitted(case: Case, index: int) -> Array:
    """Return the absolute error that each element of an expected output may have.

    Infinity: the element may have any value. The error of units in the last place is rounded up.

    Args:
        case: a case whose outputs are tensors.
        index: of the output.
    """
    value, allowance = np.asarray((case.expected or ())[index]), case.allowance
    bound = allowance.bound(index)
    largest = np.zeros(value.shape) if bound is None else np.broadcast_to(np.asarray(bound, np.float64), value.shape)
    if not is_float(value):
        return np.where(np.isinf(largest), np.inf, 0.0)
    with np.errstate(all="ignore"):
        size = np.abs(value.astype(np.complex128 if value.dtype.kind == "c" else np.float64))
        size = np.where(np.isfinite(size), size, 0.0)
        largest = np.maximum(largest, allowance.atol + allowance.rtol * size)
        if allowance.ulp:
            largest = np.maximum(largest, 2 * allowance.ulp * _spacing(value, size))
    return np.asarray(largest)


def _spacing(value: Array, size: Array) -> Array:
    """Return the distance of each element from the next representable one."""
    dtype = value.real.dtype
    with np.errstate(all="ignore"):
        near = size.astype(dtype)
        return np.asarray(
            np.abs(np.nextafter(near, np.asarray(np.inf, dtype)).astype(np.float64) - near.astype(np.float64))
        )


def test_data(case: Case) -> dict[str, bytes]:
    """Return the files of a case as onnx names them: model.onnx and protobuf files of tensors, and case.json."""
    files = {"model.onnx": case.model, "case.json": case_json.text(case)}
    for index, (name, value) in enumerate(case.inputs.items()):
        files[f"{DATA_SET}/input_{index}.pb"] = _tensor(value, name)
    for index, (name, value) in enumerate(zip(case.outputs, tensors(case) or (), strict=True)):
        files[f"{DATA_SET}/output_{index}.pb"] = _tensor(value, name)
    return files


def _tensor(value: Any, name: str) -> bytes:  # noqa: ANN401 - an array, as `reason` has checked
    return bytes(numpy_helper.from_array(np.asarray(value), name).SerializeToString())
