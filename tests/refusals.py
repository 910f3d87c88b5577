# SPDX-License-Identifier: Apache-2.0
"""Errors are compared by their ids, so that a message can get a better wording."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from onnx_conformance.base.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def refuses(problem: str, *named: object, kind: type[HarnessError] = HarnessError) -> Iterator[None]:
    """Expect an error with an id, whose message names some values: a file, a line number, a name.

    Args:
        problem: the id.
        named: what the message must contain.
        kind: its class.
    """
    with pytest.raises(kind) as caught:
        yield
    assert caught.value.id == problem, caught.value.labelled
    missing = [f"{value}" for value in named if f"{value}" not in caught.value.text]
    assert not missing, f"{missing} not in: {caught.value}"
