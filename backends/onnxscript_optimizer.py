# SPDX-License-Identifier: Apache-2.0
"""onnxscript.optimizer.optimize, or some of its passes, as in onnxscript_optimizer[only:fold_constants]."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnxscript.optimizer

from onnx_conformance.backends.option import passes

PASSES = {
    "inline": "onnxscript.optimizer.inline(model)",
    "fold_constants": "onnxscript.optimizer.fold_constants_ir(model, onnx_shape_inference=True)",
    "rewrite": "model = onnxscript.rewriter.rewrite(model)",
    "remove_unused_nodes": "common.RemoveUnusedNodesPass()(model)",
    "remove_unused_functions": "common.RemoveUnusedFunctionsPass()(model)",
    "remove_unused_opsets": "common.RemoveUnusedOpsetsPass()(model)",
    "lift_constants": "common.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(model)",
    "lift_subgraph_initializers": "common.LiftSubgraphInitializersToMainGraphPass()(model)",
    "deduplicate_initializers": "common.DeduplicateInitializersPass()(model)",
    "eliminate_common_subexpressions": "common.CommonSubexpressionEliminationPass()(model)",
    "fix_outputs": "common.OutputFixPass()(model)",
    "fix_names": "common.NameFixPass()(model)",
}
"""The passes of `optimize`, in its order, as its users call each; it repeats some of them, which one call does not."""
WHOLE = """\
import onnxscript.optimizer

model = onnxscript.optimizer.optimize(model)
"""
SOME = """\
import onnx_ir
import onnx_ir.passes.common as common
import onnxscript.optimizer
import onnxscript.rewriter

model = onnx_ir.from_proto(model)
{calls}model = onnx_ir.to_proto(model)
"""


def _code() -> str:
    """Return the code that runs the passes that are chosen, from `model` to `model`."""
    chosen = passes(tuple(PASSES))
    if not chosen.left_out:
        return WHOLE
    return SOME.format(calls="".join(f"{PASSES[name]}\n" for name in chosen.chosen))


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {
        "runtime": "onnxscript.optimizer",
        "version": metadata.version("onnxscript"),
        "onnx": onnx.__version__,
        "passes": list(passes(tuple(PASSES)).chosen),
        "repro": _code(),
    }


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    if not passes(tuple(PASSES)).left_out:
        return bytes(onnxscript.optimizer.optimize(onnx.load_from_string(model)).SerializeToString())
    names: dict[str, Any] = {"model": onnx.load_from_string(model)}
    exec(_code(), names)  # noqa: S102 - the calls above, as shown in scripts
    return bytes(names["model"].SerializeToString())
