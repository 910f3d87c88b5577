# SPDX-License-Identifier: Apache-2.0
"""Which conditions on a case a node of a user's model decides."""

from __future__ import annotations

import onnx
import pytest

from onnx_conformance.analysis.known_call import KnownCall
from onnx_conformance.specification.model_use import calls

MODEL = """
<ir_version: 10, opset_import: ["" : 18]>
main (float[2,N] x, float[3,4] w, float v) => (float[2,N] y, float[K,4] p, float[L] s, float[M] q)
<int64[2] pads = {0, 1}, int64[1] axes = {0}> {
   y = Softmax <axis = 0> (x)
   zero = Constant <value_ints = [0, 0, 1, 0]> ()
   p = Pad <mode = "edge"> (w, zero)
   s = ReduceSum <keepdims = 0> (w, axes)
   q = Relu (v)
}
"""


def known(name: str) -> KnownCall:
    return KnownCall.of(next(call for call in calls(onnx.parser.parse_model(MODEL)) if call.node.op_type == name))


@pytest.mark.parametrize(
    ("operator", "words", "answer"),
    [
        ("Softmax", "axis=0", True),
        ("Softmax", "axis=1", False),
        ("Softmax", "axis <= 0", True),
        ("Softmax", "axis is negative", False),
        ("Softmax", "axis is not negative", True),
        ("Softmax", "axis is set", True),
        ("Softmax", "axis is not set", False),
        ("Softmax", "axis is not the last dimension", True),
        ("Softmax", "axis is the last dimension", False),
        ("Softmax", "axis counted from the front = 0", True),
        ("Softmax", "1 <= axis <= 3", False),
        ("Softmax", "rank of input >= 2", True),
        ("Softmax", "input is a scalar", False),
        ("Softmax", "input has a dimension of size 0", None),  # N may be 0.
        ("Softmax", "input has NaN", None),
        ("Softmax", "type is float", True),
        ("Softmax", "type is a floating one", True),
        ("Softmax", "type is an integer", False),
        ("Softmax", "type is not float", False),
        ("Softmax", "type is one of float16, bfloat16", False),
        ("Softmax", "type is none of float16, bfloat16", True),
        ("Softmax", "version is 13", True),
        ("Softmax", "version < 13", False),
        ("Softmax", "the text allows it", True),
        ("Softmax", "the text forbids it", False),
        ("Softmax", "form is @external_data", False),
        ("Softmax", "form is one of @external_data, @symbolic", None),
        ("Softmax", "form is not @expanded", True),
        ("Softmax", "tag is edge", None),
        ("Softmax", "the case cites «A sentence.»", None),
        ("Softmax", "an input has a number beyond float16", None),
        ("Pad", "data has a dimension of size 0", False),
        ("Pad", "data has a dimension of size 1", False),
        ("Pad", "mode=edge", True),
        ("Pad", "mode contains wrap", False),
        ("Pad", "mode is one of reflect, wrap", False),
        ("Pad", "axes is given", False),
        ("Pad", "axes is omitted", True),
        ("ReduceSum", "axes is an initializer", None),
        ("ReduceSum", "length of axes = 1", True),
        ("ReduceSum", "axes is empty", False),
        ("ReduceSum", "axes has a zero", True),
        ("ReduceSum", "axes has a negative value", False),
        ("ReduceSum", "the value of axes is 0", True),
        ("ReduceSum", "noop_with_empty_axes=0", True),
        ("Relu", "X is a scalar", True),
        ("Relu", "rank of X <= 1", True),
    ],
)
def test_a_model_decides_a_condition_or_not(operator: str, words: str, *, answer: bool | None) -> None:
    assert known(operator).meets(words) is answer


def test_bounds_of_lists_are_about_their_extremes() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 13]> m (float[1,1,5,5] x, float[1,1,3,3] w) => (float[1,1,A,B] y) '
        "{ y = Conv <pads = [0, 1, 2, 3]> (x, w) }"
    )
    conv = KnownCall.of(calls(onnx.parser.parse_model(text))[0])
    expected = {
        "a value of pads >= 3": True,
        "a value of pads >= 4": False,
        "every value of pads >= 1": False,
        "every value of pads >= 0": True,
        "a value of pads is negative": False,
        "every value of pads is at least 0": True,
        "values of pads differ": True,
        "values of pads are all equal": False,
        "length of pads = 4": True,
        "pads=[0,1,2,3]": True,
        "pads=[1,1,1,1]": False,
    }
    assert {words: conv.meets(words) for words in expected} == expected


def test_an_operator_of_another_domain_has_no_conditions() -> None:
    text = '<ir_version: 8, opset_import: ["" : 13, "own" : 1]> m (float[1] x) => (float[1] y) { y = own.Foo (x) }'
    (call,) = calls(onnx.parser.parse_model(text))
    with pytest.raises(ValueError, match="own/Foo"):
        KnownCall.of(call)
