# SPDX-License-Identifier: Apache-2.0
"""Checks of one operator file: its sentences, cases, types and tolerances. `onnx-conformance check` prints the results.

Each check yields a sentence for every fault that it finds. The tests run the same checks for every operator.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

import onnx
import onnx.checker

from onnx_conformance.base.package import GENERATED
from onnx_conformance.case.case import PLAIN, Outcome
from onnx_conformance.declare import DeclarationError, Version
from onnx_conformance.declare.op import DERIVED
from onnx_conformance.forms.table import TWICE
from onnx_conformance.generation import coverage, derived, manifest, plans
from onnx_conformance.specification import packages, registry, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import CaseSpec, Clause, Op
    from onnx_conformance.generation.deliveries import Plan

OBLIGES = re.compile(r"\b(must|should|Accepted range)\b")
"""Words of a sentence that obliges: a clause must quote it, and a case must violate it."""
SHOWN = 60
"""Characters shown on both sides of such a word."""
ID = re.compile(r"/\d+/[a-z0-9]+(_[a-z0-9]+)*(/[a-z0-9-]+)?(@[a-z_]+(-\w+)?)?")


def _stands_alone(case_id: str) -> bool:
    """Return whether a case is planned without another one, which may be wrong."""
    return not case_id.endswith(f"@{TWICE}")


@dataclass(frozen=True)
class Expanded:
    """An operator with its plans and cases, which are generated at the first use.

    Attributes:
        op: the operator.
        every_form: whether `cases` has every form; otherwise the plain form only, which is faster.
    """

    op: Op
    every_form: bool = True

    @functools.cached_property
    def _expanded(self) -> tuple[tuple[Plan, ...], tuple[str, ...]]:
        try:
            return tuple(plans.plans(self.op)), ()
        except DeclarationError:
            pass
        # Continue after each wrong declaration, so that the author sees all of them.
        wrong: dict[str, None] = {}

        def planner(*of: Any) -> Plan:  # noqa: ANN401 - the arguments of plans.plan
            try:
                return plans.plan(*of)
            except DeclarationError as error:
                wrong[str(error)] = None
                raise plans.NotDerivedError from error

        found = [
            plan
            for version in registry.versions(self.op)
            for plan in plans.plans_of_version(self.op, version, wanted=_stands_alone, planner=planner)
        ]
        return tuple(found), tuple(wrong)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """Every declared case in every version and type, without those that contradict the oracle or onnx."""
        return self._expanded[0]

    @property
    def wrong(self) -> tuple[str, ...]:
        """A sentence for each declared case that contradicts the oracle or onnx."""
        return self._expanded[1]

    @functools.cached_property
    def cases(self) -> tuple[Case, ...]:
        """The plans in every form, or in the plain form; see `every_form`."""
        delivered = (plans.delivered(plan) for plan in self.plans)
        return tuple(case for cases in delivered for case in (cases if self.every_form else itertools.islice(cases, 1)))

    @functools.cached_property
    def coverage(self) -> tuple[coverage.Coverage, ...]:
        """The coverage of each version."""
        return tuple(coverage.of(self.op, self.cases))


def versions_are_those_of_onnx(of: Expanded) -> Iterator[str]:
    """Yield a sentence if the file declares other versions than onnx has."""
    known = tuple(version.since for version in schema.versions(of.op.domain, of.op.name))
    if of.op.versions != known:
        yield f"{of.op}: versions={of.op.versions}, but the installed onnx has {known}"


def quotes_are_in_their_versions(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each clause whose quote is missing while in force, or present while not in force."""
    for clause in of.op.clauses:
        for version in schema.versions(of.op.domain, of.op.name):
            in_force = clause.in_force(version.since)
            if (clause.text in version.text) is not in_force:
                fault = "does not contain" if in_force else "also contains"
                yield f"{version}: the text {fault} «{clause.text}»; correct the quote, or its since= and before="
            if in_force and clause.contradicts not in version.text:
                yield f"{version}: the text does not contain «{clause.contradicts}»; correct the quote in contradicts="


