# SPDX-License-Identifier: Apache-2.0
"""The package of a vendor in tests/operators_example goes through every command, and its wrong runtime is caught."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

import vendor_package
from commands import command
from onnx_conformance.cli import findings as command_findings
from onnx_conformance.findings import confirm, findings_file
from onnx_conformance.findings.confirm import Place
from onnx_conformance.specification import packages, registry
from onnx_conformance.suites.lookup import open_suite
from onnx_conformance.suites.of_package import OfPackage
from onnx_conformance.suites.selection import Selection
from paths import ADAPTERS
from vendor_package import EXAMPLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RUNTIME = ADAPTERS / "example_runtime.py"
USES = ("--operators", EXAMPLE)


@pytest.fixture(scope="module", autouse=True)
def _example() -> Iterator[None]:
    """Use the package in this module's tests."""
    with vendor_package.forgotten():
        packages.add_folder(EXAMPLE)
        yield


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("example") / "results.ndjson"
    done = command("run", "--suite", "example", "--backend", RUNTIME, "--results", path, *USES)
    assert done.status == 1, done.text
    assert "2 of 3 operators and 2 of 3 operator versions have cases" in " ".join(done.out.split())
    assert f"--suite example --operators {EXAMPLE}" in " ".join(done.out.split())
    assert "[operators-without-cases]" in done.err
    return path


def verdicts(path: Path) -> dict[str, set[str]]:
    """Return the verdicts by operator."""
    found: dict[str, set[str]] = {}
    for text in path.read_text().splitlines():
        item = json.loads(text)
        if item["kind"] == "result":
            found.setdefault(item["case"].split("/")[1], set()).add(item["verdict"])
    return found


def test_a_run_catches_the_fault_and_only_the_fault(results: Path) -> None:
    found = verdicts(results)
    assert "wrong_value" in found["ScaledAdd"]
    assert found["Halve"] <= {"pass", "unsupported"}
    assert json.loads(results.read_text().partition("\n")[0])["suite"]["name"] == "example"


def test_the_numbers_of_onnx_stay_the_same(results: Path) -> None:
    header = json.loads(results.read_text().partition("\n")[0])
    assert header["covers"] == {"operators": 2, "of_operators": 3, "versions": 2, "of_versions": 3}
    assert not [name for name in open_suite("generated").operators() if name.startswith("com.")]


def test_the_suite_has_sizes_and_a_core_once_each() -> None:
    suite = open_suite("example")
    assert isinstance(suite, OfPackage)
    every = [case.id for case in suite.cases(Selection())]
    assert len(every) == len(set(every))
    assert any("rows_n257" in name for name in every)
    core = [case.id for case in suite.cases(Selection(core=True))]
    assert 0 < len(core) < len(every)
    assert set(core) == {item.id for item in suite.listed(Selection()) if item.core}
    assert len(suite.digest()) == len(open_suite("generated").digest())


def test_a_changed_sentence_is_told() -> None:
    op = registry.load().named("Halve")
    changed = op.clauses[0]
    object.__setattr__(changed, "text", "Divides each element by 3.")
    try:
        notes = {note.id: note.text for note in open_suite("example").left_out(Selection())}
    finally:
        object.__setattr__(changed, "text", "Divides each element by 2.")
    assert "com.example/Halve/1" in notes["package-sentences-reworded"]


def test_the_gate_accepts_known_failures_and_no_others(results: Path, tmp_path: Path) -> None:
    file = tmp_path / "expected.toml"
    accept = ("--accept-new", "--reason", "scales both tensors")
    assert command("expectations", "update", results, "--expectations", file, *accept).status == 0
    assert command("gate", results, "--expectations", file, *USES).status == 0
    file.write_text(file.read_text().replace('verdict = "wrong_value"', 'verdict = "crash"'))
    assert command("gate", results, "--expectations", file, *USES).status == 1


def test_a_case_can_be_shown_reproduced_and_checked(tmp_path: Path) -> None:
    shown = command("show", "com.example/ScaledAdd/1/scale_half", *USES)
    assert "multiplied by scale" in shown.out, shown.text
    assert command("check", "example", *USES).status == 0
    coverage = command("coverage", "--package", "example", *USES)
    assert "2 of 3 operators" in " ".join(coverage.out.split())
    script = tmp_path / "repro.py"
    made = command(
        "repro",
        "com.example/ScaledAdd/1/scale_half",
        "--suite",
        "example",
        "--backend",
        RUNTIME,
        "--out",
        script,
        *USES,
    )
    assert made.status == 0, made.text
    assert "com.example" in script.read_text()


def test_search_finds_the_fault(tmp_path: Path) -> None:
    done = command(
        "search", "--backend", RUNTIME, "--package", "example", "--examples", "20", "--seed", "1", "--folder",
        tmp_path / "found", *USES,
    )  # fmt: skip
    assert done.status == 1, done.text
    assert "com.example/ScaledAdd/1" in done.out
    assert "com.example/Halve" not in done.out


def test_findings_and_the_site_name_the_fault(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirm, "place", lambda _backend, _version: Place(sys.executable, None))
    monkeypatch.setattr(command_findings, "_check", lambda _: None)  # This runtime has no environment.
    folder = tmp_path / "findings"
    done = command("findings", results, "--folder", folder, "--jobs", "1", *USES)
    assert done.status == 1, done.text
    found = findings_file.read(folder).findings
    assert {(item.identity.operator, str(item.identity.kind)) for item in found} == {
        ("com.example/ScaledAdd", "wrong_value")
    }
    site = tmp_path / "site"
    assert command("site", results, "--findings", folder, "--out", site, *USES).status == 0
    text = "".join(path.read_text() for path in site.rglob("*.html"))
    assert "com.example/ScaledAdd" in text


def test_verify_names_the_node(tmp_path: Path) -> None:
    info, floats = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    nodes = [
        onnx.helper.make_node("Halve", ["x"], ["half"], "first", domain="com.example"),
        onnx.helper.make_node("ScaledAdd", ["x", "half"], ["y"], "second", domain="com.example", scale=3.0),
    ]
    graph = onnx.helper.make_graph(nodes, "g", [info("x", floats, [4])], [info("y", floats, [4])])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("com.example", 1)], ir_version=10)
    onnx.save(model, tmp_path / "model.onnx")
    np.savez(tmp_path / "inputs.npz", x=np.arange(4, dtype=np.float32))
    done = command("verify", tmp_path / "model.onnx", "--backend", RUNTIME, "--inputs", tmp_path / "inputs.npz", *USES)
    assert done.status == 1, done.text
    assert "second (com.example/ScaledAdd/1) is wrong" in done.out, done.text
