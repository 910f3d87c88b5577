# SPDX-License-Identifier: Apache-2.0
"""The static web site in a real browser, opened from disk, with any text of a runtime."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import onnx
import pytest
from onnx import TensorProto, helper

from onnx_conformance.base.verdict import Verdict
from onnx_conformance.findings import findings_file
from onnx_conformance.report.site import site
from onnx_conformance.report.site.folder import SiteFolder
from onnx_conformance.report.site.results import Results
from onnx_conformance.results.stream import Run
from onnx_conformance.results.summary import rate
from site_runs import HOSTILE, finding, results_of, verdict_of, write, write_findings
from windows import load, settle

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from onnx_conformance.case.case import Case
    from site_runs import Written
    from windows import Windows

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
PAGES = (
    "index.html", "operators.html", "findings.html", "operator/Split.html", "runtime/alpha.html", "runtime/gamma.html",
    "tool/conv.html", "tool/check.html", "finding.html#conv-crash",
    "finding.html#alpha-split-1", "finding.html#beta-crash", "case.html#ai.onnx/Split/18/uneven",
)  # fmt: skip


EVERY = ("Split/13", "Split/18", "ReduceSum/13")


@pytest.fixture
def opened(open_page: Callable[..., Page], written: Written) -> Callable[..., Page]:
    return lambda page="index.html", **options: open_page(written.folder, f"/{page}", **options)


def names(tab: Page) -> list[str]:
    return tab.locator("#ranks tbody th > a").all_inner_texts()


def scored(name: str, cases: list[Case], chosen: Callable[[Case], bool]) -> tuple[int, int]:
    """Return passed and specified of a runtime, of the chosen ones among the common cases."""
    verdicts = [verdict_of(name, number) for number, case in enumerate(cases[:-1]) if chosen(case)]
    return sum(verdict is Verdict.PASS for verdict in verdicts), len(verdicts)


BY_FRAGMENT = ("index", "findings", "finding", "case")
"""Pages whose script shows the thing that the fragment of the address names."""
EVERYTHING_OPEN = """async () => {
  document.querySelectorAll("details > summary").forEach((one) => one.click());
  const waiting = () => [...document.querySelectorAll("details.sentence")].some((one) => one.children.length < 2);
  for (let round = 0; waiting() && round < 2000; round++) await new Promise((done) => setTimeout(done, 5));
  if (waiting()) throw new Error("sentences stay empty");
  return {
    alerts: document.querySelectorAll(".empty, .cut[role=alert]").length,
    foreign: document.querySelectorAll("main img, main iframe").length,
    text: document.getElementById("main").innerText.length,
    width: document.documentElement.scrollWidth,
    links: [...document.links].map((one) => one.href),
    ids: [...document.querySelectorAll("[id]")].map((one) => one.id),
  };
}"""
"""Opens every box of a page, and returns facts about it."""


@pytest.fixture(scope="module")
def visited(written: Written, windows: Windows) -> dict[str, dict[str, Any]]:
    """The facts about every page that links lead to, by address; the window is as wide as a phone."""
    tab = windows.open(written.folder, "/index.html", viewport={"width": 390, "height": 100})
    seen: dict[str, dict[str, Any]] = {}
    waiting = [f"{written.folder.as_uri()}/{page}" for page in PAGES]
    while waiting:
        address = waiting.pop()
        if not address.partition("#")[0].endswith(tuple(f"/{name}.html" for name in BY_FRAGMENT)):
            address = address.partition("#")[0]
        if address in seen:
            continue
        load(tab, address)
        seen[address] = tab.evaluate(EVERYTHING_OPEN)
        inside = [
            link
            for link in seen[address]["links"]
            if link.startswith("file:") and not link.endswith(("#main", ".json"))
        ]
        cases_seen = sum("case.html" in link for link in seen)
        waiting += [link for link in dict.fromkeys(inside) if "case.html" not in link or cases_seen < 6]
    assert not windows.looked(), "a page logs, throws, requests or runs nothing that it should not"
    return seen


@pytest.mark.slow
def test_every_page_opens_from_disk_and_asks_the_network_for_nothing(visited: dict[str, dict[str, Any]]) -> None:
    names = {address.rpartition("/out/")[2] for address in visited}
    assert set(PAGES) <= names
    assert len(names) > 15
    bad = {
        address: facts
        for address, facts in visited.items()
        if facts["alerts"] or facts["foreign"] or facts["text"] <= 100
    }
    assert not bad


@pytest.mark.slow
def test_every_link_leads_somewhere(visited: dict[str, dict[str, Any]]) -> None:
    links = {link for facts in visited.values() for link in facts["links"]}
    assert {link.partition("/")[0] for link in links} == {"file:", "https:"}
    lost = set()
    for link in links:
        file, _, place = link.partition("#")
        by_fragment = file.endswith(tuple(f"/{name}.html" for name in BY_FRAGMENT))
        if link.startswith("file:") and place and not by_fragment and place not in visited[file]["ids"]:
            lost.add(link)
        if link.endswith(".json") and not Path(unquote(link.removeprefix("file://"))).is_file():
            lost.add(link)
    assert not lost


@pytest.mark.slow
def test_no_page_is_wider_than_a_phone(visited: dict[str, dict[str, Any]]) -> None:
    assert not {address: facts["width"] for address, facts in visited.items() if facts["width"] > 390}


@pytest.mark.slow
def test_names_come_first_in_the_search(opened: Any) -> None:
    tab = opened("operator/ReduceSum.html")
    tab.keyboard.press("/")
    tab.keyboard.type("split")
    tab.locator("#hits a").first.wait_for()
    hits = tab.locator("#hits .hit").all_inner_texts()
    kinds = [text.split(",")[0] for text in tab.locator("#hits small").all_inner_texts()]
    assert hits[:2] == ["Split", "SplitToSequence"]
    assert kinds == sorted(kinds, key=["operator", "runtime", "finding", "case"].index)
    assert {"operator", "finding", "case"} <= set(kinds)
    assert all(hit.startswith("ai.onnx/Split/") for hit, kind in zip(hits, kinds, strict=True) if kind == "case")
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/operator/SplitToSequence.html")
    settle(tab)


@pytest.mark.slow
def test_tools_are_in_the_search_and_their_findings_lead_to_them(opened: Any) -> None:
    tab = opened("index.html")
    tab.fill("#search", "conv[21]")
    hit = tab.locator("#hits a").first
    hit.wait_for()
    assert "tool that changes models" in hit.inner_text()
    assert hit.get_attribute("href") == "tool/conv.html#conv.21"
    tab = opened("finding.html#conv-crash")
    assert tab.locator("article .facts a").get_attribute("href") == "tool/conv.html#conv.21"


@pytest.mark.slow
def test_a_name_that_begins_with_the_words_comes_before_shorter_ones_that_have_them(opened: Any) -> None:
    tab = opened()
    tab.fill("#search", "a")
    tab.locator("#hits a").first.wait_for()
    hits = tab.locator("#hits .hit").all_inner_texts()
    assert hits[0] == "alpha 2.0"
    assert "gamma 9" in hits


@pytest.mark.slow
def test_the_search_says_when_nothing_is_called_so(opened: Any) -> None:
    tab = opened()
    tab.fill("#search", "<b>nothing</b>")
    tab.locator("#hits .dim").wait_for()
    assert "Nothing matches <b>nothing</b>." in tab.locator("#hits").inner_text()
    tab.keyboard.press("Escape")
    assert not tab.locator("#hits").is_visible()


@pytest.mark.slow
def test_the_filter_ranks_on_the_cases_of_the_chosen_operators(cases: list[Case], opened: Any) -> None:
    tab = opened()
    before = tab.locator("#ranks").inner_text()
    tab.fill("#f-ops", "Split, Nothing")
    tab.locator("#chosen", has_text="Not in this suite: Nothing.").wait_for()
    split = lambda case: case.operator.startswith("ai.onnx/Split/")  # noqa: E731 - said in three places
    assert tab.locator("#heat tbody th").all_inner_texts() == ["Split"]
    rows = dict(zip(names(tab), tab.locator("#ranks tbody tr").all_inner_texts(), strict=True))
    assert set(rows) == {"alpha", "beta"}
    for name, text in rows.items():
        passed, whole = scored(name, cases, split)
        assert f"{passed} of {whole}" in text
        assert rate(passed, whole) in text
    tab.click("#clear")
    tab.locator("#chosen", has_text="sent nowhere").wait_for()
    assert tab.locator("#ranks").inner_text() == before
    assert "#" not in tab.url


@pytest.mark.slow
@pytest.mark.parametrize(("opset", "in_force"), [("17", EVERY[::2]), ("18", EVERY[1:]), ("13-99", EVERY)])
def test_a_link_sets_operators_and_opset(opset: str, in_force: tuple[str, ...], cases: list[Case], opened: Any) -> None:
    tab = opened(f"index.html#ops=Split,ReduceSum&opset={opset}")
    tab.locator("#heat tbody th", has_text="ReduceSum").wait_for()
    passed, whole = scored("alpha", cases, lambda case: case.operator.removeprefix("ai.onnx/") in in_force)
    assert f"{passed} of {whole}" in tab.locator("#ranks tbody tr", has_text="alpha").inner_text()
    assert tab.locator("#f-ops").input_value() == "Split,ReduceSum"
    assert tab.locator("#f-to").input_value() == opset[-2:]


@pytest.mark.slow
def test_the_filter_of_types_leaves_the_cases_of_that_type(cases: list[Case], opened: Any) -> None:
    types = {case.element_type for case in cases} - {""}
    chosen = min(types)
    tab = opened()
    tab.select_option("#f-type", chosen)
    passed, whole = scored("beta", cases, lambda case: case.element_type == chosen)
    assert whole
    tab.locator("#ranks tbody tr", has_text="beta").get_by_text(
        f"{passed} of {whole}" if whole >= 10 else f"{passed}/{whole}"
    ).first.wait_for()


def model_with_a_subgraph_and_a_function(path: Path) -> Path:
    """Write a model: Split is in a branch only, ReduceSum in a function, and one operator is the function itself."""
    value = helper.make_tensor_value_info
    split = helper.make_node("Split", ["x"], ["a", "b"], num_outputs=2)
    branch = helper.make_graph([split], "branch", [], [value("a", TensorProto.FLOAT, [1])])
    nodes = [
        helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch),
        helper.make_node("Mine", ["y"], ["z"], domain="mine"),
    ]
    graph = helper.make_graph(
        nodes, "main", [value("c", TensorProto.BOOL, []), value("x", TensorProto.FLOAT, [2])],
        [value("z", TensorProto.FLOAT, [])],
        [helper.make_tensor("w", TensorProto.FLOAT, [4], [1, 2, 3, 4])],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("mine", 1)]
    body = [helper.make_node("ReduceSum", ["i"], ["o"])]
    function = helper.make_function("mine", "Mine", ["i"], ["o"], body, opsets[:1])
    onnx.save(helper.make_model(graph, functions=[function], opset_imports=opsets), path)
    return path


@pytest.mark.slow
def test_a_model_file_sets_its_operators_and_opset(tmp_path: Path, opened: Any) -> None:
    tab = opened()
    tab.set_input_files("#f-model", model_with_a_subgraph_and_a_function(tmp_path / "m.onnx"))
    tab.locator("#chosen", has_text="Not in this suite: If.").wait_for()
    assert tab.locator("#heat tbody th").all_inner_texts() == ["ReduceSum", "Split"]
    assert (tab.locator("#f-from").input_value(), tab.locator("#f-to").input_value()) == ("18", "18")


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"no model at all", b"\x3a\xff\xff\xff\xff\x0f", json.dumps({}).encode()])
def test_a_file_that_is_no_model_is_one_sentence(content: bytes, tmp_path: Path, opened: Any) -> None:
    path = tmp_path / "<b>m.onnx"
    path.write_bytes(content)
    tab = opened()
    before = tab.locator("#ranks").inner_text()
    tab.set_input_files("#f-model", path)
    tab.locator("#chosen", has_text="<b>m.onnx cannot be read as an ONNX model").wait_for()
    assert tab.locator("#ranks").inner_text() == before


@pytest.mark.slow
def test_filters_fold_on_a_phone_and_no_page_is_wider_than_it(opened: Any) -> None:
    tab = opened(**PHONE)
    assert not tab.locator("#narrow").is_visible()
    tab.tap("#fold")
    assert tab.locator("#narrow").is_visible()
    assert tab.get_attribute("#fold", "aria-expanded") == "true"
    wide = opened()
    assert wide.locator("#narrow").is_visible()
    assert not wide.locator("#fold").is_visible()


FRAMES = """() => [...document.querySelectorAll(".frame")].map((frame) => {
  const table = frame.querySelector("table");
  const heads = [...table.tHead.rows[0].cells];
  return {
    rest: frame.scrollWidth - frame.clientWidth,
    classes: frame.className.split(" "),
    hint: frame.previousElementSibling?.matches(".swipe") && frame.previousElementSibling.checkVisibility(),
    first: table.tBodies[0].rows[0].cells[0].getBoundingClientRect().left,
    columns: heads.length,
    cut: heads.filter((head) => head.scrollWidth > head.clientWidth + 1).length,
  };
})"""
"""Facts about the frames of a page: how far they scroll, their signs, and the heads of their columns."""
RUNTIMES = (
    "emx_onnx_cgen", "iree", "jaxonnxruntime", "onnx2torch", "onnxruntime", "onnxruntime_node", "onnxruntime_web",
    "opencv", "openvino", "tinygrad", "tract", "tvm",
)  # fmt: skip


@pytest.fixture(scope="module")
def wide(cases: list[Case], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of twelve runtimes and the reference evaluator, on few cases."""
    few = [case for case in cases if "SplitToSequence" in case.id]
    hellos = {name: {"runtime": name, "version": "1.30.0"} for name in RUNTIMES}
    hellos["onnx_reference"] = {"runtime": "onnx.reference", "version": "1.23.2"}
    folder = tmp_path_factory.mktemp("wide")
    own = [
        dataclasses.replace(item, backend=name)
        for number, name in enumerate(hellos)
        for item in results_of(("gamma", "beta", "alpha")[number % 3], few)
    ]
    site.write(SiteFolder(folder), Results([Run(write(folder / "r.ndjson", own, hellos))]))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", ["index.html", "operators.html", "operator/SplitToSequence.html"])
