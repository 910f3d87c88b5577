"""Packs: the cases of a suite as they were made once, so that the next run reads them instead.

A pack is one file, `packs/KEY.pack` in the cache (see backends/cache.py): a digest of the rest, a header in JSON that
describes every case, and the bytes of models and tensors. Its key is a digest of everything that the cases come from,
so that nothing has to be invalidated. A damaged pack is removed, and the cases are made again. Packs may be deleted at
any time, and `ONNX_CONFORMANCE_CACHE=` turns them off; where the cache cannot be written, there are none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import backends
from backends import cache, protocol
from harness.case.case import Allowance, Case, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.declare.data import Value

FOLDER = "packs"
MAGIC = b"onnx-conformance pack 1\n"
MOST_BYTES = 1 << 30
"""Bytes of all packs; beyond that, the least recently used are removed."""


def key(*parts: str) -> str:
    """Return the key of a pack that depends on these, on numpy, and on the code of suites and of the wire format."""
    digest = hashlib.sha256(MAGIC)
    here = Path(__file__).parent
    code = (*sorted(here.glob("*.py")), *sorted((here.parent / "case").glob("*.py")), Path(protocol.__file__))
    for text in (*parts, np.__version__, backends.__name__, *(path.read_text("utf-8") for path in code)):
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()[:32]


def read(name: str) -> list[Case] | None:
    """Return the cases of a pack by its key, or None: there is none, or it was damaged."""
    path = _path(name)
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = len(MAGIC) + hashlib.sha256().digest_size
    if data.startswith(MAGIC) and hashlib.sha256(data[body:]).digest() == data[len(MAGIC) : body]:
        with contextlib.suppress(OSError):
            os.utime(path)  # Marks it as used.
        return _decoded(memoryview(data)[body:])
    with contextlib.suppress(OSError):
        path.unlink()
    return None


def write(name: str, cases: Sequence[Case]) -> None:
    """Write a pack, if that is possible; of two that write the same one, either stays.

    Args:
        name: a key.
        cases: with values or without; properties of random values have no place in a pack.
    """
    path = _path(name)
    if path is None:
        return
    body = _encoded(cases)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(MAGIC + hashlib.sha256(body).digest() + body)
            Path(temporary).replace(path)
        finally:
            Path(temporary).unlink(missing_ok=True)
        _remove_beyond_limit(path.parent)


def _path(name: str) -> Path | None:
    above = cache.folder()
    return above / FOLDER / f"{name}.pack" if above is not None else None


def _remove_beyond_limit(folder: Path) -> None:
    """Remove the least recently used packs."""
    size = 0
    for path in sorted(folder.glob("*.pack"), key=lambda item: -item.stat().st_mtime):
        size += path.stat().st_size
        if size > MOST_BYTES:
            path.unlink(missing_ok=True)


def _encoded(cases: Iterable[Case]) -> bytes:
    buffers: list[bytes] = []
    described = [_described(case, buffers) for case in cases]
    header = json.dumps(described, separators=(",", ":")).encode()
    return b"%d\n" % len(header) + header + b"".join(buffers)


def _described(case: Case, buffers: list[bytes]) -> dict[str, Any]:
    """Return everything of a case but its bytes, which are appended to the buffers in the same order."""
    allowance = case.allowance
    assert allowance.bounds is None and not allowance.any_of and allowance.any_order is None  # noqa: S101, PT018 - see write
    assert case.earlier is None and not case.files  # noqa: S101, PT018
    buffers.append(case.model)
    expected: Any = case.expected
    return {
        "id": case.id,
        "operator": case.operator,
        "model": len(case.model),
        "inputs": _values(case.inputs, buffers),
        "outputs": case.outputs,
        "outcome": str(case.outcome),
        "expected": None if expected is None else [protocol.encode(value, buffers) for value in expected],
        "allowance": {**asdict(allowance), "bounds": None, "any_of": (), "any_order": None},
        "clauses": case.clauses,
        "tags": sorted(case.tags),
        "form": case.form,
        "detail": case.detail,
    }


def _values(values: Mapping[str, Value], buffers: list[bytes]) -> list[dict[str, Any]]:
    return [{"name": name, "value": protocol.encode(value, buffers)} for name, value in values.items()]


def _decoded(body: memoryview) -> list[Case]:
    line = bytes(body[:32]).partition(b"\n")[0]
    start = len(line) + 1 + int(line)
    described = json.loads(bytes(body[len(line) + 1 : start]))
    payload = protocol.Payload(body[start:])
    cases = [_case(item, payload) for item in described]
    payload.end()
    return cases


def _case(item: Mapping[str, Any], payload: protocol.Payload) -> Case:
    model = bytes(payload.data[payload.offset : payload.offset + item["model"]])
    payload.offset += item["model"]
    inputs = {value["name"]: payload.decode(value["value"]) for value in item["inputs"]}
    expected = item["expected"]
    allowance = {**item["allowance"], "any_of": ()}
    return Case(
        id=item["id"],
        operator=item["operator"],
        model=model,
        inputs=inputs,
        outputs=tuple(item["outputs"]),
        outcome=Outcome(item["outcome"]),
        expected=None if expected is None else tuple(map(payload.decode, expected)),
        allowance=Allowance(**allowance),
        clauses=tuple(item["clauses"]),
        tags=frozenset(item["tags"]),
        form=item["form"],
        detail=item["detail"],
    )
