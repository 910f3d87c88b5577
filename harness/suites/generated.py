"""The suite `generated`: the cases that the operator files declare."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import onnx

import harness
from harness.case.case import PLAIN, Case
from harness.generation import core, manifest, plans
from harness.spec import registry, rewordings, schema
from harness.suites import packs
from harness.suites.selection import Listed, listed
from harness.suites.slices import divided
from harness.suites.suite import Outlook
from harness.verdict import Unreadable, parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.declare import CaseSpec, Op
    from harness.spec.schema import OperatorVersion
    from harness.suites.selection import Selection
    from harness.suites.slices import Slice


FORMS_EACH = 3.4
"""Average number of forms of a declared case."""


MACHINERY = ("operators", "declare", "spec", "generation")
"""The packages that generate the cases."""


def digest() -> str:
    """Return a digest of the operator files, the code that expands them, and the version of onnx."""
    return hashlib.sha256(f"{onnx.__version__} {_code()}".encode()).hexdigest()[:16]


@functools.cache
def _code() -> str:
    """Return a digest of the operator files and the code that expands them, as they were when this process began."""
    hashed = hashlib.sha256()
    here = Path(harness.__file__).parent
    for path in sorted(path for name in MACHINERY for path in (here / name).rglob("*.py")):
        hashed.update(str(path.relative_to(here)).encode() + path.read_bytes())
    return hashed.hexdigest()


class Generated:
    """The cases that the operator files declare."""

    name = "generated"
    makes = True

    def __init__(self) -> None:
        """Load the operator files."""
        self.unreadable: list[Unreadable] = []
        self._registry = registry.load()
        self._packs: dict[Slice, packs.Pack | packs.Packer] = {}

    def digest(self) -> str:
        """Return a digest of the operator files, the code that expands them, and the version of onnx."""
        return digest()

    def left_out(self, selection: Selection) -> list[str]:
        """Return messages on operator versions that only the installed onnx, or only this project, has.

        Who selects cases by name knows which operator versions they are of.
        """
        if selection.cases or selection.ids:
            return []
        new = [f"{op}/{since}" for op in self._registry for since in registry.undeclared(op)]
        new += [name for path, each in schema.every().items() if not self._has(path) for name in each]
        gone = [f"{op}/{since}" for op in self._registry for since in registry.missing(op)]
        otherwise = [str(version) for op in self._registry for version in registry.versions(op) if _unread(op, version)]
        named = [name for name in otherwise if selection.takes_operator(name)]
        reworded = f"onnx {onnx.__version__} rewords sentences; cases that cite them are left open: "
        return [f"{reworded}{_few(named)}"] * bool(named) + [
            f"onnx {onnx.__version__} {what}; no case of suite {self.name} is of {them}: {_few(names)}"
            for what, them, every in (
                ("has operator versions that are not declared here", "them", new),
                ("lacks operator versions that are declared here", "them", gone),
            )
            if (names := [name for name in every if selection.takes_operator(name)])
        ]

    def _has(self, path: str) -> bool:
        domain, name = path.split("/")
        return self._registry.find(domain, name) is not None

    def operators(self) -> list[str]:
        """Return the declared operator versions."""
        return [str(version) for op in self._registry for version in registry.versions(op)]

    def outlook(self, selection: Selection) -> Outlook | None:
        """Return the number of declared cases; None if ids or forms are selected, which only generated cases have."""
        if selection.cases or selection.ids or selection.forms:
            return None
        declared = {
            str(version): sum(1 for _ in plans.stems(version, _selected(op, version, selection)))
            for op in self._registry
            for version in registry.versions(op)
            if selection.takes_operator(str(version))
        }
        return Outlook(declared, FORMS_EACH * selection.share)

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases, by operator, version, declaration, type and form."""
        part = selection.slice
        if part is None or selection.cases or selection.tags or selection.forms or selection.ids or not packs.is_on():
            for op in self._of(part):
                yield from self._cases(op, selection)
        else:
            yield from self._packed(part, selection)

    def _packed(self, part: Slice, selection: Selection) -> Iterator[Case]:
        """Yield the cases of a slice from its pack; make them, and the pack, where there is none."""
        [op] = self._of(part)
        words = (str(part), str(selection.core), str(selection.shard), str(selection.sample))
        key = packs.key(self.name, self.digest(), *words)
        pack = packs.read(key, functools.partial(_made_again, op))
        if pack is not None:
            self._packs[part] = pack
            selection.takes_operator(part.operator)  # Nothing else of the selection but what the key is of.
            yield from pack
            return
        self._packs[part] = packer = packs.Packer(key)
        for case in self._cases(op, selection):
            packer.add(case)
            yield case
        packer.write()

    def finished(self, part: Slice) -> None:
        """Keep the bounds that answers needed."""
        if (pack := self._packs.pop(part, None)) is not None:
            pack.keep_bounds()

    def slices(self, selection: Selection) -> list[Slice]:
        """Return the selected operator versions, those with many cases in parts."""
        slices: list[Slice] = []
        narrow = bool(selection.cases or selection.tags or selection.ids)
        for op in self._registry:
            versions = [version for version in registry.versions(op) if selection.takes_operator(str(version))]
            if narrow:
                versions = [version for version in versions if _selected(op, version, selection)]
            if versions:
                wanted = selection.would_take if narrow or selection.partial else None
                counts = manifest.counts(op, of_core=selection.core, wanted=wanted)
                for version in versions:
                    slices += divided(str(version), counts.get(str(version), 1))
        return slices

    def _of(self, part: Slice | None) -> Iterable[Op]:
        """Return the operators of a slice."""
        op = self._registry.find(*part.operator.split("/")[:2]) if part is not None and part.operator else None
        return self._registry if op is None else [op]

    def _cases(self, op: Op, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases of an operator."""
        versions = [version for version in registry.versions(op) if selection.takes_operator(str(version))]
        of_core = self._core(op) if selection.core and versions else frozenset()
        part = selection.slice

        def wanted(case_id: str) -> bool:
            here = part is None or part.has(case_id.partition("@")[0])  # All forms of a case, which share one plan.
            return here and (not selection.core or case_id in of_core) and selection.may_take_id(case_id)

        for version in versions:
            specs = _selected(op, version, selection)
            yield from filter(selection.takes, plans.cases(op, (version.since,), specs, wanted))

    def _core(self, op: Op) -> frozenset[str]:
        """Return the ids of an operator's core; computed if the manifest does not match the declarations."""
        entries = manifest.entries(op)
        if entries is None:
            return frozenset(core.choose(op, plans.cases(op)))
        return frozenset(entry.id for entry in entries if entry.core)

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield summaries of the selected cases; only operators without a matching manifest are generated."""
        for op in self._registry:
            if not [version for version in registry.versions(op) if selection.takes_operator(str(version))]:
                continue
            entries = manifest.entries(op)
            if entries is None:
                yield from listed(self._cases(op, selection))
                continue
            versions = registry.versions(op)
            tags = {(str(item), spec.name): spec.tags for item in versions for spec in plans.specs_of(op, item)}
            for entry in entries:
                operator, _, rest = entry.id.partition("@")[0].partition("/")
                operator = "/".join([operator, *rest.split("/")[:2]])
                item = Listed(
                    id=entry.id,
                    operator=operator,
                    form=entry.id.partition("@")[2] or PLAIN,
                    outcome=entry.outcome,
                    tags=tags.get((operator, parts(entry.id, operator)[0]), frozenset()),
                )
                if (entry.core or not selection.core) and selection.takes(item):
                    yield item


def _made_again(op: Op, case_id: str) -> Case:
    """Return the case of an operator with this id."""
    since = int(case_id.split("/")[2])
    return next(plans.cases(op, (since,), None, case_id.__eq__))


def _unread(op: Op, version: OperatorVersion) -> bool:
    return bool(rewordings.unread(version, (item for item in op.clauses if item.in_force(version.since))))


def _selected(op: Op, version: OperatorVersion, selection: Selection) -> list[CaseSpec]:
    return [spec for spec in plans.specs_of(op, version) if selection.may_take(str(version), spec.tags)]


def _few(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
