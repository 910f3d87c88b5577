# SPDX-License-Identifier: Apache-2.0
"""Select cases of a suite: by operators, opsets, types, ids, tags and forms; the core, samples, shards, a number."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import math
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from onnx_conformance.base import globs
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.sample import in_sample, in_shard
from onnx_conformance.base.values import Drawn
from onnx_conformance.suites.claims import form_of
from onnx_conformance.suites.narrowing import Narrowing
from onnx_conformance.suites.operator_versions import Opsets, Pattern, is_newest, respelled, since_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.suites.slices import Slice


class SelectionError(HarnessError):
    """A selection names something that the suite does not have."""


NOT = "!"
"""The beginning of a --tag that excludes cases."""
MOST_IN_A_BYTE = 4
"""Maximum number of elements in a byte of a model: those of 2-bit types."""


@dataclass
class Selection:
    """Which cases of a suite are selected; empty tuples select everything.

    Attributes:
        ops: globs over operators: Split*, Split/18, ai.onnx/Split/18, Conv/>=11,<22.
        cases: globs over case ids.
        tags: globs over tags; one that begins with ! excludes the cases with such a tag.
        shard: (i, n), i from 1.
        sample: n, to select 1 case in n; 1: all. Not part of `str()`, because it may differ by backend.
        core: only the core of each operator; see `onnx_conformance.generation.core`.
        ids: only cases with exactly these ids.
        forms: globs over forms: plain, symbolic, initializer*.
        slice: only this part of the cases; None: all of them.
        max_elements: only cases whose tensors have at most this number of elements; None: any number. Known only when
            a case is generated, so a worker leaves the others out, and counts them.
        opsets: only operator versions that these opsets introduced; None: any.
        newest: only the newest version of each operator, of those in `opsets`.
        narrowing: limits on how the operator is called.
        at_most: at most this number of cases, the most important first; None: any number. `check_selection` determines
            them, and stores them in `ids`.
        idle: globs that have matched nothing so far, each with its option.

    Raises:
        SelectionError: a glob over operators has a comparison that cannot be read.
    """

    ops: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    shard: tuple[int, int] | None = None
    sample: int = 1
    core: bool = False
    ids: frozenset[str] = frozenset()
    forms: tuple[str, ...] = ()
    slice: Slice | None = None
    max_elements: int | None = None
    opsets: Opsets | None = None
    newest: bool = False
    narrowing: Narrowing = field(default_factory=Narrowing)
    at_most: int | None = None
    idle: set[tuple[str, str]] = field(init=False)
    _operators: dict[str, bool] = field(init=False, default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Mark every glob as not yet matched."""
        for text in self.ops:
            try:
                Pattern.parse(text)
            except ValueError:
                raise SelectionError(
                    "not-an-operator-glob",
                    f"--op {text!r} has a comparison that cannot be read; write the name, a slash and comparisons, "
                    "such as Conv/>=11 or Conv/>=11,<22",
                ) from None
        self.idle = {(option, glob) for option, several in self._globs for glob in several}

    def within(self, part: Slice) -> Selection:
        """Return a selection of the same cases, but only those of a slice; a glob is idle in it where it is here."""
        selection = dataclasses.replace(self, slice=part)
        selection.idle &= self.idle
        selection._operators = self._operators  # noqa: SLF001 - of the same globs
        return selection

    @property
    def _globs(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The globs by option, in the order of a command line."""
        return (("--op", self.ops), ("--case", self.cases), ("--tag", self.tags), ("--form", self.forms))

    def takes_operator(self, operator: str) -> bool:
        """Return whether an operator version, written ai.onnx/Split/18, is selected."""
        if self.slice is not None and self.slice.operator not in {"", operator}:
            return False
        if operator not in self._operators:  # Cached: it is called for each of thousands of cases.
            hits = _named(self.ops, operator)
            self.idle.difference_update(("--op", glob) for glob in hits)
            self._operators[operator] = (bool(hits) or not self.ops) and self._has_version(operator)
        return self._operators[operator]

    def _has_version(self, operator: str) -> bool:
        """Return whether the opsets and the model have an operator version, and whether it is new enough."""
        if self.opsets is not None:
            since = since_of(operator)
            if since is None or not self.opsets.has(since):
                return False
        return self.narrowing.has(operator) and (not self.newest or is_newest(operator, self.opsets))

    def respell(self, known: Iterable[str]) -> None:
        """Correct upper and lower case in globs that match none of some operators, if exactly one operator is meant."""
        names: list[str] = list(known)
        ops: list[str] = []
        for text in self.ops:
            near = [] if any(_named((text,), name) for name in names) else respelled(text, names)
            ops.append(near[0] if len(near) == 1 else text)
        if tuple(ops) != self.ops:
            self.ops = tuple(ops)
            self._operators.clear()
            self.idle = {(option, glob) for option, several in self._globs for glob in several}

    def is_too_large(self, case: Case) -> bool:
        """Return whether a tensor of a case has more elements than are wanted."""
        return self.max_elements is not None and _most_elements(case, self.max_elements) > self.max_elements

    def takes(self, case: Case) -> bool:
        """Return whether a case is selected."""
        return self.takes_named(case) and self.narrowing.takes_case(case)

    def takes_named(self, case: Case | Listed) -> bool:
        """Return whether a case is selected, not considering how its operator is called."""
        wanted = [  # All are evaluated, so that every glob that matches is recorded.
            self.takes_operator(case.operator),
            self._any("--case", self.cases, (case.id,)),
            self._tagged(case.tags),
            self._any("--form", self.forms, (case.form,)),
        ]
        return all(wanted) and self.takes_id(case.id)

    @property
    def by_name(self) -> bool:
        """Whether it selects single cases, by their names, tags or forms."""
        return bool(self.cases or self.tags or self.forms or self.ids)

    @property
    def partial(self) -> bool:
        """Whether it selects only a part of the cases that match its globs, which may be none."""
        return self.shard is not None or self.sample > 1

    @property
    def share(self) -> float:
        """The selected fraction of the cases that match its globs."""
        return 1 / (self.sample * (self.shard[1] if self.shard else 1))

    def takes_id(self, case_id: str) -> bool:
        """Return whether a case is in the shard, in the sample, and one of the ids, as far as these are set."""
        return (
            (not self.ids or case_id in self.ids)
            and (self.shard is None or in_shard(case_id, self.shard))
            and in_sample(case_id, self.sample)
        )

    def may_take_id(self, case_id: str) -> bool:
        """Return whether a generated case of this id must be generated.

        While a glob over cases has matched nothing, cases outside the shard and sample are generated too: whether a
        glob matches anything is reported for the whole suite.
        """
        form = form_of(case_id)
        named = (not self.cases or bool(_hits(self.cases, (case_id,)))) and (
            not self.forms or bool(_hits(self.forms, (form,)))
        )
        return named and (self.takes_id(case_id) or any(option != "--op" for option, _ in self.idle))

    def may_take_folder(self, case_id: str) -> bool:
        """Return whether a folder may hold a selected case: the one of this id, or one of its further data sets."""
        named = any(fnmatch.fnmatchcase(case_id, glob) or globs.may_match(glob, case_id) for glob in self.cases)
        return not self.cases or named

    def would_take(self, case_id: str) -> bool:
        """Return whether a case would be selected, judged by its id alone."""
        return (not self.cases or bool(_hits(self.cases, (case_id,)))) and self.takes_id(case_id)

    def may_take(self, operator: str, tags: Iterable[str]) -> bool:
        """Return whether a case of this operator version with these tags may be selected and so must be generated."""
        return self._may_be_of(operator) and self._takes_tags(self._tag_hits(tags))

    def may_have(self, operator: str) -> bool:
        """Return whether cases of an operator version may be selected; no glob is recorded as matching."""
        if self.slice is not None and self.slice.operator not in {"", operator}:
            return False
        named = not self.ops or bool(_named(self.ops, operator))
        return named and self._has_version(operator) and self._may_be_of(operator)

    def _may_be_of(self, operator: str) -> bool:
        """Return whether a case of this operator version may have a selected id."""
        named = not self.cases or any(globs.may_match(glob, operator) for glob in self.cases)
        return named and (not self.ids or operator in self._operators_of_ids)

    @functools.cached_property
    def _operators_of_ids(self) -> frozenset[str]:
        """The operator versions whose cases have the ids."""
        return frozenset("/".join(case_id.split("/", 3)[:3]) for case_id in self.ids)

    def _any(self, option: str, globs: tuple[str, ...], names: tuple[str, ...]) -> bool:
        hits = _hits(globs, names)
        self.idle.difference_update((option, glob) for glob in hits)
        return bool(hits) or not globs

    def _tagged(self, tags: Iterable[str]) -> bool:
        """Return whether a case with these tags is selected."""
        hits = self._tag_hits(tags)
        self.idle.difference_update(("--tag", glob) for glob in hits)
        return self._takes_tags(hits)

    def _tag_hits(self, tags: Iterable[str]) -> set[str]:
        """Return the values of --tag that match one of these tags, whether they select or exclude."""
        names = tuple(tags)
        return {glob for glob in self.tags if _hits((glob.removeprefix(NOT),), names)}

    def _takes_tags(self, hits: set[str]) -> bool:
        """Return whether a case is selected whose tags match these values of --tag."""
        excluding = {glob for glob in self.tags if glob.startswith(NOT)}
        wanted = {*self.tags} - excluding
        return not hits & excluding and (not wanted or bool(hits & wanted))

    def __str__(self) -> str:
        """Return the options of the selection as on a command line."""
        return " ".join(text for text, _ in self.parts())

    def parts(self) -> Iterator[tuple[str, Selection]]:
        """Yield the text of each option that is set, and the selection without it."""
        keys = {"--op": "ops", "--case": "cases", "--tag": "tags", "--form": "forms"}
        for option, several in self._globs:
            if several:
                yield " ".join(f"{option} {_word(glob)}" for glob in several), self._without(**{keys[option]: ()})
        for text, rest in self.narrowing.parts():
            yield text, self._without(narrowing=rest)
        shard = f"{self.shard[0]}/{self.shard[1]}" if self.shard else None
        for text, key in (
            (f"--opsets {self.opsets}", "opsets"),
            ("--version newest", "newest"),
            ("--core", "core"),
            (f"--at-most {self.at_most}", "at_most"),
            (f"--shard {shard}", "shard"),
            (f"--max-elements {self.max_elements}", "max_elements"),
        ):
            nothing = _DEFAULTS[key]
            if getattr(self, key) != nothing:
                yield text, self._without(**{key: nothing})

    def _without(self, **fields: Any) -> Selection:  # noqa: ANN401 - fields of any type
        """Return the selection with other fields, before --at-most has determined the ids."""
        ids = frozenset() if self.at_most is not None else self.ids
        return dataclasses.replace(self, **{"ids": ids, **fields})


_DEFAULTS = {item.name: item.default for item in dataclasses.fields(Selection)}


def _most_elements(case: Case, limit: int) -> int:
    """Return the number of elements of the largest tensor of a case; of its model only if it may exceed a limit."""
    most = max(map(_elements, (*case.inputs.values(), *(case.expected or ()))), default=0)
    if len(case.model) * MOST_IN_A_BYTE <= limit:
        return most
    initializers = onnx.load_from_string(case.model).graph.initializer
    return max([most, *(math.prod(map(int, item.dims)) for item in initializers)])


def _elements(value: Value | Drawn) -> int:
    if isinstance(value, Drawn):
        return _elements(value.example)
    if isinstance(value, list):
        return max(map(_elements, value), default=0)
    return int(value.size) if isinstance(value, np.ndarray) else 1


def _word(glob: str) -> str:
    """Return a glob for a command line; comparisons and exclusions need quotes there."""
    return shlex.quote(glob) if set(glob) & set("<>!") else glob


def _named(ops: tuple[str, ...], operator: str) -> list[str]:
    """Return the values of --op that match an operator version."""
    return [text for text in ops if Pattern.parse(text).matches(operator)]


def _hits(globs: tuple[str, ...], names: Iterable[str]) -> list[str]:
    return [glob for glob in globs if any(fnmatch.fnmatchcase(name, glob) for name in names)]


@dataclass(frozen=True)
class Listed:
    """Data about a case that is known before it is generated.

    Attributes:
        id, operator, form, tags: as in Case.
        outcome: the outcome that the text expects.
        core: whether it is in the core; False if its suite has none.
    """

    id: str
    operator: str
    form: str
    outcome: str
    tags: frozenset[str]
    core: bool = False


def listed(cases: Iterable[Case]) -> Iterator[Listed]:
    """Yield the summaries of generated cases."""
    return (Listed(case.id, case.operator, case.form, str(case.outcome), case.tags) for case in cases)
