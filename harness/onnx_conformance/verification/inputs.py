# SPDX-License-Identifier: Apache-2.0
"""The inputs of a user's model: read from a file or a folder, or drawn by their type and name.

A drawn input fits the usual meaning of its name: ids are below the number of rows of the table that they select from,
masks are ones, images are between 0 and 1. Every drawn input is reported, because other values may meet other faults.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line
from onnx_conformance.declare.rounding import is_float, nearest
from onnx_conformance.declare.type import Kind, Type
from onnx_conformance.specification import schema
from onnx_conformance.specification.signature import TypedValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from onnx_conformance.base.values import Array, Value
    from onnx_conformance.verification.user_model import UserModel

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 224, 256, 320, 512)
"""Sizes that are tried for dimensions without a size, until the text allows the model with them."""
IMAGE_SIZES = tuple(sorted(SIZES, key=lambda size: (size < 32, size)))  # noqa: PLR2004 - see below
"""Sizes for height and width: networks for images halve them up to five times, so 32 is tried first."""
BATCH = re.compile(r"^(n|b|bs|batch.*|.*batch|.*batch_size)$", re.IGNORECASE)
"""Names of a dimension that is 1 unless the user chooses another size."""
ITEMS = 2
"""Number of elements of a drawn sequence."""
WORDS = ("alpha", "beta", "gamma", "delta")
MOST_INTEGERS = (10, 2, 1)
"""Drawn integers of unknown meaning are below the first of these for which the text defines the result."""

MOST_NODES = 20_000
"""Number of evaluated nodes after which the search for better inputs ends; some ten runs of a large model."""

NAMED_INTEGERS = (
    (re.compile("mask"), 1, "ones, because it is a mask"),
    (re.compile("token_type|type_id|segment"), 0, "zeros, because they are types of tokens"),
    (re.compile("^sr$|sample_?rate|sampling"), 16000, "16000, because it is a sample rate"),
    (re.compile("len|size|num|count|step"), 1, "ones, because it is a number of things"),
)
"""Names of inputs of integers: a pattern, the value of each element, and its description."""


@dataclass(frozen=True)
class Inputs:
    """The inputs of a model.

    Attributes:
        values: by name.
        notes: a line on each input that was drawn.
        sizes: the sizes of symbolic dimensions.
    """

    values: dict[str, TypedValue]
    notes: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)


def read(path: Path, model: UserModel) -> dict[str, Value]:
    """Return the inputs in a .npz file, or in a folder with input_0.pb, input_1.pb, ... of ONNX's test-data layout.

    Raises:
        HarnessError: the path cannot be read.
    """
    try:
        values = _from_folder(path, model) if path.is_dir() else _from_npz(path)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise HarnessError(
            "verify-inputs-not-readable",
            f"--inputs {line(path)}: {line(error, 200)}; expected a file of numpy.savez, or a folder with input_0.pb",
        ) from None
    return values


def check_names(given: Mapping[str, Value], model: UserModel) -> None:
    """Raise HarnessError if the model does not have one of some inputs."""
    known = [item.name for item in model.proto.graph.input]
    for name in given:
        if name not in known:
            there = line(", ".join(known) or "none", 300)
            raise HarnessError("no-such-input", f"{model.name} has no input {line(name, 80)!r}; it has {there}")


def _from_npz(path: Path) -> dict[str, Value]:
    found = np.load(path, allow_pickle=False)
    if not isinstance(found, np.lib.npyio.NpzFile):
        raise ValueError("it is no .npz file")  # noqa: TRY004 - becomes one sentence
    with found:
        return {name: _texts(found[name]) for name in found.files}


def _texts(array: Array) -> Array:
    """Return fixed-width texts, which are all that a .npz file can contain, as the strings of ONNX."""
    return array.astype(str).astype(object) if array.dtype.kind in "US" else array


def _from_folder(path: Path, model: UserModel) -> dict[str, Value]:
    folder = next((item for item in (path / "test_data_set_0", path) if item.is_dir()), path)
    files = sorted(folder.glob("input_*.pb"), key=lambda item: int(re.sub(r"\D", "", item.stem) or 0))
    if not files:
        raise ValueError("the folder has no input_0.pb")
    values: dict[str, Value] = {}
    for item, file in zip(model.needed, files, strict=False):
        values[item.name] = _decoded(file.read_bytes(), item)
    return values


def _decoded(data: bytes, declared: onnx.ValueInfoProto) -> Value:
    kind = declared.type.WhichOneof("value")
    if kind == "sequence_type":
        sequence = onnx.SequenceProto()
        sequence.ParseFromString(data)
        return list(numpy_helper.to_list(sequence))
    tensor = onnx.TensorProto()
    tensor.ParseFromString(data)
    return numpy_helper.to_array(tensor)


class Drawing:
    """Draws the inputs that the user leaves out."""

    def __init__(self, model: UserModel, given: Mapping[str, Value], shape: Mapping[str, int], seed: int) -> None:
        """Take the model, the inputs of the user, and the sizes of symbolic dimensions.

        Raises:
            HarnessError: an input does not have its declared type or shape, or there is no such dimension.
        """
        self.model, self.given, self.seed = model, dict(given), seed
        self.symbols = self._symbols()
        for name in shape:
            if name not in self.symbols:
                there = ", ".join(self.symbols) or "none"
                raise HarnessError(
                    "no-such-dimension",
                    f"--shape {line(name, 60)}: {model.name} has no such symbolic dimension; it has {line(there, 200)}",
                )
        self.sizes = {**self._sizes_of_given(), **shape}
        self._below = MOST_INTEGERS[0]

    def _symbols(self) -> dict[str, bool]:
        """Return the dimensions without a size, and whether each is a batch: by name, or INPUT_AXIS without one."""
        found: dict[str, bool] = {}
        for item in self.model.needed:
            for axis, dim in enumerate(_dims(item)):
                if not _is_fixed(dim):
                    found.setdefault(_symbol(item, axis, dim), bool(BATCH.match(dim.dim_param)) or axis == 0)
        return found

    def _sizes_of_given(self) -> dict[str, int]:
        """Return the sizes of symbolic dimensions that the user's inputs decide."""
        sizes: dict[str, int] = {}
        for item in self.model.needed:
            value = self.given.get(item.name)
            if value is None:
                continue
            self._check(item, value)
            if isinstance(value, np.ndarray) and item.type.HasField("tensor_type"):
                for axis, dim in enumerate(_dims(item)):
                    if not _is_fixed(dim):
                        sizes[_symbol(item, axis, dim)] = value.shape[axis]
        return sizes

    def _check(self, item: onnx.ValueInfoProto, value: Value) -> None:
        declared = schema.type_text(item.type)
        if not item.type.HasField("tensor_type"):
            return
        if not isinstance(value, np.ndarray):
            raise HarnessError("input-type", f"input {item.name} must be a {declared}, and no sequence")
        wanted = schema.dtype_of(Type.parse(declared))
        if value.dtype != wanted:
            raise HarnessError(
                "input-type", f"input {item.name} must be a {declared}, but its numpy type is {value.dtype}"
            )
        dims = _dims(item)
        fits = len(dims) == value.ndim and all(
            not _is_fixed(dim) or dim.dim_value == size for dim, size in zip(dims, value.shape, strict=True)
        )
        if item.type.tensor_type.HasField("shape") and not fits:
            words = [str(dim.dim_value) if _is_fixed(dim) else dim.dim_param or "?" for dim in dims]
            raise HarnessError(
                "input-shape",
                f"input {item.name} must have the shape [{', '.join(words)}], but it has {list(value.shape)}",
            )

    def drawn(self, works: Callable[[Mapping[str, TypedValue]], tuple[float, int]]) -> Inputs:
        """Return the inputs with the first sizes that work best.

        Args:
            works: runs the model with inputs; returns how well it works, from 0 to 1, and the number of nodes that
                were evaluated. The search ends with the first inputs of 1, or if MOST_NODES nodes led to no better.
        """
        best, found, spent = -1.0, Inputs({}), 0
        for below in MOST_INTEGERS:
            for sizes in self._tries():
                tried = self._with({**self.sizes, **sizes}, below)
                how_well, nodes = works(tried.values)
                spent += nodes
                if how_well > best:
                    best, found, spent = how_well, tried, 0
                if best >= 1 or spent > MOST_NODES:
                    return found
        return found
        return found

    def _tries(self) -> Iterator[dict[str, int]]:
        """Yield sizes of the dimensions without one: the same size for all, then another size for each alone."""
        free = [name for name in self.symbols if name not in self.sizes]
        open_ = [name for name in free if not self.symbols[name]]
        several = IMAGE_SIZES if self._of_images(open_) else SIZES
        for size in several if open_ else SIZES[:1]:
            yield {name: size if name in open_ else 1 for name in free}
        for name in open_ if len(open_) > 1 else ():
            for size in SIZES[1:]:
                yield {other: size if other == name else 1 for other in free}

    def _of_images(self, names: Sequence[str]) -> bool:
        """Return whether some dimensions are all those of images: the last two of four."""
        found = {
            _symbol(item, axis, dim)
            for item in self.model.needed
            if len(_dims(item)) == 4  # noqa: PLR2004 - N, C, H, W
            for axis, dim in enumerate(_dims(item))
            if axis > 1
        }
        return bool(names) and found.issuperset(names)

    def _with(self, sizes: Mapping[str, int], below: int) -> Inputs:
        self._below = below
        generator = np.random.default_rng(self.seed)
        values, notes = {}, []
        for item in self.model.needed:
            type_ = schema.type_text(item.type)
            if item.name in self.given:
                values[item.name] = TypedValue(self.given[item.name], type_)
                continue
            value, what = self._draw(item, Type.parse(type_), sizes, generator)
            values[item.name] = TypedValue(value, type_)
            shape = f" {list(value.shape)}" if isinstance(value, np.ndarray) else ""
            notes.append(f"input {line(item.name, 60)}: {type_}{shape}, drawn: {what}")
        return Inputs(values, notes, {name: size for name, size in sizes.items() if name in self.symbols})

    def _draw(
        self, item: onnx.ValueInfoProto, type_: Type, sizes: Mapping[str, int], generator: np.random.Generator
    ) -> tuple[Value, str]:
        if type_.kind is Kind.OPTIONAL:
            return None, "an empty optional"
        if type_.kind is Kind.SEQUENCE:
            inner = type_.inner
            if inner is None or not inner.is_tensor:
                raise HarnessError(
                    "input-not-drawn", f"input {item.name} is a {type_}; name a folder with it: --inputs FOLDER"
                )
            return [_tensor(inner, (2, 3), generator, self._below)[0] for _ in range(ITEMS)], f"{ITEMS} tensors"
        if not type_.is_tensor:
            raise HarnessError(
                "input-not-drawn", f"input {item.name} is a {type_}; name a file or folder with it: --inputs PATH"
            )
        shape = tuple(
            dim.dim_value if _is_fixed(dim) else sizes[_symbol(item, axis, dim)] for axis, dim in enumerate(_dims(item))
        )
        named = self._by_name(item.name, type_, shape, generator)
        return named or _tensor(type_, shape, generator, self._below)

    def _by_name(
        self, name: str, type_: Type, shape: tuple[int, ...], generator: np.random.Generator
    ) -> tuple[Array, str] | None:
        """Return values that fit the name of an input, and their description; None if the name is not a known one."""
        dtype, lower = schema.dtype_of(type_), name.lower()
        if dtype.kind in "iu":
            return self._integers(name, lower, dtype, shape, generator)
        if is_float(dtype) and "mask" in lower:
            return np.ones(shape, dtype), "ones, because it is a mask"
        if is_float(dtype) and (len(shape) == 4 or re.search(r"image|pixel|img", lower)):  # noqa: PLR2004 - N, C, H, W
            return nearest(generator.uniform(0, 1, shape), dtype), "between 0 and 1, as of an image"
        return None

    def _integers(
        self, name: str, lower: str, dtype: np.dtype[Any], shape: tuple[int, ...], generator: np.random.Generator
    ) -> tuple[Array, str]:
        rows = self._rows(name)
        for pattern, value, what in NAMED_INTEGERS:
            if pattern.search(lower) and (rows is None or value < rows):
                return np.full(shape, value, dtype), what
        if "position" in lower and shape:
            return np.broadcast_to(np.arange(shape[-1], dtype=dtype), shape).copy(), "0, 1, 2, ..."
        most = self._below if rows is None else max(1, min(rows, int(np.iinfo(dtype).max)))
        of_table = "" if rows is None else ", rows of its table"
        return generator.integers(0, most, shape).astype(dtype), f"0 to {most - 1}{of_table}"

    def _rows(self, name: str) -> int | None:
        """Return the number of rows of the table from which an input selects rows; None if it selects from none."""
        names, rows = {name}, []
        for step in self.model.steps:
            node = step.node
            if node.op_type in {"Cast", "Identity", "Unsqueeze", "Squeeze", "Reshape"} and node.input[0] in names:
                names.update(node.output)
            if node.op_type == "Gather" and len(node.input) > 1 and node.input[1] in names:
                table = self.model.constants.get(node.input[0])
                axis = next((item.i for item in node.attribute if item.name == "axis"), 0)
                if table is not None and isinstance(table.value, np.ndarray):
                    rows.append(table.value.shape[axis])
        return min(rows, default=None)