def test_thirteen_runtimes_fit_into_1280_pixels_and_scroll_with_a_sign_on_a_phone(
    page: str, wide: Path, open_page: Callable[..., Page]
) -> None:
    tab = open_page(wide, f"/{page}")
    tab.wait_for_timeout(50)
    matrix = tab.evaluate(FRAMES)[-1]
    assert (matrix["columns"], matrix["rest"], matrix["cut"]) == (14, 0, 0)
    assert not {"more", "scrolled"} & set(matrix["classes"])
    tab.set_viewport_size({"width": 390, "height": 800})
    tab.locator(".frame.more").first.wait_for(state="attached")
    narrow = tab.evaluate(FRAMES)[-1]
    assert narrow["rest"] > 100
    assert tab.locator(".swipe", has_text="scroll it sideways to see all 13 columns").is_visible()
    assert narrow["hint"] or page == "operators.html", "there the sentence is above all tables"
    tab.locator(".frame").last.evaluate("(frame) => { frame.scrollLeft = 10_000; }")
    tab.locator(".frame.scrolled:not(.more)").wait_for(state="attached")
    assert abs(tab.evaluate(FRAMES)[-1]["first"] - narrow["first"]) <= 2, "the first column stays"


@pytest.mark.slow
def test_the_sentence_on_scrolling_is_only_there_if_the_table_scrolls(opened: Any) -> None:
    tab = opened("operator/Split.html")
    tab.wait_for_timeout(50)
    assert not tab.locator(".swipe:visible").count()