def clauses_are_used(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each clause that no case cites, rejects or leaves unspecified."""
    used = {clause for plan in of.plans for clause in plan.spec.clauses}
    yield from (f"{of.op}: no case is about «{clause.text}»" for clause in of.op.clauses if clause not in used)


def demands_are_violated(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each clause that the oracle demands in a version in which no case violates it."""
    demanded: set[tuple[int, Clause]] = set()
    require = Version.require

    def recording(self: Version, clause: Clause, holds: bool) -> None:  # noqa: FBT001 - as Version.require has it
        if clause.in_force(self.since) and clause.operator == str(of.op):  # A subgraph asks other operators, too.
            demanded.add((self.since, clause.at(self.since)))
        require(self, clause, holds)

    with mock.patch.object(Version, "require", recording):
        again = Expanded(of.op).plans
    violated = {(plan.version.since, plan.spec.rejects) for plan in again}
    for since, clause in sorted(demanded - violated, key=str):
        yield f"{of.op}/{since}: no case violates «{clause.text}»; declare one with rejects="


def sentences_that_oblige_are_clauses(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each `must` and `should` of the text that no clause quotes, or no case violates."""
    violated = {(plan.version.since, plan.spec.rejects) for plan in of.plans}
    # Runtimes violate sentences on the result: the expected values show it.
    violated |= {(plan.version.since, clause) for plan in of.plans for clause in plan.spec.cites if clause.result}
    for version in schema.versions(of.op.domain, of.op.name):
        if version.deprecated:  # No model is valid, so a sentence cannot oblige one.
            continue
        quotes = [
            (match.span(), clause)
            for clause in of.op.clauses
            for match in re.finditer(re.escape(clause.text), version.text)
            if clause.in_force(version.since)
        ]
        for word in OBLIGES.finditer(version.text):
            shown = version.text[max(0, word.start() - SHOWN) : word.end() + SHOWN]
            quoting = [clause for (start, end), clause in quotes if start <= word.start() < end]
            if not quoting:
                yield f"{version}: no clause quotes «{shown}»"
            elif not any((version.since, clause) in violated for clause in quoting):
                yield f"{version}: no case violates «{shown}»; declare one with rejects=, or result=True"


def declarations_agree(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each declared case that contradicts the oracle or onnx."""
    yield from of.wrong


def declared_cases_are_generated(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each declared case that fits no version."""
    seen = {plan.spec.name for plan in of.plans}
    for spec in () if of.wrong else of.op:
        if spec.name not in seen:
            yield f"{of.op}: the case {spec.name!r} fits no version: {_misfit(of.op, spec)}"


def _misfit(op: Op, spec: CaseSpec) -> str:
    """Return why a case fits no version."""
    known = {name: None for version in registry.versions(op) for name in version.arguments}
    for name in spec.arguments:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"the versions have {', '.join(known)}"
            return f"none has the argument {name!r}; {hint}"
    return "look at its arguments, clauses, each= and since="


def outcomes_are_declared(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each plan whose outcome is not the declared one.

    A case that is declared as unspecified may have values, if the text determines some of the elements.
    """
    for plan in of.plans:
        partly = any(mask is not None for mask in plan.open) or bool(plan.allowance.any_of)
        if plan.spec.unspecified and plan.outcome is Outcome.VALUES and partly:
            continue
        if plan.spec.sized and plan.outcome is Outcome.UNSPECIFIED:  # It may depend on the drawn values.
            continue
        declared = (plan.spec.rejects and Outcome.REJECTS) or (plan.spec.unspecified and Outcome.UNSPECIFIED)
        answers = {declared} if declared else {Outcome.VALUES, Outcome.PROPERTY}
        if plan.outcome not in answers or (plan.expected is None) is not bool(declared):
            yield f"{plan.id}: declared as {declared or Outcome.VALUES}, but the oracle's outcome is {plan.outcome}"


def constants_are_inputs(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each name in `constants` that no version has as an input."""
    inputs = {item.name for version in registry.versions(of.op) for item in version.inputs}
    for name in of.op.constants:
        if name not in inputs:
            yield f"{of.op}: constants={of.op.constants} has {name!r}, which is no input; correct its name"


def tolerances_are_measured(of: Expanded) -> Iterator[str]:
    """Yield a sentence if the tolerance follows from measured errors, but no case has an error."""
    if not of.op.compare.measured:
        return
    answered = [plan for plan in of.plans if plan.outcome is Outcome.VALUES and plan.expected is not None]
    bounds = [bound for plan in answered for bound in plan.allowance.bounds or ()]
    if not any((bound > 0).any() for bound in bounds):
        yield f"{of.op}: its tolerance is measured, but no case computes anything with an error; declare EXACT"


def ids_are_unique_and_well_formed(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each id that two cases have, or that is not OPERATOR/VERSION/NAME[/TYPE][@FORM]."""
    seen: set[str] = set()
    for case in of.cases:
        form = case.id.partition("@")[2] or PLAIN
        well_formed = ID.fullmatch(case.id.removeprefix(str(of.op))) and case.id.startswith(f"{case.operator}/")
        if not well_formed or form != case.form:
            yield f"{case.id}: expected an id of the form {of.op}/VERSION/NAME[/TYPE][@FORM], in lower case"
        if case.id in seen:
            yield f"{case.id}: two cases have this id"
        seen.add(case.id)


def signatures_have_cases(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each version that has no cases derived from its signature."""
    valid = {case.operator for case in of.cases if case.name == derived.EXAMPLE}
    refused = {case.operator for case in of.cases if case.name.startswith(DERIVED)}
    for version in registry.versions(of.op):
        if not version.deprecated and str(version) not in valid & refused:
            yield f"{version}: the example of the operator file does not fit; correct {of.op.name.upper()}.example(...)"


def models_pass_the_checker(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each model with an answer that onnx's checker rejects.

    The checker rejects each operator that a package adds to a domain of ONNX, so models of it are not checked.
    """
    if not schema.checkable(of.op.domain, of.op.name):
        return
    for case in of.cases:
        if case.expected is not None and not case.files:  # External data needs a folder; the tests write one.
            try:
                onnx.checker.check_model(onnx.load_from_string(case.model))
            except onnx.checker.ValidationError as error:
                yield f"{case.id}: onnx.checker rejects the model: {error}"


def inputs_and_outputs_are_those_of_the_graph(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each case whose inputs or outputs have other names than those of its graph."""
    for case in of.cases:
        graph = onnx.load_from_string(case.model).graph
        stored = {item.name for item in graph.initializer} - case.inputs.keys()  # The case may override a default.
        names = [info.name for info in graph.input if info.name not in stored]
        if (names, [info.name for info in graph.output]) != (list(case.inputs), list(case.outputs)):
            yield f"{case.id}: the graph has inputs {names}; the case has {list(case.inputs)}"


def types_occur(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each allowed type that no case has, and for each other type that a case has."""
    occurring: dict[tuple[str, str], set[str]] = defaultdict(set)
    versions = {str(version): version for version in registry.versions(of.op)}
    for plan in of.plans:
        if plan.expected is None:
            continue
        inputs = [item.type if item is not None and name else "" for name, item in plan.inputs]
        outputs = [type_ if name else "" for name, type_ in plan.outputs]
        for parameters, types in ((plan.version.inputs, inputs), (plan.version.outputs, outputs)):
            for index, type_ in enumerate(types):
                if type_:
                    occurring[str(plan.version), parameters[min(index, len(parameters) - 1)].type].add(type_)
    for name, version in versions.items():
        for variable, allowed in version.types.items() if not version.deprecated else ():
            excused = {type_ for type_ in allowed if f"type {variable} {type_}" in of.op.excuses}
            if missing := sorted(set(allowed) - occurring[name, variable] - excused):
                yield f"{version}: no case with an answer has {variable} = {', '.join(missing)}"
            if strange := sorted(occurring[name, variable] - set(allowed)):
                yield f"{version}: a case has {variable} = {', '.join(strange)}, which this version does not allow"


def schema_points_have_cases(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each schema point without a case or an excuse, and for each excuse without need."""
    for item in of.coverage:
        yield from (f"{item.version}: no case with an answer for the schema point: {point}" for point in item.missing)
    used = {point for item in of.coverage for point in item.excused}
    for point in sorted(set(of.op.excuses) - used):
        yield f"{of.op}: the excuse {point!r} is for no schema point, or for one with a case"


def binding_sentences_are_cited(of: Expanded) -> Iterator[str]:
    """Yield a sentence for each binding sentence that no case cites."""
    for item in of.coverage:
        yield from (f"{item.version}: no case cites «{sentence}»" for sentence in item.uncited[: item.binding])


CHECKS: tuple[Callable[[Expanded], Iterator[str]], ...] = (
    versions_are_those_of_onnx,
    quotes_are_in_their_versions,
    declarations_agree,
    declared_cases_are_generated,
    outcomes_are_declared,
    clauses_are_used,
    demands_are_violated,
    sentences_that_oblige_are_clauses,
    binding_sentences_are_cited,
    schema_points_have_cases,
    types_occur,
    signatures_have_cases,
    ids_are_unique_and_well_formed,
    constants_are_inputs,
    tolerances_are_measured,
    models_pass_the_checker,
    inputs_and_outputs_are_those_of_the_graph,
)


def faults(op: Op, *, every_form: bool) -> Iterator[str]:
    """Yield a sentence for every fault of an operator file that the `CHECKS` find, and for an outdated manifest.

    Args:
        op: the operator.
        every_form: check every form of the cases. Those of ONNX's operators are also compared with the manifest.
    """
    of = Expanded(op, every_form)
    for check in CHECKS:
        yield from check(of)
    of_onnx = packages.owner_of(op.domain, op.name) is packages.ONNX
    if every_form and of_onnx and not of.wrong and (changed := list(manifest.check([op], GENERATED, whole=False))):
        yield f"{op}: {len(changed)} lines of the manifest differ; `onnx-conformance manifest --op {op}` writes it"
