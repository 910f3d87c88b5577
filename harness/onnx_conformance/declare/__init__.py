# SPDX-License-Identifier: Apache-2.0
"""The functions and classes of operator files: Op, clause, oracle, case, tags, tolerances and data.

An operator file declares one `Op` per operator, the clauses of its text, an oracle that implements them in plain numpy,
and the cases that test them. See `operators/tensor/split.py` for an example and CONTRIBUTING.md for the steps. Nothing
here reads or writes files.
"""

from __future__ import annotations

from onnx_conformance.base.values import Array, Drawn
from onnx_conformance.declare.any_of import AnyOf, any_place
from onnx_conformance.declare.any_order import AnyOrder, Order
from onnx_conformance.declare.arguments import (  # fmt: skip
    EMPTY,
    Call,
    ElementType,
    Empty,
    Graph,
    Sparse,
    Subgraph,
    Typed,
    ValueOf,
    dense,
    element_type,
    graph,
    typed,
    value_of,
    vary,
)
from onnx_conformance.declare.clause import Clause, DeclarationError, NoAnswer, Rejected, Rule, Unspecified, Version
from onnx_conformance.declare.data import Data, axes, axes_outside, every_two, every_value, extremes, ramp
from onnx_conformance.declare.families.broadcasting import Limited, Multidirectional
from onnx_conformance.declare.families.containers import held_by
from onnx_conformance.declare.families.reduction import Reduction, reduced_axes, reduced_rank
from onnx_conformance.declare.families.subgraphs import accumulate, iterate, outputs_of
from onnx_conformance.declare.op import CaseSpec, Op, Tag, attribute, length_of, sequence_of
from onnx_conformance.declare.partly_open import PartlyOpen, Result, reshaped
from onnx_conformance.declare.tolerance import EXACT, Tolerance, bounded, measured, ulp
from onnx_conformance.declare.type import Type

Ints = Array | list[int] | tuple[int, ...] | None
Int = int | None

__all__ = [
    "EMPTY",
    "EXACT",
    "AnyOf",
    "AnyOrder",
    "Array",
    "Call",
    "CaseSpec",
    "Clause",
    "Data",
    "DeclarationError",
    "Drawn",
    "ElementType",
    "Empty",
    "Graph",
    "Int",
    "Ints",
    "Limited",
    "Multidirectional",
    "NoAnswer",
    "Op",
    "Order",
    "PartlyOpen",
    "Reduction",
    "Rejected",
    "Result",
    "Rule",
    "Sparse",
    "Subgraph",
    "Tag",
    "Tolerance",
    "Type",
    "Typed",
    "Unspecified",
    "ValueOf",
    "Version",
    "accumulate",
    "any_place",
    "attribute",
    "axes",
    "axes_outside",
    "bounded",
    "dense",
    "element_type",
    "every_two",
    "every_value",
    "extremes",
    "graph",
    "held_by",
    "iterate",
    "length_of",
    "measured",
    "outputs_of",
    "ramp",
    "reduced_axes",
    "reduced_rank",
    "reshaped",
    "sequence_of",
    "typed",
    "ulp",
    "value_of",
    "vary",
]  # fmt: skip
