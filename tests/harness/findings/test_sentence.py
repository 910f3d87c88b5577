# SPDX-License-Identifier: Apache-2.0
"""Which sentence a failure violates."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import pytest

from onnx_conformance.analysis import traits
from onnx_conformance.analysis.sentences import wrong_output
from onnx_conformance.analysis.whole_sentence import whole_of
from onnx_conformance.base.verdict import Verdict, split_operator
from onnx_conformance.case.case import Outcome
from onnx_conformance.findings import failure_groups
from onnx_conformance.findings.sentence import sentence as sentence_of
from onnx_conformance.specification import registry
from onnx_conformance.suites.lookup import find_case
from runs import result

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case


def begins(case: Case, found: str, part: str) -> bool:
    """Return whether a sentence begins with a part, or is the whole sentence that the part is cut from."""
    return found.startswith((part, whole_of(case.operator, part)))


@pytest.mark.parametrize(
    ("case", "mismatch", "sentence"),
    [
        ("DFT/20/all_other_dimensions", {"relative": 1e-5}, "$$y[m, k] = "),
        ("DFT/20/all_other_dimensions", {"relative": 0.5}, 'and `M` denotes the conceptual "all other dimensions,"'),
        (
            "QuantizeLinear/19/signature_types_t2/float8e5m2",
            {"relative": 0.5},
            "y = saturate ((x / y_scale) + y_zero_point)",
        ),
    ],
)
def test_a_value_violates_no_sentence_on_types_and_imprecision_violates_the_definition(
    case: str, mismatch: dict[str, object], sentence: str
) -> None:
    made = find_case(f"ai.onnx/{case}")
    of_case = result(case, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", **mismatch})
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, (), (of_case,), deciding=made.clauses
    )
    assert begins(made, sentence_of(made, of_case, group), sentence)


@pytest.mark.parametrize(
    ("case", "deciding", "sentence"),
    [
        # Its equal shapes are not broadcast.
        ("Mod/28/numbers_int8", True, "If `fmod` is `0`, the output is calculated as"),
        ("Split/18/uneven_two", True, "the last chunk will be smaller"),
        ("Split/18/uneven_two", False, "Split a tensor into a list of tensors"),  # Many passing cases cite the others.
        ("Split/18/uneven_two@symbolic", True, "Each size in the list MAY be expressed"),
    ],
)
def test_a_refusal_violates_a_sentence_that_explains_it_or_that_of_its_form_or_the_definition(
    case: str, sentence: str, *, deciding: bool
) -> None:
    made = find_case(f"ai.onnx/{case}")
    refused = result(case, Verdict.REFUSED, form=made.form, message="m")
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, (), (refused,), deciding=made.clauses if deciding else ()
    )
    assert begins(made, sentence_of(made, refused, group), sentence)


def test_a_sentence_on_shapes_or_defaults_does_not_decide_a_value() -> None:
    case = find_case("ai.onnx/Split/18/uneven_two")
    cited = (
        "Same dimension as inputs.",
        "Pooled output Y's height, default is 1.",
        "A 4-D tensor of shape (N, C).",
        "The sum of both.",
    )
    case = dataclasses.replace(case, clauses=cited)
    wrong = result(verdict=Verdict.WRONG_VALUE)
    group = failure_groups.FailureGroup("mine", "1", case.operator, Verdict.WRONG_VALUE, (), (wrong,), deciding=cited)
    assert sentence_of(case, wrong, group) == "The sum of both."


@pytest.mark.parametrize(
    ("case", "conditions", "sentence"),
    [
        ("RNN/22/layout_0", ("with sequence_lens",), "Optional tensor specifying lengths of the sequences"),
        ("RNN/22/nan", (), "Ht = f(Xt*(Wi^T)"),
        ("LSTM/22/nan", (), "Ht = ot (.) h(Ct)"),
        ("Gemm/13/plain_since_7", ("an input has a number beyond 2**53",), "Compute Y = alpha * A' * B' + beta * C"),
        ("LRN/13/size_3", (), "Y[n, c, d1, ..., dk] = X"),
        ("GRU/22/activation_elu", ("B is given", "activations is set"), "Elu(x) - x if x >= 0"),
        (
            "GRU/22/lengths",
            ("the case cites «Optional tensor specifying lengths of the sequences in a batch.»",),
            "Optional tensor specifying lengths",
        ),
        ("GRU/22/hard_sigmoid_default_since_7", ("decides",), "Default values are the same as of"),
        ("Loop/25/scan_string", (), "Each scan_output is created by concatenating the value"),
        ("RNN/22/layout_0", ("without sequence_lens", "X is a scalar"), "Ht = f(Xt*(Wi^T)"),
        ("Cast/24/powers_zero_nearest_0", (), "| 0 | 0 | NaN |"),  # A row of a table.
        ("OneHot/28/infinite_values", ("values has an infinity",), "The locations represented by the index values"),
        ("Resize/19/dtypes/int64", (), "as a weighted average of neighborhood"),  # Not the one on the shape.
        ("LSTM/22/hard_sigmoid_default_since_7", ("marks",), "Default values are the same as of"),
        ("GRU/22/activation_thresholdedrelu", ("activations contains ThresholdedRelu",), "ThresholdedRelu(x)"),
        ("MaxPool/22/same_lower_odd", ("auto_pad=SAME_LOWER",), "In case the padding is an odd number"),
        ("Less/13/sides", ("marks",), "Returns the tensor resulted from performing"),
        ("GlobalAveragePool/22/image", ("marks",), "applies average pooling across"),
        ("Celu/28/near_zero_float", ("with alpha",), "max(0,x) + min(0,alpha*(exp(x/alpha)-1))"),
        ("LeakyRelu/16/rank3", ("alpha=0.5",), "where the function `f(x) = alpha * x for x < 0`"),
        ("Softmax/11/rank3_axis1", ("axis is not the last dimension",), "For an arbitrary n-dimensional tensor"),
        ("Softmax/13/rank3_axis_minus2", ("axis is not the last dimension",), "Softmax(input, axis) = "),
        ("DFT/20/irfft_of_2_since_20", ("inverse=1 and onesided=1",), "When `onesided=1` and `inverse=1` (inverse"),
        ("DFT/20/irfft_of_2_since_20", ("inverse=1", "onesided=1"), "When `onesided=1` and `inverse=1` (inverse"),
        (
            "DFT/20/irfft_of_2_since_20",
            ("inverse=1", "onesided=1", "a contains B"),
            "When `onesided=1` and `inverse=1`",
        ),
        ("Attention/24/mask_whole", ("rank of attn_mask >= 4",), "Shape must be broadcastable to"),
        ("LSTM/22/one_neuron_reverse", ("direction=reverse",), "Must be one of forward (default), reverse"),
        ("Einsum/28/diagonal_product", ("equation=ii,ij->j", "decides"), "When a dimension character is repeated"),
        ("RoiAlign/10/defaults", (), "If == 0, then an adaptive number"),  # Not the default of a size.
        ("CumSum/14/exclusive_two", ("exclusive=2",), "If set to 1 will return exclusive sum"),  # Not the example.
        ("InstanceNormalization/22/image", (), "y = scale * (x - mean)"),  # Not the one that names a paper.
        ("InstanceNormalization/22/image", ("marks",), "y = scale * (x - mean)"),  # Not those on dimensions.
        ("Attention/24/mask_whole", ("marks",), "Computes scaled dot product attention"),
        ("RNN/22/activations_of_both", ("activations is set", "direction=bidirectional", "decides"), "One (or two if"),
        ("LSTM/22/activation_softplus", (), "Softplus(x)"),
        ("BatchNormalization/15/inference", (), "Y = (X - input_mean)"),  # Not the formula of training.
        ("LSTM/22/activation_softplus", ("marks", "activations=[Softplus,Softplus,Softplus]"), "Softplus(x)"),
        # The case does not meet the condition, so it is about its own function.
        ("RNN/22/activation_sigmoid", ("activations contains Relu", "decides"), "Sigmoid(x)"),
        # An attribute that is said to be deprecated has an effect nevertheless.
        ("MaxPool/22/same_upper_odd", ("decides",), "In case the padding is an odd number"),
        # Without a condition, the attributes of the smallest case are needed to fail.
        ("AveragePool/22/same_upper_odd", (), "In case the padding is an odd number"),
        ("NegativeLogLikelihoodLoss/22/ignored_5", (), "loss is zero for the case when target-value equals"),
        ("RNN/22/layout_0", ("an input has NaN",), "Ht = f(Xt*(Wi^T)"),
        ("GlobalAveragePool/22/image", ("marks", "rank of X >= 4"), "applies average pooling across"),
        ("Mod/28/signs_fmod_since_28", ("decides",), "If `fmod` is `1`, the output is"),
        ("GRU/22/nan", (), "Ht = (1 - zt) (.) ht + zt (.) Ht-1"),
        # Neither sentence is on a node without fmod or k.
        ("Mod/28/numbers_int8", ("tag is basic",), "If `fmod` is `0`, the output is"),
        ("Trilu/14/unset_wide", ("decides",), "The upper triangular part consists"),
        ("Det/22/swapped_rows", ("marks",), "Det calculates determinant of a square matrix"),
        ("EyeLike/22/column_k_minus_1", ("k=1",), "Index of the diagonal to be populated with ones."),
        ("ConvTranspose/22/output_shape_odd", ("a value of output_shape >= 15",), "If output_shape is specified"),
        ("ConvTranspose/22/output_shape_odd", ("an input has NaN",), "The convolution transpose operator consumes"),
        # The equations cite every function, and the node has those of the default.
        ("LSTM/22/equations", ("decides",), "it = f(Xt*(Wi^T)"),
        ("CastLike/15/write_whole", ("decides",), "casts the elements of a given input tensor"),
        ("LSTM/22/direction_bidirectional", ("direction=bidirectional",), "Concatenation of `W[iofc]`"),
        ("Resize/19/crop_value", ("mode is not set",), "this value is used as the corresponding output value."),
        ("ScatterND/18/rows_from_back", ("indices has a negative value",), "Index values are allowed to be negative,"),
        (
            "GatherND/13/negative",
            ("indices has a negative value",),
            "All values in `indices` are expected to be within",
        ),
    ],
)
def test_a_value_that_no_sentence_explains_violates_one_on_the_argument_that_matters_or_the_definition(
    case: str, conditions: tuple[str, ...], sentence: str
) -> None:
    made = find_case(f"ai.onnx/{case}")
    mismatch = {"where": "outputs[0]", "relative": 0.5}
    wrong = result(case, Verdict.WRONG_VALUE, mismatch=mismatch, clauses=made.clauses)
    deciding = made.clauses if {"marks", "decides"} & {*conditions} else ()
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, conditions, (wrong,), deciding=deciding,
        marking=frozenset(deciding if "marks" in conditions else ()),
    )  # fmt: skip
    assert begins(made, sentence_of(made, wrong, group), sentence)


def test_a_value_of_an_attribute_that_the_smallest_case_lacks_does_not_matter() -> None:
    made = find_case("ai.onnx/ConvInteger/10/strides_b1_c16_m16_h33_k3_stride3/int8-to-uint8")
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_VALUE, ("strides=[3,3]",), (wrong,))
    assert sentence_of(made, wrong, group) == "Stride along each spatial axis."
    model = onnx.load_from_string(made.model)
    (node,) = model.graph.node
    del node.attribute[:]
    smallest = dataclasses.replace(made, model=model.SerializeToString())
    assert sentence_of(smallest, wrong, group).startswith("The integer convolution operator")


def test_a_sentence_on_an_argument_that_the_smallest_case_lacks_does_not_decide() -> None:
    made = find_case("ai.onnx/StringSplit/20/maxsplit_1_blanks")
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]"}, clauses=made.clauses)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, (), (wrong,), deciding=made.clauses,
        marking=frozenset(made.clauses),
    )  # fmt: skip
    assert sentence_of(made, wrong, group) == "Maximum number of splits (from left to right)."
    model = onnx.load_from_string(made.model)
    del model.graph.node[0].attribute[:]
    smallest = dataclasses.replace(made, model=model.SerializeToString())
    assert sentence_of(smallest, wrong, group).startswith("StringSplit splits a string tensor's elements")


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("Unknown activation function: softplus", "Softplus(x) - log(1 + e^x)"),
        ("I cannot", "Softplus(x) - log(1 + e^x)"),
    ],
)
def test_a_refused_function_violates_its_definition_and_never_an_introduction(message: str, sentence: str) -> None:
    made = find_case("ai.onnx/LSTM/22/activation_softplus")
    refused = result(made.id, Verdict.REFUSED, message=message, clauses=made.clauses)
    conditions = ("the case cites «Below are optional»",)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, conditions, (refused,), deciding=made.clauses,
        marking=frozenset(made.clauses),
    )  # fmt: skip
    assert "Below are optional" in made.clauses
    assert begins(made, sentence_of(made, refused, group), sentence)


def test_a_sentence_that_begins_with_an_attribute_that_the_smallest_case_lacks_does_not_decide() -> None:
    cited = "`alpha` is the slope."
    made = dataclasses.replace(find_case("ai.onnx/LeakyRelu/16/alpha_infinite"), clauses=(cited,))
    model = onnx.load_from_string(made.model)
    del model.graph.node[0].attribute[:]
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]"}, clauses=(cited,))
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, (), (wrong,), deciding=(cited,)
    )
    assert sentence_of(made, wrong, group) == cited
    smallest = dataclasses.replace(made, model=model.SerializeToString())
    assert "f(x) = alpha * x for x < 0" in sentence_of(smallest, wrong, group)


@pytest.mark.parametrize(
    ("cited", "decides"),
    [
        ("default 1; Pooled output Y's height.", False),
        ("dimensions in the form of (N x C x D1 x D2 ... Dn)", False),
        ("Same dimension as inputs.", False),
        ("`num_directions` - 2 if direction == bidirectional else 1", False),
        ("If onesided is 1, the output has the shape [frames].", False),
        ("The default is 1.", True),
    ],
)
def test_a_lone_sentence_on_a_size_does_not_decide_a_value(cited: str, *, decides: bool) -> None:
    made = dataclasses.replace(find_case("ai.onnx/LeakyRelu/16/rank3"), clauses=(cited,))
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]"}, clauses=(cited,))
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, (), (wrong,), deciding=(cited,)
    )
    assert (sentence_of(made, wrong, group) == cited) is decides


def test_the_sentence_on_a_node_without_an_argument_decides_if_its_absence_does() -> None:
    made = find_case("ai.onnx/Unique/28/counts_alone")
    cited = "Whether to sort the unique elements in ascending order before returning as output."
    made = dataclasses.replace(made, clauses=(cited,))
    refused = result(made.id, Verdict.REFUSED, message="no")
    for condition, beginning in (
        ("axis is not set", "Otherwise the input tensor is flattened"),
        ("x", "(Optional) Wh"),
    ):
        group = failure_groups.FailureGroup(
            "mine", "1", made.operator, Verdict.REFUSED, (condition, "sorted=0"), (refused,), deciding=(cited,)
        )
        assert sentence_of(made, refused, group).startswith(beginning)


def test_a_wrong_shape_of_one_of_several_outputs_violates_a_sentence_on_the_outputs() -> None:
    made = find_case("ai.onnx/Loop/25/for")
    cited = (
        "The initial values of any loop-carried dependencies (values that change across loop iterations)",
        "Final N loop carried dependency values then K scan_outputs",
    )
    made = dataclasses.replace(made, clauses=cited)
    message = "outputs[1]: expected shape [1], got shape [1, 1]"
    wrong = result(made.id, Verdict.WRONG_SHAPE, mismatch={"where": "outputs[1]"}, message=message)
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_SHAPE, (), (wrong,))
    assert sentence_of(made, wrong, group).startswith("Final N loop carried")


def test_a_crash_violates_no_sentence_that_only_a_later_version_has() -> None:
    made = find_case("ai.onnx/ReduceL1/11/keepdims_two")
    assert made.outcome is Outcome.UNSPECIFIED
    later = "has the reduced dimension pruned. Input tensors of rank zero are valid."
    own = "Keep the reduced dimension or not, default 1 means keep reduced dimension."
    crash = result(made.id, Verdict.CRASH, message="the process ended by SIGABRT")
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.CRASH, (), (crash,))
    assert sentence_of(dataclasses.replace(made, clauses=(own, later)), crash, group) == own
    assert sentence_of(dataclasses.replace(made, clauses=(later,)), crash, group).startswith("Computes the L1 norm")


def test_a_wrong_shape_violates_the_sentence_that_only_its_cases_cite() -> None:
    cited = ("Indicates whether the values are padded.", "It may be of any kind.")
    made = dataclasses.replace(find_case("ai.onnx/Relu/14/rank3"), clauses=cited)
    wrong = result(made.id, Verdict.WRONG_SHAPE, message="outputs[0]: expected shape [1], got shape [2]")
    for text in cited:
        group = failure_groups.FailureGroup(
            "mine", "1", made.operator, Verdict.WRONG_SHAPE, (traits.citation(text),), (wrong,)
        )
        assert sentence_of(made, wrong, group) == text


def test_a_sentence_on_a_number_of_values_does_not_decide_a_value() -> None:
    cited = (
        "Will have the same number of sets of values as nodes with mode 'BRANCH_MEMBER'.",
        "in the order that the 'BRANCH_MEMBER' mode appears in `node_modes`, delimited by `NaN`s.",
    )
    made = dataclasses.replace(find_case("ai.onnx.ml/TreeEnsemble/5/members"), clauses=cited)
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, (), (wrong,), deciding=cited, marking=frozenset(cited)
    )
    assert begins(made, sentence_of(made, wrong, group), cited[1])


def test_an_example_is_no_definition() -> None:
    made = dataclasses.replace(find_case("ai.onnx/Pad/2/reflect_before_11"), outcome=Outcome.UNSPECIFIED, clauses=())
    crash = result(made.id, Verdict.CRASH, message="the process ended by SIGABRT")
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.CRASH, (), (crash,))
    assert not sentence_of(made, crash, group).startswith("Insert 0 pads")


def test_a_wrong_value_of_a_further_output_violates_its_description() -> None:
    made = find_case("ai.onnx/MaxPool/22/indices_plane")
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[1]", "relative": 0.5})
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_VALUE, (), (wrong,))
    assert sentence_of(made, wrong, group).startswith("The values in indices of are the indices of the selected")
    order = "The storage order of the tensor. 0 is row major, and 1 is column major."
    made = dataclasses.replace(made, clauses=(order,))
    explained = dataclasses.replace(group, deciding=(order,), marking=frozenset({order}))
    assert sentence_of(made, wrong, explained).startswith(order)


def test_an_attribute_with_another_value_than_in_the_smallest_case_may_decide() -> None:
    made = dataclasses.replace(find_case("ai.onnx/MaxPool/22/pads_line"), clauses=())
    refused = result(made.id, Verdict.REFUSED, message="index 1 is out of bounds")
    for condition, decides in (("pads=[7,7]", True), ("strides=[7,7]", False)):
        group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.REFUSED, (condition,), (refused,))
        assert sentence_of(made, refused, group).startswith("Padding for the beginning") is decides


@pytest.mark.parametrize("condition", ['min is named ""', "min is not set"])
def test_a_refused_empty_name_violates_the_sentence_on_it(condition: str) -> None:
    made = find_case("ai.onnx/Clip/13/max_scalar")
    refused = result(made.id, Verdict.REFUSED, message="'NoneType' object has no attribute 'tolist'")
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.REFUSED, (condition,), (refused,))
    assert ("empty string" in sentence_of(made, refused, group)) is condition.endswith('""')


def test_the_range_of_an_argument_does_not_decide_if_its_absence_does() -> None:
    made = find_case("ai.onnx/Unique/28/counts_alone")
    refused = result(made.id, Verdict.REFUSED, message="no")
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, ("axis is not set", "rank of X >= 2"), (refused,)
    )
    assert sentence_of(made, refused, group).startswith("Otherwise the input tensor is flattened")


@pytest.mark.parametrize(
    ("case", "message", "sentence"),
    [
        ("LayerNormalization/17/scale_4", "the shape differs", "(tensors `Scale` and `B` should be"),
        ("LayerNormalization/17/scale_4", "no", "Mean = ReduceMean<axes=normalized_axes>(X)"),
        ("LayerNormalization/17/long", "rank mismatch", "(tensors `Scale` and `B` should be"),
        ("LayerNormalization/17/no_planes", "the shape has a 0", "Mean = ReduceMean<axes=normalized_axes>(X)"),
        ("DFT/20/rank2_axis0", "axis 1 is out of the rank range", "$$y[m, k] = "),
    ],
)
def test_a_lone_cited_sentence_on_shapes_decides_for_a_refused_shape(case: str, message: str, sentence: str) -> None:
    made = find_case(f"ai.onnx/{case}")
    refused = result(case, Verdict.REFUSED, message=message, clauses=made.clauses)
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.REFUSED, (), (refused,))
    assert begins(made, sentence_of(made, refused, group), sentence)


def test_a_sentence_on_an_attribute_with_a_default_applies_without_it() -> None:
    made = find_case("ai.onnx/LayerNormalization/17/double_beyond_float")
    casts = next(text for text in made.clauses if "`stash_type` is 1" in text)
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]"}, clauses=made.clauses)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, (), (wrong,), deciding=(casts,)
    )
    assert casts in sentence_of(made, wrong, group)


def test_the_effect_of_an_absent_argument_decides_if_it_marks_the_failures() -> None:
    made = find_case("ai.onnx/ConstantOfShape/25/default")
    refused = result(made.id, Verdict.REFUSED, message="no", clauses=made.clauses)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, ("value is not set",), (refused,), deciding=made.clauses,
        marking=frozenset(text for text in made.clauses if "specified" in text),
    )  # fmt: skip
    assert sentence_of(made, refused, group).startswith("If not specified, it defaults to a tensor of value 0")
    unmarked = dataclasses.replace(group, marking=frozenset())
    assert sentence_of(made, refused, unmarked).startswith("Generate a tensor with given value and shape.")


@pytest.mark.parametrize(
    ("case", "conditions", "cited", "sentence"),
    [
        # The function that an attribute names, and not the description of the attribute.
        (
            "RNN/22/activation_sigmoid",
            (),
            ("One (or two if bidirectional) activation function for input gate.",),
            "Sigmoid(x) - ",
        ),
        # A formula, and not the name of the operator.
        ("LSTM/22/nan", (), ("Computes an one-layer LSTM.", "Ct = ft (.) Ct-1 + it (.) ct"), "Ct = ft (.) Ct-1"),
        # The node has no activations.
        (
            "LSTM/22/direction_bidirectional",
            ("direction=bidirectional",),
            ("A list of 3 (or 6 if bidirectional) activation functions for input, output, forget, cell, and hidden.",),
            "Concatenation of `W[iofc]`",
        ),
        # The node has no k.
        (
            "Trilu/14/unset_wide",
            (),
            ("A negative k value excludes the main diagonal and (|k|-1) diagonals below it.",),
            "Given a 2-D matrix or batches",
        ),
        # The node has no fmod.
        ("Mod/13/numbers_int8", (), (), "If the `fmod` attribute is set to `0`"),
    ],
)
def test_a_cited_sentence_beside_the_point_is_not_the_sentence(
    case: str, conditions: tuple[str, ...], cited: tuple[str, ...], sentence: str
) -> None:
    made = dataclasses.replace(find_case(f"ai.onnx/{case}"), clauses=cited)
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, conditions, (wrong,), deciding=cited
    )
    assert begins(made, sentence_of(made, wrong, group), sentence)


def test_a_list_of_values_is_not_the_sentence_on_one_of_them() -> None:
    made = find_case("ai.onnx.ml/TreeEnsembleClassifier/3/neq_missing_0")
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_VALUE, (), (wrong,))
    assert sentence_of(made, wrong, group).startswith("Returns the top class for each of N inputs.")


def test_a_wrong_rank_violates_the_sentence_on_the_shape_of_its_output() -> None:
    made = dataclasses.replace(find_case("ai.onnx/LayerNormalization/17/long"), clauses=("Mean = ReduceMean(X)",))
    message = "outputs[1]: expected shape [1], got shape []"
    wrong = result(made.id, Verdict.WRONG_SHAPE, mismatch={"where": "outputs[1]"}, message=message)
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_SHAPE, (), (wrong,))
    assert sentence_of(made, wrong, group).startswith("If `X`'s shape is `[d[0], ..., d[axis-1], d[axis]")


def test_the_result_of_an_example_is_not_the_sentence() -> None:
    cited = ("output_Y = [[1, 0, 0], [2, 3, 4]]", "unique subtensors sliced along the 'axis' are returned.")
    made = dataclasses.replace(find_case("ai.onnx/Unique/28/sorted_axis_0"), clauses=cited)
    message = "expected shape [1, 1], got shape [1]"
    wrong = result(made.id, Verdict.WRONG_SHAPE, mismatch={"where": "outputs[0]"}, message=message, clauses=cited)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_SHAPE, (), (wrong,), deciding=cited, marking=frozenset(cited)
    )
    assert not sentence_of(made, wrong, group).startswith("output_Y")


def test_an_example_that_is_the_only_cited_sentence_is_not_quoted() -> None:
    made = find_case("ai.onnx/Range/27/example_0@expanded")
    message = "outputs[0]: expected shape [1], got shape [1, 1]"
    wrong = result(made.id, Verdict.WRONG_SHAPE, mismatch={"where": "outputs[0]"}, message=message)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_SHAPE, (), (wrong,), deciding=made.clauses
    )
    assert "Inputs: start = " in " ".join(made.clauses)
    assert sentence_of(made, wrong, group).startswith("number_of_elements = max( ceil(")


def test_a_refused_value_violates_no_sentence_on_the_default() -> None:
    default = "Default value is `1/sqrt(head_size)`."
    made = dataclasses.replace(find_case("ai.onnx/Attention/25/scale_zero"), clauses=(default,))
    refused = result(made.id, Verdict.REFUSED, message="scale must be greater than 0 if specified")
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, (), (refused,), deciding=(default,)
    )
    assert sentence_of(made, refused, group).startswith("Computes scaled dot product attention")


@pytest.mark.parametrize(("number", "sentence"), [(0, "Y = (X - current_mean)"), (1, "running_mean = input_mean")])
def test_each_output_has_its_own_formula(number: int, sentence: str) -> None:
    made = find_case("ai.onnx/BatchNormalization/15/training")
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": f"outputs[{number}]", "relative": 0.5})
    cited = tuple(text for text in made.clauses if text.startswith("Y = "))
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, ("training_mode=1",), (wrong,), deciding=cited
    )
    assert begins(made, sentence_of(made, wrong, group), sentence)


@pytest.mark.parametrize(
    ("case", "cited", "sentence"),
    [
        ("ReduceMin/20/empty_set", (), "Reduction over an empty set of values yields plus infinity"),
        ("ReduceMin/20/noop_empty_axes", (), "Computes the min of the input tensor's element"),
        (
            "ReduceLogSum/18/axes_0_pruned",
            ("has the reduced dimension pruned. Reduction over an empty set of values yields 0.",),
            "Computes the log sum",
        ),
    ],
)
def test_the_result_of_an_empty_set_only_decides_without_elements(
    case: str, cited: tuple[str, ...], sentence: str
) -> None:
    made = dataclasses.replace(find_case(f"ai.onnx/{case}"), clauses=cited)
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, (), (wrong,), deciding=cited, marking=frozenset(cited)
    )
    assert begins(made, sentence_of(made, wrong, group), sentence)
    refused = dataclasses.replace(wrong, verdict=Verdict.REFUSED, message="a size is 0")
    if not cited:
        assert begins(made, sentence_of(made, refused, group), sentence)


def test_a_smallest_case_needs_its_form() -> None:
    made = find_case("ai.onnx/Split/18/uneven_two@symbolic")
    forms = [dataclasses.replace(result(made.id, Verdict.REFUSED), form=form) for form in ("symbolic", "plain")]
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, (), tuple(forms), deciding=made.clauses
    )
    smallest = dataclasses.replace(made, id="ai.onnx/Split/18/uneven_two_minimized@symbolic")
    assert sentence_of(smallest, forms[0], group).startswith("Each size in the list MAY be expressed")
    assert sentence_of(made, forms[0], group) in made.clauses


def test_the_shape_that_a_message_is_about_precedes_a_description_without_it() -> None:
    scale = "The scale's shape is identical to the input's shape, except for one dimension"
    made = dataclasses.replace(find_case("ai.onnx/QuantizeLinear/21/blocks_2_axis_1"), clauses=(scale,))
    message = "saturate[0] is not for this dimension"
    refused = result(made.id, Verdict.REFUSED, message=message)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, (), (refused,), deciding=(scale,), marking=frozenset((scale,))
    )
    assert scale in sentence_of(made, refused, group)
    assert scale not in sentence_of(made, dataclasses.replace(refused, message="no saturate[0]"), group)


def test_a_sentence_on_an_argument_that_the_smallest_case_lacks_is_no_cause_of_several_failures() -> None:
    made = find_case("ai.onnx/StringSplit/20/maxsplit_1_blanks")
    cited = "Maximum number of splits (from left to right)."
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, (f"the case cites «{cited}»", "delimiter is not set"), (wrong,)
    )
    assert sentence_of(made, wrong, group) == cited
    model = onnx.load_from_string(made.model)
    del model.graph.node[0].attribute[:]
    smallest = dataclasses.replace(made, model=model.SerializeToString())
    assert sentence_of(smallest, wrong, group).startswith("If left unset or set to the empty string")


def test_a_refused_negative_value_violates_the_sentence_on_it_whatever_the_message_names() -> None:
    made = find_case("ai.onnx/Resize/19/axes_back")
    refused = result(made.id, Verdict.REFUSED, message="All axes values should be less than the size of sizes")
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, ("a value of axes is negative",), (refused,),
        deciding=made.clauses, marking=frozenset(made.clauses),
    )  # fmt: skip
    assert sentence_of(made, refused, group).startswith("Negative value means counting dimensions from the back.")


def test_a_sentence_on_a_default_decides_only_if_most_of_the_failures_cite_it() -> None:
    made = find_case("ai.onnx/Bernoulli/15/seed")
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]"}, clauses=made.clauses)
    made = dataclasses.replace(made, outcome=Outcome.VALUES)
    for others, sentence in ((0, "(Optional) Seed"), (3, "Draws binary random numbers")):
        group = failure_groups.FailureGroup(
            "mine", "1", made.operator, Verdict.WRONG_VALUE, (),
            (wrong, *(dataclasses.replace(wrong, clauses=()) for _ in range(others))), deciding=made.clauses,
        )  # fmt: skip
        assert begins(made, sentence_of(made, wrong, group), sentence)


def test_a_random_value_violates_the_definition() -> None:
    made = find_case("ai.onnx/Multinomial/22/two_rows")
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]"}, clauses=made.clauses)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, ("sample_size=2",), (wrong,), deciding=made.clauses
    )
    assert sentence_of(made, wrong, group).startswith("Generate a tensor of samples from a multinomial distribution")


def test_a_refusal_of_different_types_violates_the_sentence_on_the_type_that_differs() -> None:
    made = find_case("ai.onnx/BatchNormalization/15/signature_types_t1/double")
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.REFUSED, (), (result(),))
    for message in (
        "types do not match",
        "mixed input types",
        "element::Type::merge(one, two)",
        "Tensor type mismatch",
        "expects matching dtypes, got f32, f64",
    ):
        refused = result(made.id, Verdict.REFUSED, message=message)
        assert sentence_of(made, refused, group) == "Constrain scale and bias types to float tensors."
    other = dataclasses.replace(refused, message="I cannot")
    assert sentence_of(made, other, group).startswith("Carries out batch normalization as described in the paper")


def test_a_refusal_of_the_type_of_an_output_violates_the_sentence_on_the_attribute_that_chooses_it() -> None:
    made = find_case("ai.onnx/RandomUniform/22/signature_types_t/double")
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.REFUSED, (), (result(),))
    message = "min_val should have the same type as 'out_type' attribute"
    refused = result(made.id, Verdict.REFUSED, message=message)
    chooses = "The data type for the elements of the output tensor."
    assert sentence_of(made, refused, group).startswith(chooses)
    without = find_case("ai.onnx/RandomUniform/22/low_alone")
    refused = dataclasses.replace(refused, case=without.id)
    assert not sentence_of(without, refused, group).startswith(chooses)


@pytest.mark.parametrize(
    ("name", "conditions", "message", "sentence"),
    [
        (
            "ReduceLogSum/18/one_term_of_each_type/uint32",
            (),
            "Type 'tensor(uint32)' of input parameter (sum) of operator (Log) in node () is invalid.",
            "Constrain input and output types to numeric tensors.",
        ),
        (
            "ReduceLogSum/18/one_term_of_each_type/uint32",
            (),
            "ReduceLogSum input dtype must be float32 or float64",
            "Constrain input and output types to numeric tensors.",
        ),
        ("ReduceLogSum/18/one_term_of_each_type/uint32", (), "I cannot", "Computes the log sum of the input"),
        ("StringSplit/20/delimiter_utf8", ("delimiter=é",), "I cannot", "The input must be a UTF-8 string tensor"),
        ("EyeLike/22/column_k_minus_1", ("k=1",), "invalid shrink", "Index of the diagonal to be populated with ones."),
        (
            "Resize/19/crop_value",
            (),
            "Extrapolation value is only implemented for floats",
            "this value is used as the corresponding output value.",
        ),
        (
            "AveragePool/19/no_pixels_but_padding",
            ("X has a dimension of size 0", "a value of kernel_shape <= 2"),
            "input_shape.Size() > 0 was false. Invalid input shape. Only N can be zero. Got:{1,2,0}",
            "output_spatial_shape[i] = floor(",
        ),
        (
            "AveragePool/19/no_pixels_but_padding",
            ("X has a dimension of size 0", "a value of kernel_shape <= 2"),
            "I cannot",
            "The size of the kernel along each axis.",
        ),
        (
            "BatchNormalization/9/rank1_before_14",
            ("rank of X = 1",),
            "index 1 is out of bounds for axis 0 with size 1",
            "single dimension input of size N",
        ),
        (
            "Cast/28/text_float6e2m3",
            (),
            "no implementation with attributes ['round_mode', 'saturate', 'to'] and linked attributes=[]",
            "Casting from string tensor in plain",
        ),
        (
            "Resize/11/for_nn_before_13",
            (),
            "Invalid coordinate_transformation_mode: 'tf_half_pixel_for_nn'.",
            "x_original = (x_resized + 0.5) / scale, <br/>",
        ),
        (
            "AveragePool/22/kernel_beyond_input",
            (),
            "kernel size cannot be greater than actual input size",
            "output_spatial_shape[i] = floor(",
        ),
        (
            "Mean/13/broadcast_1x0_and_scalar_and_2x1",
            (),
            "non-broadcastable output operand with shape (1,0) doesn't match the broadcast shape (0,0)",
            "This operator supports **multidirectional",
        ),
        ("BatchNormalization/7/plain_before_9", (), "returned types: [<class 'tuple'>]", "Output case #2: Y (test"),
        (
            "LpPool/22/padding_alone",
            ("every value of kernel_shape <= 2", "values of pads differ"),
            "pads[dim] < kernel_shape[dim] && pads[dim + kernel_shape.size()] < kernel_shape[dim] was false.",
            "it can take any value greater than or equal to 0.",
        ),
    ],
)
def test_a_refusal_violates_the_sentence_on_the_type_the_size_or_the_elements_that_its_message_is_about(
    name: str, conditions: tuple[str, ...], message: str, sentence: str
) -> None:
    made = find_case(f"ai.onnx/{name}")
    refused = result(made.id, Verdict.REFUSED, message=message)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, conditions, (refused,), deciding=made.clauses
    )
    assert begins(made, sentence_of(made, refused, group), sentence)


def test_of_several_arguments_that_matter_the_one_decides_whose_sentences_the_failures_cite() -> None:
    made = find_case("ai.onnx/GRU/22/layout_0")
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    lengths = "Optional tensor specifying lengths of the sequences in a batch."
    for deciding, sentence in (((), "Concatenation of `[Wb[zrh], Rb[zrh]]`"), ((lengths,), lengths)):
        group = failure_groups.FailureGroup(
            "mine", "1", made.operator, Verdict.WRONG_VALUE, ("B is given", "sequence_lens is given"), (wrong,),
            deciding=deciding,
        )  # fmt: skip
        assert begins(made, sentence_of(made, wrong, group), sentence)


def test_a_refusal_violates_the_sentence_on_the_argument_that_its_message_names() -> None:
    made = find_case("ai.onnx/LSTM/22/layout_1_forward")
    smallest = dataclasses.replace(made, model=find_case("ai.onnx/LSTM/22/no_features").model)
    for message, sentence in (
        ("Node (LSTM): unknown attribute 'hidden_size'", "Number of neurons in the hidden layer"),
        ("I cannot", "Ht = ot (.) h(Ct)"),  # It cites one on the layout, which the smallest model lacks.
        ("bad call: hidden_size, input_forget, clip, sequence_lens, initial_h", "Ht = ot (.) h(Ct)"),
    ):
        refused = result(made.id, Verdict.REFUSED, message=message)
        group = failure_groups.FailureGroup(
            "mine", "1", made.operator, Verdict.REFUSED, (), (refused,), deciding=made.clauses
        )
        assert sentence_of(smallest, refused, group) == sentence
    assert sentence_of(made, refused, group).startswith("If 1, the following shapes are expected")


@pytest.mark.parametrize(
    ("case", "conditions", "message", "sentence"),
    [
        ("GlobalMaxPool/22/no_channels", ("X has a dimension of size 0",), "no", "applies max pooling across"),
        (
            "GroupNormalization/21/no_instances",
            ("X has a dimension of size 0", "the text allows it"),
            "no",
            "y = scale * (x - mean)",
        ),
        ("QLinearMatMul/21/rows", ("rank of a_scale >= 1",), "input zero point must be a scalar", "If the input is "),
        ("GlobalMaxPool/22/no_channels", ("X is large",), "no", "dimensions for image case are"),
        ("LayerNormalization/17/scale_4", (), "expected weight of shape [4]", "(tensors `Scale` and `B` should be"),
        ("RMSNormalization/23/plain", (), "scale shape should match", "Scale tensor shape should be broadcastable"),
        ("DeformConv/22/one_axis", (), "Input X must be 4D", "This operator specification supports the general N-D"),
        (
            "ConvTranspose/22/output_shape_odd",
            (),
            "kernel_shape and output_shape: no",
            "If output_shape is specified pads values are ignored.",
        ),
        ("ConvTranspose/22/space", ("rank of W = 5",), "at most 2 dimensions", "Otherwise the size is (N x C x D1"),
        ("ConvTranspose/22/space", ("rank of W = 4",), "at least 3 dimensions", "The number of channels in the output"),
        (
            "GatherElements/13/default_axis",
            ("rank of data = 2", "tag is axis"),
            "Incompatible shapes for broadcasting",
            "It is an indexing operation that produces its output",
        ),
        ("GatherElements/13/default_axis", ("rank of data = 2",), "data has no rank of 1", "Tensor of rank r >= 1."),
        ("If/25/true", (), "Impossible to unify closed shapes of different rank", "may produce tensors with the same"),
        ("LRN/13/size_3", (), "size_ % 2 == 0 was false", "The number of channels to sum over"),
        ("STFT/17/default", (), "no", "The STFT is computed by sliding a window"),  # Not the shape of the output.
        ("Resize/19/axes_back", ("the value of sizes is 9",), "no", "Negative value means counting dimensions"),
        ("Slice/13/huge_steps_int32", ("steps is the highest",), "no", "1-D tensor of slice step of corresponding"),
        ("STFT/17/default", (), "frame_step input must be a scalar", "A scalar representing the number of samples"),
        ("MatMulInteger/10/rows", (), "a_zero_point must be a scalar", "It could be a scalar or N-D tensor."),
        ("MatMulInteger/10/rows", (), "a_zero_point is wrong", "Zero point tensor for input 'A'."),
    ],
)
def test_a_refusal_because_of_a_shape_violates_the_sentence_on_it(
    case: str, conditions: tuple[str, ...], message: str, sentence: str
) -> None:
    made = find_case(f"ai.onnx/{case}")
    refused = result(case, Verdict.REFUSED, message=message)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, conditions, (refused,), deciding=made.clauses
    )
    assert begins(made, sentence_of(made, refused, group), sentence)


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        (("type string",), "Constrain input and output types to all tensor types."),
        (("type string", "the text allows it"), "Constrain input and output types to all tensor types."),
        (("type of split is int64",), ""),  # The schema names the type itself.
        (("type string", "num_outputs=2"), "the last chunk will be smaller"),
        ((), "the last chunk will be smaller"),
    ],
)
def test_a_refused_type_violates_the_sentence_on_types(conditions: tuple[str, ...], sentence: str) -> None:
    made = find_case("ai.onnx/Split/18/uneven_two")
    refused = result("uneven_two/string", Verdict.REFUSED, message="m")
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, conditions, (refused,), deciding=made.clauses
    )
    assert begins(made, sentence_of(made, refused, group), sentence)


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        (("with sequence_lens",), "Optional tensor specifying lengths of the sequences"),
        (("with sequence_lens", "clip=0"), "Optional tensor specifying lengths of the sequences"),
        (("clip=0", "with sequence_lens"), "Clipping bounds the elements of a tensor"),
        (("X is large",), "Number of neurons"),
        (("without clip", "with sequence_lens"), "Optional tensor"),
        (("hidden_size=7", "clip=0"), "Clipping bounds the elements of a tensor"),  # hidden_size is another one.
    ],
)
def test_the_argument_of_a_condition_precedes_sentences_that_do_not_mention_it(
    conditions: tuple[str, ...], sentence: str
) -> None:
    made = dataclasses.replace(
        find_case("ai.onnx/GRU/22/clip_0_0"), clauses=("Number of neurons in the hidden layer, with",)
    )
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, conditions, (wrong,), deciding=made.clauses
    )
    assert begins(made, sentence_of(made, wrong, group), sentence)


@pytest.mark.parametrize("verdict", [Verdict.WRONG_VALUE, Verdict.CRASH])
def test_a_sentence_on_the_type_in_a_condition_precedes_one_with_a_limit(verdict: Verdict) -> None:
    with_limit = "attends keys `j` satisfying `p - left_window_size <= j <= p + right_window_size`"
    made = dataclasses.replace(find_case("ai.onnx/Attention/25/causal_bool_mask"), clauses=(with_limit,))
    failed = result(made.id, verdict, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, verdict, ("type of attn_mask is bool",), (failed,), deciding=made.clauses
    )
    assert "boolean mask" in sentence_of(made, failed, group)


@pytest.mark.parametrize("beginning", ["Keep the reduced dimension", "Constrain input and output types"])
def test_a_sentence_on_kept_dimensions_or_types_does_not_explain_a_value(beginning: str) -> None:
    made = find_case("ai.onnx/ReduceMax/13/axes_0_pruned")
    kept = next(text for text in (*made.clauses, beginning) if text.startswith(beginning))
    made = dataclasses.replace(made, clauses=(kept, *made.clauses))
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, (), (wrong,), deciding=(kept,), marking=frozenset({kept})
    )
    assert sentence_of(made, wrong, group) != kept


def test_a_wrong_shape_violates_the_sentence_on_dimensions_that_are_not_kept() -> None:
    for name, is_kept in (("axes_1_pruned", True), ("axes_1_kept", False)):
        made = find_case(f"ai.onnx/ReduceL1/18/{name}")
        for shape, differs in (("3", True), ("3, 1" if is_kept else "3, 1, 1", False)):
            expected = "2, 4" if is_kept else "2, 1, 4"
            message = f"outputs[0]: expected shape [{expected}], got shape [{shape}]"
            wrong = result(made.id, Verdict.WRONG_SHAPE, message=message)
            group = failure_groups.FailureGroup(
                "mine", "1", made.operator, Verdict.WRONG_SHAPE, (), (wrong,), deciding=made.clauses
            )
            pruned = sentence_of(made, wrong, group).startswith("If `keepdims` equals 0, then")
            assert pruned is (is_kept and differs), (name, shape)


def test_a_wrong_shape_violates_the_sentence_on_shapes_with_the_value_that_matters() -> None:
    made = find_case("ai.onnx/AveragePool/22/same_lower_dilations")
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_SHAPE, ("dilations=[2,1]",), ())
    sentence = sentence_of(made, result(made.id, Verdict.WRONG_SHAPE), group)
    assert sentence.startswith("SAME_UPPER or SAME_LOWER")
    assert "output_" in sentence


@pytest.mark.parametrize(
    ("name", "shapes", "sentence"),
    [
        ("GlobalLpPool/22/space", ("1, 1, 1", "1, 1, 2"), "The first two dimensions of output shape are the same"),
        ("GlobalLpPool/22/space", ("1, 1, 1, 1, 1", "1, 1"), "The output tensor has the same rank as the input."),
        ("GlobalLpPool/22/space", ("1, 2, 1", "1, 1, 1"), "The first two dimensions of output shape are the same"),
        (
            "InstanceNormalization/22/no_batch_and_no_pixels",
            ("0, 3, 4, 0", "0, 3, 4, 1"),
            "The output tensor of the same",
        ),
        ("InstanceNormalization/22/no_batch_and_no_pixels", ("0, 3, 4, 0", "0, 3"), "The output tensor of the same"),
        ("GatherND/13/no_batches", ("0", "0, 0"), "Given `data` tensor of rank `r` >= 1,"),
        ("GRU/22/y_alone", ("1, 1, 1, 3", "1, 1, 3"), "If 0, the following shapes are expected: X.shape = "),
        ("Size/25/matrix", ("", "1"), "Takes a tensor as input and outputs a int64 scalar"),
        ("ReduceSumSquare/18/axes_1_kept", ("2, 1, 4", ""), "has the same rank as the input if"),
        ("BitShift/11/left_broadcast", ("2, 3", "3"), "This operator supports **multidirectional"),
        ("DFT/20/rank2_axis0_rfft", ("2, 2", "3, 2"), "When `onesided=1` and `inverse=0`"),
        ("GatherND/13/no_batches", ("0", "1"), "`batch_dims` (denoted as `b`) is an integer"),
        ("RoiAlign/16/maximum", ("1, 1, 1, 1", "1, 1"), "RoI pooled output, 4-D tensor of shape"),
        ("OneHot/11/default", ("1, 2", "2, 1"), "If 'axis' is not specified then the additional dimension"),
    ],
)
def test_a_wrong_shape_violates_a_sentence_on_the_part_of_the_shape_that_differs(
    name: str, shapes: tuple[str, str], sentence: str
) -> None:
    made = find_case(f"ai.onnx/{name}")
    said = "expected shape [{}], got shape [{}]".format(*shapes)
    wrong = result(made.id, Verdict.WRONG_SHAPE, message=f"outputs[0]: {said}", mismatch={"where": "outputs[0]"})
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_SHAPE, (), (wrong,))
    assert begins(made, sentence_of(made, wrong, group), sentence)


@pytest.mark.parametrize(
    ("name", "node", "cited", "conditions", "sentence"),
    [
        (
            "LpPool/22/ceil_dilations",
            "LpPool <dilations: ints = [2], kernel_shape: ints = [2]> (X)",
            "Whether to use ceil or floor (default) to compute the output shape.",
            ("a value of kernel_shape >= 2",),
            "The size of the kernel along each axis.",
        ),
        (
            "DFT/20/rank2_axis0_rfft",
            "DFT <onesided: int = 1> (X)",
            "Default is `-2` (last signal axis).",
            (),
            "When `onesided=1` and `inverse=0`",
        ),
        (
            "DFT/20/rank2_axis0_rfft",
            'DFT <onesided: int = 1> (X, "", axis)',
            "Default is `-2` (last signal axis).",
            (),
            "When `onesided=1` and `inverse=0`",
        ),
        (
            "ReduceMax/13/axes_0_kept",
            "ReduceMax <axes: ints = [0]> (X)",
            "Accepted range is [-r, r-1] where r = rank(data).",
            (),
            "A list of integers, along which to reduce.",
        ),
    ],
)
def test_a_wrong_shape_violates_a_sentence_on_an_argument_that_the_smallest_case_has(
    name: str, node: str, cited: str, conditions: tuple[str, ...], sentence: str
) -> None:
    made = find_case(f"ai.onnx/{name}")
    text = f'<ir_version: 7, opset_import: ["" : {made.operator.split("/")[-1]}]> g (float[1, 1, 3] X) => (float[n] Y)'
    model = onnx.parser.parse_model(f"{text} {{ Y = {node} }}").SerializeToString()
    made = dataclasses.replace(made, model=model, clauses=(cited,))
    said = "outputs[0]: expected shape [1, 1, 1], got shape [1, 1, 2]"
    wrong = result(made.id, Verdict.WRONG_SHAPE, message=said, mismatch={"where": "outputs[0]"})
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_SHAPE, conditions, (wrong,), deciding=(cited,)
    )
    assert begins(made, sentence_of(made, wrong, group), sentence)


def test_only_the_first_output_has_the_shape_of_the_input() -> None:
    made = find_case("ai.onnx/LayerNormalization/17/no_planes")
    shape = ", ".join(map(str, made.inputs["X"].shape))
    for where, is_first in (("outputs[0]", True), ("outputs[1]", False)):
        said = f"{where}: expected shape [{shape}], got shape [7, 7]"
        wrong = result(made.id, Verdict.WRONG_SHAPE, message=said, mismatch={"where": where})
        group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_SHAPE, (), (wrong,))
        assert (sentence_of(made, wrong, group) == "`Y` and `X` have the same shape.") is is_first


def test_a_sentence_on_a_value_of_an_attribute_that_the_node_lacks_does_not_decide() -> None:
    made = find_case("ai.onnx/BatchNormalization/7/plain_before_9")
    cited = next(text for text in registry.load().named("BatchNormalization").clauses if "If spatial is f" in text.text)
    made = dataclasses.replace(made, clauses=(cited.text,))
    refused = result(made.id, Verdict.REFUSED, message="I cannot")
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, (), (refused,), deciding=made.clauses
    )
    assert sentence_of(made, refused, group) != cited.text


def test_a_sentence_on_the_dimensions_of_an_output_is_no_definition() -> None:
    made = find_case("ai.onnx.ml/TreeEnsemble/5/neq_missing_0")
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_VALUE, (), (wrong,))
    assert sentence_of(made, wrong, group).startswith("The comparison operation performed by the node.")


def test_a_wrong_shape_violates_no_sentence_on_types() -> None:
    made = dataclasses.replace(find_case("ai.onnx/ReduceMax/13/axes_0_kept"), clauses=("Constrain input types.",))
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_SHAPE, (), ())
    assert sentence_of(made, result(made.id, Verdict.WRONG_SHAPE), group).startswith("Computes the max")


def test_a_description_that_repeats_the_name_is_not_the_sentence() -> None:
    made = dataclasses.replace(find_case("ai.onnx/HardSigmoid/22/rank1"), clauses=())
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_VALUE, ("alpha=0",), (wrong,))
    assert "max(0, min(1, alpha * x + beta))" in sentence_of(made, wrong, group)


def test_a_formula_precedes_the_argument_of_a_condition() -> None:
    made = dataclasses.replace(find_case("ai.onnx/GRU/22/layout_0"), clauses=("ht = g(Xt*(Wh^T) + Rbh)",))
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 0.5})
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_VALUE, ("with sequence_lens",), (wrong,), deciding=made.clauses
    )
    assert sentence_of(made, wrong, group) == made.clauses[0]


@pytest.mark.parametrize(
    ("case", "sentence"),
    [
        ("Split/18/uneven_two", "Constrain input and output types to all tensor types."),
        ("OneHot/28/infinite_values", "The type of the output tensor is the same as the type of the 'values' input."),
    ],
)
def test_a_wrong_type_violates_the_sentence_on_the_type_of_its_output(case: str, sentence: str) -> None:
    made = find_case(f"ai.onnx/{case}")
    wrong = result(made.id, Verdict.WRONG_TYPE, mismatch={"where": "outputs[0]"})
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_TYPE, (), (wrong,))
    assert sentence_of(made, wrong, group) == sentence


def test_failures_in_several_forms_but_not_in_the_plain_one_violate_the_sentence_on_forms() -> None:
    made = find_case("ai.onnx/Split/18/uneven_two@symbolic")
    forms = [dataclasses.replace(result(made.id, Verdict.REFUSED), form=form) for form in ("symbolic", "unranked")]
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, (), tuple(forms), deciding=made.clauses
    )
    assert sentence_of(made, forms[0], group).startswith("Each size in the list MAY be expressed")
    plainly = dataclasses.replace(group, results=(*forms, dataclasses.replace(forms[0], form="plain")))
    assert sentence_of(made, forms[0], plainly) in made.clauses


@pytest.mark.parametrize(
    ("case", "verdict", "conditions", "demand"),
    [
        ("Mod/10/floats_fmod_before_13", Verdict.WRONG_VALUE, ("fmod=1",), "attribute must be set to 1."),
        ("Unique/28/empty_subtensors", Verdict.CRASH, ("axis counted from the front = 0",), "Accepted range is [-r"),
    ],
)
def test_a_valid_model_violates_no_sentence_that_only_forbids_others(
    case: str, verdict: Verdict, conditions: tuple[str, ...], demand: str
) -> None:
    made = find_case(f"ai.onnx/{case}")
    clauses = registry.load().named(split_operator(made.operator)[0]).clauses
    text = next(clause.text for clause in clauses if demand in clause.text)
    failed = result(made.id, verdict, mismatch={"where": "outputs[0]", "relative": 2})
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, verdict, conditions, (failed,), deciding=(text,), marking=frozenset({text})
    )
    made = dataclasses.replace(made, clauses=(text, *made.clauses))
    assert demand not in sentence_of(made, failed, group)
    negative = dataclasses.replace(group, conditions=("axis is negative",))
    assert (demand in sentence_of(made, failed, negative)) == demand.startswith("Accepted range")


def test_a_condition_on_an_axis_of_a_crash_does_not_choose_the_sentence_on_its_range() -> None:
    made = find_case("ai.onnx/Unique/28/empty_subtensors")
    crashed = result(made.id, Verdict.CRASH)
    conditions = ("X has a dimension of size 0", "axis counted from the front = 0")
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.CRASH, conditions, (crashed,))
    assert sentence_of(made, crashed, group).startswith("When an optional attribute 'axis' is provided, unique")


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("running_mean", "Constrain mean and variance types to float tensors."),
        ("Y", "Constrain input and output types to float tensors."),
    ],
)
def test_a_tool_that_changes_the_type_of_an_output_violates_the_sentence_on_that_type(
    output: str, sentence: str
) -> None:
    made = find_case("ai.onnx/BatchNormalization/15/training")
    message = f"its output {output} is tensor(float); in the original model it is tensor(float16)"
    changed = result(made.id, Verdict.INVALID_MODEL, message=message)
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.INVALID_MODEL, (), (changed,))
    assert sentence_of(made, changed, group) == sentence


SEED = "(Optional) Seed to the random generator, if not specified we will auto generate one."
TOGETHER = "They shall be used together, and not allowed to use only one of them."
REVERSE = (
    "A tensor that concats all the intermediate output values of the hidden.",
    "The last output value of the hidden.",
)
WRONG_VALUE, REFUSED, CRASH = Verdict.WRONG_VALUE, Verdict.REFUSED, Verdict.CRASH


@pytest.mark.parametrize(
    ("case", "verdict", "conditions", "cited", "sentence"),
    [
        # A description of an output does not define a value, but an attribute that the smallest case needs does.
        ("GRU/14/one_neuron_reverse", WRONG_VALUE, (), REVERSE, "Must be one of forward (default), reverse"),
        ("GRU/22/direction_forward", WRONG_VALUE, (), REVERSE, "Ht = (1 - zt)"),
        ("Unique/28/unsorted_vector", WRONG_VALUE, (), (), "(Optional) Whether to sort the unique elements"),
        # Of failures of one type, only a sentence on types decides; otherwise the definition does.
        (
            "TopK/24/ties", WRONG_VALUE, ("type is an unsigned integer",),
            (
                "this operator uses the indices along the axis as a tiebreaker.",
                "Constrain input and output types to numeric tensors.",
            ), "Retrieve the top-K largest",
        ),
        (
            "GridSample/22/between_integers", WRONG_VALUE, ("type is an unsigned integer",),
            ("For integer input types, intermediate values are computed as floating point",), "For integer input types",
        ),
        (
            "OneHot/28/values_dtypes/double", WRONG_VALUE, ("type of values is double",),
            ("The type of the output tensor is the same as the type of the 'values' input.",), "The locations repres",
        ),
        # A list of values decides only if the failures have one of them, and a description of another output does not.
        (
            "ml/TreeEnsembleClassifier/3/stump", WRONG_VALUE, ("length of nodes_modes = 3",),
            ("One of 'BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT', 'BRANCH_EQ', 'BRANCH_NEQ', 'LEAF'",),
            "Returns the top class for each of N inputs.",
        ),
        (
            "MaxPool/22/infinities", WRONG_VALUE, ("X has an infinity",),
            ("The values in indices of are the indices of the selected values during pooling.",),
            "max pooling consisting of computing the max",
        ),
        ("CastLike/19/special_unsaturated_float8e4m3fn", WRONG_VALUE, (), (), "The parameter defines how the"),
        # Shapes do not define a value, the name of a paper defines nothing, and a title is no sentence.
        ("SpaceToDepth/28/block_2_crd", WRONG_VALUE, ("blocksize >= 2",), (), "Blocks of [blocksize, blocksize] are"),
        (
            "SpaceToDepth/28/block_2_crd", WRONG_VALUE, ("blocksize >= 2", "mode=CRD"),
            ("Output tensor of [N, C * blocksize * blocksize, H/blocksize, W/blocksize].",), "DCR (default) for depth",
        ),
        (
            "GroupNormalization/21/one_channel", WRONG_VALUE, (),
            ("Carries out group normalization as described in the paper https://arxiv.org/abs/1803.08494",),
            "y = scale * (x - mean) / sqrt(variance + epsilon) + bias,",
        ),
        ("If/25/true", REFUSED, (), (), "Graph to run if condition is true."),
        ("Resize/10/dtypes_before_11/int8", WRONG_VALUE, (), (), "Two interpolation modes: nearest (default)"),
        (
            "Upsample/9/extremes/string", WRONG_VALUE, ("type int64",),
            ("Constrain input 'X' and output 'Y' to all tensor types.",), "Two interpolation modes: nearest (default)",
        ),
        (
            "RoiAlign/10/defaults", WRONG_VALUE, (),
            ("Each coordinate set has a 1:1 correspondence with the 'batch_indices' input.",), "RoiAlign consumes an i",
        ),
        (
            "GatherElements/13/default_axis", REFUSED, ("axis is not set",), ("Tensor of the same shape as indices.",),
            "It is an indexing operation that produces its output",
        ),
        # A row of the table that the case cites precedes sentences with its type.
        (
            "Cast/24/powers_zero_nearest_0", WRONG_VALUE, ("to=float8e8m0",),
            ("It only applies for float 8 conversion (", "| 0 | 0 | NaN |"), "| 0 | 0 | NaN |",
        ),
        ("Unique/28/unsorted_axis_0", WRONG_VALUE, ("axis=0",), ("Must be one of 0, or 1 (default).",), "When an op"),
        (
            "RotaryEmbedding/23/plain", WRONG_VALUE, (),
            ("3D tensor with shape `(batch_size, sequence_length, head_size / 2)`",),
            "This is done by splitting the embedding vector",
        ),
        (
            "GatherElements/13/example_1", WRONG_VALUE, (), ("Tensor of the same shape as indices.",),
            "It is an indexing operation",
        ),
        # References, defaults and titles are never quoted.
        (
            "Cast/13/float_to_int32", WRONG_VALUE, ("to=INT32",), ("It only applies for float 8 conversion (",),
            "The operator casts",
        ),
        ("Equal/1/rank4", WRONG_VALUE, (), ("See the doc of `Add` for a detailed",), "Returns the tensor resulted"),
        ("Unsqueeze/13/list", REFUSED, (), ("Original tensor",), "Insert single-dimensional entries to the shape"),
        # A marking sentence decides although it is not on the type that the failures have in common.
        (
            "OneHot/28/default", WRONG_VALUE, ("type int64",),
            (
                "The type of the output tensor is the same",
                "Any entries in the 'indices' input tensor with values outside the",
            ),
            "Any entries in the 'indices' input tensor with values outside the",
        ),
        # The formula with an attribute that the smallest case sets, but no description of an input, and no word "to".
        ("preview.training/Adam/1/epsilon_ten", WRONG_VALUE, (), (), "H_sqrt = Sqrt(H_new) + epsilon"),
        ("ConvTranspose/22/group_three", WRONG_VALUE, (), (), "The convolution transpose operator consumes"),
        ("Cast/13/float16_to_bool", WRONG_VALUE, (), (), "The operator casts the elements"),
        # The word "size" in a condition is not the attribute.
        ("LRN/13/zeros", REFUSED, ("X has a dimension of size 0",), (), "`Y[n, c, d1, ..., dk] = X[n,"),
        ("LRN/13/zeros", REFUSED, ("size=3",), (), "The number of channels to sum over"),
        # What follows if an attribute is set to a value.
        (
            "IsInf/20/negative", WRONG_VALUE, ("detect_positive=0",), ("Default to 1 so that positive infinity",),
            "Set this attribute to 0 if positive infinity should be mapped to false.",
        ),
        (
            "IsInf/20/negative", WRONG_VALUE, ("detect_positive=0",),
            (
                "Default to 1 so that positive infinity",
                "Set this attribute to 0 if positive infinity should be mapped to false.",
            ),
            "Set this attribute to 0 if positive infinity should be mapped to false.",
        ),
        ("Mod/10/signs_fmod_before_13", WRONG_VALUE, (), (), "Setting this attribute to 1 causes the remainder"),
        # The cited sentence of an absent argument, not another one on it.
        (
            "Pad/2/value_nan", REFUSED, ("mode is not set", "version is 2"),
            ("One float, indicates the value to be filled",), "One float, indicates the value to be filled.",
        ),
        # Ranks of inputs, operands, demands and references do not explain a failure of a valid model.
        ("Gather/13/vector_along_0", CRASH, ("data is empty",), ("Tensor of rank q + (r - 1).",), "Given `data` "),
        (
            "BitShift/28/broadcast_scalar_and_2x3", WRONG_VALUE, ("X is a scalar",),
            ("First operand, input to be shifted.",), "For each input element, if the attribute",
        ),
        ("Attention/25/past_causal", REFUSED, (), (TOGETHER,), "Computes scaled dot product attention"),
        (
            "Resize/10/dtypes_before_11/int8", REFUSED, (), ("It takes value greater than 0.",),
            "output_dimension = floor(input_dimension * scale).",
        ),
        # A random value does not depend on the text about the seed.
        ("RandomNormalLike/22/default", REFUSED, (), (SEED,), "Generate a tensor with random values"),
        # An output that a runtime cannot return.
        (
            "BatchNormalization/6/training_constant_before_7", REFUSED, ("saved_mean is asked for",), (),
            "Output case #1: Y, mean, var, saved_mean, saved_var (training mode)",
        ),
        (
            "BatchNormalization/6/training_constant_before_7", REFUSED, ("saved_mean is asked for", "x is y"), (),
            "batch normalization as described in",
        ),
        (
            "LSTM/22/direction_bidirectional", REFUSED, ("initial_c is omitted", "Y is asked for"),
            ("If not specified - assumed to be 0",), "If not specified - assumed to be 0.",
        ),
    ],
)  # fmt: skip
def test_the_sentence_that_decides_precedes_those_beside_the_point(
    case: str, verdict: Verdict, conditions: tuple[str, ...], cited: tuple[str, ...], sentence: str
) -> None:
    made = dataclasses.replace(
        find_case(f"ai.onnx{'.' if case.startswith(('ml/', 'preview.')) else '/'}{case}"), clauses=cited
    )
    failed = result(made.id, verdict, mismatch={"where": "outputs[0]", "relative": 0.5}, clauses=cited)
    group = failure_groups.FailureGroup(
        "mine",
        "1",
        made.operator,
        verdict,
        conditions,
        (failed,),
        deciding=cited,
        marking=frozenset(cited[1:] or cited),
    )
    assert begins(made, sentence_of(made, failed, group), sentence)


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (
            "x datatype should be one of [float16, float32], but got T.float8_e4m3fn",
            "The type of the input `y_zero_point`",
        ),
        (
            "scale param datatype should be one of [float16, float32], but got T.float64",
            "The type of the input 'y_scale'",
        ),
        (
            'Type of R.Tensor((1,), dtype="float64")), and datatype T.int32 on the RHS',
            "The type of the input 'y_scale'",
        ),
    ],
)
def test_a_refused_type_in_the_names_of_another_framework_violates_the_sentence_on_it(
    message: str, sentence: str
) -> None:
    model = """<ir_version: 13, opset_import: ["" : 28]>
        g (float[1] x, double[1] y_scale, float8e4m3fn[1] y_zero_point) => (float8e4m3fn[1] y) {
            y = QuantizeLinear (x, y_scale, y_zero_point)
        }"""
    inputs = {"x": np.zeros(1, np.float32), "y_scale": np.ones(1), "y_zero_point": np.zeros(1, ml_dtypes.float8_e4m3fn)}
    made = dataclasses.replace(
        find_case("ai.onnx/QuantizeLinear/28/ties"),
        model=onnx.parser.parse_model(model).SerializeToString(),
        inputs=inputs,
        clauses=(),
    )
    refused = result(made.id, Verdict.REFUSED, message=message)
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.REFUSED, (), (refused,))
    assert sentence_of(made, refused, group).startswith(sentence)


@pytest.mark.parametrize(
    ("verdict", "case", "message", "sentence"),
    [
        (
            Verdict.WRONG_TYPE, "BatchNormalization/15/training",
            "output running_mean: inferred tensor(float), expected double", "Constrain mean and variance types",
        ),
        (
            Verdict.WRONG_TYPE, "BatchNormalization/15/training",
            "output Y: inferred tensor(float), expected double", "Constrain input and output types",
        ),
        (
            Verdict.WRONG_SHAPE, "GlobalMaxPool/22/image",
            "output Y: inferred shape [1, 1], expected [1, 1, 1, 1]", "The output tensor has the same rank as",
        ),
    ],
)  # fmt: skip
def test_a_wrong_inference_violates_the_sentence_on_the_output_that_its_message_names(
    verdict: Verdict, case: str, message: str, sentence: str
) -> None:
    made = find_case(f"ai.onnx/{case}")
    wrong = dataclasses.replace(result(made.id, verdict, message=message), operator=made.operator)
    group = failure_groups.FailureGroup("mine", "1", made.operator, verdict, (), (wrong,))
    assert begins(made, sentence_of(made, wrong, group), sentence)


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("the dims of data must be at least those of indices", "The output of the operation is produced by"),
        ("the rank of data must be 2", "Tensor of rank r >= 1."),
    ],
)
def test_the_lowest_rank_of_an_input_decides_only_if_the_message_is_on_ranks(message: str, sentence: str) -> None:
    made = dataclasses.replace(find_case("ai.onnx/ScatterElements/18/rows"), clauses=())
    refused = result(made.id, Verdict.REFUSED, message=f"{message}: data must be changed")
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.REFUSED, (), (refused,))
    assert begins(made, sentence_of(made, refused, group), sentence)


def test_a_small_error_violates_the_formula_with_the_attribute_that_the_smallest_case_sets() -> None:
    made = dataclasses.replace(find_case("ai.onnx.preview.training/Adam/1/epsilon_ten"), clauses=())
    wrong = result(made.id, Verdict.WRONG_VALUE, mismatch={"where": "outputs[0]", "relative": 1e-4})
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.WRONG_VALUE, (), (wrong,))
    assert sentence_of(made, wrong, group) == "H_sqrt = Sqrt(H_new) + epsilon"


def test_a_refused_shape_violates_the_only_cited_sentence_on_dimensions() -> None:
    made = find_case("ai.onnx/BatchNormalization/7/spatial_0_before_9")
    refused = result(made.id, Verdict.REFUSED, message="the scale must have rank 1")
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.REFUSED, (), (refused,))
    assert sentence_of(made, refused, group).startswith("If spatial is false, the dimensions of scale are")


def test_a_condition_on_a_type_that_the_smallest_case_does_not_have_does_not_choose_the_sentence_on_types() -> None:
    made = find_case("ai.onnx/LayerNormalization/17/plain")
    refused = result(made.id, Verdict.REFUSED, message="no")
    for type_, on_types in (("float", True), ("double", False)):
        conditions = (f"type of Mean is {type_}",)
        group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.REFUSED, conditions, (refused,))
        assert sentence_of(made, refused, group).startswith("Type of Mean") is on_types


def test_a_wrong_shape_of_a_valid_model_violates_no_demand_on_its_inputs() -> None:
    cited = (
        "The number of elements of 'scales' should be the same as the rank of input 'X'",
        "Two interpolation modes: nearest (default), and linear (including bilinear, trilinear, etc)",
    )
    made = dataclasses.replace(find_case("ai.onnx/Upsample/9/rank2"), clauses=cited)
    message = "outputs[0]: expected shape [4, 6], got shape [2, 3]"
    wrong = result(made.id, Verdict.WRONG_SHAPE, mismatch={"where": "outputs[0]"}, message=message)
    group = failure_groups.FailureGroup("mine", "1", made.operator, wrong.verdict, (), (wrong,), deciding=cited)
    assert sentence_of(made, wrong, group) == "output_dimension = floor(input_dimension * scale)."


def test_a_sentence_on_a_default_does_not_decide_for_an_input_without_elements() -> None:
    cited = "`reduction` allows specification of an optional reduction operation, which is applied to all values"
    made = dataclasses.replace(find_case("ai.onnx/ScatterElements/18/none"), clauses=(cited,))
    refused = result(made.id, Verdict.REFUSED, message="no", clauses=(cited,))
    conditions = ("indices is empty",)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.REFUSED, conditions, (refused,), deciding=(cited,)
    )
    assert sentence_of(made, refused, group).startswith("The output of the operation is produced")


DILATIONS = "dilation value along each spatial axis of the filter."
CEIL = "Whether to use ceil or floor (default) to compute the output shape."
SEE = "See the doc of `Add` for a detailed description of the broadcasting rules."


@pytest.mark.parametrize(
    ("case", "output", "conditions", "cited", "marking", "sentence"),
    [
        ("LpPool/22/dilations_both", 0, ("a value of dilations >= 2",), (CEIL, DILATIONS), DILATIONS, DILATIONS),
        ("Equal/1/limited_axis_one", 0, ("axis=1",), (SEE,), "", "If set, defines the broadcast dimensions."),
        ("Unique/28/unsorted_axis_0", 1, (), (), "", "When 'axis' is provided, it contains indices to subtensors"),
        ("Unique/28/indices_alone", 1, (), (), "", "When 'axis' is not provided, it contains indices to values in"),
    ],
)
def test_a_wrong_shape_violates_what_marks_it_or_describes_its_output(
    case: str, output: int, conditions: tuple[str, ...], cited: tuple[str, ...], marking: str, sentence: str
) -> None:
    made = dataclasses.replace(find_case(f"ai.onnx/{case}"), clauses=cited)
    where = f"outputs[{output}]"
    message = f"{where}: expected shape [3], got shape [2]"
    wrong = result(made.id, Verdict.WRONG_SHAPE, mismatch={"where": where}, message=message)
    group = failure_groups.FailureGroup(
        "mine", "1", made.operator, Verdict.WRONG_SHAPE, conditions, (wrong,), deciding=cited,
        marking=frozenset(filter(None, (marking,))),
    )  # fmt: skip
    assert begins(made, sentence_of(made, wrong, group), sentence)


def test_a_refused_broadcast_violates_no_reference_to_another_operator() -> None:
    made = dataclasses.replace(find_case("ai.onnx/Equal/1/vector_and_tail"), clauses=(SEE,))
    refused = result(made.id, Verdict.REFUSED, message="the shapes are wrong", clauses=(SEE,))
    for conditions in ((), ("A and B differ in rank",)):
        group = failure_groups.FailureGroup(
            "mine", "1", made.operator, Verdict.REFUSED, conditions, (refused,), deciding=(SEE,)
        )
        assert sentence_of(made, refused, group) != SEE


def test_a_message_with_two_element_types_violates_the_sentence_on_the_second() -> None:
    made = find_case("ai.onnx/BatchNormalization/15/training")
    inputs = made.inputs | {name: value.astype(np.float64) for name, value in made.inputs.items() if "_" in name}
    made = dataclasses.replace(made, inputs=inputs, clauses=())
    refused = result(made.id, Verdict.REFUSED, message="received data=float32, mean/var=float64")
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.REFUSED, (), (refused,))
    assert sentence_of(made, refused, group).startswith("Constrain mean and variance types")


def test_a_message_on_an_unknown_output_names_none() -> None:
    made = find_case("ai.onnx/GlobalMaxPool/22/image")
    message = "output Z: inferred shape [1, 1], expected [1, 1, 1, 1]"
    wrong = dataclasses.replace(result(made.id, Verdict.WRONG_SHAPE, message=message), operator=made.operator)
    assert wrong_output(wrong) is None
    assert wrong_output(dataclasses.replace(wrong, message=message.replace("Z", "Y"))) == 0


def test_the_size_of_an_empty_dimension_is_no_attribute() -> None:
    made = find_case("ai.onnx/LRN/13/size_3")
    made = dataclasses.replace(made, inputs={"X": np.zeros((0, 1, 1, 1), np.float32)}, clauses=())
    refused = result(made.id, Verdict.REFUSED, message="no")
    conditions = ("X has a dimension of size 0",)
    group = failure_groups.FailureGroup("mine", "1", made.operator, Verdict.REFUSED, conditions, (refused,))
    assert sentence_of(made, refused, group).startswith("`Y[n, c, d1, ..., dk] = X[n,")
