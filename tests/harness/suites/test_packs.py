# SPDX-License-Identifier: Apache-2.0
"""Packs: the same cases as were made, never a wrong one."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import multiprocessing
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from onnx_conformance.backends.cache import DIGEST_BYTES
from onnx_conformance.case.allowance import Allowance, Bounds
from onnx_conformance.case.case import Case, digest_values
from onnx_conformance.suites import official, packs
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.official import Official
from onnx_conformance.suites.selection import Selection
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

NAME = "0" * 32
OPS = ("Split/18", "SequenceInsert/11", "Cast/25", "StringNormalizer/10", "ai.onnx.ml/DictVectorizer/1")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def some() -> list[Case]:
    """Cases with tensors of many types, strings, sequences, maps, refusals and without answers."""
    cases = Generated().cases(Selection(ops=OPS, forms=("plain",)))
    plain = [case for case in cases if case.allowance.bounds is None and not case.allowance.any_of]
    assert {str(case.outcome) for case in plain} == {"values", "rejects", "unspecified"}
    return [dataclasses.replace(case, force="", reworded="", readings=(), notes=()) for case in plain]


def told(cases: list[Case] | None) -> list[object]:
    """Return everything of cases in a form that compares exactly."""
    assert cases is not None
    return [
        (
            digest_values(dict(case.inputs)),
            digest_values({str(index): value for index, value in enumerate(case.expected or ())}),
            *(getattr(case, item.name) for item in dataclasses.fields(case) if item.name not in {"inputs", "expected"}),
        )
        for case in cases
    ]


def test_cases_come_back_as_they_were_made(some: list[Case]) -> None:
    packs.write(NAME, some)
    assert told(packs.read(NAME)) == told(some)


@pytest.mark.slow
@pytest.mark.parametrize("place", [3, 30, 70, 2000, -5])
def test_a_pack_with_a_flipped_bit_is_removed(place: int, some: list[Case], cache: Path) -> None:
    packs.write(NAME, some)
    path = cache / "packs" / f"{NAME}.pack"
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    assert packs.read(NAME) is None
    assert path.exists() is (place == 3), "a file with other first bytes is not ours"


def forged(path: Path, body: bytes) -> bytes:
    """Return the bytes of a file whose digest is right, as only a program with the user's key can write them."""
    store = packs.store()
    assert store is not None
    return packs.MAGIC + store.digest(path.name, body) + body


def content(path: Path) -> bytes:
    """Return the content of a file, without its kind and its digest."""
    return path.read_bytes()[len(packs.MAGIC) + DIGEST_BYTES :]


FORGERIES = {
    "no number": b"x",
    "a huge number": b"9" * 31 + b"\n",
    "no JSON": b"3\n{x}",
    "brackets": b"100000\n" + b"[" * 100_000,
    "a list": b"2\n[]",
    "no cases": b"2\n{}",
    "other fields": b'%d\n{"cases":[],"common":[{}],"unreadable":[]}',
    "strange unreadable cases": b'%d\n{"cases":[],"common":[],"unreadable":[{"x":1}]}',
}


