# SPDX-License-Identifier: Apache-2.0
"""The file format of packs: cases in one zip file, for programs in any language. docs/formats.md describes it.

The packs of the cache, which only this project reads, have another format; see `packs`.

A pack contains, for each operator, an index of its cases (one JSON object a line) and one block of bytes with their
models and tensors. Equal models and tensors are stored once. A value is described as in the wire format, and each of
its tensors has in addition `at`: the position of its bytes in the block. A large tensor has `large` instead: the
SHA-256 digest of its bytes, which are a separate member, because several operators have the same tensor. Many have,
for example, every float16 number as input.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.backends import protocol
from onnx_conformance.base import package
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.values import Drawn
from onnx_conformance.case import encoding
from onnx_conformance.case.case import Case
from onnx_conformance.declare import AnyOf
from onnx_conformance.specification.usage import table as usage
from onnx_conformance.suites import case_json
from onnx_conformance.suites.case_json import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from onnx_conformance.base.values import Array, Value

FORMAT, VERSION = "onnx-conformance-cases", 1
"""The value of `format` in index.json, and the newest version of the format that is known here."""
INDEX, README, LICENSE = "index.json", "README.md", "LICENSE"
CASES, DATA = "cases.ndjson", "data.bin"
"""The members of each operator: its cases, and the bytes of their models and tensors."""
SUFFIX = ".pack"
LARGE = "large"
"""The folder of the members that have one large tensor each, named by digest."""
LARGE_SIZE = 32 << 10
"""Bytes from which a tensor is a separate member."""
BOUND_BITS = 8
"""Significant bits of a stored bound, which is rounded up. The last digits of a bound depend on the processor."""


@dataclass
class Block:
    """The bytes of an operator's cases; equal pieces are stored once.

    Attributes:
        data: the models, and the tensors that are not large.
        large: the large tensors by digest.
    """

    data: bytearray = field(default_factory=bytearray)
    large: dict[str, bytes] = field(default_factory=dict)
    _known: dict[bytes, int] = field(default_factory=dict)

    def put(self, piece: bytes) -> int:
        """Return the position of a piece, which is added if it is new."""
        key = hashlib.sha256(piece).digest()
        if key not in self._known:
            self._known[key] = len(self.data)
            self.data += piece
        return self._known[key]

    def value(self, value: Value) -> dict[str, Any]:
        """Return the description of a value, whose bytes are added."""
        pieces: list[bytes] = []
        described = protocol.encode(value, pieces)
        with_bytes = (item for item in encoding.tensors([described]) if item["type"] != protocol.STRING)
        for tensor, piece in zip(with_bytes, pieces, strict=True):
            if len(piece) < LARGE_SIZE:
                tensor["at"] = self.put(piece)
            else:
                tensor[LARGE] = hashlib.sha256(piece).hexdigest()
                self.large[tensor[LARGE]] = piece
        return described


def entry(case: Case, block: Block, *, core: bool) -> dict[str, Any]:
    """Return the entry of a case in the index of its operator; its bytes are added to a block.

    Args:
        case: the case.
        block: the bytes of the operator.
        core: whether the case is in the core of its suite.
    """
    bounds = case.allowance.bounds
    described = case_json.describe(case)
    made: dict[str, Any] = {
        **_without_defaults({**described, "tolerance": _without_defaults(described["tolerance"])}),
        **({"core": True} if core else {}),
        "digest": case.digest(),
        "model": {"at": block.put(case.model), "size": len(case.model)},
        "inputs": _named(case.inputs, block),
        "outputs": list(case.outputs),
    }
    if case.files:
        made["files"] = [{"name": name, "at": block.put(data), "size": len(data)} for name, data in case.files.items()]
    if case.earlier is not None:
        made["earlier"] = _named(case.earlier, block)
    if case.expected is not None:
        made["expected"] = [None if isinstance(value, Drawn) else block.value(value) for value in case.expected]
    if bounds is not None:
        made["bounds"] = [block.value(rounded_up(item)) for item in bounds]
    if case.allowance.any_of:
        made["others"] = {
            str(index): [block.value(value) for value in several.values[1:]]
            for index, several in enumerate(case.allowance.any_of)
            if several is not None
        }
    return made


def usage_rank(operator: str) -> int | None:
    """Return the place of an operator by the number of collected models that have it; None if none has it."""
    return usage.read().rank(operator)


def _without_defaults(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return members without those that are empty, 0 or false, which readers take as the default."""
    return {key: value for key, value in members.items() if value}


def _named(values: Mapping[str, Value], block: Block) -> list[dict[str, Any]]:
    return [{"name": name, "value": block.value(value)} for name, value in values.items()]


