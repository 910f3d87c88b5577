"""The table of forms: a row for each way to deliver a case.

The plans of operators (`generation.forms`), the cases of the core with another node (`composition.neighbours`) and
known rewrites (`composition.rewrite_cases`) are delivered in these forms. The core, the expectations, the search,
`minimize`, the findings and the judge of inferencers read what they need to know of a form here.

To add a form, add a row here and the function that builds it in the module of its `starts`.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

PLAIN, EXPANDED = "plain", "expanded"
IF_BRANCH, LOCAL_FUNCTION = "if_branch", "local_function"
TWICE, TYPED, EXTERNAL_DATA = "twice", "typed", "external_data"
INITIALIZER, SYMBOLIC, UNRANKED = "initializer", "symbolic", "unranked"


class Start(enum.StrEnum):
    """The kinds of cases that a form delivers.

    Attributes:
        PLAN: a declared case of an operator; the suite `generated`.
        CASE: a case of the core with another node, or with nothing left to compute; the suite `transforms`.
        REWRITE: a model with a pattern that optimizers rewrite; the suite `transforms`.
    """

    PLAN = "plan"
    CASE = "case"
    REWRITE = "rewrite"


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


@dataclass(frozen=True)
class Form:
    """One way to deliver a case.

    Attributes:
        name: the text after the @ of a case id.
        sentence: the difference from the plain form; docs/reference.md has the same sentence.
        starts: the kinds of cases that are delivered in this form.
        once: the cases of which only the first has the form.
        one_meaning: whether the form tests the graph, the file or the session around the operator. The core then has it
            once for each operator version.
        open_shapes: whether the model does not declare every shape, so an inferencer may know less.
        delivery: whether a runtime that lacks this form rejects it for every operator. If only this form is rejected,
            the operator has no fault.
        drawn: how often `search` draws the form, relative to the others.
    """

    name: str
    sentence: str
    starts: frozenset[Start]
    once: Once = Once.EACH
    one_meaning: bool = False
    open_shapes: bool = False
    delivery: bool = False
    drawn: int = 0


_PLAN, _CASE, _REWRITE = (frozenset([start]) for start in Start)

FORMS = (
    Form(PLAIN, "a node, or the nodes of a pattern, with constants as initializers", frozenset(Start), drawn=3),
    Form(
        INITIALIZER,
        "the parameters (every input except the first) are initializers; `@initializer-NAME` if there are several "
        "parameters",
        _PLAN,
        drawn=1,
    ),
    Form("omitted", 'omitted optional inputs are written as ""', _PLAN, drawn=1),
    Form(
        SYMBOLIC,
        "every dimension is a symbol, except a 1 that the text requires, as in the shape [1, C] of StringNormalizer",
        _PLAN | _REWRITE,
        Once.SHAPES,
        open_shapes=True,
        drawn=1,
    ),
    Form(
        UNRANKED,
        "the inputs of the operator have an unknown rank. A graph must declare the shapes of its inputs, so the "
        "operator's inputs are outputs of a Reshape whose target shape is known only at run time",
        _PLAN | _REWRITE,
        Once.SHAPES,
        open_shapes=True,
        delivery=True,
        drawn=1,
    ),
    Form(
        "top",
        "the model uses the highest opset in which the operator version is in force, instead of the lowest",
        _PLAN,
        Once.SHAPES,
        drawn=1,
    ),
    Form(
        TYPED,
        "the parameters are initializers that store their elements in typed fields (`float_data`, `int32_data`, ...) "
        "instead of bytes",
        _PLAN,
        Once.TYPES,
        one_meaning=True,
        delivery=True,
        drawn=1,
    ),
    Form(
        EXTERNAL_DATA,
        "the parameters are initializers whose bytes are in a separate file. Only adapters that declare `accepts: "
        '["files"]` run it',
        _PLAN,
        Once.NODES,
        one_meaning=True,
    ),
    Form("again", "the model contains a random operator twice; with one seed, both must draw the same values", _PLAN),
    Form(
        EXPANDED,
        "the function body that ONNX defines for the operator replaces the node. If that body contradicts the text, "
        "the case is `unspecified`, and the result contains the reason",
        _PLAN,
    ),
    Form(
        IF_BRANCH,
        "the node is in the then-branch of an If whose condition is an input. The node uses values of the outer graph",
        _PLAN | _REWRITE,
        Once.NODES,
        one_meaning=True,
        drawn=1,
    ),
    Form(
        LOCAL_FUNCTION,
        "the node is in a function that the model defines, and its attributes refer to those of the function call",
        _PLAN | _REWRITE,
        Once.NODES,
        one_meaning=True,
        drawn=1,
    ),
    Form(
        TWICE,
        "the same session first runs with the inputs of another case, with other shapes if such a case exists. Only "
        'adapters that declare `accepts: ["earlier"]` run it',
        _PLAN,
        Once.NODES,
        one_meaning=True,
        open_shapes=True,
    ),
    Form("folded", "all inputs are initializers", _CASE | _REWRITE, drawn=1),
    *(
        Form(f"{place}_{node}", sentence.format(node.capitalize()), _CASE, drawn=1)
        for node in ("identity", "transpose", "reshape", "cast")
        for place, sentence in (
            ("behind", "{} computes the first input of the node"),
            ("before", "{} receives the first output of the node"),
        )
    ),
    Form("constant_nodes", "Constant nodes contain the constants", _REWRITE),
    Form("runtime", "the constants are graph inputs", _REWRITE),
    Form("overridden", "the constants are defaults of graph inputs, and the caller overrides them", _REWRITE),
    Form("tapped", "intermediate values are also graph outputs", _REWRITE),
    Form("shared", "another node also uses the intermediate values", _REWRITE),
    Form("doubled", "the pattern occurs twice with the same initializers", _REWRITE),
    Form("oldest", "the model uses the oldest opset in which it is valid", _REWRITE),
    Form("recent", "the model uses the opset two before the newest", _REWRITE),
)
"""All forms, those of plans first; of these, the simpler form first."""
_BY_NAME = {form.name: form for form in FORMS}
_FOLLOWED = re.compile(r"(?:^|_)then_[A-Z]\w*$")
"""The end of the name of a case whose output goes into another operator: `then_Relu`, `folded_then_Relu_then_Cast`."""


def find(name: str) -> Form | None:
    """Return the row of a form, also of `initializer-NAME` and of a chain such as `folded_then_Relu`.

    A chain has the row of the form that it begins with. Returns None if there is no such form.
    """
    stem = name.partition("-")[0] if name.startswith(f"{INITIALIZER}-") else _FOLLOWED.sub("", name) or PLAIN
    return _BY_NAME.get(stem)


def names(start: Start) -> tuple[str, ...]:
    """Return the names of the forms in which something is delivered, in the order of the table."""
    return tuple(form.name for form in FORMS if start in form.starts)


def has_open_shapes(name: str) -> bool:
    """Return whether a model in this form does not declare every shape."""
    form = find(name)
    return form is not None and form.open_shapes


def delivered_id(stem: str, form: str) -> str:
    """Return the id of a case in a form: the plain form has the id of the declared case."""
    return stem if form == PLAIN else f"{stem}@{form}"
