# SPDX-License-Identifier: Apache-2.0
"""Case <-> ONNX's test-data layout: model.onnx, test_data_set_N/input_I.pb and output_I.pb, data.json.

`case.json` in the same folder has the data that is not in the layout: id, clauses, tags, expected outcome, tolerance.

- Where a tolerance differs by element, bound_I.pb beside output_I.pb has the absolute error of each, infinite
  for those that may be anything.
- Where the text allows several values of output I, `any_of` of the tolerance is their number, and output_I_1.pb,
  output_I_2.pb, ... are the others; `elementwise` if each element may be that of any of them.
- Where the outputs may come in another order, `any_order` of the tolerance is the axis; `lanewise` if each
  lane has a separate order, else whole rows change places. The elements at one place of all outputs stay together.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import external_data_helper, numpy_helper

from onnx_conformance.backends.protocol import MAX_PAYLOAD, clip
from onnx_conformance.base.values import Drawn
from onnx_conformance.base.verdict import line
from onnx_conformance.case.case import DATA_FILE, Case, Outcome
from onnx_conformance.declare import AnyOf, AnyOrder
from onnx_conformance.forms.table import EXTERNAL_DATA, TWICE
from onnx_conformance.specification import schema
from onnx_conformance.suites import case_json
from onnx_conformance.suites.case_json import Description, StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.allowance import Allowance

T = TypeVar("T")
DATA_SET = "test_data_set_0"
EARLIER = "earlier_input"
"""Name of the files of inputs that the model runs with before, in the same session: the form @twice."""
UNFINISHED = ".unfinished-"
MOST_NAME, CUT_NAME = 240, 200
"""Maximum and shortened length of a folder's name, in bytes; file systems allow 255."""


def folder_name(case_id: str) -> str:
    """Return the folder of a case: test_ and the id, where / is written __ (no generated id contains __).

    A name that is too long for a file system is cut and ends with a digest of the id.
    """
    name = "test_" + case_id.replace("/", "__")
    written = os.fsencode(name)
    if len(written) <= MOST_NAME:
        return name
    return f"{written[:CUT_NAME].decode(errors='ignore')}-{hashlib.sha256(written).hexdigest()[:16]}"


def encoded(case: Case) -> dict[str, bytes]:
    """Return the files of a case: their bytes, by path within its folder.

    Raises:
        StoreError: a value is not of the type that the graph declares for it, or the layout has no place for it.
    """
    try:
        return _encoded(case)
    except Exception as error:  # A model from outside may lack anything.
        reason = f"{type(error).__name__}: {line(error)}"
        raise StoreError(
            "case-not-writable", f"{line(case.id)}: cannot be written in ONNX's test-data layout: {reason}"
        ) from error


def _encoded(case: Case) -> dict[str, bytes]:
    graph = onnx.load_from_string(case.model).graph
    files = {"model.onnx": case.model, **case.files}
    for index, (name, value) in enumerate(case.inputs.items()):
        files[f"{DATA_SET}/input_{index}.pb"] = _encode(value, name, _type(graph.input, name))
    for index, (name, value) in enumerate((case.earlier or {}).items()):
        files[f"{DATA_SET}/{EARLIER}_{index}.pb"] = _encode(value, name, _type(graph.input, name))
    for index, expected in enumerate(case.expected or ()):
        if isinstance(expected, Drawn):  # case.json has its properties.
            continue
        name = case.outputs[index]
        files[f"{DATA_SET}/output_{index}.pb"] = _encode(expected, name, _type(graph.output, name))
    for index, several in enumerate(case.allowance.any_of):
        for number, value in enumerate(several.values[1:] if several else (), 1):
            name = case.outputs[index]
            files[f"{DATA_SET}/output_{index}_{number}.pb"] = _encode(value, name, _type(graph.output, name))
    for index, bound in enumerate(case.allowance.bounds or ()):
        files[f"{DATA_SET}/bound_{index}.pb"] = numpy_helper.from_array(bound).SerializeToString()
    files["case.json"] = case_json.text(case)
    if case.outcome is Outcome.VALUES and not _beyond_the_layout(case.allowance):
        tolerance = {"rtol": case.allowance.rtol, "atol": case.allowance.atol}
        files["data.json"] = json.dumps(tolerance).encode() + b"\n"
    return files


