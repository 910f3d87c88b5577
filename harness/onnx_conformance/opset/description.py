# SPDX-License-Identifier: Apache-2.0
"""Description of an operator version by onnx, as plain data that a process with another onnx can print.

`python -m onnx_conformance.opset.description` prints those of the installed onnx as JSON.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import onnx
from onnx import helper

from onnx_conformance.base import printing
from onnx_conformance.generation import coverage, derived, plans
from onnx_conformance.generation.deliveries import plain
from onnx_conformance.generation.plans import NotDerivedError
from onnx_conformance.specification import nodes, registry, schema
from onnx_conformance.specification.evaluator import OracleError, UndeclaredError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from onnx_conformance.specification.schema import OperatorVersion, Parameter


@dataclass(frozen=True)
class Description:
    """The description of an operator version by onnx.

    Attributes:
        operator: ai.onnx/Split.
        since: the version.
        deprecated: whether the version only marks the operator as removed.
        inputs, outputs: in order, name -> how it may be there: required, optional, variadic, and its type or variable.
        attributes: name -> type, required or default.
        types: type variable -> the types it allows.
        sentences: sentences of its specification, except those about types.
        constraints: the sentences on types.
        body: a digest of its function body; empty where it has none.
    """

    operator: str
    since: int
    deprecated: bool
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]
    attributes: Mapping[str, str]
    types: Mapping[str, tuple[str, ...]]
    sentences: tuple[str, ...]
    constraints: tuple[str, ...]
    body: str

    def __str__(self) -> str:
        """Return its name: ai.onnx/Split/18."""
        return f"{self.operator}/{self.since}"


def describe(version: OperatorVersion) -> Description:
    """Return the description of a version of the installed onnx."""
    on_types = tuple(version.constraints.values())
    return Description(
        operator=f"{version.domain}/{version.name}",
        since=version.since,
        deprecated=version.deprecated,
        inputs=_parameters(version.inputs),
        outputs=_parameters(version.outputs),
        attributes={name: _attribute(item) for name, item in version.attributes.items()},
        types=dict(version.types),
        sentences=tuple(text for text in coverage.sentences(version) if not any(text in other for other in on_types)),
        constraints=on_types,
        body=_body(version),
    )


def _parameters(parameters: Iterable[Parameter]) -> dict[str, str]:
    described = {}
    for item in parameters:
        number = f"variadic, at least {item.least}" if item.variadic else "optional" if item.optional else "required"
        mixed = ", of several types" if item.variadic and not item.homogeneous else ""
        described[item.name] = f"{item.type}, {number}{mixed}"
    return described


def _attribute(item: schema.Attribute) -> str:
    if item.required:
        return f"{item.type}, required"
    default = item.default.decode(errors="replace") if isinstance(item.default, bytes) else item.default
    return f"{item.type}, " + ("no default" if default is None else f"default {default!r}")


def _body(version: OperatorVersion) -> str:
    """Return a digest of the function body of a version: of the one for its example where it depends on the node."""
    opset = schema.first_body(version)
    if opset is None:
        return ""
    node, types, shapes = _example(version)
    try:
        body = schema.function_body(version.domain, version.name, opset, node, types, shapes)
    except Exception as error:  # noqa: BLE001 - onnx raises whatever its function builders do
        return f"none: {type(error).__name__}"
    # Opsets and names of the parts are no difference of meaning.
    parts = [node.SerializeToString(deterministic=True) for node in body.node] if body else []
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _example(version: OperatorVersion) -> tuple[onnx.NodeProto, list[str], list[tuple[int, ...] | None]]:
    """Return a valid node of a version, with the types and shapes of its inputs; a bare one where none is declared."""
    op = registry.load().find(version.domain, version.name)
    if op is not None and version.since in op.versions:
        examples = [spec for spec in derived.cases(op, version) if spec.name == derived.EXAMPLE]
        try:
            for planned in plans.plans(op, (version.since,), examples):
                model = onnx.load_from_string(plain(planned).model)
                node = next(item for item in nodes.of(model) if item.name == version.name)
                types = [item.type if item else "" for _, item in planned.inputs]
                tensors = planned.tensors
                shapes = [tensors[name].shape if name in tensors else None for name, _ in planned.inputs]
                return node, types, shapes
        except (NotDerivedError, UndeclaredError, OracleError):
            pass
    required = [item for item in version.inputs if not item.optional]
    names, types = [item.name for item in required], [version.default_type(item.type) for item in required]
    outputs = [item.name for item in version.outputs if not item.optional]
    return helper.make_node(version.name, names, outputs, domain=schema.proto_domain(version.domain)), types, []


def every() -> dict[str, Description]:
    """Return the descriptions of all operator versions of the installed onnx, by name."""
    found = {}
    for path in schema.every():
        for version in schema.versions(*path.split("/")):
            found[str(version)] = describe(version)
    return found


def printed() -> str:
    """Return those of `every` as JSON, with the version of onnx."""
    data = {"onnx": onnx.__version__, "versions": [asdict(item) for item in every().values()]}
    return json.dumps(data, ensure_ascii=False)


def parse(text: str) -> tuple[str, dict[str, Description]]:
    """Return the version of onnx and the descriptions that `printed` wrote."""
    data: Any = json.loads(text)
    found = {}
    for item in data["versions"]:
        lists = {name: tuple(item[name]) for name in ("sentences", "constraints")}
        types = {name: tuple(kinds) for name, kinds in item["types"].items()}
        one = Description(**{**item, **lists, "types": types})
        found[str(one)] = one
    return data["onnx"], found


if __name__ == "__main__":
    printing.show(printed())
