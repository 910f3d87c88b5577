# SPDX-License-Identifier: Apache-2.0
"""Adapters that answer what the oracles answer, but for one fault that depends on what is around a run.

`serve.py environment.FAULT`; see `faulty` for those that depend on the case.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_conformance.specification import evaluator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Run = Callable[[dict[str, Any], Sequence[str]], list[Any]]


class Adapter:
    """Is right."""

    def info(self) -> dict[str, Any]:
        return {"runtime": type(self).__name__, "version": "1"}

    def run(self, model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
        return self.session(model)(inputs, outputs)

    def session(self, model: bytes, folder: str | None = None) -> Run:
        return evaluator.session(model, folder)


class Once(Adapter):
    """Cannot run a model twice, nor load one with files beside it; says so by having no session()."""

    session = None  # type: ignore[assignment]

    def run(self, model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
        return evaluator.run(model, inputs, outputs)


class KeepsFirstAnswer(Adapter):
    """Gives what it gave the first time."""

    def session(self, model: bytes, folder: str | None = None) -> Run:
        right, first = evaluator.session(model, folder), []

        def run(inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
            first.append(right(inputs, outputs))
            return first[0]

        return run


class FailsFirst(Adapter):
    """Refuses the first inputs, whatever they are, where there are others."""

    def session(self, model: bytes, folder: str | None = None) -> Run:
        right, seen = evaluator.session(model, folder), []

        def run(inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
            seen.append(inputs)
            if len(seen) == 1:
                raise ValueError("not these")
            return right(inputs, outputs)

        return run

    def run(self, model: bytes, inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
        return evaluator.run(model, inputs, outputs)


class ReadsFromTheBeginning(Adapter):
    """Reads external data from the beginning of the file, whatever the offset."""

    def session(self, model: bytes, folder: str | None = None) -> Run:
        proto = onnx.load_from_string(model)
        for tensor in proto.graph.initializer if folder else ():
            length = len(numpy_helper.from_array(np.zeros(tensor.dims, _dtype(tensor))).raw_data)
            tensor.raw_data = Path(str(folder), tensor.external_data[0].value).read_bytes()[:length]
            tensor.ClearField("data_location")
            del tensor.external_data[:]
        return evaluator.session(proto.SerializeToString())


class ReadsBytesAlone(Adapter):
    """Takes an initializer whose elements are in a typed field for zeros."""

    def session(self, model: bytes, folder: str | None = None) -> Run:
        proto = onnx.load_from_string(model)
        for tensor in proto.graph.initializer:
            if not tensor.HasField("raw_data") and not folder:
                tensor.CopyFrom(numpy_helper.from_array(np.zeros(tensor.dims, _dtype(tensor)), tensor.name))
        return evaluator.session(proto.SerializeToString(), folder)


class ParsesByLocale(Adapter):
    """Sends its answers through a number as text, as the C library reads it in the locale of the process."""

    def session(self, model: bytes, folder: str | None = None) -> Run:
        strtod = ctypes.CDLL(None).strtod
        strtod.restype, strtod.argtypes = ctypes.c_double, (ctypes.c_char_p, ctypes.c_void_p)
        right = evaluator.session(model, folder)

        def run(inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
            values = right(inputs, outputs)
            for value in values:
                value.reshape(-1)[:] = [strtod(repr(item).encode(), None) for item in value.reshape(-1).tolist()]
            return values

        return run


class RacesOnThreads(Adapter):
    """Loses the last element where it has more than one thread."""

    def session(self, model: bytes, folder: str | None = None) -> Run:
        right = evaluator.session(model, folder)

        def run(inputs: dict[str, Any], outputs: Sequence[str]) -> list[Any]:
            values = right(inputs, outputs)
            for value in values if int(os.environ.get("OMP_NUM_THREADS", "1")) > 1 else ():
                value.reshape(-1)[-1:] = 0
            return values

        return run


def _dtype(tensor: onnx.TensorProto) -> np.dtype[Any]:
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))


right, once, keeps_first_answer, fails_first = Adapter(), Once(), KeepsFirstAnswer(), FailsFirst()
reads_from_the_beginning, reads_bytes_alone = ReadsFromTheBeginning(), ReadsBytesAlone()
parses_by_locale, races_on_threads = ParsesByLocale(), RacesOnThreads()
