# SPDX-License-Identifier: Apache-2.0
"""Coverage of an operator version's schema and text by the generated cases.

A schema point is one choice that a signature leaves to a model: an allowed type of a type variable, an attribute set or
omitted, an optional input or output present or omitted, a variadic one with none, one or several values. Points are
counted in the models that `generate` writes and that have an answer, not in declarations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.forms.table import EXPANDED
from onnx_conformance.generation import plans
from onnx_conformance.specification import nodes, registry, schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.case.case import Case
    from onnx_conformance.declare import Op
    from onnx_conformance.specification.schema import OperatorVersion, Parameter

NORMATIVE = re.compile(
    r"\b(must|should|cannot|can not|only|ignored|invalid|required|default|range)\b"
    r"|[<>]=|==|\[-?[a-z]\w*, ?[a-z]\w*(-1)?\]",
    re.IGNORECASE,
)
"""The words of a binding sentence, which demands or forbids something, or defines a default, a range or a formula."""

_END = re.compile(r"(?<=[.!?;])(?<!i\.e\.)(?<!e\.g\.)(?<!etc\.)(?<!vs\.)\s+")


@dataclass(frozen=True, order=True)
class Point:
    """One schema point.

    Attributes:
        kind: type, attribute, input or output.
        name: the name of the type variable, attribute or parameter.
        what: tensor(float); set or unset; given or omitted; none, one or several.
    """

    kind: str
    name: str
    what: str

    def __str__(self) -> str:
        """Return the text used in excuses and reports: `attribute axis unset`."""
        return f"{self.kind} {self.name} {self.what}"


def points(version: OperatorVersion) -> set[Point]:
    """Return the schema points of a version; empty if it is deprecated, because no valid model uses it."""
    if version.deprecated:
        return set()
    points = {Point("type", variable, type_) for variable, types in version.types.items() for type_ in types}
    for attribute in version.attributes.values():
        points.add(Point("attribute", attribute.name, "set"))
        if not attribute.required:
            points.add(Point("attribute", attribute.name, "unset"))
    for kind, parameters in (("input", version.inputs), ("output", version.outputs)):
        for item in parameters:
            if item.optional:
                points |= {Point(kind, item.name, what) for what in ("given", "omitted")}
            if item.variadic:
                counts = ("one", "several") if item.least else ("none", "one", "several")
                points |= {Point(kind, item.name, what) for what in counts}
    return points


def reached(version: OperatorVersion, case: Case) -> set[Point]:
    """Return the schema points that the model of a case reaches."""
    model = onnx.load_from_string(case.model)
    node = next(item for item in nodes.of(model) if item.name == version.name)
    types = _types(model)
    points = {
        Point("attribute", name, "set" if any(item.name == name for item in node.attribute) else "unset")
        for name in version.attributes
    }
    for kind, parameters, names in (("input", version.inputs, node.input), ("output", version.outputs, node.output)):
        points |= _arguments(version, kind, parameters, list(names), types)
    return points


def _types(model: onnx.ModelProto) -> Mapping[str, str]:
    """Return the types of the graph's inputs, outputs and initializers by name."""
    infos = (*model.graph.input, *model.graph.output)
    types = {info.name: schema.type_text(info.type) for info in infos}
    return {**types, **{item.name: str(schema.tensor_of(item.data_type)) for item in model.graph.initializer}}


def _arguments(
    version: OperatorVersion, kind: str, parameters: Sequence[Parameter], names: Sequence[str], types: Mapping[str, str]
) -> set[Point]:
    points = set()
    for index, item in enumerate(parameters):
        present = [name for name in (names[index:] if item.variadic else names[index : index + 1]) if name]
        if item.optional:
            points.add(Point(kind, item.name, "given" if present else "omitted"))
        if item.variadic:
            points.add(Point(kind, item.name, ("none", "one", "several")[min(len(present), 2)]))
        if item.type in version.types:
            points |= {Point("type", item.type, types[name]) for name in present if name in types}
    return points


def sentences(version: OperatorVersion) -> list[str]:
    """Return the sentences of a version's text, with white space folded.

    For a deprecated version, return only the sentences that state the deprecation.
    """
    parts = [part.strip() for line in version.text.splitlines() for part in _END.split(line) if part.strip()]
    return [part for part in parts if "deprecated" in part] if version.deprecated else parts


@dataclass(frozen=True)
class Coverage:
    """The coverage of one operator version.

    Attributes:
        version: the operator version.
        points: all schema points.
        missing: the points that no case with an answer reaches, without an excuse.
        excused: the points that no valid model can reach -> the reason.
        sentences: the number of sentences of the text.
        uncited: the sentences that no clause of a case quotes; binding ones first.
        binding: the number of uncited sentences that are binding.
        declared: whether an operator file declares this version. If not, nothing is reached.
    """

    version: OperatorVersion
    points: int
    missing: tuple[Point, ...]
    excused: Mapping[str, str]
    sentences: int
    uncited: tuple[str, ...]
    binding: int
    declared: bool = True


def of(op: Op, cases: Iterable[Case] | None = None) -> Iterator[Coverage]:
    """Yield the coverage of every version of an operator.

    Args:
        op: the operator.
        cases: all its generated cases, if they exist already.
    """
    by_version: dict[str, list[Case]] = {}
    for case in cases or ():
        by_version.setdefault(case.operator, []).append(case)
    for version in registry.versions(op):
        yield of_version(op, version, by_version.get(str(version), []) if cases else plans.cases(op, (version.since,)))


def of_version(op: Op, version: OperatorVersion, cases: Iterable[Case]) -> Coverage:
    """Return the coverage of a version by its cases."""
    all_points = points(version)
    covered: set[Point] = set()
    quoted: set[str] = set()
    for case in cases:
        quoted |= set(case.clauses)
        if case.expected is not None and case.form != EXPANDED:
            covered |= reached(version, case)
    open_ = all_points - covered
    excused = {str(point): op.excuses[str(point)] for point in open_ if str(point) in op.excuses}
    of_text = sentences(version)
    uncited = [sentence for sentence in of_text if not any(_overlap(sentence, quote) for quote in quoted)]
    binding = [sentence for sentence in uncited if NORMATIVE.search(sentence)]
    return Coverage(
        version=version,
        points=len(all_points),
        missing=tuple(sorted(point for point in open_ if str(point) not in excused)),
        excused=excused,
        sentences=len(of_text),
        uncited=(*binding, *(sentence for sentence in uncited if sentence not in binding)),
        binding=len(binding),
    )


def undeclared(name: str, op: Op | None) -> Iterator[Coverage]:
    """Yield the empty coverage of the versions of an ONNX operator that no operator file declares.

    Args:
        name: the name of the operator, such as ai.onnx/Split.
        op: its declaration, if there is one.
    """
    for version in schema.versions(*name.split("/")):
        if op is None or version.since not in op.versions:
            text = sentences(version)
            binding = [sentence for sentence in text if NORMATIVE.search(sentence)]
            yield Coverage(
                version=version,
                points=len(points(version)),
                missing=tuple(sorted(points(version))),
                excused={},
                sentences=len(text),
                uncited=(*binding, *(sentence for sentence in text if sentence not in binding)),
                binding=len(binding),
                declared=False,
            )


def _overlap(sentence: str, quote: str) -> bool:
    """Return whether a quote is part of a sentence, contains it, or ends or begins inside it."""
    if quote in sentence or sentence in quote:
        return True
    parts = _END.split(quote)
    return len(parts) > 1 and any(part in sentence for part in parts if len(part) > 8)  # noqa: PLR2004 - no stray word