def rounded_up(bound: Array) -> Array:
    """Return bounds with few significant bits, so that they are equal on all processors and take less space."""
    wide = np.asarray(bound, np.float64)
    fraction, exponent = np.frexp(wide)
    with np.errstate(over="ignore"):  # The largest number becomes infinite.
        rounded = np.ldexp(np.ceil(fraction * 2**BOUND_BITS) / 2**BOUND_BITS, exponent)
    return np.where(np.isfinite(wide), np.minimum(rounded, np.finfo(np.float64).max), wide)


def readme(index: Mapping[str, Any]) -> str:
    """Return the README.md of a pack."""
    suite = index["suite"]
    selected = f", `{suite['selection']}`" if suite["selection"] else ""
    return f"""# Test cases for ONNX

{index["cases"]:,} cases for ONNX runtimes, from the suite `{suite["name"]}`{selected}.
{index["made_by"]} made them for the operators of onnx {index["onnx"]}. Each case is a model, its inputs, and the
outcome that the text of ONNX requires.

`index.json` lists the operators. Each operator has two files:

- `{CASES}`: one case a line, as a JSON object with id, operator version, opsets, element types, expected outcome,
  sentences of the specification, tolerance, inputs and expected outputs;
- `{DATA}`: the bytes of models and tensors. `at` and `size` say where a model is; `at` says where a tensor begins.
  Tensors are little-endian, as `raw_data` of TensorProto; `type` is the number of TensorProto.DataType.

A tensor with the member `large` has its bytes in the file of that name in the folder `{LARGE}`.

{package.REPOSITORY}/blob/v{package.VERSION}/docs/formats.md
describes every member. `onnx-conformance run --suite FILE` runs the cases.

The licence is in the file `LICENSE`.
"""


class _Placed(protocol.Payload):
    """Reads values whose tensors name the positions of their bytes."""

    def __init__(self, data: memoryview, large: Callable[[str], bytes]) -> None:
        super().__init__(data)
        self._large = large

    def tensor(self, described: Mapping[str, Any]) -> np.ndarray[Any, Any]:
        """Return the tensor that has the described place."""
        if LARGE in described:
            return protocol.Payload(self._large(str(described[LARGE]))).tensor(described)
        at = described.get("at", 0)
        if type(at) is not int or not 0 <= at <= self.size:
            raise protocol.HeaderError(f"position {protocol.clip(at)} is not in the block of {self.size} bytes")
        self.offset = at
        return super().tensor(described)


def read(path: Path, line: bytes, block: memoryview, large: Callable[[str], bytes]) -> Case:
    """Return the case of a line of an index.

    Args:
        path: the pack, for messages.
        line: the line.
        block: the bytes of the operator.
        large: returns the large tensor with a digest.

    Raises:
        StoreError: the line does not have the format.
    """
    try:
        return _case(path, line, block, large)
    except HarnessError:
        raise
    except Exception as error:  # Whoever wrote the pack may have written anything.
        raise StoreError("packed-case-not-readable", f"{path}: {type(error).__name__}: {error}") from error


def _case(path: Path, line: bytes, block: memoryview, large: Callable[[str], bytes]) -> Case:
    item: Any = json.loads(line)
    described = case_json.described(path, item, path, {})
    payload = _Placed(block, large)
    expected: tuple[Value | Drawn, ...] | None = None
    if "expected" in item:
        expected = tuple(
            described.drawn[index] if value is None else payload.decode(value)
            for index, value in enumerate(item["expected"])
        )
    bounds = tuple(np.asarray(payload.decode(each)) for each in item["bounds"]) if "bounds" in item else None
    any_of = tuple(
        AnyOf(np.asarray(value), *map(payload.decode, item["others"][str(index)]), elementwise=several.elementwise)
        if (several := described.any_of.get(index)) is not None
        else None
        for index, value in enumerate(expected or ())
    )
    return Case(
        id=str(item["id"]),
        model=_bytes(item["model"], block),
        inputs=_values(item["inputs"], payload),
        outputs=tuple(map(str, item["outputs"])),
        expected=expected,
        earlier=_values(item["earlier"], payload) if "earlier" in item else None,
        files={str(file["name"]): _bytes(file, block) for file in item.get("files", ())},
        **described.fields(bounds=bounds, any_of=any_of if described.any_of else ()),
    )


def _values(items: Sequence[Mapping[str, Any]], payload: _Placed) -> dict[str, Value]:
    return {str(item["name"]): payload.decode(item["value"]) for item in items}


def _bytes(item: Mapping[str, Any], block: memoryview) -> bytes:
    at, size = item["at"], item["size"]
    if not 0 <= at <= at + size <= len(block):
        raise ValueError(f"{size} bytes at {at} of a block of {len(block)}")
    return bytes(block[at : at + size])
