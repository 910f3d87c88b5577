# SPDX-License-Identifier: Apache-2.0
"""The readers of packs in C and Rust: they find the cases of a pack, and a damaged file gets one line and a status."""

from __future__ import annotations

import json
import random
import subprocess
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import mutation
from commands import command
from compiled import SANITIZED, STRICT, c_program, rust_program
from onnx_conformance.backends import protocol
from onnx_conformance.base.values import Drawn
from onnx_conformance.suites.pack_file import PackFile
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from onnx_conformance.case.case import Case

pytestmark = [pytest.mark.usefixtures("ends"), pytest.mark.xdist_group("runners"), pytest.mark.slow]

OPS = (
    "Split/18",
    "Loop/25",
    "Optional/15",
    "Multinomial/22",
    "StringConcat/20",
    "ai.onnx.ml/DictVectorizer/1",
    "Floor/13",
)
"""Operator versions whose cases have every kind of value."""
READERS: dict[str, Callable[[], Path]] = {
    "c": lambda: c_program("pack_reader.c", "-lz", flags=(*STRICT, *SANITIZED)),
    "rust": lambda: rust_program("pack_reader"),
}
DAMAGED = 2
"""Exit status of a reader that cannot read a file."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pack") / "some.pack"
    words = [word for op in OPS for word in ("--op", op)]
    done = command("pack", *words, "--core", "--tag", "!size", "--out", path)
    assert done.status == 0, done.text
    return path


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest) -> Path:
    """Return each reader."""
    return READERS[request.param]()


def read(reader: Path, *words: str | Path) -> tuple[int, str, str]:
    """Return the status, the output and the messages of a reader."""
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([reader, *words], capture_output=True, timeout=30, check=False, env=environment)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


Part = tuple[list[str], bytes | None]
"""The columns of a line, and the bytes of its file if there is one."""


def columns(line: str) -> list[str]:
    """Return the columns of a line; those from the fifth on are strings in JSON."""
    words = line.split("\t")
    return [*words[:4], *map(json.loads, words[4:])]


def of_tensor(stem: str, name: str, array: Any) -> Part:
    row = protocol.element_type(array.dtype)
    shape = json.dumps(list(array.shape), separators=(",", ":"))
    if row.number == protocol.STRING:
        return [stem, name, row.name, shape, *array.reshape(-1).tolist()], None
    return [f"{stem}.bin", name, row.name, shape], protocol.pack(array)


def lines_of(stem: str, name: str, value: Any) -> Iterator[Part]:
    """Yield each part of a value."""
    if isinstance(value, Drawn):
        yield [stem, name, "random"], None
    elif isinstance(value, np.ndarray):
        yield of_tensor(stem, name, value)
    elif value is None:
        yield [stem, name, "optional"], None
    elif isinstance(value, dict):
        yield [stem, name, "map"], None
        yield from lines_of(f"{stem}_keys", name, protocol._keys(list(value)))
        for index, item in enumerate(value.values()):
            yield from lines_of(f"{stem}_{index}", name, item)
    else:
        yield [stem, name, "sequence"], None
        for index, item in enumerate(value):
            yield from lines_of(f"{stem}_{index}", name, item)


def expected_of(case: Case) -> Iterator[Part]:
    yield ["model.onnx"], case.model
    for index, (name, value) in enumerate(case.inputs.items()):
        yield from lines_of(f"input_{index}", name, value)
    for index, expected in enumerate(case.expected or ()):
        yield from lines_of(f"expected_{index}", case.outputs[index], expected)


def test_the_cases_are_those_of_the_pack(written: Path, reader: Path) -> None:
    status, out, err = read(reader, written)
    assert status == 0, err
    cases = list(PackFile(written).cases(Selection()))
    assert len(cases) >= 300
    assert out.splitlines() == [f"{case.id}\t{case.outcome}" for case in cases]


def kind_of(case: Case) -> str:
    """Return a key that is equal for cases with the same kinds of values."""
    values: list[Any] = [*case.inputs.values(), *(case.expected or ())]
    kinds = {str(value.dtype) if isinstance(value, np.ndarray) else type(value).__name__ for value in values}
    return f"{case.outcome} {sorted(kinds)}"


def test_a_case_has_its_model_its_inputs_and_its_expected_outputs(written: Path, reader: Path, tmp_path: Path) -> None:
    chosen = {kind_of(case): case for case in PackFile(written).cases(Selection())}
    chosen |= {case.id: case for case in PackFile(written).cases(Selection(cases=("*/every_bfloat16",)))}
    assert len(chosen) >= 20
    seen = set()
    for number, case in enumerate(chosen.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        status, out, err = read(reader, written, case.id, folder)
        assert status == 0, err
        expected = list(expected_of(case))
        assert list(map(columns, out.splitlines())) == [line for line, _ in expected], case.id
        files = {line[0]: data for line, data in expected if data is not None}
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == files, case.id
        seen |= {line[2] for line, _ in expected[1:]}
    assert seen >= {"float", "string", "sequence", "map", "optional", "random", "bool"}, seen


@pytest.mark.parametrize("size", [None, 10])
def test_a_large_tensor_that_is_missing_or_cut_off_is_refused(
    written: Path, reader: Path, tmp_path: Path, size: int | None
) -> None:
    def change(members: dict[str, bytes]) -> None:
        for name in [name for name in members if name.startswith("large/")]:
            data = members.pop(name)
            if size is not None:
                members[name] = data[:size]

    case = next(case.id for case in PackFile(written).cases(Selection(cases=("*/every_bfloat16",))))
    assert read(reader, written, case, tmp_path)[0] == 0
    path = other_pack(tmp_path / "no.pack", written, change)
    assert refused(read(reader, path, case, tmp_path))


def test_a_case_that_does_not_exist(written: Path, reader: Path, tmp_path: Path) -> None:
    status, out, err = read(reader, written, "ai.onnx/Split/18/no_such_case", tmp_path)
    assert (status, out) == (1, "")
    assert err == f"onnx_conformance: {written} has no case ai.onnx/Split/18/no_such_case\n"


def refused(done: tuple[int, str, str]) -> bool:
    """Return whether a reader ended with one line on a damaged file."""
    status, _, err = done
    assert len(err.splitlines()) <= 1, err
    return status == DAMAGED and err.startswith("onnx_conformance: ") and err[:-1].isprintable()


def other_pack(path: Path, written: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """Write a pack whose members are changed, with right checksums."""
    with zipfile.ZipFile(written) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_other_files_are_refused(written: Path, reader: Path, tmp_path: Path) -> None:
    def newer(members: dict[str, bytes]) -> None:
        members["index.json"] = (
            members["index.json"].replace(b'"version":1', b'"version":2').replace(b'"version": 1', b'"version": 2')
        )

    def another_format(members: dict[str, bytes]) -> None:
        members["index.json"] = members["index.json"].replace(b"onnx-conformance-cases", b"something-else")

    def no_index(members: dict[str, bytes]) -> None:
        del members["index.json"]

    def no_cases(members: dict[str, bytes]) -> None:
        del members["ai.onnx/Split/cases.ndjson"]

    def no_json(members: dict[str, bytes]) -> None:
        members["ai.onnx/Split/cases.ndjson"] = b"{\n"

    for change in (newer, another_format, no_index, no_cases, no_json):
        path = other_pack(tmp_path / f"{change.__name__}.pack", written, change)
        assert refused(read(reader, path)), change.__name__
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    assert refused(read(reader, empty))
    assert refused(read(reader, tmp_path / "missing"))
    assert refused(read(reader))
    assert read(reader, other_pack(tmp_path / "same.pack", written, lambda _: None))[0] == 0


def test_a_place_outside_the_data_is_refused(written: Path, reader: Path, tmp_path: Path) -> None:
    def cut(members: dict[str, bytes]) -> None:
        members["ai.onnx/Split/data.bin"] = members["ai.onnx/Split/data.bin"][:10]

    case = next(case.id for case in PackFile(written).cases(Selection()) if case.id.startswith("ai.onnx/Split"))
    assert read(reader, written, case, tmp_path)[0] == 0
    assert refused(read(reader, other_pack(tmp_path / "cut.pack", written, cut), case, tmp_path))


def test_a_stored_member_is_read(written: Path, reader: Path, tmp_path: Path) -> None:
    path = tmp_path / "stored.pack"
    with zipfile.ZipFile(written) as archive, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as stored:
        for name in archive.namelist():
            stored.writestr(name, archive.read(name))
    assert read(reader, path) == read(reader, written)


def test_a_mutated_pack_is_the_same_or_refused(written: Path, reader: Path, tmp_path: Path) -> None:
    right, whole, path = read(reader, written)[1], written.read_bytes(), tmp_path / "mutated.pack"
    ends = {"same": 0, "refused": 0}
    for seed in range(mutation.rounds(40)):
        rng = random.Random(seed)
        data = whole[: rng.randrange(len(whole))] if seed % 6 == 0 else mutation.changed_bytes(rng, whole)
        path.write_bytes(data)
        done = read(reader, path)
        same = done[:2] == (0, right)
        assert same or refused(done), f"seed {seed}: {done[0]} {done[2]}"
        ends["same" if same else "refused"] += 1
    assert ends["refused"] >= 15, ends


def test_an_altered_byte_of_the_data_is_noticed(written: Path, reader: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(written) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith((".ndjson", "index.json"))]
    assert len(members) == len({op.rpartition("/")[0] for op in OPS}) + 1
    path = tmp_path / "altered.pack"
    for member in members:
        data = bytearray(written.read_bytes())
        data[member.header_offset + 30 + len(member.filename) + member.compress_size // 2] ^= 1
        path.write_bytes(data)
        assert refused(read(reader, path)), member.filename


@pytest.mark.parametrize("level", [0, 1, 9])
@pytest.mark.parametrize("strategy", [zlib.Z_DEFAULT_STRATEGY, zlib.Z_FIXED, zlib.Z_HUFFMAN_ONLY])
def test_every_kind_of_block_is_decompressed(
    written: Path, reader: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: int, strategy: int
) -> None:
    """Level 0 has stored blocks, and the strategy Z_FIXED has fixed codes."""
    compressor = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
    monkeypatch.setattr(zipfile, "_get_compressor", lambda *_: compressor.copy())
    path = other_pack(tmp_path / "other.pack", written, lambda _: None)
    monkeypatch.undo()
    assert path.read_bytes() != written.read_bytes()
    assert read(reader, path)[:2] == read(reader, written)[:2]
