# SPDX-License-Identifier: Apache-2.0
"""The adapter of ONNX Runtime's symbolic shape inference: the files that it leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest

from runtime_fakes import loaded

MODEL = onnx.parser.parse_model(
    '<ir_version: 10, opset_import: ["" : 21]> g (float[2] x) => (float[2] y) { y = Abs(x) }'
)


@pytest.mark.parametrize("fails", [False, True])
def test_a_file_that_it_writes_is_not_left_in_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, fails: bool
) -> None:
    class SymbolicShapeInference:
        """As the original, it writes a model into the current folder when it cannot infer a shape."""

        @staticmethod
        def infer_shapes(model: onnx.ModelProto) -> onnx.ModelProto:
            Path("sym_shape_infer_temp.onnx").write_bytes(model.SerializeToString())
            if fails:
                raise RuntimeError
            return model

    modules: dict[str, dict[str, Any]] = {
        "onnxruntime": {"__version__": "1"},
        "onnxruntime.tools": {},
        "onnxruntime.tools.symbolic_shape_infer": {"SymbolicShapeInference": SymbolicShapeInference},
    }
    adapter = loaded(monkeypatch, "onnxruntime_symbolic", modules)
    monkeypatch.chdir(tmp_path)
    if fails:
        with pytest.raises(RuntimeError):
            adapter.infer(MODEL.SerializeToString())
    else:
        assert not onnx.load_from_string(adapter.infer(MODEL.SerializeToString())).graph.output[0].HasField("type")
    assert Path.cwd() == tmp_path
    assert not [*tmp_path.iterdir()]
