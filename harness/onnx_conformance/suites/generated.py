# SPDX-License-Identifier: Apache-2.0
"""The suite `generated`: the cases that the operator files declare."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections import Counter
from typing import TYPE_CHECKING

from onnx_conformance.base.errors import Note
from onnx_conformance.base.verdict import Unreadable, few, parts
from onnx_conformance.case.case import PLAIN
from onnx_conformance.generation import core, expansion, manifest, mutant_figures, plans, suite_digest
from onnx_conformance.specification import registry
from onnx_conformance.suites import index, packs
from onnx_conformance.suites.claims import form_of
from onnx_conformance.suites.selection import Listed, listed
from onnx_conformance.suites.slices import divided
from onnx_conformance.suites.suite import Outlook

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import CaseSpec, Op
    from onnx_conformance.specification.model_use import Use
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.slices import Slice


FORMS_EACH = 3.4
"""Average number of forms of a declared case."""


@functools.cache
def operator_digest(operator: str) -> str:
    """Return a digest of the source of the cases of an operator such as ai.onnx/Split; empty for an unknown one."""
    op = registry.load().find(*operator.rpartition("/")[::2]) if "/" in operator else None
    return "" if op is None else mutant_figures.digest(op)


class Generated:
    """The cases that the operator files declare."""

    name = "generated"
    makes = True
    planned = True
    has_core = True

    def __init__(self) -> None:
        """Load nothing yet: that takes a second."""
        self.unreadable: list[Unreadable] = []
        self._packs: dict[Slice, packs.Pack | packs.Packer] = {}
        self._fitting: dict[tuple[str, str], Mapping[str, Callable[[str, str], bool]]] = {}

    @property
    def _registry(self) -> registry.Registry:
        return registry.load()

    @functools.cached_property
    def index(self) -> index.Index:
        """The cases that the operator files declare."""
        return index.index(suite_digest.of_code())

    def digest(self) -> str:
        """Return a digest of the cases; see `generation.suite_digest`."""
        return suite_digest.digest()

    def left_out(self, selection: Selection) -> list[Note]:
        """Return messages on operator versions that only the installed onnx, or only this project, has.

        Who selects cases by name knows which operator versions they are of.
        """
        if selection.cases or selection.ids:
            return []
        said = [
            (note, [name for name in names if selection.takes_operator(name)])
            for note, names in index.left_out(self.index)
        ]
        return [Note(note.id, f"{note.text}{few(names)}") for note, names in said if names]

    def operators(self) -> list[str]:
        """Return the declared operator versions."""
        return list(self.index.cases)

    def outlook(self, selection: Selection) -> Outlook | None:
        """Return the number of cases; None if ids or forms are selected, which only generated cases have."""
        if selection.at_most is not None and selection.ids:
            return Outlook(
                Counter("/".join(case.split("/", 3)[:3]) for case in filter(selection.takes_id, selection.ids))
            )
        if selection.cases or selection.ids or selection.forms or selection.narrowing:
            return None
        if selection.tags:
            declared = {
                str(version): sum(1 for _ in expansion.stems(version, _selected(op, version, selection)))
                for op in self._registry.some(selection.may_have)
                for version in registry.versions(op)
                if selection.takes_operator(str(version))
            }
            return Outlook(declared, FORMS_EACH * selection.share)
        counts = self.index.core if selection.core else self.index.cases
        return Outlook({name: n for name, n in counts.items() if selection.takes_operator(name)}, selection.share)

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases, by operator, version, declaration, type and form."""
        part = selection.slice
        if part is None or selection.by_name or not packs.is_on():
            for op in self._of(part, selection):
                yield from self._cases(op, selection)
        else:
            yield from self._packed(part, selection)

    def _packed(self, part: Slice, selection: Selection) -> Iterator[Case]:
        """Yield the cases of a slice from its pack; without a pack, generate the cases and write it."""
        words = (str(part), str(selection.core), str(selection.shard), str(selection.sample), str(selection.narrowing))
        key = packs.key(self.name, suite_digest.of_code(), *words)
        digests = self._digests(part, selection)
        pack = packs.read(key, plans.allowance_of_case, digests)
        if pack is not None:
            self._packs[part] = pack
            selection.takes_operator(part.operator)  # The key depends on nothing else in the selection.
            yield from pack
            return
        self._packs[part] = packer = packs.Packer(key, digests)
        for case in itertools.chain.from_iterable(self._cases(op, selection) for op in self._of(part, selection)):
            packer.add(case)
            yield case
        packer.write()

    def _digests(self, part: Slice, selection: Selection) -> dict[str, str] | None:
        """Return the digests of the cases of a slice by id; None if the manifest does not have them."""

        def wanted(case_id: str) -> bool:
            return part.has(case_id.partition("@")[0]) and selection.takes_id(case_id) and fits(case_id)

        fits = self._fits(part.operator, selection)
        return manifest.digests(part.operator, of_core=selection.core, wanted=wanted)

    def finished(self, part: Slice) -> None:
        """Keep the bounds that answers needed."""
        if (pack := self._packs.pop(part, None)) is not None:
            pack.keep_bounds()

    def slices(self, selection: Selection) -> list[Slice]:
        """Return the selected operator versions, those with many cases in parts."""
        if not (selection.cases or selection.tags or selection.ids or selection.narrowing):
            outlook = self.outlook(dataclasses.replace(selection, forms=()))
            assert outlook is not None  # noqa: S101 - nothing is selected by name
            counts: Mapping[str, float] = {name: n * outlook.forms for name, n in outlook.declared.items()}
        else:
            counts = {}
            for op in self._registry.some(selection.may_have):
                versions = [version for version in registry.versions(op) if selection.takes_operator(str(version))]
                if versions := [version for version in versions if _selected(op, version, selection)]:
                    fits = {str(version): self._fits(str(version), selection) for version in versions}
                    of_op = manifest.counts(
                        op, of_core=selection.core, wanted=functools.partial(_counted, fits, selection)
                    )
                    counts |= {str(version): of_op.get(str(version), 1) for version in versions}
        return [part for name, count in counts.items() for part in divided(name, count)]

    def _of(self, part: Slice | None, selection: Selection) -> Iterable[Op]:
        """Return the operators of a slice, or those that may have selected cases."""
        op = self._registry.find(*part.operator.split("/")[:2]) if part is not None and part.operator else None
        return self._registry.some(selection.may_have) if op is None else [op]

    def _cases(self, op: Op, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases of an operator."""
        versions = [version for version in registry.versions(op) if selection.takes_operator(str(version))]
        of_core = self._core(op, versions) if selection.core and versions else frozenset()
        declared = {case_id.partition("@")[0] for case_id in of_core}
        part = selection.slice

        def wanted(case_id: str) -> bool:
            here = part is None or part.has(case_id.partition("@")[0])  # All forms of a case, which share one plan.
            return (
                here and (not selection.core or case_id in of_core) and selection.may_take_id(case_id) and fits(case_id)
            )

        for version in versions:
            fits = self._fits(str(version), selection)
            specs = _selected(op, version, selection)
            if selection.core:  # Of most declared cases no form is in the core; then their types need not be listed.
                names = {parts(stem, str(version))[0] for stem in declared if stem.startswith(f"{version}/")}
                specs = [spec for spec in specs if spec.name in names]
            if specs:
                yield from filter(selection.takes_named, plans.cases(op, (version.since,), specs, wanted))

    def _fits(self, operator: str, selection: Selection) -> Callable[[str], bool]:
        """Return a predicate on the ids of an operator version: whether `selection.narrowing` takes the case."""
        narrowing = selection.narrowing
        if not narrowing:
            return _any
        key = operator, str(narrowing)
        if key not in self._fitting:
            op = self._registry.find(*operator.split("/")[:2])
            assert op is not None  # noqa: S101 - the suite has its cases
            version = next(item for item in registry.versions(op) if str(item) == operator)
            found = ((stem, narrowing.fits(use)) for stem, use in plans.uses(op, version))
            self._fitting[key] = {stem: fits for stem, fits in found if fits is not None}
        stems = self._fitting[key]

        def selected(case_id: str) -> bool:
            fits = stems.get(case_id.partition("@")[0])
            return fits is not None and fits(case_id, form_of(case_id))

        return selected

    def uses(self, operator: str) -> dict[str, Use]:
        """Return by id of a declared case of an operator version, without its form, how it uses the operator."""
        op = self._registry.find(*operator.split("/")[:2])
        version = next((item for item in registry.versions(op) if str(item) == operator), None) if op else None
        return dict(plans.uses(op, version)) if op and version else {}

    def _core(self, op: Op, versions: Iterable[OperatorVersion]) -> frozenset[str]:
        """Return the ids of versions in the core; computed if the manifest does not match the declarations."""
        found: set[str] = set()
        for version in versions:
            entries = manifest.entries_of(op, version.since)
            if entries is None:
                return frozenset(core.choose(op, plans.cases(op)))
            found.update(entry.id for entry in entries if entry.core)
        return frozenset(found)

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield summaries of the selected cases; only operators without a matching manifest are generated."""
        for op in self._registry.some(selection.may_have):
            if not [version for version in registry.versions(op) if selection.takes_operator(str(version))]:
                continue
            entries = manifest.entries(op)
            if entries is None:
                yield from listed(self._cases(op, selection))
                continue
            versions = registry.versions(op)
            tags = {(str(item), spec.name): spec.tags for item in versions for spec in plans.specs_of(op, item)}
            fits = {
                str(item): self._fits(str(item), selection) for item in versions if selection.takes_operator(str(item))
            }
            for entry in entries:
                operator, _, rest = entry.id.partition("@")[0].partition("/")
                operator = "/".join([operator, *rest.split("/")[:2]])
                item = Listed(
                    id=entry.id,
                    operator=operator,
                    form=entry.id.partition("@")[2] or PLAIN,
                    outcome=entry.outcome,
                    tags=tags.get((operator, parts(entry.id, operator)[0]), frozenset()),
                    core=entry.core,
                )
                if (entry.core or not selection.core) and selection.takes_named(item) and fits[operator](entry.id):
                    yield item


def _any(case_id: str) -> bool:
    """Return True for every id."""
    del case_id
    return True


def _counted(fits: Mapping[str, Callable[[str], bool]], selection: Selection, case_id: str) -> bool:
    """Return whether a case of the manifest is selected, as far as its id shows it."""
    fit = fits.get("/".join(case_id.split("/", 3)[:3]))
    return fit is not None and selection.would_take(case_id) and fit(case_id)


def _selected(op: Op, version: OperatorVersion, selection: Selection) -> list[CaseSpec]:
    return [spec for spec in plans.specs_of(op, version) if selection.may_take(str(version), spec.tags)]
