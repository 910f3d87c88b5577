"""ONNX Runtime's graph optimizer: the model that a session writes; the option is the level."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import onnxruntime

from backends import onnxruntime as runtime
from backends.option import option

LEVELS = {name: runtime.LEVELS[name] for name in ("extended", "basic", "none", "all")}
"""The highest one that every machine has comes first: at the level "all" it writes nodes for the layout of one."""
OPT_OUTS = runtime.OPT_OUTS
REPRO = """\
import onnx
import onnxruntime

options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.{level}
options.optimized_model_filepath = "optimized.onnx"
onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
model = onnx.load("optimized.onnx")
"""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    chosen = option(tuple(LEVELS))
    return {
        "runtime": f"onnxruntime's optimizer, {chosen}",
        "version": onnxruntime.__version__,
        "repro": REPRO.format(level=LEVELS[chosen]),
        "types": runtime.info()["types"],
        "containers": runtime.info()["containers"],
    }


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[option(tuple(LEVELS))])
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-files-") as folder:
        path = Path(folder, "optimized.onnx")
        options.optimized_model_filepath = str(path)
        onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        return path.read_bytes()