@pytest.mark.parametrize("body", FORGERIES.values(), ids=list(FORGERIES))
def test_a_forged_pack_with_the_right_digest_is_removed(
    body: bytes, some: list[Case], cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    packs.write(NAME, some)
    path = cache / "packs" / f"{NAME}.pack"
    path.write_bytes(forged(path, body % (len(body) - 3) if body.startswith(b"%d") else body))
    assert packs.read(NAME) is None
    assert not path.exists()
    assert f"{path} has another format" in capsys.readouterr().err


def without_key(path: Path, body: bytes) -> bytes:
    """Return the digest that every program can compute."""
    del path
    return hashlib.sha256(body).digest()


def with_another_key(path: Path, body: bytes) -> bytes:
    """Return the digest of another user."""
    return hmac.digest(b"another", b"%d:%s" % (len(path.name), path.name.encode()) + body, "sha256")


def limits(values: float) -> Bounds:
    return Bounds(lambda: iter([(np.full(3, values),)]))


def kept_bounds(values: float) -> float:
    """Return the bounds of a case: those in the cache, or else these values, which are then in the cache."""
    kept = packs.KeptBounds(NAME)
    found = kept.of("a case", lambda _: Allowance("a reason", bounds=limits(values)))
    value = float(found[0][0])
    kept.write()
    return value


KINDS = {
    "pack": (lambda some: packs.write(NAME, some), lambda: packs.read(NAME)),
    "json": (lambda _: packs.write_json(NAME, [1, 2, 3]), lambda: packs.read_json(NAME)),
    "bounds": (lambda _: kept_bounds(1e-6), lambda: kept_bounds(-1) if kept_bounds(-1) >= 0 else None),
}
"""What is read from the cache: how it is written, and how it is read; None: it is not used."""


@pytest.mark.parametrize("digest", [without_key, with_another_key])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_a_program_without_the_key_is_removed(
    kind: str, digest: Callable[[Path, bytes], bytes], some: list[Case], cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write, read = KINDS[kind]
    write(some)
    path = cache / "packs" / f"{NAME}.{kind}"
    right = path.read_bytes()
    assert read() is not None
    path.write_bytes(packs.MAGIC + digest(path, content(path)) + content(path))
    assert read() is None
    assert not path.exists() or path.read_bytes() != right
    [line] = capsys.readouterr().err.splitlines()
    assert str(path) in line
    path.write_bytes(right)
    assert read() is not None


def test_a_file_under_another_name_is_removed(some: list[Case], cache: Path) -> None:
    packs.write(NAME, some)
    other = "1" * 32
    (cache / "packs" / f"{NAME}.pack").rename(cache / "packs" / f"{other}.pack")
    assert packs.read(other) is None
    assert not list((cache / "packs").iterdir())


def test_a_pack_with_other_digests_than_the_manifest_is_removed(
    some: list[Case], cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digests = {case.id: case.digest() for case in some}
    packs.write(NAME, some)
    path = cache / "packs" / f"{NAME}.pack"
    assert told(list(packs.read(NAME, digests=digests) or ())) == told(some)
    assert packs.read(NAME, digests={**digests, some[0].id: "another"}) is None
    assert not path.exists()
    assert str(path) in capsys.readouterr().err


@pytest.mark.parametrize("what", ["frame", "common", "expected", "inputs"])
def test_a_case_that_was_changed_in_a_pack_ends_the_command_with_a_sentence(
    what: str, some: list[Case], cache: Path
) -> None:
    packs.write(NAME, some)
    path = cache / "packs" / f"{NAME}.pack"
    body = content(path)
    line, _, rest = body.partition(b"\n")
    header, data = json.loads(rest[: int(line)]), rest[int(line) :]
    first = next(item for item in header["cases"] if "expected" in item)
    if what == "expected":
        first["expected"] = [{"kind": "tensor", "type": 1, "shape": [10**9]}]
    elif what == "inputs":
        data = data.replace(b"{", b"[", 1)
    else:
        first[what] = 10**9
    text = json.dumps(header).encode()
    path.write_bytes(forged(path, b"%d\n" % len(text) + text + data))
    with refuses("pack-damaged", path, kind=packs.DamagedPackError):
        _ = [(case.expected, case.inputs) for case in packs.read(NAME) or ()]
    assert packs.read(NAME) is None
    packs.write(NAME, some)
    assert told(list(packs.read(NAME) or ())) == told(some)


@pytest.mark.parametrize("size", [0, 10, 60, 5000])
def test_a_pack_that_was_cut_off_is_removed(size: int, some: list[Case], cache: Path) -> None:
    packs.write(NAME, some)
    path = cache / "packs" / f"{NAME}.pack"
    path.write_bytes(path.read_bytes()[:size])
    assert packs.read(NAME) is None
    assert not path.exists()


def test_a_key_is_of_everything_that_the_cases_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {packs.key("official", "1.23.2"), packs.key("official", "1.23.3"), packs.key("official1.23.2"), packs.key()}
    monkeypatch.setattr(np, "__version__", "9.9")
    keys.add(packs.key("official", "1.23.2"))
    assert len(keys) == 5


def test_plain_data_comes_back_or_is_missing(cache: Path) -> None:
    assert packs.read_json(NAME) is None
    packs.write_json(NAME, {"a": [1, "ä"]})
    assert packs.read_json(NAME) == {"a": [1, "ä"]}
    path = cache / "packs" / f"{NAME}.json"
    path.write_bytes(path.read_bytes()[:-1])
    assert packs.read_json(NAME) is None


def test_without_a_cache_there_are_no_packs(some: list[Case], monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", "")
    packs.write(NAME, some)
    assert packs.read(NAME) is None
    assert not cache.exists()


def test_a_cache_that_cannot_be_written_is_no_fault(some: list[Case], cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    packs.write(NAME, some)
    assert packs.read(NAME) is None


def test_a_full_disk_leaves_nothing_behind(some: list[Case], cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_self: Path, _target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    packs.write(NAME, some)
    assert packs.read(NAME) is None
    assert list((cache / "packs").iterdir()) == []


def test_the_least_recently_used_are_removed(some: list[Case], cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"{number}" * 32 for number in range(3)]
    packs.write(names[0], some)
    size = (cache / "packs" / f"{names[0]}.pack").stat().st_size
    monkeypatch.setattr(packs, "MOST_BYTES", int(size * 2.5))
    packs.write(names[1], some)
    for name, seconds in zip(names, (1000, 2000), strict=False):
        os.utime(cache / "packs" / f"{name}.pack", (seconds, seconds))
    assert packs.read(names[0])  # It is used now, so the other is the older one.
    packs.write(names[2], some)
    assert [name for name in names if packs.read(name) is not None] == [names[0], names[2]]


def write_often(some: list[Case]) -> None:
    for _ in range(20):
        packs.write(NAME, some)


def test_two_writers_and_a_reader_disturb_nobody(some: list[Case]) -> None:
    processes = [multiprocessing.get_context("fork").Process(target=write_often, args=(some,)) for _ in range(2)]
    for process in processes:
        process.start()
    while any(process.is_alive() for process in processes):
        found = packs.read(NAME)
        assert found is None or len(list(found)) == len(some)
    assert [process.exitcode for process in processes] == [0, 0]
    assert told(packs.read(NAME)) == told(some)


def test_the_official_suite_is_collected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = official._collected()
    monkeypatch.setattr(official, "_collected", lambda: made)
    first = list(Official().cases(Selection()))
    monkeypatch.setattr(official, "_collected", lambda: pytest.fail("it collects them again"))
    second = list(Official().cases(Selection()))
    assert told(second) == told(first)
    assert len(second) > 1000


def test_cases_that_somebody_writes_in_onnx_are_collected_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before = packs.key("official", *official._made_of())
    usual = list(official._made_of())
    monkeypatch.setattr(official, "_made_of", lambda: [*usual[:-1], f"{usual[-1]}1"])
    assert packs.key("official", *official._made_of()) != before
    assert any(text.split(" ")[0].endswith("case/node/split.py") for text in usual)
