# SPDX-License-Identifier: Apache-2.0
"""`repro`: one self-contained Python file that shows a mismatch without this project."""

from __future__ import annotations

import shlex
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import onnx
import onnx.parser
import onnx.printer

from onnx_conformance.analysis.sentences import behaviour
from onnx_conformance.base.printing import quoted
from onnx_conformance.base.verdict import Verdict, clean
from onnx_conformance.case.case import OVERRIDES, Outcome
from onnx_conformance.judging import transformer
from onnx_conformance.repro import check_code, tool_code
from onnx_conformance.repro.literals import PLAIN_TYPES, inside_quotes, literal
from onnx_conformance.repro.stored import Stored
from onnx_conformance.specification.element_types import element_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx_conformance.base.values import Drawn, Value
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case

OVER_STDIO = """\
# This script runs the adapter. To call the runtime itself, the hello of the adapter needs the field "{field}"
# with the lines of Python that do so.
import io
import json
import subprocess


def encode(value):
    if isinstance(value, list):
        return {{"kind": "sequence", "items": [encode(item) for item in value]}}
    if isinstance(value, dict):
        keys = np.array(list(value), dtype=object if isinstance(next(iter(value), 0), str) else np.int64)
        return {{"kind": "map", "keys": encode(keys), "values": [encode(item) for item in value.values()]}}
    if value is None:
        return {{"kind": "optional", "item": None}}
    tensor = onnx.numpy_helper.from_array(value)
    described = {{"kind": "tensor", "type": tensor.data_type, "shape": list(value.shape)}}
    if tensor.data_type == onnx.TensorProto.STRING:
        return {{**described, "strings": value.reshape(-1).tolist()}}
    buffers.append(tensor.raw_data)
    return described


def decode(value):
    if value["kind"] == "sequence":
        return [decode(item) for item in value["items"]]
    if value["kind"] == "map":
        keys = decode(value["keys"]).tolist()
        return dict(zip(keys, [decode(item) for item in value["values"]]))
    if value["kind"] == "optional":
        return None if value["item"] is None else decode(value["item"])
    if value["type"] == onnx.TensorProto.STRING:
        return np.array(value["strings"], dtype=object).reshape(value["shape"])
    blank = np.zeros(value["shape"], onnx.helper.tensor_dtype_to_np_dtype(value["type"]))
    tensor = onnx.numpy_helper.from_array(blank)
    tensor.raw_data = payload.read(len(tensor.raw_data))
    return onnx.numpy_helper.to_array(tensor)


buffers = [model.SerializeToString()]
more = {{}}
if "files" in globals():
    more["files"] = [{{"name": name, "size": len(data)}} for name, data in files.items()]
    buffers.extend(files.values())
if "earlier" in globals():
    more["earlier"] = [{{"name": name, "value": encode(value)}} for name, value in earlier.items()]
request = {{
    "kind": "run",
    "id": 1,
    "model": len(buffers[0]),
    **more,
    "inputs": [{{"name": name, "value": encode(value)}} for name, value in inputs.items()],
    "outputs": [value.name for value in model.graph.output],
    "payload": sum(map(len, buffers)),
}}
runner = subprocess.Popen({command!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
try:
    answer, _ = runner.communicate(json.dumps(request).encode() + b"\\n" + b"".join(buffers), timeout=60)
except subprocess.TimeoutExpired:
    runner.kill()
    raise
payload = io.BytesIO(answer)
print("hello:   ", payload.readline())
answer = json.loads(payload.readline() or "null")
if answer is None or answer["kind"] != "answer":
    raise RuntimeError(answer)
outputs = [decode(value) for value in answer["outputs"]]
"""


IMPORTS = ("import numpy as np", "import onnx", "import onnx.numpy_helper", "import onnx.parser")
MOST_BYTES = 4000
"""Maximum size of a serialized model in the code of a script with large values."""


