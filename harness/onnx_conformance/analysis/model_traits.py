# SPDX-License-Identifier: Apache-2.0
"""Read the traits of a case from its model and inputs: the properties of the operator's inputs and attributes.

Inputs, attributes and outputs have the names of the operator's text. Every form of a declared case has the traits of
the plain one, even `@expanded`, whose model has no node of the operator, and the traits of the form itself.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper

from onnx_conformance.analysis.traits import MOST_TEXT, OPSET, TYPE, Topic, Trait, TraitKind, Traits
from onnx_conformance.base.verdict import line, split_operator
from onnx_conformance.case.case import PLAIN, delivered_id
from onnx_conformance.case.external_data import decoded
from onnx_conformance.generation.deliveries import build, deliveries, started
from onnx_conformance.specification import nodes, schema
from onnx_conformance.specification.element_types import ElementTypeError, element_type

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case
    from onnx_conformance.generation.deliveries import Plan
    from onnx_conformance.specification.schema import OperatorVersion

MOST_ELEMENTS = 4096
"""Only type and shape are read of larger values."""
MOST_COMPARED = 64
TYPE_ATTRIBUTES = frozenset({"to", "dtype", "output_dtype", "stash_type", "softmax_precision", "precision"})
"""Attributes whose numbers are those of TensorProto.DataType."""
ENDS = {
    "beyond float16": 65504,
    "beyond int32": 2**31 - 1,
    "beyond 2**53": 2**53,
    "beyond half of int64": 2**62 - 1,
    "beyond float": float(np.finfo(np.float32).max),
}
"""Limits beyond which numbers overflow or lose digits."""
COLUMN = "ids"
"""The end of the names of attributes that are columns of a table, such as class_ids, and mean nothing alone."""
_ENUMERATED = re.compile(r"[A-Z]\w{2,}")
"""Strings that look like a member of an enumeration."""
MOST_SMALL = 16
"""Largest magnitude of a number with a specific meaning, such as an axis or a count; others are only examples."""


class Reader:
    """Reads the traits of cases in the order of a suite; common traits of a declared case's forms are read once."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self._stem, self._shared = "", Traits()

    def of_case(self, case: Case) -> tuple[Traits, Traits]:
        """Return the traits that a case shares with its other forms, and those of its form."""
        model = onnx.ModelProto.FromString(case.model)
        name, version = split_operator(case.operator)
        domain, _, op_type = name.partition("/")
        node = nodes.of_operator(model, domain, op_type)
        stem, _, form = case.id.partition("@")
        if form != case.form or stem != self._stem:
            known = _version(domain, op_type, version)
            self._stem = stem if case.form == PLAIN else ""
            self._shared = Traits() if node is None or known is None else dict(_shared(case, model.graph, node, known))
        return self._shared, dict(_own(case.operator, model))


def of_plan(plan: Plan, wanted: Callable[[str], bool]) -> Iterator[tuple[str, tuple[Traits, Traits]]]:
    """Yield id and traits of the cases of a plan as `Reader` reads them, without evaluating function bodies.

    Args:
        plan: of a generated case.
        wanted: whether the case of an id is wanted.
    """
    shared: Traits | None = None
    for form, made in deliveries(plan, wanted):
        if shared is None:
            start = made if form == PLAIN else started(plan)
            shared, _ = Reader().of_case(build(plan, PLAIN, start))
        yield delivered_id(plan.id, form), (shared, dict(_own(str(plan.version), made.model)))


@functools.cache
def _version(domain: str, op_type: str, version: int | None) -> OperatorVersion | None:
    if version is None or not schema.exists(domain, op_type, version):
        return None
    return schema.in_force(domain, op_type, version)


def _argument(words: str) -> Trait:
    return Trait(Topic.ARGUMENT, words)


def _values(words: str) -> Trait:
    return Trait(Topic.VALUES, words)


def _hint(words: str) -> Trait:
    return Trait(Topic.HINT, words)


def _number(name: str, equals: str = " = ", topic: Topic = Topic.ARGUMENT) -> Trait:
    return Trait(topic, name, TraitKind.NUMBER, equals)


