"""`repro`: one self-contained Python file that shows a mismatch without this project."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.parser
import onnx.printer

from backends.protocol import element_type
from harness.case import Outcome
from harness.render import quoted
from harness.verdict import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from harness.case import Case, Value
    from harness.verdict import Result

PLAIN_TYPES = 13
"""Element types up to this number (uint64) are numpy's own; the others come from ml_dtypes."""

OVER_STDIO = """\
import json
import subprocess

header, buffers = [], [model.SerializeToString()]
for name, array in inputs.items():
    value = {{"kind": "tensor", "type": types[name], "shape": list(array.shape)}}
    if types[name] == onnx.TensorProto.STRING:
        value["strings"] = array.reshape(-1).tolist()
    else:
        buffers.append(onnx.numpy_helper.from_array(array).raw_data)
    header.append({{"name": name, "value": value}})
request = {{
    "kind": "run",
    "id": 1,
    "model": len(buffers[0]),
    "inputs": header,
    "outputs": [value.name for value in model.graph.output],
    "payload": sum(map(len, buffers)),
}}
runner = subprocess.Popen({command!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
runner.stdin.write(json.dumps(request).encode() + b"\\n" + b"".join(buffers))
runner.stdin.close()
print("hello:", runner.stdout.readline())
answer = json.loads(runner.stdout.readline())
data = runner.stdout.read(answer["payload"])
if answer["kind"] != "answer":
    raise SystemExit(answer)
outputs = []
for value in answer["outputs"]:
    tensor = onnx.TensorProto(data_type=value["type"], dims=value["shape"])
    size = len(onnx.numpy_helper.from_array(expected[len(outputs)]).raw_data) if expected else len(data)
    tensor.raw_data, data = data[:size], data[size:]
    outputs.append(onnx.numpy_helper.to_array(tensor))
"""


def script(case: Case, result: Result, hello: Mapping[str, Any]) -> str:
    """Return the file's text.

    Args:
        case: what is shown.
        result: what the backend made of it now.
        hello: what the backend's adapter said of itself; `repro` there is how one calls the runtime.
    """
    return "\n".join(_lines(case, result, hello)) + "\n"


def _lines(case: Case, result: Result, hello: Mapping[str, Any]) -> Iterator[str]:
    runtime = f"{hello.get('runtime', result.backend)} {hello.get('version', '')}".strip()
    yield f'"""{_safe(case.id)} on {_safe(runtime)}: {result.verdict}.'
    yield ""
    for clause in case.clauses:
        yield f"The text: {_safe(quoted(clause))}"
    if result.message:
        yield f"Seen: {_safe(result.message)}"
    yield f"Needs: pip install onnx=={onnx.__version__}" + (f" and {_safe(runtime)}" if hello.get("runtime") else "")
    yield '"""'
    yield ""
    yield "import numpy as np"
    yield "import onnx"
    yield "import onnx.numpy_helper"
    yield "import onnx.parser"
    if _needs_ml_dtypes(case):
        yield "import ml_dtypes"
    yield ""
    yield from _model(case)
    yield "inputs = {"
    for name, value in case.inputs.items():
        yield f"    {name!r}: {literal(value)},"
    yield "}"
    yield from _expected(case)
    yield "types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}"
    yield 'print("expected:", expected if expected is not None else why)'
    yield ""
    yield _call(case, result, hello).rstrip()
    yield ""
    yield 'print("got:     ", outputs)'
    yield from _verify(case)


def _safe(text: object) -> str:
    return clean(text, 500).replace("\\", "\\\\").replace('"""', "'''").replace("\n", " ")


def _model(case: Case) -> Iterator[str]:
    model = onnx.load_from_string(case.model)
    text = onnx.printer.to_text(model)
    if _same(model, text) and '"""' not in text:
        quoted = text.strip().replace("\\", "\\\\")
        yield f'model = onnx.parser.parse_model("""\n{quoted}\n""")'
    else:  # onnx's text format has no way to write some models.
        yield "# onnx's text format cannot hold this model; it is the serialized ModelProto."
        yield f"model = onnx.load_from_string({case.model!r})"


