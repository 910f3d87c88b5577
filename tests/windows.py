# SPDX-License-Identifier: Apache-2.0
"""A browser, and windows of it that the tests of a module share, because a new window is the largest cost of a test."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

VIEWPORT = {"width": 1280, "height": 800}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def started() -> Iterator[Browser]:
    """Yield a browser, and close it; without one, the test is skipped."""
    if CHROMIUM is None:
        pytest.skip("NO BROWSER: the pages are not tested. Install chromium (apt-get install chromium)")
    sync = pytest.importorskip(
        "playwright.sync_api", reason="NO PLAYWRIGHT: the pages are not tested. pip install playwright"
    )
    with sync.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


def settle(tab: Page) -> None:
    """Wait until the script of a page has finished."""
    tab.locator("html[data-state=ready]").wait_for(state="attached", timeout=30_000)


def load(tab: Page, address: str, *, ready: bool = True, forget: bool = False) -> None:
    """Load a page, also if only the fragment of the address differs from that of the present one.

    Args:
        tab: the window.
        address: the address.
        ready: whether to wait until the script of the page has finished.
        forget: whether to empty the storage first.
    """
    if forget and tab.url.startswith("file:"):
        tab.evaluate("localStorage.clear()")
    if tab.url.partition("#")[0] == address.partition("#")[0]:
        tab.evaluate("(address) => history.replaceState(null, '', address)", address)
        tab.reload()
    else:
        tab.goto(address)
    if ready:
        settle(tab)


class Windows:
    """Windows of a browser: one for each set of options, opened once; every test of a module uses the same ones.

    Attributes:
        wrong: everything that pages logged, threw, requested or ran without permission since the last look.
    """

    def __init__(self, browser: Browser) -> None:
        self.wrong: list[str] = []
        self._browser = browser
        self._tabs: dict[str, Page] = {}
        self._schemes: dict[str, str] = {}
        self._inside: tuple[str, ...] = ()

    def open(self, place: Path, rest: str, *, ready: bool = True, **options: Any) -> Page:
        """Open the address of a file or folder with the rest of the address; only its content may be requested.

        The page is always loaded again, also if only the fragment of its address differs, and its storage is empty.
        """
        viewport, scheme = options.pop("viewport", VIEWPORT), options.pop("color_scheme", "light")
        key = json.dumps(options, sort_keys=True)
        if key not in self._tabs:
            self._tabs[key] = self._started(options)
        tab = self._tabs[key]
        if tab.viewport_size != viewport:
            tab.set_viewport_size(viewport)
        if self._schemes.get(key, "light") != scheme:
            tab.emulate_media(color_scheme=scheme)
            self._schemes[key] = scheme
        self._inside = (place.as_uri(), "blob:", "data:")
        load(tab, f"{place.as_uri()}{rest}", ready=ready, forget=True)
        return tab

    def _started(self, options: dict[str, Any]) -> Page:
        context = self._browser.new_context(**{"viewport": VIEWPORT, **options})
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab = context.new_page()
        tab.on("dialog", lambda dialog: (self.wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
        tab.on("console", lambda message: self.wrong.append(f"console {message.text}"))
        tab.on("pageerror", lambda error: self.wrong.append(f"error {error}"))
        tab.on("requestfailed", lambda request: self.wrong.append(f"failed {request.url}"))
        tab.on("request", lambda request: None if request.url.startswith(self._inside)
               else self.wrong.append(f"request {request.url}"))  # fmt: skip
        context.expose_binding("violation", lambda _, text: self.wrong.append(f"violation {text}"))
        tab.add_init_script(
            "document.addEventListener('securitypolicyviolation',"
            " (event) => window.violation(event.violatedDirective + ' ' + event.sample));"
        )
        return tab

    def looked(self) -> list[str]:
        """Return what was wrong since the last look, and forget it."""
        for tab in self._tabs.values():
            tab.evaluate("document.readyState")  # Events that were sent before this answer have arrived.
        wrong, self.wrong = self.wrong, []
        return wrong
