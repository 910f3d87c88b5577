"""`generated_cases/`: id and digests of every generated case, and whether it is in the core; one file per operator.

It is committed, so that review shows every change of a case, by a declaration, the engine or onnx itself. It is also
read to list or select cases, which costs less than generating them.
"""

from __future__ import annotations

import difflib
import functools
import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import GENERATED
from onnx_conformance.generation import core, derived, plans
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from onnx_conformance.declare import Op

HEAD = (
    "# case, what is expected, digests of the model, the inputs and what is expected, and whether it is of the core; "
    "onnx {version}\n"
)
CORE = "core"
SHOWN = 40


class ManifestError(HarnessError):
    """The manifest cannot be read or written."""


@dataclass(frozen=True)
class Entry:
    """The entry of one case in the manifest.

    Attributes:
        id: the id of the case.
        outcome: the outcome that the text demands.
        core: whether the case is in the core.
    """

    id: str
    outcome: str
    core: bool


def file_name(op: Op) -> str:
    """Return the name of an operator's file."""
    return f"{op.domain}.{op.name}.txt"


def text(op: Op) -> str:
    """Return the manifest of one operator."""
    cases = list(plans.cases(op))
    chosen = core.choose(op, cases)
    lines = [HEAD.format(version=onnx.__version__)]
    for case in cases:
        words = [case.id, str(case.outcome), *case.digests(), *([CORE] if case.id in chosen else [])]
        lines.append(" ".join(words) + "\n")
    return "".join(lines)


def _text_of(name: str) -> str:
    return text(registry.load().named(name))


def _texts(ops: Sequence[Op], jobs: int) -> Iterator[str]:
    """Yield the manifest of each operator, generated in `jobs` processes."""
    if jobs == 1 or len(ops) == 1:
        yield from map(text, ops)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(_text_of, map(str, ops))


def write(ops: Iterable[Op], folder: Path, jobs: int = 1, *, whole: bool = True) -> list[Path]:
    """Write the files of operators.

    Args:
        ops: the operators.
        folder: the folder of the manifest.
        jobs: number of processes that generate the cases.
        whole: whether these are all operators; if so, the files of others are removed.
    """
    files = {folder / file_name(op): op for op in ops}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, new in zip(files, _texts(list(files.values()), jobs), strict=True):
            path.write_text(new)
        for path in set(folder.glob("*.txt")) - set(files) if whole else ():
            path.unlink()
    except OSError as error:
        raise ManifestError(f"cannot write {error.filename}: {error.strerror}") from error
    return sorted(files)


@functools.cache
def entries(op: Op) -> tuple[Entry, ...] | None:
    """Return the entries of an operator's cases, in their order.

    None if there is no file, or one without a core, or one with other names, types or versions than are declared.
    """
    path = _file(op)
    if path is None:
        return None
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    entries = tuple(Entry(words[0], words[1], words[-1] == CORE) for words in rows)
    versions = registry.versions(op)
    declared = {stem for version in versions for stem in plans.stems(version, op)}
    # A derived case exists only if it has an answer.
    possible = {stem for version in versions for stem in plans.stems(version, derived.cases(op, version))}
    stems = {entry.id.partition("@")[0] for entry in entries}
    whole = declared <= stems and stems - declared <= possible and any(entry.core for entry in entries)
    return entries if whole else None


def counts(op: Op, *, of_core: bool = False, wanted: Callable[[str], bool] | None = None) -> Counter[str]:
    """Return how many cases of each operator version the manifest has; it is not checked.

    Args:
        op: the operator.
        of_core: only of its core.
        wanted: a predicate on ids; None: all.
    """
    path = _file(op)
    if path is None:
        return Counter()
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    names = [words[0] for words in rows if not of_core or words[-1] == CORE]
    return Counter("/".join(name.split("/")[:3]) for name in names if wanted is None or wanted(name))


def _file(op: Op) -> Path | None:
    path = GENERATED / file_name(op)
    return path if path.is_file() else None


def check(ops: Iterable[Op], folder: Path, jobs: int = 1, *, whole: bool = True) -> Iterator[str]:
    """Yield a line for every difference between the committed manifest and the cases generated now; see `write`."""
    files = {folder / file_name(op): op for op in ops}
    for path, new_text in zip(files, _texts(list(files.values()), jobs), strict=True):
        try:
            old = path.read_text().splitlines()
        except OSError as error:
            yield f"{path}: cannot be read: {error.strerror}; `onnx-conformance manifest` writes it"
            continue
        new = new_text.splitlines()
        if old[:1] != new[:1]:
            yield f"{path}: written with another onnx: {(old or [''])[0]!r}, now {onnx.__version__}"
        changes = [line for line in difflib.unified_diff(old[1:], new[1:], n=0, lineterm="") if line[:1] in "+-"][2:]
        yield from (f"{path}: {line}" for line in changes[:SHOWN])
        if len(changes) > SHOWN:
            yield f"{path}: and {len(changes) - SHOWN} more lines"
    for path in sorted(set(folder.glob("*.txt")) - set(files)) if whole else ():
        yield f"{path}: no operator file declares this operator"
