# SPDX-License-Identifier: Apache-2.0
"""Large values of a script: compressed, in comments at its end, where a reader can skip them.

The script reads them from its own file. So it stays one file, and the model and the call of the runtime stay readable.
"""

from __future__ import annotations

import base64
import textwrap
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from onnx_conformance.base.verdict import line
from onnx_conformance.case.external_data import decoded
from onnx_conformance.repro.literals import literal, of_bytes
from onnx_conformance.specification.element_types import element_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.base.values import Drawn, Value
    from onnx_conformance.case.case import Case

MOST_INLINE = 1000
"""Maximum number of elements of all values of a script together that are all written in its code."""
FEW = 32
"""In a script with more, values with at most this number of elements are still written in its code."""
MOST_SHOWN = 20_000
"""Maximum number of characters of the data in a bug report."""
HEADING = "\n# The data of the script, compressed.\n"
"""The line between the code of a script and its data."""
READ = """\
import base64
import pathlib
import zlib


def stored(number):
    text = pathlib.Path(__file__).read_text().split(f"\\n# data {number}: ")[1]
    lines = text.split("\\n# data ")[0].splitlines()[1:]
    return zlib.decompress(base64.b64decode("".join(line[2:] for line in lines)))
"""
"""Code that reads one of the data at the end of the script."""


class Stored:
    """The data at the end of one script.

    Attributes:
        small: whether all values are written in the code.
    """

    def __init__(self, case: Case) -> None:
        """Start without data."""
        self.small = _elements(case) <= MOST_INLINE
        self._blocks: list[tuple[str, bytes]] = []

    def add(self, name: str, data: bytes) -> str:
        """Store bytes; return the expression that reads them."""
        self._blocks.append((name, data))
        return f"stored({len(self._blocks) - 1})"

    def literal(self, value: Value | Drawn) -> str:
        """Return a Python expression for a value, which may read it from the end of the script."""
        if not isinstance(value, np.ndarray) or self._is_inline(value):
            return literal(value)
        shape = ",".join(map(str, value.shape))
        name = f"{element_type(value.dtype).name}[{shape}]"
        return of_bytes(self.add(name, value.tobytes()), value) + ".copy()"

    def _is_inline(self, array: np.ndarray[Any, Any]) -> bool:
        return self.small or array.size <= FEW or array.dtype.kind == "O"

    def without_weights(self, model: onnx.ModelProto) -> Iterator[str]:
        """Remove the large initializers of a model; yield the lines of code that add them."""
        kept, lines = [], []
        for item in model.graph.initializer:
            array = decoded(item)
            if array is None or self._is_inline(array):
                kept.append(item)
                continue
            shape = [*map(int, item.dims)]
            data = self.add(f"{line(item.name, 80)} {shape}", numpy_helper.from_array(array).raw_data)
            lines.append(
                "model.graph.initializer.append(onnx.TensorProto("
                f"name={item.name!r}, data_type={item.data_type}, dims={shape}, raw_data={data}))"
            )
        if lines:
            del model.graph.initializer[:]
            model.graph.initializer.extend(kept)
        return iter(lines)

    @property
    def names(self) -> list[str]:
        """The names of the data."""
        return [name for name, _ in self._blocks]

    @property
    def code(self) -> tuple[str, ...]:
        """The code that the script needs to read its data."""
        return (READ,) if self._blocks else ()

    @property
    def end(self) -> str:
        """The data; an empty text without data."""
        if not self._blocks:
            return ""
        texts = [
            f"# data {number}: {name}\n" + "\n".join(f"# {part}" for part in textwrap.wrap(_encoded(data), 110)) + "\n"
            for number, (name, data) in enumerate(self._blocks)
        ]
        return HEADING + "".join(texts)


def _encoded(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _elements(case: Case) -> int:
    """Return the number of elements of the initializers, inputs and expected outputs of a case."""
    arrays = [value for value in (*case.inputs.values(), *(case.expected or ())) if isinstance(value, np.ndarray)]
    initializers = onnx.load_from_string(case.model).graph.initializer
    return sum(array.size for array in arrays) + sum(int(np.prod(item.dims)) for item in initializers)


def without_weights(case: Case) -> tuple[bytes, list[str]]:
    """Return the model of a case without the weights that a script has at its end, and the names of these."""
    data = Stored(case)
    model = onnx.load_from_string(case.model)
    if data.small or not [*data.without_weights(model)]:
        return case.model, []
    return model.SerializeToString(), data.names


def shortened(script: str, most: int, where: str) -> str:
    """Return a script without its data, if they are longer than `most` characters; `where` is the way to get them."""
    code, heading, data = script.partition(HEADING)
    if len(data) <= most:
        return script
    return f"{code}{heading}# {len(data):,} characters are left out here; {where}\n"
