# SPDX-License-Identifier: Apache-2.0
"""The page of runners/browser in a real browser: the verdicts of the Python adapter, and errors of one line."""

from __future__ import annotations

import functools
import http.server
import json
import re
import threading
import zipfile
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from commands import command
from onnx_conformance.base.package import FOLDER
from onnx_conformance.environments import node_environment
from onnx_conformance.results.stream import Run
from onnx_conformance.suites import case_pack
from paths import ROOT
from windows import started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow
PLACE = "/runners/browser/onnxruntime-web/"
"""Where a reader copies the files of onnxruntime-web to."""
NAME = "onnxruntime_web"


class Files(http.server.SimpleHTTPRequestHandler):
    """The files of the checkout, and those of onnxruntime-web at the place to which a reader copies them."""

    dist: Path | None = None

    def translate_path(self, path: str) -> str:
        if path.startswith(PLACE):
            return str(self.dist / path.removeprefix(PLACE)) if self.dist else ""
        return super().translate_path(path)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from started()


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=ROOT)) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Serve the files of onnxruntime-web; the test is skipped if the environment of its adapter does not exist."""
    needed = node_environment.needs(NAME)
    if needed is None or not needed.here:
        pytest.skip(
            "there is no onnxruntime-web in the cache; `onnx-conformance backends check onnxruntime_web` fetches it"
        )
    folder = node_environment.environment(needed.of(), needed.lock_of())
    monkeypatch.setattr(Files, "dist", folder / "node_modules" / "onnxruntime-web" / "dist")


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Page]:
    """Open the page. It requests nothing from another host, and has no error."""
    tab = browser.new_page()
    wrong: list[str] = []
    tab.on("pageerror", lambda error: wrong.append(f"error {error}"))
    tab.on(
        "request",
        lambda request: wrong.append(request.url) if not request.url.startswith((server, "blob:", "data:")) else 0,
    )
    tab.goto(f"{server}/runners/browser/")
    yield tab
    assert wrong == []
    tab.close()


def run(page: Page, pack: Path, operators: str = "", provider: str = "wasm") -> str:
    """Run a pack in the page, and return the status line."""
    page.set_input_files("#pack", pack)
    page.select_option("#provider", provider)
    page.fill("#operators", operators)
    page.evaluate("delete document.documentElement.dataset.state")
    page.click("#run")
    page.wait_for_selector("html[data-state=ready]", state="attached", timeout=120_000)
    return page.text_content("#status") or ""


def saved(page: Page, path: Path) -> Path:
    with page.expect_download() as download:
        page.click("#save")
    download.value.save_as(path)
    return path


def verdicts(path: Path) -> dict[str, str]:
    return {result.case: str(result.verdict) for result in Run(path).results()}


def counts(page: Page) -> dict[str, int]:
    heads = page.locator("#heads th").all_text_contents()[1:]
    return dict(zip(heads, map(int, page.locator("#totals td").all_text_contents()[1:]), strict=True))


@pytest.mark.usefixtures("package")
def test_its_verdicts_are_those_of_the_adapter(page: Page, pack: Path, tmp_path: Path) -> None:
    status = run(page, pack)
    assert re.match(r"Finished: (\d+) of \1 cases \(onnxruntime-web [\d.]+, wasm\)\.", status), status
    ours = saved(page, tmp_path / "page.ndjson")
    theirs = tmp_path / "adapter.ndjson"
    command("run", "--suite", pack, "--backend", NAME, "--repeat", "0", "--results", theirs)
    expected = verdicts(theirs)
    assert len(expected) > 150
    assert set(expected.values()) >= {"pass", "unsupported", "unspecified"}
    shown = counts(page)
    unknown = shown.pop("not judged", 0)
    actual = verdicts(ours)
    assert {case: (actual[case], expected[case]) for case in actual if actual[case] != expected[case]} == {}
    assert len(actual) + unknown == len(expected)
    assert unknown <= 2, "those with maps and with narrow floats"
    assert sum(shown.values()) == len(actual)
    failed = [
        verdict for verdict in actual.values() if verdict not in {"pass", "unsupported", "unspecified", "lenient"}
    ]
    assert page.locator("#list li").count() == len(failed) > 0


@pytest.fixture
def stored(page: Page, pack: Path, tmp_path: Path, package: None) -> Path:
    del package
    run(page, pack, "Split, ai.onnx/Sqrt")
    return saved(page, tmp_path / "results.ndjson")


def test_its_results_have_the_schema_and_other_commands_read_them(stored: Path, tmp_path: Path) -> None:
    schema = json.loads((FOLDER / "base" / "schemas" / "results.json").read_text("utf-8"))
    records = [json.loads(line) for line in stored.read_text("utf-8").splitlines()]
    for record in records:
        jsonschema.validate(record, schema)
    assert (records[0]["kind"], records[-1]["kind"]) == ("header", "footer")
    assert {record["operator"].rpartition("/")[0] for record in records[1:-1]} == {"ai.onnx/Split", "ai.onnx/Sqrt"}
    report = command("report", stored)
    assert report.status == 0, report.text
    assert "ai.onnx/Split/18" in report.out
    accepted = tmp_path / "accepted.toml"
    words = ("--expectations", accepted, "--accept-new", "--accept-fewer", "--reason", "so far")
    assert command("expectations", "update", stored, *words).status in {0, 1}
    done = command("gate", stored, "--expectations", accepted)
    assert done.status == 0, done.text
    worse = stored.read_text("utf-8").replace('"verdict":"pass"', '"verdict":"wrong_value"', 1)
    (tmp_path / "worse.ndjson").write_text(worse)
    assert command("gate", tmp_path / "worse.ndjson", "--expectations", accepted).status == 1


def wrong_pack(pack: Path, out: Path, kind: str) -> Path:
    data = pack.read_bytes()
    if kind == "cut off":
        data = data[: len(data) // 2]
    if kind != "newer":
        out.write_bytes(data if kind == "cut off" else b"no pack")
        return out
    with zipfile.ZipFile(pack) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        index = {**json.loads(old.read(case_pack.INDEX)), "version": 7}
        new.writestr(case_pack.INDEX, json.dumps(index))
    return out


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [("cut off", "is not a complete pack"), ("text", "no zip directory"), ("newer", "has version 7 of the format")],
)
def test_a_wrong_pack_is_one_line(page: Page, pack: Path, tmp_path: Path, kind: str, sentence: str) -> None:
    status = run(page, wrong_pack(pack, tmp_path / "wrong.pack", kind))
    assert sentence in status
    assert "\n" not in status
    assert page.locator("#status.error").count() == 1
    assert page.is_disabled("#save")


def test_missing_files_of_the_runtime_are_one_line(page: Page, pack: Path) -> None:
    status = run(page, pack)
    assert "copy the folder dist of the npm package onnxruntime-web to runners/browser/onnxruntime-web" in status
    assert run(page, pack, "Spit") == "the pack has no operator Spit; write names such as Split or ai.onnx.ml/Scaler"


def test_a_runtime_that_hangs_or_traps_is_replaced(page: Page, server: str) -> None:
    """A worker that never answers is a timeout, and one that traps is a crash; the next case has a new worker."""
    script = """
      const kinds = { first: "hang", second: "trap", third: "answer" };
      self.onmessage = ({ data }) => {
        if (data.kind === "load") return self.postMessage({ kind: "ready", version: "1.2.3" });
        const does = kinds[data.outputs[0]];
        if (does === "trap") self.postMessage({ kind: "crash", message: "unreachable" });
        if (does === "answer") self.postMessage({ kind: "answer", outputs: [], seconds: 0 });
      };
    """
    page.route("**/worker.mjs", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    replies = page.evaluate(
        """async (address) => {
          const { Runtime } = await import(address);
          const runtime = new Runtime("wasm", 0.5);
          await runtime.start();
          const replies = [];
          for (const name of ["first", "second", "third"]) {
            replies.push(await runtime.ask({ model: new Uint8Array(), inputs: new Map(), outputs: [name] }));
          }
          runtime.close();
          return replies;
        }""",
        f"{server}/runners/browser/runtime.mjs",
    )
    assert [reply["kind"] for reply in replies] == ["timeout", "crash", "answer"]
