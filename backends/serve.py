# SPDX-License-Identifier: Apache-2.0
"""Main module of an adapter process: `python serve.py NAME` answers requests on its standard input.

`python serve.py NAME --fork DESCRIPTOR` is a fork server instead; see fork_server.py.

NAME is a module of this package (`onnxruntime`), another module or a file with the same functions (`my_adapter`,
`./my_adapter.py`), or a dotted path to an object that has them or follows `onnx.backend.base.Backend`.

The answers go to the original standard output; everything that the runtime prints goes to standard error, so that it is
not read as an answer.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # It ends this process, instead of raising an exception during an import.
    import as_package

    # Python put this folder first on the path, where backends/onnxruntime.py would hide onnxruntime itself.
    del sys.path[0]
    as_package.register(__file__)

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import locale
import platform
import re
import socket
import tempfile
import time
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

from onnx_conformance.backends import child, fork_server, protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import ModuleType

PRODUCE, LIST = "produce", "list"
"""The function of a producer that exports a program, and the request for the names of its programs."""
QUANTIZE = "quantize"
SUBJECTS = {
    "transform": "transformer", "infer": "inferencer", "check": "checker", PRODUCE: "producer", QUANTIZE: "quantizer"
}  # fmt: skip
"""Functions of the adapters of tools, with the kind of the tool; see README.md. Most get only a model; a quantizer also
gets inputs for it, and a producer the name of a program."""
CALLED_AS = {"info": "info()", "run": "run(model, inputs, outputs)"}
"""The functions of an adapter."""
PACKAGE = "onnx_conformance.backends"
SESSION = "session"
LOAD, RUN = "load", "run"
"""The phases in which a runtime may refuse a model."""
"""The function of an adapter that loads a model once, and returns a function that runs it: `run(inputs, outputs)`."""
ASSIGNED = "assigned"
"""The attribute of that function, and the member of a reply, that reports which provider runs which node."""
EXAMPLE = '{"runtime": "my-runtime", "version": "1.2.0"}'
LOCALE = "ONNX_CONFORMANCE_LOCALE"
"""The variable that names the locale of this process."""
FOLDER = "onnx-conformance-files-"
"""Prefix of the folder with a model and its files."""
SHOWN = 60
"""Characters of a value that a message shows."""

REPRO_OF_FILE = """\
import importlib.util
import sys

sys.path.append({folder!r})
spec = importlib.util.spec_from_file_location({module!r}, {path!r})
adapter = sys.modules[{module!r}] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(adapter)
"""
REPRO_OF_MODULE = """\
import importlib

