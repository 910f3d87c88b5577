"""Case <-> ONNX's test-data layout: model.onnx, test_data_set_N/input_I.pb and output_I.pb, data.json.

`case.json` beside them says what the layout has no place for: id, clauses, tags, expected outcome, tolerance.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import external_data_helper, numpy_helper

from harness import schema
from harness.case import Allowance, Case, Outcome
from harness.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from harness.case import Value

LAYOUT_RTOL, LAYOUT_ATOL = 1e-3, 1e-7
"""What onnx's own runner allows where data.json is silent."""


class StoreError(HarnessError):
    """A stored case cannot be read; the text names the file and what is wrong with it."""


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
        for index, value in enumerate(case.expected or ()):
            name = case.outputs[index]
            (data / f"output_{index}.pb").write_bytes(_encode(value, name, _type(model.graph.output, name)))
        for index, bound in enumerate(case.allowance.bounds or ()):
            (data / f"bound_{index}.pb").write_bytes(numpy_helper.from_array(bound).SerializeToString())
        (folder / "case.json").write_text(json.dumps(describe(case), indent=2, ensure_ascii=False) + "\n")
        if case.expected is not None and not case.allowance.ulp and case.allowance.bounds is None:
            tolerance = {"rtol": case.allowance.rtol, "atol": case.allowance.atol}
            (folder / "data.json").write_text(json.dumps(tolerance) + "\n")
    except OSError as error:
        raise StoreError(f"cannot write {error.filename or folder}: {error.strerror}") from error
    return folder


def describe(case: Case) -> dict[str, Any]:
    """Return what case.json says of a case."""
    allowance = case.allowance
    return {
        "id": case.id,
        "operator": case.operator,
        "outcome": str(case.outcome),
        "clauses": list(case.clauses),
        "detail": case.detail,
        "notes": list(case.notes),
        "tags": sorted(case.tags),
        "form": case.form,
        "tolerance": {
            "reason": allowance.reason,
            "ulp": allowance.ulp,
            "rtol": allowance.rtol,
            "atol": allowance.atol,
            "signed_zero": allowance.signed_zero,
        },
    }


def _type(infos: Any, name: str) -> onnx.TypeProto:  # noqa: ANN401 - a protobuf container
    found: onnx.TypeProto = next(info.type for info in infos if info.name == name)
    return found


def _encode(value: Value, name: str, type_: onnx.TypeProto) -> bytes:
    kind = type_.WhichOneof("value")
    if kind == "optional_type":
        proto: Any = numpy_helper.from_optional(value, name)
    elif isinstance(value, list):
        proto = numpy_helper.from_list(value, name) if value else _empty_sequence(name, type_)
    elif isinstance(value, dict):
        proto = numpy_helper.from_dict(value, name)
    else:
        proto = numpy_helper.from_array(np.asarray(value), name)
    return bytes(proto.SerializeToString(deterministic=True))


def _empty_sequence(name: str, type_: onnx.TypeProto) -> onnx.SequenceProto:
    inner = type_.sequence_type.elem_type.WhichOneof("value")
    kinds = {"tensor_type": "TENSOR", "sequence_type": "SEQUENCE", "map_type": "MAP", "optional_type": "OPTIONAL"}
    return onnx.SequenceProto(name=name, elem_type=getattr(onnx.SequenceProto, kinds[inner]))


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
    described = _json(folder / "case.json", root)
    tolerance = {**_json(folder / "data.json", root), **described.get("tolerance", {})}
    sets = sorted(
        (item for item in folder.glob("test_data_set_*") if item.is_dir()),
        key=lambda item: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", item.name)],
    )
    if not sets:
        raise StoreError(f"{folder}: there is no test_data_set_0 beside model.onnx")
    for index, data in enumerate(sets):
        case_id = f"{suite}/{folder.name}" + (f"/{data.name}" if index else "")
        yield _case(case_id, model, data, root, described, tolerance)


