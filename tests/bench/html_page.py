# SPDX-License-Identifier: Apache-2.0
"""The figures that the HTML report is held to, measured in the browser of the system.

    python tests/bench/html_page.py [--cases N] [--backends N] [--rounds N] [--keep FILE]

A time is the shortest of the rounds, as others share the machine; the median and the processor time of the page's own
thread stand beside it.

Makes results of real cases with verdicts drawn by hash, writes the page, opens it, and prints a table; exits with 1 if
a figure is missed. Needs chromium and playwright. Nothing here is a test: machines are noisy.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from playwright.sync_api import sync_playwright
from tabulate import tabulate

from onnx_conformance.case.case import Outcome
from onnx_conformance.generation import plans
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes.replies import Answered, Died, Late, Refused
from onnx_conformance.report.html import page
from onnx_conformance.results.stream import Run, Writer, header
from onnx_conformance.specification import registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from playwright.sync_api import Page

    from onnx_conformance.base.verdict import Result
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.replies import Reply

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
ARGUMENTS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
FIRST_PAINT, READY, FILTER, SIZE = 2000, 4000, 100, 20
OPENING = 500
"""Milliseconds for the page of a case: it is unpacked then."""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"

FILTERS = {
    "operator": ("f-op", "Softmax"),
    "operator, part": ("f-op", "s"),
    "version": ("f-version", "13"),
    "type": ("f-type", "float16"),
    "form": ("f-form", "initializer"),
    "tag": ("f-tag", "edge"),
    "verdict": ("f-verdict", "failed"),
    "backends differ": ("f-verdict", "differ"),
    "backend": ("f-on", "runtime_3"),
    "sentence": ("f-clause", "axis"),
    "text, many hits": ("f-q", "e"),
    "text, few hits": ("f-q", "elements differ, the first at [1"),
}

TIMED = """([id, value]) => new Promise((done) => {
  const input = document.getElementById(id);
  input.value = value;
  const started = performance.now();
  input.dispatchEvent(new Event("input", { bubbles: true }));
  requestAnimationFrame(() => {
    const channel = new MessageChannel();  // Its turn comes when the frame has been drawn.
    channel.port1.onmessage = () => done(performance.now() - started);
    channel.port2.postMessage(0);
  });
})"""

OPENED = """(id) => new Promise((done) => {
  const started = performance.now();
  const watch = new MutationObserver(() => {
    if (document.getElementById("case-title")?.textContent !== id) return;
    watch.disconnect();
    requestAnimationFrame(() => done(performance.now() - started));
  });
  watch.observe(document.getElementById("v-case"), { childList: true, subtree: true });
  location.hash = "#/case/" + encodeURIComponent(id);
})"""


def chosen(count: int) -> list[Case]:
    """Return so many real cases, of every operator version alike."""
    sources = [iter(plans.cases(op, (version.since,))) for op in registry.load() for version in registry.versions(op)]
    by_source: list[list[Case]] = [[] for _ in sources]
    left = count
    open_ = set(range(len(sources)))
    while left > 0 and open_:
        share = max(1, left // len(open_))
        for number in sorted(open_):
            batch = list(itertools.islice(sources[number], min(share, left)))
            by_source[number] += batch
            left -= len(batch)
            if len(batch) < share:
                open_.discard(number)
    return [case for part in by_source for case in part]


def drawn(*words: object) -> int:
    """Return a number that is the same in every run."""
    return int.from_bytes(hashlib.blake2b("/".join(map(str, words)).encode(), digest_size=6).digest(), "little")


def shifted(value: Any, seed: int) -> Any:
    """Return a value with some elements that are wrong."""
    if not isinstance(value, np.ndarray) or not value.size or value.dtype.kind not in "fiu":
        return value
    wrong = value.copy()
    places = np.random.default_rng(seed).choice(value.size, max(1, value.size // 3), replace=False)
    with np.errstate(all="ignore"):
        wrong.reshape(-1)[places] = (wrong.reshape(-1)[places] + 1 + seed % 7).astype(value.dtype)
    return wrong


def reply(case: Case, backend: str, number: int) -> Reply:
    """Return a possible result of a runtime: mostly a pass."""
    seed = drawn(case.id, backend)
    share, seconds = seed % 1000 / 1000, (seed >> 10) % 90_000 / 1e7
    name = case.operator.split("/")[1]
    if drawn(case.operator, backend) % 12 < number % 4:  # A version that a runtime has no kernel for.
        since = case.operator.rpartition("/")[2]
        return Refused(
            "NotImplemented", f"Could not find an implementation for {name}({since}) node", "no kernel", 0.01
        )
    if share < 0.06 or (case.outcome is Outcome.REJECTS and share < 0.5):
        line = seed % 4000
        message = (
            f"[Runtime] : 1 : FAIL : op_{name}.cc:{line} node {case.id.split('/')[3]} is not valid: axis {seed % 9}"
        )
        return Refused("Fail", message, None, seconds)
    if share < 0.062:
        return Died("SIGSEGV", -11, f"Segmentation fault in {name} at {seed:#x}")
    if share < 0.063:
        return Late(20.0, "")
    values = case.expected or (np.zeros(3, np.float32),)
    values = tuple(getattr(value, "example", value) for value in values)
    if share < 0.14:
        values = tuple(shifted(value, seed) for value in values)
    elif share < 0.15:
        values = (*values[1:], np.zeros((2, 3), np.float32))
    return Answered(values, seconds)


def results(cases: Iterable[Case], backends: list[str]) -> Iterator[Result]:
    for case in cases:
        for number, backend in enumerate(backends):
            yield judge(case, backend, reply(case, backend, number))


@dataclass
class Row:
    """One figure: milliseconds of each round, and of those the page's own thread was at work."""

    name: str
    limit: float
    wall: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)

    @property
    def cells(self) -> list[str]:
        best = min(self.wall)
        busy = f"{statistics.median(self.busy):.0f}" if self.busy else ""
        verdict = "ok" if best < self.limit else "MISSED"
        return [self.name, f"{best:.0f}", f"{statistics.median(self.wall):.0f}", busy, f"{self.limit:.0f}", verdict]


