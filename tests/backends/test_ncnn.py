# SPDX-License-Identifier: Apache-2.0
"""The adapter of ncnn: a fake pnnx that writes a script, and tensors with a batch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx.parser
import pytest

from onnx_conformance.backends import child, serve
from runtime_fakes import loaded

if TYPE_CHECKING:
    from collections.abc import Callable

PARAMETERS = "7767517\n2 2\nInput in0 0 1 in0\nAbsVal abs_0 1 1 in0 out0\n"
FOLDED = "7767517\n2 2\nInput in0 0 1 in0\nMemoryData fold_0 0 1 out0 0=2\n"
SCRIPT = """
            ex.input("in0", ncnn.Mat(in0.numpy(), batch_index={0}).clone())
            _, out0 = ex.extract("out0")
            out.append(torch.from_numpy(out0.numpy(batch_index={0})))
"""
NO_SESSION = "ort CreateSession failed model.cc:180 Unsupported model IR version: 14, max supported IR version: 13\n"


class Mat:
    """Memory with a batch, or with the number that means none."""

    def __init__(self, array: Any, batch_index: int) -> None:
        if array.ndim > 4:
            raise RuntimeError(f"convert numpy.ndarray to ncnn.Mat only dims <=4 support now, but given {array.ndim}")
        assert array.flags.c_contiguous, "ncnn reads the memory of an array as if it were contiguous"
        self.array, self.batch = array, batch_index

    def clone(self) -> Mat:
        return Mat(self.array.copy(), self.batch)

    def numpy(self, batch_index: int) -> Any:
        assert batch_index == self.batch
        return self.array


class Extractor:
    """Returns its input as each output, or the status `FAILS`."""

    FAILS = 0

    def __init__(self) -> None:
        self.mats: list[Mat] = []

    def input(self, name: str, mat: Mat) -> int:
        assert name == f"in{len(self.mats)}"
        self.mats.append(mat)
        return 0

    def extract(self, name: str) -> tuple[int, Any]:
        assert name == "out0"
        return (self.FAILS, None) if self.FAILS else (0, self.mats[0])


class Net:
    """Loads two files; a first layer `Nope` does not exist."""

    def __init__(self) -> None:
        names = ("use_fp16_packed", "use_fp16_storage", "use_fp16_arithmetic")
        self.opt = SimpleNamespace(num_threads=2, **dict.fromkeys(names, True))

    def load_param(self, path: str) -> int:
        assert vars(self.opt) == {
            "num_threads": 1,
            "use_fp16_packed": False,
            "use_fp16_storage": False,
            "use_fp16_arithmetic": False,
        }
        return -1 if "Nope" in Path(path).read_text("utf-8") else 0

    def load_model(self, path: str) -> int:
        return 0 if Path(path).read_bytes() == b"\n\0weights" else -1

    def create_extractor(self) -> Extractor:
        return Extractor()


@pytest.fixture
def converts(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that loads the adapter with a pnnx that prints and writes this."""

    def with_(parameters: str = PARAMETERS, batch: int = 233, printed: str = "", killed: int = 0) -> Any:
        modules: dict[str, dict[str, Any]] = {"ncnn": {"Net": Net, "Mat": Mat}, "pnnx": {}}
        monkeypatch.setattr(
            "importlib.util.find_spec", lambda _: SimpleNamespace(submodule_search_locations=["/here/pnnx"])
        )
        adapter = loaded(monkeypatch, "ncnn", modules)
        monkeypatch.setattr(adapter, "version", lambda _: "1")
        adapter.words = []

        def run(words: list[str], cwd: str, stdout: Any, stderr: Any) -> Any:
            assert stdout is stderr
            assert words[:3] == [str(Path("/here/pnnx/pnnx")), "model.onnx", "fp16=0"]
            adapter.words[:] = words[3:]
            folder = Path(cwd)
            assert folder.joinpath("model.onnx").exists()
            stderr.write(printed.encode())
            if killed:
                raise child.KilledError("pnnx", killed)
            if parameters:
                folder.joinpath("model.ncnn.param").write_text(parameters, "utf-8")
                folder.joinpath("model.ncnn.bin").write_bytes(b"\n\0weights")
                folder.joinpath("model_ncnn.py").write_text(SCRIPT.format(batch), "utf-8")
            return subprocess.CompletedProcess(words, 0 if parameters else 255)

        monkeypatch.setattr(adapter.child, "run", run)
        return adapter

    return with_


