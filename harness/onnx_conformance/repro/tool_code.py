# SPDX-License-Identifier: Apache-2.0
"""The end of a script for a tool: code that judges the returned model, or the tool's other answer.

The model that a transformer returned is judged by other evaluators: onnx.reference, then onnxruntime. Each is used only
if it computes the expected values for the original model. If neither does, for example because both confuse the
operator version with a newer one, the script uses stored data: the model that the tool returned when the script was
written, and the oracle's values for it.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import onnx
import onnx.printer

from onnx_conformance.base import under_test
from onnx_conformance.base.under_test import Subject
from onnx_conformance.judging import quantizer, transformer
from onnx_conformance.processes import examiner
from onnx_conformance.processes.replies import Answered, Refused, ReturnedModel
from onnx_conformance.repro import check_code
from onnx_conformance.repro.literals import inside_quotes, literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case

NAMES = "original, names = model.SerializeToString(), [item.name for item in model.graph.output]\n"
"""Code that saves the original model and the names of its outputs, because the tool may change the model."""
ENDS = """
def invalid(why):
    raise AssertionError(f"the tool returned an invalid model: {why}")


def unseen(why):
    print(why)
    raise SystemExit(2)
"""
"""The end of a script of `repro` if the model is invalid, and if no available evaluator can judge it."""
MOST_MODEL = 50_000
"""Maximum length of a stored model of a transformer, in characters; a longer one is not stored."""


@dataclass(frozen=True)
class Made:
    """The model that a transformer returned for a case.

    Attributes:
        text: the model as text of onnx.printer; empty if it is not a model, or too long.
        outputs: the oracle's outputs of the model; None if they are not known, or if the text forbids the model.
        forbidden: the reason why the model is wrong whatever its outputs are, or an empty text: the text forbids it, or
            a quantizer changed more than it may.
    """

    text: str = ""
    outputs: tuple[Value, ...] | None = None
    forbidden: str = ""


NOTHING = Made()


def made(case: Case, model: bytes | None, hello: Mapping[str, Any]) -> Made:
    """Return the model that a transformer returned for a case, and the oracle's evaluation of it.

    Args:
        case: the case.
        model: the serialized model that the transformer returned; None if it returned no model.
        hello: the hello of the adapter.
    """
    subject = under_test.subject(hello)
    if model is None or subject not in {Subject.TRANSFORMER, Subject.QUANTIZER}:
        return NOTHING
    try:
        text = onnx.printer.to_text(onnx.load_from_string(model))
    except Exception:  # noqa: BLE001 - it may be any model, and the printer does not support all of them
        return NOTHING
    if len(text) > MOST_MODEL:
        return NOTHING
    if subject is Subject.QUANTIZER:
        fields = quantizer.judged(case, ReturnedModel(model, len(model), subject, None))
        return Made(text, forbidden=fields.get("message", "") if fields["verdict"].failed else "")
    said = examiner.evaluated(case, model, case.inputs)
    if isinstance(said, Answered):
        return Made(text, said.outputs)
    forbids = isinstance(said, Refused) and said.reason is None and said.error in transformer.FORBIDDEN
    return Made(text, forbidden=said.message) if isinstance(said, Refused) and forbids else Made(text)


def is_tool(hello: Mapping[str, Any]) -> bool:
    """Return whether a hello is that of a tool, which returns no outputs."""
    return under_test.subject(hello) is not Subject.RUNTIME


def after(hello: Mapping[str, Any], checks: Sequence[str], came: Made, ends: str) -> str:
    """Return the code from the call of a tool, which has changed `model` or raised an error, to the end of a script.

    Args:
        hello: the hello of the tool's adapter.
        checks: the pieces that compare `outputs` with `expected`; see check_code.
        came: the model that the tool returned when the script was written.
        ends: the code that defines `invalid` and `unseen`.
    """
    if under_test.subject(hello) is Subject.QUANTIZER:
        return "".join((QUANTIZED, ends, SAME.format(text=inside_quotes(came.text.strip()), why=came.forbidden)))
    if under_test.subject(hello) is not Subject.TRANSFORMER:
        return "".join((OF_WORDS[under_test.subject(hello)], *checks))
    compared = (
        "".join(text for text in checks if text != check_code.PIECES["end"]).strip("\n").replace("\n\n\n", "\n\n")
    )
    indented = textwrap.indent(compared, "    ")
    return "".join((IMPORTS, ends, EVALUATORS, indented, JUDGED, _kept(came), NOBODY))


def _kept(came: Made) -> str:
    """Return the code for a model that no available evaluator can judge; empty if the oracle cannot judge it either."""
    if came.forbidden:
        told = f"    invalid({f'the text forbids it: {came.forbidden}'!r})\n"
    elif came.outputs is not None:
        values = "".join(f"        {literal(value)},\n" for value in came.outputs)
        needed = "    import ml_dtypes\n\n" if "ml_dtypes." in values else ""  # The expected values may not need it.
        told = f"{needed}    outputs = [  # According to the text.\n{values}    ]\n{GOT}"
    else:
        return ""
    return KEPT.format(text=inside_quotes(came.text.strip())) + told


IMPORTS = """
import onnx.checker
import onnx.defs
import onnx.printer
import onnx.reference

