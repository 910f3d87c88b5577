"""What part of a suite is wanted: globs over operators, cases, tags and forms, shards, samples, the core."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness import globs
from harness.case.case import PLAIN, Case, in_sample, in_shard
from harness.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.suites.suite import Listed


class SelectionError(HarnessError):
    """A selection names something that the suite does not have."""


@dataclass
class Selection:
    """What part of a suite is wanted; empty tuples mean everything.

    Attributes:
        ops: globs over operators: Split*, Split/18, ai.onnx/Split/18.
        cases: globs over case ids.
        tags: globs over tags.
        shard: (i, n), i from 1.
        sample: n, of which 1 case is wanted; 1: all. The text leaves it out: backends differ in it.
        core: only the core of each operator; see `harness.generation.core`.
        ids: only these very cases.
        forms: globs over forms: plain, symbolic, initializer*.
        idle: globs that have matched nothing so far, with the option they came from.
    """

    ops: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    shard: tuple[int, int] | None = None
    sample: int = 1
    core: bool = False
    ids: frozenset[str] = frozenset()
    forms: tuple[str, ...] = ()
    idle: set[tuple[str, str]] = field(init=False)
    _operators: dict[str, bool] = field(init=False, default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Mark every glob as not matched yet."""
        self.idle = {(option, glob) for option, globs in self._named for glob in globs}

    @property
    def _named(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The globs by the option they come from, in the order of a command line."""
        return (("--op", self.ops), ("--case", self.cases), ("--tag", self.tags), ("--form", self.forms))

    def takes_operator(self, operator: str) -> bool:
        """Tell whether an operator version, written ai.onnx/Split/18, is wanted."""
        if operator not in self._operators:  # Each is asked for each of its cases, of which it may have thousands.
            domain, _, rest = operator.partition("/")
            name = rest.partition("/")[0]
            self._operators[operator] = self._any("--op", self.ops, (name, rest, operator, f"{domain}/{name}"))
        return self._operators[operator]

    def takes(self, case: Case | Listed) -> bool:
        """Tell whether a case is wanted."""
        wanted = [  # Each is asked, so that a glob that matches is known for it whatever the others do.
            self.takes_operator(case.operator),
            self._any("--case", self.cases, (case.id,)),
            self._any("--tag", self.tags, tuple(case.tags)),
            self._any("--form", self.forms, (case.form,)),
        ]
        return all(wanted) and self.takes_id(case.id)

    @property
    def partial(self) -> bool:
        """Whether it takes a part of the cases that its globs fit, so that none of them may be in it."""
        return self.shard is not None or self.sample > 1

    @property
    def share(self) -> float:
        """What part of the cases that its globs fit it takes."""
        return 1 / (self.sample * (self.shard[1] if self.shard else 1))

    def takes_id(self, case_id: str) -> bool:
        """Tell whether a case is in the shard, in the sample, and one of the ids, where there are such."""
        return (
            (not self.ids or case_id in self.ids)
            and (self.shard is None or in_shard(case_id, self.shard))
            and in_sample(case_id, self.sample)
        )

    def may_take_id(self, case_id: str) -> bool:
        """Tell whether a generated case of this id may have to be seen; spares making it.

        As long as a glob over cases has matched nothing, all that it fits are: whether it matches anything is told of
        the suite, not of the part of it that runs.
        """
        form = case_id.partition("@")[2] or PLAIN
        named = (not self.cases or bool(_hits(self.cases, (case_id,)))) and (
            not self.forms or bool(_hits(self.forms, (form,)))
        )
        return named and (self.takes_id(case_id) or any(option != "--op" for option, _ in self.idle))

    def may_take_folder(self, case_id: str) -> bool:
        """Tell whether a folder may hold a wanted case: the one of this id, or one of its further data sets."""
        named = any(fnmatch.fnmatchcase(case_id, glob) or globs.may_match(glob, case_id) for glob in self.cases)
        return not self.cases or named

    def would_take(self, case_id: str) -> bool:
        """Tell whether a case of which the id is all that is known would be wanted."""
        return (not self.cases or bool(_hits(self.cases, (case_id,)))) and self.takes_id(case_id)

    def may_take(self, operator: str, tags: Iterable[str]) -> bool:
        """Tell whether a case of this operator version with these tags may be wanted; spares generating it."""
        named = not self.cases or any(globs.may_match(glob, operator) for glob in self.cases)
        return named and (not self.tags or bool(_hits(self.tags, tags)))

    def _any(self, option: str, globs: tuple[str, ...], names: tuple[str, ...]) -> bool:
        hits = _hits(globs, names)
        self.idle.difference_update((option, glob) for glob in hits)
        return bool(hits) or not globs

    def __str__(self) -> str:
        """Return it as it would be written on a command line."""
        words = [f"{option} {glob}" for option, globs in self._named for glob in globs]
        words += ["--core"] if self.core else []
        words += [f"--shard {self.shard[0]}/{self.shard[1]}"] if self.shard else []
        return " ".join(words)


def _hits(globs: tuple[str, ...], names: Iterable[str]) -> list[str]:
    return [glob for glob in globs if any(fnmatch.fnmatchcase(name, glob) for name in names)]
