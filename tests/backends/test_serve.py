# SPDX-License-Identifier: Apache-2.0
"""The main of an adapter process: how it loads an adapter, and how it handles anything that a runtime may do."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import textwrap
import time
import weakref
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx.backend.base import Backend

import orphans
from onnx_conformance import backends
from onnx_conformance.backends import onnx_backend, onnx_reference, protocol, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Write = Callable[[str, str], None]

HERE = Path(backends.__file__).parent
NAMED = {"runtime": "mine", "version": "1"}
NEG = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 13]> g (float[2] x) => (float[2] y) { y = Neg(x) }')


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Return what writes a module that can be imported, until the test ends."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def write(path: str, text: str) -> None:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))

    yield write
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def request(id_: int = 1, x: Any = None, model: bytes = b"") -> bytes:
    buffers = [model]
    inputs = [] if x is None else [{"name": "x", "value": protocol.encode(x, buffers)}]
    header = {"kind": "run", "id": id_, "model": len(model), "inputs": inputs, "outputs": ["y"]}
    return protocol.message(header, buffers)


def messages(data: bytes) -> list[tuple[dict[str, Any], bytes]]:
    stream, parsed = io.BytesIO(data), []
    while (message := protocol.read(stream)) is not None:
        parsed.append(message)
    return parsed


def answered(run: Callable[..., Any], x: Any = None, opt_outs: object = ()) -> tuple[dict[str, Any], list[Any]]:
    """Return the header of one answer and the values in it."""
    question = messages(request(7, x))[0]
    [(header, payload)] = messages(serve.answer(SimpleNamespace(run=run, OPT_OUTS=opt_outs), *question))
    assert header["id"] == 7, header
    reader = protocol.Payload(payload)
    values = [reader.decode(item) for item in header.get("outputs", [])]
    reader.end()
    return header, values


def raising(error: BaseException) -> Callable[..., Any]:
    def run(*_: object) -> Any:
        raise error

    return run


def converse(cwd: Path, name: str, *requests: bytes, script: Path = HERE / "serve.py") -> Any:
    """Return a finished adapter process, its output taken apart."""
    done = subprocess.run(
        [sys.executable, str(script), name],
        cwd=cwd,
        input=b"".join(requests),
        capture_output=True,
        timeout=60,
        check=False,
    )
    printed = done.stderr.decode()
    try:
        replies = messages(done.stdout)
    except protocol.ProtocolError as error:
        pytest.fail(f"{error}: {done.stdout!r}, {printed}")
    return SimpleNamespace(
        status=done.returncode, headers=[header for header, _ in replies], replies=replies, stderr=printed
    )


# Finding the adapter


def test_a_name_is_a_module_of_backends() -> None:
    assert serve.load("onnx_reference") is onnx_reference


def test_a_dotted_path_is_any_module_with_info_and_run(written: Write) -> None:
    written("elsewhere/__init__.py", "")
    written("elsewhere/adapter.py", "def info(): return {}\ndef run(model, inputs, outputs): return []\n")
    module = serve.load("elsewhere.adapter")
    assert isinstance(module, ModuleType), module
    assert module.__name__ == "elsewhere.adapter", module


BACKEND = """
    import numpy as np
    from onnx.backend.base import Backend, BackendRep

    __version__ = "4.2"

    class Rep(BackendRep):
        def run(self, inputs, **kwargs):
            return (-inputs[0],)

    class Negating(Backend):
        @classmethod
        def prepare(cls, model, device="CPU", **kwargs):
            return Rep()

        @classmethod
        def supports_device(cls, device):
            return True

    class Holder:
        class inner:
            prepare = Negating.prepare

    prepare = Negating.prepare