"""
INTERFACE = """\
    first = onnx.load_from_string(original).graph
    there = [item.name for item in model.graph.output]
    assert there == names, f"outputs {names} expected, {there} got"
    for before, after in zip(first.output, model.graph.output):
        types = [(item.type.WhichOneof("value"), item.type.tensor_type.elem_type) for item in (before, after)]
        same = types[0] == types[1] or not all(kind for kind, _ in types)
        assert same, f"{before.name}: {types[0]} expected, {types[1]} got"
    known = {item.name for item in (*first.input, *model.graph.initializer)}
    extra = [item.name for item in model.graph.input if item.name not in known]
    assert not extra, f"it has the inputs {extra}, which the original model does not have"
"""
"""Checks for a transformer: its model must have the inputs and outputs of the original model."""
EVALUATORS = """

def taken(item):  # The tool may have removed inputs that no node needs.
    return {value.name: inputs[value.name] for value in item.graph.input if value.name in inputs}


def by_onnx_reference(item):
    return onnx.reference.ReferenceEvaluator(item).run(names, taken(item))


def by_onnxruntime(item):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(item.SerializeToString(), options).run(names, taken(item))


def check_all(expected, outputs):
"""
JUDGED = f"""


try:
    onnx.checker.check_model(model)
{INTERFACE.rstrip()}
except Exception as error:
    invalid(error)
judges = []
known = {{schema.domain for schema in onnx.defs.get_all_schemas()}} | {{item.domain for item in model.functions}}
foreign = any(node.domain not in known for node in model.graph.node)  # Only ONNX Runtime has its own operators.
for evaluate in (by_onnxruntime,) if foreign else (by_onnx_reference, by_onnxruntime):
    try:
        check_all(list(expected), evaluate(onnx.load_from_string(original)))
    except Exception as error:  # An evaluator that fails for the original model cannot judge the other.
        print(f"{{evaluate.__name__}}, for the original model: ", " ".join(str(error).split())[:200], flush=True)
        continue
    try:
        outputs = evaluate(model)
    except Exception as error:
        invalid(error)
    print("got:     ", outputs, flush=True)
    check_all(list(expected), outputs)
    judges.append(evaluate)
"""
KEPT = '''\
made = """
{text}
"""  # The model that the tool returned when this script was written.
if not judges and onnx.printer.to_text(model).strip() == made.strip():
'''
GOT = """\
    print("got:     ", outputs, flush=True)
    check_all(list(expected), outputs)
"""
NOBODY = """\
if not judges:
    unseen("cannot judge the model: onnx.reference and onnxruntime are missing, or wrong for the original model")
print("as expected")
"""
QUANTIZED = """

import onnx.checker
import onnx.printer


def results(item):
    import onnxruntime

    return onnxruntime.InferenceSession(item.SerializeToString()).run(names, inputs)


try:
    onnx.checker.check_model(model)
except Exception as error:
    raise AssertionError(f"the quantizer returned an invalid model: {error}") from error
for name, item in (("original", onnx.load_from_string(original)), ("quantized", model)):
    try:
        print(f"{name}, in onnxruntime: ", results(item), flush=True)
    except Exception as error:
        print(f"{name}, in onnxruntime: ", " ".join(str(error).split())[:300], flush=True)
"""
SAME = '''
made = """
{text}
"""  # The quantized model when this script was written.
assert onnx.printer.to_text(model).strip() != made.strip(), {why!r}
unseen("the quantizer returns another model than when this script was written; only the harness can judge it")
'''
OF_WORDS = {
    Subject.INFERENCER: """

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
    Subject.CHECKER: """

print("accepted")
outputs = expected
""",
}
"""The code for tools that do not return a model, by the kind of tool."""
PIECES = {
    str(Subject.TRANSFORMER): {"before": IMPORTS + ENDS + EVALUATORS, "judges": JUDGED + NOBODY},
    str(Subject.QUANTIZER): {"before": QUANTIZED, "whole": "yes"},
    **{str(subject): {"before": text} for subject, text in OF_WORDS.items()},
}
"""For each kind of tool, the code before the checks of a script and the code after them; for an HTML page."""
