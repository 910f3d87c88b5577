# SPDX-License-Identifier: Apache-2.0
"""emx-onnx-cgen's adapter: a compiled program that dies, and answers that are onnx.reference's."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import jinja2
import numpy as np
import onnx.reference
import pytest
from onnx import parser

from onnx_conformance.backends import serve
from runtime_fakes import loaded

if TYPE_CHECKING:
    from collections.abc import Callable

MODEL = parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 18]> g (float[2] a, float[2] b) => (float[2] y, float[2] z)'
    " { y = Sub(a, b)  z = Sub(b, a) }"
)
INPUTS = {"b": np.ones(2, np.float32), "a": np.zeros(2, np.float32)}


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function that loads the adapter with a backend that has this run_model()."""

    def with_(run_model: Any) -> Any:
        monkeypatch.setattr(onnx.reference, "ReferenceEvaluator", onnx.reference.ReferenceEvaluator)
        backend = SimpleNamespace(run_model=run_model)
        modules: dict[str, dict[str, Any]] = {
            "emx_onnx_cgen": {},
            "emx_onnx_cgen.codegen": {},
            "emx_onnx_cgen.codegen.c_emitter": {"Environment": jinja2.Environment},
            "emx_onnx_cgen.dtypes": {"ONNX_TO_SCALAR_TYPE": {1: "float"}},
            "emx_onnx_cgen.onnx_backend": {"backend": backend},
        }
        monkeypatch.setenv("CC", sys.executable)
        return loaded(monkeypatch, "emx_onnx_cgen", modules)

    return with_


@pytest.fixture
def adapter(load: Callable[..., Any]) -> Any:
    return load(lambda _, arrays: [arrays[0] - arrays[1], arrays[1] - arrays[0]])


def test_inputs_go_in_the_graphs_order_and_outputs_by_name(adapter: Any) -> None:
    z, y = adapter.run(MODEL.SerializeToString(), INPUTS, ["z", "y"])
    assert (y.tolist(), z.tolist()) == ([-1, -1], [1, 1])


def test_maps_opt_out(adapter: Any) -> None:
    with pytest.raises(adapter.NoTypeError):
        adapter.run(MODEL.SerializeToString(), {"a": {1: np.zeros(1)}}, ["y"])


def test_an_answer_made_with_the_reference_opts_out(load: Callable[..., Any]) -> None:
    def run_model(proto: Any, arrays: list[Any]) -> Any:
        return onnx.reference.ReferenceEvaluator(proto).run(None, dict(zip("ab", arrays, strict=True)))

    adapter = load(run_model)
    with pytest.raises(adapter.BorrowedError) as error:
        adapter.run(MODEL.SerializeToString(), INPUTS, ["y"])
    assert serve.opt_out(adapter.OPT_OUTS, error.value) == "takes it from onnx.reference"


def test_an_error_after_a_call_of_the_reference_is_no_opt_out(load: Callable[..., Any]) -> None:
    def run_model(proto: Any, arrays: list[Any]) -> Any:  # noqa: ARG001
        onnx.reference.ReferenceEvaluator(proto)
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        load(run_model).run(MODEL.SerializeToString(), INPUTS, ["y"])


def test_a_program_that_dies_takes_the_adapter_with_it(
    load: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    left = tmp_path / "left"

    def run_model(proto: Any, arrays: list[Any]) -> Any:  # noqa: ARG001
        left.touch()
        try:
            adapter.backend.subprocess.run([sys.executable, "-c", "import os; os.abort()"], check=False)
        except Exception:  # noqa: BLE001 - as a backend may that takes every error for its own
            pass
        finally:
            left.unlink()
        return []

    adapter = load(run_model)
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *arguments: killed.append(arguments))
    with pytest.raises(AssertionError):
        adapter.run(MODEL.SerializeToString(), INPUTS, ["y"])
    assert killed == [(os.getpid(), signal.SIGABRT)]
    assert not left.exists(), "what the backend removes is removed before"


def test_messages_of_the_compiler_name_no_temporary_folder(adapter: Any, tmp_path: Path) -> None:
    words = [sys.executable, "-c", "import sys; sys.exit(sys.argv[1] + ':1:1: error: x')", str(tmp_path / "model.c")]
    done = adapter.watched(words, capture_output=True, check=False, text=True)
    assert done.stderr == "model.c:1:1: error: x\n"


