# SPDX-License-Identifier: Apache-2.0
"""Clauses, the outcomes that they decide, and the operator version that oracles receive."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.declare.any_of import AnyOf
from onnx_conformance.declare.partly_open import PartlyOpen
from onnx_conformance.declare.readings import NAN, ONE_ELEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.declare.partly_open import Result
    from onnx_conformance.declare.readings import Reading


class DeclarationError(HarnessError):
    """An operator file contradicts itself, another file or onnx.defs. The message names the place."""


class Force(enum.StrEnum):
    """How strongly a sentence binds a runtime."""

    MUST = "must"
    """It demands or forbids: must, cannot, an error is raised, an accepted range."""
    SHOULD = "should"
    """It recommends."""
    DESCRIBES = "describes"
    """It only describes valid models, and excludes others implicitly."""
    SIGNATURE = "signature"
    """Types, attributes, and the number of inputs and outputs; the model checker verifies these, too."""
    OPTIONAL = "optional"
    """It permits or orders some runtimes to reject a valid model. The oracle decides where; see `Version.optional`."""

    @staticmethod
    def of(text: str) -> Force:
        """Return the force of a sentence, derived from its words."""
        return next((force for force, words in _WORDS.items() if words.search(text)), Force.DESCRIBES)


_WORDS = {
    Force.SIGNATURE: re.compile(r"^(Constrain|Signature:)"),
    Force.MUST: re.compile(
        r"\b(must|cannot|can't|can not|may not|shall|not (be )?(allowed|supported)|errors?|requires?|required|invalid|"
        r"only|illegal|forbidden|unsupported|doesn't work|never|at most|(accepted|allowed|value) range|valid values|"
        r"have to be|can take any value greater|takes? (a )?values? greater|in range|needs? to be|"
        r"can be (either|one of))\b",
        re.IGNORECASE,
    ),
    Force.SHOULD: re.compile(r"\b(should|recommended|supposed to|expected)\b", re.IGNORECASE),
}
"""The words of each force. The first pattern that matches decides."""


@dataclass(frozen=True)
class Clause:
    """A verbatim quote of an operator's text, in force from one version until another.

    Attributes:
        operator: ai.onnx/Split; empty for a rule that the schema itself sets for every operator.
        text: the quote, with white space folded.
        since: the first version whose text contains it; None for the first version of the operator.
        before: the first version whose text no longer contains it; None if the latest version contains it.
        force: how strongly it binds.
        result: whether it is about outputs, so only a runtime can violate it, not a model.
        note: the decision about a dispute, if there is one.
        see: links to its discussion.
        contradicts: a quote of the same text that contradicts this one in the cases that it leaves open, or empty.
        against: globs of the official cases that contradict this sentence; `note` says why.
        wordings: if the text was reworded, each wording as a separate clause, the newest first. This clause then
            stands for all of them.
        declared: the list of the operator's clauses, to which `reworded` adds the earlier wording.
    """

    operator: str
    text: str
    since: int | None = None
    before: int | None = None
    result: bool = False
    note: str = ""
    see: tuple[str, ...] = ()
    contradicts: str = ""
    against: tuple[str, ...] = ()
    force: Force = Force.DESCRIBES
    wordings: tuple[Clause, ...] = ()
    declared: list[Clause] | None = field(default=None, repr=False, compare=False)

    def reworded(
        self,
        *,
        before: int,
        text: str,
        since: int | None = None,
        result: bool | None = None,
        note: str = "",
        see: tuple[str, ...] = (),
        against: tuple[str, ...] = (),
        force: Force | None = None,
    ) -> Clause:
        """Return this clause with an earlier wording. Chain calls for several, from the newest to the oldest.

        Args:
            before: first version whose text no longer has the earlier wording. The later wording is in force from this
                version, unless its own `since` says otherwise.
            text: the earlier wording.
            since: first version whose text has the earlier wording; None: the first version.
            result: as for the later wording if None.
            note: about the earlier wording; see Clause for this and the other parameters.
            see: see Clause.
            against: see Clause.
            force: that of the words if None.

        Raises:
            DeclarationError: the wordings are not declared from the newest to the oldest.
        """
        *newer, later = self.wordings or (self,)
        later_since = before if later.since is None else later.since
        if later_since < before or (later.before is not None and later.before <= before) or (since or 0) >= before:
            raise DeclarationError(
                "rewording-overlaps",
                f"{self.operator}: the wording before version {before} of «{later.text}» overlaps a later wording; "
                "declare the newest wording first, and reworded() from the newest to the oldest",
            )
        begun = replace(later, since=later_since)
        quote = " ".join(text.split())
        earlier = replace(
            later,
            text=quote,
            since=since,
            before=before,
            result=later.result if result is None else result,
            note=note,
            see=see,
            contradicts="",
            against=against,
            force=force or Force.of(quote),
        )
        if self.declared is not None:
            place = self.declared.index(later)
            self.declared[place : place + 1] = [begun, earlier]
        return replace(self, wordings=(*newer, begun, earlier))

    def at(self, version: int) -> Clause:
        """Return the wording in force in a version, or without one the next later one, or else the newest."""
        if not self.wordings:
            return self
        oldest_first = reversed(self.wordings)
        return next((item for item in oldest_first if item.before is None or version < item.before), self.wordings[0])

    def in_force(self, version: int) -> bool:
        """Return whether the operator version introduced in opset `version` has this sentence, in any wording."""
        if self.wordings:
            return any(item.in_force(version) for item in self.wordings)
        return in_range(version, self.since, self.before)


def in_range(version: int, since: int | None, before: int | None) -> bool:
    """Return whether a version is `since` or later, and earlier than `before`; None does not limit it."""
    return (since is None or version >= since) and (before is None or version < before)


def _rule(text: str) -> Clause:
    return Clause("", text, force=Force.SIGNATURE)


class Rule:
    """Rules of every signature: clauses without a sentence in the operator's text."""

    TYPES = _rule("Signature: the type of each input is one that the operator allows.")
    ARITY = _rule("Signature: a node has the inputs and outputs that the operator asks for.")
    DEPRECATED = _rule("Signature: a deprecated operator is not part of the opset.")
    ATTRIBUTES = _rule("Signature: a node has the attributes that the operator asks for, and no others.")