"""


@pytest.mark.parametrize(
    ("path", "repro"),
    [
        ("runtime.backend.Negating", 'import_module("runtime.backend").Negating\n'),
        ("runtime.backend", 'import_module("runtime.backend")\n'),
        ("runtime.backend.Holder.inner", 'import_module("runtime.backend").Holder.inner\n'),
    ],
)
def test_a_dotted_path_is_anything_with_prepare(written: Write, path: str, repro: str) -> None:
    written("runtime/__init__.py", '__version__ = "4.2"')
    written("runtime/backend.py", BACKEND)
    adapter = serve.load(path)
    assert isinstance(adapter, onnx_backend.Adapter), adapter
    info = adapter.info()
    assert (info["runtime"], info["version"]) == (path, "4.2"), info
    assert repro in info["repro"], info["repro"]
    [y] = adapter.run(NEG.SerializeToString(), {"x": np.array([1, -2], np.float32)}, ["y"])
    assert y.tolist() == [-1, 2], y
    names = {"model": NEG, "inputs": {"x": np.array([3, 4], np.float32)}}
    exec(info["repro"], names)  # What `repro` writes must run.
    assert np.array_equal(names["outputs"], [[-3, -4]]), names["outputs"]


def test_a_module_of_backends_that_is_no_adapter_adds_no_opt_outs() -> None:
    # backends/protocol.py is no adapter of a runtime called protocol.
    assert onnx_backend.Adapter(Backend, "protocol.backend").OPT_OUTS == onnx_backend.Adapter.OPT_OUTS


@pytest.mark.parametrize(
    ("files", "name", "says"),
    [
        ({}, "nope", r"cannot import nope: No module named 'nope'; is it installed in"),
        ({}, "nope.at.all", r"cannot import nope\.at\.all: No module named 'nope'; is it installed in"),
        ({}, "json.decoder.Nothing", r"cannot import json\.decoder\.Nothing: json\.decoder has no Nothing"),
        ({}, "json.Nothing.at.all", r"cannot import json\.Nothing\.at\.all: json has no Nothing"),
        ({}, "json.decoder", r"json\.decoder is not an adapter: it has neither info\(\) and run\(\) nor prepare\(\)"),
        ({}, "protocol", r"protocol is not an adapter"),
        ({}, "", r"cannot import onnx_conformance\.backends\."),
        ({"b/needs.py": "import not_there"}, "b.needs", r"cannot import b\.needs: No module named 'not_there'"),
        ({"b/exits.py": "raise SystemExit(5)"}, "b.exits", r"cannot import b\.exits: SystemExit: 5"),
        ({"b/typo.py": "def"}, "b.typo", r"cannot import b\.typo: SyntaxError: "),
        (
            {"b/half.py": "def info(): return {}"},
            "b.half",
            r"b\.half is not an adapter: it has info\(\) but no run\(model, inp",
        ),
        (
            {"b/other.py": "def run(m, i, o): return []"},
            "b.other",
            r"b\.other is not an .*: it has run\(\) but no info\(\)",
        ),
        ({"b/no_call.py": "info = run = 1"}, "b.no_call", r"b\.no_call is not an adapter"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_an_adapter_that_cannot_be_loaded_reports_why(
    written: Write, files: dict[str, str], name: str, says: str
) -> None:
    for path, text in files.items():
        written(path, text)
    with pytest.raises(serve.LoadError, match=says):
        serve.load(name)


# A file of one's own

OWN = """
    import beside

    def info():
        return {"runtime": beside.NAME, "version": "1"}

    def run(model, inputs, outputs):
        return [-inputs["x"]]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["./mine.py", "mine.py", "folder/mine.py", "{}/mine.py", "../{0.name}/mine.py", "./bare"]
)
def test_a_file_is_an_adapter_wherever_it_lies(tmp_path: Path, name: str) -> None:
    folder = tmp_path / Path(name).parent if name.startswith("folder") else tmp_path
    folder.mkdir(exist_ok=True)
    (folder / Path(name).name).write_text(textwrap.dedent(OWN))
    (folder / "beside.py").write_text("NAME = 'of beside'")
    done = converse(tmp_path, name.format(tmp_path), request(1, np.array([1, -2], np.float32), NEG.SerializeToString()))
    hello, answer = done.headers
    assert (hello["kind"], hello["runtime"], answer["kind"]) == ("hello", "of beside", "answer"), (hello, done.stderr)
    assert done.replies[1][1] == np.array([-1, 2], "<f4").tobytes(), done.replies


