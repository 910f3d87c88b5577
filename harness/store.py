"""Case <-> ONNX's test-data layout: model.onnx, test_data_set_N/input_I.pb and output_I.pb, data.json.

`case.json` beside them says what the layout has no place for: id, clauses, tags, expected outcome, tolerance.
"""

from __future__ import annotations

import dataclasses
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import external_data_helper, numpy_helper

from harness import casefile, schema
from harness.case import Case, Outcome
from harness.casefile import Description, StoreError
from harness.declare import Drawn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from harness.case import Value


def folder_name(case_id: str) -> str:
    """Return the folder of a case: test_ and the id, where / is written __ (no id holds __)."""
    return "test_" + case_id.replace("/", "__")


def write(case: Case, parent: Path) -> Path:
    """Write a case below `parent`; return its folder.

    Raises:
        StoreError: the folder cannot be written.
    """
    folder = parent / folder_name(case.id)
    data = folder / "test_data_set_0"
    model = onnx.load_from_string(case.model)
    try:
        data.mkdir(parents=True, exist_ok=True)
        (folder / "model.onnx").write_bytes(case.model)
        for index, (name, value) in enumerate(case.inputs.items()):
            (data / f"input_{index}.pb").write_bytes(_encode(value, name, _type(model.graph.input, name)))
        for index, expected in enumerate(case.expected or ()):
            if isinstance(expected, Drawn):  # case.json says what must hold of it.
                continue
            name = case.outputs[index]
            (data / f"output_{index}.pb").write_bytes(_encode(expected, name, _type(model.graph.output, name)))
        for index, bound in enumerate(case.allowance.bounds or ()):
            (data / f"bound_{index}.pb").write_bytes(numpy_helper.from_array(bound).SerializeToString())
        (folder / "case.json").write_text(json.dumps(casefile.describe(case), indent=2, ensure_ascii=False) + "\n")
        if case.outcome is Outcome.VALUES and not case.allowance.ulp and case.allowance.bounds is None:
            tolerance = {"rtol": case.allowance.rtol, "atol": case.allowance.atol}
            (folder / "data.json").write_text(json.dumps(tolerance) + "\n")
    except OSError as error:
        raise StoreError(f"cannot write {error.filename or folder}: {error.strerror}") from error
    return folder


def _type(infos: Any, name: str) -> onnx.TypeProto:  # noqa: ANN401 - a protobuf container
    found: onnx.TypeProto = next(info.type for info in infos if info.name == name)
    return found


def _encode(value: Value, name: str, type_: onnx.TypeProto) -> bytes:
    return bytes(_proto(value, name, type_).SerializeToString(deterministic=True))


def _proto(value: Any, name: str, type_: onnx.TypeProto) -> Any:  # noqa: ANN401 - one proto for each kind of value
    """Return a value as its type says, which numpy_helper does not know.

    It has no empty sequence but of tensors, no empty map, and takes a map's text keys for names of dtypes.
    """
    kind = type_.WhichOneof("value")
    if kind == "sequence_type":
        return _sequence(value, name, type_.sequence_type.elem_type)
    if kind == "map_type":
        entry = type_.map_type
        values = _sequence(list(value.values()), "", entry.value_type)
        found = onnx.MapProto(name=name, key_type=entry.key_type, values=values)
        if entry.key_type == onnx.TensorProto.STRING:
            found.string_keys.extend(key.encode() for key in value)
        else:
            found.keys.extend(value)
        return found
    if kind == "optional_type":
        inner = type_.optional_type.elem_type
        word = str(inner.WhichOneof("value")).removesuffix("_type")
        held = onnx.OptionalProto(name=name, elem_type=onnx.OptionalProto.UNDEFINED)
        if value is not None:
            held.elem_type = getattr(onnx.OptionalProto, word.upper())
            getattr(held, f"{word}_value").CopyFrom(_proto(value, "", inner))
        return held
    return numpy_helper.from_array(np.asarray(value), name)


