# SPDX-License-Identifier: Apache-2.0
"""The conformance report of execution providers: its outcomes, its schema, and reading it again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from commands import command
from onnx_conformance.base import schemas
from onnx_conformance.base.verdict import Unreadable, Verdict
from onnx_conformance.report import comparison, ep_conformance, report_data
from onnx_conformance.report.ep_conformance import OUTCOMES
from onnx_conformance.results.ep_report import VERDICTS, Outcome
from onnx_conformance.results.stream import Run, Writer, header
from refusals import refuses
from runs import SPLIT, data_of, entry, result, run_of

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.report.report_data import ReportData

pytestmark = pytest.mark.usefixtures("few_operators")

SCHEMA = schemas.read("ep-conformance")
PROVIDER = {"name": "MyEP", "onnxruntime": "1.32.0", "registration": "dynamic", "device": "GPU Mine"}
EXCLUSION = {"case": [f"{SPLIT}/excluded"], "reason": "no padding", "issue": "https://example.org/1"}
HELLO = {
    "runtime": "MyEP (onnxruntime 1.32.0)", "version": "2.0", "provider": PROVIDER, "profile": "a" * 64,
    "exclusions": [EXCLUSION],
}  # fmt: skip
ADD = {"domain": "", "type": "Add", "opset": 14}
FOREIGN = {
    "kind": "ep-conformance-report",
    "schema_version": 1,
    "suite": {"name": "onnxruntime_ep_conformance_test"},
    "environment": {},
    "complete": True,
    "providers": [
        {
            "name": "WebGpuExecutionProvider",
            "results": [
                {"id": f"ai.onnx.Add.{outcome}", "result": outcome, "operator": ADD}
                | ({"reason": "no fp16"} if outcome == "EXCLUDED" else {})
                for outcome in Outcome
            ],
        }
    ],
}
"""A report of another program, with nothing that is optional."""


def document(data: ReportData) -> Any:
    read = json.loads("".join(ep_conformance.report(data)))
    jsonschema.Draft202012Validator(SCHEMA).validate(read)
    return read


def of_every_verdict(path: Path) -> ReportData:
    results = [result(f"as_{verdict}/float16", verdict, seconds=0.5) for verdict in Verdict]
    excluded = result("excluded", Verdict.CRASH, excluded="no padding (https://example.org/1)")
    near = result("near", override="Split (float), rtol 0.001: 10 bits", operator="com.example/Mine/1")
    return report_data.read(run_of(path, *results, excluded, near, hellos={"mine": HELLO}))


def test_the_schema_has_the_outcomes_and_the_scored_verdicts() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["$defs"]["outcome"]["enum"]) == set(Outcome) == set(VERDICTS)
    listed = set(SCHEMA["$defs"]["result"]["properties"]["verdict"]["enum"])
    assert listed == {verdict for verdict, outcome in OUTCOMES.items() if outcome is not None}
    assert {verdict for verdict in Verdict if verdict.scored} <= listed


def test_every_verdict_has_its_outcome(tmp_path: Path) -> None:
    (provider,) = document(of_every_verdict(tmp_path / "r"))["providers"]
    outcomes = {item["id"]: item["result"] for item in provider["results"]}
    for verdict, outcome in OUTCOMES.items():
        assert outcomes.get(f"{SPLIT}/as_{verdict}/float16") == outcome
    by_id = {item["id"]: item for item in provider["results"]}
    assert by_id[f"{SPLIT}/excluded"]["result"] == "EXCLUDED"
    assert by_id[f"{SPLIT}/excluded"]["reason"] == "no padding (https://example.org/1)"
    assert by_id[f"{SPLIT}/as_pass/float16"] == {
        "id": f"{SPLIT}/as_pass/float16", "operator": {"domain": "", "type": "Split", "opset": 18}, "result": "PASS",
        "verdict": "pass", "expects": "values", "duration_seconds": 0.5, "data_type": "float16",
    }  # fmt: skip


def test_the_report_describes_the_provider_and_counts_its_outcomes(tmp_path: Path) -> None:
    read = document(of_every_verdict(tmp_path / "r"))
    (provider,) = read["providers"]
    assert {key: provider[key] for key in PROVIDER} == PROVIDER
    assert (provider["version"], provider["profile"], provider["exclusions"]) == ("2.0", "a" * 64, [EXCLUSION])
    summary = provider["summary"]
    assert summary["results"] == {"PASS": 2, "UNSUPPORTED": 1, "FAIL": 12, "EXCLUDED": 1, "NOT_RUN": 1}
    assert summary["not_scored"] == {"knows_less": 1, "lenient": 1, "unspecified": 1}
    assert summary["passed_within_an_override"] == 1
    assert summary["by_domain"]["com.example"]["PASS"] == 1
    assert summary["by_operator"]["ai.onnx/Split"]["FAIL"] == 12
    assert list(summary["by_opset"]) == ["1", "18"]
    assert sum(summary["by_data_type"]["float16"].values()) == len(Verdict) - 3


def test_a_failure_that_the_expectations_accept_is_excluded(tmp_path: Path) -> None:
    data = data_of(tmp_path / "r", result("known", Verdict.CRASH), expect=entry("*/known", "crash", "by zero"))
    ((item,),) = (provider["results"] for provider in document(data)["providers"])
    assert (item["result"], item["verdict"]) == ("EXCLUDED", "crash")
    assert "by zero" in item["reason"]


def test_a_case_that_cannot_be_read_was_not_run(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "r")
    writer.open(header({"name": "folder", "digest": "0"}, {"mine": HELLO}, {}))
    writer.add_unreadable(Unreadable("folder/a", "no model"))
    writer.finish(1)
    writer.close()
    ((item,),) = (provider["results"] for provider in document(report_data.read(Run(tmp_path / "r")))["providers"])
    assert item == {"id": "folder/a", "result": "NOT_RUN", "diagnostics": "no model"}


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        (lambda read: read, {"schema_version": 2}),
        (lambda read: read, {"providers": [{"results": []}]}),
        (lambda read: read["providers"][0]["results"][0], {"result": "MAYBE"}),
        (lambda read: read["providers"][0]["results"][0], {"verdict": "perhaps"}),
        (lambda read: read["providers"][0]["results"][0], {"result": "EXCLUDED"}),
        (lambda read: read["providers"][0]["summary"]["results"], {"PASS": -1}),
    ],
)
def test_the_schema_rejects_a_wrong_member(part: Any, wrong: dict[str, Any], tmp_path: Path) -> None:
    read = document(of_every_verdict(tmp_path / "r"))
    part(read).update(wrong)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(read)
    (tmp_path / "r.json").write_text(json.dumps(read), encoding="utf-8")
    with refuses("ep-report-invalid", "r.json"):
        Run(tmp_path / "r.json")


# Reading it again


def test_a_report_that_is_read_again_has_the_same_results(tmp_path: Path) -> None:
    data = of_every_verdict(tmp_path / "r")
    path = tmp_path / "r.json"
    path.write_text("".join(ep_conformance.report(data)), encoding="utf-8")
    read = Run(path)
    assert read.complete
    changes = comparison.compare_runs(data.run, read)
    scored = [verdict for verdict, outcome in OUTCOMES.items() if outcome is not None]
    assert (changes.broke, changes.fixed, changes.changed, changes.came) == ([], [], [], [])
    assert (changes.same, len(changes.went)) == (len(scored) + 2, len(Verdict) - len(scored))
    again = json.loads("".join(ep_conformance.report(report_data.read(read))))
    first = json.loads(path.read_text(encoding="utf-8"))
    for item in (*first["providers"], *again["providers"]):
        del item["summary"]["not_scored"]
    assert again == first


def test_a_run_that_was_cut_off_stays_so(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text("".join(ep_conformance.report(data_of(tmp_path / "r", result(), finish=False))), encoding="utf-8")
    assert not Run(path).complete


def test_a_report_of_another_program_can_be_read(tmp_path: Path) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(FOREIGN)
    path = tmp_path / "foreign.json"
    path.write_text(json.dumps(FOREIGN, indent=2), encoding="utf-8")
    read = {item.case.rpartition(".")[2]: item for item in Run(path).results()}
    assert {name: item.verdict for name, item in read.items()} == {str(key): value for key, value in VERDICTS.items()}
    assert {item.operator for item in read.values()} == {"ai.onnx/Add/14"}
    assert (read["EXCLUDED"].excluded, read["FAIL"].excluded) == ("no fp16", "")
    done = command("report", path, "--format", "json")
    assert done.status == 0, done.text
    assert json.loads(done.out)["backends"]["WebGpuExecutionProvider"]["excluded"] == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"kind": "report"}', "{}\n{}\n", "[" * 100_000])
def test_another_file_is_no_results_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    with refuses("header-missing", "r.json"):
        Run(tmp_path / "r.json")


def test_a_report_is_not_resumed(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    text = "".join(ep_conformance.report(data_of(tmp_path / "r", result(), finish=False)))
    path.write_text(text, encoding="utf-8")
    done = command("run", "--backend", "oracle", "--op", "Split/18", "--results", path, "--resume")
    assert done.status == 2, done.text
    assert "[report-to-resume]" in done.err, done.text
    assert path.read_text(encoding="utf-8") == text
