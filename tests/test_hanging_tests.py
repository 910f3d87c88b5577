# SPDX-License-Identifier: Apache-2.0
"""With the options of pyproject.toml, a test that hangs fails, and the run ends."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
TESTS = """\
import time

import pytest


@pytest.mark.parametrize("number", range(8))
def test_short(number):
    pass


def test_hangs():
    time.sleep(1000)


@pytest.mark.xdist_group("others")
@pytest.mark.parametrize("number", range(8))
def test_of_a_group(number):
    pass
"""


@pytest.mark.slow
def test_a_test_that_hangs_fails_by_name_and_the_run_ends(tmp_path: Path) -> None:
    options = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    exits, added = options["faulthandler_exit_on_timeout"], " ".join(options["addopts"])
    (tmp_path / "pytest.ini").write_text(
        f"[pytest]\nfaulthandler_timeout = 2\nfaulthandler_exit_on_timeout = {exits}\naddopts = {added}\n"
    )
    (tmp_path / "test_some.py").write_text(TESTS)
    words = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1, done.stdout
    assert "crashed while running 'test_some.py::test_hangs'" in done.stdout
    found = re.search(r"1 failed, (\d+) passed", done.stdout)
    assert found, done.stdout
    assert int(found[1]) >= 12, "those of the other process have run; a few wait behind the hanging one"