def _beyond_the_layout(allowance: Allowance) -> bool:
    """Return whether data.json has no words for an allowance."""
    return bool(allowance.ulp or allowance.any_of or allowance.any_order or allowance.bounds is not None)


def write(case: Case, parent: Path, *, replace: bool = False, beside: Mapping[str, bytes] | None = None) -> Path:
    """Write a case below `parent`, whole or not at all; return its folder.

    Args:
        case: the case to write.
        parent: created if missing.
        replace: replace a folder with this name that contains another case; files outside the layout are kept.
        beside: additional files of the folder, by name.

    Raises:
        StoreError: the folder cannot be written, or contains another case already.
    """
    folder = parent / folder_name(case.id)
    put(encoded(case) | dict(beside or {}), folder, replace=replace)
    return folder


def put(
    files: Mapping[str, bytes], folder: Path, *, replace: bool = False, folders: Iterable[str] = (DATA_SET,)
) -> bool:
    """Write the files of a case as `write` does; return False if the same files were there already.

    Args:
        files: by path within the folder.
        folder: the folder of the case.
        replace: as in `write`.
        folders: folders that the case has, even if they are empty.

    Raises:
        StoreError: as `write`.
    """
    try:
        if folder.is_symlink() or folder.exists():
            if folder.is_symlink() or not folder.is_dir():
                raise StoreError(
                    "case-folder-is-a-file", f"{folder} exists and is not a folder; remove it, or name another path"
                )
            if _holds(folder, files):
                return False
            if not replace:
                raise StoreError(
                    "case-folder-taken",
                    f"{folder} contains another case with this name; name an empty folder, or replace it with "
                    "--overwrite",
                )
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Two levels down, so that a killed process leaves no folder that looks like a case.
        with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=folder.parent) as name:
            _move_in(_written(files, Path(name) / "new", folders), folder)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or line(error)
        raise StoreError("case-folder-not-writable", f"cannot write {folder}: {reason}") from error
    return True


def _written(files: Mapping[str, bytes], folder: Path, folders: Iterable[str]) -> Path:
    folder.mkdir()
    for name in folders:
        (folder / name).mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def _move_in(fresh: Path, folder: Path) -> None:
    """Replace a folder by a new one; files that are not of the layout move to the new one."""
    if folder.exists():
        before = folder.rename(fresh.parent / "before")
        for item in before.iterdir():
            if not (_of_the_layout(item.name) or (fresh / item.name).exists()):
                item.rename(fresh / item.name)
    fresh.rename(folder)


def _of_the_layout(name: str) -> bool:
    return name in {"model.onnx", DATA_FILE, "case.json", "data.json"} or name.startswith("test_data_set_")


