# SPDX-License-Identifier: Apache-2.0
"""Tools that change, infer or check models: each wrong one gets the verdict that it deserves."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import TYPE_CHECKING

import faulty
import numpy as np
import onnx
import pytest

from commands import command
from onnx_conformance.base.verdict import Result, Verdict
from onnx_conformance.environments import backend_names
from onnx_conformance.judging import checker, transformer
from onnx_conformance.judging.ask import ask_and_judge
from onnx_conformance.processes import examiner
from onnx_conformance.processes.adapter_process import Limits, StartError
from onnx_conformance.processes.asker import Asker
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import find_case, open_suite
from onnx_conformance.tolerance.several_nodes import UndecidedError
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.case.case import Case


ADAPTERS = Path(faulty.__file__).parent
MATRIX, SYMBOLIC = "ai.onnx/Identity/13/matrix", "ai.onnx/Identity/13/matrix@symbolic"
PRODUCT, SOFTPLUS, BEYOND = (
    "ai.onnx/MatMul/13/plain@symbolic",
    "ai.onnx/Softplus/22/signature_example",
    "ai.onnx/Softplus/22/infinities_float",
)
OVERRIDES = "ai.onnx/Where/16/mixed@overridden"
FORBIDDEN = "ai.onnx/Identity/13/signature_types_outside_t/int4"
STATIC, BY_VALUES = "ai.onnx/Split/2/sum_before_13_short", "ai.onnx/Split/13/sum_short"


@functools.cache
def case_of(name: str) -> Case:
    return find_case(name, (Generated(),))


def result_of(tool: str, option: str, name: str, timeout: float = 20.0) -> Result:
    target = backend_names.resolve(f"{ADAPTERS / tool}.py[{option}]")
    with Asker(target, Limits(timeout=timeout, restarts=3)) as asker:
        return ask_and_judge(asker, case_of(name))[0]


@pytest.fixture(scope="module", autouse=True)
def ends() -> Iterator[None]:
    """End the oracle's process after the tests of this file."""
    yield
    examiner.close()


# Transformers