adapter = importlib.import_module({module!r})
"""
REPRO_OF_RUN = """\
outputs = adapter.run(model.SerializeToString(), inputs, [value.name for value in model.graph.output])
"""
REPRO_OF_PREPARE = """\
outputs = list(adapter.prepare(model, "CPU").run(list(inputs.values())))
"""


class LoadError(Exception):
    """The adapter cannot be loaded; the text contains the reason and a solution."""


def load(name: str) -> Any:  # noqa: ANN401 - a module, or an object with the same functions
    """Return the adapter called `name`.

    Raises:
        LoadError: it does not exist, cannot be imported, or is not an adapter.
    """
    of_file = is_file_name(name)
    if of_file:
        target: Any = _import_file(name)
    else:
        target = _import(f"{PACKAGE}.{name}" if _is_in_package(name) else name)
    called = call_of(target)
    missing = [word for word in CALLED_AS if not callable(getattr(target, word, None))]
    if called == PRODUCE and not callable(getattr(target, "programs", None)):
        raise LoadError(f"{name} is not a producer: it has produce() but no programs()")
    if not missing or (missing == ["run"] and called != "run"):
        _check_signatures(target, name, called)
        return target
    if callable(getattr(target, "prepare", None)):
        onnx_backend = importlib.import_module(f"{PACKAGE}.onnx_backend")
        if of_file:
            return onnx_backend.Adapter(target, target.__name__, _importing(target, name) + REPRO_OF_PREPARE)
        return onnx_backend.Adapter(target, name)
    if len(missing) == 1:
        (present,) = CALLED_AS.keys() - {*missing}
        raise LoadError(f"{name} is not an adapter: it has {present}() but no {CALLED_AS[missing[0]]}")
    raise LoadError(
        f"{name} is not an adapter: it has neither info() and run() nor prepare() of onnx.backend.base.Backend"
        f"{_hint(target, Path(name).stem if of_file else name)}"
    )


def is_file_name(name: str) -> bool:
    """Return whether a name is the path of a file, by the same rule as environments/backend_names.py."""
    return "/" in name or os.sep in name or name.endswith(".py")


def _is_in_package(name: str) -> bool:
    """Return whether a name is that of an adapter in this folder."""
    return "." not in name and (not name or importlib.util.find_spec(f"{PACKAGE}.{name}") is not None)


def _hint(target: Any, name: str) -> str:  # noqa: ANN401
    """Return the right name, where a class in a module follows the other interface."""
    for word, item in vars(target).items() if inspect.ismodule(target) else ():
        if inspect.isclass(item) and item.__module__ == target.__name__ and callable(getattr(item, "prepare", None)):
            return f"; its class {word} has prepare(): write {name}.{word}"
    return ""


def call_of(adapter: object) -> str:
    """Return the function of an adapter that is called with a model: that of a tool, or `run` of a runtime."""
    tools = (word for word in SUBJECTS if callable(getattr(adapter, word, None)))
    return "run" if callable(getattr(adapter, "run", None)) else next(tools, "run")


def _check_signatures(target: object, name: str, called: str) -> None:
    """Raise LoadError where a function cannot be called with its arguments."""
    calls: dict[str, tuple[tuple[Any, ...], str]] = {
        "info": ((), "without arguments"),
        called: ((b"",), f"as {called}(model): bytes"),
    }
    if called == "run":
        calls[called] = ((b"", {}, []), "as run(model, inputs, outputs): bytes, a dict by name, and names")
    if called == QUANTIZE:
        calls[called] = ((b"", {}), "as quantize(model, inputs): bytes, and a dict by name")
    if called == PRODUCE:
        calls[called] = (("", 0, False), "as produce(program, opset, dynamic): a name, a number, and a bool")
        calls["programs"] = (([],), "as programs(globs): a list")
    for word, (arguments, how) in calls.items():
        try:
            signature = inspect.signature(getattr(target, word))
        except (TypeError, ValueError):  # A function that is not written in Python may have no signature.
            continue
        try:
            signature.bind(*arguments)
        except TypeError:
            raise LoadError(f"{name}: {word}{signature} cannot be called {how}") from None


class _OutsideFolder(importlib.abc.MetaPathFinder):
    """Finds a module with the name of an adapter's file outside its folder: my_runtime.py may import my_runtime."""

    def __init__(self, stem: str, folder: Path) -> None:
        self.stem, self.folder = stem, folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module of that name outside the adapter's folder."""
        if fullname != self.stem:
            return None
        elsewhere = [item for item in sys.path if Path(item).absolute() != self.folder]
        if (spec := importlib.machinery.PathFinder.find_spec(fullname, elsewhere)) is not None:
            return spec
        # An editable install may have its own finder.
        others = [item for item in sys.meta_path if item not in (self, importlib.machinery.PathFinder)]
        specs = (find(fullname, path, target) for item in others if (find := getattr(item, "find_spec", None)))
        return next((spec for spec in specs if spec is not None), None)


def _import_file(name: str) -> ModuleType:
    """Return the module of a file, which can import the other modules in its folder."""
    path = Path(name).absolute()
    if not path.is_file():
        raise LoadError(f"no file {name} in {Path.cwd()}")
    sys.path.append(str(path.parent))  # Last: a file there must not hide a module of the runtime's.
    finder = _OutsideFolder(path.stem, path.parent)
    name_is_used = path.stem in sys.modules or finder.find_spec(path.stem, None) is not None
    sys.meta_path.insert(0, finder)
    module_name = f"{path.stem}_of_a_file" if name_is_used else path.stem
    loader = importlib.machinery.SourceFileLoader(module_name, str(path))
    spec = importlib.util.spec_from_file_location(module_name, path, loader=loader)
    assert spec is not None  # noqa: S101 - there is a loader
    module = sys.modules[module_name] = importlib.util.module_from_spec(spec)
    try:
        loader.exec_module(module)
    except BaseException as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f" (line {lines[-1]})" if lines else ""
        reason = f"{type(error).__name__}: {_text(error)}{where}"
        if isinstance(error, ModuleNotFoundError):
            reason = f"{_text(error)}{where}; is it installed in {sys.executable}?"
        elif isinstance(error, SyntaxError | UnicodeError | ValueError) and path.suffix != ".py":
            reason += f"; a program that speaks the wire format is named cmd:{name}"
        raise LoadError(f"cannot import {name}: {reason}") from error
    return module


