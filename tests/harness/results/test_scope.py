# SPDX-License-Identifier: Apache-2.0
"""What the numbers of a run are of."""

from __future__ import annotations

from typing import Any

import pytest

from onnx_conformance.results.scope import Scope


def header(selection: str = "", total: object = 228_383, **samples: int) -> dict[str, Any]:
    return {
        "suite": {"name": "generated", "digest": "", "cases": total},
        "arguments": {"selection": selection, "samples": samples},
    }


@pytest.mark.parametrize(
    ("selection", "samples", "text"),
    [
        ("", {}, "all 1,200 cases of the suite generated"),
        ("--core", {}, "core: 1,200 of 228,383 cases of the suite generated"),
        ("--core", {"mine": 4}, "core, 1 case in 4: 1,200 of 228,383 cases of the suite generated"),
        ("--op Split* --core", {}, "part of the core: 1,200 of 228,383 cases of the suite generated (--op Split*)"),
        ("--op Split", {"other": 4}, "part: 1,200 of 228,383 cases of the suite generated (--op Split)"),
        (
            "--op 'Conv/>=11' --type float --core --at-most 9",
            {},
            "part of the core: 1,200 of 228,383 cases of the suite generated (--op Conv/>=11 --type float --at-most 9)",
        ),
        (
            "--no-containers --version newest --model a@1a2b",
            {},
            "part: 1,200 of 228,383 cases of the suite generated (--no-containers --version newest --model a@1a2b)",
        ),
        ("", {"mine": 4}, "1 case in 4: 1,200 of 228,383 cases of the suite generated"),
        ("--case 'unclosed", {}, "part: 1,200 of 228,383 cases of the suite generated (--case 'unclosed)"),
    ],
)
def test_a_number_of_cases_says_what_it_is_of(selection: str, samples: dict[str, int], text: str) -> None:
    scope = Scope.of(header(selection, **samples))
    assert scope.text(1200, "mine") == text
    assert scope.is_core is ("--core" in selection)


@pytest.mark.parametrize("total", [None, "many", -1, True, [3]])
def test_a_total_that_is_no_number_of_cases_is_not_shown(total: object) -> None:
    assert Scope.of(header("--core", total)).text(1) == "core: 1 case of the suite generated"