def _holds(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Return whether a folder contains exactly these files of the layout."""
    present = {
        path.relative_to(folder).as_posix()
        for top in folder.iterdir()
        if _of_the_layout(top.name)
        for path in ([top] if top.is_symlink() or not top.is_dir() else top.rglob("*"))
    }
    return present == {name for name in files if _of_the_layout(name)} and all(
        _is_file(folder / name) and (folder / name).read_bytes() == data for name, data in files.items()
    )


def _is_file(path: Path) -> bool:
    return not path.is_symlink() and path.is_file()  # Reading a pipe would wait forever.


def _type(infos: Any, name: str) -> onnx.TypeProto:  # noqa: ANN401 - a protobuf container
    type_: onnx.TypeProto = next(info.type for info in infos if info.name == name)
    return type_


def _encode(value: Value, name: str, type_: onnx.TypeProto) -> bytes:
    return bytes(_proto(value, name, type_).SerializeToString(deterministic=True))


def _proto(value: Any, name: str, type_: onnx.TypeProto) -> Any:  # noqa: ANN401 - one proto for each kind of value
    """Return the protobuf of a value according to its declared type.

    numpy_helper does not know the type: it writes empty sequences of tensors only, no empty maps, and takes the string
    keys of a map for names of dtypes.
    """
    kind = type_.WhichOneof("value")
    if kind == "sequence_type":
        return _sequence(value, name, type_.sequence_type.elem_type)
    if kind == "map_type":
        entry = type_.map_type
        values = _sequence(list(value.values()), "", entry.value_type)
        map_ = onnx.MapProto(name=name, key_type=entry.key_type, values=values)
        if entry.key_type == onnx.TensorProto.STRING:
            map_.string_keys.extend(key.encode() for key in value)
        else:
            map_.keys.extend(value)
        return map_
    if kind == "optional_type":
        inner = type_.optional_type.elem_type
        word = str(inner.WhichOneof("value")).removesuffix("_type")
        optional = onnx.OptionalProto(name=name, elem_type=onnx.OptionalProto.UNDEFINED)
        if value is not None:
            optional.elem_type = getattr(onnx.OptionalProto, word.upper())
            getattr(optional, f"{word}_value").CopyFrom(_proto(value, "", inner))
        return optional
    if isinstance(value, list | tuple | dict | None):
        raise TypeError(f"{name or 'an element'} is declared to be a tensor, but is a {type(value).__name__}")
    return numpy_helper.from_array(np.asarray(value), name)


def _sequence(values: list[Value], name: str, inner: onnx.TypeProto) -> onnx.SequenceProto:
    word = str(inner.WhichOneof("value")).removesuffix("_type")
    sequence = onnx.SequenceProto(name=name, elem_type=getattr(onnx.SequenceProto, word.upper()))
    getattr(sequence, f"{word}_values").extend(_proto(value, "", inner) for value in values)
    return sequence


def read(folder: Path, root: Path, suite: str) -> Iterator[Case]:
    """Yield the cases of one folder, one for each of its data sets.

    Args:
        folder: the folder with model.onnx.
        root: no file outside of it is read.
        suite: the first part of the ids.

    Raises:
        StoreError: a file is missing, damaged, or leads out of `root`.
    """
    for _, make in parts(folder, root, suite):
        yield make()


def parts(folder: Path, root: Path, suite: str) -> Iterator[tuple[str, Callable[[], Case]]]:
    """Yield the ids of one folder's cases, each with a function that reads it: an error in one leaves the others.

    Raises:
        StoreError: a file that all cases share cannot be read; the functions raise it for the files of one case.
    """
    model, description, data_sets = _guarded(folder, lambda: _shared(folder, root))
    for index, data in enumerate(data_sets):
        case_id = f"{suite}/{folder.name}" + (f"/{data.name}" if index else "")

        def make(case_id: str = case_id, data: Path = data) -> Case:
            return _guarded(data, lambda: _case(case_id, model, data, root, description))

        yield case_id, make


def _guarded(path: Path, read: Callable[[], T]) -> T:
    """Call a function that reads files from outside; any exception becomes a StoreError."""
    try:
        return read()
    except StoreError as error:
        raise StoreError("layout-invalid", line(error, 1000)) from error
    except Exception as error:
        reason = f"{type(error).__name__}: {line(error)}"
        raise StoreError("case-not-readable", f"{line(path, 400)}: cannot be read as a case: {reason}") from error


def _shared(folder: Path, root: Path) -> tuple[onnx.ModelProto, Description, list[Path]]:
    path = folder / "model.onnx"
    try:
        model = onnx.load_from_string(_bytes(path, root))
    except DecodeError as error:
        raise StoreError("model-incomplete", f"{path}: not a whole ONNX model ({error})") from error
    if not model.HasField("graph"):
        raise StoreError("model-without-graph", f"{path}: not an ONNX model: it has no graph")
    case_path, data_path = folder / "case.json", folder / "data.json"
    description = case_json.read(case_path, _optional(case_path, root), data_path, _optional(data_path, root))
    if description.form != EXTERNAL_DATA:
        _load_external(model, folder, root)
    data_sets = sorted(
        (item for item in folder.glob("test_data_set_*") if item.is_dir()),
        key=lambda item: [(part.isdecimal(), part.zfill(20)) for part in re.split(r"(\d+)", item.name)],
    )
    if not data_sets:
        raise StoreError("data-set-missing", f"{folder}: there is no {DATA_SET} in the folder of model.onnx")
    return model, description, data_sets


def _case(case_id: str, model: onnx.ModelProto, data: Path, root: Path, description: Description) -> Case:
    initializers = {item.name for item in model.graph.initializer}
    fed = [info for info in model.graph.input if info.name not in initializers]
    overridable = [info for info in model.graph.input if info.name in initializers]
    for info in (*model.graph.input, *model.graph.output):
        if not isinstance(info.name, str):  # protobuf returns bytes for names that are not UTF-8.
            raise StoreError(
                "value-name-not-utf8",
                f"{data.parent / 'model.onnx'}: the name {clip(info.name)} of an input or output is not UTF-8",
            )
    files = len(list(data.glob("input_*.pb")))
    if files > len(fed):  # Up to IR version 3 an initializer is an input too, and may be fed.
        fed = [*model.graph.input] if files == len(fed) + len(overridable) else fed
    if files != len(fed):
        raise StoreError(
            "input-files-differ", f"{data}: {files} files input_*.pb, but the graph has {len(fed)} inputs to feed"
        )
    inputs = {info.name: _decode(data / f"input_{i}.pb", root, info.type) for i, info in enumerate(fed)}
    earlier = {info.name: data / f"{EARLIER}_{i}.pb" for i, info in enumerate(fed)}
    of_model = [name for name in (DATA_FILE,) if description.form == EXTERNAL_DATA]
    expected: tuple[Value | Drawn, ...] | None = None
    stored = len([item for item in data.glob("output_*.pb") if item.stem.count("_") == 1])
    if description.outcome in {Outcome.VALUES, Outcome.PROPERTY} and (stored or description.drawn):
        if stored + len(description.drawn) != len(model.graph.output):
            raise StoreError(
                "output-files-differ",
                f"{data}: {stored} files output_*.pb, but the graph has {len(model.graph.output)} outputs",
            )
        expected = tuple(
            description.drawn[i] if i in description.drawn else _decode(data / f"output_{i}.pb", root, info.type)
            for i, info in enumerate(model.graph.output)
        )
    if (order := description.allowance.any_order) is not None and expected is not None:
        AnyOrder(*map(np.asarray, expected), axis=order.axis, lanewise=order.lanewise)  # The outputs have this axis.
    if (sums := description.allowance.sums) is not None and expected is not None:
        values = expected[sums.output] if sums.output < len(expected) else None
        if not isinstance(values, np.ndarray) or max(sums.axes) >= values.ndim or values.dtype.kind in "OUc":
            raise StoreError(
                "sums-without-tensor",
                f"{data}: sums names output {sums.output} and axes {list(sums.axes)}; expected "
                "an output of numbers that has these axes",
            )
    return Case(
        id=case_id,
        model=model.SerializeToString(deterministic=True),
        inputs=inputs,
        outputs=tuple(info.name for info in model.graph.output),
        expected=expected,
        earlier={info.name: _decode(earlier[info.name], root, info.type) for info in fed}
        if description.form == TWICE
        else None,
        files={name: _bytes(data.parent / name, root) for name in of_model},
        **{
            **description.fields(
                bounds=_bounds(data, root, len(model.graph.output)),
                any_of=_any_of(data, root, model, description, expected),
            ),
            "operator": description.operator or operator_of(model),
        },
    )


def _any_of(
    data: Path, root: Path, model: onnx.ModelProto, description: Description, expected: tuple[Value | Drawn, ...] | None
) -> tuple[AnyOf | None, ...]:
    """Return the values that each output may have, if one of them may have several."""

    def several(index: int, info: onnx.ValueInfoProto) -> AnyOf | None:
        if index not in description.any_of or expected is None:
            return None
        counted = description.any_of[index]
        others = (_decode(data / f"output_{index}_{number}.pb", root, info.type) for number in range(1, counted.values))
        values = [expected[index], *others]
        if not all(isinstance(value, np.ndarray) for value in values):
            raise StoreError(
                "any-of-without-tensors", f"{data}: output {index} may have several values, but they are not tensors"
            )
        try:
            return AnyOf(*map(np.asarray, values), elementwise=counted.elementwise)
        except ValueError as error:
            raise StoreError("output-values-invalid", f"{data}: the values of output {index}: {error}") from error

    return tuple(several(*item) for item in enumerate(model.graph.output)) if description.any_of else ()


def _bounds(data: Path, root: Path, outputs: int) -> tuple[np.ndarray[Any, Any], ...] | None:
    if not (data / "bound_0.pb").exists():
        return None
    type_ = onnx.helper.make_tensor_type_proto(onnx.TensorProto.DOUBLE, None)
    return tuple(np.asarray(_decode(data / f"bound_{i}.pb", root, type_)) for i in range(outputs))


def operator_of(model: onnx.ModelProto) -> str:
    """Return the operator version of a model's only node, or `model` if it has several."""
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
    except (OSError, RuntimeError, ValueError) as error:  # Too long a name; a link that leads to itself; a zero byte.
        raise StoreError("case-path-not-readable", f"{line(path)}: cannot be read: {line(error)}") from error
    if not resolved.is_relative_to(root.resolve()):
        raise StoreError(
            "link-out-of-suite", f"{line(path)}: points outside the suite's folder, to {resolved}; it is not read"
        )
    return resolved


def _file(path: Path, root: Path) -> Path:
    """Return the resolved path of a file of the suite; only regular files of limited size are accepted."""
    resolved = _inside(path, root)
    try:
        if resolved.exists() and not resolved.is_file():
            raise StoreError("case-not-a-file", f"{line(path)}: not a file")  # Reading a pipe would wait forever.
        size = resolved.stat().st_size
    except OSError as error:
        raise StoreError("case-file-not-readable", f"{line(path)}: cannot be read: {error.strerror}") from error
    if size > MAX_PAYLOAD:
        raise StoreError(
            "case-file-too-large", f"{line(path)}: {size} bytes; at most {MAX_PAYLOAD} can be handed to a runtime"
        )
    return resolved


def _bytes(path: Path, root: Path) -> bytes:
    try:
        return _file(path, root).read_bytes()
    except OSError as error:
        raise StoreError("case-file-not-readable", f"{line(path)}: cannot be read: {error.strerror}") from error


def digest(path: Path, root: Path) -> str:
    """Return a digest of a file's content; empty if it is not a file or cannot be read."""
    try:
        resolved = _file(path, root)
        with resolved.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, StoreError):
        return ""


