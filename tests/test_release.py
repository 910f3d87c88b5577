# SPDX-License-Identifier: Apache-2.0
"""A release: one version and one address of the repository, wherever they are written."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest
import yaml

from onnx_conformance.base.package import REPOSITORY, VERSION
from onnx_conformance.report.formats import FORMATS
from paths import ROOT
from runs import data_of, result

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GLOBS = (
    "*.md", "*.toml", "*.yml", "*.cff", "*.py", "Dockerfile", "docs/**/*.md", "docs/*.py", ".github/**/*.yml",
    "backends/*.md", "backends/*.py", "harness/onnx_conformance/**/*.py", "harness/onnx_conformance/**/*.jinja",
    "harness/onnx_conformance/**/*.js",
)  # fmt: skip
"""The files that may contain the address or the version: everything that is installed, or that a user copies."""
TEXTS = sorted({path for glob in GLOBS for path in ROOT.glob(glob) if path.suffix != ".png"})
SLUG = REPOSITORY.removeprefix("https://github.com/")
ADDRESS = re.compile(r"(?:github\.com|githubusercontent\.com)/([\w.-]+/onnx-conformance)(?![\w-])")
USED = re.compile(r"uses: *([\w./<>-]*onnx-conformance[\w./-]*)@([\w.<>-]+)")
FILE = re.compile(re.escape(REPOSITORY) + r"/(?:blob|raw|tree)/([^/\s]+)/([\w./-]+\w)")
PINNED = re.compile(r"onnx-conformance(?:\[[\w,]+\])?==([\d.]*\d)")
PLACEHOLDER = re.compile(r"(?<!-)\bOWNER/|@TAG\b|<(?:owner|tag)>|\bYOUR[-_](?:ORG|NAME|OWNER)\b|\bTODO\b")


def faults(text: str) -> Iterator[str]:
    """Yield each place of a text with another address, another version, a missing file or a placeholder."""
    for slug in ADDRESS.findall(text):
        if slug != SLUG:
            yield f"{slug}, but the repository is {SLUG}"
    for used, tag in USED.findall(text):
        if not (used == SLUG or used.startswith(f"{SLUG}/")) or tag != f"v{VERSION}":
            yield f"{used}@{tag}, but this release is {SLUG}@v{VERSION}"
    for tag, file in FILE.findall(text):
        if tag != f"v{VERSION}":
            yield f"{file} of {tag}, but this release is v{VERSION}"
        if not (ROOT / file).exists():
            yield f"{file} does not exist"
    for version in PINNED.findall(text):
        if version != VERSION:
            yield f"version {version}, but this release is {VERSION}"
    yield from (f"the placeholder {found}" for found in PLACEHOLDER.findall(text))


def test_there_are_texts_with_the_address() -> None:
    having = {str(path.relative_to(ROOT)) for path in TEXTS if SLUG in path.read_text(encoding="utf-8")}
    named = {"pyproject.toml", "CITATION.cff", "SECURITY.md", "docs/gate-in-ten-minutes.md"}
    assert named <= having, "a file without the address, or the address changed: change it in the copies, too"


@pytest.mark.slow
def test_every_copy_of_the_address_and_the_version_is_the_same() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {fault}" for path in TEXTS for fault in faults(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/somebody/onnx-conformance",
        "git clone git@github.com/somebody/onnx-conformance.git",
        f"uses: somebody/onnx-conformance@v{VERSION}",
        f"uses: {SLUG}@v0.9.0",
        f"uses: {SLUG}/.github/workflows/report.yml@main",
        f"{REPOSITORY}/blob/main/README.md",
        f"{REPOSITORY}/blob/v{VERSION}/docs/absent.md",
        "pip install 'onnx-conformance[onnxruntime]==0.9.0'",
        "uses: OWNER/onnx-conformance@TAG",
        "https://github.com/<owner>/onnx-conformance",
    ],
)
def test_another_address_or_version_is_noticed(text: str) -> None:
    assert [*faults(text)]


def test_the_right_address_and_version_are_not() -> None:
    assert not [*faults(f"{REPOSITORY}, {REPOSITORY}/blob/v{VERSION}/README.md, onnx-conformance=={VERSION}")]
    assert not [*faults(f"uses: {SLUG}@v{VERSION}\nuses: {SLUG}/.github/workflows/report.yml@v{VERSION}")]


def test_the_files_about_the_release_have_its_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == VERSION
    assert citation["repository-code"] == REPOSITORY
    assert {"cff-version", "message", "title", "authors", "license"} <= set(citation)
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == VERSION
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert citation["license"] == project["license"]
    assert project["urls"]["Homepage"] == REPOSITORY
    assert all(address.startswith(REPOSITORY) for address in project["urls"].values())
    assert "Development Status :: 5 - Production/Stable" in project["classifiers"]


@pytest.mark.parametrize("name", ["html", "sarif"])
def test_a_report_names_the_address(name: str, tmp_path: Path) -> None:
    text = "".join(FORMATS[name].report(data_of(tmp_path / "r.ndjson", result())))
    assert REPOSITORY in text