def _import(path: str) -> Any:  # noqa: ANN401
    """Return the module at `path`, or the attribute of a module: that of the longest importable prefix."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        module = ".".join(parts[:end])
        try:
            target = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if end > 1 and error.name and f"{module}.".startswith(f"{error.name}."):
                continue
            raise LoadError(f"cannot import {path}: {error}; is it installed in {sys.executable}?") from error
        except BaseException as error:
            raise LoadError(f"cannot import {path}: {type(error).__name__}: {_text(error)}") from error
        for part in parts[end:]:
            if not hasattr(target, part):
                raise LoadError(f"cannot import {path}: {module} has no {part}")
            target = getattr(target, part)
        return target
    raise LoadError(f"cannot import {path}")


def hello_fields(adapter: Any, name: str) -> dict[str, Any]:  # noqa: ANN401
    """Return the info() of an adapter, and the lines of Python that call it without this project.

    Raises:
        LoadError: the name or version of its runtime is missing, or a value cannot be written as JSON.
    """
    try:
        info = adapter.info()
    except BaseException as error:
        raise LoadError(f"{name}: info() raised {type(error).__name__}: {_text(error)}") from error
    if not isinstance(info, Mapping):
        raise LoadError(f"{name}: info() returned {_kind(info)}; expected a dict, such as {EXAMPLE}")
    for key in ("runtime", "version"):
        if key not in info:
            raise LoadError(f"{name}: info() does not contain {key}; expected a dict, such as {EXAMPLE}")
        if not isinstance(info[key], str):
            raise LoadError(
                f"{name}: info() contains {key} = {_kind(info[key])}; expected a text, such as in {EXAMPLE}"
            )
    for key, value in info.items():
        try:
            json.dumps({key: value} if isinstance(key, str) else None)
        except (TypeError, ValueError, RecursionError):
            raise LoadError(
                f"{name}: info() contains {key} = {_kind(value)}, which JSON cannot represent; use texts, numbers, "
                "and lists"
            ) from None
        if not isinstance(key, str):
            raise LoadError(f"{name}: info() has the key {_kind(key)}; expected texts as keys, as in {EXAMPLE}")
    forks = {"fork": True} if getattr(adapter, "FORK", False) is True else {}
    subject = {"subject": SUBJECTS[word]} if (word := call_of(adapter)) in SUBJECTS else {}
    return {"repro": _repro(adapter, name), "accepts": list(accepted(adapter)), **info, **forks, **subject}


def accepted(adapter: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the optional fields of a request that an adapter can be asked with.

    One that has `session(model)` can run a model twice; one that has `session(model, folder)` can load one from a
    folder, too. One with OVERRIDES lets the caller override an initializer that is the default of a graph input.
    """
    session = getattr(adapter, SESSION, None)
    if callable(session):
        yield "earlier"
        if "folder" in inspect.signature(session).parameters:
            yield "files"
    if getattr(adapter, "OVERRIDES", False) is True:
        yield "overrides"


def _repro(adapter: Any, name: str) -> str | None:  # noqa: ANN401
    """Return the lines that call an adapter whose info() has none: its REPRO, or lines that import it."""
    own = getattr(adapter, "REPRO", None)
    if isinstance(own, str):
        return own
    if not inspect.ismodule(adapter) or adapter.__name__.partition(".")[0] == "onnx_conformance":
        return None
    return _importing(adapter, name) + REPRO_OF_RUN


def _importing(module: ModuleType, name: str) -> str:
    """Return the lines that import an adapter by the name that its user wrote."""
    text = REPRO_OF_FILE if is_file_name(name) else REPRO_OF_MODULE
    return text.format(folder=str(Path(name).parent), path=name, module=module.__name__)


def _kind(value: object) -> str:
    """Return the type of a value, and its repr(), clipped."""
    try:
        text = repr(value)
    except BaseException as error:  # noqa: BLE001 - it may be anything
        text = f"its repr() raised {type(error).__name__}"
    return f"{type(value).__name__} {text if len(text) <= SHOWN else f'{text[:SHOWN]}...'}"


OF_PYTHON = (("TypeError", r"got an unexpected keyword argument '(\w+)'", "no such attribute"),)
"""Opt-outs of every runtime in Python, in the form of an adapter's OPT_OUTS. Such a runtime passes the attributes of a
node as keyword arguments to a function, which lacks an attribute of this operator version. The first group of the
pattern must be a word of the model: another keyword is a mistake of the runtime."""