@dataclass(frozen=True)
class Parts:
    """The parts of a script that depend only on the case. A report assembles scripts for any backend from them.

    Attributes:
        before: imports, model, inputs, expected values.
        after: the tolerance, and the end of a script that expects a refusal.
        wide: whether there are element types that numpy itself does not have.
        way: how the runtime is called, one of WAYS.
        rejects: whether the text forbids the model, so that a refusal is expected.
        may_refuse: whether a refusal is right: it is expected, or the text does not define the result.
        checks: the names of the pieces that compare the answer with the expected values; see check_code.
    """

    before: str
    after: str
    wide: bool
    way: str
    rejects: bool
    may_refuse: bool
    checks: tuple[str, ...]


def script(case: Case, result: Result, hello: Mapping[str, Any], came: tool_code.Made = tool_code.NOTHING) -> str:
    """Return the file's text.

    Args:
        case: the case.
        result: the backend's result.
        hello: the hello message of the backend's adapter; its `repro` is code that calls the runtime.
        came: the model that a transformer returned, and the oracle's evaluation of it.
    """
    case = transformer.held_to(case, hello)
    data = Stored(case)
    pieces = parts(case, write=data.literal, data=data)
    code = call(result.backend, hello, pieces.way).rstrip()
    request = REFUSAL.format(call=textwrap.indent(code, "    ", bool)) if pieces.may_refuse else f"{code}\n"
    hang = HANG if result.verdict is Verdict.TIMEOUT else ""
    return f"{_head(case, result, hello)}{hang}{pieces.before}{request}{after(hello, pieces, came)}{data.end}"


def after(hello: Mapping[str, Any], pieces: Parts, came: tool_code.Made, ends: str = tool_code.ENDS) -> str:
    """Return the code from the call of a runtime or tool to the end of the script.

    Args:
        hello: the hello of its adapter.
        pieces: the parts of the script of the case.
        came: the model that a transformer returned, and the oracle's evaluation of it.
        ends: the code that defines the ends of a script that judges such a model; see tool_code.
    """
    checks = [check_code.PIECES[name] for name in pieces.checks]
    if not tool_code.is_tool(hello):
        return "".join((GOT, pieces.after, *checks))
    if pieces.may_refuse:
        return pieces.after
    return pieces.after + tool_code.after(hello, checks, came, ends)


@dataclass(frozen=True)
class Model:
    """A model as text.

    Attributes:
        printed: the output of onnx.printer; empty if it fails.
        text: the same, if onnx's parser returns the same model except for the names of nodes and the producer;
            otherwise empty.
        wide: whether the graph has inputs or outputs with element types that numpy itself does not have.
    """

    printed: str
    text: str
    wide: bool

    @classmethod
    def of(cls, data: bytes) -> Model:
        """Return a serialized ModelProto as text.

        Raises:
            google.protobuf.message.DecodeError: the data are not a model.
        """
        model = onnx.load_from_string(data)
        wide = _has_wide(model)
        printed = ""
        try:
            printed = onnx.printer.to_text(model)
            parsed = onnx.parser.parse_model(printed)
            return cls(printed, printed.strip() if _stripped(parsed) == _stripped(model) else "", wide)
        except Exception:  # noqa: BLE001 - a foreign model may cause any error in printer, parser or tensors
            return cls(printed, "", wide)


def _has_wide(model: onnx.ModelProto) -> bool:
    """Return whether the graph has inputs or outputs with element types that numpy itself does not have."""
    return any(_innermost(info.type) > PLAIN_TYPES + 2 for info in (*model.graph.input, *model.graph.output))


