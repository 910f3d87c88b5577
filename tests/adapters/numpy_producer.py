# SPDX-License-Identifier: Apache-2.0
"""An exporter of programs in numpy, which errs as its option or the word before a program, as in factor:exp, says."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from onnx_conformance.backends.option import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable

WRONG = os.environ.get(VARIABLE, "right")
OPT_OUTS = (("NotImplementedError", r"", "no such function"),)
X = np.array([[1, -2, 3], [0.1, 5, -0.7]], np.float32)
Array = np.ndarray[Any, Any]


def imprecise(x: Array) -> Array:
    """Return the exponential; in float32, with an error that no bound allows."""
    return np.exp(x) * np.float32(1.01 if x.dtype == np.float32 else 1)


def unstable(x: Array) -> Array:
    """Return different results in every precision, as a program does whose result is decided by rounding."""
    return x * np.float32(1.01) if x.dtype == np.float32 else x * 1.02


PROGRAMS: dict[str, tuple[Callable[[Array], Array], str, dict[str, Any]]] = {
    "sum/keepdims": (lambda x: x.sum(1, keepdims=True), "ReduceSum", {"keepdims": 1}),
    "sum/flat": (lambda x: x.sum(1), "ReduceSum", {"keepdims": 0}),
    "exp": (np.exp, "Exp", {}),
    "exp_of_float64": (lambda x: np.exp(x.astype(np.float64)), "Exp64", {}),
    "imprecise": (imprecise, "Exp", {}),
    "rounded_twice": (lambda x: np.nextafter(np.exp(x), np.inf, dtype=x.dtype), "Exp", {}),
    "imprecise_sum": (lambda x: imprecise(x).sum(1), "SumOfExp", {}),
    "branch": (np.negative, "If", {}),
    "unstable": (unstable, "Identity", {}),
    "random": (lambda x: np.random.default_rng(1).uniform(size=x.shape).astype(x.dtype), "RandomUniformLike", {}),
    "foreign": (np.negative, "Strange", {}),
    "missing": (np.negative, "", {}),
}
"""By name, the function, the operator that it is exported to, and the attributes of the operator."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {"runtime": "numpy-producer", "version": "1", "opset": 20}


def programs(globs: list[str]) -> list[str]:
    """Return the names of the programs; the harness selects those that globs match."""
    del globs
    return list(PROGRAMS)


def produce(program: str, opset: int, dynamic: bool) -> dict[str, Any]:  # noqa: FBT001 - as in every producer
    """Return a program as a model, and its results in numpy."""
    word, _, program = program.rpartition(":")
    wrong = word or WRONG
    function, operator, attributes = PROGRAMS[program]
    if not operator:
        raise NotImplementedError(f"{program} has no function in ONNX")
    made = onnx.load_from_string(_model(operator, attributes, opset, "rows" if dynamic else 2, function(X)))
    if program in {"sum/keepdims", "exp"}:
        WRONGS[wrong](made)
    times = 2 if program.endswith("_twice") else 1  # Two outputs with one name.
    made.graph.output.extend([made.graph.output[0]] * (times - 1))
    inputs = [X, np.concatenate([X, X])] if dynamic else [X]
    return {"model": made.SerializeToString(), "runs": [_run(function, x, wrong, times) for x in inputs]}


def _run(function: Callable[[Array], Array], x: Array, wrong: str, times: int) -> dict[str, Any]:
    wide = None if wrong == "no_reference" else [np.asarray(function(x.astype(np.float64)), np.float64)] * times
    return {"inputs": {"x": x}, "outputs": [function(x)] * times, "reference": wide}


def _model(operator: str, attributes: dict[str, Any], opset: int, rows: Any, result: Array) -> bytes:
    kind = helper.np_dtype_to_tensor_dtype(result.dtype)
    nodes = [helper.make_node(operator, ["x"], ["y"], **attributes)]
    initializers = []
    if operator in {"ReduceSum", "SumOfExp"}:
        nodes[0].input.append("axes")
        initializers = [helper.make_tensor("axes", TensorProto.INT64, [1], [1])]
    if operator == "Exp64":
        nodes = [
            helper.make_node("Cast", ["x"], ["wide"], to=TensorProto.DOUBLE),
            helper.make_node("Exp", ["wide"], ["y"]),
        ]
    if operator == "SumOfExp":
        nodes = [
            helper.make_node("Exp", ["x"], ["exp"]),
            helper.make_node("ReduceSum", ["exp", "axes"], ["y"], keepdims=0),
        ]
    if operator == "If":  # Its branches do not declare the types of their outputs, which ONNX allows.
        untyped = onnx.ValueInfoProto(name="negative")
        branch = helper.make_graph([helper.make_node("Neg", ["x"], ["negative"])], "branch", [], [untyped])
        other = helper.make_graph([helper.make_node("Neg", ["x"], ["negative"])], "other", [], [untyped])
        other.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
        initializers = [helper.make_tensor("condition", TensorProto.BOOL, [], [True])]
        nodes = [helper.make_node("If", ["condition"], ["y"], then_branch=branch, else_branch=other)]
    if operator == "Strange":
        nodes[0].domain = "com.example"
    graph = helper.make_graph(
        nodes,
        "program",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 3])],
        [helper.make_tensor_value_info("y", kind, [rows, *result.shape[1:]])],
        initializers,
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.example", 1)]
    return helper.make_model(graph, opset_imports=imports).SerializeToString()


def _drop_keepdims(made: onnx.ModelProto) -> None:
    for item in made.graph.node[0].attribute:
        item.i = 0
    if made.graph.node[0].op_type == "ReduceSum":
        del made.graph.output[0].type.tensor_type.shape.dim[1:]


def _double(made: onnx.ModelProto) -> None:
    made.graph.node[-1].output[0] = "half"
    made.graph.node.append(helper.make_node("Add", ["half", "half"], ["y"]))


def _bake(made: onnx.ModelProto) -> None:
    """Make a model that is right for two rows, and wrong for all other numbers of rows."""
    made.graph.initializer.append(helper.make_tensor("ones", TensorProto.FLOAT, [2, 1], [1, 1]))
    made.graph.node[-1].output[0] = "result"
    made.graph.node.append(helper.make_node("Mul", ["result", "ones"], ["y"]))


def _retype(made: onnx.ModelProto) -> None:
    made.graph.output[0].type.tensor_type.elem_type = TensorProto.DOUBLE
    made.graph.node[-1].output[0] = "narrow"
    made.graph.node.append(helper.make_node("Cast", ["narrow"], ["y"], to=TensorProto.DOUBLE))


WRONGS: dict[str, Callable[[onnx.ModelProto], object]] = {
    "right": lambda _: None,
    "no_reference": lambda _: None,
    "keepdims": _drop_keepdims,
    "factor": _double,
    "type": _retype,
    "baked": _bake,
    "outputs": lambda made: made.graph.output.append(made.graph.input[0]),
    "cycle": lambda made: made.graph.node[0].input.__setitem__(0, "y"),
    "declared": lambda made: setattr(made.graph.output[0].type.tensor_type.shape.dim[1], "dim_value", 7),
    "opset": lambda made: setattr(made.opset_import[0], "version", 21),
    "lower": lambda made: setattr(made.opset_import[0], "version", 18),
    "input": lambda made: setattr(made.graph.input[0], "name", "z"),
    "raises": lambda _: 1 / 0,
    "hangs": lambda _: time.sleep(100),
    "crashes": lambda _: os.abort(),
}
"""What an option changes in two of the programs."""
