# SPDX-License-Identifier: Apache-2.0
"""A hook of mkdocs: pages outside docs/ are pages of the site, too, and links to other files of the repository work.

In the repository, links are relative, so GitHub follows them. On the site:

- a link to a file in PAGES leads to the page of the site;
- a link to `reports/README.md` leads to the site of the results, which contains the documentation as a folder;
- a link to any other file leads to the repository, if the environment of GitHub Actions names it. Otherwise, only its
  text stays.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "backends/README.md": "adapters.md",
    "tests/README.md": "tests.md",
}
"""By path in the repository, the page of the site that has this text."""
DOCS, RESULTS = "docs/", "reports/README.md"
LINK = re.compile(
    r"(?P<text>!?\[(?:[^\[\]]|\[[^\]]*\](?:\([^)]*\))?)*\])"  # The text may contain an image.
    r"\((?!\w+:|#)(?P<path>[^)#\s]+)(?P<place>#[^)]*)?\)"
)
_FENCE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are outside docs/."""
    for path, page in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - mkdocs'
    """Return the text of a page with links for the site."""
    source = {site: path for path, site in PAGES.items()}.get(page.file.src_uri, DOCS + page.file.src_uri)
    return for_site(markdown, source, page.file.src_uri, repository())


def repository() -> str:
    """Return the address of the repository's files at the built commit; empty outside GitHub Actions."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA")
    server, name, commit = (os.environ.get(variable, "") for variable in names)
    return f"{server}/{name}/blob/{commit}/" if server and name and commit else ""


def for_site(markdown: str, source: str, page: str, base: str) -> str:
    """Return the text of a page with links for the site.

    Args:
        markdown: the text, with links that are relative to its place in the repository.
        source: the path of the text in the repository.
        page: the path of the page in docs/.
        base: the address of the repository's files, with a slash at its end; may be empty.
    """

    def replaced(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match["path"]))
        place = match["place"] or ""
        if path == RESULTS:
            address = "../" * (page.count("/") + 1) + "index.html"
            return f'<a href="{address}">{label(match["text"])}</a>'
        target = PAGES.get(path, path.removeprefix(DOCS) if path.startswith(DOCS) else "")
        if target:
            return f"{match['text']}({posixpath.relpath(target, posixpath.dirname(page) or '.')}{place})"
        return f"{match['text']}({base}{path}{place})" if base else label(match["text"])

    parts = _FENCE.split(markdown)
    return "".join(part if _FENCE.fullmatch(part) else LINK.sub(replaced, part) for part in parts)


def label(text: str) -> str:
    """Return the text of a link without its brackets."""
    return text.removeprefix("[").removesuffix("]")
