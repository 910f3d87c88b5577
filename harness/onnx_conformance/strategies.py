# SPDX-License-Identifier: Apache-2.0
"""Strategies for hypothesis: tensors, valid calls of operators, and small valid models, with their expected outputs.

    from onnx_conformance import strategies

    call = strategies.calls("Conv", version=22).example()   # In a test, use the decorator of hypothesis.
    call.check(my_runtime(call.model, call.feeds))

They draw like the command `search`, from the declared calls of the operators. The oracles of this project compute the
expected outputs. Needs the package hypothesis: `pip install 'onnx-conformance[search]'`.
"""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

if importlib.util.find_spec("hypothesis") is None:
    raise ImportError(
        "onnx_conformance.strategies needs the package hypothesis: pip install 'onnx-conformance[search]'",
        name="hypothesis",
    )

import hypothesis
from hypothesis import strategies as st

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.values import Drawn
from onnx_conformance.base.verdict import Verdict, line
from onnx_conformance.case.case import PLAIN, Case
from onnx_conformance.case.model_text import model_text
from onnx_conformance.case.value_text import brief
from onnx_conformance.forms import table
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.replies import Answered
from onnx_conformance.search import elements as drawn_elements
from onnx_conformance.search import examples
from onnx_conformance.search.chains import BRIDGES, MOST_FOLLOWERS, chains, in_force
from onnx_conformance.search.grammar import Source, newest_opsets, sources
from onnx_conformance.search.valid_calls import has_valid_call, valid_call
from onnx_conformance.specification import registry
from onnx_conformance.specification.element_types import element_type_named, numpy_dtype
from onnx_conformance.suites.chosen import element_type_called
from onnx_conformance.suites.selection import Selection
from onnx_conformance.testing.reference_evaluator import ReferenceEvaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx_conformance.base.values import Value
    from onnx_conformance.minimize.declared_candidate import DeclaredCandidate
    from onnx_conformance.search.examples import Example

__all__ = ["Call", "Model", "StrategyError", "calls", "models", "tensors"]

Array = np.ndarray[Any, Any]
MOST_NODES = 16
"""The largest number of nodes of a drawn model."""
ALONE = 256
"""Maximum number of elements of a tensor that are drawn one by one. Larger tensors repeat their first elements."""
TEXT = 2000
"""Maximum length of the text of a model in the `repr` of an example, in characters."""
FORMS = tuple(form.name for form in table.FORMS if form.drawn)
"""The forms in which calls can be drawn."""


class StrategyError(HarnessError):
    """An argument of a strategy is wrong. The message contains the right ones."""


@dataclass(frozen=True)
class Model:
    """A valid model with inputs and the expected outputs.

    Attributes:
        operators: the operator versions of its nodes, such as `("ai.onnx/Conv/22", "ai.onnx/Relu/14")`.
        model: the model.
        feeds: the inputs by name: arrays, lists for sequences, None for an empty optional.
        expected: the outputs, in the order of the graph. Floating-point outputs are computed in float64 and rounded
            once, so use `check` to compare: it knows the tolerance of each operator, and elements that may differ.
        case: the same as a case of this project, with the tolerance.
    """

    operators: tuple[str, ...]
    model: onnx.ModelProto
    feeds: dict[str, Value]
    expected: list[Value]
    case: Case

    def check(self, outputs: Sequence[Value]) -> None:
        """Compare the outputs of a runtime with the expected ones, within the tolerance.

        Args:
            outputs: all outputs of the graph, in its order.

        Raises:
            AssertionError: an output is wrong. The message names the difference.
            HarnessError: `outputs` is not a list.
        """
        if not isinstance(outputs, list | tuple):
            raise StrategyError(
                "not-outputs", f"check takes the list of all outputs of the graph, not a {type(outputs).__name__}"
            )
        values = [item if isinstance(item, list | dict | None) else np.asarray(item) for item in outputs]
        result = judge(self.case, "the runtime", Answered(tuple(values), None))
        if result.verdict is not Verdict.PASS:
            text = f"{' '.join(self.operators)}: {result.verdict}: {result.message}"
            raise AssertionError(f"{text}\nexpected {brief(self.case.expected or ())}\nactual {brief(values)}")

    def __repr__(self) -> str:
        """Return the model in ONNX's text syntax, the inputs, and the expected outputs."""
        fed = "\n".join(f"{name} = {brief([value])}" for name, value in self.feeds.items())
        expected = brief(self.case.expected or ())
        text = model_text(self.model.SerializeToString(), TEXT).strip()
        return f"{type(self).__name__}({' '.join(self.operators)}\n{text}\n{fed}\nexpected {expected})"

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:  # noqa: ANN401, FBT001 - hypothesis's
        """Write the same text where hypothesis reports an example."""
        printer.text(repr(self))