def identity(kind: str, shape: str = "[N]") -> bytes:
    """Return a model of Identity from an input to an output of a type."""
    text = f'<ir_version: 10, opset_import: ["" : 21]> g ({kind}[N] x) => ({kind}{shape} y) {{ y = Identity(x) }}'
    return onnx.parser.parse_model(text).SerializeToString()


X = np.arange(6, dtype=np.float32).reshape(2, 3)
MODEL = identity("float")


@pytest.mark.parametrize("batch", [0, 1, 233])
def test_the_batch_is_that_of_the_script(converts: Callable[..., Any], batch: int) -> None:
    adapter = converts(batch=batch)
    [y] = adapter.run(MODEL, {"x": X}, ["y"])
    assert y.tolist() == X.tolist()
    assert adapter.words == ["inputshape=[2,3]f32"]


def test_memory_that_is_not_contiguous_is_passed_in_order(converts: Callable[..., Any]) -> None:
    [y] = converts().run(MODEL, {"x": X.T}, ["y"])
    assert y.tolist() == X.T.tolist()


def test_an_int64_is_passed_as_int32(converts: Callable[..., Any]) -> None:
    adapter = converts()
    [y] = adapter.run(MODEL, {"x": np.array([7])}, ["y"])
    assert (y.dtype, y.tolist(), adapter.words) == (np.int32, [7], ["inputshape=[1]i64"])
    with pytest.raises(adapter.NoTypeError) as error:
        adapter.run(MODEL, {"x": np.array([2**31])}, ["y"])
    assert str(error.value) == "int64 is passed as int32, which lacks some of the values"
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no such element type"


@pytest.mark.parametrize("value", [np.ones(1, np.float16), np.ones(1, np.bool_), [X], None, {}])
def test_other_inputs_opt_out(converts: Callable[..., Any], value: Any) -> None:
    adapter = converts()
    with pytest.raises(adapter.NoTypeError):
        adapter.run(MODEL, {"x": value}, ["y"])


@pytest.mark.parametrize("kind", ["double", "int64", "bool"])
def test_other_outputs_opt_out(converts: Callable[..., Any], kind: str) -> None:
    adapter = converts()
    with pytest.raises(adapter.NoTypeError, match=kind):
        adapter.run(identity(kind), {"x": X}, ["y"])


