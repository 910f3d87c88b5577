# SPDX-License-Identifier: Apache-2.0
"""The schema of every operator version of ONNX and of other operator packages."""

from __future__ import annotations

import difflib
import functools
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnx
import onnx.defs
from onnx import helper

from onnx_conformance.backends.protocol import ELEMENT_TYPES, ElementTypeError, element_type_named, numpy_dtype
from onnx_conformance.declare.type import Kind, Type, TypeTextError
from onnx_conformance.specification import packages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from onnx_conformance.declare.package import OperatorPackage

_OPTION = onnx.defs.OpSchema.FormalParameterOption

READ = "1.23.2"
"""The version of onnx whose texts and function bodies the operator files and the manifest are based on."""

OF_ONNX = frozenset({"ai.onnx", *(domain for domain, _ in helper.OP_SET_ID_VERSION_MAP)})
"""The domains of ONNX."""
PREFERRED = ("tensor(float)", "tensor(int64)")


class SchemaError(LookupError):
    """onnx.defs has no such operator or version. The message names the existing ones."""


@dataclass(frozen=True)
class Parameter:
    """An input or output.

    Attributes:
        name: the name in the text, without the dots that Split-1 writes after "outputs".
        type: a type variable such as T, or a concrete type such as tensor(int64).
        optional: whether it may be omitted.
        variadic: whether it may have any number of values, at least `least`.
        homogeneous: whether all values of a variadic parameter have one type.
        least: the least number of values of a variadic parameter.
        description: its description in the text, white space folded.
    """

    name: str
    type: str
    optional: bool
    variadic: bool
    homogeneous: bool
    least: int
    description: str = ""


@dataclass(frozen=True)
class Attribute:
    """An attribute: its AttributeProto type name, whether it is required, and its default (None: no default)."""

    name: str
    type: str
    required: bool
    default: Any


@dataclass(frozen=True)
class OperatorVersion:
    """The schema of one operator version.

    Attributes:
        since: the opset that introduced it.
        top: the highest opset in which it is in force.
        types: type variable -> the types it allows, in the schema's order.
        text: all descriptions of the schema, white space folded.
        constraints: type variable -> the description of its types, if there is one.
        outputs_least: the least number of outputs of a node.
        of_version: the declared version that defines its meaning, if it is not declared itself; otherwise 0.
    """

    domain: str
    name: str
    since: int
    top: int
    deprecated: bool
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: Mapping[str, Attribute]
    types: Mapping[str, tuple[str, ...]]
    text: str
    constraints: Mapping[str, str]
    outputs_least: int
    of_version: int = 0

    def __str__(self) -> str:
        """Return its name in the form that users write: ai.onnx/Split/13."""
        return f"{self.domain}/{self.name}/{self.since}"

    @property
    def meaning(self) -> int:
        """The version whose oracle and sentences apply; see `onnx_conformance.generation.provisional`."""
        return self.of_version or self.since

    @functools.cached_property
    def arguments(self) -> Mapping[str, Parameter | Attribute]:
        """Every input and attribute by the name that operator files use.

        If an input and an attribute have the same name (Split-1 has two named split), the input is called NAME_input.
        """
        named: dict[str, Parameter | Attribute] = dict(self.attributes)
        for parameter in self.inputs:
            named[f"{parameter.name}_input" if parameter.name in self.attributes else parameter.name] = parameter
        return named

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        """The inputs after the first, which usually control the computation."""
        return tuple(item.name for item in self.inputs[1:] if not item.variadic)

    def default_type(self, type_: str) -> str:
        """Return the type of an unbound type variable: one of PREFERRED, or a container of it, if allowed."""
        allowed = self.allowed(type_)
        candidates = (
            item for preferred in PREFERRED for item in (preferred, f"seq({preferred})", f"optional({preferred})")
        )
        return next((item for item in candidates if item in allowed), allowed[0])

    def allowed(self, type_: str) -> tuple[str, ...]:
        """Return the types that a parameter of this type (variable or concrete) may have."""
        return self.types.get(type_, (type_,))