def opt_out(table: object, error: BaseException, model: bytes = b"") -> str | None:
    """Return the reason of the first row that matches the error, or None: it is a failure.

    A row of an adapter's OPT_OUTS is (exception type name, pattern searched for in the message, reason). The rows of
    OF_PYTHON apply to every adapter.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    text = _text(error)
    for name, pattern, reason in table or ():  # type: ignore[attr-defined]
        if name in names and re.search(pattern, text):
            return str(reason)
    for name, pattern, reason in OF_PYTHON:
        found = re.search(pattern, text) if name in names else None
        if found is not None and found[1].encode() in model:
            return reason
    return None


def answer(adapter: Any, header: Mapping[str, Any], payload: bytes, name: str = "") -> bytes:  # noqa: ANN401
    """Return the message that answers one request; an error of the runtime is such an answer.

    Args:
        adapter: runs the model.
        header: of the request.
        payload: of the request.
        name: name of the adapter, for a message about one of its faults.
    """
    started = time.perf_counter()
    called = call_of(adapter)
    reply: dict[str, Any] = {"kind": "answer", "id": header["id"]}
    buffers: list[bytes] = []
    reached: dict[str, Any] = {}
    try:
        # Only the result is kept. The rest is freed before the answer, so a crash then belongs to this case.
        values = _called(adapter, called, header, payload, reached)
    except protocol.ElementTypeError as error:
        fields = {**_error_fields(error, "element type"), **reached}
        reply, buffers = {"kind": "unsupported", "id": header["id"], **fields}, []
    except BaseException as error:  # noqa: BLE001 - a runtime may raise anything, SystemExit too
        reason = opt_out(getattr(adapter, "OPT_OUTS", ()), error, payload[: header.get("model", 0)])
        kind = "refused" if reason is None else "unsupported"
        reply, buffers = {"kind": kind, "id": header["id"], **_error_fields(error, reason), **reached}, []
    else:
        try:
            if called == PRODUCE:
                return _of_producer(header, values, started)
            if called != "run":
                return _of_tool(header["id"], called, values, started)
            reply["outputs"] = _encoded(values, header["outputs"], buffers)
            reply |= {key: value for key, value in reached.items() if key == ASSIGNED}
        except TooLargeError as error:
            reply, buffers = {"kind": "refused", "id": header["id"], **_error_fields(error, None), **reached}, []
        except Exception as error:  # noqa: BLE001 - run() returned no list of values
            wanted = WANTED.get(called, "model")
            said = f"{name}: {called}() did not return a {wanted}: {_error_fields(error, None)['message']}"
            text = said.removeprefix(": ")
            reply, buffers = {"kind": "fault", "id": header["id"], "message": text}, []
    reply["seconds"] = round(time.perf_counter() - started, 6)
    return protocol.message(reply, buffers)


WANTED = {"run": "list of values", PRODUCE: "product"}
"""By function of an adapter, the kind of its result; the others return a model."""


def _called(
    adapter: Any,  # noqa: ANN401
    called: str,
    header: Mapping[str, Any],
    payload: bytes,
    reached: dict[str, Any],
) -> Any:  # noqa: ANN401
    """Return the result of the function of an adapter that a request calls.

    Raises:
        BaseException: an adapter may raise anything.
    """
    if called == PRODUCE:
        if header["kind"] == LIST:
            return list(adapter.programs(header["globs"]))
        if header["kind"] == "run":
            raise TypeError("a producer runs no models; `onnx-conformance export` tests it")
        return adapter.produce(header["program"], header["opset"], header["dynamic"])
    if called == "run":
        return _run(adapter, header, payload, reached)
    model = payload[: header["model"]]
    if called == QUANTIZE:
        reader = protocol.Payload(memoryview(payload)[header["model"] :])
        return adapter.quantize(model, {item["name"]: reader.decode(item["value"]) for item in header["inputs"]})
    return getattr(adapter, called)(model)


def _of_producer(header: Mapping[str, Any], value: Any, started: float) -> bytes:  # noqa: ANN401
    """Return the message with the names of programs, or with an exported program.

    Raises:
        TypeError: the value is neither.
    """
    if header["kind"] == LIST:
        if not all(isinstance(name, str) for name in value):
            raise TypeError(f"{_kind(value)}; programs() returns names")
        reply: dict[str, Any] = {"kind": "programs", "id": header["id"], "programs": value}
        return protocol.message({**reply, "seconds": round(time.perf_counter() - started, 6)})
    if not isinstance(value, Mapping) or not isinstance(value.get("model"), bytes):
        raise TypeError(f'{_kind(value)}; expected {{"model": bytes, "runs": [...]}}')
    buffers = [value["model"]]
    runs = [_described_run(run, buffers) for run in value["runs"]]
    reply = {"kind": "product", "id": header["id"], "model": len(value["model"]), "runs": runs}
    return protocol.message({**reply, "seconds": round(time.perf_counter() - started, 6)}, buffers)


def _described_run(run: Mapping[str, Any], buffers: list[bytes]) -> dict[str, Any]:
    """Return the description of one run of a program in its framework, and append its bytes to `buffers`."""
    inputs = [{"name": name, "value": protocol.encode(value, buffers)} for name, value in run["inputs"].items()]
    outputs = [protocol.encode(value, buffers) for value in run["outputs"]]
    reference = run.get("reference")
    wide = None if reference is None else [protocol.encode(value, buffers) for value in reference]
    return {"inputs": inputs, "outputs": outputs, "reference": wide}


def _of_tool(number: int, called: str, value: object, started: float) -> bytes:
    """Return the message with the result of a tool.

    Raises:
        TypeError: it is no model.
    """
    reply: dict[str, Any] = {"kind": "accepted", "id": number}
    buffers: list[bytes] = []
    if called != "check":
        if not isinstance(value, bytes | bytearray):
            raise TypeError(f"{_kind(value)}; expected bytes: model.SerializeToString()")
        reply, buffers = {"kind": "model", "id": number}, [bytes(value)]
    return protocol.message({**reply, "seconds": round(time.perf_counter() - started, 6)}, buffers)


def _run(adapter: Any, header: Mapping[str, Any], payload: bytes, reached: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return the reply of an adapter to a request.

    Args:
        adapter: runs the model.
        header: of the request.
        payload: of the request.
        reached: the current phase is stored as `phase`, if the adapter loads and runs a model separately; and as
            `assigned` which provider runs which node, if the adapter reports it.
    """
    end = header["model"]
    model, files = payload[:end], {}
    for item in header.get("files", ()):
        files[item["name"]] = payload[end : end + item["size"]]
        end += item["size"]
    reader = protocol.Payload(memoryview(payload)[end:])
    earlier = header.get("earlier")
    before = None if earlier is None else {item["name"]: reader.decode(item["value"]) for item in earlier}
    inputs = {item["name"]: reader.decode(item["value"]) for item in header["inputs"]}
    outputs = list(header["outputs"])
    if not callable(getattr(adapter, SESSION, None)):
        return adapter.run(model, inputs, outputs)
    reached["phase"] = LOAD
    with _folder({"model.onnx": model, **files}) if files else contextlib.nullcontext() as folder:
        run = adapter.session(model) if folder is None else adapter.session(model, folder=folder)
        reached["phase"] = RUN
        if (assigned := getattr(run, ASSIGNED, None)) is not None:
            reached[ASSIGNED] = assigned
        if before is not None:
            with contextlib.suppress(Exception):  # The results for these inputs belong to another case.
                run(before, outputs)
        return run(inputs, outputs)