class Measured:
    """The figures of a page, over several rounds, each in a browser of its own."""

    def __init__(self, file: Path, rounds: int) -> None:
        """Open the page and measure everything."""
        self.rows: dict[str, Row] = {}
        with sync_playwright() as playwright:
            for _ in range(rounds):
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
                self._round(browser.new_page(viewport={"width": 1280, "height": 900}), file)
                browser.close()

    def _round(self, tab: Page, file: Path) -> None:
        started = time.perf_counter()
        tab.goto(file.as_uri())
        tab.wait_for_selector("html[data-state=ready]", state="attached")
        self._add("ready for the filter", READY, (time.perf_counter() - started) * 1000)
        self._add("first paint", FIRST_PAINT, tab.evaluate(PAINTED))
        tab.wait_for_timeout(2000)  # What is read in idle time is read.
        self._meter = tab.context.new_cdp_session(tab)
        self._meter.send("Performance.enable", {"timeDomain": "threadTicks"})
        for view in ("matrix", "cases"):
            tab.evaluate("(view) => { location.hash = '#/' + (view === 'matrix' ? '' : view); }", view)
            tab.wait_for_timeout(400)
            for name, (input_, value) in FILTERS.items():
                self._time(f"{view}: {name}", FILTER, tab, TIMED, [input_, value])
                self._time(f"{view}: {name}, cleared", FILTER, tab, TIMED, [input_, ""])
        for at in range(5):
            places = "(at) => document.querySelectorAll('#list .id')[at].textContent"
            self._time("open a case", OPENING, tab, OPENED, tab.evaluate(places, at))
            tab.go_back()

    def _time(self, name: str, limit: float, tab: Page, script: str, argument: Any) -> None:
        before = self._busy()
        elapsed = tab.evaluate(script, argument)
        self._add(name, limit, elapsed, self._busy() - before)
        tab.wait_for_timeout(200)

    def _busy(self) -> float:
        metrics = self._meter.send("Performance.getMetrics")["metrics"]
        return next(item["value"] for item in metrics if item["name"] == "TaskDuration") * 1000

    def _add(self, name: str, limit: float, wall: float, busy: float | None = None) -> None:
        row = self.rows.setdefault(name, Row(name, limit))
        row.wall.append(wall)
        if busy is not None:
            row.busy.append(busy)


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=40_000)
    parser.add_argument("--backends", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="Keep the page here.")
    parser.add_argument("--page", type=Path, help="Measure this page, and write none.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = options.page or options.keep or Path(folder) / "page.html"
        if options.page is None:
            print(written(file, Path(folder) / "results.ndjson", options.cases, options.backends))
        size = file.stat().st_size / 1e6
        rows = Measured(file, options.rounds).rows.values()
    table = [row.cells for row in rows]
    table.append(["size, MB", f"{size:.1f}", "", "", str(SIZE), "ok" if size < SIZE else "MISSED"])
    print(tabulate(table, ["ms", "best", "median", "busy", "limit", ""], disable_numparse=True))
    return 1 if any(row[-1] == "MISSED" for row in table) else 0


def written(file: Path, stream: Path, count: int, backends: int) -> str:
    """Write a page, and return a line on it."""
    names = [f"runtime_{number}" for number in range(1, backends + 1)]
    cases = chosen(count)
    hellos = {name: {"runtime": name, "version": "1.0", "python": "3.11", "repro": "outputs = []\n"} for name in names}
    writer = Writer(stream)
    writer.open(header({"name": "generated", "digest": "none"}, hellos, {"selection": "", "reference": ""}))
    for result in results(cases, names):
        writer.add(result)
    writer.finish(1.0)
    writer.close()
    started = time.perf_counter()
    file.write_text(page.report([Run(stream)], cases), encoding="utf-8")
    return f"{len(cases)} cases on {backends} backends; written in {time.perf_counter() - started:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
