# SPDX-License-Identifier: Apache-2.0
"""The list of sources of a combined site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onnx_conformance.results import sources
from onnx_conformance.results.sources import SourcesError
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

GOOD = '[[source]]\nname = "mine"\nresults = "https://example.org/results.ndjson.xz"\n'


def listed(tmp_path: Path, text: str) -> tuple[sources.Source, ...]:
    path = tmp_path / "sources.toml"
    path.write_text(text)
    return sources.read(path)


def test_a_path_is_relative_to_the_list(tmp_path: Path) -> None:
    other = f'[[source]]\nname = "other"\nresults = "runs/r.ndjson"\nsha256 = "{"0" * 64}"\n'
    remote, local = listed(tmp_path, GOOD + other)
    assert (remote.remote, remote.address, remote.sha256) == (True, "https://example.org/results.ndjson.xz", "")
    assert (local.remote, local.address, local.sha256) == (False, str(tmp_path / "runs" / "r.ndjson"), "0" * 64)


@pytest.mark.parametrize(
    ("problem", "text", "named"),
    [
        ("sources-not-toml", "[[source", "TOML"),
        ("sources-without-table", "", "[[source]]"),
        ("sources-without-table", "source = []", "[[source]]"),
        ("sources-without-table", f"suite = 1\n{GOOD}", "[[source]]"),
        ("sources-too-large", "#" * (sources.MOST_FILE_BYTES + 1), "1 MiB"),
        ("source-members", '[[source]]\nname = "mine"', "results"),
        ("source-members", f"{GOOD}colour = 1", "colour"),
        ("source-members", "source = [1]", "name"),
        ("source-member-invalid", GOOD.replace("mine", "../mine"), "../mine"),
        ("source-member-invalid", GOOD.replace("mine", ""), "name"),
        ("source-member-invalid", f'{GOOD}sha256 = "12"', "sha256"),
        ("source-member-invalid", '[[source]]\nname = "mine"\nresults = 7', "results"),
        ("source-not-https", GOOD.replace("https", "http"), "http://example.org"),
        ("source-not-https", GOOD.replace("https", "file"), "file://"),
        ("source-not-https", GOOD.replace("https://example.org", "https://"), "expected https"),
        ("source-not-https", GOOD.replace("https://example.org", "http://127.0.0.1.example.org"), "example.org"),
        ("source-named-twice", GOOD + GOOD.replace("mine", "MINE"), "mine"),
    ],
)
def test_another_content_is_refused(problem: str, text: str, named: str, tmp_path: Path) -> None:
    with refuses(problem, named, "sources.toml", kind=SourcesError):
        listed(tmp_path, text)


def test_a_missing_list_is_refused(tmp_path: Path) -> None:
    with refuses("sources-not-readable", "absent.toml"):
        sources.read(tmp_path / "absent.toml")


@pytest.mark.parametrize("address", ["http://127.0.0.1:80/a", "http://[::1]/a", "http://localhost:8000/a"])
def test_a_server_on_this_machine_needs_no_encryption(address: str) -> None:
    assert sources.may_be_fetched(address)
    assert not sources.may_be_fetched(address.replace("http", "ftp"))