@dataclass(frozen=True, repr=False)
class Call(Model):
    """A valid call of one operator version, as a model with one node.

    Attributes:
        operator: the operator version, such as `ai.onnx/Conv/22`.
        inputs: the inputs of the node by the name in the operator's text. The inputs of a variadic parameter have the
            names of the parameter with an index, such as `inputs_0`.
        attributes: the attributes of the node by name, without those that have their default.
        form: how the call is delivered, such as `plain`, or `initializer`: with parameters as initializers.
    """

    operator: str = ""
    inputs: Mapping[str, Value] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    form: str = PLAIN


def tensors(
    type: str,  # noqa: A002 - the standard term
    shape: Sequence[int] | st.SearchStrategy[tuple[int, ...]],
    *,
    elements: st.SearchStrategy[Any] | None = None,
) -> st.SearchStrategy[Array]:
    """Return a strategy for tensors of an element type of ONNX.

    The elements are small numbers and the special values of the type: NaN, infinities, -0, subnormal numbers, ties of
    rounding, limits of integers. Tensors with more than 256 elements repeat the first ones. They shrink to zeros.

    >>> tensors("bfloat16", (2, 3)).example().shape
    (2, 3)

    Args:
        type: the name of the element type in ONNX: float, int64, bfloat16, string, float8e4m3fn, or tensor(float).
        shape: the size of each axis, or a strategy for shapes, such as `hypothesis.extra.numpy.array_shapes()`.
        elements: a strategy for the elements; None for the values above.

    Returns:
        A strategy for numpy arrays. Types that numpy lacks have their dtype from ml_dtypes; strings have dtype object.

    Raises:
        HarnessError: there is no such element type, or the shape is not one.
    """
    dtype = numpy_dtype(element_type_named(element_type_called(type)).number)
    drawn = drawn_elements.elements(dtype) if elements is None else elements
    shapes = shape if isinstance(shape, st.SearchStrategy) else st.just(_shape(shape))

    @st.composite
    def tensor(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Array:
        sizes = _shape(draw(shapes))
        count = math.prod(sizes)
        least = min(count, ALONE)
        return drawn_elements.array(draw(st.lists(drawn, min_size=least, max_size=least)), dtype, sizes)

    return tensor()


def _shape(shape: object) -> tuple[int, ...]:
    whole = isinstance(shape, Sequence) and not isinstance(shape, str)
    sizes = tuple(shape) if isinstance(shape, Sequence) and whole else (None,)
    if not all(isinstance(size, int | np.integer) and not isinstance(size, bool) and size >= 0 for size in sizes):
        raise StrategyError(
            "not-a-shape", f"shape {line(repr(shape), 80)} is not a shape; expected sizes of at least 0, such as (2, 3)"
        )
    return tuple(int(size) for size in sizes if size is not None)


def calls(operator: str, *, version: int | None = None, forms: Sequence[str] = (PLAIN,)) -> st.SearchStrategy[Call]:
    """Return a strategy for valid calls of an operator version, with the outputs that its text defines.

    A call is a declared call of the operator with up to four changes: other types, sizes, attributes and values. It
    shrinks to the first declared calls, with axes of size 1, zeros, and no optional argument. Calls that the text
    forbids or leaves open, and random outputs, are not drawn.

    >>> call = calls("Split", version=18).example()
    >>> call.operator, [item.name for item in call.model.graph.node[0].attribute] == list(call.attributes)
    ('ai.onnx/Split/18', True)

    Args:
        operator: the name of the operator: Conv, ai.onnx/Conv, ai.onnx.ml/TreeEnsemble, or one of a package.
        version: the version, which is the opset that introduced it; None for the newest one.
        forms: the forms in which calls are delivered. With `("initializer",)`, all inputs except the first are
            initializers. A call for which the form is not suitable is plain.

    Raises:
        HarnessError: there is no such operator, version or form; or the operator has no call with defined outputs.
    """
    source = _source(operator, version)
    wanted = _forms(forms)

    @st.composite
    def call(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Call:
        made = valid_call(draw, source)
        form = draw(st.sampled_from(wanted))
        hypothesis.assume(made is not None)
        assert made is not None  # noqa: S101 - see the line before
        example = examples.in_form(made[1], form) or examples.in_form(made[1], PLAIN)
        hypothesis.assume(example is not None)
        assert example is not None  # noqa: S101 - see the line before
        return _call(example)

    return call()


def _call(example: Example) -> Call:
    case, planned = example.case, example.plan
    assert planned is not None  # noqa: S101 - it was planned
    return Call(
        operators=example.operators,
        model=onnx.load_from_string(case.model),
        feeds=dict(case.inputs),
        expected=_values(case),
        case=case,
        operator=example.operators[0],
        inputs=planned.tensors,
        attributes={name: onnx.helper.get_attribute_value(item) for name, item in planned.attributes.items()},
        form=case.form,
    )


def _values(case: Case) -> list[Value]:
    """Return the expected outputs of a case with values."""
    return [value for value in case.expected or () if not isinstance(value, Drawn)]  # No call is random; see calls.


def _source(operator: str, version: int | None) -> Source:
    """Return the source of the calls of an operator version.

    Raises:
        HarnessError: there is no such operator or version, or it has no valid call.
    """
    op = registry.load().named(operator)
    found = [item for item in registry.versions(op) if not item.deprecated]
    if version is None and found:
        version = found[-1].since
    chosen = next((item for item in registry.versions(op) if item.since == version), None)
    if chosen is None:
        known = ", ".join(str(item.since) for item in registry.versions(op))
        raise StrategyError("version-not-drawn", f"{op} has no version {version!r}; it has the versions {known}")
    if chosen.deprecated:
        raise StrategyError("deprecated-not-drawn", f"{chosen} is deprecated, so it has no valid calls")
    source = _loaded(str(chosen))
    if not has_valid_call(source):
        raise StrategyError("no-valid-call", f"{chosen} has no call whose outputs the text defines, so none is drawn")
    return source


@functools.cache
def _loaded(operator: str) -> Source:
    """Return the source of an operator version, which reads its declared calls once, before the first draw."""
    name, _, since = operator.rpartition("/")
    domain, _, plain = name.partition("/")
    op = registry.load().find(domain, plain)
    assert op is not None  # noqa: S101 - it was found by its name
    source = Source(op, next(item for item in registry.versions(op) if item.since == int(since)))
    _ = source.pools, source.types  # They are computed on demand, and hypothesis limits the time of a draw.
    return source


def _forms(forms: Sequence[str]) -> tuple[str, ...]:
    wanted = (forms,) if isinstance(forms, str) else tuple(forms)
    unknown = [form for form in wanted if form not in FORMS]
    if unknown or not wanted:
        named = f"{unknown[0]!r} is not a form" if unknown else "no form is named"
        raise StrategyError("no-such-form", f"{named}; calls can be drawn in the forms {', '.join(FORMS)}")
    return wanted


def models(
    *, operators: Sequence[str] | None = None, nodes: int | tuple[int, int] = (2, 1 + MOST_FOLLOWERS),
    opset: int | None = None,
) -> st.SearchStrategy[Model]:  # fmt: skip
    """Return a strategy for small valid models of several nodes, with the outputs that the texts define.

    An output of each node goes into the next one. Constants are inputs or initializers, which nodes may share, and the
    sizes of inputs may be symbols. `ReferenceEvaluator` computes the expected outputs. Models that the text leaves
    open, and those in which rounding decides the result, are not drawn. A failing model shrinks to fewer nodes.

    >>> model = models(operators=["Relu", "Conv"], nodes=2, opset=22).example()
    >>> len(model.model.graph.node)
    2

    Args:
        operators: the operators of the nodes, as in `calls`: Conv, or Conv/22 for one version. Only operators of
            ai.onnx with inputs. None for all; the first call then takes some seconds, to read their declarations.
        nodes: the number of nodes, or the smallest and the largest number.
        opset: the opset of the models; None for any from 13 to the newest one.

    Raises:
        HarnessError: there is no such operator or opset, no opset has all of the operators, or a number is not valid.
    """
    least, most = _numbers(nodes)
    opsets = _opsets(opset)
    selected = _every() if operators is None else _selected(operators)
    if operators is not None:
        every = {source.version.name for source in selected}
        opsets = [item for item in opsets if {source.version.name for source in in_force(selected, item)} == every]
    if not opsets:
        where = f"opset {opset}" if opset is not None else "one opset from 13 on"
        raise StrategyError(
            "operators-not-in-opset",
            f"the operators {line(', '.join(operators or ()), 200)} do not all exist in {where}; name versions of one "
            "opset, or no versions",
        )
    names = {source.version.name for source in selected}
    bridges = tuple(name for name in BRIDGES if operators is None or name in names)

    def first(draw: Callable[[st.SearchStrategy[Any]], Any], source: Source) -> DeclaredCandidate | None:
        made = valid_call(draw, source) if source.valid else None
        return None if made is None else made[0]

    linked = chains(selected, selected, opsets=opsets, nodes=(least, most), bridges=bridges, first=first)

    @st.composite
    def model(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Model:
        chain = draw(linked)
        hypothesis.assume(chain is not None and len(chain.plans) >= least)
        example = examples.example(chain)
        hypothesis.assume(not isinstance(example, str))
        assert not isinstance(example, str)  # noqa: S101 - see the line before
        return _model(example)

    return model()


def _model(example: Example) -> Model:
    proto, feeds = onnx.load_from_string(example.case.model), dict(example.case.inputs)
    expected = ReferenceEvaluator(proto).run(None, feeds)
    assert isinstance(expected, list)  # noqa: S101 - not the intermediate values
    return Model(example.operators, proto, feeds, expected, example.case)


def _numbers(nodes: int | tuple[int, int]) -> tuple[int, int]:
    """Return the smallest and the largest number of nodes."""
    pair: tuple[object, ...] = tuple(nodes) if isinstance(nodes, Sequence) else (nodes, nodes)
    whole = [item for item in pair if isinstance(item, int) and not isinstance(item, bool)]
    if not len(whole) == len(pair) == 2 or not 2 <= whole[0] <= whole[1] <= MOST_NODES:  # noqa: PLR2004 - one node is a call
        raise StrategyError(
            "not-a-number-of-nodes",
            f"nodes={nodes!r} is not a number of nodes; expected a number from 2 to {MOST_NODES}, or the smallest and "
            "the largest one, such as (2, 4); for one node, use calls",
        )
    return whole[0], whole[1]


def _opsets(opset: int | None) -> list[int]:
    known = newest_opsets()
    if opset is not None and opset not in known:
        raise StrategyError(
            "no-such-opset", f"opset {opset!r} is not one of models; expected a number from {known[-1]} to {known[0]}"
        )
    return list(known) if opset is None else [opset]


@functools.cache
def _every() -> tuple[Source, ...]:
    """Return all operator versions of ai.onnx that nodes may have."""
    return tuple(item for item in sources(Selection()) if item.version.domain == "ai.onnx" and item.version.inputs)


def _selected(operators: Sequence[str]) -> tuple[Source, ...]:
    """Return the operator versions that nodes may have."""
    if isinstance(operators, str) or not operators:
        raise StrategyError(
            "not-operators", f"operators={operators!r} is not a list of operators; write, for example, ['Conv', 'Relu']"
        )
    found: dict[str, Source] = {}
    for name in operators:
        stem, _, number = name.rpartition("/")
        version = int(number) if stem and number.isdecimal() else None
        one = _source(stem if version is not None else name, version)
        if one.version.domain != "ai.onnx" or not one.version.inputs:
            raise StrategyError(
                "operator-not-in-models",
                f"{one.version} cannot be in models; only operators of ai.onnx with inputs can",
            )
        every = registry.versions(one.op) if version is None else (one.version,)
        for item in every:
            if not item.deprecated and item.top >= newest_opsets()[-1]:
                found[str(item)] = _loaded(str(item))
    return tuple(sorted(found.values(), key=lambda source: -source.version.since))
