# SPDX-License-Identifier: Apache-2.0
"""The layout of tract's suite `suite-onnx`: ONNX's test data by release, and `node.txt` with the cases that must pass.

The rules of the reader, from sonos/tract, commit 38b383fbd8ee33873fd0b58fcc23480011554c0c,
test-rt/suite-onnx/src/lib.rs and test-rt/infra/src/lib.rs:

- It reads `onnx/onnx-1_19_1/onnx/backend/test/data/node/NAME/` below the folder in `CACHEDIR`, for each release of
  onnx that it is built for. The folders `simple`, `pytorch-operator` and `pytorch-converted` of each must exist.
- NAME becomes the name of a function in Rust.
- A line of `node.txt` is a regular expression and filters. `since:N` ignores the case in releases whose opset is below
  N. A case without a line is ignored, and a line that begins with `#` is a comment.
- The files whose names begin with `input` and `output` are numbered TensorProtos, one for each input and output of the
  model.
- `Tensor::close_enough` (data/src/tensor.rs) converts both values to float32. An element may differ by an absolute and
  a relative error; NaN equals NaN, and an infinity equals itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import helper

from onnx_conformance.layouts import expressible
from onnx_conformance.layouts.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx_conformance.case.case import Case
    from onnx_conformance.layouts.layout import Files, Written

RELEASES = {
    "1.4.1": 9, "1.5.0": 10, "1.6.0": 11, "1.7.0": 12, "1.8.1": 13, "1.9.0": 14, "1.10.2": 15, "1.11.0": 16,
    "1.12.0": 17, "1.13.0": 18, "1.14.1": 19, "1.15.0": 20, "1.16.2": 21, "1.17.0": 22, "1.18.0": 23, "1.19.1": 24,
}  # fmt: skip
"""The releases of onnx that the reader knows: their opsets of ai.onnx."""
OTHERS = ("simple", "pytorch-operator", "pytorch-converted")
"""Folders of a release that must exist in addition to `node`."""
COMPARED = (
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float",
    "double",
)
"""Element types of outputs."""
READ = (*COMPARED, "string")
"""Element types of inputs."""
LIMITS = {"float16": (1e-3, 5e-3)}
"""By element type, the absolute and the relative error that the reader permits (`Approximation::Approximate`)."""
OTHER_LIMITS = (1e-4, 5e-4)
NEWER = "its opset is newer than the last release that the reader knows"
NODE = "node.txt"


def _release(case: Case) -> str:
    """Return the first release of onnx that has the opsets of a model; empty: the reader knows none."""
    imported = {item.domain or "ai.onnx": item.version for item in onnx.load_from_string(case.model).opset_import}
    wanted, ml = imported.get("ai.onnx", 1), imported.get("ai.onnx.ml", 1)
    ml_opsets = {row[0]: row[3] for row in helper.VERSION_TABLE}
    return next((tag for tag, opset in RELEASES.items() if opset >= wanted and ml_opsets[tag] >= ml), "")


def _left_out(case: Case) -> str:
    if why := expressible.reason(case, READ, COMPARED):
        return why
    if not _release(case):
        return NEWER
    for index, value in enumerate(expressible.tensors(case) or ()):
        absolute, relative = LIMITS.get(value.dtype.name, OTHER_LIMITS)
        size = np.abs(np.nan_to_num(value.astype(np.float64), posinf=0.0, neginf=0.0))
        if (expressible.permitted(case, index) > absolute + relative * size).any():
            return "its tolerance is wider than that of the reader"
    return ""


def _data(release: str) -> str:
    return f"onnx/onnx-{release.replace('.', '_')}/onnx/backend/test/data"


def _folder(case: Case) -> str:
    return f"{_data(_release(case))}/node/{expressible.identifier(case.id)}"


def _opset(case: Case) -> int:
    return RELEASES[_release(case)]


def _lists(written: Sequence[Written]) -> Files:
    """Return node.txt: a line for each case, which is a comment for known failures."""
    lines = sorted(f"{'# ' if item.known_failure else ''}{item.name} since:{item.opset}\n" for item in written)
    return {NODE: "".join(lines).encode()}


LAYOUT = Layout(
    "ONNX's test data by release with node.txt, for tract's suite-onnx",
    "tract",
    _left_out,
    _folder,
    expressible.test_data,
    _lists,
    _opset,
    folders=tuple(f"{_data(release)}/{name}" for release in RELEASES for name in ("node", *OTHERS)),
)
