# SPDX-License-Identifier: Apache-2.0
"""A folder of published reports, and its index."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.analysis import support_file
from onnx_conformance.analysis.support import Counts
from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.report import index, report_data
from onnx_conformance.report.backend_kinds import KINDS
from onnx_conformance.suites.generated import Generated
from runs import result, run_of
from site_runs import finding, write_findings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("few_operators")

PLAIN = ("even", "uneven")
HOSTILE = "ev|il](x) <script>alert(1)</script> @everyone `code`"


def cells(text: str) -> list[list[str]]:
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


@pytest.mark.slow
def test_the_site_and_an_index_are_written(tmp_path: Path) -> None:
    run_of(tmp_path / "generated.ndjson", result(), result("uneven", Verdict.CRASH, clauses=("A sentence.",)))
    run_of(tmp_path / "official.ndjson", result(), result("other", Verdict.UNSUPPORTED), finish=False, suite="official")
    folder = tmp_path / "reports"
    listed = [finding(1, backend="mine"), finding(2, backend="mine", state="fixed")]
    write_findings(folder / "findings", listed, [finding(3, backend="mine")], {"mine": {"version": "1.0"}})
    (folder / "findings" / "README.md").write_text("")
    done = command("publish", tmp_path / "generated.ndjson", tmp_path / "official.ndjson", "--folder", folder)
    assert done.status == 0, done.text
    assert json.loads((folder / "badges" / "generated.json").read_text())["schemaVersion"] == 1
    text = (folder / "README.md").read_text()
    links = set(re.findall(r"\]\(([^)]*)\)", text))
    assert links == {"findings/findings.json", "badges/generated.json", "badges/official.json"}
    assert all((folder / link).is_file() for link in links), "no link leads nowhere"
    assert "contains 1 distinct faults" in text
    heads, _, first, second = cells(text)
    assert heads[:5] == ["suite", "backend", "findings", "passed of specified", "passed of attempted"]
    assert first[:6] == ["all 2 cases of the suite generated", "mine 1.0", "1", "1 of 2", "1 of 2", "1"]
    assert second[:5] == ["all 2 cases of the suite official, cut off", "mine 1.0", "", "1 of 2", "1 of 1"]
    assert second[5:11] == ["0", "0", "0", "0", "0", "1"]
    assert "Finding 1" in (folder / "site" / "runtime" / "mine.html").read_text()
    run_of(tmp_path / "older.ndjson", result(backend="mine==0.9"), hellos={"mine==0.9": {"version": "0.9"}})
    older = command("publish", tmp_path / "generated.ndjson", tmp_path / "older.ndjson", "--folder", folder)
    assert older.status == 0, older.text
    assert [row[1:3] for row in cells((folder / "README.md").read_text())[2:]] == [["mine 1.0", "1"], ["mine==0.9", ""]]
    again = command("publish", tmp_path / "generated.ndjson", "--folder", folder)
    assert again.status == 0, again.text
    assert "official" not in (folder / "README.md").read_text()


@pytest.mark.slow
def test_what_runtimes_support_is_written(tmp_path: Path) -> None:
    run_of(tmp_path / "a.ndjson", *(result(name) for name in PLAIN), digest=Generated().digest())
    crashes = [result(name, Verdict.CRASH, backend="other") for name in PLAIN]
    run_of(tmp_path / "b.ndjson", *crashes, backends=("other",), digest=Generated().digest())
    run_of(
        tmp_path / "slim.ndjson", result(backend="slim"), hellos={"slim": {"subject": "transformer"}}, suite="official"
    )
    folder = tmp_path / "reports"
    done = command("publish", *(tmp_path / f"{name}.ndjson" for name in ("a", "b", "slim")), "--folder", folder)
    assert done.status == 0, done.text
    mine, other = support_file.read(folder / support_file.FILE)
    assert mine.of("ai.onnx/Split", 18).versions == {18: Counts(passed=2)}
    assert other.of("ai.onnx/Split", 18).versions == {18: Counts(failed=2)}
    assert "[support.json](support.json)" in (folder / "README.md").read_text()
    run_of(tmp_path / "old.ndjson", result())
    done = command("publish", tmp_path / "old.ndjson", "--folder", tmp_path / "others")
    assert done.status == 0, done.text
    assert "support.json is not written" in done.text
    assert not (tmp_path / "others" / support_file.FILE).exists()


def test_the_index_names_the_overrides_of_a_run(tmp_path: Path) -> None:
    near = result("near", override="Split (float), rtol 0.001: 10 bits")
    text = "".join(index.report([(report_data.read(run_of(tmp_path / "results", result(), near)), "badge.json")]))
    assert "\n- mine: passed within an override: 1 (Split (float), rtol 0.001: 10 bits)\n" in text


def test_nothing_of_a_run_is_markup_in_the_index(tmp_path: Path) -> None:
    run = run_of(tmp_path / "results", result(backend=HOSTILE), backends=(HOSTILE,))
    run.header["suite"] = {"name": HOSTILE, "digest": HOSTILE}
    text = "".join(index.report([(report_data.read(run), "badge.json")]))
    assert "<script" not in text
    assert "@everyone" not in text
    assert {len(row) for row in cells(text)} == {len(index.HEADS) + len(KINDS[Subject.RUNTIME].counted) + 2}


def test_reports_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for path in (tmp_path / "a" / "x.ndjson", tmp_path / "x.ndjson"):
        run_of(path, result())
    done = command("publish", tmp_path / "a" / "x.ndjson", tmp_path / "x.ndjson", "--folder", tmp_path / "reports")
    assert done.status == 2, done.text
    assert "[badges-with-one-name]" in done.err, done.text
    assert not (tmp_path / "reports").exists()
