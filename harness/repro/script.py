"""`repro`: one self-contained Python file that shows a mismatch without this project."""

from __future__ import annotations

import re
import shlex
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.parser
import onnx.printer

from backends.protocol import element_type
from harness.analysis.sentences import behaviour
from harness.case import properties
from harness.case.case import Outcome, quoted
from harness.declare import Drawn
from harness.repro import check_code
from harness.under_test import Subject
from harness.verdict import Verdict, clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from harness.case.case import Case
    from harness.declare.data import Value
    from harness.verdict import Result

PLAIN_TYPES = 13
"""Element types up to this number (uint64) are numpy's own; the others come from ml_dtypes."""

OVER_STDIO = """\
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


@dataclass(frozen=True)
class Parts:
    """The parts of a script that depend on the case alone, from which a report assembles scripts for any backend.

    Attributes:
        before: imports, model, inputs, expected values.
        after: the tolerance, and the end of a script that expects a refusal.
        wide: whether element types occur that numpy itself does not have.
        way: one of WAYS, in which the runtime is called.
        rejects: whether the text forbids the model, so that a refusal is expected.
        checks: the names of the pieces that compare the answer with the expected values; see check_code.
    """

    before: str
    after: str
    wide: bool
    way: str
    rejects: bool
    checks: tuple[str, ...]


def script(case: Case, result: Result, hello: Mapping[str, Any]) -> str:
    """Return the file's text.

    Args:
        case: the case.
        result: the backend's result.
        hello: the hello message of the backend's adapter; its `repro` is code that calls the runtime.
    """
    pieces = parts(case)
    code = call(result.backend, hello, pieces.way).rstrip()
    if is_tool(hello) and not pieces.rejects:
        code += f"\n{after_tool(hello)}".rstrip()
    request = REFUSAL.format(call=textwrap.indent(code, "    ", bool)) if pieces.rejects else f"{code}\n"
    checks = "".join(check_code.PIECES[name] for name in pieces.checks)
    hang = HANG if result.verdict is Verdict.TIMEOUT else ""
    got = "" if is_tool(hello) else GOT
    return f"{_head(case, result, hello)}{hang}{pieces.before}{request}{got}{pieces.after}{checks}"


@dataclass(frozen=True)
class Model:
    """A model as text.

    Attributes:
        printed: the output of onnx.printer; empty where it fails.
        text: the same, if onnx's parser returns the same model, names of nodes and producer aside; or empty.
        wide: whether the graph has inputs or outputs of element types that numpy itself does not have.
    """

    printed: str
    text: str
    wide: bool

    @classmethod
    def of(cls, data: bytes) -> Model:
        """Return a serialized ModelProto as text.

        Raises:
            google.protobuf.message.DecodeError: the data are no model.
        """
        model = onnx.load_from_string(data)
        wide = any(_innermost(info.type) > PLAIN_TYPES + 2 for info in (*model.graph.input, *model.graph.output))
        printed = ""
        try:
            printed = onnx.printer.to_text(model)
            parsed = onnx.parser.parse_model(printed)
            return cls(printed, printed.strip() if _stripped(parsed) == _stripped(model) else "", wide)
        except Exception:  # noqa: BLE001 - whatever a model from outside breaks in printer, parser or tensors
            return cls(printed, "", wide)


def parts(case: Case, model: Model | None = None, write: Callable[[Value | Drawn], str] | None = None) -> Parts:
    """Return the parts of a script that depend on the case alone.

    Args:
        case: the case.
        model: the model of the case, if it has been printed already.
        write: returns the same as `literal`, perhaps from a cache.
    """
    model, write = model or Model.of(case.model), write or literal
    needs_ml_dtypes, checks = _needs_ml_dtypes(case), check_code.pieces(case)
    return Parts(
        before="".join(f"{text}\n" for text in _before(case, model, write, needs_ml_dtypes=needs_ml_dtypes)),
        after="".join(f"{text}\n" for text in _after(case, checks, write)),
        wide=needs_ml_dtypes or model.wide,
        way=next(iter(sorted(case.needs)), "wide" if needs_ml_dtypes or model.wide else "plain"),
        rejects=case.outcome is Outcome.REJECTS,
        checks=checks,
    )


def runtime(backend: str, hello: Mapping[str, Any]) -> str:
    """Return the name and version of a runtime from its hello."""
    return f"{hello.get('runtime', backend)} {hello.get('version', '')}".strip()


def needs(backend: str, hello: Mapping[str, Any]) -> str:
    """Return a line that names the packages to install for a script."""
    also = f" and {_safe(runtime(backend, hello))}" if hello.get("runtime") else ""
    return f"Needs: pip install onnx=={onnx.__version__}{also}"


def _head(case: Case, result: Result, hello: Mapping[str, Any]) -> str:
    lines = [f'"""{_safe(case.id)} on {_safe(runtime(result.backend, hello))}: {result.verdict}.', ""]
    lines += [f"The text: {_safe(quoted(clause))}" for clause in behaviour(case)]
    lines += [f"Seen: {_safe(result.message)}"] if result.message else []
    return "\n".join([*lines, needs(result.backend, hello), '"""', "", ""])


