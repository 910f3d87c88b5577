# SPDX-License-Identifier: Apache-2.0
"""Kept environments: complete or absent, whoever is killed, fails, or makes the same at the same time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.environments import kept_environment
from onnx_conformance.environments.kept_environment import ABANDONED, NoEnvironmentError
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

KILLED = """
import os, signal, sys
from pathlib import Path

from onnx_conformance.environments import kept_environment
def fill(folder):
    (folder / "first").touch()
    os.kill(os.getpid(), signal.SIGKILL)
kept_environment.make(Path(sys.argv[1]), "mine", fill)
"""


def fill(folder: Path) -> None:
    (folder / "first").touch()
    (folder / "second").touch()


def content(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_environment_is_made_once(tmp_path: Path) -> None:
    place = tmp_path / "below" / "mine"
    kept_environment.make(place, "mine", fill)
    kept_environment.make(place, "mine", lambda _: pytest.fail("it exists"))
    assert content(place) == ["first", "second"]
    assert content(place.parent) == ["mine"], "nothing temporary is left"


def test_an_environment_of_a_process_that_was_killed_is_not_used(tmp_path: Path) -> None:
    place = tmp_path / "mine"
    done = subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False)
    assert done.returncode == -signal.SIGKILL
    [left] = tmp_path.iterdir()
    assert content(left / "made") == ["first"], "it was killed halfway"
    kept_environment.make(place, "mine", fill)
    assert content(place) == ["first", "second"]
    assert content(tmp_path) == [left.name, "mine"], "another process may still work in it"


def test_what_a_killed_process_left_is_removed_after_a_day(tmp_path: Path) -> None:
    for name, age in (("old", ABANDONED + 60), ("new", ABANDONED / 2)):
        folder = tmp_path / f"{kept_environment.MAKING}{name}" / "made"
        folder.mkdir(parents=True)
        os.utime(folder.parent, (time.time() - age,) * 2)
    kept_environment.make(tmp_path / "mine", "mine", fill)
    assert content(tmp_path) == [".making-new", "mine"]


def test_an_environment_that_cannot_be_filled_leaves_nothing(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "first").touch()
        raise NoEnvironmentError("npm-failed", "no network")

    with refuses("npm-failed", kind=NoEnvironmentError):
        kept_environment.make(tmp_path / "mine", "mine", fails)
    assert content(tmp_path) == []


def test_of_two_processes_the_first_that_is_complete_counts(tmp_path: Path) -> None:
    place = tmp_path / "mine"

    def overtaken(folder: Path) -> None:
        (folder / "mine").touch()
        place.mkdir()
        (place / "theirs").touch()

    kept_environment.make(place, "mine", overtaken)
    assert content(place) == ["theirs"]
    assert content(tmp_path) == ["mine"]


def test_an_environment_that_cannot_get_its_name_is_reported(tmp_path: Path) -> None:
    place = tmp_path / "mine"
    with refuses("environment-not-moved", place, kind=NoEnvironmentError):
        kept_environment.make(place, "mine", lambda _: place.touch())


def test_kept_environments_are_counted_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    above = tmp_path / "onnx-conformance"
    for folder in ("python/onnx==1", f"python/{kept_environment.MAKING}x", "npm/web", "packs/mine"):
        (above / folder).mkdir(parents=True)
        (above / folder / "file").write_bytes(bytes(10))
    (above / "python" / "link").symlink_to(above / "packs")
    found = kept_environment.kept()
    assert {path.name for path in found} == {"onnx==1", f"{kept_environment.MAKING}x", "web"}
    assert sum(map(kept_environment.size, found)) == 30
    shown = command("cache", "--clear-environments")
    assert shown.status == 0, shown.text
    assert "environments of runtimes: removed; left: 1" in shown.out, shown.text
    assert [path.name for path in kept_environment.kept()] == [f"{kept_environment.MAKING}x"]
    assert (above / "packs" / "mine" / "file").exists(), "a link is not followed, and other folders stay"
