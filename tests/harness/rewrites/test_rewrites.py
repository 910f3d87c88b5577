# SPDX-License-Identifier: Apache-2.0
"""What the declared rewrites cover: every pass of the tools below, as their releases of today name them."""

import collections

import pytest

from onnx_conformance.forms import table
from onnx_conformance.generation import rewrite_cases
from onnx_conformance.rewrites.rewrite import Rewrite, distinct, numbers, taken
from onnx_conformance.tolerance import several_nodes

PASSES = {
    "onnxoptimizer": """
        eliminate_nop_cast eliminate_nop_dropout eliminate_nop_flatten extract_constant_to_initializer
        eliminate_consecutive_idempotent_ops eliminate_if_with_const_cond eliminate_nop_monotone_argmax
        eliminate_nop_pad eliminate_nop_concat eliminate_nop_split eliminate_nop_expand eliminate_shape_gather
        eliminate_slice_after_shape eliminate_nop_transpose fuse_add_bias_into_conv fuse_bn_into_conv
        fuse_consecutive_concats fuse_consecutive_log_softmax fuse_consecutive_reduce_unsqueeze
        fuse_consecutive_squeezes fuse_consecutive_transposes fuse_matmul_add_bias_into_gemm fuse_pad_into_conv
        fuse_pad_into_pool fuse_transpose_into_gemm replace_einsum_with_matmul fuse_concat_into_reshape
        eliminate_nop_reshape eliminate_nop_with_unit eliminate_common_subexpression fuse_qkv
        fuse_consecutive_unsqueezes eliminate_deadend eliminate_identity eliminate_shape_op fuse_consecutive_slices
        eliminate_unused_initializer eliminate_duplicate_initializer rewrite_where adjust_slice_and_matmul
    """,
    "onnxslim": """
        EliminationConcat EliminationReshape EliminationReshapeAs EliminationSlice EliminationTranspose
        EliminationTransposeAsReshape EliminationTransposeViewTranspose EliminationUnsqueeze FusionConcatReshape
        FusionConvAdd FusionConvBN FusionConvMul FusionConvTransposeAdd FusionConvTransposeBN FusionConvTransposeMul
        FusionGemm FusionGemmAdd FusionGemmMul FusionPadConv FusionReduce
    """,
    "onnxruntime": """
        EliminateIdentity EliminateSlice UnsqueezeElimination EliminateDropout ExpandElimination CastElimination
        CastChainElimination NoopElimination DivMulFusion FuseReluClip GemmSumFusion GemmTransposeFusion
        NotWhereFusion ConvAddFusion ConvMulFusion ConvBNFusion Pad_Fusion MatMul_BatchNormalization_Fusion
        LabelEncoderFusion PreShapeNodeElimination CommonSubexpressionElimination ConstantFolding MatMulAddFusion
        ReshapeFusion TransposeOptimizer ConcatSliceElimination GatherToSplitFusion GatherToSliceFusion
        GatherSliceToSplitFusion LayerNormFusion SimplifiedLayerNormFusion SkipLayerNormFusion BiasGeluFusion
        GeluFusion FastGeluFusion QuickGeluFusion BiasSoftmaxFusion BiasDropoutFusion MatMulScaleFusion
        MatmulTransposeFusion MatMulIntegerToFloatFusion DynamicQuantizeMatMulFusion ConvActivationFusion
        ConvAddActivationFusion GemmActivationFusion AttentionFusion EmbedLayerNormFusion ClipQuantFusion
        ReluQuantFusion QDQPropagationTransformer DoubleQDQPairsRemover QDQSelectorActionTransformer
        QDQFinalCleanupTransformer WeightBiasQuantization SliceConcatToSpaceToDepthFusion SwiGluFusion
        RemoveDuplicateCastTransformer
    """,
    # Without qordered_matmul and gemm_fast_gelu, whose nodes only CUDA and ROCm have.
    "onnxruntime.transformers": """
        gelu layer_norm attention rotary_embeddings skip_layer_norm embed_layer_norm bias_skip_layer_norm bias_gelu
        gelu_approximation
    """,
    "onnxscript": """
        squeeze_reshape_1d_rule cast_cast_rule no_op_cast_rule no_op_expand_rule reshape_reshape_rule slice_split_rule
        no_op_transpose_rule transpose_transpose_rule unsqueeze_unsqueeze_rule flatten_to_reshape_rule
        two_reshapes_matmul_reshape_rule one_reshape_matmul_reshape_rule cast_constant_of_shape_rule
        cast_constant_of_shape_without_value_rule collapse_slice_rule collapse_slice2_rule
        fuse_batchnorm_into_conv_rule fuse_batchnorm_into_conv_transpose_rule fuse_batchnorm_into_gemm_rule
        affine_conv_fusion_rule conv_affine_fusion_rule HardSwishFusion HardSigmoidFusion
        HardSwishFusionFromHardSigmoid normalize_pad_format_conv_rule normalize_pad_format_conv_integer_rule
        fuse_pad_into_conv_rule fuse_pad_into_conv_integer_rule successive_relu_rule successive_clip_rule
        successive_clip_relu_rule successive_relu_clip_rule gemm_to_matmul_add_rule materialize_reshape_shape_rule
        matmul_add_to_gemm_rule transpose_a_matmul_add_to_gemm_rule transpose_b_matmul_add_to_gemm_rule
        transpose_ab_matmul_add_to_gemm_rule min_min_rule max_max_rule min_max_rule max_min_rule mul_by_1_rule
        add_0_rule sub_0_rule div_by_1_rule dropout_zero_rule dropout_inference_rule no_op_dynamic_scatter_nd_rule
        no_op_static_scatter_nd_rule _ExpandFirstInput _ExpandSecondInput remove_optional_bias_from_conv_rule
        remove_optional_bias_from_conv_transpose_rule remove_optional_bias_from_qlinear_conv_rule
        remove_optional_bias_from_gemm_rule OnnxGroupQueryAttention LayerNormFusion LayerNormBiasFusion RmsNormFusion1
        RmsNormFusion2 RotaryEmbedding23Fusion PartialRotaryEmbedding23Fusion
    """,
}

