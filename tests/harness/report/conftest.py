"""A real browser, for the pages that the reports write."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a page; whatever it logs, throws, asks for or runs that it should not is an error at the end."""
    wrong: list[str] = []
    contexts = []

    def start(place: Path, rest: str, *, ready: bool = True, **options: Any) -> Page:
        """Open the address of a file or folder with the rest of the address; only what is in there may be requested."""
        inside = (place.as_uri(), "blob:", "data:")
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab = context.new_page()
        tab.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
        tab.on("console", lambda message: wrong.append(f"console {message.text}"))
        tab.on("pageerror", lambda error: wrong.append(f"error {error}"))
        tab.on("requestfailed", lambda request: wrong.append(f"failed {request.url}"))
        tab.on("request", lambda request: None if request.url.startswith(inside)
               else wrong.append(f"request {request.url}"))  # fmt: skip
        tab.add_init_script(
            "window.violations = []; document.addEventListener('securitypolicyviolation',"
            " (event) => violations.push(event.violatedDirective + ' ' + event.sample));"
        )
        tab.goto(f"{place.as_uri()}{rest}")
        if ready:
            tab.locator("html[data-state=ready]").wait_for(state="attached", timeout=30_000)
        return tab

    yield start
    for context in contexts:
        for tab in context.pages:
            wrong += tab.evaluate("window.violations")
        context.close()
    assert not wrong
