# SPDX-License-Identifier: Apache-2.0
"""Exclusions: which failures they accept, and the sentences for malformed tables."""

from __future__ import annotations

import pytest

from onnx_conformance.base.target import Target
from onnx_conformance.judging import profile
from refusals import refuses

REASON = '\nreason = "no padding"'


def read(text: str) -> profile.Profile:
    return profile.of(Target("mine", (), profile=text), {})


@pytest.mark.parametrize(
    ("text", "problem", "words"),
    [
        ("exclusions = 3", "exclusions-invalid", "[[exclusions]]"),
        ("[[exclusions]]" + REASON, "exclusions-invalid", "has no case"),
        ('[[exclusions]]\ncase = "a/B/1/*"', "exclusions-invalid", "has no reason"),
        ('[[exclusions]]\ncase = "a/B/1/*"\nreason = ""', "exclusions-invalid", "has no reason"),
        ('[[exclusions]]\ncase = "a/B/1/*"\nreason = " "', "exclusions-invalid", "expected a text"),
        ('[[exclusions]]\ncase = "a/B/1/*"\nreason = 3', "exclusions-invalid", "expected a text"),
        ('[[exclusions]]\ncase = "a/B/1/*"\nisue = "x"' + REASON, "exclusions-invalid", "did you mean 'issue'"),
        ('[[exclusions]]\ncase = ["a/B/1/*", ""]' + REASON, "exclusions-invalid", "list of texts"),
        ('[[exclusions]]\ncase = "*"' + REASON, "exclusions-invalid", "matches all cases"),
        ('[[exclusions]]\ncase = "*/[!x]*/?*"' + REASON, "exclusions-invalid", "matches all cases"),
        ('[[exclusion]]\ncase = "a/B/1/*"' + REASON, "profile-table-unknown", "did you mean [[exclusions]]"),
        ("[[exclusions", "profile-not-toml", "mine"),
    ],
)
def test_a_malformed_table_gets_a_sentence(text: str, problem: str, words: str) -> None:
    with refuses(problem, words, "mine"):
        read(text)


def test_the_first_exclusion_that_matches_a_case_applies() -> None:
    own = read(
        '[provider]\nnames = ["x"]\n'
        '[[exclusions]]\ncase = ["a/B/1/x*", "a/B/1/z"]\nreason = "one"\nissue = "https://example.org/1"\n'
        '[[exclusions]]\ncase = "a/B/*"\nreason = "two"\n'
    )
    texts = {name: str(own.exclusion(f"a/B/1/{name}")) for name in ("x1", "z", "zz")}
    assert texts == {"x1": "one (https://example.org/1)", "z": "one (https://example.org/1)", "zz": "two"}
    assert own.exclusion("a/C/1/x") is None


def test_the_own_file_of_a_backend_is_used_if_it_has_tables() -> None:
    other = f'[[exclusions]]\ncase = "a/B/1/*"{REASON}'
    claims = '[[claims]]\noperator = "Conv"'
    provider = '[provider]\nnames = ["x"]'
    for own, given, expected in ((claims, other, claims), (provider, other, other), (provider, "", provider)):
        assert profile.with_file(Target("mine", (), profile=own), given).profile == expected
    with refuses("exclusions-invalid", "mine"):
        profile.with_file(Target("mine", ()), '[[exclusions]]\ncase = "a/B/1/*"')


def test_an_adapter_cannot_describe_its_own_profile() -> None:
    hello = {"runtime": "mine", "profile": "x", "exclusions": [{"case": ["*"], "reason": "all"}], "overrides": []}
    assert profile.described(Target("mine", ()), hello) == {"runtime": "mine"}
    target = Target("mine", (), profile=f'[[exclusions]]\ncase = "a/B/1/*"{REASON}')
    described = profile.described(target, hello)
    assert described["exclusions"] == [{"case": ["a/B/1/*"], "reason": "no padding"}]
    assert len(described["profile"]) == 64
    assert "overrides" not in described