LEAST_CASES = 10


@pytest.mark.parametrize("tool", PASSES)
def test_every_pass_of_a_tool_is_known_to_a_rewrite(tool: str) -> None:
    known = {name for rewrite in rewrite_cases.declared() for name in rewrite.known_to}
    assert [name for name in PASSES[tool].split() if f"{tool}: {name}" not in known] == []


def test_tools_are_named_alike() -> None:
    tools = {name.partition(": ")[0] for rewrite in rewrite_cases.declared() for name in rewrite.known_to}
    assert tools == set(PASSES)


def test_names_are_unique() -> None:
    names = collections.Counter(
        f"{rewrite.name}_{model.name}" for rewrite in rewrite_cases.declared() for model in rewrite.models
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_every_rewrite_has_several_models() -> None:
    assert [item.name for item in rewrite_cases.declared() if len(item.models) < 3] == []


def test_every_constant_and_input_is_taken() -> None:
    """A constant that no node takes is a mistake of the row, unless that is what it is about."""
    unused = []
    for rewrite in rewrite_cases.declared():
        if rewrite.name == "dead_end":
            continue
        for model in rewrite.models:
            there = {**model.inputs, **model.constants}
            used = taken(model.nodes, there)
            unused += [f"{rewrite.name}_{model.name} {key}" for key in there if key not in used]
    assert unused == []


@pytest.mark.slow
@pytest.mark.parametrize("rewrite", rewrite_cases.declared(), ids=lambda rewrite: rewrite.name)
def test_a_rewrite_has_cases(rewrite: Rewrite) -> None:
    """Models are few to a case, so that three of each rewrite, whose surroundings are built, say enough."""
    total = 0
    for model in rewrite.models[:3]:
        total += len(list(table.delivered(rewrite_cases.started(model, model.name), table.Start.REWRITE)))
    assert total >= LEAST_CASES


@pytest.mark.slow
@pytest.mark.parametrize("rewrite", rewrite_cases.declared(), ids=lambda rewrite: rewrite.name)
def test_every_model_of_a_rewrite_has_a_case(rewrite: Rewrite) -> None:
    """An answer that depends on how the nodes round is no case, so the model would test nothing."""
    without = []
    for model in rewrite.models:
        start = rewrite_cases.started(model, model.name)
        try:
            several_nodes.composed(model.name, rewrite.operator, start.loaded, start.inputs)
        except several_nodes.UndecidedError as error:
            without.append(f"{model.name}: {error}")
    assert without == []


def test_numbers_are_the_same_every_time_and_rows_are_no_shifts_of_each_other() -> None:
    assert numbers(2, 3, seed=1).tolist() == numbers(2, 3, seed=1).tolist()
    rows = numbers(6, 5, seed=1)
    assert len({tuple(row - row[0]) for row in rows}) == len(rows)


def test_distinct_numbers_differ() -> None:
    assert len(set(distinct(4, 5, seed=2).reshape(-1).tolist())) == 20
