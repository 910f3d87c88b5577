# SPDX-License-Identifier: Apache-2.0
"""README.md and the overview: the sample is real output, and the figures are those of this project."""

from __future__ import annotations

import re
import shlex
from importlib import metadata

import pytest

from commands import command
from generated import OPS
from onnx_conformance.generation import manifest
from onnx_conformance.specification import registry, schema
from onnx_conformance.specification.completeness import completeness
from paths import ROOT
from runtime_fakes import runtimes, tools
from test_docs import differs

TOTAL = re.compile(r"of [\d,]+ cases of the suite")
"""The size of the suite, which every added case changes; the page need not follow each time."""
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
OVERVIEW = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_sample_is_the_output_of_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = re.search(r"<!-- (.*?) -->\n```text\n(.*?)```", OVERVIEW, re.DOTALL)
    assert shown is not None
    monkeypatch.setenv("COLUMNS", "100")
    done = command(*shlex.split(shown[1].replace("Split*", "'Split*'")))
    sample, out = (TOTAL.sub("of N cases of the suite", text) for text in (shown[2], done.out))
    assert not differs(f"{sample}exit status {done.status}", 1, out)


def test_the_versions_that_made_the_sample_are_named() -> None:
    for name in ("onnxruntime", "onnx"):
        assert f"{name} {metadata.version(name)}" in OVERVIEW, f"the sample is of another {name} than pip installs now"


@pytest.mark.slow
def test_figures_of_the_readme_are_those_of_the_declarations() -> None:
    entries = [manifest.entries(op) for op in OPS]
    assert all(entries), "the committed manifest is not of these cases: onnx-conformance manifest"
    cases = [entry for of_op in entries for entry in of_op or ()]
    here, every = (
        sum(map(len, versions)) for versions in ([registry.versions(op) for op in OPS], schema.every().values())
    )
    first = f"{len(OPS)} of ONNX's {len(schema.every())} operators, {here} of {every} operator versions"
    assert first in README, first
    rounded = re.search(r"about ([\d,]+) cases; about ([\d,]+) of them are in the core", README)
    assert rounded, "README.md has no rounded numbers of cases"
    for shown, exact in zip(rounded.groups(), (len(cases), sum(entry.core for entry in cases)), strict=True):
        assert int(shown.replace(",", "")) == pytest.approx(exact, rel=0.01), f"about {shown}: there are {exact:,}"
    assert completeness().startswith(f"{len(OPS)} of ")


def test_the_numbers_of_adapters_are_at_least_those_of_the_readme() -> None:
    rounded = re.search(r"adapters for more than (\d+) runtimes \(\S+\) and for more than (\d+) tools \(", README)
    assert rounded, "README.md has no rounded numbers of adapters"
    for shown, names in zip(rounded.groups(), (runtimes(), tools()), strict=True):
        assert len(names) > int(shown), sorted(names)
