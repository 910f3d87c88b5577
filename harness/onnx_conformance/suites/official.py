# SPDX-License-Identifier: Apache-2.0
"""The suite `official`: the node cases of the installed onnx package."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

from onnx_conformance.case.allowance import Allowance
from onnx_conformance.case.case import PLAIN, Case, Outcome
from onnx_conformance.forms.table import EXPANDED
from onnx_conformance.suites import onnx_layout, packs
from onnx_conformance.suites.selection import Listed, listed
from onnx_conformance.suites.slices import divided
from onnx_conformance.suites.suite import Outlook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.base.errors import Note
    from onnx_conformance.base.values import Value
    from onnx_conformance.base.verdict import Unreadable
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.slices import Slice


class Official:
    """The node cases of the installed onnx package."""

    name = "official"
    makes = False
    planned = False
    has_core = False

    def __init__(self) -> None:
        """Load nothing yet: that takes seconds."""
        self.unreadable: list[Unreadable] = []
        self._loaded: list[Case] | None = None

    def digest(self) -> str:
        """Return onnx's version."""
        return f"onnx {onnx.__version__}"

    def left_out(self, selection: Selection) -> list[Note]:  # noqa: ARG002 - Suite's own
        """Return nothing: the package has no declarations to compare."""
        return []

    def operators(self) -> list[str]:
        """Return the operator versions of its cases."""
        return sorted({case.operator for case in self._load()})

    def finished(self, part: Slice) -> None:
        """Keep nothing."""

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield summaries of the selected cases."""
        return listed(self.cases(selection))

    def outlook(self, selection: Selection) -> Outlook:
        """Return the number of cases; it loads them all, which a run does anyway."""
        return Outlook(Counter(case.operator for case in self.cases(selection)))

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases in the order of the package."""
        part = selection.slice
        for case in self._load():
            if (part is None or part.has(case.id)) and selection.takes(case):
                yield case

    def slices(self, selection: Selection) -> list[Slice]:
        """Return parts of the cases."""
        return list(divided("", len(self._load()) * selection.share))

    def _load(self) -> list[Case]:
        if self._loaded is None:
            key = packs.key(self.name, onnx.__version__, *_made_of())
            pack = packs.read(key)
            self._loaded = _collected() if pack is None else list(pack)
            if pack is None:
                packs.write(key, self._loaded)
        return self._loaded


def _made_of() -> Iterator[str]:
    """Yield name, size and time of each file of onnx with its cases: they may be changed in a development checkout."""
    package = Path(onnx.__file__).parent
    for path in sorted((*package.glob("*.so"), *package.glob("*.py"), *(package / "backend" / "test").rglob("*.py"))):
        status = path.stat()
        yield f"{path} {status.st_size} {status.st_mtime_ns}"


def _collected() -> list[Case]:
    """Return the cases as onnx makes them, which takes seconds."""
    from onnx.backend.test.loader import load_model_tests  # noqa: PLC0415 - takes seconds, most runs do without

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Its case files divide by zero on purpose.
        loaded = load_model_tests(kind="node")
    names = {item.name: item for item in loaded}
    return [_official(item, names) for item in loaded]


def _official(item: Any, names: dict[str, Any]) -> Case:  # noqa: ANN401 - onnx's TestCase
    """Convert one of onnx's cases; an expanded one belongs to the operator that it expands."""
    stem, expanded, _ = item.name.partition("_expanded")
    base = names[stem] if expanded and stem in names else item
    inputs, outputs = item.data_sets[0]
    expected = tuple(map(_array, outputs))
    rtol = item.rtol
    if any(isinstance(value, np.ndarray) and value.dtype == ml_dtypes.bfloat16 for value in expected):
        rtol = max(rtol, 2**-6)  # As in onnx's runner: two units in the last place of bfloat16.
    return Case(
        id=f"official/{item.name}",
        operator=onnx_layout.operator_of(base.model),
        model=item.model.SerializeToString(deterministic=True),
        inputs={info.name: _array(value) for info, value in zip(item.model.graph.input, inputs, strict=True)},
        outputs=tuple(info.name for info in item.model.graph.output),
        outcome=Outcome.VALUES,
        expected=expected,
        allowance=Allowance("the official suite has one tolerance for all", rtol=rtol, atol=item.atol),
        tags=frozenset({"official"}),
        form=EXPANDED if expanded else PLAIN,
    )


def _array(value: Any) -> Value:  # noqa: ANN401 - TestCase does not declare the types of its values
    if isinstance(value, onnx.TensorProto):
        return np.asarray(numpy_helper.to_array(value))
    if isinstance(value, list | tuple):
        return [_array(item) for item in value]
    if isinstance(value, dict):
        return {key: _array(item) for key, item in value.items()}
    if value is None:
        return None
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "US" else array