def _before(case: Case, model: Model, write: Callable[[Value | Drawn], str], *, needs_ml_dtypes: bool) -> Iterator[str]:
    yield "import numpy as np"
    yield "import onnx"
    yield "import onnx.numpy_helper"
    yield "import onnx.parser"
    if needs_ml_dtypes:
        yield "import ml_dtypes"
    yield ""
    yield from _model(case, model)
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


def _model(case: Case, model: Model) -> Iterator[str]:
    if model.text:
        yield f'model = onnx.parser.parse_model("""\n{_inside_quotes(model.text)}\n""")'
    else:  # onnx's text format cannot express some models.
        yield "# onnx's text format cannot hold this model; it is the serialized ModelProto."
        yield f"model = onnx.load_from_string({case.model!r})"


def _inside_quotes(text: str) -> str:
    """Return a text for a triple-quoted string: characters that a terminal or reader could mistake are escaped."""
    plain = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    plain = re.sub(r"^(\s*):(?=:)", r"\1\\x3a", plain, flags=re.MULTILINE)  # A workflow command of GitHub.
    if plain.replace("\n", "").isprintable():
        return plain
    return "".join(item if item == "\n" or item.isprintable() else repr(item)[1:-1] for item in plain)


def _stripped(model: onnx.ModelProto) -> bytes:
    """Return a model without members that its text lacks, for a comparison; the model itself is changed."""
    model.producer_name = ""
    for node in model.graph.node:
        node.name = ""
        if not node.domain:  # An empty domain and none are the same.
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
    """Return the element type of a tensor, or of the values in a container; 0 where there is none."""
    kind = type_.WhichOneof("value")
    inner: Any = getattr(type_, kind) if kind else None
    if kind in {"sequence_type", "optional_type"}:
        return _innermost(inner.elem_type)
    if kind == "map_type":
        return _innermost(inner.value_type)
    return int(inner.elem_type) if kind in {"tensor_type", "sparse_tensor_type"} else 0


_NAMED = {"nan": "np.nan", "inf": "np.inf", "-inf": "-np.inf"}


def literal(value: Value | Drawn) -> str:  # noqa: PLR0911 - one for each kind of value
    """Return a Python expression for a value; for one drawn at random, for its required properties."""
    if isinstance(value, Drawn):
        return f"('drawn', {properties.describe(value)!r})"
    if isinstance(value, np.ndarray):
        row = element_type(value.dtype)
        if value.dtype.kind == "O":
            return f"np.array({value.reshape(-1).tolist()!r}, dtype=object).reshape({value.shape})"
        dtype = f"np.dtype({row.dtype!r})" if row.number <= PLAIN_TYPES + 2 else f"ml_dtypes.{row.dtype}"
        elements = value.reshape(-1).tolist()  # Nested lists of a shape such as (2**60, 0) would fill the memory.
        if row.number <= PLAIN_TYPES and np.array(elements, value.dtype).tobytes() == value.tobytes():
            items = repr(elements)[1:-1]
            if value.dtype.kind == "f" and not np.isfinite(value).all():
                items = ", ".join(_NAMED.get(text, text) for text in map(repr, elements))
            return f"np.array([{items}], dtype={dtype}).reshape({value.shape})"
        return f"np.frombuffer(bytes.fromhex({value.tobytes().hex()!r}), dtype={dtype}).reshape({value.shape})"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(item)}" for key, item in value.items()) + "}"
    return "None"


