# SPDX-License-Identifier: Apache-2.0
"""A command whose own processes are killed, as the system does if memory runs out."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from typing import NoReturn

import pytest

from onnx_conformance.cli import commands


def _killed(*, standalone_mode: bool) -> NoReturn:  # noqa: ARG001 - as click's commands
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        pool.submit(os._exit, 1).result()
    pytest.fail("the process was not killed")


def test_a_killed_process_gets_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(commands, "main", _killed)
    assert commands.run() == 2
    err = capsys.readouterr().err
    assert "a process of this command was killed" in err
    assert "--jobs" in err
    assert len(err.splitlines()) == 1, err
