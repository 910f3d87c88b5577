"""A real browser, for the pages that the reports write."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from windows import Windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser; without one, the test is skipped."""
    if CHROMIUM is None:
        pytest.skip("NO BROWSER: the pages are not tested. Install chromium (apt-get install chromium)")
    sync = pytest.importorskip(
        "playwright.sync_api", reason="NO PLAYWRIGHT: the pages are not tested. pip install playwright"
    )
    with sync.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def windows(browser: Browser) -> Windows:
    """Open windows that the tests of a module share; storage and clipboard are shared too."""
    return Windows(browser)


@pytest.fixture
def open_page(windows: Windows) -> Iterator[Callable[..., Page]]:
    """Open a page; whatever it logs, throws, asks for or runs that it should not is an error at the end."""
    yield windows.open
    assert not windows.looked()
