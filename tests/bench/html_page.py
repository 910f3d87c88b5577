"""The figures that the HTML report is held to, measured in the browser of the system.

    python tests/bench/html_page.py [--cases N] [--backends N] [--rounds N] [--keep FILE]

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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from playwright.sync_api import sync_playwright
from tabulate import tabulate

from harness import generate, registry, schema
from harness.case import Outcome
from harness.replies import Answered, Died, Late, Refused
from harness.report.html import page
from harness.results import Run, Writer, header
from harness.runner import judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from harness.case import Case
    from harness.replies import Reply
    from harness.verdict import Result

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
ARGUMENTS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
FIRST_PAINT, FILTER, SIZE = 2000, 100, 20
OPENING = 500
"""Milliseconds for a page of a case: it is unpacked then."""

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
    sources = [
        iter(generate.cases(op, (version.since,)))
        for op in registry.load()
        for version in schema.versions(op.domain, op.name)
    ]
    found: list[list[Case]] = [[] for _ in sources]
    left = count
    open_ = set(range(len(sources)))
    while left > 0 and open_:
        share = max(1, left // len(open_))
        for number in sorted(open_):
            taken = list(itertools.islice(sources[number], min(share, left)))
            found[number] += taken
            left -= len(taken)
            if len(taken) < share:
                open_.discard(number)
    return [case for part in found for case in part]


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
    """Return what a runtime may have said: mostly the right answer."""
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


def median(values: list[float]) -> str:
    return f"{statistics.median(values):.0f} (best {min(values):.0f})"


def measured(file: Path, rounds: int, opened: list[str]) -> list[tuple[str, list[float], float]]:
    """Return rows of a name, milliseconds of each round, and the limit."""
    rows: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        for _ in range(rounds):
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            started = time.perf_counter()
            tab.goto(file.as_uri())
            tab.wait_for_selector("html[data-state=ready]", state="attached")
            rows.setdefault("ready for the filter", []).append((time.perf_counter() - started) * 1000)
            paint = tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            rows.setdefault("first paint", []).append(paint)
            tab.wait_for_timeout(1500)  # What is read in idle time is read.
            for view in ("", "cases"):
                tab.evaluate("(view) => { location.hash = '#/' + view; }", view)
                tab.wait_for_timeout(300)
                for name, (field, value) in FILTERS.items():
                    taken = tab.evaluate(TIMED, [field, value])
                    rows.setdefault(f"{view or 'matrix'}: {name}", []).append(taken)
                    tab.wait_for_timeout(150)
                    rows.setdefault(f"{view or 'matrix'}: a filter cleared", []).append(
                        tab.evaluate(TIMED, [field, ""])
                    )
                    tab.wait_for_timeout(150)
            for case in opened:
                rows.setdefault("open a case", []).append(tab.evaluate(OPENED, case))
                tab.wait_for_timeout(50)
            browser.close()
    limits = {"ready for the filter": 4000.0, "first paint": FIRST_PAINT, "open a case": OPENING}
    return [(name, values, limits.get(name, FILTER)) for name, values in rows.items()]


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=40_000)
    parser.add_argument("--backends", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="Keep the page here.")
    options = parser.parse_args()
    backends = [f"runtime_{number}" for number in range(1, options.backends + 1)]
    with tempfile.TemporaryDirectory() as folder:
        file = options.keep or Path(folder) / "page.html"
        cases = chosen(options.cases)
        said = {
            name: {"runtime": name, "version": "1.0", "python": "3.11", "repro": "outputs = []\n"} for name in backends
        }
        writer = Writer(Path(folder) / "results.ndjson")
        writer.open(header({"name": "generated", "digest": "none"}, said, {"selection": "", "reference": ""}))
        for result in results(cases, backends):
            writer.add(result)
        writer.finish(1.0)
        writer.close()
        started = time.perf_counter()
        file.write_text(page.report([Run(Path(folder) / "results.ndjson")], cases), encoding="utf-8")
        wrote = time.perf_counter() - started
        size = file.stat().st_size / 1e6
        opened = [cases[number].id for number in range(0, len(cases), max(1, len(cases) // 10))]
        rows = measured(file, options.rounds, opened)
    table = [
        [name, median(values), limit, "ok" if statistics.median(values) < limit else "MISSED"]
        for name, values, limit in rows
    ]
    table.append(["size, MB", f"{size:.1f}", SIZE, "ok" if size < SIZE else "MISSED"])
    print(f"{len(cases)} cases on {len(backends)} backends; written in {wrote:.0f} s")
    print(tabulate(table, ["ms, median of the rounds", "measured", "limit", ""], disable_numparse=True))
    return 1 if any(row[3] == "MISSED" for row in table) else 0


if __name__ == "__main__":
    sys.exit(main())