def test_a_file_may_be_named_as_the_runtime_that_it_imports(tmp_path: Path) -> None:
    """Even where it is started in its own folder, which else comes first of those that are imported from."""
    pytest.importorskip("onnxruntime", reason="it is what could be hidden")
    (tmp_path / "onnxruntime.py").write_text(
        "import onnxruntime\ndef info(): return {'runtime': __name__, 'version': onnxruntime.__version__}\n"
        "def run(*_): return []\n"
    )
    done = converse(tmp_path, "./onnxruntime.py")
    assert [header["kind"] for header in done.headers] == ["hello"], (done.headers, done.stderr)


def shown_by(hello: dict[str, Any], cwd: Path, x: np.ndarray[Any, Any]) -> str:
    """Return what the lines that an adapter gives for `repro` leave in `outputs`."""
    lines = (
        "import numpy as np\nimport onnx\n"
        f"model = onnx.load_from_string({NEG.SerializeToString()!r})\n"
        f"inputs = {{'x': np.array({x.tolist()}, '{x.dtype}')}}\n"
        f"{hello['repro']}\nprint(outputs)"
    )
    words = [sys.executable, "-c", lines]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("own", ["", "REPRO = 'outputs = \"its own\"'\n"], ids=["without", "with REPRO"])
def test_a_repro_calls_an_adapter_file(tmp_path: Path, own: str) -> None:
    (tmp_path / "mine.py").write_text(textwrap.dedent(OWN) + own)
    (tmp_path / "beside.py").write_text("NAME = 'of beside'")
    (hello,) = converse(tmp_path, "./mine.py").headers
    x = np.array([3, 4], np.float32)
    assert shown_by(hello, tmp_path, x) == ("its own" if own else str([-x])), hello