def _expected(case: Case, write: Callable[[Value | Drawn], str]) -> Iterator[str]:
    if case.expected is None:
        description = "to be refused" if case.outcome is Outcome.REJECTS else "nothing: the text leaves it open"
        yield f"print({clean(f'expected: {description}: {case.decided}')!r})"
        return
    yield "expected = ["
    for value in case.expected:
        yield f"    {write(value)},"
    yield "]"
    yield 'print("expected:", expected)'


WAYS = {"plain": "repro", "wide": "repro_wide", "earlier": "repro_earlier", "files": "repro_files"}
"""Ways to call a runtime: plainly, with element types that numpy lacks, twice, with a file; and their hello fields."""


def call(backend: str, hello: Mapping[str, Any], way: str) -> str:
    """Return the code that calls a runtime: from `model` and `inputs` to `outputs`.

    Args:
        backend: as the user named it.
        hello: its adapter's hello message.
        way: one of WAYS. Called twice, the code takes `earlier`, too; with a file, its `path`.
    """
    if backend.startswith("cmd:"):
        return OVER_STDIO.format(command=shlex.split(backend.removeprefix("cmd:")))
    text = hello.get("repro" if way == "wide" and "repro_wide" not in hello else WAYS[way])
    if not isinstance(text, str):
        return f"raise SystemExit({f'{backend} has no way to be called without this project'!r})"
    return f"{NAMES}{text}" if is_tool(hello) else text


def is_tool(hello: Mapping[str, Any]) -> bool:
    """Return whether a hello is that of a tool: what it gives is no outputs."""
    return str(hello.get("subject", Subject.RUNTIME)) != Subject.RUNTIME


def after_tool(hello: Mapping[str, Any]) -> str:
    """Return the code from what a tool gives to `outputs`, or to a failed assertion."""
    return OF_TOOLS[str(hello.get("subject"))]


NAMES = "original, names = model.SerializeToString(), [item.name for item in model.graph.output]\n"
INTERFACE = """\
first = onnx.load_from_string(original).graph
there = [item.name for item in model.graph.output]
assert there == names, f"outputs {names} expected, {there} came"
for before, after in zip(first.output, model.graph.output):
    types = [(item.type.WhichOneof("value"), item.type.tensor_type.elem_type) for item in (before, after)]
    same = types[0] == types[1] or not all(kind for kind, _ in types)
    assert same, f"{before.name}: {types[0]} expected, {types[1]} came"
known = {item.name for item in (*first.input, *model.graph.initializer)}
extra = [item.name for item in model.graph.input if item.name not in known]
assert not extra, f"it has the inputs {extra}, which the first model has not"
"""
"""Of a transformer: that the model that it made is asked for and gives what the first is and does."""
OF_TOOLS = {
    "transformer": f"""\

import onnx.checker
import onnx.reference

onnx.checker.check_model(model)
{INTERFACE}# Any evaluator will do in the place of onnx.reference that is right on the model before the change.
outputs = onnx.reference.ReferenceEvaluator(model).run(names, inputs)
""",
    "inferencer": """\

for name, wanted in zip(names, expected):
    type_ = next(item.type for item in model.graph.output if item.name == name)
    print(f"inferred of {name}: {type_}")
    if not isinstance(wanted, np.ndarray) or not type_.WhichOneof("value"):
        continue
    tensor = type_.tensor_type
    number = onnx.helper.np_dtype_to_tensor_dtype(wanted.dtype)
    assert tensor.elem_type in {0, number}, f"{name}: element type {number} expected, {tensor.elem_type} inferred"
    if tensor.HasField("shape"):
        sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
        fits = len(sizes) == wanted.ndim and all(a in (None, b) for a, b in zip(sizes, wanted.shape))
        assert fits, f"{name}: shape {wanted.shape} expected, {sizes} inferred"
outputs = expected
""",
    "checker": """\

print("accepted")
outputs = expected
""",
}
"""By subject, what follows the call of a tool, which has changed `model` or raised an error."""


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
except (ImportError, OSError):  # There is no runtime to ask.
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

faulthandler.dump_traceback_later(30, exit=True)  # It hangs: this says where, and ends it.

"""


def _after(case: Case, checks: tuple[str, ...], write: Callable[[Value | Drawn], str]) -> Iterator[str]:
    if case.outcome is Outcome.REJECTS:
        yield 'raise SystemExit("an answer, where the text forbids one")'
    yield from check_code.settings(case, checks, write)