@pytest.mark.slow
def test_the_filter_keeps_the_evaluator_in_its_own_table(wide: Path, open_page: Callable[..., Page]) -> None:
    tab = open_page(wide, "/index.html#opset=18")
    tab.locator("#chosen", has_text="of the common cases").wait_for()
    assert sorted(names(tab)) == sorted(RUNTIMES)
    row = tab.locator("#compared tbody tr")
    assert row.locator("th > a").all_inner_texts() == ["onnx_reference"]
    assert row.locator(".place").inner_text() == ""
    classes = "(cells) => cells.map((cell) => [cell.className, cell.innerText])"
    filtered = tab.locator("#heat td").evaluate_all(classes)
    tab.click("#clear")
    tab.locator("#chosen", has_text="sent nowhere").wait_for()
    assert tab.locator("#heat td").evaluate_all(classes) == filtered, "both compute the same grades and numbers"
    assert len(filtered) == 13


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_follow_the_system_and_the_button(scheme: str, opened: Any) -> None:
    tab = opened(color_scheme=scheme)
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    by_system = tab.evaluate(ground)
    tab.click("#theme")
    light = tab.evaluate(ground)
    tab.click("#theme")
    dark = tab.evaluate(ground)
    assert light != dark
    assert by_system == (light if scheme == "light" else dark)
    tab.goto(tab.url.replace("index.html", "operators.html"))
    settle(tab)
    assert tab.evaluate(ground) == dark, "the choice holds on the next page"


