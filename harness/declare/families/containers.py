"""Containers: sequences and optionals, and what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.declare.arguments import typed
from harness.declare.clause import Rule
from harness.declare.data import Array, ramp
from harness.declare.op import Op, Tag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.declare.clause import Clause, Version
    from harness.declare.op import Derivation

THREE = [ramp(2), [[5, 6, 7]], 8]
"""Tensors of which no two have one shape."""
NOT_HELD = ("bfloat16", "float8e4m3fn", "int4")
"""Some of the element types of tensors that no sequence holds."""


def held_by(kind: str, variable: str) -> Derivation:
    """Derive an output's type as that of what a container holds.

    Args:
        kind: of the container: seq or optional. What is none of this kind keeps its type.
        variable: the type variable of the container.
    """

    def derive(types: Mapping[str, str], _: Mapping[str, Any]) -> str:
        text = types[variable]
        return text.removeprefix(f"{kind}(").removesuffix(")") if text.startswith(f"{kind}(") else text

    return derive


def of_types_not_held(op: Op, **given: Any) -> None:  # noqa: ANN401 - whatever the operator takes
    """Declare the cases of an `input_sequence` that cannot be."""
    for name in NOT_HELD:
        sequence = typed(f"seq(tensor({name}))", [ramp(2), ramp(3)])
        op.case(f"outside_{name}", Tag.DTYPE, input_sequence=sequence, **given, rejects=Rule.TYPES)


class Position:
    """The input `position`, which counts the tensors of `input_sequence` from the front, or from the back."""

    def __init__(
        self, op: Op, *, last: str, notes: Mapping[str, str] | None = None, against: tuple[str, ...] = ()
    ) -> None:
        """Declare the sentences on `op`.

        Args:
            op: the operator.
            last: the greatest position: n, the number of tensors, or n - 1.
            notes: to the sentences, by the attributes below.
            against: official cases whose position is no scalar.
        """
        self.op, self.behind, note = op, int(last == "n"), notes or {}
        where = "where `n` is the number of tensors in 'input_sequence'."
        self.range = op.clause(
            f"Accepted range for 'position' is in `[-n, {last}]`, {where}", note=note.get("range", "")
        )
        self.back = op.clause("Negative value means counting positions from the back.", note=note.get("back", ""))
        self.range_input = op.clause(f"Accepted range in `[-n, {last}]`, {where}")
        self.bounds = op.clause("It is an error if any of the index values are out of bounds.")
        scalar = "It must be a scalar(tensor of empty shape)."
        self.scalar = op.clause(f"Constrain position to integral tensor. {scalar}")
        self.scalar_input = op.clause(scalar, note=note.get("scalar_input", ""), against=against)

    def place(self, v: Version, position: Array, n: int) -> int:
        """Return the place among n tensors, counted from the front."""
        v.require(self.scalar_input, position.ndim == 0)
        given = int(position)
        v.require(self.range, given < n + self.behind)
        v.require(self.range_input, given >= -n)
        return given + n if given < 0 else given

    def within(self, cites: tuple[Clause, ...], **given: Any) -> None:  # noqa: ANN401 - whatever the operator takes
        """Declare the cases of every position in THREE."""
        for place in range(-3, 3 + self.behind):
            name = f"position_{place}".replace("-", "minus_")
            told = (*cites, self.range_input, *((self.back,) if place < 0 else ()))
            self.op.case(name, Tag.AXIS, input_sequence=THREE, **given, position=place, cites=told)

    def beyond(self, **given: Any) -> None:  # noqa: ANN401
        """Declare the cases of positions that THREE does not have."""
        places = {"too_high": 3 + self.behind, "too_low": -4}
        far = {"highest": 2**63 - 1, "lowest": -(2**63), "beyond_int32": 2**32 + 1}
        for name, place in {**places, **far}.items():
            told: dict[str, Any] = {"rejects": self.range if place > 0 else self.range_input}
            told |= {"cites": (self.bounds,)} if name in places else {}
            tag = Tag.AXIS if name in places else Tag.EDGE
            self.op.case(f"position_{name}", tag, input_sequence=THREE, **given, position=place, **told)

    def of_none(self) -> None:
        """Declare the cases of a sequence that holds none, where a position is that of a tensor."""
        for name, place, rejects in (("zero", 0, self.range), ("minus_one", -1, self.range_input)):
            self.op.case(f"empty_at_{name}", Tag.EDGE, input_sequence=[], position=place, rejects=rejects)

    def no_scalars(self, **given: Any) -> None:  # noqa: ANN401
        """Declare the cases of positions that are no scalars."""
        for name, position in {"vector": [1], "matrix": [[1]], "none": []}.items():
            cites = (self.scalar,) if name == "vector" else ()
            told: dict[str, Any] = {"rejects": self.scalar_input, "cites": cites, "position": position}
            self.op.case(f"position_{name}", Tag.EDGE, input_sequence=THREE, **given, **told)

    def types(self, back: int, **given: Any) -> None:  # noqa: ANN401
        """Declare the cases of each integer type, one of them of the position `back`."""
        for name, place, clause in (("", 1, self.scalar), ("_from_back", back, self.back)):
            told: dict[str, Any] = {"each": "I", "position": place, "cites": (clause,)}
            self.op.case(f"position_dtypes{name}", Tag.DTYPE, input_sequence=THREE, **given, **told)
