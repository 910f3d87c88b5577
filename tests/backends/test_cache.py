# SPDX-License-Identifier: Apache-2.0
"""The cache of compiled models: whole entries, reuse, a bounded size, and no use of damaged entries."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onnx_conformance import backends
from onnx_conformance.backends import cache
from onnx_conformance.environments import environment_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = cache.name(b"model", "runtime", "1.0")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path))
    cache._written.clear()
    yield tmp_path
    cache._written.clear()


def files(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_file()]


def test_a_compiled_result_is_reused(place: Path) -> None:
    calls: list[int] = []

    def make() -> bytes:
        calls.append(1)
        return b"program" * 100

    assert cache.compiled(make, b"model", "runtime", "1.0") == cache.compiled(make, b"model", "runtime", "1.0")
    assert len(calls) == 1
    [path] = files(place)
    assert path.stat().st_size < 700, "it is packed"
    assert cache.get(NAME) == b"program" * 100


def test_an_error_is_not_kept(place: Path) -> None:
    def make() -> bytes:
        raise ValueError("no kernel")

    for _ in range(2):
        with pytest.raises(ValueError, match="no kernel"):
            cache.compiled(make, b"model")
    assert not files(place)


@pytest.mark.parametrize(
    "other",
    [
        (b"model", "runtime", "1.1"),
        (b"model", "other", "1.0"),
        (b"other", "runtime", "1.0"),
        (b"model", "runtime", "1.0", "--option"),
        (b"model", "runtime1.0"),
        (b"modelruntime", "1.0"),
        (b"model", "runtime", "1.0", ""),
    ],
)
def test_every_dependency_is_part_of_the_name_of_an_entry(other: tuple[bytes | str, ...]) -> None:
    assert cache.name(*other) != NAME
    assert cache.compiled(lambda: b"first", b"model", "runtime", "1.0") == b"first"
    assert cache.compiled(lambda: b"second", *other) == b"second"
    assert cache.get(NAME) == b"first"


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "foreign", "longer"])
def test_a_damaged_entry_is_removed_and_compiled_again(place: Path, damage: str) -> None:
    cache.put(NAME, b"program" * 10)
    [path] = files(place)
    data = path.read_bytes()
    path.write_bytes(
        {
            "cut": data[:-1],
            "changed": data[:-3] + bytes([data[-3] ^ 1]) + data[-2:],
            "empty": b"",
            "foreign": b"\x7fELF" + data[4:],
            "longer": data + b"x",
        }[damage]
    )
    assert cache.get(NAME) is None
    assert bool(files(place)) is (damage == "foreign"), "only a file with the first bytes of the cache is removed"
    assert cache.compiled(lambda: b"anew", b"model", "runtime", "1.0") == b"anew"
    assert cache.get(NAME) == b"anew"


def test_an_empty_variable_keeps_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(NAME, b"program")
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", "")
    assert cache.folder() is None
    assert cache.compiled(lambda: b"now", b"model", "runtime", "1.0") == b"now", "neither read"
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(place))
    assert cache.get(NAME) == b"program", "nor written"


def test_the_place_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache.folder() == tmp_path
    monkeypatch.delenv("ONNX_CONFORMANCE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == tmp_path / "xdg" / "onnx-conformance"
    monkeypatch.setenv("HOME", str(tmp_path))
    for unset in ("", "relative"):  # The XDG specification has a relative path ignored.
        monkeypatch.setenv("XDG_CACHE_HOME", unset)
        assert cache.folder() == tmp_path / ".cache" / "onnx-conformance"


def test_a_read_only_folder_caches_nothing_silently(place: Path) -> None:
    blocked = place / "file"
    blocked.write_bytes(b"")
    os.environ["ONNX_CONFORMANCE_CACHE"] = str(blocked)
    assert cache.compiled(lambda: b"now", b"model") == b"now"
    assert cache.compiled(lambda: b"again", b"model") == b"again"


def test_a_file_that_cannot_be_moved_into_the_cache_is_removed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    cache.put(NAME, b"program")
    assert not files(place)
    assert cache.get(NAME) is None


def bounded(monkeypatch: pytest.MonkeyPatch, entries: int) -> None:
    """Let all entries have one folder, with room for so many of the smallest."""
    monkeypatch.setattr(cache, "FOLDERS", 1)
    monkeypatch.setattr(cache, "MOST_BYTES", entries * cache.BLOCK)


def in_one_folder(number: int) -> str:
    return f"00{number:062x}"


def test_the_least_recently_used_entry_is_removed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bounded(monkeypatch, 16)
    for number in range(16):
        cache.put(in_one_folder(number), b"x")
        os.utime(next(place.rglob(in_one_folder(number)[2:])), (number, number))
    assert cache.get(in_one_folder(0)) == b"x", "which is a use"
    for number in range(16, 22):
        cache.put(in_one_folder(number), b"x")
    left = {number for number in range(22) if cache.get(in_one_folder(number))}
    assert len(left) <= 16 + 2, "an eighth more, until it is looked at again"
    assert len(left) >= 12
    assert {0, 21} <= left
    assert not {1, 2, 3, 4} & left


def test_the_folder_is_not_read_for_every_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    bounded(monkeypatch, 800)
    read: list[object] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: (read.append(path), scandir(path))[1])
    for number in range(300):
        cache.put(in_one_folder(number), b"x")
    assert len(read) == 1 + 2, "once, and whenever an eighth of the room is filled"


def test_an_entry_that_has_no_room_is_not_kept(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bounded(monkeypatch, 2)
    cache.put(NAME, os.urandom(3 * cache.BLOCK))
    assert not files(place)


def test_temporary_files_of_dead_processes_are_removed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bounded(monkeypatch, 4)
    folder = place / "programs" / "00"
    folder.mkdir(parents=True)
    left, other, own = (folder / name for name in (f".{in_one_folder(1)[2:]}.abcd1234", "notes.txt", "f" * 62))
    left.write_bytes(cache.MAGIC + b"x" * 3 * cache.BLOCK)
    for path in (other, own):  # A user's own files: one has another name, one only a similar name.
        path.write_bytes(b"x" * 3 * cache.BLOCK)
    for path in (left, other, own):
        os.utime(path, (0, 0))
    for number in range(4):
        cache.put(in_one_folder(number), b"x")
    assert not left.exists()
    assert other.exists()
    assert own.exists()


KINDS = ("a pipe", "a link", "a link to /dev/zero", "a folder", "of another user", "in a folder of another user",
         "in a linked folder")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_users_own_regular_files_are_read(
    kind: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(cache, "report", said.append)
    monkeypatch.setattr(cache, "_reported", set())
    cache.put(NAME, b"program")
    [path] = files(place)
    if "user" in kind:
        if os.geteuid() != 0:
            pytest.skip("only root can give files to another user")
        os.chown(path.parent if "folder" in kind else path, 12345, 12345)
    elif kind == "in a linked folder":
        moved = place / "moved"
        path.parent.rename(moved)
        path.parent.symlink_to(moved)
    else:
        kept = path.rename(tmp_path / "kept")
        {
            "a pipe": lambda: os.mkfifo(path),
            "a link": lambda: path.symlink_to(kept),
            "a link to /dev/zero": lambda: path.symlink_to("/dev/zero"),
            "a folder": path.mkdir,
        }[kind]()
    assert cache.get(NAME) is None
    assert cache.get(NAME) is None
    assert len(said) == 1, said
    assert str(path.parent) in said[0]
    assert cache.compiled(lambda: b"again", b"model", "runtime", "1.0") == b"again"


def test_the_bound_removes_nothing_behind_a_link(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bounded(monkeypatch, 1)
    mine = place / "mine"
    mine.mkdir()
    (mine / ("e" * 62)).write_bytes(cache.MAGIC + b"x" * 5 * cache.BLOCK)
    (place / "programs").mkdir()
    (place / "programs" / "00").symlink_to(mine)
    for number in range(4):
        cache.put(in_one_folder(number), b"x")
    assert [path.name for path in mine.iterdir()] == ["e" * 62]


def test_only_the_user_can_read_the_folders(place: Path) -> None:
    (place / "programs").mkdir(mode=0o755)
    cache.put(NAME, b"program")
    [path] = files(place)
    assert {oct(folder.stat().st_mode & 0o777) for folder in (path.parent, place / "programs")} == {"0o700"}


def test_a_program_that_unpacks_to_more_than_the_maximum_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(NAME, b"program" * 1000)
    monkeypatch.setattr(cache, "MOST_PROGRAM", 100)
    assert cache.get(NAME) is None
    assert cache.compiled(lambda: b"small", b"model", "runtime", "1.0") == b"small"


def test_an_adapter_gets_only_the_folder_of_programs(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = environment_variables.variables()
    assert given[cache.PROGRAMS] == str(place / "programs")
    assert not {name for name, value in given.items() if str(place) in value} - {cache.PROGRAMS}
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", "")
    assert environment_variables.variables()[cache.PROGRAMS] == ""


WORKER = """
import os, sys
sys.path.insert(0, sys.argv[1])
from backends import cache
for turn in range(200):
    for number in range(8):
        expected = bytes([number]) * 50_000
        actual = cache.compiled(lambda: expected, b"model", str(number))
        assert actual == expected, (turn, number, len(actual))
        entry = cache.name(b"model", str(number))
        if turn % 5 == 0:
            (cache._store(entry).folder / entry[2:]).unlink(missing_ok=True)
