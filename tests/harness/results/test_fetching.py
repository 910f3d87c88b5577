# SPDX-License-Identifier: Apache-2.0
"""Files are fetched and decompressed within limits, from a server on this machine."""

from __future__ import annotations

import hashlib
import itertools
import lzma
import os
import random
import time
from typing import TYPE_CHECKING

import pytest

import mutation
from file_server import Answer, FileServer, running
from onnx_conformance.results import fetching
from onnx_conformance.results.fetching import MIB, FetchError, Limits
from onnx_conformance.results.sources import Source
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = b'{"kind": "header"}\n' * 1000
PACKED = lzma.compress(TEXT)
SMALL = Limits(fetched=MIB // 2, content=2 * MIB, seconds=5)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    with running() as served:
        yield served


def fetched(server: FileServer, folder: Path, answer: Answer, sha256: str = "") -> bytes:
    server.answers["/r"] = answer
    fetching.fetch(Source("mine", f"{server.address}/r", sha256), folder / "out", SMALL)
    return (folder / "out").read_bytes()


@pytest.mark.parametrize("content", [TEXT, PACKED, b""], ids=["plain", "xz", "empty"])
def test_a_file_is_fetched_and_decompressed(content: bytes, server: FileServer, tmp_path: Path) -> None:
    digest = hashlib.sha256(content).hexdigest()
    assert fetched(server, tmp_path, Answer(content), digest) == (TEXT if content else b"")
    (tmp_path / "local").write_bytes(content)
    fetching.fetch(Source("mine", str(tmp_path / "local"), digest), tmp_path / "copy", SMALL)
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "out").read_bytes()


@pytest.mark.parametrize(
    ("problem", "answer", "named"),
    [
        ("results-not-fetched", Answer(status=404), "404"),
        ("results-truncated", Answer(TEXT, missing=7), "19,007"),
        ("results-truncated", Answer(PACKED[:-20]), "cut off"),
        ("results-truncated", Answer(PACKED[:8]), "cut off"),
        ("results-not-xz", Answer(PACKED[:12] + bytes(100)), "xz"),
        ("results-after-end", Answer(PACKED + PACKED), "after its end"),
        ("results-too-large", Answer(os.urandom(SMALL.fetched + 1)), "xz"),
        ("results-too-large", Answer(lzma.compress(bytes(SMALL.content + 1))), "2 MiB"),
        ("results-not-fetched", Answer(status=302, location="file:///etc/passwd"), "302"),
        ("results-not-fetched", Answer(status=302, location="http://example.org/r"), "redirection"),
    ],
)
def test_a_faulty_file_is_refused(problem: str, answer: Answer, named: str, server: FileServer, tmp_path: Path) -> None:
    with refuses(problem, named, "mine", kind=FetchError):
        fetched(server, tmp_path, answer)


def test_another_digest_is_refused(server: FileServer, tmp_path: Path) -> None:
    with refuses("results-of-another-digest", hashlib.sha256(TEXT).hexdigest()):
        fetched(server, tmp_path, Answer(TEXT), "0" * 64)


def test_a_decompression_bomb_is_not_written(server: FileServer, tmp_path: Path) -> None:
    with refuses("results-too-large"):
        fetched(server, tmp_path, Answer(lzma.compress(bytes(64 * MIB))))
    assert (tmp_path / "out").stat().st_size <= SMALL.content


def test_a_file_whose_decoder_needs_much_memory_is_refused(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "MOST_MEMORY", MIB)
    with refuses("results-not-xz", "emory"):
        fetched(server, tmp_path, Answer(PACKED))


@pytest.mark.parametrize("seed", range(2))
def test_a_mutated_xz_file_is_read_or_refused_with_a_sentence(seed: int, tmp_path: Path) -> None:
    rng, path = random.Random(seed), tmp_path / "r.xz"
    outcomes = set()
    for _ in range(mutation.rounds(60)):
        path.write_bytes(mutation.changed_bytes(rng, PACKED))
        try:
            fetching.fetch(Source("mine", str(path)), tmp_path / "out", SMALL)
        except FetchError as error:
            outcomes.add(error.id)
        assert (tmp_path / "out").stat().st_size <= SMALL.content
    assert "results-not-xz" in outcomes


def test_a_redirection_on_this_machine_is_followed(server: FileServer, tmp_path: Path) -> None:
    server.answers["/r"] = Answer(status=302, location=f"{server.address}/there")
    server.answers["/there"] = Answer(PACKED)
    fetching.fetch(Source("mine", f"{server.address}/r"), tmp_path / "out", SMALL)
    assert ((tmp_path / "out").read_bytes(), server.asked) == (TEXT, ["/r", "/there"])


def test_no_server_no_file_and_no_regular_file_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with running() as served:
        address = served.address
    with refuses("results-not-fetched", "mine"):
        fetching.fetch(Source("mine", f"{address}/r"), tmp_path / "out", SMALL)
    os.mkfifo(tmp_path / "pipe")
    for name in ("absent", "pipe", "."):
        with refuses("results-not-a-regular-file", "mine"):
            fetching.fetch(Source("mine", str(tmp_path / name)), tmp_path / "out", SMALL)


def test_a_slow_transfer_ends(server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count(0, 51)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    server.answers["/r"] = Answer(TEXT)
    with refuses("results-too-slow", "50 seconds"):
        fetching.fetch(Source("mine", f"{server.address}/r"), tmp_path / "out", SMALL)