def folder(version: OperatorVersion) -> str:
    """Return the folder of onnx/defs that defines an operator version: math, tensor, nn."""
    return Path(source(version.domain, version.name, version.since).file).parent.name or version.domain


def proto_domain(domain: str) -> str:
    """Return a domain in the form used in models: empty for ai.onnx."""
    return "" if domain == "ai.onnx" else domain


@functools.cache
def versions(domain: str, name: str) -> tuple[OperatorVersion, ...]:
    """Return every version of an operator, oldest first.

    Raises:
        SchemaError: no such operator.
    """
    schemas = packages.schemas(domain, name)
    if not schemas:
        raise SchemaError(f"onnx {onnx.__version__} has no operator {domain}/{name}")
    ends = [schema.since_version - 1 for schema in schemas[1:]] + [newest_opset(domain)]
    return tuple(_convert(domain, schema, end) for schema, end in zip(schemas, ends, strict=True))


@functools.cache
def every(package: OperatorPackage = packages.ONNX) -> Mapping[str, tuple[str, ...]]:
    """Return every operator of ONNX, as ai.onnx/Split, with its versions, as ai.onnx/Split/18.

    Args:
        package: another operator package whose operators are returned instead.
    """
    return {
        f"{domain}/{name}": tuple(f"{domain}/{name}/{item.since_version}" for item in group)
        for (domain, name), group in sorted(packages.schemas_of(package).items())
    }


def every_version(package: OperatorPackage = packages.ONNX) -> list[str]:
    """Return every operator version of ONNX, or of another operator package, such as ai.onnx/Split/18."""
    return [name for names in every(package).values() for name in names]


def no_operator(name: str) -> str:
    """Return a message about a name that no operator has, with similar names."""
    names = sorted({path.split("/")[1] for path in every()})
    near = difflib.get_close_matches(name.rpartition("/")[2], names, 1)
    hint = f"; did you mean {near[0]}?" if near else "; --onnx onnx-weekly may have it"
    return f"onnx {onnx.__version__} has no operator {name}{hint}"


def known(domain: str, name: str) -> bool:
    """Return whether the installed onnx, or another operator package, has an operator."""
    return bool(packages.schemas(domain, name))


def checkable(domain: str, name: str) -> bool:
    """Return whether onnx's checker accepts an operator: one of ONNX, or of a domain that it does not know."""
    return domain not in OF_ONNX or packages.owner_of(domain, name) is packages.ONNX


def in_force(domain: str, name: str, opset: int) -> OperatorVersion:
    """Return the version of an operator that is in force in `opset`.

    Raises:
        SchemaError: there is no such operator, or it was introduced after `opset`.
    """
    for version in reversed(versions(domain, name)):
        if version.since <= opset:
            return version
    raise SchemaError(f"{domain}/{name} is not in opset {opset}; opset {versions(domain, name)[0].since} introduced it")


def exists(domain: str, name: str, opset: int) -> bool:
    """Return whether `opset` has the operator."""
    return any(version.since <= opset for version in versions(domain, name)) if known(domain, name) else False


def _convert(domain: str, schema: onnx.defs.OpSchema, top: int) -> OperatorVersion:
    parts = [schema.doc, *(item.description for item in (*schema.inputs, *schema.outputs))]
    parts += [item.description for item in schema.attributes.values()]
    parts += [item.description for item in schema.type_constraints]
    return OperatorVersion(
        domain=domain,
        name=schema.name,
        since=schema.since_version,
        top=top,
        deprecated=schema.deprecated,
        inputs=tuple(map(_parameter, schema.inputs)),
        outputs=tuple(map(_parameter, schema.outputs)),
        attributes={name: _attribute(item) for name, item in schema.attributes.items()},
        types={item.type_param_str: tuple(item.allowed_type_strs) for item in schema.type_constraints},
        text="\n".join(fold(part) for part in parts if part),
        constraints={
            item.type_param_str: fold(item.description) for item in schema.type_constraints if item.description
        },
        outputs_least=schema.min_output,
    )