def _sequence(values: list[Value], name: str, inner: onnx.TypeProto) -> onnx.SequenceProto:
    word = str(inner.WhichOneof("value")).removesuffix("_type")
    found = onnx.SequenceProto(name=name, elem_type=getattr(onnx.SequenceProto, word.upper()))
    getattr(found, f"{word}_values").extend(_proto(value, "", inner) for value in values)
    return found


def read(folder: Path, root: Path, suite: str) -> Iterator[Case]:
    """Yield the cases of one folder, one for each of its data sets.

    Args:
        folder: holds model.onnx.
        root: nothing outside of it is read.
        suite: the first part of the ids.

    Raises:
        StoreError: a file is missing, damaged, or leads out of `root`.
    """
    path = folder / "model.onnx"
    try:
        model = onnx.load_from_string(_bytes(path, root))
    except DecodeError as error:
        raise StoreError(f"{path}: not a whole ONNX model ({error})") from error
    if not model.HasField("graph"):
        raise StoreError(f"{path}: not an ONNX model: it has no graph")
    _load_external(model, folder, root)
    case_path, data_path = folder / "case.json", folder / "data.json"
    told = casefile.read(case_path, _optional(case_path, root), data_path, _optional(data_path, root))
    sets = sorted(
        (item for item in folder.glob("test_data_set_*") if item.is_dir()),
        key=lambda item: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", item.name)],
    )
    if not sets:
        raise StoreError(f"{folder}: there is no test_data_set_0 beside model.onnx")
    for index, data in enumerate(sets):
        case_id = f"{suite}/{folder.name}" + (f"/{data.name}" if index else "")
        yield _case(case_id, model, data, root, told)


def _case(case_id: str, model: onnx.ModelProto, data: Path, root: Path, told: Description) -> Case:
    baked = {item.name for item in model.graph.initializer}
    fed = [info for info in model.graph.input if info.name not in baked]
    overridable = [info for info in model.graph.input if info.name in baked]
    given = len(list(data.glob("input_*.pb")))
    if given > len(fed):  # Up to IR version 3 an initializer is an input too, and may be given.
        fed = [*model.graph.input] if given == len(fed) + len(overridable) else fed
    if given != len(fed):
        raise StoreError(f"{data}: {given} files input_*.pb, but the graph has {len(fed)} inputs to feed")
    inputs = {info.name: _decode(data / f"input_{i}.pb", root, info.type) for i, info in enumerate(fed)}
    expected: tuple[Value | Drawn, ...] | None = None
    stored = len(list(data.glob("output_*.pb")))
    if told.outcome in {Outcome.VALUES, Outcome.PROPERTY} and (stored or told.drawn):
        if stored + len(told.drawn) != len(model.graph.output):
            raise StoreError(f"{data}: {stored} files output_*.pb, but the graph has {len(model.graph.output)} outputs")
        expected = tuple(
            told.drawn[i] if i in told.drawn else _decode(data / f"output_{i}.pb", root, info.type)
            for i, info in enumerate(model.graph.output)
        )
    return Case(
        id=case_id,
        operator=told.operator or operator_of(model),
        model=model.SerializeToString(deterministic=True),
        inputs=inputs,
        outputs=tuple(info.name for info in model.graph.output),
        outcome=told.outcome,
        expected=expected,
        allowance=dataclasses.replace(told.allowance, bounds=_bounds(data, root, len(model.graph.output))),
        clauses=told.clauses,
        tags=told.tags,
        form=told.form,
        detail=told.detail,
        notes=told.notes,
    )


def _bounds(data: Path, root: Path, outputs: int) -> tuple[np.ndarray[Any, Any], ...] | None:
    if not (data / "bound_0.pb").exists():
        return None
    type_ = onnx.helper.make_tensor_type_proto(onnx.TensorProto.DOUBLE, None)
    return tuple(np.asarray(_decode(data / f"bound_{i}.pb", root, type_)) for i in range(outputs))


