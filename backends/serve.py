"""Main of an adapter process: `python serve.py NAME` answers requests on its standard input.

NAME is a module of this package (`onnxruntime`), a dotted path to another module with the same
functions, or a dotted path to anything that follows `onnx.backend.base.Backend`.

The answers go to what was standard output; everything the runtime itself prints goes to standard error,
so that it cannot be taken for an answer.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # It ends this process, and raises nothing amid an import.
    # Python put this folder first on the path, where backends/onnxruntime.py would hide onnxruntime itself.
    sys.path[:1] = [] if Path.cwd() == HERE else [str(Path.cwd())]

import importlib  # noqa: E402 - after the path is right
import importlib.util  # noqa: E402
import platform  # noqa: E402
import re  # noqa: E402
import time  # noqa: E402
from typing import TYPE_CHECKING, Any, BinaryIO  # noqa: E402

if __name__ == "__main__" and "backends" not in sys.modules:
    # Works in an environment that holds only the runtime: this package is loaded from where it lies.
    _spec = importlib.util.spec_from_file_location("backends", HERE / "__init__.py")
    if _spec is None or _spec.loader is None:
        raise SystemExit(f"{HERE} is not the backends package")
    sys.modules["backends"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["backends"])

from backends import child, protocol  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class LoadError(Exception):
    """The adapter cannot be had; the text says why and what to do."""


def load(name: str) -> Any:  # noqa: ANN401 - a module, or an object with the same functions
    """Return the adapter called `name`.

    Raises:
        LoadError: there is none, it cannot be imported, or it is no adapter.
    """
    path = name if "." in name else f"backends.{name}"
    target = _import(path)
    if all(callable(getattr(target, word, None)) for word in ("info", "run")):
        return target
    if callable(getattr(target, "prepare", None)):
        onnx_backend = importlib.import_module("backends.onnx_backend")
        return onnx_backend.Adapter(target, name)
    raise LoadError(
        f"{name} is no adapter: it has neither info() and run(), nor prepare() of onnx.backend.base.Backend"
    )


def _import(path: str) -> Any:  # noqa: ANN401
    """Return the module at `path`, or the attribute of one; the longest importable prefix counts."""
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


def opt_out(table: object, error: BaseException) -> str | None:
    """Return the reason of the first row that the error fits, or None: it is a failure.

    A row of an adapter's OPT_OUTS is (exception type name, pattern searched for in the message, reason).
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    text = _text(error)
    for name, pattern, reason in table or ():  # type: ignore[attr-defined]
        if name in names and re.search(pattern, text):
            return str(reason)
    return None


def answer(adapter: Any, header: Mapping[str, Any], payload: bytes) -> bytes:  # noqa: ANN401
    """Return the message that answers one request; what the runtime raises is part of the answer."""
    started = time.perf_counter()
    reply: dict[str, Any] = {"kind": "answer", "id": header["id"]}
    buffers: list[bytes] = []
    try:
        model = payload[: header["model"]]
        reader = protocol.Payload(memoryview(payload)[header["model"] :])
        inputs = {item["name"]: reader.decode(item["value"]) for item in header["inputs"]}
        given = adapter.run(model, inputs, list(header["outputs"]))
        del inputs  # What the runtime frees late must not outlive the answer: a death then names this case.
    except protocol.ElementTypeError as error:
        reply, buffers = {"kind": "unsupported", "id": header["id"], **_told(error, "element type")}, []
    except BaseException as error:  # noqa: BLE001 - a runtime may raise anything, SystemExit too
        reason = opt_out(getattr(adapter, "OPT_OUTS", ()), error)
        kind = "refused" if reason is None else "unsupported"
        reply, buffers = {"kind": kind, "id": header["id"], **_told(error, reason)}, []
    else:
        try:
            reply["outputs"] = [protocol.encode(value, buffers) for value in given]
        except Exception as error:  # noqa: BLE001 - what the adapter gave is no list of values
            what = f"run() gave what is no list of values: {_told(error, None)['message']}"
            reply, buffers = {"kind": "fault", "id": header["id"], "message": what}, []
    reply["seconds"] = round(time.perf_counter() - started, 6)
    return protocol.message(reply, buffers)


def _told(error: BaseException, reason: str | None) -> dict[str, Any]:
    return {"error": type(error).__name__, "message": _text(error)[:20_000], "reason": reason}


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException as second:  # noqa: BLE001 - even the message may be hostile
        return f"(its message cannot be read: {type(second).__name__})"


def serve(requests: BinaryIO, write: Callable[[bytes], object], name: str) -> int:
    """Answer requests until the stream ends; return the exit status."""
    try:
        adapter = load(name)
        info = {"python": platform.python_version(), **adapter.info()}
    except BaseException as error:  # noqa: BLE001 - importing a runtime may raise anything
        text = str(error) if isinstance(error, LoadError) else f"{name}: {type(error).__name__}: {_text(error)}"
        write(protocol.message({"kind": "failed", "message": text}))
        return 3
    write(protocol.message({"kind": "hello", "protocol": protocol.VERSION, "name": name, **info}))
    while (request := protocol.read(requests)) is not None:
        write(answer(adapter, *request))
    return 0


def main() -> int:
    """Serve on the standard streams; the runtime's own output goes to standard error."""
    if len(sys.argv) != 2:  # noqa: PLR2004 - the command and its one argument
        raise SystemExit(f"usage: {sys.argv[0]} NAME; got {sys.argv[1:]}")
    child.end_with_its_parent()
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)  # A runtime that reads its standard input must not eat requests.

    def write(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[answers.write(view) :]

    return serve(requests, write, sys.argv[1])


if __name__ == "__main__":
    sys.exit(main())
