# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: every case is a test item, in any folder.

    pytest --onnx-backend onnxruntime -n 2
    pytest --onnx-backend onnxruntime --onnx-expectations onnxruntime.toml

Every pytest run in the same environment imports this module, so it imports only the table of options until an option
needs more. `onnx_conformance.testing.items` does the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from onnx_conformance.base.selection_options import OPTIONS

if TYPE_CHECKING:
    from collections.abc import Generator

    from onnx_conformance.testing.items import Tally


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that select backends and cases."""
    group = parser.getgroup(
        "onnx-conformance", "test ONNX runtimes against the specification of every operator version"
    )
    group.addoption(
        "--onnx-backend", action="append", default=[], metavar="BACKEND", help="run every case on this backend"
    )
    group.addoption("--onnx-suite", default="generated", metavar="SUITE", help="generated, official, or a folder")
    for row in OPTIONS:
        form: dict[str, Any] = {"action": "store_true"}
        if row.metavar:
            form = {"action": "append" if row.repeatable else "store", "metavar": row.metavar}
        group.addoption(f"--onnx-{row.name}", **form, help=row.help[0].lower() + row.help[1:].removesuffix("."))
    group.addoption("--onnx-expectations", metavar="FILE", help="file of accepted failures, which become strict xfails")
    group.addoption(
        "--onnx-env", action="append", default=[], metavar="NAME",
        help="also pass this environment variable to the backends; by default they get only a few",
    )  # fmt: skip
    group.addoption("--onnx-timeout", type=float, default=20.0, metavar="SECONDS", help="time limit of one case")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the cases of every --onnx-backend, before -k and -m select items."""
    if not config.getoption("--onnx-backend"):
        if config.getoption("--onnx-expectations"):
            raise pytest.UsageError(
                "--onnx-expectations needs --onnx-backend; in a test module, write conformance(..., expectations=FILE)"
            )
        return
    from onnx_conformance.base import errors, printing  # noqa: PLC0415 - would slow down every pytest run of the environment
    from onnx_conformance.testing import items as made  # noqa: PLC0415 - would slow down every pytest run of the environment

    try:
        items.extend(made.items(session))
    except errors.HarnessError as error:
        raise pytest.UsageError(printing.neutral(error.labelled)) from error


@pytest.fixture
def onnx_result(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401 - its types are in modules that are not imported yet
    """Return the result of a case, for the tests of `onnx_conformance.testing.conformance`."""
    from onnx_conformance.testing import items as made  # noqa: PLC0415 - as above

    return made.answer(request.node, request.param)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the result of a case to its report, which is sent to the process that started the session."""
    report = yield
    record = getattr(item, "onnx_conformance", None)
    if call.when == "call" and record is not None:
        vars(report)["onnx_conformance"] = record  # Attributes of a report are sent with it.
    return report


def pytest_configure(config: pytest.Config) -> None:
    """Check the expectations in the process that started the session; other processes run only some of the cases."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_ExpectationsCheck(), "onnx-conformance-end")


class _ExpectationsCheck:
    """Checks at the end of a session that all results are as expected."""

    def __init__(self) -> None:
        self.tally: Tally | None = None
        self.problems: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        record = getattr(report, "onnx_conformance", None)
        if record is None:
            return
        if self.tally is None:
            from onnx_conformance.testing import items as made  # noqa: PLC0415 - as above

            self.tally = made.Tally()
        self.tally.add(record)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.problems = self.tally.problems() if self.tally else []
        if self.problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.problems:
            terminalreporter.section("onnx-conformance expectations", red=True)
            for problem in self.problems:
                terminalreporter.line(problem)
