"""Execution providers of ONNX Runtime: the option, files of the user, attestation, and a real plugin."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from onnx import helper

from commands import command
from onnx_conformance.backends import execution_provider
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.environments import backend_names, python_environment
from onnx_conformance.environments.kept_environment import NoEnvironmentError
from onnx_conformance.results.stream import Run
from refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

ADD = ("--op", "Add/14", "--core", "--table", "none")


def provider_file(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "[provider]"),
        ('[provider]\nnames = ["NoExecutionProvider"]', "NoExecutionProvider"),
        ('[provider]\nnames = ["x"]\nlibrary = "libno.so"', "libno.so"),
        ('[provider]\nnames = ["x"]\nlibrary = "mine.toml"', "mine.toml"),
    ],
    ids=["no names", "not built in", "no library", "no provider"],
)
def test_a_file_that_describes_no_provider_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    done = command("run", *ADD, "--backend", provider_file(tmp_path, text))
    assert done.status == 2, done.text
    assert words in done.err, done.text
    assert "[adapter-not-started]" in done.err, done.text
    assert len(done.err.splitlines()) == 1, done.text


@pytest.mark.parametrize(("option", "words"), [("fast", "'fast'"), ("ep=nope", "'nope'")])
def test_an_unknown_option_or_provider_is_one_line(option: str, words: str) -> None:
    done = command("run", *ADD, "--backend", f"onnxruntime[{option}]")
    assert done.status == 2, done.text
    assert words in done.err, done.text
    assert "[adapter-not-started]" in done.err, done.text


def test_a_file_of_the_user_has_to_exist(tmp_path: Path) -> None:
    with refuses("provider-file-missing", "none.toml"):
        backend_names.resolve(str(tmp_path / "none.toml"))


@pytest.mark.slow
def test_the_provider_for_the_cpu_is_the_control_of_the_others(tmp_path: Path) -> None:
    file = provider_file(tmp_path, '[provider]\nnames = ["CPUExecutionProvider"]\n')
    results = tmp_path / "r.ndjson"
    backends = ("onnxruntime", "onnxruntime[ep=cpu]", str(file))
    command("run", *ADD, *(word for name in backends for word in ("--backend", name)), "--results", results)
    verdicts: dict[str, dict[str, Verdict]] = {name: {} for name in backends}
    for result in Run(results).results():
        verdicts[result.backend][result.case] = result.verdict
    first, *others = verdicts.values()
    assert first
    assert all(other == first for other in others)


class Session:
    """A session whose nodes run on some providers."""

    def __init__(self, **nodes: int) -> None:
        self.nodes = nodes

    def get_providers(self) -> list[str]:
        return [*self.nodes, execution_provider.CPU]

    def get_provider_graph_assignment_info(self) -> list[Part]:
        return [Part(name, count) for name, count in self.nodes.items()]


class Part:
    """The nodes that a provider runs."""

    def __init__(self, name: str, count: int) -> None:
        self.ep_name, self.count = name, count

    def get_nodes(self) -> list[int]:
        return [*range(self.count)]


@pytest.mark.parametrize(
    ("session", "words"),
    [(Session(), "the session has only CPUExecutionProvider"), (Session(Mine=0), "nodes assigned: 0 to Mine"),
     (Session(Other=2), "the session has only Other"), (Session(Mine=0, Other=2), "2 to Other"),
     (Session(Mine=1, Other=2), "1 to Mine, 2 to Other")],
)  # fmt: skip
def test_a_silent_fallback_to_another_provider_proves_nothing(session: Session, words: str) -> None:
    with pytest.raises(execution_provider.NotOnProviderError, match=words):
        execution_provider.Provider("Mine").check(session)


def test_a_node_on_the_provider_is_a_proof() -> None:
    execution_provider.Provider("Mine").check(Session(Mine=1))
    execution_provider.Provider(execution_provider.CPU).check(Session())


@pytest.mark.slow
def test_a_plugin_is_tested_in_its_own_environment_and_scripts_load_it(tmp_path: Path) -> None:
    needed = python_environment.provider("ep=nxrt")
    assert needed is not None
    try:
        python = python_environment.python_of(needed)
    except NoEnvironmentError as error:
        pytest.skip(f"its environment cannot be made: {error}")
    results = tmp_path / "r.ndjson"
    backend = ("--backend", "onnxruntime[ep=nxrt]")
    cases = ("--case", "ai.onnx/Add/14/same_shape*", "--case", "ai.onnx/StringConcat/20/strings*")
    done = command("run", *cases, "--table", "none", *backend, "--results", results)
    run = Run(results)
    hello = run.header["backends"]["onnxruntime[ep=nxrt]"]
    verdicts = {result.operator.split("/")[1]: result.verdict for result in run.results() if result.is_plain}
    assert verdicts == {"Add": Verdict.PASS, "StringConcat": Verdict.UNSUPPORTED}, done.text
    assert hello["runtime"].startswith("cpu_ep of onnxruntime ")
    assert "register_execution_provider_library" in hello["repro"]
    assert "disable_cpu_ep_fallback" in hello["repro"]
    model = helper.make_model(
        helper.make_graph(
            [helper.make_node("Add", ["A", "B"], ["C"])], "g",
            [helper.make_tensor_value_info(name, 1, [2]) for name in "AB"],
            [helper.make_tensor_value_info("C", 1, [2])],
        ),
        opset_imports=[helper.make_opsetid("", 14)], ir_version=8,
    )  # fmt: skip
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    before = "import numpy as np\npath = 'model.onnx'\ninputs = {name: np.ones(2, np.float32) for name in 'AB'}\n"
    after = "assert session.get_providers()[0] == 'cpu_ep', session.get_providers()\nprint(outputs[0].tolist())\n"
    (tmp_path / "script.py").write_text(before + hello["repro_files"] + after)
    ran = subprocess.run([python, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout == "[2.0, 2.0]\n", ran.stderr