@pytest.mark.slow
def test_a_repro_calls_an_adapter_module(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(textwrap.dedent(OWN))
    (tmp_path / "beside.py").write_text("NAME = 'of beside'")
    (hello,) = converse(tmp_path, "mine").headers
    x = np.array([3, 4], np.float32)
    assert shown_by(hello, tmp_path, x) == str([-x]), hello


@pytest.mark.slow
def test_a_file_that_has_prepare_follows_the_interface_of_onnx(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(textwrap.dedent(BACKEND))
    x = np.array([1, -2], np.float32)
    hello, answer = converse(tmp_path, "./mine.py", request(1, x, NEG.SerializeToString())).headers
    assert (hello["runtime"], hello["version"], answer["kind"]) == ("mine", "4.2", "answer"), (hello, answer)
    assert shown_by(hello, tmp_path, x) == str([-x]), hello


RUNS = "def run(model, inputs, outputs): return []\n"
NAMES_ITSELF = "def info(): return {'runtime': 'mine', 'version': '1'}\n"
BAD_FILES = {
    "no run": (NAMES_ITSELF, "is not an adapter: it has info() but no run(model, inputs, outputs)"),
    "no info": (RUNS, "is not an adapter: it has run() but no info()"),
    "neither": ("", "is not an adapter: it has neither info() and run() nor prepare()"),
    "a class": ("class Toy:\n    prepare = print\n", "its class Toy has prepare(): write bad_file.Toy"),
    "run of one": (NAMES_ITSELF + "def run(model): pass", "run(model) cannot be called as run(model, inputs, outputs)"),
    "info of one": (RUNS + "def info(self): pass", "info(self) cannot be called without arguments"),
    "info raises": (RUNS + "def info(): raise ValueError('no device')", "info() raised ValueError: no device"),
    "a list": (RUNS + "def info(): return ['mine', '1']", "info() returned list ['mine', '1']; expected a dict"),
    "nothing": (RUNS + "def info(): pass", "info() returned NoneType None; expected a dict"),
    "no runtime": (RUNS + "def info(): return {'version': '1'}", "info() does not contain runtime; expected a dict"),
    "no version": (RUNS + "def info(): return {'runtime': 'm'}", "info() does not contain version; expected a dict"),
    "a number": (
        RUNS + "def info(): return {'runtime': 'm', 'version': 1.2}", "info() contains version = float 1.2; expected"
    ),
    "a set": (
        RUNS + "def info(): return {'runtime': 'm', 'version': '1', 'types': {'float'}}",
        "info() contains types = set {'float'}, which JSON cannot represent",
    ),
    "a key": (RUNS + "def info(): return {'runtime': 'm', 'version': '1', 2: 3}", "info() has the key int 2; expected"),
    "syntax": ("def", "cannot import ./bad_file.py: SyntaxError: invalid syntax (bad_file.py, line 1)"),
    "raises": ("\n\nraise KeyError('why')", "cannot import ./bad_file.py: KeyError: 'why' (line 3)"),
    "needs": ("import not_there_at_all", "No module named 'not_there_at_all' (line 1); is it installed in"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("text", "says"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_file_that_is_no_adapter_gets_a_message_how_to_write_one(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "bad_file.py").write_text(text)
    done = converse(tmp_path, "./bad_file.py")
    (header,) = done.headers
    assert header["kind"] == "failed", header
    assert "./bad_file.py" in header["message"], header
    assert says in header["message"], header
    assert "Traceback" not in done.stderr, done.stderr


def test_a_wrong_member_of_an_adapter_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad_file.py").write_text(NAMES_ITSELF + "def run(model, inputs, outputs): return {'y': 1}")
    _, fault = converse(tmp_path, "./bad_file.py", request()).headers
    assert fault["message"].startswith(
        "./bad_file.py: run() did not return a list of values: dict; expected a value"
    ), fault


def test_a_program_named_as_a_file_gets_a_hint_to_use_cmd(tmp_path: Path) -> None:
    (tmp_path / "runner").write_bytes(b"\x7fELF\x00\xff")
    (header,) = converse(tmp_path, "./runner").headers
    assert "a program that speaks the wire format is named cmd:./runner" in header["message"], header


def test_info_cannot_imitate_another_message(tmp_path: Path) -> None:
    (tmp_path / "bad_file.py").write_text(RUNS + "def info(): return {**" + repr({**NAMED, "kind": "answer"}) + "}")
    assert [header["kind"] for header in converse(tmp_path, "./bad_file.py").headers] == ["hello"]


# Opting out

ROWS = (
    ("ValueError", r"no kernel for \w+", "no kernel"),
    ("OSError", r"", "any OSError"),
    ("ValueError", r"kernel", "too late: the first row counts"),
)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("there is no kernel for Sin"), "no kernel"),
        (UnicodeError("no kernel for Cos"), "no kernel"),  # a subclass of ValueError
        (ValueError("a kernel of bad shape"), "too late: the first row counts"),
        (FileNotFoundError(), "any OSError"),
        (ValueError("bad shape"), None),
        (TypeError("no kernel for Sin"), None),
        (SystemExit("no kernel for Sin"), None),
    ],
    ids=repr,
)
def test_the_first_row_that_fits_is_the_reason(error: BaseException, reason: str | None) -> None:
    assert serve.opt_out(ROWS, error) == reason, f"{error!r}: {serve.opt_out(ROWS, error)!r}"


@pytest.mark.parametrize("table", [(), None], ids=repr)
def test_without_rows_every_error_is_a_failure(table: object) -> None:
    assert serve.opt_out(table, ValueError("no kernel for Sin")) is None


# Answers


class HostileError(Exception):
    def __str__(self) -> str:
        raise SystemExit("not even this")


@pytest.mark.parametrize("error", [ValueError("why"), SystemExit("why"), KeyboardInterrupt("why")], ids=repr)
def test_exceptions_of_the_runtime_are_refusals(error: BaseException) -> None:
    header, values = answered(raising(error), opt_outs=ROWS)
    refusal = {key: header.get(key) for key in ("kind", "error", "message", "reason", "payload")}
    expected = {"kind": "refused", "error": type(error).__name__, "message": "why", "reason": None, "payload": 0}
    assert refusal == expected, header
    assert values == [], values
    assert header["seconds"] >= 0, header


@pytest.mark.parametrize(
    ("keyword", "reason"), [("left_window_size", "no such attribute"), ("a_max", None)], ids=["attribute", "mistake"]
)
def test_a_function_without_an_attribute_of_the_model_opts_out(keyword: str, reason: str | None) -> None:
    """Any other unexpected keyword argument is a mistake of the runtime."""
    model = b"...left_window_size..."

    def attention() -> None:
        """Attention of an older version."""

    def run(*_: object) -> Any:
        return attention(**{keyword: 1})  # type: ignore[call-arg]

    question = messages(request(7, model=model))[0]
    [(header, _)] = messages(serve.answer(SimpleNamespace(run=run), *question))
    assert header["kind"] == ("refused" if reason is None else "unsupported"), header
    assert header.get("reason") == reason


@pytest.mark.parametrize("opt_outs", [(), [("HostileError", r"", "even so")]], ids=["refused", "unsupported"])
def test_an_error_whose_message_raises_is_reported(opt_outs: object) -> None:
    header, _ = answered(raising(HostileError()), opt_outs=opt_outs)
    assert header["kind"] == ("unsupported" if opt_outs else "refused"), header
    assert (header["error"], header["message"]) == ("HostileError", "(its message cannot be read: SystemExit)"), header


def test_an_opt_out_is_unsupported_and_says_why() -> None:
    header, _ = answered(raising(ValueError("no kernel for Sin")), opt_outs=ROWS)
    assert (header["kind"], header["reason"], header["error"]) == ("unsupported", "no kernel", "ValueError"), header


def test_an_endless_message_is_cut() -> None:
    header, _ = answered(raising(ValueError("x" * 10**6)))
    assert len(header["message"]) == 20_000, len(header["message"])


@pytest.mark.parametrize("outputs", [[np.zeros(2, "datetime64[s]")], [1.5], 7, None], ids=repr)
def test_a_result_that_is_no_list_of_values_is_an_adapter_error(outputs: object) -> None:
    header, _ = answered(lambda *_: outputs)
    assert header["kind"] == "fault", header
    assert header["message"].startswith("run() did not return a list of values"), header


@pytest.mark.parametrize(
    ("gives", "says"),
    [
        (lambda: {"y": np.zeros(2)}, "dict; expected a value for each of y: [values[name] for name in outputs]"),
        (
            lambda: (item for item in [np.zeros(2)]),
            "generator; expected a value for each of y: [value], a list of them",
        ),
        (lambda: np.zeros(2), "ndarray; expected a value for each of y: [value], a list of them"),
        (lambda: [np.zeros(2), 1.5], "outputs[1]: float is no tensor (numpy array), sequence (list), map (dict) or"),
        (lambda: [np.zeros(2, "datetime64[s]")], "outputs[0] (y): "),
    ],
    ids=["dict", "generator", "array", "number", "type"],
)
def test_the_message_names_the_wrong_result_of_run_and_the_right_one(gives: Callable[[], Any], says: str) -> None:
    header, _ = answered(lambda *_: gives())
    assert header["kind"] == "fault", header
    assert says in header["message"], header


def test_an_output_that_is_too_large_to_send_is_refused_without_a_copy_of_it() -> None:
    """A wrong size of a runtime is a failure of the runtime, and not of its adapter."""
    large = np.broadcast_to(np.float32(0), (1 << 20, 1 << 20))
    header, _ = answered(lambda *_: [np.zeros(100), large])
    assert (header["kind"], header["error"], header["payload"]) == ("refused", "TooLargeError", 0), header
    assert "outputs[1] of shape [1048576, 1048576] has 4,398,046,511,104 bytes" in header["message"], header


@pytest.mark.parametrize("second", [1.5, np.zeros(1, "datetime64[s]")], ids=["no value", "no element type"])
def test_bytes_of_outputs_before_a_bad_one_are_not_sent(second: object) -> None:
    header, _ = answered(lambda *_: [np.zeros(100), second])
    assert header["kind"] == "fault", header
    assert header["payload"] == 0, header


@pytest.mark.parametrize(
    "x", [np.array([1, 2], np.float32), [np.array(["a"], object)], {3: np.array(1)}, None], ids=repr
)
def test_run_gets_values_and_its_own_are_sent(x: Any) -> None:
    got = []

    def run(model: bytes, inputs: dict[str, Any], outputs: list[str]) -> list[Any]:
        got.extend([model, inputs, outputs])
        return [inputs.get("x"), None]

    header, values = answered(run, x)
    assert header["kind"] == "answer", header
    assert (got[0], list(got[1]), got[2]) == (b"", [] if x is None else ["x"], ["y"]), got
    assert repr(values) == repr([x, None]), (values, x)


@pytest.mark.parametrize("fails", [False, True], ids=["answer", "refused"])
def test_the_values_of_a_case_are_freed_before_its_answer_is_written(
    monkeypatch: pytest.MonkeyPatch,
    fails: bool,  # noqa: FBT001 - pytest passes it by name
) -> None:
    references: list[weakref.ref[Any]] = []
    written: list[tuple[str, int]] = []

    def run(_model: bytes, inputs: dict[str, Any], _outputs: list[str]) -> list[Any]:
        references.append(weakref.ref(inputs["x"]))
        if fails:
            raise ValueError("no")
        return []

    def write(data: bytes) -> None:
        alive = sum(reference() is not None for reference in references)
        written.append((messages(data)[0][0]["kind"], alive))

    monkeypatch.setattr(serve, "load", lambda _: SimpleNamespace(info=lambda: NAMED, run=run))
    stream = io.BytesIO(request(1, np.zeros(3)) + request(2, np.zeros(3)))
    assert serve.serve(stream, write, "fake") == 0
    kind = "refused" if fails else "answer"
    assert written == [("hello", 0), (kind, 0), (kind, 0)], f"inputs alive when it was written: {written}"
    assert len(references) == 2, references


@pytest.mark.parametrize(
    ("adapter", "says"),
    [
        (SimpleNamespace(info=raising(OSError("no device")), run=None), "mine: info() raised OSError: no device"),
        (
            SimpleNamespace(info=raising(HostileError()), run=None),
            "mine: info() raised HostileError: (its message cannot be read",
        ),
        (SimpleNamespace(info=raising(SystemExit(3)), run=None), "mine: info() raised SystemExit: 3"),
    ],
    ids=["error", "hostile", "exit"],
)
def test_an_adapter_with_invalid_info_fails(monkeypatch: pytest.MonkeyPatch, adapter: object, says: str) -> None:
    sent: list[bytes] = []
    monkeypatch.setattr(serve, "load", lambda _: adapter)
    assert serve.serve(io.BytesIO(), sent.append, "mine") == 3
    [(header, _)] = messages(b"".join(sent))
    assert header["kind"] == "failed", header
    assert header["message"].startswith(says), header


# The process

RUDE = """
    import os, subprocess, sys
    print("printed at import")

    class Hostile(Exception):
        def __str__(self):
            raise SystemExit("no message")

    def info():
        print("printed by info")
        return {"runtime": "rude", "version": "1"}

    def run(model, inputs, outputs):
        what = str(inputs["x"])
        if what == "print":
            print('{"kind":"answer","id":1,"outputs":[],"payload":0}', flush=True)
        if what == "write":
            os.write(1, b"written past Python\\n")
        if what == "spawn":
            subprocess.run([sys.executable, "-c", "print('said by a child')"], check=True)
        if what == "read":
            assert sys.stdin.read() == "" and os.read(0, 9) == b""
        if what == "exit":
            sys.exit("it left")
        if what == "hostile":
            raise Hostile
        return [inputs["x"]]
"""


def test_a_rude_runtime_does_not_disturb_the_answers(tmp_path: Path) -> None:
    (tmp_path / "rude").mkdir()
    (tmp_path / "rude" / "adapter.py").write_text(textwrap.dedent(RUDE))
    manners = ["print", "write", "spawn", "read", "exit", "hostile", "last"]
    model = bytes(1 << 16)  # More than is read ahead: a runtime that reads would eat the requests behind.
    requests = [request(index, np.array(what), model) for index, what in enumerate(manners)]
    done = converse(tmp_path, "rude.adapter", *requests)
    kinds = [header["kind"] for header in done.headers]
    assert kinds == ["hello", *["answer"] * 4, "refused", "refused", "answer"], (done.headers, done.stderr)
    assert [header["id"] for header in done.headers[1:]] == list(range(7)), done.headers
    assert [header["error"] for header in done.headers[5:7]] == ["SystemExit", "Hostile"], done.headers
    assert done.headers[5]["message"] == "it left", done.headers
    assert done.headers[7]["outputs"][0]["strings"] == ["last"], done.headers
    for words in ("printed at import", "printed by info", "written past Python", "said by a child"):
        assert words in done.stderr, f"{words!r} is lost: {done.stderr!r}"
    assert done.status == 0, done.stderr


@pytest.mark.slow
def test_hello_names_runtime_and_version(tmp_path: Path) -> None:
    done = converse(tmp_path, "onnx_reference", request(1, np.array([1, -2], np.float32), NEG.SerializeToString()))
    hello, answer = done.headers
    fields = {key: hello[key] for key in ("kind", "protocol", "name", "runtime", "version")}
    assert fields == {
        "kind": "hello",
        "protocol": protocol.VERSION,
        "name": "onnx_reference",
        "runtime": "onnx.reference",
        "version": onnx.__version__,
    }, hello
    assert answer["outputs"] == [{"kind": "tensor", "type": 1, "shape": [2]}], answer
    assert done.replies[1][1] == np.array([-1, 2], "<f4").tobytes(), done.replies
    assert (done.status, done.stderr) == (0, ""), (done.status, done.stderr)


def test_a_failed_load_is_reported_over_the_wire(tmp_path: Path) -> None:
    done = converse(tmp_path, "nope")
    assert [header["kind"] for header in done.headers] == ["failed"], done.headers
    assert "cannot import nope" in done.headers[0]["message"], done.headers
    assert done.status == 3, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["empty", "backends", "above"])
def test_backends_onnxruntime_does_not_hide_onnxruntime(tmp_path: Path, folder: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="it is what could be hidden")
    done = converse({"empty": tmp_path, "backends": HERE, "above": HERE.parent}[folder], "onnxruntime")
    assert [header["kind"] for header in done.headers] == ["hello"], (done.headers, done.stderr)
    assert done.headers[0]["version"] == onnxruntime.__version__, done.headers


@pytest.mark.slow
def test_a_file_of_backends_does_not_hide_any_package(tmp_path: Path) -> None:
    # The same where no runtime is installed: a copy of the package with a file named like a standard module.
    copy = shutil.copytree(HERE, tmp_path / "backends", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "wave.py").write_text(
        "import wave\ndef info(): return {'runtime': wave.__file__, 'version': ''}\ndef run(*_): return [wave.open]\n"
    )
    for cwd in (tmp_path, copy):
        done = converse(cwd, "wave", script=copy / "serve.py")
        assert [header["kind"] for header in done.headers] == ["hello"], (cwd, done.headers, done.stderr)
        assert not done.headers[0]["runtime"].startswith(str(tmp_path)), (cwd, done.headers)


@pytest.mark.slow
def test_the_package_is_the_one_that_serve_lies_in(tmp_path: Path) -> None:
    copy = shutil.copytree(HERE, tmp_path / "backends", ignore=shutil.ignore_patterns("__pycache__"))
    where = tmp_path / "where"
    where.mkdir()
    (where / "adapter.py").write_text(
        "import backends\nfrom backends import protocol\n"
        "def info(): return {'runtime': f'{backends.__file__} {protocol.__file__}', 'version': ''}\n"
        "def run(*_): return []\n"
    )
    done = converse(tmp_path, "where.adapter", script=copy / "serve.py")
    assert done.headers[0]["runtime"] == f"{copy}/__init__.py {copy}/protocol.py", (done.headers, done.stderr)


@pytest.mark.slow
def test_the_folder_it_is_started_in_can_be_imported_from(tmp_path: Path) -> None:
    (tmp_path / "here.py").write_text(
        "class adapter:\n    run = print\n    def info(): return {'runtime': 'here', 'version': ''}\n"
    )
    done = converse(tmp_path, "here.adapter")
    assert [header["kind"] for header in done.headers] == ["hello"], (done.headers, done.stderr)


@pytest.mark.slow
@pytest.mark.parametrize("words", [[], ["one", "two"], ["one", "--fork", "x"]], ids=str)
def test_without_one_name_it_prints_its_usage(tmp_path: Path, words: list[str]) -> None:
    command = [sys.executable, str(HERE / "serve.py"), *words]
    done = subprocess.run(command, cwd=tmp_path, input=b"", capture_output=True, timeout=60, check=False)
    assert done.stdout == b"", done.stdout
    assert f"serve.py NAME [--fork DESCRIPTOR]; got {words}" in done.stderr.decode(), done.stderr
    assert done.returncode == 1, done.returncode


@pytest.mark.slow
def test_a_request_cut_short_ends_the_process_with_a_sentence(tmp_path: Path) -> None:
    done = converse(tmp_path, "onnx_reference", request(1, np.zeros(4))[:-3])
    assert [header["kind"] for header in done.headers] == ["hello"], done.headers
    assert "the stream ended after 29 of 32 bytes" in done.stderr, done.stderr
    assert done.status == 1, done.status


HANGING = """
def info():
    return {"runtime": "hangs", "version": "1"}

def run(model, inputs, outputs):
    open("hangs", "w").close()
    while True:
        pass
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with the one that started it")
def test_a_runtime_that_hangs_does_not_outlive_a_harness_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "hanging.py").write_text(HANGING)
    words = orphans.harness([sys.executable, serve.__file__ or "", "mine.hanging"])
    with subprocess.Popen(words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as harness:
        assert harness.stdin
        assert harness.stdout
        harness.stdin.write(request())
        harness.stdin.close()
        pid = int(harness.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        ended = time.monotonic() + 20
        while time.monotonic() < ended and not (tmp_path / "hangs").exists():
            time.sleep(0.05)
        assert (tmp_path / "hangs").exists()
        harness.kill()
        harness.wait()
        while time.monotonic() < ended and orphans.runs(pid):
            time.sleep(0.05)
        assert not orphans.runs(pid)


class _Loads:
    """Loads a model and runs it apart, and fails in one of the two."""

    def __init__(self, phase: str) -> None:
        self.phase = phase

    def session(self, _model: bytes) -> Any:
        def fail(*_: object) -> None:
            raise ValueError(self.phase)

        return fail() if self.phase == "load" else fail


@pytest.mark.parametrize("phase", ["load", "run"])
def test_an_adapter_with_a_session_says_in_which_phase_it_refused(phase: str) -> None:
    adapter = _Loads(phase)
    adapter.run = None  # type: ignore[attr-defined]
    said = serve.answer(adapter, {"id": 1, "model": 0, "inputs": [], "outputs": []}, b"")
    assert json.loads(said.split(b"\n")[0])["phase"] == phase
