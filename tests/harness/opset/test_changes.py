# SPDX-License-Identifier: Apache-2.0
"""What changed between two versions of an operator, sentence by sentence and word by word."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter

import pytest

from onnx_conformance.opset import changes, description
from onnx_conformance.opset.changes import ChangeKind
from onnx_conformance.report import opset as report
from onnx_conformance.specification import registry, schema


def described(name: str, since: int) -> description.Description:
    return description.describe(next(item for item in schema.versions("ai.onnx", name) if item.since == since))


@pytest.mark.parametrize(
    ("name", "old", "new", "kind", "signature"),
    [
        ("OneHot", 11, 28, ChangeKind.TYPES, ("type T3: added bfloat16",)),
        ("DepthToSpace", 13, 28, ChangeKind.BODY, ()),
        ("SpaceToDepth", 13, 28, ChangeKind.MEANING, ("attribute mode added: STRING, default 'DCR'",)),
        ("ReduceLogSum", 18, 28, ChangeKind.TYPES, ("type T: removed uint32, uint64, int32, int64",)),
        ("Split", 11, 13, ChangeKind.MEANING, None),
        ("Split", 13, 18, ChangeKind.MEANING, ("attribute num_outputs added: INT, no default",)),
        ("Upsample", 9, 10, ChangeKind.DEPRECATED, None),
    ],
)
def test_a_step_is_told_by_its_kind(
    name: str, old: int, new: int, kind: ChangeKind, signature: tuple[str, ...] | None
) -> None:
    change = changes.compare(described(name, old), described(name, new))
    assert change.kind is kind
    if signature is not None:
        assert change.signature == signature


def test_an_attribute_that_became_an_input_is_both() -> None:
    change = changes.compare(described("Split", 11), described("Split", 13))
    assert "attribute split removed: INTS, no default" in change.signature
    assert "input split added: tensor(int64), optional" in change.signature


@pytest.mark.slow
def test_about_half_of_all_steps_are_types_only() -> None:
    kinds: Counter[ChangeKind] = Counter()
    for path in schema.every():
        every = [description.describe(version) for version in schema.versions(*path.split("/"))]
        kinds.update(changes.compare(old, new).kind for old, new in itertools.pairwise(every))
    steps = kinds.total() - kinds[ChangeKind.DEPRECATED]
    assert 0.4 < kinds[ChangeKind.TYPES] / steps < 0.55, kinds


def test_words_show_what_went_and_what_came() -> None:
    old = dataclasses.replace(described("Relu", 13), since=13, sentences=("The rank is at least two .", "It ends."))
    new = dataclasses.replace(old, sentences=("The rank is at least three .", "It begins."))
    change = changes.compare(old, new)
    assert change.kind is ChangeKind.REWORDED
    assert [report.words(parts) for parts in change.changed] == ["The rank is at least [-two-] {+three+} ."]
    assert (change.went, change.came) == (("It ends.",), ("It begins.",))


def test_punctuation_is_no_change() -> None:
    old = described("Relu", 13)
    new = dataclasses.replace(old, sentences=tuple(f"`{text}`" for text in old.sentences))
    assert not changes.differs(old, new)
    assert changes.differs(old, dataclasses.replace(old, deprecated=old.deprecated, types={"T": ()}))


def test_every_change_of_opset_28_that_the_declarations_have_is_named() -> None:
    """As if opset 28 had been new: a clause that begins or ends there is of a sentence that came, went or changed."""
    for op in registry.load():
        if op.domain != "ai.onnx" or op.versions[-1] != 28 or len(op.versions) == 1:
            continue
        change = changes.compare(described(op.name, op.versions[-2]), described(op.name, 28))
        came = " ".join((*change.came, *(_side(parts, "came") for parts in change.changed)))
        went = " ".join((*change.went, *(_side(parts, "went") for parts in change.changed)))
        for clause in op.clauses:
            parts = [part for part in clause.text.split(". ") if part]
            if clause.since == 28:
                assert any(part.rstrip(".;") in came for part in parts), f"{op}: «{clause.text}» did not come"
            if clause.before == 28:
                assert any(part.rstrip(".;") in went for part in parts), f"{op}: «{clause.text}» did not go"


def _side(parts: tuple[changes.Words, ...], side: str) -> str:
    return " ".join(filter(None, (word for part in parts for word in (part.equal, getattr(part, side)))))


@pytest.mark.slow
def test_descriptions_come_back_as_they_were_printed() -> None:
    number, every = description.parse(description.printed())
    assert number == schema.onnx.__version__
    assert every == description.every()