@pytest.mark.slow
def test_a_case_shows_what_the_stream_says(written: Written, opened: Any) -> None:
    case = next(iter(written.results.failing()))
    tab = opened(f"case.html#{case}")
    text = tab.locator("article").inner_text()
    assert case in text
    assert "wrong value" in text or "crash" in text
    assert "<script>alert(1)</script>" in text
    assert written.cases[case].operator.split("/")[1] in tab.locator("#model").inner_text()
    tab.locator("details.scripts summary").first.click()
    tab.get_by_role("button", name="Copy script").first.click()
    assert "outputs = run(model, inputs)" in tab.evaluate("navigator.clipboard.readText()")
    tab.keyboard.press("n")
    tab.wait_for_function("(before) => document.getElementById('case-title').textContent !== before", arg=case)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", ["case.html#ai.onnx/Nothing/1/x", "case.html#%E0%A4%A", "finding.html#x", "finding.html"]
)
def test_addresses_that_mean_nothing_do_no_harm(page: str, opened: Any) -> None:
    assert "There is no" in opened(page).locator(".empty").inner_text()


@pytest.mark.slow
def test_a_finding_shows_everything_and_its_script_can_be_had(opened: Any) -> None:
    tab = opened("finding.html#alpha-split-1")
    text = tab.locator("article").inner_text()
    for part in (
        "Finding 1",
        "wrong value",
        "a must",
        "13, 18",
        "axis=1",
        "3 cases",
        "Expected",
        "Actual (alpha)",
        "beta 1",
    ):
        assert part in text, part
    tab.get_by_role("button", name="Copy script").click()
    tab.locator("[role=status]", has_text="copied").wait_for()
    assert tab.evaluate("navigator.clipboard.readText()").startswith("print(")
    with tab.expect_download() as download:
        tab.click("#download")
    assert download.value.suggested_filename == "alpha-split-1.py"