class NoAnswer(Exception):  # noqa: N818 - an outcome, not an error
    """The oracle returns no values, because of a clause."""

    def __init__(self, clause: Clause, detail: str = "") -> None:
        """Store the clause, and the part of the case that it is about."""
        super().__init__(f"«{clause.text}»" + (f" ({detail})" if detail else ""))
        self.clause, self.detail = clause, detail
        self.rests_on: frozenset[Reading] = frozenset()


class Rejected(NoAnswer):
    """The text forbids this model or these inputs."""


class Unspecified(NoAnswer):
    """The text does not define the result, or contradicts itself."""


@dataclass(frozen=True)
class Version:
    """The operator version that an oracle is called for.

    Where a method takes a clause that was reworded, it uses the wording in force in this version.

    Attributes:
        since: the opset that introduced it.
        dtypes: the element type of each type variable that inputs or attributes determine.
        rests_on: the readings that the oracle named.
        open_by: the clauses, in the wording of this version, that do not define some elements of the result, or allow
            several values for them.
        optional_by: the clauses that permit some runtimes to reject the model.
    """

    since: int
    dtypes: Mapping[str, np.dtype[Any]] = field(default_factory=dict)
    rests_on: set[Reading] = field(default_factory=set, compare=False)
    open_by: set[Clause] = field(default_factory=set, compare=False)
    optional_by: set[Clause] = field(default_factory=set, compare=False)

    def reads(self, reading: Reading, when: bool = True) -> None:  # noqa: FBT001, FBT002 - reads as the sentence
        """Record that the answer rests on a reading, if `when` is true."""
        if when:
            self.rests_on.add(reading)

    def scalar(self, clause: Clause, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Return the scalar that `clause` requires without naming its shape.

        A tensor of shape [1] is accepted, too; this rests on a reading.

        Raises:
            Rejected: the value is neither a scalar nor a tensor of shape [1].
        """
        self.require(clause, value.size == 1 and value.ndim <= 1)
        self.reads(ONE_ELEMENT, value.ndim == 1)
        return value.reshape(())

    def ordered(self, clause: Clause, values: np.ndarray[Any, Any], within: np.ndarray[Any, Any] | None = None) -> None:
        """Raise Unspecified if one of `values` is NaN, for a `clause` that asks for a greatest value or an order.

        Args:
            clause: the sentence.
            values: values of any type.
            within: a mask of the values that are ordered; None for all.
        """
        nan = np.isnan(values) if values.dtype.kind in "fc" else np.False_
        has_nan = bool((nan if within is None else nan & within).any())
        self.reads(NAN, has_nan)
        self.silent(clause, has_nan)

    def fitting(self, clause: Clause, exact: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Result:
        """Return integers in a type. Those out of its range are open, for a `clause` that does not define the overflow.

        Args:
            clause: the sentence.
            exact: integers without overflow, such as Python integers.
            dtype: an integer type.

        Raises:
            Unspecified: all integers are out of range.
        """
        limits = np.iinfo(dtype)
        beyond = np.asarray((exact < limits.min) | (exact > limits.max), bool)
        return self.leave_open(clause, beyond, np.where(beyond, 0, exact).astype(dtype))

    def leave_open(self, clause: Clause, where: np.ndarray[Any, Any], result: Result) -> Result:
        """Return a result in which some elements may have any value, because `clause` does not define them.

        Args:
            clause: the sentence that is closest to a definition.
            where: a mask of the elements that it does not define, of the shape of the result.
            result: the result so far; some of its elements may be open already.

        Raises:
            Unspecified: no element remains that a text defines.
        """
        where = np.asarray(where, bool)
        if not where.any():
            return result
        if isinstance(result, PartlyOpen):
            where, result = where | result.open, result.value
        self.silent(clause, bool(where.all()))
        self.open_by.add(clause.at(self.since))
        return PartlyOpen(result, where)

    def choose(self, clause: Clause, first: np.ndarray[Any, Any], *others: np.ndarray[Any, Any]) -> Result:
        """Return several values. Each element may be that of any of them, because `clause` allows all.

        Args:
            clause: the sentence.
            first: the values that other nodes get.
            others: other values of the same type and shape; they may be equal.
        """
        wide = first.astype(np.float64, copy=False)
        numbers = (item.astype(np.float64, copy=False) for item in others)
        different = [
            item
            for item, number in zip(others, numbers, strict=True)
            if not (np.array_equal(wide, number) or np.array_equal(wide, number, equal_nan=True))
        ]
        if not different:
            return first
        self.open_by.add(clause.at(self.since))
        return AnyOf(first, *different, elementwise=True)

    def unordered(self, clause: Clause, nan: np.ndarray[Any, Any], result: Result) -> Result:
        """Return a result whose elements are open where NaN was compared, for a `clause` that asks for an order.

        Args:
            clause: the sentence.
            nan: a mask of the elements that depend on the order of NaN.
            result: as in `leave_open`.

        Raises:
            Unspecified: all elements depend on it.
        """
        self.reads(NAN, bool(np.any(nan)))
        return self.leave_open(clause, nan, result)

    def compared(
        self, comparison: Callable[..., np.ndarray[Any, Any]], *operands: np.ndarray[Any, Any]
    ) -> np.ndarray[Any, Any]:
        """Return the elementwise comparison of numbers of IEEE 754. If one is NaN, this rests on a reading."""
        self.reads(NAN, any(item.dtype.kind in "fc" and bool(np.isnan(item).any()) for item in operands))
        return np.asarray(comparison(*operands))

    def permit(self, clause: Clause, used: bool = True) -> None:  # noqa: FBT001, FBT002 - reads as the sentence
        """Raise Unspecified if `used` is true and `clause`, which permits the usage, is not in force."""
        if used and not clause.in_force(self.since):
            raise Unspecified(clause.at(self.since), f"not stated in version {self.since}")

    def optional(self, clause: Clause, when: bool = True) -> None:  # noqa: FBT001, FBT002 - reads as the sentence
        """Record that `clause` permits, or orders, some runtimes to reject the model, if `when` is true."""
        if when:
            self.optional_by.add(clause.at(self.since))

    def require(self, clause: Clause, holds: bool) -> None:  # noqa: FBT001
        """Raise Rejected unless `holds`, the requirement of `clause`, is true; Unspecified if it is not in force."""
        if not holds:
            self.permit(clause)
            raise Rejected(clause.at(self.since))

    def silent(self, clause: Clause, when: bool = True) -> None:  # noqa: FBT001, FBT002
        """Raise Unspecified if `when` is true, because the nearest sentence, `clause`, does not define the meaning."""
        if when:
            raise Unspecified(clause.at(self.since))
