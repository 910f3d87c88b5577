# SPDX-License-Identifier: Apache-2.0
"""Files that are replaced completely or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base import atomic_file

if TYPE_CHECKING:
    from pathlib import Path


def test_a_surrogate_becomes_a_question_mark_and_a_line_end_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    atomic_file.write(path, ["\ud800 and é\n", "second\r\n"])
    assert path.read_bytes() == "? and é\nsecond\r\n".encode()


def test_after_an_exception_the_old_file_stays_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail() -> None:
        with atomic_file.replaced(path) as file:
            file.write(b"new")
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_target_of_a_link_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    atomic_file.write(link, ["new"])
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