@pytest.mark.slow
def test_a_finding_of_a_tool_shows_the_model_that_came(
    open_page: Callable[..., Page], cases: list[Case], tmp_path: Path
) -> None:
    made, nothing = {"made": f"model that came {HOSTILE}"}, {"given": {}}
    listed = [
        finding(1, id="made", example={**finding()["example"], **made, "given": {"a": "float[1] [9]"}}),
        finding(2, id="invalid", kind="invalid_model", example={**finding()["example"], **made, **nothing}),
        finding(3, id="refused", kind="refused", example={**finding()["example"], **nothing}),
        finding(4, id="taken", kind="accepted_invalid", example={**finding()["example"], **nothing}),
    ]
    run = write(tmp_path / "r.ndjson", results_of("alpha", cases[:1]), {"alpha": {}})
    found = findings_file.read(write_findings(tmp_path / "findings", listed)).findings
    site.write(SiteFolder(tmp_path / "out"), Results([Run(run)]), found)
    shown = {}
    tab = open_page(tmp_path / "out", "/finding.html#made")
    for number, name in enumerate(("made", "invalid", "refused", "taken"), 1):
        tab.evaluate("(name) => { location.hash = name; }", name)
        tab.locator("#finding-title", has_text=f"Finding {number} ").wait_for()
        text = tab.locator("article .pairs").inner_text().rpartition("Actual (alpha)")[2]
        shown[name] = ["model that came" in text, *(word in text for word in WORDS)]
    assert shown == {
        "made": [True, True, True, False, False],
        "invalid": [True, False, False, False, False],
        "refused": [False, False, False, True, False],
        "taken": [False, False, False, False, True],
    }


WORDS = ("which evaluates to", "float[1] [9]", "no answer", "accepted")
"""The parts of a page below "Actual"."""


@pytest.mark.slow
def test_a_case_without_a_page_is_no_link(opened: Any) -> None:
    cases = opened("finding.html#alpha-fixed").locator("ul.plain li.id")
    assert cases.all_inner_texts() == ["ai.onnx/Split/18/none"]
    assert cases.locator("a").count() == 0


