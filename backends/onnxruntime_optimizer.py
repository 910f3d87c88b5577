# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's graph optimizer: the model that a session writes; the option is the level, and the passes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import onnxruntime

from onnx_conformance.backends import onnxruntime as runtime
from onnx_conformance.backends.option import Passes, passes

LEVELS = {name: runtime.LEVELS[name] for name in ("extended", "basic", "none", "all")}
"""The highest one that every machine has comes first: at the level "all" it writes nodes for the layout of one."""
BASIC = (
    "EliminateIdentity", "EliminateSlice", "UnsqueezeElimination", "EliminateDropout", "ExpandElimination",
    "CastElimination", "CastChainElimination", "PreShapeNodeElimination", "NoopElimination", "DivMulFusion",
    "FuseReluClip", "GemmSumFusion", "GemmTransposeFusion", "NotWhereFusion", "ConvAddFusion", "ConvMulFusion",
    "ConvBNFusion", "Pad_Fusion", "MatMul_BatchNormalization_Fusion", "LabelEncoderFusion",
    "CommonSubexpressionElimination", "ConstantSharing", "ConstantFolding", "MatMulAddFusion", "ReshapeFusion",
    "GeluFusionL1", "LayerNormFusionL1", "QDQPropagationTransformer", "WeightBiasQuantization",
    "EnsureUniqueDQForNodeUnit", "RemoveDuplicateCastTransformer", "CastFloat16Transformer", "DoubleQDQPairsRemover",
    "GatherSliceToSplitFusion", "GatherToSliceFusion", "SliceConcatToSpaceToDepthFusion", "TransposeOptimizer",
)  # fmt: skip
"""Names by which a session leaves out rewrite rules and transformers; it ignores those that its release has not."""
EXTENDED = (
    "ClipQuantRewrite", "ReluQuantRewrite", "QDQS8ToU8Transformer", "QDQSelectorActionTransformer",
    "GemmActivationFusion", "MatMulIntegerToFloatFusion", "DynamicQuantizeMatMulFusion", "ConvActivationFusion",
    "GeluFusionL2", "LayerNormFusionL2", "SimplifiedLayerNormFusion", "AttentionFusion", "EmbedLayerNormFusion",
    "MatmulTransposeFusion", "BiasGeluFusion", "GroupQueryAttentionFusion", "SkipLayerNormFusion",
    "BiasSkipLayerNormFusion", "FastGeluFusion", "QuickGeluFusion", "SwiGluFusion", "BiasSoftmaxFusion",
    "BiasDropoutFusion", "MatMulScaleFusion", "MatMulActivationFusion", "MatMulNBitsFusion",
    "QDQFinalCleanupTransformer", "Avx2WeightS8ToU8Transformer", "ConvAddActivationFusion",
)  # fmt: skip
PASSES = {
    "extended": (*BASIC, *EXTENDED),
    "basic": BASIC,
    "none": (),
    "all": (*BASIC, *EXTENDED, "NchwcTransformer", "NhwcTransformer"),
}
OPT_OUTS = runtime.OPT_OUTS
REPRO = """\
import onnx
import onnxruntime

options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.{level}
options.optimized_model_filepath = "optimized.onnx"
onnxruntime.InferenceSession(
    model.SerializeToString(), options, providers=["CPUExecutionProvider"], disabled_optimizers={disabled}
)
model = onnx.load("optimized.onnx")
"""


def _chosen() -> Passes:
    """Return the level, the passes that it has, and those that are left out."""
    word = passes(PASSES["extended"], words=tuple(LEVELS)).word
    return passes(PASSES[word], PASSES["extended"], words=tuple(LEVELS))


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    chosen = _chosen()
    return {
        "runtime": f"onnxruntime's optimizer, {chosen.word}",
        "version": onnxruntime.__version__,
        "repro": REPRO.format(level=LEVELS[chosen.word], disabled=list(chosen.left_out)),
        "passes": list(chosen.chosen),
        "types": runtime.info()["types"],
        "containers": runtime.info()["containers"],
    }


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    chosen, options = _chosen(), onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, LEVELS[chosen.word])
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-files-") as folder:
        path = Path(folder, "optimized.onnx")
        options.optimized_model_filepath = str(path)
        onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"], disabled_optimizers=list(chosen.left_out)
        )
        return path.read_bytes()
