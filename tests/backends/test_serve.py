"""The main of an adapter process: how it finds an adapter, and what it makes of anything a runtime may do."""

from __future__ import annotations

import io
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
import orphans
import pytest
from onnx.backend.base import Backend

import backends
from backends import onnx_backend, onnx_reference, protocol, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Write = Callable[[str, str], None]

HERE = Path(backends.__file__).parent
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
    stream, found = io.BytesIO(data), []
    while (message := protocol.read(stream)) is not None:
        found.append(message)
    return found


def answered(run: Callable[..., Any], x: Any = None, opt_outs: object = ()) -> tuple[dict[str, Any], list[Any]]:
    """Return the header of one answer and the values in it."""
    asked = messages(request(7, x))[0]
    [(header, payload)] = messages(serve.answer(SimpleNamespace(run=run, OPT_OUTS=opt_outs), *asked))
    assert header["id"] == 7, header
    reader = protocol.Payload(payload)
    values = [reader.decode(item) for item in header.get("outputs", [])]
    reader.end()
    return header, values


def raising(error: BaseException) -> Callable[..., Any]:
    def run(*_: object) -> Any:
        raise error

    return run


def converse(cwd: Path, name: str, *asked: bytes, script: Path = HERE / "serve.py") -> Any:
    """Return a finished adapter process, its output taken apart."""
    done = subprocess.run(
        [sys.executable, str(script), name],
        cwd=cwd,
        input=b"".join(asked),
        capture_output=True,
        timeout=60,
        check=False,
    )
    printed = done.stderr.decode()
    try:
        said = messages(done.stdout)
    except protocol.ProtocolError as error:
        pytest.fail(f"{error}: {done.stdout!r}, {printed}")
    return SimpleNamespace(status=done.returncode, headers=[header for header, _ in said], said=said, stderr=printed)


# Finding the adapter


def test_a_name_is_a_module_of_backends() -> None:
    assert serve.load("onnx_reference") is onnx_reference


def test_a_dotted_path_is_any_module_with_info_and_run(written: Write) -> None:
    written("elsewhere/__init__.py", "")
    written("elsewhere/adapter.py", "def info(): return {}\ndef run(model, inputs, outputs): return []\n")
    found = serve.load("elsewhere.adapter")
    assert isinstance(found, ModuleType), found
    assert found.__name__ == "elsewhere.adapter", found


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


def test_a_module_of_the_machinery_lends_no_opt_outs() -> None:
    # backends/protocol.py is no adapter of a runtime called protocol.
    assert onnx_backend.Adapter(Backend, "protocol.backend").OPT_OUTS == onnx_backend.Adapter.OPT_OUTS


