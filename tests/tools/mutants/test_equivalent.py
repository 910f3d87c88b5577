# SPDX-License-Identifier: Apache-2.0
"""The list of faults that change nothing: read with a sentence for each mistake in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools.mutants import equivalent
from tools.mutants.equivalent import Entry, EquivalentError

if TYPE_CHECKING:
    from pathlib import Path

ENTRY = """\
[[equivalent]]
file = "f.py"
function = "f"
line = "return x"
fault = "0 -> 1"
reason = "a test"
"""


def test_an_entry_is_read(tmp_path: Path) -> None:
    path = tmp_path / "equivalent.toml"
    path.write_text(ENTRY + ENTRY + 'operator = "ai.onnx/Split"\n')
    one, two = equivalent.read(path)
    assert one == Entry("f.py", "f", "a test", "return x", "0 -> 1")
    assert two.operator == "ai.onnx/Split"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[", "cannot be read"),
        ("other = 1\n", "expected only"),
        (ENTRY.replace('reason = "a test"\n', ""), "entry 1: lacks reason"),
        (ENTRY.replace('"a test"', '" "'), "not empty"),
        (ENTRY.replace('line = "return x"\n', ""), "entry 1: lacks line"),
        (ENTRY + "extra = 'x'\n", "has 'extra'"),
        (ENTRY.replace('"f.py"', "3"), "every value must be a text"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "equivalent.toml"
    path.write_text(text)
    with pytest.raises(EquivalentError, match=sentence):
        equivalent.read(path)


def test_every_committed_entry_has_a_reason() -> None:
    assert all(len(entry.reason) > 10 for entry in equivalent.read())