def _same(model: onnx.ModelProto, text: str) -> bool:
    """Tell whether the text says the same model, names of nodes and of the producer aside."""
    try:
        parsed = onnx.parser.parse_model(text)
    except onnx.parser.ParseError:
        return False
    return _stripped(parsed) == _stripped(model)


def _stripped(model: onnx.ModelProto) -> bytes:
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    copy.producer_name = ""
    for node in copy.graph.node:
        node.name = ""
    for tensor in copy.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    return bytes(copy.SerializeToString(deterministic=True))


def _needs_ml_dtypes(case: Case) -> bool:
    return any(
        element_type(value.dtype).number > PLAIN_TYPES + 2
        for value in (*case.inputs.values(), *(case.expected or ()))
        for value in _arrays(value)
    )


def _arrays(value: Value) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(value, np.ndarray):
        yield value
    elif value is not None:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _arrays(item)


def literal(value: Value) -> str:
    """Return a Python expression that makes the value."""
    if isinstance(value, np.ndarray):
        row = element_type(value.dtype)
        if value.dtype.kind == "O":
            return f"np.array({value.reshape(-1).tolist()!r}, dtype=object).reshape({value.shape})"
        dtype = f"np.dtype({row.dtype!r})" if row.number <= PLAIN_TYPES + 2 else f"ml_dtypes.{row.dtype}"
        plain = value.reshape(-1)
        if row.number <= PLAIN_TYPES and np.isfinite(plain).all() and not (np.signbit(plain) & (plain == 0)).any():
            return f"np.array({plain.tolist()!r}, dtype={dtype}).reshape({value.shape})"
        return f"np.frombuffer(bytes.fromhex({value.tobytes().hex()!r}), dtype={dtype}).reshape({value.shape})"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(item)}" for key, item in value.items()) + "}"
    return "None"


def _expected(case: Case) -> Iterator[str]:
    if case.expected is None:
        what = "to be refused" if case.outcome is Outcome.REJECTS else "nothing: the text leaves it open"
        yield "expected = None"
        yield f"why = {f'{what}: {case.decided}'!r}"
        return
    yield "why = ''"
    yield "expected = ["
    for value in case.expected:
        yield f"    {literal(value)},"
    yield "]"


def _call(case: Case, result: Result, hello: Mapping[str, Any]) -> str:
    if result.backend.startswith("cmd:"):
        return OVER_STDIO.format(command=shlex.split(result.backend.removeprefix("cmd:")))
    wide = _needs_ml_dtypes(case) and "repro_wide" in hello
    text = hello.get("repro_wide" if wide else "repro")
    if not isinstance(text, str):
        return f"raise SystemExit('{result.backend} has no way to be called without this project')"
    return text


def _verify(case: Case) -> Iterator[str]:
    if case.outcome is Outcome.REJECTS:
        yield 'raise SystemExit("an answer, where the text forbids one")'
    if case.expected is None:
        return
    yield ""
    yield ""
    yield "def check(where, wanted, got):"
    yield "    if isinstance(wanted, (list, tuple)):"
    yield '        assert len(wanted) == len(got), f"{where}: {len(wanted)} elements expected, {len(got)} got"'
    yield "        for index, pair in enumerate(zip(wanted, got)):"
    yield '            check(f"{where}[{index}]", *pair)'
    yield "        return"
    yield "    got = np.asarray(got)"
    yield '    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"'
    yield '    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"'
    if case.allowance.rtol or case.allowance.atol or case.allowance.ulp:
        rtol = case.allowance.rtol or case.allowance.ulp * 2.0**-8
        yield "    wide = (wanted, got) if wanted.dtype == object else (wanted.astype(complex), got.astype(complex))"
        limits = f"rtol={rtol!r}, atol={case.allowance.atol!r}"
        yield f"    np.testing.assert_allclose(wide[1], wide[0], {limits}, err_msg=where)"
    else:
        yield "    np.testing.assert_array_equal(got, wanted, err_msg=where)"
    yield ""
    yield ""
    yield 'check("outputs", expected, list(outputs))'
    yield 'print("as expected")'