def parts(
    case: Case,
    model: Model | None = None,
    write: Callable[[Value | Drawn], str] | None = None,
    data: Stored | None = None,
) -> Parts:
    """Return the parts of a script that depend only on the case.

    Args:
        case: the case.
        model: the model of the case, if it was printed already.
        write: a function that returns the same as `literal`, for example from a cache.
        data: where large values go; None: all values are in the code.
    """
    write, needs_ml_dtypes, checks = write or literal, _needs_ml_dtypes(case), check_code.pieces(case)
    lines = [*_model(case, model, data), *_values(case, write)]
    model = model or Model.of(case.model)
    after = "".join(f"{text}\n" for text in _after(case, checks, write))
    imports = [*IMPORTS, *(["import ml_dtypes"] if needs_ml_dtypes else []), *(data.code if data else ()), ""]
    return Parts(
        before="".join(f"{text}\n" for text in (*imports, *lines)),
        after=after,
        wide=needs_ml_dtypes or model.wide,
        way=next(iter(sorted(case.needs - {OVERRIDES})), "wide" if needs_ml_dtypes or model.wide else "plain"),
        rejects=case.outcome is Outcome.REJECTS,
        may_refuse=case.outcome in {Outcome.REJECTS, Outcome.UNSPECIFIED},
        checks=checks,
    )


def runtime(backend: str, hello: Mapping[str, Any]) -> str:
    """Return the name and version of a runtime from its hello."""
    return f"{hello.get('runtime', backend)} {hello.get('version', '')}".strip()


def needs(backend: str, hello: Mapping[str, Any]) -> str:
    """Return a line that names the packages to install for a script."""
    if packages := hello.get("provider", {}).get("packages"):
        return f"Needs: pip install onnx=={onnx.__version__} {_safe(packages)}"
    also = f" and {_safe(runtime(backend, hello))}" if hello.get("runtime") else ""
    return f"Needs: pip install onnx=={onnx.__version__}{also}"


def _head(case: Case, result: Result, hello: Mapping[str, Any]) -> str:
    lines = [f'"""{_safe(case.id)} on {_safe(runtime(result.backend, hello))}: {result.verdict}.', ""]
    lines += [f"The text: {_safe(quoted(clause))}" for clause in behaviour(case)]
    lines += [f"Seen: {_safe(result.message)}"] if result.message else []
    return "\n".join([*lines, needs(result.backend, hello), '"""', "", ""])


def _model(case: Case, model: Model | None, data: Stored | None) -> Iterator[str]:
    """Yield the lines of code that make the model of a case; large weights are added from the data."""
    if data is None or data.small:
        yield from model_lines(case.model, model or Model.of(case.model))
        return
    reduced = onnx.load_from_string(case.model)
    weights = [*data.without_weights(reduced)]
    serialized = reduced.SerializeToString()
    yield from model_lines(serialized, Model.of(serialized), data)
    yield from weights


def _values(case: Case, write: Callable[[Value | Drawn], str]) -> Iterator[str]:
    """Yield the lines of code with the inputs, the files and the expected outputs of a case."""
    yield "inputs = {"
    for name, value in case.inputs.items():
        yield f"    {name!r}: {write(value)},"
    yield "}"
    if case.earlier is not None:
        yield "earlier = {  # The same session runs with these first."
        for name, value in case.earlier.items():
            yield f"    {name!r}: {write(value)},"
        yield "}"
    if case.files:
        yield "files = {"
        for name, data in case.files.items():
            yield f"    {name!r}: bytes.fromhex({data.hex()!r}),"
        yield "}"
        yield FOLDER
    yield from _expected(case, write)
    yield ""


def _safe(text: object) -> str:
    return clean(text, 500).replace("\\", "\\\\").replace('"""', "'''").replace("\n", " ")


def model_lines(serialized: bytes, model: Model, data: Stored | None = None) -> Iterator[str]:
    """Yield the lines of code that make a model; the last one is a statement of several lines."""
    if model.text:
        yield f'model = onnx.parser.parse_model("""\n{inside_quotes(model.text)}\n""")'
    else:  # onnx's text format cannot express some models.
        yield "# onnx's text format cannot express this model, so this is the serialized ModelProto."
        stored = data is not None and len(serialized) > MOST_BYTES
        yield f"model = onnx.load_from_string({data.add('model', serialized) if data and stored else repr(serialized)})"