@contextlib.contextmanager
def _folder(files: Mapping[str, bytes]) -> Iterator[str]:
    """Return a folder with files, which exists as long as the context."""
    with tempfile.TemporaryDirectory(prefix=FOLDER, ignore_cleanup_errors=True) as folder:
        for name, data in files.items():
            Path(folder, Path(name).name).write_bytes(data)
        yield folder


class TooLargeError(Exception):
    """An output has more bytes than an answer may have."""


def _encoded(values: object, names: Sequence[str], buffers: list[bytes]) -> list[dict[str, Any]]:
    """Return the descriptions of outputs.

    Raises:
        TypeError: they are not a list, or one of them is not a value.
        TooLargeError: an output is too large to send.
    """
    if not isinstance(values, list | tuple):
        right = "[values[name] for name in outputs]" if isinstance(values, Mapping) else "[value], a list of them"
        raise TypeError(f"{type(values).__name__}; expected a value for each of {', '.join(names)[:SHOWN]}: {right}")
    described = []
    for index, value in enumerate(values):
        if (size := getattr(value, "nbytes", 0)) > protocol.MAX_PAYLOAD:
            text = f"outputs[{index}] of shape {list(value.shape)} has {size:,} bytes"
            raise TooLargeError(f"{text}; at most {protocol.MAX_PAYLOAD:,} are sent")
        try:
            described.append(protocol.encode(value, buffers))
        except Exception as error:
            name = f" ({names[index]})" if index < len(names) else ""
            raise TypeError(f"outputs[{index}]{name}: {_text(error)}") from error
    return described


