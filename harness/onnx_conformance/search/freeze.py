# SPDX-License-Identifier: Apache-2.0
"""Storage of found failures as cases in ONNX's test-data layout: a suite that `run`, `repro` and `findings` can read.

The folder of a case also contains `search.json`: the seed of the draw, the operator versions of its nodes, the backend,
and the backend's answer. The name of a case contains its operator, its verdict and its cause, so a search that finds
the cause again keeps the existing case.
"""

from __future__ import annotations

import dataclasses
import enum
import json
from typing import TYPE_CHECKING, Any

import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import VERSION
from onnx_conformance.base.verdict import line, split_operator
from onnx_conformance.results.stream import identity
from onnx_conformance.search import causes
from onnx_conformance.search.examples import MODEL
from onnx_conformance.suites import onnx_layout
from onnx_conformance.suites.case_json import StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.search.property_search import Failure

FILE = "search.json"


class State(enum.StrEnum):
    """The result of storing a case."""

    NEW = "new"
    SAME = "there already"
    KEPT = "a case with this cause exists already and was kept"


def check(folder: Path) -> None:
    """Raise HarnessError unless a folder is missing, or contains only cases that `freeze` wrote."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise HarnessError(
            "not-a-folder-for-cases", f"{folder} is not a folder; name a folder for the cases, which may be new"
        )
    foreign = sorted(item.name for item in folder.iterdir() if not (item / FILE).is_file())
    if foreign:
        raise HarnessError(
            "folder-of-others",
            f"{folder} contains {line(foreign[0], 100)}, which no search wrote; name another folder with --folder",
        )


def name(failure: Failure) -> str:
    """Return the id of a failure's case: operator, verdict, and a digest of its cause."""
    operator = split_operator(failure.case.operator)[0]
    if operator == MODEL:
        operator += "/" + "-".join(item.split("/")[1] for item in failure.example.operators)
    return f"{operator}/{failure.result.verdict}/{causes.digest(failure.cause)}"


def freeze(failure: Failure, folder: Path, seed: int) -> tuple[Path, State]:
    """Write the case of a failure, unless there is one with this cause; return its folder.

    Raises:
        StoreError: the folder cannot be written, or the layout cannot express the case.
    """
    case = dataclasses.replace(failure.case, id=name(failure), tags=failure.case.tags | {"search"})
    where = folder / onnx_layout.folder_name(case.id)
    files = onnx_layout.encoded(case) | {FILE: _described(failure, case, seed)}
    if not where.exists():
        onnx_layout.put(files, where)
        return where, State.NEW
    try:
        onnx_layout.put(files, where)
    except StoreError:
        if not (where / FILE).is_file():
            raise
        return where, State.KEPT
    return where, State.SAME


def _described(failure: Failure, case: Case, seed: int) -> bytes:
    result = failure.result
    described: dict[str, Any] = {
        "seed": seed,
        "example": failure.number,
        "cause": list(failure.cause),
        "operators": list(failure.example.operators),
        "backend": result.backend,
        **(identity(failure.answer.hello) if failure.answer else {}),
        "onnx": onnx.__version__,
        "onnx-conformance": VERSION,
        "verdict": str(result.verdict),
        "error": result.error,
        "message": result.message,
        "expected": result.wanted,
        "actual": result.actual,
        "allowance": str(case.allowance),
    }
    return json.dumps(described, indent=2, ensure_ascii=False).encode(errors="replace") + b"\n"
