# SPDX-License-Identifier: Apache-2.0
"""Locks of Python environments: their entries, and entries that they must not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onnx_conformance.environments import python_lock
from onnx_conformance.environments.python_lock import LockError
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

FIRST, SECOND = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
LOCK = f"""# a comment
a==1.5 ; sys_platform == 'win32' \\
    --hash={FIRST} \\
    --hash={SECOND}
B_c==2 --hash={SECOND}  # why
"""


def test_an_entry_is_a_version_with_a_marker_and_digests() -> None:
    first, second = python_lock.pins(LOCK, "x.lock")
    assert (first.name, str(first.requirement), first.hashes) == (
        "a", 'a==1.5; sys_platform == "win32"', (FIRST, SECOND)
    )  # fmt: skip
    assert (second.name, str(second.requirement), second.hashes) == ("b-c", "B_c==2", (SECOND,))


def test_the_text_of_an_entry_is_the_entry() -> None:
    pins = python_lock.pins(LOCK, "x.lock")
    assert python_lock.pins("".join(pin.text for pin in pins), "x.lock") == pins


@pytest.mark.parametrize(
    "line",
    ["a>=1", "a", "a==1,>0", "a==1.0+cpu", "a==1.*", "a===1", "a @ file:///a.whl", "--index-url http://h/", "-e .",
     "a==one"],
)  # fmt: skip
def test_a_line_that_only_its_writer_can_install_is_refused(line: str) -> None:
    for digest in ("", f" --hash={FIRST}"):
        with refuses("pin-invalid", "x.lock, line 2", kind=LockError):
            python_lock.pins(f"b==1 ; sys_platform == 'linux' --hash={FIRST}  # why\n{line}{digest}\n", "x.lock")


@pytest.mark.parametrize(
    "options", ["", "--hash=sha256:00", f"--hash=md5:{'a' * 32}", f"--hash={FIRST} --index-url=http://h/"]
)
def test_an_entry_without_a_digest_or_with_another_option_is_refused(options: str) -> None:
    with refuses("pin-without-hash", "x.lock, line 6", kind=LockError):
        python_lock.pins(f"{LOCK}a==1 \\\n  {options}\n", "x.lock")


def test_an_entry_that_continues_beyond_the_end_is_read() -> None:
    [pin] = python_lock.pins(f"a==1 \\\n--hash={FIRST} \\", "x.lock")
    assert pin.hashes == (FIRST,)


def test_the_first_of_several_locks_decides_about_a_package(tmp_path: Path) -> None:
    first, second = tmp_path / "first.lock", tmp_path / "second.lock"
    first.write_text(LOCK)
    second.write_text(f"b-c==3 --hash={FIRST}\nd==4 --hash={FIRST}\n")
    assert [f"{pin.requirement}" for pin in python_lock.joined((first, second))] == [
        'a==1.5; sys_platform == "win32"', "B_c==2", "d==4"
    ]  # fmt: skip


def test_requirements_that_no_entry_meets_are_listed() -> None:
    pins = python_lock.pins(LOCK, "x.lock")
    assert python_lock.unmet(pins, ["A", "a==1.5", "b.c<3"]) == []
    assert python_lock.unmet(pins, ["a>=2", "b_c==2", "d"]) == ["a>=2", "d"]
