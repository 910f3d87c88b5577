# SPDX-License-Identifier: Apache-2.0
"""The published schemas describe the files that the code reads and writes, and no others."""

from __future__ import annotations

import copy
import datetime as dt
import json
import re
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from commands import command
from onnx_conformance.backends import protocol
from onnx_conformance.base import schemas
from onnx_conformance.base.package import BACKENDS
from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case.case import Outcome
from onnx_conformance.declare.clause import Force
from onnx_conformance.findings import findings_file
from onnx_conformance.gate import expectations
from onnx_conformance.judging import bounds, error_limit, exclusions, overrides
from onnx_conformance.processes import hello
from onnx_conformance.report import as_json, verification
from onnx_conformance.results import ep_report, stream
from onnx_conformance.suites import case_json, case_pack, claims
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import check_selection
from onnx_conformance.suites.selection import Selection
from onnx_conformance.verification.accuracy import measured as accuracy
from paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSIONS = {
    "accuracy": accuracy.FORMAT_VERSION,
    "case": case_json.FORMAT,
    "ep-conformance": ep_report.VERSION,
    "findings": findings_file.FORMAT,
    "hello": protocol.VERSION,
    "pack-index": case_pack.VERSION,
    "packed-case": case_json.FORMAT,
    "report": as_json.FORMAT,
    "results": stream.FORMAT,
    "verification": verification.FORMAT_VERSION,
    "expectations": 1,
    "provider": 1,
}
"""The versions that the code writes. People write the last two, which have none."""


def valid(name: str, data: object) -> bool:
    return next(faults(name, data), None) is None


def faults(name: str, data: object) -> Iterator[str]:
    """Yield the faults of some data by a schema."""
    checker = jsonschema.Draft202012Validator(schemas.read(name), format_checker=jsonschema.FormatChecker())
    yield from (f"{error.json_path}: {error.message[:300]}" for error in checker.iter_errors(data))


def of_toml(text: str) -> Any:
    """Return the content of a TOML file as JSON has it."""
    return json.loads(json.dumps(tomllib.loads(text), default=dt.date.isoformat))