def _parameter(item: onnx.defs.OpSchema.FormalParameter) -> Parameter:
    return Parameter(
        name=item.name.rstrip("."),
        type=item.type_str,
        optional=item.option == _OPTION.Optional,
        variadic=item.option == _OPTION.Variadic,
        homogeneous=item.is_homogeneous,
        least=item.min_arity,
        description=fold(item.description or ""),
    )


def _attribute(item: onnx.defs.OpSchema.Attribute) -> Attribute:
    default = helper.get_attribute_value(item.default_value) if item.default_value.name else None
    kind: Any = item.type  # In the stubs, it is not an enum.
    return Attribute(item.name, kind.name, item.required, default)


def fold(text: str) -> str:
    """Return the text with every run of white space replaced by one space."""
    return " ".join(text.split())


@functools.cache
def newest_opset(domain: str) -> int:
    """Return the newest opset of a domain that the installed onnx knows.

    onnx's table of releases may lack the release itself: in the nightly package it always does, and in 1.22.0.
    """
    released = [opset for known, opset in helper.OP_SET_ID_VERSION_MAP if known == domain]
    every_package = packages.every() if domain not in OF_ONNX else (packages.ONNX,)
    here = [
        group[-1].since_version
        for package in every_package
        for (known, _), group in packages.schemas_of(package).items()
        if known == domain
    ]
    return max((*released, *here), default=1)


def usual_opset(version: OperatorVersion) -> int:
    """Return the opset of models of an operator version: the one that introduced it, if ONNX or its own domain did."""
    owner = packages.owner_of(version.domain, version.name)
    added = owner is not packages.ONNX and version.domain in OF_ONNX
    return max(version.since, owner.opset) if added else version.since


@functools.cache
def lowest_ir(domain: str, opset: int) -> int:
    """Return the lowest IR version in which models of this opset can be written.

    onnx's table of releases lacks the opsets that no release had (2 to 4). They get the IR version of the next one.
    """
    table = [(key[1], ir) for key, ir in helper.OP_SET_ID_VERSION_MAP.items() if key[0] == domain]
    if domain not in OF_ONNX:
        own = [package.ir_version for package in packages.others().values() if _has_domain(package, domain)]
        return min(own, default=onnx.IR_VERSION)
    return min((ir for released, ir in table if released >= opset), default=onnx.IR_VERSION)


def _has_domain(package: OperatorPackage, domain: str) -> bool:
    return any(known == domain for known, _ in packages.schemas_of(package))


@functools.cache
def dtype_of(type_: Type) -> np.dtype[Any]:
    """Return the numpy dtype of a tensor, or of the tensors in a container.

    Raises:
        ElementTypeError: ONNX has no such element type.
    """
    return numpy_dtype(element_type_named(type_.innermost.element).number)


_NAMES = {row.number: row.name for row in ELEMENT_TYPES}


def tensor_of(element_type: int) -> Type:
    """Return the type of tensors of an element type, a number of TensorProto.DataType.

    Raises:
        KeyError: ONNX has no element type of this number.
    """
    return Type.tensor(_NAMES[element_type])


def type_of_proto(proto: onnx.TypeProto) -> Type | None:
    """Return the type of a TypeProto; None if it is unset or of a kind that no operator takes.

    Raises:
        KeyError: ONNX has no element type of its number.
    """
    match proto.WhichOneof("value"):
        case "tensor_type":
            return tensor_of(proto.tensor_type.elem_type)
        case "sparse_tensor_type":
            return Type(Kind.SPARSE_TENSOR, _NAMES[proto.sparse_tensor_type.elem_type])
        case "sequence_type":
            kind, key, inner = Kind.SEQUENCE, "", type_of_proto(proto.sequence_type.elem_type)
        case "optional_type":
            kind, key, inner = Kind.OPTIONAL, "", type_of_proto(proto.optional_type.elem_type)
        case "map_type":
            kind, key, inner = Kind.MAP, _NAMES[proto.map_type.key_type], type_of_proto(proto.map_type.value_type)
        case _:
            return None
    return Type(kind, key, inner) if inner else None


