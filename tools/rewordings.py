# SPDX-License-Identifier: Apache-2.0
"""Writes `generated_cases/rewordings.toml`, see `specification.rewordings`, from a git checkout of onnx.

`python -m tools.rewordings CHECKOUT`. The docs/Changelog.md of each release contains the texts of all versions.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import onnx

from onnx_conformance.base import printing
from onnx_conformance.base.atomic_file import write
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import GENERATED
from onnx_conformance.base.verdict import line
from onnx_conformance.specification import registry
from onnx_conformance.specification.rewordings import NAME, Release, plain, release

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HEAD = """\
# Sentences that onnx reworded in, or added to, the text of an operator version after the first release of the version,
# with the release that introduced the present wording. Only clauses of operator files, without changes of punctuation.
# Written by `python -m tools.rewordings`, from the releases until {last} and onnx {installed}.
"""
TEXTS = ("docs/Changelog.md", "docs/Changelog-ml.md")
"""The files of an onnx release that contain the texts of all operator versions."""
_SECTION = re.compile(r'^### <a name="([^"]+)"></a>', re.MULTILINE)
_TAG = re.compile(r"v\d+\.\d+(\.\d+)?")

Texts = dict[str, dict[Release, str]]
"""For each operator version and release, the text without markup, punctuation and white space."""


class RewordingsError(HarnessError):
    """The releases of onnx cannot be read. The message contains the reason."""


def _git(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", str(checkout), *arguments]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - git, with a path from the user
    if done.returncode:
        raise RewordingsError(
            "git-failed", f"{checkout}: git {arguments[0]}: {line(done.stderr.decode(errors='replace'))}"
        )
    return done.stdout.decode(errors="replace")


def texts_of(checkout: Path) -> Texts:
    """Return the texts of all operator versions in all tagged releases of a checkout of onnx.

    Raises:
        RewordingsError: the folder is not a git repository, or has no tags of releases.
    """
    tags = {tag: release(tag[1:]) for tag in _git(checkout, "tag").split() if _TAG.fullmatch(tag)}
    if not tags:
        raise RewordingsError(
            "tags-missing", f"{checkout}: no tags of releases such as v1.19.0; clone onnx without --no-tags"
        )
    texts: Texts = {}
    for tag, numbers in tags.items():
        present = set(_git(checkout, "ls-tree", "--name-only", tag, "docs/").split())
        for name in TEXTS:
            if name in present:
                for version, text in _sections(_git(checkout, "show", f"{tag}:{name}")):
                    texts.setdefault(version, {})[numbers] = text
    return texts


def _sections(changelog: str) -> Iterator[tuple[str, str]]:
    _, *parts = _SECTION.split(changelog)
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        qualified, _, since = name.rpartition("-")
        domain, _, operator = qualified.rpartition(".")
        yield f"{domain or 'ai.onnx'}/{operator}/{since}", plain(text)


def since(texts: Mapping[Release, str], sentence: str, newest: Release) -> Release | None:
    """Return the release that introduced a sentence into a version's text; None if the text always contained it.

    Args:
        texts: the texts of the version, by release.
        sentence: a sentence of the present text.
        newest: the release with the present text, if no text in `texts` contains the sentence.
    """
    words, releases = plain(sentence), sorted(texts)
    lacking = [number for number in releases if words not in texts[number]]
    if not lacking:
        return None
    return next((number for number in releases if number > lacking[-1]), newest)


def measure(checkout: Path) -> dict[str, dict[str, str]]:
    """Return the data for `rewordings.read`, from a checkout of onnx and the clauses of all operator files."""
    texts, newest = texts_of(checkout), release(".".join(onnx.__version__.split(".")[:2]))
    found: dict[str, dict[str, str]] = {}
    for op in registry.load():
        for number in op.versions:
            version = f"{op}/{number}"
            for clause in op.clauses:
                if clause.in_force(number) and version in texts:
                    reads_so = since(texts[version], clause.text, newest)
                    if reads_so:
                        found.setdefault(version, {})[clause.text] = ".".join(map(str, reads_so))
    return found


def _written(rows: Mapping[str, Mapping[str, str]], last: Release) -> Iterator[str]:
    yield HEAD.format(last=".".join(map(str, last)), installed=onnx.__version__)
    for version, sentences in rows.items():
        yield f"\n[{_quoted(version)}]\n"
        for text, number in sentences.items():
            yield f"{_quoted(text)} = {_quoted(number)}\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@click.command()
@click.argument("checkout", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(checkout: Path) -> None:
    """Write the release of onnx that introduced each clause, from CHECKOUT, a git clone of onnx with tags."""
    printing.prepare()
    try:
        rows = measure(checkout)
        last = max(number for texts in texts_of(checkout).values() for number in texts)
        write(GENERATED / NAME, _written(rows, last))
    except (HarnessError, OSError) as error:
        printing.note(f"rewordings: {error}")
        sys.exit(2)
    count = sum(map(len, rows.values()))
    printing.show(f"{count} clauses of {len(rows)} operator versions had another wording in a release of onnx")


if __name__ == "__main__":
    main()
