# SPDX-License-Identifier: Apache-2.0
"""`generated_cases/`: the declared cases of each operator, their forms, and the forms in the core.

A line is one declared case:

    1/lengths_zero values RLmbSUwR4m4nTzqPKz9dLQPu1Ya9sVi0E plain* omitted symbolic*

It contains the operator version and the name of the case, the expected outcome, the digests of all forms, and the
forms. A digest has 11 characters; the first is that of the first form. `*` marks the forms in the core. A form with
another outcome is written as `expanded=unspecified`.

The files are committed, so a review shows every change of a case, whether its reason is a declaration, the engine or
onnx itself. They are also read to list or select cases, because that is faster than generating them. The cases of a
pack are compared with the digests. Each form has its own, because a pack may have only some forms of a case: those of
the core, of a shard or of a sample.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import onnx

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import GENERATED
from onnx_conformance.base.worker_pool import worker_pool
from onnx_conformance.case.case import PLAIN, delivered_id
from onnx_conformance.case.encoding import DIGEST
from onnx_conformance.generation import core, derived, expansion, plans, sized
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op

HEAD = "# case, expected outcome, digests of all its forms, forms (* in the core); onnx {version}\n"
CORE = "*"
_WORDS = 2
"""The spaces of a line before those in front of its forms: name, outcome and digests are before the forms."""
SHOWN = 40


class ManifestError(HarnessError):
    """The manifest cannot be read or written."""


class Entry(NamedTuple):
    """The entry of one case in the manifest.

    Attributes:
        id: the id of the case.
        outcome: the outcome that the text requires.
        digest: of the case; see `case.encoding`.
        core: whether the case is in the core.
    """

    id: str
    outcome: str
    digest: str
    core: bool


def file_name(op: Op | str) -> str:
    """Return the name of an operator's file; the operator may also be a name such as ai.onnx/Split."""
    return f"{str(op).replace('/', '.')}.txt"


@dataclass(frozen=True)
class Line:
    """A declared case in the manifest.

    Attributes:
        stem: the id of its plain form.
        outcome: the expected outcome of its plain form.
        entries: one entry for each form, with the plain one first.
    """

    stem: str
    outcome: str
    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, cases: Sequence[Case], chosen: Container[str]) -> Line:
        """Return the line of one declared case.

        Args:
            cases: the case in all its forms, with the plain one first.
            chosen: the ids in the core.
        """
        entries = tuple(Entry(case.id, str(case.outcome), case.digest(), case.id in chosen) for case in cases)
        return cls(cases[0].id, str(cases[0].outcome), entries)

    @classmethod
    def parsed(cls, op: str, text: str) -> Line:
        """Return a line from its text.

        Args:
            op: the operator, such as ai.onnx/Split.
            text: the text of the line.

        Raises:
            ValueError: the text has another format.
        """
        entries = tuple(Entry(*entry) for entry in _entries(op, text))
        return cls(entries[0].id, entries[0].outcome, entries)

    def __str__(self) -> str:
        """Return the text of the line, without its end."""
        words = []
        for entry in self.entries:
            own = "" if entry.outcome == self.outcome else f"={entry.outcome}"
            words.append(f"{entry.id[len(self.stem) + 1 :] or PLAIN}{own}{CORE if entry.core else ''}")
        digests = "".join(entry.digest for entry in self.entries)
        return " ".join([self.stem.split("/", 2)[2], self.outcome, digests, *words])


