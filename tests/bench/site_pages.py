# SPDX-License-Identifier: Apache-2.0
"""The figures that the static web site is held to, measured in the browser of the system.

    python tests/bench/site_pages.py [--cases N] [--runtimes N] [--rounds N] [--keep FOLDER] [--site FOLDER]

A time is the shortest of the rounds, as others share the machine; the median stands beside it. Makes results of real
cases with verdicts drawn by hash, writes the site with the command itself, opens its pages from disk, and prints a
table; exits with 1 if a figure is missed. Needs chromium and playwright. Nothing here is a test: machines are noisy.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from html_page import ARGUMENTS, CHROMIUM, PAINTED, chosen, results
from playwright.sync_api import sync_playwright
from tabulate import tabulate

from onnx_conformance.base.verdict import split_operator
from onnx_conformance.report.site.finding_data import FINDING_KINDS
from onnx_conformance.results.stream import Run, Writer, header
from onnx_conformance.specification import completeness
from onnx_conformance.suites.generated import Generated

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from onnx_conformance.case.case import Case

PAINT, READY, FILTER, SIZE = 300, 1000, 300, 15
"""Milliseconds until the first paint, until a page is ready, for the filter and the search; megabytes of the site."""
OLDER = ("0.8", "0.9")
"""Former versions of the first runtime."""

TIMED = """([id, value, done]) => new Promise((resolve) => {
  const input = document.getElementById(id);
  const started = performance.now();
  const watch = new MutationObserver(() => {
    watch.disconnect();
    requestAnimationFrame(() => resolve(performance.now() - started));
  });
  watch.observe(document.getElementById(done), { childList: true, subtree: true, characterData: true });
  input.value = value;
  input.dispatchEvent(new Event("input", { bubbles: true }));
})"""


def stream(path: Path, cases: list[Case], names: list[str], versions: dict[str, str]) -> None:
    """Write a results file of some backends."""
    hellos = {
        name: {"runtime": name.partition("==")[0], "version": versions[name], "repro": "outputs = []\n"}
        for name in names
    }
    suite = {"name": "generated", "digest": Generated().digest()}
    writer = Writer(path)
    writer.open(header(suite, hellos, {"selection": "", "reference": ""}, completeness.covers()))
    for result in results(cases, names):
        writer.add(result)
    writer.finish(1.0)
    writer.close()


def findings(folder: Path, path: Path, most: int) -> None:
    """Write a folder of findings: one for each operator, backend and verdict that fails."""
    (folder / "scripts").mkdir(parents=True)
    groups: dict[tuple[str, str, str], list[Any]] = {}
    for result in Run(path).results():
        if str(result.verdict) in FINDING_KINDS:
            key = result.backend, split_operator(result.operator)[0], str(result.verdict)
            groups.setdefault(key, []).append(result)
    written = []
    for number, ((backend, operator, kind), own) in enumerate(itertools.islice(groups.items(), most)):
        script = f"scripts/{number}.py"
        (folder / script).write_text("import numpy as np\nimport onnx\n" + f"# {number}\n" * 40)
        written.append(
            {
                "id": f"{backend}-{number}", "backend": backend, "version": "1.0", "operator": operator, "kind": kind,
                "title": f"{operator}: {own[0].message or kind}"[:120], "clause": (own[0].clauses or ("",))[0],
                "force": "must", "versions": sorted({split_operator(item.operator)[1] for item in own}),
                "types": sorted({item.element_type for item in own if item.element_type}),
                "cases": {"count": len(own), "ids": [item.case for item in own[:50]]},
                "example": {
                    "case": own[0].case, "model": "main (float[2] a) => (float[2] b) { b = Abs (a) }\n" * 4,
                    "inputs": {"a": "float[2] [1, 2]"}, "expected": {"b": own[0].expected},
                    "given": {"b": own[0].actual},
                },
                "script": script, "state": "open",
            }
        )  # fmt: skip
    (folder / "findings.json").write_text(json.dumps({"format": 1, "findings": written}))


def written(out: Path, folder: Path, count: int, runtimes: int) -> str:
    """Write a site, and return a line on it."""
    names = [f"runtime_{number}" for number in range(1, runtimes + 1)]
    older = [f"runtime_1=={version}" for version in OLDER]
    cases = chosen(count)
    stream(folder / "results.ndjson", cases, names, dict.fromkeys(names, "1.0"))
    stream(folder / "older.ndjson", cases, older, dict(zip(older, OLDER, strict=True)))
    findings(folder / "findings", folder / "results.ndjson", 2000)
    streams = [folder / "results.ndjson", folder / "older.ndjson"]
    words = ["site", *streams, "--findings", folder / "findings", "--out", out]
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "onnx_conformance", *map(str, words)], check=True)
    return f"{len(cases)} cases on {runtimes} runtimes; written in {time.perf_counter() - started:.0f} s"


class Measured:
    """The figures of a site, over several rounds, each in a browser of its own."""

    def __init__(self, site: Path, rounds: int) -> None:
        """Open the pages and measure them."""
        self.times: dict[tuple[str, float], list[float]] = {}
        self._site = site
        pages = sorted(site.glob("operator/*.html"), key=lambda path: path.stat().st_size)
        largest = max(site.glob("data/operator/*.js"), key=lambda path: path.stat().st_size).stem
        self._pages = {
            "front": "index.html",
            "front, filtered": "index.html#ops=Split,Conv,Softmax&opset=18",
            "operators": "operators.html",
            "operator, most cases": f"operator/{largest}.html",
            "operator, largest page": f"operator/{pages[-1].name}",
            "runtime with history": "runtime/runtime_1.html",
            "findings": "findings.html",
            "finding": "finding.html#runtime_1-0",
        }
        with sync_playwright() as playwright:
            for _ in range(rounds):
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
                self._round(browser.new_page(viewport={"width": 1280, "height": 900}))
                browser.close()

    def _round(self, tab: Page) -> None:
        for name, page in self._pages.items():
            self._open(tab, name, page)
        self._open(tab, "operator, most cases", self._pages["operator, most cases"])
        tab.locator("details.sentence summary").first.click()
        link = tab.locator("table.letters a").first.get_attribute("href")
        assert link
        self._open(tab, "case", link.removeprefix("../"))
        self._open(tab, "front", "index.html")
        tab.focus("#search")
        tab.wait_for_timeout(1500)
        self._add("search", FILTER, tab.evaluate(TIMED, ["search", "Split", "hits"]))
        self._add("filter, first", READY, tab.evaluate(TIMED, ["f-ops", "Split,Conv", "ranks"]))
        self._add("filter, then", FILTER, tab.evaluate(TIMED, ["f-type", "float16", "ranks"]))

    def _open(self, tab: Page, name: str, page: str) -> None:
        tab.goto("about:blank")
        started = time.perf_counter()
        tab.goto(f"{self._site.resolve().as_uri()}/{page}")
        tab.wait_for_selector("html[data-state=ready]", state="attached")
        self._add(f"{name}: ready", READY, (time.perf_counter() - started) * 1000)
        tab.wait_for_timeout(100)
        self._add(f"{name}: first paint", PAINT, tab.evaluate(PAINTED))

    def _add(self, name: str, limit: float, elapsed: float) -> None:
        self.times.setdefault((name, limit), []).append(elapsed)


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--runtimes", type=int, default=13)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="Keep results, findings and site in this folder.")
    parser.add_argument("--site", type=Path, help="Measure this site, and write none.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        site = options.site or folder / "site"
        if options.site is None:
            folder.mkdir(parents=True, exist_ok=True)
            print(written(site, folder, options.cases, options.runtimes))
        sizes = {
            str(part.relative_to(site)): sum(file.stat().st_size for file in part.rglob("*") if file.is_file()) / 1e6
            for part in sorted((*site.iterdir(), *(site / "data").iterdir()))
            if part.is_dir()
        }
        size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) / 1e6
        files = sum(file.is_file() for file in site.rglob("*"))
        times = Measured(site, options.rounds).times
    rows = [
        [name, f"{min(of):.0f}", f"{statistics.median(of):.0f}", f"{limit:.0f}", "ok" if min(of) < limit else "MISSED"]
        for (name, limit), of in times.items()
    ]
    rows.append([f"size, MB, {files} files", f"{size:.1f}", "", str(SIZE), "ok" if size < SIZE else "MISSED"])
    rows += [[f"of it {name}/", f"{part:.1f}", "", "", ""] for name, part in sizes.items()]
    print(tabulate(rows, ["ms", "best", "median", "limit", ""], disable_numparse=True))
    return 1 if any(row[-1] == "MISSED" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
