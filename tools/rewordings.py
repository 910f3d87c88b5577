"""Writes `generated_cases/rewordings.toml`, see `specification.rewordings`, from a git checkout of onnx.

`python -m tools.rewordings CHECKOUT`: each release has the texts of all versions in docs/Changelog.md.
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
# Sentences that onnx added to the text of an operator version after the release that brought the version, or reworded:
# the release since which each reads so. Clauses of operator files only; what differs in punctuation alone is left out.
# Written by `python -m tools.rewordings`, from the releases until {last} and onnx {installed}.
"""
TEXTS = ("docs/Changelog.md", "docs/Changelog-ml.md")
"""Where a release of onnx has the texts of all operator versions."""
_SECTION = re.compile(r'^### <a name="([^"]+)"></a>', re.MULTILINE)
_TAG = re.compile(r"v\d+\.\d+(\.\d+)?")

Texts = dict[str, dict[Release, str]]
"""By operator version and release: its text without markup, punctuation and blanks."""


class RewordingsError(HarnessError):
    """The releases of onnx cannot be read; the text says why."""


def _git(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", str(checkout), *arguments]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - git, on a path that a person names
    if done.returncode:
        raise RewordingsError(f"{checkout}: git {arguments[0]}: {line(done.stderr.decode(errors='replace'))}")
    return done.stdout.decode(errors="replace")


def texts_of(checkout: Path) -> Texts:
    """Return the texts of all operator versions in all releases that a checkout of onnx has tags of.

    Raises:
        RewordingsError: it is no git repository, or has no such tag.
    """
    tags = {tag: release(tag[1:]) for tag in _git(checkout, "tag").split() if _TAG.fullmatch(tag)}
    if not tags:
        raise RewordingsError(f"{checkout}: has no tags of releases such as v1.19.0; a clone without --no-tags has")
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
    """Return the release since which a sentence stands in a version's text; None where it always has.

    Args:
        texts: of the version, by release.
        sentence: that stands in it now.
        newest: the release that has today's text, where none in `texts` has the sentence.
    """
    words, releases = plain(sentence), sorted(texts)
    lacking = [number for number in releases if words not in texts[number]]
    if not lacking:
        return None
    return next((number for number in releases if number > lacking[-1]), newest)


def measure(checkout: Path) -> dict[str, dict[str, str]]:
    """Return what `read` does, from a checkout of onnx and the clauses of all operator files."""
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
    """Write since which release of onnx each clause reads so, from CHECKOUT, a git clone of onnx with its tags."""
    printing.prepare()
    try:
        rows = measure(checkout)
        last = max(number for texts in texts_of(checkout).values() for number in texts)
        write(GENERATED / NAME, _written(rows, last))
    except (HarnessError, OSError) as error:
        printing.note(f"rewordings: {error}")
        sys.exit(2)
    count = sum(map(len, rows.values()))
    printing.show(f"{count} clauses of {len(rows)} operator versions read otherwise in a release of onnx")


if __name__ == "__main__":
    main()