TRANSFORMED = [
    ("nothing", MATRIX, Verdict.PASS, ""),
    ("nothing", SYMBOLIC, Verdict.PASS, ""),
    ("nothing", FORBIDDEN, Verdict.UNSPECIFIED, "no requirement on transforming"),
    ("nothing", OVERRIDES, Verdict.PASS, ""),  # A runtime needs to accept such a value; a tool gets none.
    ("raises", FORBIDDEN, Verdict.PASS, ""),
    ("value", MATRIX, Verdict.WRONG_VALUE, "evaluated by the oracle"),
    ("shape", MATRIX, Verdict.PASS, ""),  # It knows no other shape.
    (
        "untyped",
        MATRIX,
        Verdict.INVALID_MODEL,
        "output is of element type 0, which ONNX does not define; in the original",
    ),
    (
        "no_type",
        MATRIX,
        Verdict.INVALID_MODEL,
        "output is of element type 99, which ONNX does not define; in the original",
    ),
    ("nothing", PRODUCT, Verdict.PASS, ""),
    ("shape", PRODUCT, Verdict.INVALID_MODEL, "the specification forbids the returned model"),
    ("half", SOFTPLUS, Verdict.PASS, ""),
    ("half", BEYOND, Verdict.UNSPECIFIED, "in float16: float16 cannot represent all of its numbers"),
    ("half_scaled", SOFTPLUS, Verdict.WRONG_VALUE, "evaluated by the oracle"),
    ("shape", SYMBOLIC, Verdict.INVALID_MODEL, "with input [3, 4]: the specification forbids the returned model"),
    ("name", MATRIX, Verdict.INVALID_MODEL, "its outputs are renamed; those of the original model are output"),
    ("type", MATRIX, Verdict.INVALID_MODEL, "output is tensor(double); in the original model it is tensor(float)"),
    ("input", MATRIX, Verdict.INVALID_MODEL, "the inputs more, which the original model does not have"),
    ("attribute", MATRIX, Verdict.INVALID_MODEL, "the model checker rejects the returned model"),
    ("text", MATRIX, Verdict.WRONG_TYPE, "evaluated by the oracle"),
    ("unknown", MATRIX, Verdict.UNSUPPORTED, "no operator file"),
    ("bytes", MATRIX, Verdict.INVALID_MODEL, "8 bytes that are not a ModelProto"),
    ("empty", MATRIX, Verdict.INVALID_MODEL, "0 bytes that contain a ModelProto without a graph"),
    ("large", MATRIX, Verdict.INVALID_MODEL, "a model of 67,108,864 bytes, which was not read"),
    ("none", MATRIX, Verdict.ADAPTER_ERROR, "transform() did not return a model: NoneType None; expected"),
    ("raises", MATRIX, Verdict.REFUSED, "I cannot"),
    ("prints", MATRIX, Verdict.PASS, ""),
    ("hangs", MATRIX, Verdict.TIMEOUT, "no answer within"),
    ("dies", MATRIX, Verdict.CRASH, "SIGABRT"),
    ("exits", MATRIX, Verdict.REFUSED, "3"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("option", "name", "verdict", "words"), TRANSFORMED)
def test_a_tool_that_changes_models_is_judged_by_the_oracle(
    option: str, name: str, verdict: Verdict, words: str
) -> None:
    result = result_of("wrong_transformer", option, name, 1.5 if option == "hangs" else 20.0)
    assert result.verdict is verdict, result
    assert words in result.message, result.message


# Inferencers

INFERRED = [
    ("nothing", MATRIX, Verdict.PASS, ""),
    ("nothing", FORBIDDEN, Verdict.UNSPECIFIED, ""),
    ("nothing", OVERRIDES, Verdict.PASS, ""),  # A runtime needs to accept such a value; a tool gets none.
    ("raises", FORBIDDEN, Verdict.PASS, ""),  # It has found a contradiction.
    ("raises", MATRIX, Verdict.REFUSED, "a contradiction"),
    ("type", MATRIX, Verdict.WRONG_TYPE, "inferred tensor(int8), expected float"),
    ("size", MATRIX, Verdict.WRONG_SHAPE, "inferred shape [77, 3], expected [2, 3]"),
    ("size", SYMBOLIC, Verdict.WRONG_SHAPE, ", expected [2, 3]"),
    ("rank", MATRIX, Verdict.WRONG_SHAPE, "inferred shape [2, 3, 1], expected [2, 3]"),
    ("kind", MATRIX, Verdict.WRONG_TYPE, "inferred sequence"),
    ("no_size", MATRIX, Verdict.KNOWS_LESS, "inferred shape [?, 3], actual [2, 3]"),
    ("no_size", SYMBOLIC, Verdict.PASS, ""),
    ("no_rank", MATRIX, Verdict.KNOWS_LESS, "no rank"),
    ("no_type", MATRIX, Verdict.KNOWS_LESS, "no type"),
    ("no_output", MATRIX, Verdict.INVALID_MODEL, "it has no output output"),
    ("bytes", MATRIX, Verdict.INVALID_MODEL, "not a ModelProto"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("option", "name", "verdict", "words"), INFERRED)
def test_a_lie_of_an_inferencer_is_found_and_silence_is_counted(
    option: str, name: str, verdict: Verdict, words: str
) -> None:
    result = result_of("wrong_inferencer", option, name)
    assert result.verdict is verdict, result
    assert words in result.message, result.message


# Checkers

CHECKED = [
    ("all:signature,static", MATRIX, Verdict.PASS),
    ("none:signature,static", MATRIX, Verdict.REFUSED),
    ("none:signature,static", FORBIDDEN, Verdict.PASS),
    ("all:signature", FORBIDDEN, Verdict.ACCEPTED_INVALID),
    ("all:signature", STATIC, Verdict.UNSPECIFIED),
    ("all:signature,static", STATIC, Verdict.ACCEPTED_INVALID),
    ("all:signature,static", BY_VALUES, Verdict.UNSPECIFIED),
]


@pytest.mark.slow
@pytest.mark.parametrize(("option", "name", "verdict"), CHECKED)
def test_a_checker_is_held_to_what_it_can_know(option: str, name: str, verdict: Verdict) -> None:
    result = result_of("wrong_checker", option, name)
    assert result.verdict is verdict, result


def test_what_only_values_forbid_is_known_at_run_time_alone() -> None:
    assert [checker.phase(case_of(name)) for name in (FORBIDDEN, STATIC, BY_VALUES)] == ["signature", "static", "run"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ai.onnx.ml/CastMap/1/key_beyond", "ai.onnx.ml/OneHotEncoder/1/missing_strings"])
def test_no_checker_knows_the_keys_of_a_map_or_the_strings_of_an_input(name: str) -> None:
    assert checker.phase(case_of(name)) == "run"


@pytest.mark.slow
def test_the_strings_of_a_model_are_tried_as_inputs() -> None:
    """The model has one category, and no other input than this category is valid."""
    case = case_of("ai.onnx.ml/OneHotEncoder/1/missing_strings")
    model = onnx.load_from_string(case.model)
    categories = next(item for item in model.graph.node[0].attribute if item.name == "cats_strings")
    categories.strings[:] = [b"b"]
    assert checker.phase(dataclasses.replace(case, model=model.SerializeToString())) == "run"


# Names and options


def test_an_option_stands_in_brackets(tmp_path: Path) -> None:
    target = backend_names.resolve("onnx_checker[full]")
    assert (target.name, target.environment["ONNX_CONFORMANCE_OPTION"]) == ("onnx_checker[full]", "full")
    path = tmp_path / "results.ndjson"
    done = command("run", "--op", "Identity/13", "--backend", "onnx_checker[all]", "--results", path)
    assert done.status == 2
    assert done.refused("adapter-not-started", "'all'", "plain, full"), done.text


def test_a_subject_that_does_not_exist_is_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        'def info():\n    return {"runtime": "r", "version": "1", "subject": "oven"}\n\n\n'
        "def run(model, inputs, outputs):\n    return []\n"
    )
    with refuses("hello-invalid", kind=StartError):
        Asker(backend_names.resolve(str(path)), Limits())


def test_a_runtime_does_not_answer_with_a_model(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        'def info():\n    return {"runtime": "r", "version": "1", "subject": "checker"}\n\n\n'
        "def run(model, inputs, outputs):\n    return []\n"
    )
    with Asker(backend_names.resolve(str(path)), Limits(restarts=3)) as asker:
        result = ask_and_judge(asker, case_of(MATRIX))[0]
    assert result.verdict is Verdict.ADAPTER_ERROR
    assert "which is not an answer of a checker" in result.message


# Quantizers

CONVOLUTION = "ai.onnx/Conv/22/line_b2_c3_m8_w33_k3/float@initializer"
QUANTIZED = [
    ("right", Verdict.PASS, ""),
    ("block", Verdict.PASS, ""),
    ("nothing", Verdict.UNSUPPORTED, "changed no tensor"),
    ("channel_off_by_one", Verdict.WRONG_VALUE, "the quantized constant W["),
    ("block_off_by_one", Verdict.WRONG_VALUE, "the quantized constant W["),
    ("clipped", Verdict.WRONG_VALUE, "the quantized constant W["),
    ("multiplied", Verdict.UNSPECIFIED, "but the results are near the original ones"),
    ("wrong_axis", Verdict.INVALID_MODEL, "the specification forbids"),
    ("narrow", Verdict.WRONG_VALUE, "but the range of its grid ends at"),
    ("coarse", Verdict.WRONG_VALUE, "the scale X_scale is"),
    ("drops_a_node", Verdict.WRONG_VALUE, "even without rounding, outputs[0]"),
    ("renames", Verdict.INVALID_MODEL, "those of the original model are Y"),
]


@pytest.mark.parametrize(("option", "verdict", "message"), QUANTIZED)
def test_a_quantizer_may_only_round(option: str, verdict: Verdict, message: str) -> None:
    case = find_case(CONVOLUTION, (open_suite("kernels"),))
    with Asker(backend_names.resolve(f"{ADAPTERS / 'wrong_quantizer.py'}[{option}]"), Limits(restarts=3)) as asker:
        result = ask_and_judge(asker, case).result
    assert (result.verdict, message in result.message) == (verdict, True), result.message


@pytest.mark.slow
def test_tools_run_as_runtimes_do(tmp_path: Path) -> None:
    path = tmp_path / "results.ndjson"
    words = [
        "--backend",
        "onnx_checker",
        "--backend",
        "onnx_shape_inference",
        "--backend",
        "onnx_version_converter[21]",
        "--backend",
        "onnx_text",
        "--backend",
        "onnx_compose",
    ]
    done = command("run", "--core", "--op", "Identity/13", "--op", "Split/18", *words, "--results", path)
    assert done.status in {0, 1}, done.text
    assert "adapter_error" not in path.read_text()
    assert "knows less" in done.out


def test_numbers_that_are_equal_in_float16_leave_their_comparison_undecided() -> None:
    case = find_case("ai.onnx/Equal/19/planes_b2_c17_h7_w16/float")
    narrow = [np.asarray(value, np.float16) for value in case.inputs.values()]
    assert (np.equal(*narrow) != case.expected[0]).any()
    with pytest.raises(UndecidedError):
        transformer.computed_in(case, "float16")


ROUNDED = {
    # Around pi, the error of the input and that of the node nearly cancel if they are equal.
    "Sin/22/length_n257/float": np.sin,
    "Mul/14/length_n131075/float": np.multiply,
    "Add/14/channels_b2_c64_h7_w33/float": np.add,
    "Flatten/25/axis_1_b5_c64_h7_w33/float": lambda x: x.reshape(len(x), -1),  # It contains subnormal numbers.
}


@pytest.mark.parametrize("name", ROUNDED)
def test_a_correct_calculation_in_float16_is_within_the_tolerance_of_every_element(name: str) -> None:
    case = find_case(f"ai.onnx/{name}")
    (bound,) = transformer.computed_in(case, "float16").allowance.bounds or ()
    narrow = [np.asarray(value, np.float16) for value in case.inputs.values()]
    answer, expected = (np.asarray(value, np.float64) for value in (ROUNDED[name](*narrow), case.expected[0]))
    off = np.abs(answer - expected)
    assert (off > 0).any()
    assert (off <= bound).all()
    assert (bound <= 0.05 * np.maximum(np.abs(expected), 1)).all(), "a fault is noticed"