@pytest.mark.parametrize(
    ("files", "name", "says"),
    [
        ({}, "nope", r"cannot import backends\.nope: backends has no nope"),
        ({}, "nope.at.all", r"cannot import nope\.at\.all: No module named 'nope'; is it installed in"),
        ({}, "json.decoder.Nothing", r"cannot import json\.decoder\.Nothing: json\.decoder has no Nothing"),
        ({}, "json.Nothing.at.all", r"cannot import json\.Nothing\.at\.all: json has no Nothing"),
        ({}, "json.decoder", r"json\.decoder is no adapter: it has neither info\(\) and run\(\), nor prepare\(\)"),
        ({}, "protocol", r"protocol is no adapter"),
        ({}, "", r"cannot import backends\."),
        ({"b/needs.py": "import not_there"}, "b.needs", r"cannot import b\.needs: No module named 'not_there'"),
        ({"b/exits.py": "raise SystemExit(5)"}, "b.exits", r"cannot import b\.exits: SystemExit: 5"),
        ({"b/typo.py": "def"}, "b.typo", r"cannot import b\.typo: SyntaxError: "),
        ({"b/half.py": "def info(): return {}"}, "b.half", r"b\.half is no adapter"),
        ({"b/no_call.py": "info = run = 1"}, "b.no_call", r"b\.no_call is no adapter"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_what_cannot_be_loaded_says_why(written: Write, files: dict[str, str], name: str, says: str) -> None:
    for path, text in files.items():
        written(path, text)
    with pytest.raises(serve.LoadError, match=says):
        serve.load(name)


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
def test_what_the_runtime_raises_is_refused(error: BaseException) -> None:
    header, values = answered(raising(error), opt_outs=ROWS)
    said = {key: header.get(key) for key in ("kind", "error", "message", "reason", "payload")}
    expected = {"kind": "refused", "error": type(error).__name__, "message": "why", "reason": None, "payload": 0}
    assert said == expected, header
    assert values == [], values
    assert header["seconds"] >= 0, header


@pytest.mark.parametrize("opt_outs", [(), [("HostileError", r"", "even so")]], ids=["refused", "unsupported"])
def test_an_error_whose_message_raises_is_told(opt_outs: object) -> None:
    header, _ = answered(raising(HostileError()), opt_outs=opt_outs)
    assert header["kind"] == ("unsupported" if opt_outs else "refused"), header
    assert (header["error"], header["message"]) == ("HostileError", "(its message cannot be read: SystemExit)"), header


def test_an_opt_out_is_unsupported_and_says_why() -> None:
    header, _ = answered(raising(ValueError("no kernel for Sin")), opt_outs=ROWS)
    assert (header["kind"], header["reason"], header["error"]) == ("unsupported", "no kernel", "ValueError"), header


def test_an_endless_message_is_cut() -> None:
    header, _ = answered(raising(ValueError("x" * 10**6)))
    assert len(header["message"]) == 20_000, len(header["message"])


@pytest.mark.parametrize("given", [[np.zeros(2, "datetime64[s]")], [1.5], 7, None], ids=repr)
def test_what_is_no_list_of_values_is_the_adapters_fault(given: object) -> None:
    header, _ = answered(lambda *_: given)
    assert header["kind"] == "fault", header
    assert header["message"].startswith("run() gave what is no list of values"), header


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
def test_what_a_case_used_is_gone_before_its_answer_is_written(
    monkeypatch: pytest.MonkeyPatch,
    fails: bool,  # noqa: FBT001 - pytest passes it by name
) -> None:
    seen: list[weakref.ref[Any]] = []
    written: list[tuple[str, int]] = []

    def run(_model: bytes, inputs: dict[str, Any], _outputs: list[str]) -> list[Any]:
        seen.append(weakref.ref(inputs["x"]))
        if fails:
            raise ValueError("no")
        return []

    def write(data: bytes) -> None:
        alive = sum(reference() is not None for reference in seen)
        written.append((messages(data)[0][0]["kind"], alive))

    monkeypatch.setattr(serve, "load", lambda _: SimpleNamespace(info=dict, run=run))
    asked = io.BytesIO(request(1, np.zeros(3)) + request(2, np.zeros(3)))
    assert serve.serve(asked, write, "fake") == 0
    kind = "refused" if fails else "answer"
    assert written == [("hello", 0), (kind, 0), (kind, 0)], f"inputs alive when it was written: {written}"
    assert len(seen) == 2, seen


@pytest.mark.parametrize(
    ("adapter", "says"),
    [
        (SimpleNamespace(info=raising(OSError("no device")), run=None), "mine: OSError: no device"),
        (SimpleNamespace(info=raising(HostileError()), run=None), "mine: HostileError: (its message cannot be read"),
        (SimpleNamespace(info=raising(SystemExit(3)), run=None), "mine: SystemExit: 3"),
    ],
    ids=["error", "hostile", "exit"],
)
def test_an_adapter_that_cannot_say_who_it_is_fails(
    monkeypatch: pytest.MonkeyPatch, adapter: object, says: str
) -> None:
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
    asked = [request(index, np.array(what), model) for index, what in enumerate(manners)]
    done = converse(tmp_path, "rude.adapter", *asked)
    kinds = [header["kind"] for header in done.headers]
    assert kinds == ["hello", *["answer"] * 4, "refused", "refused", "answer"], (done.headers, done.stderr)
    assert [header["id"] for header in done.headers[1:]] == list(range(7)), done.headers
    assert [header["error"] for header in done.headers[5:7]] == ["SystemExit", "Hostile"], done.headers
    assert done.headers[5]["message"] == "it left", done.headers
    assert done.headers[7]["outputs"][0]["strings"] == ["last"], done.headers
    for said in ("printed at import", "printed by info", "written past Python", "said by a child"):
        assert said in done.stderr, f"{said!r} is lost: {done.stderr!r}"
    assert done.status == 0, done.stderr


def test_hello_says_what_speaks(tmp_path: Path) -> None:
    done = converse(tmp_path, "onnx_reference", request(1, np.array([1, -2], np.float32), NEG.SerializeToString()))
    hello, answer = done.headers
    said = {key: hello[key] for key in ("kind", "protocol", "name", "runtime", "version")}
    assert said == {
        "kind": "hello",
        "protocol": protocol.VERSION,
        "name": "onnx_reference",
        "runtime": "onnx.reference",
        "version": onnx.__version__,
    }, hello
    assert answer["outputs"] == [{"kind": "tensor", "type": 1, "shape": [2]}], answer
    assert done.said[1][1] == np.array([-1, 2], "<f4").tobytes(), done.said
    assert (done.status, done.stderr) == (0, ""), (done.status, done.stderr)


def test_what_cannot_be_loaded_is_said_over_the_wire(tmp_path: Path) -> None:
    done = converse(tmp_path, "nope")
    assert [header["kind"] for header in done.headers] == ["failed"], done.headers
    assert "cannot import backends.nope" in done.headers[0]["message"], done.headers
    assert done.status == 3, done.stderr


@pytest.mark.parametrize("folder", ["empty", "backends", "above"])
def test_backends_onnxruntime_does_not_hide_onnxruntime(tmp_path: Path, folder: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="it is what could be hidden")
    done = converse({"empty": tmp_path, "backends": HERE, "above": HERE.parent}[folder], "onnxruntime")
    assert [header["kind"] for header in done.headers] == ["hello"], (done.headers, done.stderr)
    assert done.headers[0]["version"] == onnxruntime.__version__, done.headers


def test_a_file_of_backends_does_not_hide_any_package(tmp_path: Path) -> None:
    # The same where no runtime is installed: a copy of the package with a file named like a standard module.
    copy = shutil.copytree(HERE, tmp_path / "backends", ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "wave.py").write_text(
        "import wave\ndef info(): return {'runtime': wave.__file__}\ndef run(*_): return [wave.open]\n"
    )
    for cwd in (tmp_path, copy):
        done = converse(cwd, "wave", script=copy / "serve.py")
        assert [header["kind"] for header in done.headers] == ["hello"], (cwd, done.headers, done.stderr)
        assert not done.headers[0]["runtime"].startswith(str(tmp_path)), (cwd, done.headers)


def test_the_package_is_the_one_that_serve_lies_in(tmp_path: Path) -> None:
    copy = shutil.copytree(HERE, tmp_path / "backends", ignore=shutil.ignore_patterns("__pycache__"))
    where = tmp_path / "where"
    where.mkdir()
    (where / "adapter.py").write_text(
        "import backends\nfrom backends import protocol\n"
        "def info(): return {'runtime': f'{backends.__file__} {protocol.__file__}'}\ndef run(*_): return []\n"
    )
    done = converse(tmp_path, "where.adapter", script=copy / "serve.py")
    assert done.headers[0]["runtime"] == f"{copy}/__init__.py {copy}/protocol.py", (done.headers, done.stderr)


def test_the_folder_it_is_started_in_can_be_imported_from(tmp_path: Path) -> None:
    (tmp_path / "here.py").write_text("class adapter:\n    info = dict\n    run = print\n")
    done = converse(tmp_path, "here.adapter")
    assert [header["kind"] for header in done.headers] == ["hello"], (done.headers, done.stderr)


@pytest.mark.parametrize("words", [[], ["one", "two"]], ids=str)
def test_without_one_name_it_says_how_it_is_called(tmp_path: Path, words: list[str]) -> None:
    command = [sys.executable, str(HERE / "serve.py"), *words]
    done = subprocess.run(command, cwd=tmp_path, input=b"", capture_output=True, timeout=60, check=False)
    assert done.stdout == b"", done.stdout
    assert f"serve.py NAME; got {words}" in done.stderr.decode(), done.stderr
    assert done.returncode == 1, done.returncode


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
