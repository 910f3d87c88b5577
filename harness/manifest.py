"""`generated_cases/`: id and digests of every generated case, one file an operator, committed.

So a change of any case, be it by a declaration, the engine or onnx itself, shows in review.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import onnx

from harness import generate
from harness.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from harness.declare import Op
    from harness.registry import Registry

HEAD = "# case, what is expected, and digests of the model, the inputs and what is expected; onnx {version}\n"
SHOWN = 40


class ManifestError(HarnessError):
    """The manifest cannot be read or written."""


def file_name(op: Op) -> str:
    """Return the name of an operator's file."""
    return f"{op.domain}.{op.name}.txt"


def text(op: Op) -> str:
    """Return the manifest of one operator."""
    lines = [HEAD.format(version=onnx.__version__)]
    lines += [f"{case.id} {case.outcome} {' '.join(case.digests())}\n" for case in generate.cases(op)]
    return "".join(lines)


def write(registry: Registry, folder: Path) -> list[Path]:
    """Write every operator's file, and remove those of operators that are no longer declared."""
    wanted = {folder / file_name(op): op for op in registry}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, op in wanted.items():
            path.write_text(text(op))
        for path in set(folder.glob("*.txt")) - set(wanted):
            path.unlink()
    except OSError as error:
        raise ManifestError(f"cannot write {error.filename}: {error.strerror}") from error
    return sorted(wanted)


def check(registry: Registry, folder: Path) -> Iterator[str]:
    """Yield a line for every difference between the committed manifest and what is generated now."""
    wanted = {folder / file_name(op): op for op in registry}
    for path, op in wanted.items():
        try:
            old = path.read_text().splitlines()
        except OSError as error:
            yield f"{path}: cannot be read: {error.strerror}; `onnx-conformance manifest` writes it"
            continue
        new = text(op).splitlines()
        if old[:1] != new[:1]:
            yield f"{path}: written with another onnx: {(old or [''])[0]!r}, now {onnx.__version__}"
        changes = [line for line in difflib.unified_diff(old[1:], new[1:], n=0, lineterm="") if line[:1] in "+-"][2:]
        yield from (f"{path}: {line}" for line in changes[:SHOWN])
        if len(changes) > SHOWN:
            yield f"{path}: and {len(changes) - SHOWN} more lines"
    for path in sorted(set(folder.glob("*.txt")) - set(wanted)):
        yield f"{path}: no operator file declares this operator"
