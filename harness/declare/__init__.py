"""The words of operator files: Op, clause, oracle, case, tags, tolerances and data. No input or output.

An operator file declares one `Op` per operator, the clauses of its text, an oracle that says what the
clauses mean in plain numpy, and the cases that try them. See `operators/split.py` for a whole one and
CONTRIBUTING.md for the steps.
"""

from __future__ import annotations

from harness.declare.attributes import text
from harness.declare.clause import Clause, DeclarationError, NoAnswer, Rejected, Rule, Unspecified, Version
from harness.declare.contraction import contracted
from harness.declare.data import Array, Data, Typed, axes, axes_outside, extremes, ramp, typed
from harness.declare.op import CaseSpec, Op, Tag, length_of, sequence_of
from harness.declare.resampling import Resampling, exact, kept_ratio, scaled_shape, settled
from harness.declare.tolerance import EXACT, Tolerance, bounded, ulp

Ints = Array | list[int] | tuple[int, ...] | None
Int = int | None

__all__ = [
    "EXACT", "Array", "CaseSpec", "Clause", "Data", "DeclarationError", "Int", "Ints", "NoAnswer", "Op", "Rejected",
    "Resampling", "Rule", "Tag", "Tolerance", "Typed", "Unspecified", "Version", "axes", "axes_outside", "bounded",
    "contracted", "exact", "extremes", "kept_ratio", "length_of", "ramp", "scaled_shape", "sequence_of", "settled",
    "text", "typed", "ulp",
]  # fmt: skip
