"""jaxonnxruntime's adapter: what opts out, what it gives, and that compiled functions do not pile up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import parser
from runtime_fakes import REAL, loaded, raised, real

from backends import serve

if TYPE_CHECKING:
    from pathlib import Path

MODEL = parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y, float[2] z) { y = Neg(x)  z = Abs(x) }'
).SerializeToString()

# As version 0.3.0 said it.
SAID = {
    "operator": ("NotImplementedError", "Attention is not implemented.", "no such operator"),
    "version": (
        "NotImplementedError",
        "Cast version 25 is not implemented. Only have those versions: ['version_13', 'version_19', 'version_9'].",
        "no such operator version",
    ),
    "output": ("NotImplementedError", "MaxPool with indices output is not implemented!", "no kernel"),
    "mode": ("NotImplementedError", "BatchNormalization with training_mode was not implemented yet.", "no kernel"),
    "strings": ("NotImplementedError", "Cast JAX version do not support STRING type yet.", "no kernel"),
    "ceil": ("ValueError", "ceil_mode = 1 is not implement yet.", "no kernel"),
    "average": ("ValueError", "Jaxonnxruntime AveragePool only support ceil_mode = 0 but got 1.", "no kernel"),
    "cast": ("ValueError", "onnx_cast cannot support from_type = float32, to_type = float4_e2m1fn", "no kernel"),
    "type": ("NoTypeError", "JAX has no arrays of string", "no way to pass this type"),
    "clip": ("TypeError", "clip() got an unexpected keyword argument 'a_max'", None),
    "name": ("ValueError", "Fail to get the input tensor i of node input names['zero', '', 'z']", None),
    "static": ("ValueError", "NonZero Jax implementation must have static size attribute but not.", None),
}


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


@pytest.mark.parametrize(("kind", "text", "reason"), SAID.values(), ids=list(SAID))
def test_what_opts_out(adapter: Any, kind: str, text: str, reason: str | None) -> None:
    assert serve.opt_out(adapter.OPT_OUTS, raised(kind, text)) == reason


def test_every_row_has_a_message(adapter: Any) -> None:
    assert {reason for *_, reason in adapter.OPT_OUTS} == {reason for *_, reason in SAID.values() if reason}


def test_outputs_go_by_name_and_become_arrays(adapter: Any) -> None:
    x = np.array([1, -2], np.float32)
    z, y = adapter.run(MODEL, {"x": x}, ["z", "y"])
    assert (y.dtype, y.tolist()) == (np.float32, [-1, 2])
    assert z[0].tolist() == [1, -2]
    assert z[1] is None


@pytest.mark.parametrize("value", [np.array(["a"], object), [np.array(["a"], object)], {1: np.zeros(1)}], ids=repr)
def test_what_jax_has_no_arrays_of_opts_out(adapter: Any, value: Any) -> None:
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


@REAL
def test_the_real_one(tmp_path: Path) -> None:
    wanted = {
        "ai.onnx/Split/13/lengths": "pass",
        "ai.onnx/Split/13/dtypes/bfloat16": "pass",
        "ai.onnx/Split/13/dtypes/string": "unsupported",
        "ai.onnx/Split/1/lengths": "unsupported",
        "ai.onnx/ReduceSum/13/dtypes/uint32": "wrong_type",
        "ai.onnx/ReduceSum/13/noop@omitted": "refused",
    }
    assert real(tmp_path, "jaxonnxruntime", wanted)["version"] == "0.3.0"