@pytest.mark.parametrize("name", schemas.names())
def test_each_schema_is_one_and_names_its_version(name: str) -> None:
    schema = schemas.read(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:onnx-conformance:schema:{name}:{VERSIONS[name]}"
    assert schema["title"]
    assert schema["description"]


def test_the_command_prints_each() -> None:
    listed = command("schema")
    assert [row.split()[0] for row in listed.out.splitlines()[2:]] == schemas.names()
    assert json.loads(command("schema", "findings").out) == schemas.read("findings")
    wrong = command("schema", "finding")
    assert wrong.status == 2
    assert "[no-such-schema]" in wrong.err


# The code and the schemas


def test_the_schemas_have_the_members_that_the_code_reads() -> None:
    expect = schemas.read("expectations")["properties"]
    provider = schemas.read("provider")["properties"]
    assert set(schemas.read("hello")["properties"]) == {"kind", "payload", *hello.FIELDS}
    assert set(expect) == {"expect", *expectations._SETTINGS}
    assert set(expect["expect"]["items"]["properties"]) == set(expectations._KEYS)
    for table, keys in (
        (claims.TABLE, claims._KEYS), (exclusions.TABLE, exclusions._KEYS), (overrides.TABLE, error_limit._KEYS),
        (bounds.TABLE, error_limit._KEYS),
    ):  # fmt: skip
        assert set(provider[table]["items"]["properties"]) == set(keys)


def test_the_schemas_have_the_words_that_the_code_has() -> None:
    case, expect = schemas.read("case")["properties"], schemas.read("expectations")["properties"]
    assert case["outcome"]["enum"] == list(Outcome)
    assert set(case["force"]["enum"]) == {"", *Force}
    accepted = [verdict for verdict in Verdict if verdict not in expectations.NEVER_EXPECTED]
    assert expect["expect"]["items"]["properties"]["verdict"]["enum"] == accepted
    assert schemas.read("hello")["properties"]["subject"]["anyOf"][1]["enum"] == list(Subject)


def test_a_provider_file_has_the_keys_of_the_adapter() -> None:
    execution_provider = (BACKENDS / "execution_provider.py").read_text(encoding="utf-8")
    keys = re.findall(r'^    "(\w+)": (?:TEXT|TEXTS|TABLE|ROWS),$', execution_provider, re.MULTILINE)
    assert set(schemas.read("provider")["properties"]["provider"]["properties"]) == {*keys}


# The files that there are


OPS = ("Split/18", "TopK/24", "Softmax/13", "Unique/11", "Multinomial/22", "Optional/15", "ai.onnx.ml/ZipMap/1")


def test_the_cases_are_valid(tmp_path: Path) -> None:
    selection = Selection(ops=OPS, core=True)
    check_selection(Generated(), selection)
    texts = [case_json.text(case) for case in Generated().cases(selection)]
    assert len(texts) > 100
    assert not [fault for text in texts for fault in faults("case", json.loads(text))]
    words = [word for op in OPS for word in ("--op", op)]
    assert command("pack", *words, "--core", "--out", tmp_path / "few.pack").status == 0
    with zipfile.ZipFile(tmp_path / "few.pack") as archive:
        index = json.loads(archive.read("index.json"))
        lines = [
            json.loads(line) for item in index["operators"] for line in archive.read(item["cases"]["name"]).splitlines()
        ]
    assert not list(faults("pack-index", index))
    assert len(lines) == len(texts)
    assert not [fault for line in lines for fault in faults("packed-case", line)]


def test_the_findings_are_valid() -> None:
    for path in (ROOT / "reports").glob("**/findings.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        content["findings"] = content["findings"][::20]
        assert not list(faults("findings", content)), path


def test_the_provider_files_are_valid() -> None:
    files = [*(BACKENDS / "providers").glob("*.toml")]
    assert len(files) > 5
    for path in files:
        assert not list(faults("provider", of_toml(path.read_text(encoding="utf-8")))), path


# The examples


EXAMPLES = re.findall(
    r"<!-- schema ([\w-]+) -->\n```(json|toml)\n(.*?)```", (ROOT / "docs/formats.md").read_text("utf-8"), re.DOTALL
)


def test_each_format_that_is_no_report_has_an_example() -> None:
    of_packs = {"pack-index", "packed-case"}  # Their members are in tables.
    assert {name for name, _, _ in EXAMPLES} | of_packs == {*schemas.names()} - {
        "accuracy", "report", "verification", "ep-conformance",
    }  # fmt: skip


@pytest.mark.parametrize(("name", "language", "text"), EXAMPLES, ids=[name for name, _, _ in EXAMPLES])
def test_the_examples_are_valid(name: str, language: str, text: str, tmp_path: Path) -> None:
    data = json.loads(text) if language == "json" else of_toml(text)
    assert not list(faults(name, data))
    if name == "findings":
        (tmp_path / findings_file.FILE).write_text(text, encoding="utf-8")
        assert len(findings_file.read(tmp_path).findings) == 1
    if name == "expectations":
        assert expectations.parse(text, Path("mine.toml")).entries
    if name == "provider":
        assert claims.of_tables(tomllib.loads(text)["claims"], "mine.toml").every


# Wrong members


WRONG: list[tuple[str, str, Any]] = [
    ("case", "format", 2),
    ("case", "outcome", "value"),
    ("case", "operator", "Split"),
    ("case", "model_sha256", "0123"),
    ("case", "tolerance", {"interval": [1]}),
    ("case", "tolerance", {"ulp": -1}),
    ("hello", "protocol", "1"),
    ("hello", "opset", "24"),
    ("hello", "types", "float"),
    ("results", "verdict", "passed"),
    ("results", "case", None),
    ("findings", "format", 1),
    ("findings", "findings", [{"id": "x"}]),
    ("expectations", "minimum", -1),
    ("expectations", "verdicts", {}),
    ("expectations", "expect", [{"verdict": "crash", "reason": "why"}]),
    ("expectations", "expect", [{"verdict": "flaky", "reason": "why", "case": "*"}]),
    ("provider", "provider", {"name": "CPU"}),
    ("provider", "claims", [{"versions": [1]}]),
    ("provider", "bounds", [{"operator": "Exp", "type": "float", "ulp": 0, "reason": "why"}]),
    ("provider", "overrides", [{"operator": "Gelu", "type": "float16", "reason": "why"}]),
    ("provider", "exclusions", [{"case": "*", "reason": "why"}]),
]


@pytest.mark.parametrize(("name", "member", "value"), WRONG)
def test_a_wrong_member_is_invalid(name: str, member: str, value: object) -> None:
    language, text = next((language, text) for each, language, text in EXAMPLES if each == name)
    data = copy.deepcopy(json.loads(text) if language == "json" else of_toml(text))
    data[member] = value
    assert not valid(name, data)


def test_a_value_of_a_pack_has_exactly_one_place() -> None:
    schema = {**schemas.read("packed-case"), "$ref": "#/$defs/value"}
    for name in ("type", "required", "properties"):
        del schema[name]
    checker = jsonschema.Draft202012Validator(schema)
    tensor = {"kind": "tensor", "type": 1, "shape": [2]}
    assert checker.is_valid({**tensor, "at": 0})
    assert checker.is_valid({**tensor, "large": "0" * 64})
    assert not checker.is_valid(tensor)
    assert not checker.is_valid({**tensor, "at": 0, "large": "0" * 64})
    assert not checker.is_valid({"kind": "sequence", "items": [tensor]})
