# SPDX-License-Identifier: Apache-2.0
"""The words by which every optimizer chooses its passes."""

from __future__ import annotations

import pytest

from onnx_conformance.backends import option

KNOWN, MORE = ("a", "b", "c"), ("b", "extra")


@pytest.mark.parametrize(
    ("text", "chosen", "left_out", "by_default", "word"),
    [
        ("", "a b c", "", True, "high"),
        ("only:b", "b", "a c", False, "high"),
        ("only:c+a", "a c", "b", False, "high"),
        ("only:extra", "extra", "a b c", False, "high"),
        ("only:", "", "a b c", False, "high"),
        ("without:b", "a c", "b", False, "high"),
        ("low", "a b c", "", True, "low"),
        ("low,without:a+b", "c", "a b", False, "low"),
    ],
)
def test_passes(
    text: str,
    chosen: str,
    left_out: str,
    by_default: bool,  # noqa: FBT001 - a column of the table
    word: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(option.VARIABLE, text)
    said = option.passes(KNOWN, MORE, ("high", "low"))
    assert (said.chosen, said.left_out) == (tuple(chosen.split()), tuple(left_out.split()))
    assert (said.by_default, said.word) == (by_default, word)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("only:d", "there is no pass 'd'; there are a, b, c, extra"),
        ("b", "there is no option 'b'; there are high, low, only:PASS"),
        ("lowest,only:a", "there is no option 'lowest'"),
    ],
)
def test_what_there_is_not_is_reported(text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(option.VARIABLE, text)
    with pytest.raises(ValueError, match=message):
        option.passes(KNOWN, MORE, ("high", "low"))