COMPILER = f"""#!{sys.executable}
import os, sys
if sys.argv[1:] == ["--version"]:
    sys.exit(print("fake 1.0"))
out, [source] = sys.argv[sys.argv.index("-o") + 1], [word for word in sys.argv if word.endswith(".c")]
open(os.path.join(os.path.dirname(__file__), "calls"), "a").write("x")
text = open(source).read()
if "wrong" in text:
    sys.exit(source + ":1:1: error: wrong")
open(out, "w").write(f"#!/bin/sh\\necho {{text}}")
os.chmod(out, 0o755)
"""


class Compiled:
    """A C compiler that counts, and what the backend would do with it."""

    def __init__(self, adapter: Any, folder: Path) -> None:
        self.adapter, self.folder = adapter, folder
        self.compiler = folder / "cc"
        self.compiler.write_text(COMPILER)
        self.compiler.chmod(0o755)

    def __call__(self, source: str, *more: str) -> str:
        """Compile in a folder of its own, run the program, and return its output."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            path = Path(folder, "model.c")
            path.write_text(source)
            program = path.with_suffix("")
            words = [str(self.compiler), "-O2", str(path), "-o", str(program), "-lm", *more]
            done = self.adapter.watched(words, capture_output=True, check=False, text=True)
            if done.returncode:
                return str(done.stderr)
            return str(self.adapter.watched([str(program)], capture_output=True, check=False, text=True).stdout)

    @property
    def calls(self) -> int:
        """Return how often the compiler made something, or tried to."""
        path = self.folder / "calls"
        return len(path.read_text()) if path.is_file() else 0


@pytest.fixture
def compiled(adapter: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compiled:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(metadata, "version", lambda _: "0.0")
    return Compiled(adapter, tmp_path)


def test_compiled_libraries_are_cached_by_source_and_options(compiled: Compiled) -> None:
    assert [compiled("one"), compiled("one"), compiled("two"), compiled("one", "-g")] == [
        "one\n",
        "one\n",
        "two\n",
        "one\n",
    ]
    assert compiled.calls == 3


def test_another_compiler_compiles_again(compiled: Compiled) -> None:
    compiled("one")
    compiled.compiler.write_text(COMPILER.replace("fake 1.0", "fake 1.1"))
    compiled.adapter._compiler_version.cache_clear()
    compiled("one")
    assert compiled.calls == 2


def test_an_error_of_the_compiler_is_not_kept(compiled: Compiled) -> None:
    assert compiled("wrong") == compiled("wrong") == "model.c:1:1: error: wrong\n"
    assert compiled.calls == 2


def test_libraries_linked_with_those_of_the_machine_are_not_cached(compiled: Compiled) -> None:
    compiled("one", "-lwebp")
    compiled("one", "-lwebp")
    assert compiled.calls == 2


def test_a_template_is_read_once_and_again_where_its_text_is_another(adapter: Any) -> None:
    texts = {"a": "{{ 1 + x }}"}
    read: list[str] = []

    class Environment(jinja2.Environment):
        def compile(self, source: Any, *more: Any, **options: Any) -> Any:
            read.append(source)
            return super().compile(source, *more, **options)

    templates = adapter.Templates()

    def render() -> str:
        environment = Environment(loader=jinja2.DictLoader(texts), bytecode_cache=templates, autoescape=True)
        return environment.get_template("a").render(x=1)

    assert [render(), render()] == ["2", "2"]
    texts["a"] = "{{ 2 + x }}"
    assert render() == "3"
    assert read == ["{{ 1 + x }}", "{{ 2 + x }}"]
    assert adapter.c_emitter.Environment().bytecode_cache is not None


def test_a_program_that_fails_is_left_to_the_backend(adapter: Any) -> None:
    done = adapter.watched([sys.executable, "-c", "import sys; sys.exit(3)"], check=False)
    assert done.returncode == 3


def test_a_missing_compiler_is_reported(adapter: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", "")
    with pytest.raises(adapter.NoCompilerError, match=r"cc.*gcc.*clang.*CC="):
        adapter.compiler()
    tmp_path.joinpath("gcc").touch(0o755)
    assert adapter.compiler() == str(tmp_path / "gcc")
    monkeypatch.setenv("CC", "icc -O0")
    with pytest.raises(adapter.NoCompilerError, match="icc"):
        adapter.compiler()
