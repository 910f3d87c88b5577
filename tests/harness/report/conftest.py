# SPDX-License-Identifier: Apache-2.0
"""A real browser, for the pages that the reports write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from windows import Windows, started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser; without one, the test is skipped."""
    yield from started()


@pytest.fixture(scope="module")
def windows(browser: Browser) -> Windows:
    """Open windows that the tests of a module share; storage and clipboard are shared too."""
    return Windows(browser)


@pytest.fixture
def open_page(windows: Windows) -> Iterator[Callable[..., Page]]:
    """Open a page; whatever it logs, throws, asks for or runs that it should not is an error at the end."""
    yield windows.open
    assert not windows.looked()
