# SPDX-License-Identifier: Apache-2.0
"""Adapters of runtimes that are not installed here: opt-outs by recorded errors, and verdicts of a real run.

recorded/ has a file for each runtime:

packages, types: what its adapter imports; names in these packages that must be types
environment: variables that the adapter reads when it is imported
raised: errors by a name, each with the `reason` for which it opts out, or none
raised_by_the_adapter: error types of the adapter's own, which the adapter's test file raises
real: patterns of `info`, `verdicts` by case (a list where the machine decides), the `signal` of a crash
python_variable: names the Python to run in, where the environment cannot be made
"""

from __future__ import annotations

import builtins
import os
import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from onnx_conformance.backends import serve
from onnx_conformance.environments import node_environment
from paths import TESTS
from runtime_fakes import INSTALLED, REAL, raised, real, runtimes, with_any_runtime

if TYPE_CHECKING:
    from pathlib import Path

RUNTIMES = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in TESTS.glob("backends/recorded/*.toml")}
TABLES = [name for name, runtime in RUNTIMES.items() if "raised" in runtime]
"""Adapters in Python; those in JavaScript have their messages in test_onnxruntime_javascript.py."""


def opt_outs(monkeypatch: pytest.MonkeyPatch, name: str) -> list[tuple[str, str, str]]:
    """Return the table of an adapter."""
    runtime = RUNTIMES[name]
    for variable, value in runtime.get("environment", {}).items():
        monkeypatch.setenv(variable, value)
    return list(with_any_runtime(monkeypatch, name, runtime["packages"], runtime.get("types", ())).OPT_OUTS)


def error_of(row: dict[str, Any]) -> BaseException:
    return raised(row["error"], row["message"], *(getattr(builtins, base) for base in row.get("bases", ())))


def test_every_runtime_that_is_not_installed_has_a_recorded_file() -> None:
    missing = runtimes() - {*RUNTIMES, *INSTALLED}
    assert not missing, f"write {', '.join(f'tests/backends/recorded/{name}.toml' for name in sorted(missing))}"
    unknown = set(RUNTIMES) - runtimes()
    assert not unknown, f"there is no adapter of {', '.join(sorted(unknown))}"
    assert set(TABLES) == set(RUNTIMES) - node_environment.names(), "an adapter in Python has errors in `raised`"


@pytest.mark.parametrize("name", [name for name, runtime in RUNTIMES.items() if "raised_by_the_adapter" in runtime])
def test_the_errors_of_an_adapter_are_in_its_own_test_file(name: str) -> None:
    text = (TESTS / "backends" / f"test_{name}.py").read_text(encoding="utf-8")
    for error in RUNTIMES[name]["raised_by_the_adapter"]:
        assert error in text, f"test_{name}.py raises no {error}"


def test_every_runtime_has_errors_that_opt_out_and_others() -> None:
    assert TABLES
    for name in TABLES:
        rows = RUNTIMES[name]["raised"].values()
        assert {True, False} == {"reason" in row for row in rows}, name


@pytest.mark.slow
@pytest.mark.parametrize(("name", "row"), [(name, row) for name in TABLES for row in RUNTIMES[name]["raised"]])
def test_an_error_opts_out_for_its_reason_or_is_a_failure(monkeypatch: pytest.MonkeyPatch, name: str, row: str) -> None:
    recorded = RUNTIMES[name]["raised"][row]
    assert serve.opt_out(opt_outs(monkeypatch, name), error_of(recorded)) == recorded.get("reason")


@pytest.mark.parametrize("name", TABLES)
def test_every_row_of_opt_outs_has_an_error(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    table = opt_outs(monkeypatch, name)
    errors = [error_of(row) for row in RUNTIMES[name]["raised"].values()]
    first = {next((place for place, row in enumerate(table) if serve.opt_out([row], error)), None) for error in errors}
    own = RUNTIMES[name].get("raised_by_the_adapter", [])  # Its file tests these on the adapter itself.
    assert set(own) <= {error for error, *_ in table}, own
    unneeded = [row for place, row in enumerate(table) if place not in first and row[0] not in own]
    assert not unneeded, unneeded


@REAL
@pytest.mark.parametrize("name", RUNTIMES)
def test_a_real_run_gives_the_recorded_verdicts(tmp_path: Path, name: str) -> None:
    recorded = RUNTIMES[name]["real"]
    variable = RUNTIMES[name].get("python_variable", "")
    if variable and not os.environ.get(variable):
        pytest.skip(f"{variable} names the Python of an environment with a CPU build")
    python = os.environ[variable] if variable else ""
    info = real(tmp_path, name, recorded["verdicts"], signal=recorded.get("signal", ""), python=python)
    for key, pattern in recorded["info"].items():
        assert re.fullmatch(pattern, info[key], re.DOTALL), f"{key}: {info[key]!r} is not {pattern}"
