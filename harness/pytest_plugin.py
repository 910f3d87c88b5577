"""The pytest plugin: every case one test item, in any folder.

    pytest --onnx-backend onnxruntime -n 2

This module is imported by every pytest run of an environment it is installed in, so it imports nothing of the
harness before it is asked to; `harness.testing` does the work.
"""

from __future__ import annotations

from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options that select backends and cases."""
    group = parser.getgroup("onnx-conformance", "hold ONNX runtimes against the text of every operator version")
    several: dict[str, Any] = {"action": "append", "default": [], "metavar": "GLOB"}
    group.addoption(
        "--onnx-backend", action="append", default=[], metavar="BACKEND", help="run every case on this backend"
    )
    group.addoption("--onnx-suite", default="generated", metavar="SUITE", help="generated, official, or a folder")
    group.addoption("--onnx-op", **several, help="only these operators")
    group.addoption("--onnx-case", **several, help="only cases with such an id")
    group.addoption("--onnx-tag", **several, help="only cases with such a tag")
    group.addoption("--onnx-timeout", type=float, default=20.0, metavar="SECONDS", help="what one case may take")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the cases of every --onnx-backend, before -k and -m choose among the items."""
    if not config.getoption("--onnx-backend"):
        return
    from harness import errors, testing  # noqa: PLC0415 - costs every pytest run of the environment otherwise

    try:
        items.extend(testing.items(session))
    except errors.HarnessError as error:
        raise pytest.UsageError(str(error)) from error


@pytest.fixture
def onnx_result(request: pytest.FixtureRequest) -> Any:  # noqa: ANN401 - its types are those of modules not yet imported
    """Return a case and what became of it, for the tests that `harness.testing.conformance` makes."""
    from harness import testing  # noqa: PLC0415 - as above

    case, backend, timeout = request.param
    return case, testing.asked(request.config, case, backend, timeout)