def _own(operator: str, model: onnx.ModelProto) -> Iterator[tuple[Trait, Any]]:
    """Yield traits that depend on the form: the opset, initializers, and inputs named ""."""
    name, number = split_operator(operator)
    domain, _, op_type = name.partition("/")
    for item in model.opset_import:
        if (item.domain or "ai.onnx") == domain:
            yield OPSET, item.version
    node, version = nodes.of_operator(model, domain, op_type), _version(domain, op_type, number)
    if version is not None and node is not None:
        yield from _delivered(version, list(node.input), {item.name for item in model.graph.initializer})


def _delivered(version: OperatorVersion, names: Sequence[str], baked: Collection[str]) -> Iterator[tuple[Trait, Any]]:
    """Yield which inputs of a node, by their names in the model, are initializers or named ""."""
    if not (baked or "" in names):
        return
    for parameter, name in _named(version, names):
        if name in baked:
            yield _argument(f"{parameter} is an initializer"), True
        elif not name:
            yield _argument(f'{parameter} is named ""'), True


def _named(version: OperatorVersion, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the text's name and the model's name of each input of a node; those of a variadic one are numbered."""
    for index, name in enumerate(names):
        if index < len(version.inputs) and not version.inputs[index].variadic:
            yield _called(version, index), name
        elif version.inputs and version.inputs[-1].variadic:
            yield f"{version.inputs[-1].name}[{index - len(version.inputs) + 1}]", name
        else:
            yield f"input {index}", name


def _called(version: OperatorVersion, index: int) -> str:
    """Return the name of an input; where an attribute has the same (Split-1), the two differ."""
    name = version.inputs[index].name
    return f"the input {name}" if name in version.attributes else name


def _shared(
    case: Case, graph: onnx.GraphProto, node: onnx.NodeProto, version: OperatorVersion
) -> Iterator[tuple[Trait, Any]]:
    inputs = dict(_known_inputs(case, graph, node, version))
    yield from _signature(node, version, _elements_of(inputs, graph, node, version))
    for name, value in inputs.items():
        yield from _input(name, value)
    yield from _together(inputs)
    yield from _magnitude(inputs)
    first = next(iter(inputs.values()), None)
    if isinstance(first, np.ndarray):
        yield from _axis(first.ndim, node, version)


def _signature(
    node: onnx.NodeProto, version: OperatorVersion, elements: Mapping[str, str]
) -> Iterator[tuple[Trait, Any]]:
    """Yield the traits of a call that do not depend on its values: arguments, types, attributes and outputs."""
    yield from _presence(node, version)
    yield from _types(node, version, elements)
    yield from _attributes(node, version)
    yield from _outputs(node, version)


def of_call(
    node: onnx.NodeProto,
    version: OperatorVersion,
    elements: Mapping[str, str],
    shapes: Mapping[str, tuple[int | None, ...]],
    values: Mapping[str, np.ndarray[Any, Any]],
) -> Traits:
    """Return the traits of a node of any model, as far as its values are known.

    Args:
        node: the node.
        version: the version of its operator.
        elements: the element type of its inputs and outputs, by their names in the model.
        shapes: the shape of its inputs whose rank is known; None for an unknown dimension.
        values: the constant inputs.
    """
    traits: Traits = dict(_signature(node, version, elements))
    for place, (parameter, name) in enumerate(_named(version, list(node.input))):
        shape = shapes.get(name)
        if name in values:
            traits.update(_input(parameter, values[name]))
        elif shape is not None:
            traits.update(_shape(parameter, shape, elements.get(name, "")))
        if place == 0 and shape is not None:
            traits.update(_axis(len(shape), node, version))
    return traits


def parameters(node: onnx.NodeProto, version: OperatorVersion) -> dict[str, str]:
    """Return the names of a node's inputs in the text, and in the model."""
    return dict(_named(version, list(node.input)))


def _known_inputs(
    case: Case, graph: onnx.GraphProto, node: onnx.NodeProto, version: OperatorVersion
) -> Iterator[tuple[str, Value]]:
    """Yield the inputs with known values; others are outputs of other nodes."""
    baked = {item.name: item for item in graph.initializer}
    for parameter, name in _named(version, list(node.input)):
        if name in case.inputs:
            yield parameter, case.inputs[name]
        elif name in baked and (value := decoded(baked[name], case.files)) is not None:
            yield parameter, value


def _presence(node: onnx.NodeProto, version: OperatorVersion) -> Iterator[tuple[Trait, Any]]:
    for index, parameter in enumerate(version.inputs):
        if parameter.variadic:
            count = len(node.input) - index
            yield _number(f"number of {parameter.name}"), count
        elif parameter.optional or not parameter.variadic:
            there = index < len(node.input) and bool(node.input[index])
            if parameter.optional or not there:
                yield _argument(f"{_called(version, index)} is {'given' if there else 'omitted'}"), True
    if len(node.input) > len(version.inputs) and not (version.inputs and version.inputs[-1].variadic):
        yield _argument("there is an input too many"), True


def _elements_of(
    inputs: Mapping[str, Value], graph: onnx.GraphProto, node: onnx.NodeProto, version: OperatorVersion
) -> dict[str, str]:
    """Return the element types of the inputs and outputs of a case's node, by their names in the model."""
    graphs = [graph, *nodes.subgraphs(graph.node)]
    elements = {info.name: _element(info.type) for item in reversed(graphs) for info in (*item.input, *item.output)}
    for parameter, name in _named(version, list(node.input)):
        if name not in elements:
            elements[name] = _of_value(inputs.get(parameter))
    return elements


def _types(node: onnx.NodeProto, version: OperatorVersion, elements: Mapping[str, str]) -> Iterator[tuple[Trait, Any]]:
    """Yield the element types: that of the first type variable as `type`, of others by the input's name."""
    seen: dict[str, str] = {}
    for place, (parameter, name) in enumerate(_named(version, list(node.input))):
        declared = version.inputs[min(place, len(version.inputs) - 1)].type if version.inputs else ""
        text = elements.get(name, "")
        if not text or seen.get(declared) == text or (seen and len(version.allowed(declared)) < 2):  # noqa: PLR2004
            continue
        trait = Trait(Topic.TYPE, f"type of {parameter}", TraitKind.CHOICE) if seen else TYPE
        seen.setdefault(declared, text)
        yield trait, text
        if trait is TYPE:
            yield from ((Trait(Topic.TYPE, words), True) for words in _classes(text))
    for parameter_, name in zip(version.outputs, node.output, strict=False):
        text = elements.get(name, "")
        if text and seen.get(parameter_.type) != text and not (seen and len(version.allowed(parameter_.type)) < 2):  # noqa: PLR2004
            yield (Trait(Topic.TYPE, f"type of {parameter_.name}", TraitKind.CHOICE) if seen else TYPE), text
            seen.setdefault(parameter_.type, text)


def _element(proto: onnx.TypeProto) -> str:
    try:
        type_ = schema.type_of_proto(proto)
    except KeyError:
        return ""
    return type_.innermost.element if type_ else ""


def _of_value(value: Value | None) -> str:
    try:
        return element_type(value.dtype).name if isinstance(value, np.ndarray) else ""
    except ElementTypeError:
        return ""


def _classes(text: str) -> Iterator[str]:
    if text.startswith(("int", "uint")):
        yield "type is an integer"
        yield f"type is {'an unsigned' if text.startswith('u') else 'a signed'} integer"
    elif text.startswith("complex"):
        yield "type is complex"
    elif text not in {"string", "bool"}:
        yield "type is a floating one"
        if text.startswith(("float8", "float4", "float6")):
            yield "type is a float of 8 bits or fewer"


def _input(name: str, value: Value) -> Iterator[tuple[Trait, Any]]:
    if isinstance(value, dict):
        yield _argument(f"{name} is a map"), True
        yield _number(f"number of keys of {name}"), len(value)
    elif isinstance(value, list):
        yield _argument(f"{name} is a sequence"), True
        yield _number(f"length of {name}"), len(value)
        arrays = [item for item in value if isinstance(item, np.ndarray)]
        if len({item.shape for item in arrays}) > 1:
            yield _argument(f"tensors of {name} differ in shape"), True
        if any(item.size == 0 for item in arrays):
            yield _argument(f"a tensor of {name} has a dimension of size 0"), True
    elif value is None:
        yield _argument(f"{name} is an empty optional"), True
    else:
        yield from _tensor(name, np.asarray(value))


def _tensor(name: str, array: np.ndarray[Any, Any]) -> Iterator[tuple[Trait, Any]]:
    yield from _shape(name, array.shape, array.dtype.name)
    if 0 < array.size <= MOST_ELEMENTS:
        yield from _elements(name, array)


def _shape(name: str, shape: tuple[int | None, ...], element: str) -> Iterator[tuple[Trait, Any]]:
    """Yield the traits of a tensor's shape; a dimension is None if it is unknown."""
    yield _number(f"rank of {name}"), len(shape)
    if 0 in shape:
        yield _argument(f"{name} has a dimension of size 0"), True
    known = [size for size in shape if size is not None]
    if len(known) < len(shape):
        return
    size = math.prod(known)
    if shape and size == 1:
        yield _hint(f"{name} has dimensions but one element"), True
    if shape and size > 1 and 1 in shape:
        yield _argument(f"{name} has a dimension of size 1"), True
    if len(shape) == 1 and element.startswith(("int", "uint")) and size <= MOST_COMPARED:
        yield _number(f"length of {name}"), size


def _elements(name: str, array: np.ndarray[Any, Any]) -> Iterator[tuple[Trait, Any]]:
    kind = array.dtype.kind
    if kind == "b":
        yield (
            _values(f"{name} is {'false' if not array.any() else 'true' if array.all() else 'mixed'} throughout"),
            True,
        )
    elif kind == "O":
        if any(not item for item in array.flat):
            yield _values(f"{name} has an empty string"), True
        if any(not str(item).isascii() for item in array.flat):
            yield _values(f"{name} has text beyond ASCII"), True
    elif kind == "c":
        if not np.isfinite(array).all():
            yield _values(f"{name} has a value that is not finite"), True
    elif kind in "iu":
        yield from _whole(name, array)
    else:
        with np.errstate(invalid="ignore"):
            wide = array.astype(np.float64)
            present = {
                "NaN": np.isnan(wide).any(),
                "an infinity": np.isinf(wide).any(),
                "a negative value": (wide < 0).any(),
                "a zero": (wide == 0).any(),
                "a negative zero": ((wide == 0) & np.signbit(wide)).any(),
            }
        yield from ((_values(f"{name} has {content}"), True) for content, there in present.items() if there)
        if (wide[np.isfinite(wide)] % 1).any():
            yield _hint(f"{name} has a fraction"), True


def _whole(name: str, array: np.ndarray[Any, Any]) -> Iterator[tuple[Trait, Any]]:
    low, high = int(array.min()), int(array.max())
    if low < 0:
        yield _values(f"{name} has a negative value"), True
    if not array.all():
        yield _values(f"{name} has a zero"), True
    info = np.iinfo(array.dtype)
    if low == info.min < 0:
        yield _values(f"{name} has the lowest value of its type"), True
    if high == info.max:
        yield _values(f"{name} has the highest value of its type"), True
    if array.size == 1 and abs(low) <= MOST_SMALL:
        yield _number(f"value of {name}", topic=Topic.VALUES), low
    if array.ndim == 1 and array.size <= MOST_COMPARED and len(set(array.tolist())) < array.size:
        yield _hint(f"{name} has a value twice"), True


def _together(inputs: Mapping[str, Value]) -> Iterator[tuple[Trait, Any]]:
    """Yield how the shapes of the first three tensors relate."""
    tensors = [(name, value) for name, value in inputs.items() if isinstance(value, np.ndarray)][:3]
    for (one, first), (other, second) in itertools.combinations(tensors, 2):
        if first.ndim != second.ndim:
            yield _argument(f"{one} and {other} differ in rank"), True
        if first.shape != second.shape:
            yield _argument(f"{one} and {other} differ in shape"), True
        else:
            yield _hint(f"{one} and {other} have one shape"), True


def _magnitude(inputs: Mapping[str, Value]) -> Iterator[tuple[Trait, Any]]:
    """Yield the limits that the largest magnitude in the small inputs exceeds: it may overflow or be rounded."""
    numbers = [
        value
        for value in inputs.values()
        if isinstance(value, np.ndarray) and value.dtype.kind not in "bOcSU" and 0 < value.size <= MOST_COMPARED
    ]
    magnitudes = [abs(item) for value in numbers for item in value.reshape(-1).tolist() if math.isfinite(item)]
    for words, end in ENDS.items():
        if magnitudes and max(magnitudes) > end:
            yield _hint(f"an input has a number {words}"), True


def _axis(rank: int, node: onnx.NodeProto, version: OperatorVersion) -> Iterator[tuple[Trait, Any]]:
    """Yield where the attribute `axis` points to in a first input of this rank, from whichever end it counts."""
    if "axis" not in version.attributes or not rank:
        return
    axis = next((item.i for item in node.attribute if item.name == "axis"), version.attributes["axis"].default)
    if isinstance(axis, int) and -rank <= axis < rank:
        counted = axis % rank
        yield _number("axis counted from the front"), counted
        yield _argument(f"axis is {'' if counted == rank - 1 else 'not '}the last dimension"), True
        yield _argument(f"axis is {'' if counted == 0 else 'not '}the first dimension"), True


def _attributes(node: onnx.NodeProto, version: OperatorVersion) -> Iterator[tuple[Trait, Any]]:
    attributes = {line(item.name, MOST_TEXT): item for item in node.attribute}
    for name, attribute in version.attributes.items():
        if not attribute.required or name not in attributes:
            yield _argument(f"{name} is {'set' if name in attributes else 'not set'}"), True
        if name not in attributes and attribute.default is not None:
            yield from _attribute(name, attribute.default)
    for name, item in attributes.items():
        if name not in version.attributes:
            yield _argument(f"there is an attribute {name}"), True
        yield from _attribute(name, helper.get_attribute_value(item))
        yield from ((_argument(f"{name} contains {word}"), True) for word in _named_values(item, version))


def _named_values(item: onnx.AttributeProto, version: OperatorVersion) -> Iterator[str]:
    """Yield the strings in a list that the text of the operator defines or quotes: Elu(x), 'LEAF'."""
    for word in dict.fromkeys(text.decode("utf-8", "replace") for text in item.strings):
        if _ENUMERATED.fullmatch(word) and re.search(rf"'{word}'|\b{word}\(", version.text):
            yield word


def _attribute(name: str, value: Any) -> Iterator[tuple[Trait, Any]]:  # noqa: ANN401 - in onnx's form
    """Yield traits of an attribute's value, whether it is set or the default."""
    text = Trait(Topic.ARGUMENT, name, TraitKind.CHOICE, "=")
    if isinstance(value, int) and name in TYPE_ATTRIBUTES:
        yield text, _type_name(value)
    elif isinstance(value, int | float):
        if math.isfinite(value):
            yield _number(name, "="), value
        else:
            yield text, str(value)
    elif isinstance(value, bytes | str):
        shown = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        yield text, line(shown, MOST_TEXT) or '""'
    elif isinstance(value, onnx.TensorProto):
        yield Trait(Topic.TYPE, f"type of {name}", TraitKind.CHOICE), _type_name(value.data_type)
        yield _number(f"rank of {name}"), len(value.dims)
    elif isinstance(value, list | tuple):
        yield from _list(name, [*value])


def _list(name: str, values: list[Any]) -> Iterator[tuple[Trait, Any]]:
    if name.endswith(COLUMN):
        yield _number(f"length of {name}", topic=Topic.HINT), len(values)
        return
    yield _number(f"length of {name}"), len(values)
    numbers = [item for item in values if isinstance(item, int | float) and math.isfinite(item)]
    if not numbers or len(numbers) != len(values):
        return
    yield _number(f"smallest of {name}"), min(numbers)
    yield _number(f"largest of {name}"), max(numbers)
    if len(values) > 1:
        yield _argument(f"values of {name} {'are all equal' if len(set(values)) == 1 else 'differ'}"), True
    shown = ",".join(f"{item:g}" for item in values)
    if len(shown) <= MOST_TEXT:
        yield Trait(Topic.ARGUMENT, f"{name}=[{shown}]"), True


def _type_name(number: int) -> str:
    try:
        return schema.tensor_of(number).element
    except KeyError:
        return str(number)


def _outputs(node: onnx.NodeProto, version: OperatorVersion) -> Iterator[tuple[Trait, Any]]:
    if len(version.outputs) > 1 or (version.outputs and version.outputs[-1].variadic):
        yield _number("number of outputs", topic=Topic.OUTPUT), len(node.output)
    for index, parameter in enumerate(version.outputs):
        if parameter.optional:
            there = index < len(node.output) and bool(node.output[index])
            words = f"{parameter.name} is {'asked for' if there else 'not asked for'}"
            yield Trait(Topic.OUTPUT, words), True