"""


@pytest.mark.slow
def test_processes_share_it(place: Path) -> None:
    above = str(Path(backends.__file__).parents[2])
    started = [subprocess.Popen([sys.executable, "-c", WORKER, above], stderr=subprocess.PIPE) for _ in range(3)]
    for process in started:
        _, output = process.communicate(timeout=120)
        assert process.returncode == 0, output.decode()
    assert not [path for path in files(place) if path.name.startswith(".")], "nothing half is left"


def test_the_machine_and_its_processor_are_part_of_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache.processor().startswith(cache.machine())
    assert len(cache.processor()) > len(cache.machine())
    monkeypatch.setattr(cache.platform, "machine", lambda: "other")
    assert "other" in cache.machine()


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's own cache folder, which does not exist yet."""
    above = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(above))
    return above / "onnx-conformance"


def test_the_key_of_digests_is_made_once_for_this_user_alone(home: Path, place: Path) -> None:
    first = cache.secret()
    assert first is not None
    assert len(first) == cache.KEY_BYTES
    assert cache.secret() == first
    assert [path.name for path in home.iterdir()] == [cache.KEY]
    assert (home / cache.KEY).stat().st_mode & 0o077 == 0
    assert not files(place)


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 1000])
def test_a_key_of_another_size_is_made_again(content: bytes, home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / cache.KEY).write_bytes(content)
    made = cache.secret()
    assert made is not None
    assert cache.secret() == made != content


def test_a_key_behind_a_link_is_not_used(home: Path, place: Path, tmp_path: Path) -> None:
    home.mkdir(mode=0o700)
    (tmp_path / "known").write_bytes(b"x" * cache.KEY_BYTES)
    (home / cache.KEY).symlink_to(tmp_path / "known")
    made = cache.secret()
    assert made is not None
    assert made != b"x" * cache.KEY_BYTES
    assert (place / cache.KEY).read_bytes() == made


def test_without_a_folder_of_the_user_the_key_is_in_the_cache(home: Path, place: Path) -> None:
    home.write_text("no folder")
    assert cache.secret() == (place / cache.KEY).read_bytes()


def test_without_any_folder_there_is_no_key(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.write_text("no folder")
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", "")
    assert cache.secret() is None