def _tensor(type_: Type, shape: tuple[int, ...], generator: np.random.Generator, below: int) -> tuple[Array, str]:
    dtype = schema.dtype_of(type_)
    if dtype.kind == "O":
        words = generator.choice(np.array(WORDS, dtype=object), shape)
        return np.asarray(words, dtype=object).reshape(shape), "words"
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool), "true and false"
    if dtype.kind == "c":
        return (generator.standard_normal(shape) + 1j * generator.standard_normal(shape)).astype(dtype), "normal"
    if is_float(dtype):
        return nearest(generator.standard_normal(shape), dtype), "normally distributed"
    return generator.integers(0, below, shape).astype(dtype), f"0 to {below - 1}"


def _dims(item: onnx.ValueInfoProto) -> list[onnx.TensorShapeProto.Dimension]:
    return list(item.type.tensor_type.shape.dim)


def _symbol(item: onnx.ValueInfoProto, axis: int, dim: onnx.TensorShapeProto.Dimension) -> str:
    return dim.dim_param or f"{item.name}_{axis}"


def _is_fixed(dim: onnx.TensorShapeProto.Dimension) -> bool:
    """Return whether a dimension has a size. Some exporters write -1 for one that is not known."""
    return bool(dim.HasField("dim_value")) and dim.dim_value >= 0
