"""`repro`: one self-contained Python file that shows a mismatch without this project."""

from __future__ import annotations

import shlex
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import onnx.printer

from backends.protocol import element_type
from harness import chance
from harness.case import Outcome, quoted
from harness.compare import is_float
from harness.declare import Drawn
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


def encode(value):
    if isinstance(value, list):
        return {{"kind": "sequence", "items": [encode(item) for item in value]}}
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
    if value["kind"] == "optional":
        return None if value["item"] is None else decode(value["item"])
    if value["type"] == onnx.TensorProto.STRING:
        return np.array(value["strings"], dtype=object).reshape(value["shape"])
    blank = np.zeros(value["shape"], onnx.helper.tensor_dtype_to_np_dtype(value["type"]))
    tensor = onnx.numpy_helper.from_array(blank)
    tensor.raw_data = payload.read(len(tensor.raw_data))
    return onnx.numpy_helper.to_array(tensor)


buffers = [model.SerializeToString()]
header = [{{"name": name, "value": encode(value)}} for name, value in inputs.items()]
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
print("hello:   ", runner.stdout.readline())
answer = json.loads(runner.stdout.readline() or "null")
if answer is None or answer["kind"] != "answer":
    raise RuntimeError(answer)
payload = runner.stdout
outputs = [decode(value) for value in answer["outputs"]]
"""


@dataclass(frozen=True)
class Parts:
    """What of a script depends on the case alone, so that a report can put scripts together for any backend.

    Attributes:
        before: imports, model, inputs, expected values.
        after: what holds the answer against them, but for `CHECK_DRAWN` and `CHECK`.
        wide: element types occur that numpy itself does not have.
        rejects: the text forbids the model, so that a refusal is what is expected.
        checks: `CHECK` follows.
        drawn: `CHECK_DRAWN` comes before it.
    """

    before: str
    after: str
    wide: bool
    rejects: bool
    checks: bool
    drawn: bool


def script(case: Case, result: Result, hello: Mapping[str, Any]) -> str:
    """Return the file's text.

    Args:
        case: what is shown.
        result: what the backend made of it now.
        hello: what the backend's adapter said of itself; `repro` there is how one calls the runtime.
    """
    found = parts(case)
    code = call(result.backend, hello, wide=found.wide).rstrip()
    asked = REFUSAL.format(call=textwrap.indent(code, "    ", bool)) if found.rejects else f"{code}\n"
    checks = f"{CHECK_DRAWN if found.drawn else ''}{CHECK}" if found.checks else ""
    return f"{_head(case, result, hello)}{found.before}{asked}{GOT}{found.after}{checks}"


def parts(case: Case) -> Parts:
    """Return what depends on the case alone."""
    checks = case.expected is not None and case.outcome is not Outcome.REJECTS
    return Parts(
        before="".join(f"{text}\n" for text in _before(case)),
        after="".join(f"{text}\n" for text in _after(case)),
        wide=_needs_ml_dtypes(case),
        rejects=case.outcome is Outcome.REJECTS,
        checks=checks,
        drawn=checks and any(isinstance(value, Drawn) for value in case.expected or ()),
    )


def runtime(backend: str, said: Mapping[str, Any]) -> str:
    """Return what a runtime calls itself, with its version."""
    return f"{said.get('runtime', backend)} {said.get('version', '')}".strip()


def needs(backend: str, said: Mapping[str, Any]) -> str:
    """Return what must be installed to run a script."""
    also = f" and {_safe(runtime(backend, said))}" if said.get("runtime") else ""
    return f"Needs: pip install onnx=={onnx.__version__}{also}"


def _head(case: Case, result: Result, hello: Mapping[str, Any]) -> str:
    lines = [f'"""{_safe(case.id)} on {_safe(runtime(result.backend, hello))}: {result.verdict}.', ""]
    lines += [f"The text: {_safe(quoted(clause))}" for clause in case.clauses]
    lines += [f"Seen: {_safe(result.message)}"] if result.message else []
    return "\n".join([*lines, needs(result.backend, hello), '"""', "", ""])


def _before(case: Case) -> Iterator[str]:
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
    yield 'print("expected:", expected if expected is not None else why)'
    yield ""


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
        if not node.domain:  # Named as empty and not named are the same.
            node.ClearField("domain")
    for tensor in copy.graph.initializer:
        array = onnx.numpy_helper.to_array(tensor)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
    return bytes(copy.SerializeToString(deterministic=True))


def _needs_ml_dtypes(case: Case) -> bool:
    return any(
        element_type(value.dtype).number > PLAIN_TYPES + 2
        for given in (*case.inputs.values(), *(case.expected or ()))
        for value in _arrays(given)
    )


def _arrays(value: Value | Drawn) -> Iterator[np.ndarray[Any, Any]]:
    if isinstance(value, Drawn):
        yield value.example
    elif isinstance(value, np.ndarray):
        yield value
    elif value is not None:
        for item in value.values() if isinstance(value, dict) else value:
            yield from _arrays(item)


def literal(value: Value | Drawn) -> str:  # noqa: PLR0911 - one for each kind of value
    """Return a Python expression that makes the value; for one drawn at random, of what must hold of it."""
    if isinstance(value, Drawn):
        return f"('drawn', {chance.describe(value)!r})"
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