def test_tensors_that_no_mat_can_be_opt_out(converts: Callable[..., Any]) -> None:
    adapter = converts()
    for value, text in ((np.array(1, np.float32), "no Mat has rank 0"), (X[:0], "no Mat has no elements")):
        with pytest.raises(adapter.NoMatError, match=text):
            adapter.run(MODEL, {"x": value}, ["y"])
    with pytest.raises(adapter.NoMatError, match=r"y$"):
        adapter.run(identity("float", ""), {"x": X}, ["y"])
    with pytest.raises(adapter.NoMatError, match="elements"):
        adapter.run(identity("float", "[2, 0]"), {"x": X}, ["y"])
    with pytest.raises(RuntimeError) as error:
        adapter.run(MODEL, {"x": X.reshape(1, 1, 1, 2, 3)}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no tensors of this rank"


def test_a_constant_output_opts_out(converts: Callable[..., Any]) -> None:
    adapter = converts(FOLDED)
    with pytest.raises(adapter.BorrowedError) as error:
        adapter.run(MODEL, {"x": X}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "takes it from ONNX Runtime"


def test_an_error_of_pnnx_is_what_it_printed_about_it(converts: Callable[..., Any]) -> None:
    printed = (
        "pnnxparam = model.pnnx.param\nignore Slice s param failed=1\n############# pass_ncnn\n"
        "slice along batch axis 0 is not supported\nslice along batch axis 0 is not supported\n"
    )
    adapter = converts(printed=printed)
    with pytest.raises(adapter.ConversionError) as error:
        adapter.run(MODEL, {"x": X}, ["y"])
    assert str(error.value) == "slice along batch axis 0 is not supported"
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "no conversion"


def test_a_conversion_without_a_model_is_a_failure(converts: Callable[..., Any]) -> None:
    adapter = converts("")
    with pytest.raises(adapter.ConversionError) as error:
        adapter.run(MODEL, {"x": X}, ["y"])
    assert str(error.value) == "pnnx wrote no model, and ended with status 255"
    assert serve.opt_out(adapter.OPT_OUTS, error.value) is None


def test_a_crash_opts_out_only_if_onnx_runtime_lacks_something(
    converts: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = converts("", printed=NO_SESSION, killed=signal.SIGTERM)
    with pytest.raises(adapter.ConversionError) as error:
        adapter.run(MODEL, {"x": X}, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "newer IR version than it knows"
    ended: list[tuple[int, str]] = []
    for printed in ("fold ... 1 ms\ninfer ...  ort Run failed Invalid axis\n", "infer ... ", "", "\nort Run failed 7"):
        adapter = converts("", printed=printed, killed=signal.SIGTERM)
        monkeypatch.setattr(adapter.child, "end_by", lambda *words: ended.append(words) or AssertionError("ended"))
        with pytest.raises(AssertionError, match="ended"):
            adapter.run(MODEL, {"x": X}, ["y"])
    assert ended == [
        (signal.SIGTERM, "pnnx, infer, after an error of ONNX Runtime"),
        (signal.SIGTERM, "pnnx, infer"),
        (signal.SIGTERM, "pnnx"),
        (signal.SIGTERM, "pnnx, after an error of ONNX Runtime"),
    ]


def test_a_layer_that_cannot_be_loaded_is_named_with_what_pnnx_left(converts: Callable[..., Any]) -> None:
    adapter = converts(PARAMETERS.replace("AbsVal", "Nope"), printed="todo Nope\n")
    with pytest.raises(adapter.LoadError, match="Nope"):
        adapter.run(MODEL, {"x": X}, ["y"])


def test_a_status_of_ncnn_is_a_failure(converts: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Extractor, "FAILS", -100)
    adapter = converts()
    with pytest.raises(adapter.RunError) as error:
        adapter.run(MODEL, {"x": X}, ["y"])
    assert str(error.value) == "ncnn returned the status -100"
    assert serve.opt_out(adapter.OPT_OUTS, error.value) is None


def test_a_converted_model_is_kept(
    converts: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = converts()
    monkeypatch.setenv("ONNX_CONFORMANCE_PROGRAMS", str(tmp_path))
    adapter.run(MODEL, {"x": X}, ["y"])
    monkeypatch.setattr(adapter.child, "run", None)
    [y] = adapter.run(MODEL, {"x": X}, ["y"])
    assert y.tolist() == X.tolist()
    [kept] = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert kept.stat().st_size
    with pytest.raises(TypeError):
        adapter.run(MODEL, {"x": X.T}, ["y"])  # Another shape is another conversion.


def test_pnnx_must_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match="pnnx"):
        loaded(monkeypatch, "ncnn", {"ncnn": {"Net": Net, "Mat": Mat}})


def test_the_reproduction_is_python_and_reads_the_same_lines(converts: Callable[..., Any]) -> None:
    adapter = converts()
    compile(adapter.REPRO, "repro", "exec")
    assert adapter.INPUT.findall(SCRIPT.format(0)) == [("in0", "0")]
    assert adapter.OUTPUT.findall(SCRIPT.format(0)) == [("out0", "0")]
    assert "fp16=0" in adapter.REPRO


@pytest.mark.parametrize(("ending", "status"), [("kill -SEGV $$", -signal.SIGSEGV), ("exit 3", 1)])
def test_the_reproduction_ends_like_pnnx(
    converts: Callable[..., Any], tmp_path: Path, ending: str, status: int
) -> None:
    (tmp_path / "ncnn.py").touch()
    package = tmp_path / "pnnx"
    package.mkdir()
    (package / "__init__.py").touch()
    program = package / "pnnx"
    program.write_text(f"#!/bin/sh\n{ending}\n")
    program.chmod(0o755)
    model = "import types\ninputs = {}\nmodel = types.SimpleNamespace(SerializeToString=lambda: b'')\n"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path), "TMPDIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", model + converts().REPRO], env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == status, ended.stderr