def _optional(path: Path, root: Path) -> bytes:
    """Return a file's bytes; empty if the file does not exist."""
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
        raise StoreError("data-without-type", f"{path}: the graph declares no tensor, sequence, map or optional for it")
    proto, convert = kinds[kind]
    data = _bytes(path, root)
    try:
        message = proto.FromString(data)
        if kind == "tensor_type" and message.data_location == onnx.TensorProto.EXTERNAL:
            raise StoreError(
                "data-elsewhere", f"{path}: its data is in another file; a test-data tensor must contain its data"
            )
        if kind == "tensor_type" and any(dim < 0 for dim in message.dims):
            raise StoreError("dims-negative", f"{path}: dims {list(message.dims)}; expected numbers of at least 0")
        return _native(convert(message))
    except (DecodeError, ValueError, TypeError, KeyError, AttributeError, MemoryError, OverflowError) as error:
        raise StoreError(
            "data-incomplete", f"{path}: not a whole {proto.DESCRIPTOR.name}: {type(error).__name__}: {error}"
        ) from error


def _native(value: Any) -> Value:  # noqa: ANN401 - any result of numpy_helper
    """Return a value as the types of the harness: arrays, lists, dicts and None."""
    if isinstance(value, list | tuple):
        return [_native(item) for item in value]
    if isinstance(value, dict):
        return {key.decode() if isinstance(key, bytes) else key: _native(item) for key, item in value.items()}
    return value if value is None else np.asarray(value)


def _load_external(model: onnx.ModelProto, folder: Path, root: Path) -> None:
    """Load tensors from external files into the model, if these are inside the suite."""
    for tensor in external_data_helper._get_all_tensors(model):  # noqa: SLF001 - onnx offers no public walk
        if not external_data_helper.uses_external_data(tensor):
            continue
        location = {item.key: item.value for item in tensor.external_data}.get("location", "")
        where = folder / location
        if _inside(where, root).exists():  # Otherwise, the loader names the tensor without data.
            _file(where, root)
        try:
            external_data_helper.load_external_data_for_tensor(tensor, str(folder))
        except (OSError, ValueError, onnx.checker.ValidationError) as error:
            raise StoreError(
                "tensor-not-readable", f"{line(where)}: the data of tensor {tensor.name!r} cannot be read: {error}"
            ) from error
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]
