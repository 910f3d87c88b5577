# SPDX-License-Identifier: Apache-2.0
"""The documentation site: mkdocs builds it without a warning, links work, and pages load nothing from other hosts."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import yaml

from paths import ROOT

pytest.importorskip("mkdocs", reason="mkdocs is not installed; the extra `docs` contains it")
pytest.importorskip("material", reason="mkdocs-material is not installed; the extra `docs` contains it")

from tools.docs import links

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def build(folder: Path, out: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Build the site of a checkout, strictly."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    return subprocess.run(
        words, cwd=folder, env={**clean, "NO_MKDOCS_2_WARNING": "1", **variables},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site."""
    out = tmp_path_factory.mktemp("docs") / "site"
    done = build(ROOT, out)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize(
    ("page", "added", "problem"),
    [
        ("index.md", "[a](absent.md)", "absent.md"),
        ("index.md", "[a](method.md#absent)", "#absent"),
        ("index.md", "[a](../backends/README.md#absent)", "#absent"),
        ("orphan.md", "# A page", "orphan.md"),
    ],
)
def test_a_broken_link_or_a_page_outside_the_navigation_fails_the_build(
    page: str, added: str, problem: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("docs", "backends", "tools/docs"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "tests").mkdir()
    for name in ("mkdocs.yml", *links.PAGES):
        shutil.copy(ROOT / name, copy / name)
    with (copy / "docs" / page).open("a", encoding="utf-8") as file:
        file.write(f"\n{added}\n")
    done = build(copy, tmp_path / "site")
    assert done.returncode != 0
    assert problem in done.stderr


def test_every_page_is_in_the_navigation(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert len(pages) > 40
    index = (site / "index.html").read_text(encoding="utf-8")
    assert not [page for page in pages if f'href="{page}"' not in index]


def loaded(page: str) -> set[str]:
    """Return the addresses from which a browser loads a part of a page."""
    tags = re.findall(r"<(?:script|img|iframe|link(?= [^>]*rel=\"?(?:stylesheet|preconnect|icon)))\b[^>]*>", page)
    return {html.unescape(address) for tag in tags for address in re.findall(r"(?:src|href)=\"?([^\"\s>]+)", tag)}


def test_no_page_loads_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        addresses = loaded(page.read_text(encoding="utf-8"))
        assert addresses, page
        assert not [address for address in addresses if "//" in address], page
    for path in [*site.rglob("*.css")]:
        assert not re.search(r"@import|url\((?:\"|')?(?:https?:)?//", path.read_text(encoding="utf-8")), path


def test_a_foreign_script_is_noticed() -> None:
    assert loaded('<link rel="stylesheet" href="a.css"><script src="https://b/c.js"></script>') == {
        "a.css",
        "https://b/c.js",
    }


def test_the_search_finds_every_section(site: Path) -> None:
    entries = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    found = {entry["location"]: entry["text"] for entry in entries}
    assert "--at-most" in found["how-to/select-cases.html#select-cases"]
    assert "SplitToSequence" in found["verify-a-model.html#2-build-the-model"]
    assert "hello" in found["adapters.html#from-the-adapter-hello"]


def test_links_to_other_files_lead_to_the_repository_or_are_text() -> None:
    source, page = "docs/reference/commands/run.md", "reference/commands/run.md"
    fence = "\n```sh\n[d](../e.md)\n```\n"
    text = "[a](../../../action.yml) [b](../verdicts.md#x) [c](../../../backends/README.md#y)" + fence
    linked = links.for_site(text, source, page, "https://host/o/n/blob/c/")
    expected = "[a](https://host/o/n/blob/c/action.yml) [b](../verdicts.md#x) [c](../../adapters.md#y)" + fence
    assert linked == expected
    assert links.for_site("[a](../action.yml)", "docs/index.md", "index.md", "") == "a"


def test_links_to_the_published_reports_lead_to_the_site_above() -> None:
    done = links.for_site("[![p](site.png)](../reports/README.md)", "docs/index.md", "index.md", "")
    assert done == '<a href="../index.html">![p](site.png)</a>'
    done = links.for_site("[r](../../reports/README.md)", "docs/start/a.md", "start/a.md", "")
    assert done == '<a href="../../index.html">r</a>'


def test_the_address_of_the_repository_is_that_of_the_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA"):
        monkeypatch.delenv(name, raising=False)
    assert links.repository() == ""
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "o/n")
    assert links.repository() == ""
    monkeypatch.setenv("GITHUB_SHA", "c")
    assert links.repository() == "https://github.com/o/n/blob/c/"


def test_the_workflow_publishes_the_documentation_below_the_results() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8"))
    scripts = "\n".join(step.get("run", "") for step in workflow["jobs"]["publish"]["steps"])
    folder = re.search(r"onnx-conformance site \S+ .*--out (\w+)$", scripts, re.MULTILINE)
    assert folder
    assert f"mkdocs build --strict --site-dir {folder[1]}/docs" in scripts
    assert "'.[docs]'" in scripts
