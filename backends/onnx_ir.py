# SPDX-License-Identifier: Apache-2.0
"""The passes of onnx-ir that keep the inputs and outputs of a model, or some, as in onnx_ir[only:InlinePass]."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import onnx
import onnx_ir
import onnx_ir.passes
import onnx_ir.passes.common

from onnx_conformance.backends.option import Passes, passes

FORK = True
OPT_OUTS = (("NotImplementedError", r"not supported yet", "not supported yet"),)
PASSES = (
    "InlinePass", "TopologicalSortPass", "NameFixPass", "OutputFixPass", "AddDefaultAttributesPass",
    "LiftConstantsToInitializersPass", "LiftSubgraphInitializersToMainGraphPass", "DeduplicateInitializersPass",
    "CommonSubexpressionEliminationPass", "IdentityEliminationPass", "RemoveUnusedNodesPass",
    "RemoveUnusedFunctionsPass", "RemoveUnusedOpsetsPass", "ShapeInferencePass", "ClearMetadataAndDocStringPass",
)  # fmt: skip
"""In the order in which they run."""
MORE = ("DeduplicateHashedInitializersPass",)
"""The passes that run only if they are named: this one does the same as another, by digests."""
REPRO = """\
import onnx_ir
import onnx_ir.passes.common as common

own = onnx_ir.from_proto(model)
for name in {passes}:
    own = getattr(common, name)()(own).model
model = onnx_ir.to_proto(own)
"""


def _chosen() -> Passes:
    return passes(PASSES, MORE)


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    chosen = _chosen().chosen
    return {
        "runtime": "onnx-ir",
        "version": metadata.version("onnx-ir"),
        "onnx": onnx.__version__,
        "passes": list(chosen),
        "repro": REPRO.format(passes=list(chosen)),
    }


def transform(model: bytes) -> bytes:
    """Return the model after the passes."""
    try:
        own = onnx_ir.from_proto(onnx.load_from_string(model))
    except onnx_ir.serde.SerdeError as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, NotImplementedError):
            cause = cause.__cause__
        raise cause or error from None  # Maps and sparse tensors are not supported yet.
    for name in _chosen().chosen:
        own = getattr(onnx_ir.passes.common, name)()(own).model
    return bytes(onnx_ir.to_proto(own).SerializeToString())
