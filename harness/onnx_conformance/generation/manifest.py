"""`generated_cases/`: the declared cases of each operator, their forms, and the forms in the core.

A line is one declared case:

    1/lengths values 7f0c3a5e19d2b684 plain* omitted symbolic* if_branch*

It contains the operator version and the name of the case, the expected outcome, one digest over its models, inputs and
expected outcomes in all forms, and the forms. `*` marks the forms in the core. A form with another outcome is written
as `expanded=unspecified`.

The files are committed, so a review shows every change of a case, whether its reason is a declaration, the engine or
onnx itself. They are also read to list or select cases, because that is faster than generating them.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import itertools
import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import GENERATED
from onnx_conformance.case.case import PLAIN, delivered_id
from onnx_conformance.generation import core, derived, plans
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op

HEAD = "# case, expected outcome, digest over all its forms, forms (* in the core); onnx {version}\n"
CORE = "*"
SHOWN = 40


class ManifestError(HarnessError):
    """The manifest cannot be read or written."""


class Entry(NamedTuple):
    """The entry of one case in the manifest.

    Attributes:
        id: the id of the case.
        outcome: the outcome that the text requires.
        core: whether the case is in the core.
    """

    id: str
    outcome: str
    core: bool


def file_name(op: Op) -> str:
    """Return the name of an operator's file."""
    return f"{op.domain}.{op.name}.txt"


@dataclass(frozen=True)
class Line:
    """A declared case in the manifest.

    Attributes:
        stem: the id of its plain form.
        outcome: the expected outcome of its plain form.
        digest: a digest over all forms.
        entries: one entry for each form, with the plain one first.
    """

    stem: str
    outcome: str
    digest: str
    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, cases: Sequence[Case], chosen: Container[str]) -> Line:
        """Return the line of one declared case.

        Args:
            cases: the case in all its forms, with the plain one first.
            chosen: the ids in the core.
        """
        hashed = hashlib.sha256()
        for case in cases:
            hashed.update(" ".join([case.form, str(case.outcome), *case.digests(), ""]).encode())
        entries = tuple(Entry(case.id, str(case.outcome), case.id in chosen) for case in cases)
        return cls(cases[0].id, str(cases[0].outcome), hashed.hexdigest()[:16], entries)

    @classmethod
    def parsed(cls, op: str, text: str) -> Line:
        """Return a line from its text.

        Args:
            op: the operator, such as ai.onnx/Split.
            text: the text of the line.

        Raises:
            ValueError: the text has another format.
        """
        name, outcome, digest, *forms = text.split()
        stem, entries = f"{op}/{name}", []
        for word in forms:
            form, _, own = word.removesuffix(CORE).partition("=")
            entries.append(Entry(delivered_id(stem, form), own or outcome, word.endswith(CORE)))
        return cls(stem, outcome, digest, tuple(entries))

    def __str__(self) -> str:
        """Return the text of the line, without its end."""
        words = []
        for entry in self.entries:
            own = "" if entry.outcome == self.outcome else f"={entry.outcome}"
            words.append(f"{entry.id[len(self.stem) + 1 :] or PLAIN}{own}{CORE if entry.core else ''}")
        return " ".join([self.stem.split("/", 2)[2], self.outcome, self.digest, *words])


def text(op: Op) -> str:
    """Return the manifest of one operator."""
    cases = list(plans.cases(op))
    chosen = core.choose(op, cases)
    lines = [HEAD.format(version=onnx.__version__)]
    for _, forms in itertools.groupby(cases, lambda case: case.id.partition("@")[0]):
        lines.append(f"{Line.of(list(forms), chosen)}\n")
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
        raise ManifestError("manifest-not-writable", f"cannot write {error.filename}: {error.strerror}") from error
    return sorted(files)


@functools.cache
def entries(op: Op) -> tuple[Entry, ...] | None:
    """Return the entries of an operator's cases, in their order.

    Returns None if there is no file, if it has no core, or if its names, types or versions differ from the declared
    ones.
    """
    path = _file(op)
    if path is None:
        return None
    try:
        entries = tuple(entry for line in _lines(path, op) for entry in line.entries)
    except (OSError, ValueError):
        return None
    versions = registry.versions(op)
    declared = {stem for version in versions for stem in plans.stems(version, op)}
    # A derived case exists only if it has an answer.
    possible = {stem for version in versions for stem in plans.stems(version, derived.cases(op, version))}
    stems = {entry.id.partition("@")[0] for entry in entries}
    whole = declared <= stems and stems - declared <= possible and any(entry.core for entry in entries)
    return entries if whole else None


def counts(op: Op, *, of_core: bool = False, wanted: Callable[[str], bool] | None = None) -> Counter[str]:
    """Return the number of cases of each operator version in the manifest, without checking the manifest.

    Args:
        op: the operator.
        of_core: whether to count only the core.
        wanted: a predicate on ids; None for all cases.
    """
    path = _file(op)
    if path is None:
        return Counter()
    if wanted is None:
        return _all_counts(path, op, of_core=of_core)
    names = [entry.id for line in _lines(path, op) for entry in line.entries if entry.core or not of_core]
    return Counter("/".join(name.split("/")[:3]) for name in names if wanted(name))


def _all_counts(path: Path, op: Op, *, of_core: bool) -> Counter[str]:
    """Return the counts without the ids, which take much longer: a run with an empty cache waits for all operators."""
    found: Counter[str] = Counter()
    for text in _texts_of_lines(path):
        name, _, _, *forms = text.split()
        number = sum(word.endswith(CORE) for word in forms) if of_core else len(forms)
        if number:
            found[f"{op}/{name.partition('/')[0]}"] += number
    return found


def _lines(path: Path, op: Op) -> list[Line]:
    return [Line.parsed(str(op), text) for text in _texts_of_lines(path)]


def _texts_of_lines(path: Path) -> list[str]:
    return [text for text in path.read_text(encoding="utf-8").splitlines() if not text.startswith("#")]


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