@pytest.mark.slow
def test_the_list_of_findings_can_be_narrowed(opened: Any) -> None:
    tab = opened("findings.html#kind=crash")
    assert tab.locator(".findings li").count() == 2
    tab.select_option("#f-runtime", "conv[21]")
    assert tab.locator(".findings li a").all_inner_texts() == ["Crash of conv"]
    tab.select_option("#f-runtime", "")
    tab.select_option("#f-kind", "")
    titles = tab.locator(".findings li a").all_inner_texts()
    assert titles[-1] == "Apart of alpha", "those that do not count are last"
    assert len(titles) == 4, "one finding for each cause"
    tab.check("#f-every")
    assert tab.locator(".findings li").count() == 5
    tab.select_option("#f-state", "fixed")
    assert tab.locator(".findings li").count() == 1
    tab.select_option("#f-state", "")
    tab.fill("#f-text", "crash CONV")
    assert tab.locator(".findings li a").all_inner_texts() == ["Crash of conv"]
    assert tab.evaluate("location.hash") == "#text=crash%20CONV&every=1"
    tab.fill("#f-text", "")
    titles = tab.locator("#shown h2").all_inner_texts()
    assert (len(titles), titles[-1].partition(":")[0]) == (2, "Not counted"), titles
    assert tab.locator("#f-nature option").count() > 1
    assert tab.locator("#f-known option").all_inner_texts() == ["any", "no"]


@pytest.mark.slow
def test_sentences_have_their_cases_with_letters(written: Written, opened: Any) -> None:
    tab = opened("operator/Split.html")
    whole = tab.locator("details.sentence").count()
    assert whole > 3
    tab.locator("details.sentence summary").first.click()
    row = tab.locator("table.letters tbody tr").first
    row.wait_for()
    assert row.locator(".badge").count() == len(written.results.tested)
    tab.check("#only")
    assert 0 < tab.locator("details.sentence").count() <= whole
    row = tab.locator("details.sentence summary").first
    assert "failed by" in row.inner_text()


@pytest.mark.slow
def test_the_page_can_be_walked_by_keyboard_alone(opened: Any) -> None:
    tab = opened()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.id") == "skip"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "main"
    tab.evaluate(
        """() => {
          window.focused = [];
          document.addEventListener("focusin", ({ target }) => focused.push(target.id || target.textContent));
        }"""
    )
    wanted = {"f-ops", "f-model", "f-from", "f-to", "f-type", "clear", "alpha", "beta"}
    for _ in range(6):
        for _ in range(10):
            tab.keyboard.press("Tab")
        if wanted <= set(tab.evaluate("focused")):
            break
    else:
        pytest.fail(f"{wanted - set(tab.evaluate('focused'))} cannot be reached")


@pytest.mark.slow
def test_without_javascript_the_front_page_has_its_tables(written: Written, opened: Any) -> None:
    tab = opened(ready=False, java_script_enabled=False)
    assert names(tab) == ["alpha", "beta"]
    assert tab.locator("#heat tbody td").count() >= 2 * len(written.results.families)


@pytest.mark.slow
def test_an_escape_that_failed_would_run_nothing(windows: Windows, written: Written, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(written.folder, copy)
    text = (copy / "index.html").read_text()
    broken = text.replace("<main ", '<img src=x onerror="window.ran = 1"><script>window.ran = 2</script><main ', 1)
    assert broken != text
    (copy / "index.html").write_text(broken)
    tab = windows.open(copy, "/index.html")
    assert tab.evaluate("window.ran") is None
    violated = {item.split()[1] for item in windows.looked() if item.startswith("violation")}
    assert violated == {"script-src-elem", "script-src-attr", "img-src"}, "a test that opens such a page fails"
    with pytest.raises(Exception, match="TrustedHTML"):
        tab.evaluate("() => { document.body.innerHTML = '<b>x</b>'; }")
    with pytest.raises(Exception, match="TrustedScriptURL"):
        tab.evaluate("() => { document.createElement('script').src = 'data/front.js'; }")
    windows.looked()


@pytest.mark.slow
def test_missing_data_is_said(windows: Windows, written: Written, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(written.folder, copy)
    (copy / "data/site.js").unlink()
    tab = windows.open(copy, "/case.html#ai.onnx/Split/18/uneven", ready=False)
    tab.locator("[role=alert]", has_text="data/site.js is missing").wait_for()
    assert [item.split()[0] for item in windows.looked()] == ["failed", "console", "console"]