def type_text(proto: onnx.TypeProto) -> str:
    """Return the text of the type of a TypeProto: tensor(float), seq(tensor(float)); empty where it has none."""
    return str(type_of_proto(proto) or "")


@functools.cache
def type_proto(type_: Type) -> onnx.TypeProto:
    """Return the TypeProto of a type, without shapes."""
    if type_.inner is None:
        make = helper.make_tensor_type_proto if type_.is_tensor else helper.make_sparse_tensor_type_proto
        return make(element_type_named(type_.element).number, None)
    inner = type_proto(type_.inner)
    if type_.kind is Kind.MAP:
        return helper.make_map_type_proto(element_type_named(type_.element).number, inner)
    return (helper.make_sequence_type_proto if type_.kind is Kind.SEQUENCE else helper.make_optional_type_proto)(inner)


def is_type(text: str) -> bool:
    """Return whether such a type exists."""
    try:
        return bool(dtype_of(Type.parse(text)))
    except (TypeTextError, ElementTypeError):
        return False


ALL_TENSOR_TYPES = tuple(
    f"tensor({row.name})" for row in ELEMENT_TYPES if row.number in onnx.TensorProto.DataType.values()
)
"""The element types of the wire format that the installed onnx has."""


def first_body(version: OperatorVersion) -> int | None:
    """Return the lowest opset in which the text defines an operator version also by a function, or None."""
    bodies = source(version.domain, version.name, version.since).all_function_opset_versions
    return max(version.since, bodies[0]) if bodies else None


@functools.cache
def source(domain: str, name: str, opset: int) -> Any:  # noqa: ANN401 - the stubs lack some members
    """Return the schema of onnx, or of an operator package, that is in force in an opset.

    Raises:
        SchemaError: no such schema exists.
    """
    since = in_force(domain, name, opset).since
    return next(item for item in packages.schemas(domain, name) if item.since_version == since)


def function_body(
    domain: str,
    name: str,
    opset: int,
    node: onnx.NodeProto,
    types: Sequence[str],
    shapes: Sequence[tuple[int, ...] | None] = (),
) -> onnx.FunctionProto | None:
    """Return the function that defines an operator in `opset`, or None if the text has none.

    Args:
        domain: the domain of the operator.
        name: the name of the operator.
        opset: the imported opset.
        node: the node. The body may depend on its attributes, and on the presence of its inputs and outputs.
        types: the types of the node's inputs, such as tensor(float); empty for an omitted input.
        shapes: the shapes of the inputs that are tensors. The bodies of CausalConvWithState and RotaryEmbedding depend
            on them.
    """
    schema = source(domain, name, opset)
    bodies = [version for version in schema.all_function_opset_versions if version <= opset]
    if not bodies:
        return None
    if schema.has_function:
        raw = schema.get_function_with_opset_version(bodies[-1])
    else:
        protos = []
        for text, shape in itertools.zip_longest(types, shapes):
            proto = type_proto(Type.parse(text)) if text else onnx.TypeProto()
            if shape is not None:
                proto = helper.make_tensor_type_proto(proto.tensor_type.elem_type, shape)
            protos.append(proto.SerializeToString())
        raw = schema.get_context_dependent_function_with_opset_version(bodies[-1], node.SerializeToString(), protos)
    return onnx.FunctionProto.FromString(raw) if raw else None


def default_attributes(domain: str, name: str, opset: int) -> dict[str, onnx.AttributeProto]:
    """Return the defaults of an operator's attributes as protos; function bodies do not repeat them."""
    return {
        item.name: helper.make_attribute(
            item.name, item.default, attr_type=onnx.AttributeProto.AttributeType.Value(item.type)
        )
        for item in in_force(domain, name, opset).attributes.values()
        if item.default is not None
    }
