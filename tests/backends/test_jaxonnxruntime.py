# SPDX-License-Identifier: Apache-2.0
"""jaxonnxruntime's adapter: its outputs, and that compiled functions do not pile up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from onnx_conformance.backends import serve
from runtime_fakes import loaded

MODEL = parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y, float[2] z) { y = Neg(x)  z = Abs(x) }'
).SerializeToString()


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> Any:
    def asarray(array: Any) -> Any:
        if array.dtype == object:
            raise TypeError("no array of objects")
        return array if array.dtype != np.float64 else array.astype(np.float32)

    def prepare(proto: onnx.ModelProto) -> Any:
        assert proto.graph.node[0].op_type == "Neg"
        return SimpleNamespace(run=lambda inputs: (memoryview(-inputs["x"]), [inputs["x"], None]))

    cleared: list[int] = []
    config = SimpleNamespace(update=lambda *_: None)
    jax = {
        "config": config,
        "devices": list,
        "numpy": SimpleNamespace(asarray=asarray),
        "clear_caches": lambda: cleared.append(1),
        "cleared": cleared,
    }
    backend = SimpleNamespace(prepare=prepare)
    return loaded(monkeypatch, "jaxonnxruntime", {"jax": jax, "jaxonnxruntime": {"backend": backend, "config": config}})


def test_outputs_go_by_name_and_become_arrays(adapter: Any) -> None:
    x = np.array([1, -2], np.float32)
    z, y = adapter.run(MODEL, {"x": x}, ["z", "y"])
    assert (y.dtype, y.tolist()) == (np.float32, [-1, 2])
    assert z[0].tolist() == [1, -2]
    assert z[1] is None


@pytest.mark.parametrize("value", [np.array(["a"], object), [np.array(["a"], object)], {1: np.zeros(1)}], ids=repr)
def test_types_that_jax_lacks_opt_out(adapter: Any, value: Any) -> None:
    with pytest.raises(adapter.NoTypeError, match="JAX has no arrays of") as error:
        adapter.run(MODEL, {"x": value}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no way to pass this type"


def test_types_are_those_that_jax_keeps(adapter: Any) -> None:
    assert {"float", "bfloat16", "int4"} <= set(adapter.TYPES)
    assert not {"string", "double"} & set(adapter.TYPES), "objects, and what came back as another type"


def test_compiled_functions_do_not_pile_up(adapter: Any) -> None:
    for _ in range(2 * adapter.KEPT):
        adapter.run(MODEL, {"x": np.zeros(1, np.float32)}, [])
    assert len(adapter.jax.cleared) == 2
