# SPDX-License-Identifier: Apache-2.0
"""An operator package of a vendor, with a text of its own: the operators of com.example."""

from __future__ import annotations

import onnx.defs
from onnx.defs import OpSchema

from onnx_conformance.declare.package import OperatorPackage

_FLOATS = ("T", ["tensor(float)", "tensor(double)"], "Constrain input and output types to float tensors.")


def schemas() -> list[OpSchema]:
    """Return the schemas of the operators."""
    parameter = OpSchema.FormalParameter
    return [
        OpSchema(
            "ScaledAdd",
            "com.example",
            1,
            "Adds two tensors of the same shape. The second one is multiplied by scale before the addition.",
            inputs=[parameter("A", "T", "The first tensor."), parameter("B", "T", "The second tensor.")],
            outputs=[parameter("C", "T", "The sum.")],
            type_constraints=[_FLOATS],
            attributes=[OpSchema.Attribute("scale", onnx.helper.make_attribute("scale", 1.0), "The factor of B.")],
        ),
        OpSchema(
            "Halve",
            "com.example",
            1,
            "Divides each element by 2.",
            inputs=[parameter("X", "T", "The input.")],
            outputs=[parameter("Y", "T", "The halves.")],
            type_constraints=[_FLOATS],
        ),
        OpSchema(
            "Double",
            "com.example",
            1,
            "Multiplies each element by 2.",
            inputs=[parameter("X", "T", "The input.")],
            outputs=[parameter("Y", "T", "The doubles.")],
            type_constraints=[_FLOATS],
        ),
    ]


PACKAGE = OperatorPackage(name="example", module=__name__, source="the manual of example 1.0", schemas=schemas)