def _entries(op: str, text: str, *, of_core: bool = False) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the fields of the entries of a line; only tuples, because a run reads many lines.

    Args:
        op: the operator.
        text: the text of the line.
        of_core: whether to yield only the core.

    Raises:
        ValueError: the text has another format.
    """
    name, outcome, digests, *forms = text.split()
    if len(digests) != DIGEST * len(forms) or not forms:
        raise ValueError(f"{name}: {len(digests)} characters of digests, expected {DIGEST} for each form")
    for place, word in enumerate(forms):
        form, of_form = word.removesuffix(CORE), word.endswith(CORE)
        if of_form or not of_core:
            form, _, own = form.partition("=")
            digest = digests[place * DIGEST : (place + 1) * DIGEST]
            yield delivered_id(f"{op}/{name}", form), own or outcome, digest, of_form


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
    with worker_pool(jobs) as pool:
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


def entries(op: Op) -> tuple[Entry, ...] | None:
    """Return the entries of an operator's cases, in their order.

    Returns None if there is no file, if it has no core, or if its names, types or versions differ from the declared
    ones.
    """
    versions = registry.versions(op)
    found = [entries_of(op, version.since) for version in versions]
    if {version.since for version in versions} != _texts_by_version(op).keys():
        return None
    return tuple(entry for of_version in found for entry in of_version or ()) if None not in found else None


@functools.cache
def entries_of(op: Op, since: int) -> tuple[Entry, ...] | None:
    """Return the entries of a version's cases, as `entries` does; a worker needs only the versions of its slices."""
    texts = _texts_by_version(op)
    if not any(CORE in text for of_version in texts.values() for text in of_version):
        return None
    try:
        lines = [Line.parsed(str(op), text) for text in texts.get(since, ())]
    except ValueError:
        return None
    version = next(item for item in registry.versions(op) if item.since == since)
    declared = set(expansion.stems(version, [*op, *sized.of_core(op, version)]))
    # A derived case exists only if it has an answer.
    possible = set(expansion.stems(version, derived.cases(op, version)))
    stems = {line.stem for line in lines}
    whole = declared <= stems and stems - declared <= possible
    return tuple(entry for line in lines for entry in line.entries) if whole else None


@functools.cache
def _texts_by_version(op: Op) -> Mapping[int, Sequence[str]]:
    """Return the lines of an operator's file by the number of their version; none if it cannot be read."""
    texts: dict[int, list[str]] = {}
    path = _file(op)
    with contextlib.suppress(OSError, ValueError):
        for text in _texts_of_lines(path) if path is not None else ():
            texts.setdefault(int(text.partition("/")[0]), []).append(text)
        return texts
    return {}


def counts(op: Op, *, of_core: bool, wanted: Callable[[str], bool]) -> Counter[str]:
    """Return the number of cases of each operator version in the manifest, without checking the manifest.

    Args:
        op: the operator.
        of_core: whether to count only the core.
        wanted: a predicate on ids.
    """
    path = _file(op)
    if path is None:
        return Counter()
    names = [entry.id for line in _lines(path, op) for entry in line.entries if entry.core or not of_core]
    return Counter("/".join(name.split("/")[:3]) for name in names if wanted(name))


class Counts(NamedTuple):
    """The numbers of cases of an operator version in the manifest."""

    cases: int
    core: int


def all_counts() -> dict[str, Counts]:
    """Return the numbers of cases of all operator versions, without the ids, which take much longer.

    Every command that selects cases waits for this.
    """
    found: dict[str, Counts] = {}
    for path in sorted(GENERATED.glob("*.txt")):
        op = "/".join(path.stem.rsplit(".", 1))
        for text in _texts_of_lines(path):
            version = f"{op}/{text.partition('/')[0]}"
            cases, core = found.get(version, (0, 0))
            found[version] = Counts(cases + text.count(" ") - _WORDS, core + text.count(CORE))
    return found


def digests(operator: str, *, of_core: bool, wanted: Callable[[str], bool]) -> dict[str, str] | None:
    """Return the digests of cases of an operator version by id; None if the manifest has none for the installed onnx.

    Args:
        operator: the operator version, such as ai.onnx/Split/18. Its operator file need not be loaded.
        of_core: whether to return only the core.
        wanted: a predicate on ids.
    """
    op, _, since = operator.rpartition("/")
    try:
        text = (GENERATED / file_name(op)).read_text(encoding="utf-8")
        if not text.startswith(HEAD.format(version=onnx.__version__)):
            return None
        lines = (line for line in text.splitlines() if line.startswith(f"{since}/") and (CORE in line or not of_core))
        entries = (entry for line in lines for entry in _entries(op, line, of_core=of_core))
        return {case_id: digest for case_id, _, digest, _ in entries if wanted(case_id)}
    except (OSError, ValueError):
        return None


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