def _case(
    case_id: str,
    model: onnx.ModelProto,
    data: Path,
    root: Path,
    described: Mapping[str, Any],
    tolerance: Mapping[str, Any],
) -> Case:
    baked = {item.name for item in model.graph.initializer}
    fed = [info for info in model.graph.input if info.name not in baked]
    overridable = [info for info in model.graph.input if info.name in baked]
    given = len(list(data.glob("input_*.pb")))
    if given > len(fed):  # Up to IR version 3 an initializer is an input too, and may be given.
        fed = [*model.graph.input] if given == len(fed) + len(overridable) else fed
    if given != len(fed):
        raise StoreError(f"{data}: {given} files input_*.pb, but the graph has {len(fed)} inputs to feed")
    inputs = {info.name: _decode(data / f"input_{i}.pb", root, info.type) for i, info in enumerate(fed)}
    outcome = _outcome(data.parent / "case.json", described)
    expected: tuple[Value, ...] | None = None
    stored = len(list(data.glob("output_*.pb")))
    if outcome is Outcome.VALUES and stored:
        if stored != len(model.graph.output):
            raise StoreError(f"{data}: {stored} files output_*.pb, but the graph has {len(model.graph.output)} outputs")
        expected = tuple(_decode(data / f"output_{i}.pb", root, info.type) for i, info in enumerate(model.graph.output))
    return Case(
        id=case_id,
        operator=described.get("operator") or operator_of(model),
        model=model.SerializeToString(deterministic=True),
        inputs=inputs,
        outputs=tuple(info.name for info in model.graph.output),
        outcome=outcome,
        expected=expected,
        allowance=_tolerance(data, root, tolerance, len(model.graph.output)),
        clauses=tuple(described.get("clauses", ())),
        tags=frozenset(described.get("tags", ())),
        form=described.get("form", "plain"),
        detail=described.get("detail", ""),
        notes=tuple(described.get("notes", ())),
    )


def _outcome(path: Path, described: Mapping[str, Any]) -> Outcome:
    text = described.get("outcome", Outcome.VALUES)
    try:
        return Outcome(text)
    except ValueError:
        raise StoreError(f"{path}: outcome {text!r}; expected one of {', '.join(Outcome)}") from None


def _tolerance(data: Path, root: Path, tolerance: Mapping[str, Any], outputs: int) -> Allowance:
    numbers = {"rtol": LAYOUT_RTOL, "atol": LAYOUT_ATOL} if "reason" not in tolerance else {}
    for key in ("rtol", "atol", "ulp"):
        if key in tolerance:
            value = tolerance[key]
            if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
                raise StoreError(f"{data.parent}: {key} is {value!r}; expected a number of at least 0")
            numbers[key] = float(value)
    bounds = None
    if (data / "bound_0.pb").exists():
        plain = onnx.helper.make_tensor_type_proto(onnx.TensorProto.DOUBLE, None)
        bounds = tuple(np.asarray(_decode(data / f"bound_{i}.pb", root, plain)) for i in range(outputs))
    return Allowance(
        reason=str(tolerance.get("reason", "the suite's own tolerance")),
        signed_zero=bool(tolerance.get("signed_zero", False)),
        bounds=bounds,
        **numbers,
    )


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
    resolved = path.resolve()
    if not resolved.is_relative_to(root.resolve()):
        raise StoreError(f"{path}: leads out of the suite's folder, to {resolved}; it is not read")
    return resolved


def _bytes(path: Path, root: Path) -> bytes:
    try:
        return _inside(path, root).read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error


def _json(path: Path, root: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        value = json.loads(_bytes(path, root))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise StoreError(f"{path}: expected a JSON object, found a {type(value).__name__}")
    return value


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
        return _native(convert(message))
    except (DecodeError, ValueError, TypeError, KeyError, AttributeError, MemoryError, OverflowError) as error:
        raise StoreError(f"{path}: not a whole {proto.DESCRIPTOR.name}: {type(error).__name__}: {error}") from error


def _native(value: Any) -> Value:  # noqa: ANN401 - whatever numpy_helper gives
    """Return a value in the harness's own terms: arrays, lists, dicts and None."""
    if isinstance(value, list | tuple):
        return [_native(item) for item in value]
    if isinstance(value, dict):
        return {key: _native(item) for key, item in value.items()}
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
