# SPDX-License-Identifier: Apache-2.0
"""The table of forms: a row for each way to deliver a case.

A row contains the function that makes the form, and the kinds of cases that are delivered in it. The generator of
cases, the core, the expectations, the search, `minimize`, the findings and the judge of inferencers read the table.

To add a form, add a row here with its function, which takes and returns a `Delivered`.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.case.case import OVERRIDDEN, PLAIN
from onnx_conformance.forms import constants, neighbours, opsets, repeated, shapes, surroundings, syntax
from onnx_conformance.forms.delivered import Delivered, unchanged

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from onnx_conformance.specification.schema import OperatorVersion

EXPANDED = "expanded"
IF_BRANCH, LOCAL_FUNCTION = "if_branch", "local_function"
TWICE, TYPED, EXTERNAL_DATA = "twice", "typed", "external_data"
INITIALIZER, SYMBOLIC, UNRANKED = "initializer", "symbolic", "unranked"
NAME = "NAME"
"""Stands for the name of a parameter in the name of a form: `initializer-NAME`."""

Build = Callable[[Delivered], Delivered | None]
"""A function that makes a form of the plain form; it returns None if the form is not suitable."""


class Start(enum.StrEnum):
    """The kinds of cases that a form delivers.

    Attributes:
        PLAN: a declared case of an operator; the suite `generated`.
        CASE: a case of the core with another node, or with nothing left to compute; the suite `transforms`.
        REWRITE: a model with a pattern that optimizers rewrite; the suite `transforms`.
        SIZED: a case of a sized call of an operator; the suite `kernels`.
        EXHAUSTIVE: such a case with every value of its types; the values matter, and not their delivery.
    """

    PLAN = "plan"
    CASE = "case"
    REWRITE = "rewrite"
    SIZED = "sized"
    EXHAUSTIVE = "exhaustive"


class Once(enum.StrEnum):
    """The cases of an operator version that test the same in a form, so only the first of them has it.

    Attributes:
        EACH: no cases; every case has the form.
        NODES: cases with the same inputs, attributes and outputs; the form tests the surroundings of a node.
        TYPES: cases whose parameters have the same types; the form tests how initializers are stored.
        SHAPES: cases with the same shapes, attributes and parameters; the form tests unknown shapes.
    """

    EACH = "each"
    NODES = "nodes"
    TYPES = "types"
    SHAPES = "shapes"


def _any(_version: OperatorVersion) -> bool:
    return True


def _has_inputs(version: OperatorVersion) -> bool:
    return bool(version.inputs)


def _has_parameters(version: OperatorVersion) -> bool:
    return bool(version.parameters)


@dataclass(frozen=True)
class Form:
    """One way to deliver a case.

    Attributes:
        name: the text after the @ of a case id. With NAME, there is a form for each of several parameters, whose name
            replaces NAME.
        sentence: the difference from the plain form; docs/reference/forms.md has the same sentence.
        build: the function that makes the form.
        starts: the kinds of cases that are delivered in this form.
        suits: whether cases of an operator version may have the form; read before their plans are made.
        once: the kind of similar cases; only the first of them has the form.
        signatures: whether cases about signatures have the form. They concern model checkers and tables of kernels,
            which do not depend on most forms.
        one_meaning: whether the form tests the graph, the file or the session around the operator. The core then has it
            once for each operator version.
        open_shapes: whether the model does not declare every shape, so an inferencer may know less.
        delivery: whether a runtime that lacks this form rejects it for every operator. If only this form is rejected,
            the operator has no fault.
        exported: whether exporters write models in this form. A failure in another form is met less often.
        drawn: how often `search` draws the form, relative to the others.
        phrase: the difference from the plain form in a few words, for a title; empty for the plain form.
        text: the sentence on such models in onnx's IR.md, in onnx.proto, or in the text of an operator that the form
            adds; may be empty.
    """

    name: str
    sentence: str
    build: Build
    starts: frozenset[Start]
    suits: Callable[[OperatorVersion], bool] = _any
    once: Once = Once.EACH
    signatures: bool = False
    one_meaning: bool = False
    open_shapes: bool = False
    delivery: bool = False
    exported: bool = False
    drawn: int = 0
    phrase: str = ""
    text: str = ""

    def is_of_parameter(self, name: str) -> bool:
        """Return whether a name is that of the form for one of several parameters."""
        stem, several, _ = self.name.partition(NAME)
        return bool(several) and name.startswith(stem)

    def names(self, parameters: Collection[str]) -> list[str]:
        """Return the names of the form for a case with these parameters."""
        stem, name, _ = self.name.partition(NAME)
        if not name:
            return [self.name]
        return [f"{stem}{parameter}" for parameter in parameters] if len(parameters) > 1 else []

    def deliver(self, start: Delivered, name: str) -> Delivered | None:
        """Return a delivered model in this form, under one of its names; None if the form is not suitable."""
        stem, several, _ = self.name.partition(NAME)
        return self.build(start.with_parameter(name.removeprefix(stem)) if several else start)


_PLAN, _CASE, _REWRITE, _SIZED, _ = (frozenset([start]) for start in Start)

FORMS = (
    Form(
        PLAIN,
        "a node, or the nodes of a pattern, with constants as initializers",
        unchanged,
        frozenset(Start),
        signatures=True,
        drawn=3,
        exported=True,
    ),
    Form(
        INITIALIZER,
        "the parameters (every input except the first) are initializers",
        constants.initializer,
        _PLAN | _SIZED,
        _has_parameters,
        drawn=1,
        exported=True,
        phrase="with parameters as initializers",
        text="When an initializer has a name different from all graph inputs, it specifies a constant value.",
    ),
    Form(
        "omitted",
        'omitted optional inputs are written as ""',
        syntax.omitted,
        _PLAN,
        lambda version: any(item.optional for item in version.inputs),
        drawn=1,
        exported=True,
        phrase='with omitted inputs written as ""',
        text="the second method is to use an empty string in place of an input or output name.",
    ),
    Form(
        f"{INITIALIZER}-{NAME}",
        "one of several parameters is an initializer",
        constants.initializer,
        _PLAN,
        _has_parameters,
        Once.SHAPES,
        exported=True,
        phrase="with one parameter as an initializer",
        text="When an initializer has a name different from all graph inputs, it specifies a constant value.",
    ),
    Form(
        SYMBOLIC,
        "every dimension is a symbol, except a 1 that the text requires, as in the shape [1, C] of StringNormalizer. "
        "Dimensions that the text equates have one symbol",
        shapes.symbolic,
        _PLAN | _REWRITE,
        _has_inputs,
        Once.SHAPES,
        open_shapes=True,
        drawn=1,
        exported=True,
        phrase="with symbolic dimensions",
        text='Each size in the list MAY be expressed as an integral value or as a "dimension variable," a '
        "string denoting that the actual size of the dimension is not statically constrained to a "
        "particular number.",
    ),
    Form(
        UNRANKED,
        "the inputs of the operator have an unknown rank. A graph must declare the shapes of its inputs, so the "
        "operator's inputs are outputs of a Reshape whose target shape is known only at run time",
        shapes.unranked,
        _PLAN | _REWRITE,
        _has_inputs,
        Once.SHAPES,
        open_shapes=True,
        delivery=True,
        drawn=1,
        phrase="with inputs of unknown rank",
        text="A tensor of unknown rank is represented using a TypeProto::Tensor object with no shape, which is legal.",
    ),
    Form(
        "top",
        "the model uses the highest opset in which the operator version is in force, instead of the lowest",
        opsets.top,
        _PLAN,
        lambda version: version.top != version.since,
        Once.SHAPES,
        signatures=True,
        one_meaning=True,
        drawn=1,
        exported=True,
        phrase="at the highest opset of its version",
    ),
    Form(
        "again",
        "the model contains a random operator twice; with one seed, both must draw the same values",
        repeated.again,
        _PLAN,
        lambda version: "seed" in version.attributes,
        phrase="with the node twice in the model",
    ),
    Form(
        EXPANDED,
        "the function body that ONNX defines for the operator replaces the node. If that body contradicts the text, "
        "the case is `unspecified`, and the result contains the reason",
        syntax.expanded,
        _PLAN,
        syntax.has_body,
        phrase="with its function body instead of the node",
    ),
    Form(
        TYPED,
        "the parameters are initializers that store their elements in typed fields (`float_data`, `int32_data`, ...) "
        "instead of bytes",
        constants.typed,
        _PLAN | _REWRITE,
        _has_parameters,
        Once.TYPES,
        one_meaning=True,
        delivery=True,
        drawn=1,
        phrase="with initializers in typed fields",
        text="Depending on the data_type field, exactly one of the fields below with name ending in _data is used to "
        "store the elements of the tensor.",
    ),
    Form(
        EXTERNAL_DATA,
        "the parameters are initializers whose bytes are in a separate file. Only adapters that declare `accepts: "
        '["files"]` run it',
        constants.external_data,
        _PLAN | _REWRITE,
        _has_parameters,
        Once.NODES,
        one_meaning=True,
        phrase="with initializers in a separate file",
        text="The raw data for large constant tensors, such as initializers, MAY be serialized in a separate file.",
    ),
    Form(
        IF_BRANCH,
        "the node is in the then-branch of an If whose condition is an input. The node uses values of the outer graph",
        surroundings.if_branch,
        _PLAN | _REWRITE,
        once=Once.NODES,
        one_meaning=True,
        drawn=1,
        exported=True,
        phrase="in a branch of an If",
        text="A node input in a nested subgraph MAY refer to names introduced in outer graphs (as node "
        "outputs, graph inputs, or graph initializers).",
    ),
    Form(
        LOCAL_FUNCTION,
        "the node is in a function that the model defines, and its attributes refer to those of the function call",
        surroundings.local_function,
        _PLAN | _REWRITE,
        once=Once.NODES,
        one_meaning=True,
        drawn=1,
        exported=True,
        phrase="in a model function",
        text="Each node represents a call to an operator or a model local function.",
    ),
    Form(
        TWICE,
        "the same session first runs with the inputs of another case, with other shapes if such a case exists. Only "
        'adapters that declare `accepts: ["earlier"]` run it',
        shapes.twice,
        _PLAN,
        _has_inputs,
        Once.NODES,
        one_meaning=True,
        open_shapes=True,
        phrase="in the second run of a session",
    ),
    Form(
        "folded",
        "all inputs are initializers",
        constants.folded,
        _CASE | _REWRITE,
        drawn=1,
        phrase="with constants as all inputs",
    ),
    *(
        Form(
            f"{place}_{node.name}",
            sentence.format(node.operator),
            functools.partial(build, node),
            _CASE,
            drawn=1,
            phrase=f"{place} a {node.operator}",
        )
        for node in neighbours.NODES
        for place, sentence, build in (
            ("behind", "{} computes the first input of the node", neighbours.behind),
            ("before", "{} receives the first output of the node", neighbours.before),
        )
    ),
    Form(
        "constant_nodes",
        "Constant nodes contain the parameters, or the constants of a pattern",
        constants.constant_nodes,
        _PLAN | _REWRITE,
        _has_parameters,
        Once.TYPES,
        one_meaning=True,
        drawn=1,
        exported=True,
        phrase="with Constant nodes for the parameters",
        text="This operator produces a constant tensor.",
    ),
    Form(
        "runtime",
        "the constants are graph inputs",
        constants.runtime,
        _REWRITE,
        phrase="with constants as graph inputs",
    ),
    Form(
        OVERRIDDEN,
        "initializers with other numbers are defaults of the parameters, or of the constants of a pattern, and the "
        "caller overrides them; only floating-point numbers have such defaults. A runtime need not allow that, so only "
        'adapters that declare `accepts: ["overrides"]` run it',
        constants.overridden,
        _PLAN | _REWRITE,
        _has_parameters,
        Once.TYPES,
        one_meaning=True,
        drawn=1,
        phrase="with parameters that override default initializers",
        text="When an initializer has the same name as a graph input, it specifies a default value for that input.",
    ),
    Form(
        "tapped",
        "intermediate values are also graph outputs",
        repeated.tapped,
        _REWRITE,
        phrase="with intermediate values as graph outputs",
    ),
    Form(
        "shared",
        "another node also uses the intermediate values",
        repeated.shared,
        _REWRITE,
        phrase="with another user of the intermediate values",
    ),
    Form(
        "doubled",
        "the pattern occurs twice with the same initializers",
        repeated.doubled,
        _REWRITE,
        phrase="with the pattern twice",
    ),
    Form(
        "oldest",
        "the model uses the oldest opset in which it is valid",
        opsets.oldest,
        _REWRITE,
        phrase="at the oldest possible opset",
    ),
    Form(
        "recent", "the model uses the opset two before the newest", opsets.recent, _REWRITE, phrase="at a recent opset"
    ),
)
"""All forms, in the order in which a case is delivered: digests of cases follow this order."""
_BY_NAME = {form.name: form for form in FORMS}
_FOLLOWED = re.compile(r"(?:^|_)then_[A-Z]\w*$")
"""The end of the name of a case whose output goes into another operator: `then_Relu`, `folded_then_Relu_then_Cast`."""


@functools.cache
def find(name: str) -> Form | None:
    """Return the row of a form, also of `initializer-axes` and of a chain such as `folded_then_Relu`.

    A chain has the row of the form that it begins with. Returns None if there is no such form.
    """
    of_parameter = next((form for form in FORMS if form.is_of_parameter(name)), None)
    return of_parameter or _BY_NAME.get(_FOLLOWED.sub("", name) or PLAIN)


def delivered(start: Delivered, kind: Start) -> Iterator[tuple[str, Delivered]]:
    """Yield the name of each form that is suitable for a case of a kind, and the case in this form."""
    for form in FORMS:
        if kind in form.starts:
            for name in form.names(start.parameters):
                made = form.deliver(start, name)
                if made is not None:
                    yield name, made


def names(start: Start) -> tuple[str, ...]:
    """Return the names of the forms in which something is delivered, in the order of the table."""
    return tuple(form.name for form in FORMS if start in form.starts)


def has_open_shapes(name: str) -> bool:
    """Return whether a model in this form does not declare every shape."""
    form = find(name)
    return form is not None and form.open_shapes