def operator_of(model: onnx.ModelProto) -> str:
    """Return the operator version of a model's only node, or `model` where it has several."""
    if len(model.graph.node) != 1:
        return "model"
    node = model.graph.node[0]
    domain = node.domain or "ai.onnx"
    opset = next((item.version for item in model.opset_import if (item.domain or "ai.onnx") == domain), 0)
    try:
        return str(schema.in_force(domain, node.op_type, opset))
    except schema.SchemaError:
        return f"{domain}/{node.op_type}/{opset}"


def _inside(path: Path, root: Path) -> Path:
    try:
        resolved = path.resolve()
    except RuntimeError as error:  # A link that leads to itself.
        raise StoreError(f"{path}: cannot be read: {error}") from error
    if not resolved.is_relative_to(root.resolve()):
        raise StoreError(f"{path}: leads out of the suite's folder, to {resolved}; it is not read")
    return resolved


def _bytes(path: Path, root: Path) -> bytes:
    resolved = _inside(path, root)
    try:
        if resolved.exists() and not resolved.is_file():
            raise StoreError(f"{path}: not a file")  # Reading a pipe would wait forever.
        return resolved.read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error


def _optional(path: Path, root: Path) -> bytes:
    """Return a file's bytes, empty where there is no such file."""
    return _bytes(path, root) if path.is_symlink() or path.exists() else b""


def _decode(path: Path, root: Path, type_: onnx.TypeProto) -> Value:
    kinds: dict[str | None, tuple[Any, Any]] = {
        "tensor_type": (onnx.TensorProto, numpy_helper.to_array),
        "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
        "map_type": (onnx.MapProto, numpy_helper.to_dict),
        "optional_type": (onnx.OptionalProto, numpy_helper.to_optional),
    }
    kind = type_.WhichOneof("value")
    if kind not in kinds:
        raise StoreError(f"{path}: the graph declares no tensor, sequence, map or optional for it")
    proto, convert = kinds[kind]
    data = _bytes(path, root)
    try:
        message = proto.FromString(data)
        if kind == "tensor_type" and message.data_location == onnx.TensorProto.EXTERNAL:
            raise StoreError(f"{path}: its data lies in another file; a test-data tensor holds its own")
        if kind == "tensor_type" and any(dim < 0 for dim in message.dims):
            raise StoreError(f"{path}: dims {list(message.dims)}; expected numbers of at least 0")
        return _native(convert(message))
    except (DecodeError, ValueError, TypeError, KeyError, AttributeError, MemoryError, OverflowError) as error:
        raise StoreError(f"{path}: not a whole {proto.DESCRIPTOR.name}: {type(error).__name__}: {error}") from error


def _native(value: Any) -> Value:  # noqa: ANN401 - whatever numpy_helper gives
    """Return a value in the harness's own terms: arrays, lists, dicts and None."""
    if isinstance(value, list | tuple):
        return [_native(item) for item in value]
    if isinstance(value, dict):
        return {key.decode() if isinstance(key, bytes) else key: _native(item) for key, item in value.items()}
    return value if value is None else np.asarray(value)


def _load_external(model: onnx.ModelProto, folder: Path, root: Path) -> None:
    """Take tensors that lie in other files into the model, if these lie in the suite."""
    for tensor in external_data_helper._get_all_tensors(model):  # noqa: SLF001 - onnx offers no public walk
        if not external_data_helper.uses_external_data(tensor):
            continue
        location = {item.key: item.value for item in tensor.external_data}.get("location", "")
        _inside(folder / location, root)
        try:
            external_data_helper.load_external_data_for_tensor(tensor, str(folder))
        except (OSError, ValueError, onnx.checker.ValidationError) as error:
            raise StoreError(
                f"{folder / location}: the data of tensor {tensor.name!r} cannot be read: {error}"
            ) from error
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]