def call(backend: str, said: Mapping[str, Any], *, wide: bool) -> str:
    """Return the code that calls a runtime: from `model` and `inputs` to `outputs`.

    Args:
        backend: as the user named it.
        said: what its adapter said of itself.
        wide: whether element types occur that numpy itself does not have.
    """
    if backend.startswith("cmd:"):
        return OVER_STDIO.format(command=shlex.split(backend.removeprefix("cmd:")))
    text = said.get("repro_wide" if wide and "repro_wide" in said else "repro")
    if not isinstance(text, str):
        return f"raise SystemExit({f'{backend} has no way to be called without this project'!r})"
    return text


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
CHECK_DRAWN = """

def check_drawn(where, wanted, got):
    name = {"float32": "float", "float64": "double"}.get(got.dtype.name, got.dtype.name)
    assert name == wanted["type"], f"{where}: {wanted['type']} expected, {name} got"
    assert list(got.shape) == wanted["shape"], f"{where}: shape {wanted['shape']} expected, {got.shape} got"
    values = got.astype(float)
    if "same_as" in wanted:
        assert (got == outputs[wanted["same_as"]]).all(), f"{where}: the same seed gave other values"
    for limit, beyond in (("low", np.less), ("high", np.greater)):
        if limit in wanted:
            wrong = beyond(values, float(np.asarray(wanted[limit]).astype(got.dtype)))
            assert not wrong.any(), f"{where}: {values[wrong]} beyond {limit} {wanted[limit]}"
    if "choices" in wanted and "chosen_by" in wanted:
        choices = np.where(outputs[wanted["chosen_by"]], wanted["choices"][1], wanted["choices"][0])
        near = np.isclose(values, choices, rtol=8 * EPS.get(got.dtype.name, 0))
        assert near.all(), f"{where}: {choices} expected, {got} got"
    elif "choices" in wanted:
        near = [np.isclose(values, choice, rtol=8 * EPS.get(got.dtype.name, 0)) for choice in wanted["choices"]]
        assert np.logical_or.reduce(near).all(), f"{where}: one of {wanted['choices']} expected, {got} got"
    if "mean" in wanted and "deviation" in wanted:
        deviation = np.sqrt(np.square(np.broadcast_to(wanted["deviation"], got.shape)).sum())
        off = abs((values - wanted["mean"]).sum()) / deviation if deviation else 0
        assert off <= 6, f"{where}: the mean is {values.mean()}, {off:.3g} sigma from what it should be"
        if "kurtosis" in wanted:
            ratio = np.square(values - wanted["mean"]).sum() / deviation**2
            allowed = 6 * np.sqrt((wanted["kurtosis"] - 1) / got.size)
            assert abs(ratio - 1) <= allowed, f"{where}: {ratio} of the variance"
"""
CHECK = """

def check(where, wanted, got, bound):
    if isinstance(wanted, tuple):
        return check_drawn(where, wanted[1], np.asarray(got))
    if isinstance(wanted, list):
        assert isinstance(got, (list, tuple)), f"{where}: a sequence expected, {type(got).__name__} got"
        assert len(wanted) == len(got), f"{where}: {len(wanted)} elements expected, {len(got)} got"
        for index, pair in enumerate(zip(wanted, got)):
            check(f"{where}[{index}]", *pair, bound)
        return
    if isinstance(wanted, dict):
        assert isinstance(got, dict) and wanted.keys() == got.keys(), f"{where}: {wanted} expected, {got} got"
        for key in wanted:
            check(f"{where}[{key!r}]", wanted[key], got[key], bound)
        return
    if wanted is None:
        assert got is None, f"{where}: an empty optional expected, {got} got"
        return
    assert not isinstance(got, (list, dict)) and got is not None, f"{where}: a tensor expected, {got} got"
    got = np.asarray(got)
    assert wanted.dtype == got.dtype, f"{where}: {wanted.dtype} expected, {got.dtype} got"
    assert wanted.shape == got.shape, f"{where}: shape {wanted.shape} expected, {got.shape} got"
    a, b, bound = (np.ravel(array) for array in (wanted, got, np.broadcast_to(bound, wanted.shape)))
    if a.dtype.kind == "c":  # By its parts.
        a, b, bound = a.view(a.real.dtype), b.view(b.real.dtype), np.repeat(bound, 2)
    differs = ~((a == b) | ((a != a) & (b != b)))
    if "float" in a.dtype.name:
        with np.errstate(all="ignore"):
            wide, far = np.abs(a.astype(float)), np.abs(a.astype(float) - b.astype(float))
            near = far <= np.maximum(ATOL + (RTOL + ULP * EPS.get(a.dtype.name, 0)) * wide, bound)
        differs &= ~(near & np.isfinite(far))
        if SIGNED_ZERO:
            differs |= (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
    count = int(differs.sum())
    assert not count, f"{where}: {count} of {differs.size} elements differ; {wanted} expected, {got} got"


assert len(expected) == len(outputs), f"{len(expected)} outputs expected, {len(outputs)} got"
for index, pair in enumerate(zip(expected, outputs)):
    check(f"outputs[{index}]", *pair, BOUNDS[index])
print("as expected")
"""


def _after(case: Case) -> Iterator[str]:
    if case.outcome is Outcome.REJECTS:
        yield 'raise SystemExit("an answer, where the text forbids one")'
    if case.expected is None:
        return
    allowance = case.allowance
    floats = {array.real.dtype for value in case.expected for array in _arrays(value) if is_float(array)}
    wanted = allowance.ulp or case.outcome is Outcome.PROPERTY
    eps = {dtype.name: float(ml_dtypes.finfo(dtype).eps) for dtype in floats}  # type: ignore[no-untyped-call]
    bounds = [np.zeros(())] * len(case.expected) if allowance.bounds is None else allowance.bounds
    yield f"RTOL, ATOL, ULP, SIGNED_ZERO = {(allowance.rtol, allowance.atol, allowance.ulp, allowance.signed_zero)!r}"
    yield f"EPS = {eps if wanted else {}!r}  # One unit in the last place, beside 1."
    yield f"BOUNDS = [{', '.join(literal(np.asarray(bound)) for bound in bounds)}]"