def _error_fields(error: BaseException, reason: str | None) -> dict[str, Any]:
    # The same error has the same message each time.
    text = _text(error)[:20_000]
    if FOLDER in text:
        text = re.sub(rf"[^\s'\"]*{FOLDER}\w+", "FOLDER", text)
    return {"error": type(error).__name__, "message": text, "reason": reason}


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as second:  # noqa: BLE001 - even the message may be hostile
        return f"(its message cannot be read: {type(second).__name__})"


def set_locale(name: str) -> None:
    """Set the locale of this process, for libraries that read and write numbers by it; an empty name changes nothing.

    Raises:
        LoadError: the machine has no such locale.
    """
    try:
        if name:
            locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        raise LoadError(f"this machine has no locale {name}; `locale -a` lists the installed ones") from None


def loaded(name: str) -> tuple[Any, dict[str, Any]]:
    """Return an adapter, and its hello.

    Raises:
        BaseException: it cannot be loaded; importing a runtime may raise anything.
    """
    set_locale(os.environ.get(LOCALE, ""))
    adapter = load(name)
    return adapter, {"name": name, "python": platform.python_version(), **hello_fields(adapter, name)}


def serve(requests: BinaryIO, write: Callable[[bytes], object], name: str) -> int:
    """Load an adapter, and answer requests until the stream ends; return the exit status."""
    try:
        adapter, info = loaded(name)
    except BaseException as error:  # noqa: BLE001 - as above
        text = str(error) if isinstance(error, LoadError) else f"{name}: {type(error).__name__}: {_text(error)}"
        write(protocol.message({"kind": "failed", "message": text}))
        return 3
    return converse(adapter, info, requests, write, name)


def converse(
    adapter: Any,  # noqa: ANN401
    info: Mapping[str, Any],
    requests: BinaryIO,
    write: Callable[[bytes], object],
    name: str,
) -> int:
    """Say hello, and answer requests until the stream ends; return the exit status."""
    write(protocol.message({**info, "kind": "hello", "protocol": protocol.VERSION}))
    while (request := protocol.read(requests)) is not None:
        write(answer(adapter, *request, name))
    return 0


def main() -> int:
    """Serve on the standard streams, or be a fork server."""
    match sys.argv[1:]:
        case [name]:
            child.end_with_its_parent()
            _find_in_current_folder(name)
            return serve(*_standard_streams(), name)
        case [name, "--fork", descriptor] if descriptor.isdecimal():
            child.end_with_its_parent()
            _find_in_current_folder(name)
            return _serve_forks(name, socket.socket(fileno=int(descriptor)))
    raise SystemExit(f"usage: {sys.argv[0]} NAME [--fork DESCRIPTOR]; got {sys.argv[1:]}")


def _find_in_current_folder(name: str) -> None:
    """Put the current folder on the path: first for a module of the user's, as `python -m` does; otherwise last.

    A checkout of a runtime may have a folder with the runtime's name, or one called `onnx`, which must not be imported
    in place of the installed package.
    """
    place = len(sys.path) if is_file_name(name) or _is_in_package(name) else 0
    sys.path.insert(place, str(Path.cwd()))


def _serve_forks(name: str, harness: socket.socket) -> int:
    """Load an adapter, and be forked; return the exit status, 3 where it cannot be loaded or forked."""
    harness.set_inheritable(False)
    try:
        adapter, info = loaded(name)
        obstacle = fork_server.obstacle()
    except BaseException as error:  # noqa: BLE001 - as below
        obstacle = f"{type(error).__name__}: {_text(error)}"
    if obstacle:
        harness.sendall(" ".join(obstacle.split()).encode() + b"\n")
        return 3
    fork_server.run(harness, lambda: converse(adapter, info, *_standard_streams(), name))
    return 0


def _standard_streams() -> tuple[BinaryIO, Callable[[bytes], object]]:
    """Return the stream of requests and the writer of answers; the runtime's output goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)  # A runtime that reads its standard input must not eat requests.

    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[answers.write(view) :]

    return requests, write


if __name__ == "__main__":
    sys.exit(main())