def _stripped(model: onnx.ModelProto) -> bytes:
    """Remove the members that a model's text lacks, for a comparison, and return the model serialized."""
    model.producer_name = ""
    for node in model.graph.node:
        node.name = ""
        if not node.domain:  # An empty domain and an unset one are the same.
            node.ClearField("domain")
    for tensor in model.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    return bytes(model.SerializeToString(deterministic=True))


def _needs_ml_dtypes(case: Case) -> bool:
    return any(
        element_type(value.dtype).number > PLAIN_TYPES + 2
        for expected_or_input in (*case.inputs.values(), *(case.expected or ()))
        for value in check_code.arrays(expected_or_input)
    )


def _innermost(type_: onnx.TypeProto) -> int:
    """Return the element type of a tensor, or of the values in a container; 0 for other values."""
    kind = type_.WhichOneof("value")
    inner: Any = getattr(type_, kind) if kind else None
    if kind in {"sequence_type", "optional_type"}:
        return _innermost(inner.elem_type)
    if kind == "map_type":
        return _innermost(inner.value_type)
    return int(inner.elem_type) if kind in {"tensor_type", "sparse_tensor_type"} else 0


def _expected(case: Case, write: Callable[[Value | Drawn], str]) -> Iterator[str]:
    if case.expected is None:
        described = {Outcome.REJECTS: "a rejection", Outcome.UNSPECIFIED: "unspecified by the text"}
        description = described.get(case.outcome, "not stored with the case")
        yield f"print({clean(': '.join(filter(None, ('expected', description, case.decided))))!r})"
        return
    yield "expected = ["
    for value in case.expected:
        yield f"    {write(value)},"
    yield "]"
    yield 'print("expected:", expected)'


WAYS = {"plain": "repro", "wide": "repro_wide", "earlier": "repro_earlier", "files": "repro_files"}
"""The ways to call a runtime, with their hello fields: plain, with element types that numpy lacks, twice, with a file.
"""


def field_of(hello: Mapping[str, Any], way: str) -> str:
    """Return the field of a hello with the code for one of WAYS."""
    return "repro" if way == "wide" and "repro_wide" not in hello else WAYS[way]


def call(backend: str, hello: Mapping[str, Any], way: str) -> str:
    """Return the code that calls a runtime: from `model` and `inputs` to `outputs`.

    Args:
        backend: the name by which the user called the backend.
        hello: its adapter's hello message.
        way: one of WAYS. To call it twice, the code also uses `earlier`; to call it with a file, `path`.
    """
    field = field_of(hello, way)
    text = hello.get(field)
    if backend.startswith("cmd:") and not isinstance(text, str):
        return OVER_STDIO.format(command=shlex.split(backend.removeprefix("cmd:")), field=field)
    if not isinstance(text, str):
        return f"raise SystemExit({f'{backend} cannot be called without this project'!r})"
    return f"{tool_code.NAMES}{text}" if tool_code.is_tool(hello) else text


FOLDER = """\
import pathlib
import tempfile

folder = tempfile.TemporaryDirectory()
for name, data in {"model.onnx": model.SerializeToString(), **files}.items():
    pathlib.Path(folder.name, name).write_bytes(data)
path = str(pathlib.Path(folder.name, "model.onnx"))
"""
REFUSAL = """\
try:
{call}
except (ImportError, OSError):  # The runtime is missing.
    raise
except Exception as error:
    print("refused: ", error)
    print("as expected")
    raise SystemExit(0) from None
"""
GOT = """
print("got:     ", outputs)
"""
HANG = """\
import faulthandler

faulthandler.dump_traceback_later(30, exit=True)  # It hangs: this shows where, and ends it.

"""


def _after(case: Case, checks: tuple[str, ...], write: Callable[[Value | Drawn], str]) -> Iterator[str]:
    if case.outcome is Outcome.REJECTS:
        yield 'raise SystemExit("the runtime returned an answer, but the text forbids the model")'
    yield from check_code.settings(case, checks, write)
