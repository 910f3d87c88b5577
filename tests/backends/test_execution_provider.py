# SPDX-License-Identifier: Apache-2.0
"""Execution providers of ONNX Runtime: the option, files of the user, attestation, and a real plugin."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import types
from typing import TYPE_CHECKING, Any

import onnxruntime
import pytest
from onnx import parser

import runtime_fakes
from commands import command
from onnx_conformance.backends import execution_provider
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.cli import findings
from onnx_conformance.environments import backend_names, python_environment
from onnx_conformance.environments.kept_environment import NoEnvironmentError
from onnx_conformance.results.stream import Run
from onnx_conformance.suites import claims
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
        ('[provider]\nnames = ["CPUExecutionProvider"]\nclaims = "all"', "'all'"),
    ],
    ids=["no names", "not built in", "no library", "no provider", "no such claims"],
)
def test_a_file_that_describes_no_provider_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    done = command("run", *ADD, "--backend", provider_file(tmp_path, text))
    assert done.status == 2, done.text
    assert words in done.err, done.text
    assert "[adapter-not-started]" in done.err, done.text
    assert len(done.err.splitlines()) == 1, done.text


@pytest.mark.parametrize(
    ("option", "words"),
    [("fast", "'fast'"), ("ep=nope", "'nope'"), ("ep=cpu,ep=nxrt", "two execution providers, ep=cpu and ep=nxrt")],
)
def test_an_unknown_option_or_provider_is_one_line(option: str, words: str) -> None:
    done = command("run", *ADD, "--backend", f"onnxruntime[{option}]")
    assert done.status == 2, done.text
    assert words in done.err, done.text
    assert "[adapter-not-started]" in done.err, done.text


def test_a_file_of_the_user_has_to_exist(tmp_path: Path) -> None:
    with refuses("provider-file-missing", "none.toml"):
        backend_names.resolve(str(tmp_path / "none.toml"))


PLUGIN = '[provider]\nnames = ["Mine"]\nlibrary = "mine.toml"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("provider = 1", "provider = 1"),
        ("[provider]\nname = 'x'", "'name'"),
        ('[provider]\nnames = "x"', "names = 'x'"),
        ('[provider]\nnames = ["x"]\noptions = "fast"', "options = 'fast'"),
        ('[provider]\nnames = ["x"]\n[provider.session]\nlevels = [1]', "session = {'levels': [1]}"),
        ('[provider]\nnames = ["x"]\ndevice = "tpu"', "device = 'tpu'"),
        ('[provider]\nnames = ["x"]\n[[provider.unsupported]]\nerror = "Fail"', "unsupported = [{'error': 'Fail'}]"),
        (f"{PLUGIN}[[provider.unsupported]]\nerror = ''\nmessage = '('\nreason = ''", "a regular expression"),
        (PLUGIN + 'package = "mine"', "both package and library"),
        ('[provider]\nnames = ["x"]\npackage = "onnx:library_path"', "onnx has no function library_path()"),
        (
            '[provider]\nnames = ["CPUExecutionProvider"]\nlibrary = "mine.toml"',
            "already has a provider CPUExecutionProv",
        ),
        (PLUGIN, "cannot load .*mine.toml as an execution provider"),
    ],
    ids=[
        "no table",
        "key",
        "names",
        "options",
        "session",
        "device",
        "no error",
        "no pattern",
        "two",
        "function",
        "same name",
        "no library",
    ],
)
def test_a_wrong_provider_file_gets_a_sentence(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=words if words.startswith("cannot") else re.escape(words)):
        execution_provider.load(str(provider_file(tmp_path, text)))


def test_a_plugin_without_a_device_gets_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnxruntime, "register_execution_provider_library", lambda *_: None)
    text = "Mine found no device on this machine; the library offers no provider, and onnxruntime sees CPU"
    with pytest.raises(ValueError, match=text):
        execution_provider.load(str(provider_file(tmp_path, PLUGIN)))


def test_an_onnxruntime_that_loads_no_plugins_gets_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(onnxruntime, "register_execution_provider_library")
    with pytest.raises(ValueError, match=r"1\.23"):
        execution_provider.load(str(provider_file(tmp_path, PLUGIN)))


class Device:
    """A device of a plugin."""

    ep_name, ep_metadata = "Mine", {"version": "1.0"}
    device = types.SimpleNamespace(type=types.SimpleNamespace(name="CPU"), vendor="AMD")


def test_a_plugin_that_refuses_its_options_gets_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[str] = []
    monkeypatch.setattr(onnxruntime, "register_execution_provider_library", lambda name, _: registered.append(name))
    monkeypatch.setattr(onnxruntime, "get_ep_devices", lambda: [Device] if registered else [])
    wanted: list[object] = []

    def refuse(_: object, devices: object, options: object) -> None:
        wanted.extend([devices, options])
        raise RuntimeError("unknown option fast")

    monkeypatch.setattr(onnxruntime.SessionOptions, "add_provider_for_devices", refuse)
    path = provider_file(tmp_path, f"{PLUGIN}[provider.options]\nfast = 1\n[provider.environment]\nMY_EP_LOG = 0\n")
    monkeypatch.setenv("MY_EP_LOG", "")
    with pytest.raises(ValueError, match="fast"):
        execution_provider.load(str(path))
    assert registered == ["Mine"]  # Some plugins take the name under which they are registered as theirs.
    assert wanted == [[Device], {"fast": "1"}]
    assert os.environ["MY_EP_LOG"] == "0"


@pytest.mark.parametrize(("package", "version"), [("pytest", pytest.__version__), ("", "1.0"), ("no_such", "1.0")])
def test_the_version_of_a_plugin_is_that_of_its_distribution(
    package: str, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered: list[str] = []
    monkeypatch.setattr(onnxruntime, "register_execution_provider_library", lambda name, _: registered.append(name))
    monkeypatch.setattr(onnxruntime, "get_ep_devices", lambda: [Device] if registered else [])
    monkeypatch.setattr(execution_provider, "_library", lambda *_: (__file__, "''"))
    monkeypatch.setattr(execution_provider, "_started", lambda provider: provider)
    text = PLUGIN.replace('library = "mine.toml"', f'package = "{package}"') if package else PLUGIN
    path = provider_file(tmp_path, text)
    assert execution_provider.load(str(path)).version == version


def test_the_scripts_of_a_plugin_set_the_variables_that_its_library_reads() -> None:
    given: dict[str, Any] = {"devices": (Device,), "library": "'libmine.so'", "registered": "Mine"}
    code = execution_provider.Provider("Mine", **given, environment={"MY_EP_LOG": "0"}).code()
    assert "os.environ.update({'MY_EP_LOG': '0'})" in code
    assert code.index("os.environ") < code.index("register_execution_provider_library('Mine', 'libmine.so')")
    assert "os" not in execution_provider.Provider("Mine", **given).code().split()


@pytest.mark.parametrize("fallback", [False, True], ids=["no node", "some nodes"])
def test_the_session_does_not_repeat_a_failed_call_on_the_cpu(*, fallback: bool) -> None:
    mine = execution_provider.Provider("Mine", options={"device": "0"})
    more = mine.prepare(onnxruntime.SessionOptions(), fallback=fallback)
    assert more == {"providers": [("Mine", {"device": "0"})], "enable_fallback": 0}
    names: dict[str, Any] = {"onnxruntime": onnxruntime}
    exec(mine.code(), names)
    assert names["more"] == more


def test_the_file_names_the_errors_of_missing_support(tmp_path: Path) -> None:
    text = "\n[[provider.unsupported]]\nerror = 'Fail'\nmessage = 'no f16'\nreason = 'no float16'\n"
    path = provider_file(tmp_path, f'[provider]\nnames = ["CPUExecutionProvider"]{text}')
    assert execution_provider.load(str(path)).unsupported == (("Fail", "no f16", "no float16"),)


def test_an_option_that_a_built_in_provider_refuses_is_in_the_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other(onnxruntime.InferenceSession):
        """Refuse the provider, as ONNX Runtime refuses one with an unknown option."""

        def _create_inference_session(self, providers: list[Any], *_: object, **__: object) -> None:
            assert providers == [("Mine", {"fast": "1"})]
            raise ValueError("no option fast")

    monkeypatch.setattr(onnxruntime, "InferenceSession", Other)
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["Mine"])
    path = provider_file(tmp_path, '[provider]\nnames = ["Mine"]\n[provider.options]\nfast = 1\n')
    with pytest.raises(ValueError, match="fast"):
        execution_provider.load(str(path))


def test_the_versions_of_a_provider_are_in_its_file() -> None:
    with refuses("provider-with-version", "onnxruntime[ep=nxrt]==1.30.0"):
        backend_names.resolve("onnxruntime[ep=nxrt]==1.30.0")


@pytest.mark.parametrize(
    "text", ['distribution = "mine"\n', 'distribution = "mine"\nimport = "mine"\nversion = "1"\nrequirements = "x"\n']
)
def test_a_file_with_half_of_an_environment_gets_a_sentence(text: str, tmp_path: Path) -> None:
    with refuses("provider-file-incomplete", "mine.toml"):
        backend_names.resolve(str(provider_file(tmp_path, text + PLUGIN)))


def test_a_file_that_is_no_toml_is_one_line(tmp_path: Path) -> None:
    done = command("run", *ADD, "--backend", provider_file(tmp_path, "[provider"))
    assert done.refused("profile-not-toml"), done.text


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="builds a library, which needs a C compiler")
def test_a_library_that_crashes_when_it_is_registered_is_one_line_and_others_go_on(tmp_path: Path) -> None:
    source = tmp_path / "crash.c"
    source.write_text(
        "#include <stdlib.h>\nvoid *CreateEpFactories(void) { abort(); }\nvoid ReleaseEpFactory(void) {}\n"
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "libcrash.so", source.name], cwd=tmp_path, check=True)
    path = provider_file(tmp_path, '[provider]\nnames = ["Mine"]\nlibrary = "libcrash.so"\n')
    results = tmp_path / "r.ndjson"
    done = command("run", *ADD, "--backend", path, "--backend", "onnxruntime", "--results", results)
    assert done.status == 2, done.text
    assert len(done.err.splitlines()) == 1, done.text
    assert "SIGABRT" in done.err, done.text
    assert str(tmp_path / "libcrash.so") in done.err, done.text
    assert "[ended-before-hello]" in done.err, done.text
    run = Run(results)
    assert {result.backend for result in run.results()} == {"onnxruntime"}
    assert [*run.header["backends"]] == ["onnxruntime"]
    assert run.complete


def test_the_requirements_of_a_provider_are_those_of_its_file(tmp_path: Path) -> None:
    named = backend_names.needs("onnxruntime[none,ep=nxrt]")
    assert named is not None
    assert named.name == "nxrt"
    text = '[provider]\nnames = ["Mine"]\npackage = "mine"\n'
    assert backend_names.needs(str(provider_file(tmp_path, text))) is None
    more = 'distribution = "mine-ep"\nimport = "mine"\nversion = "1.0"\nrequirements = ["onnxruntime==1.32.0"]\n'
    (tmp_path / "own").mkdir()  # The requirements of a file are read once.
    own = backend_names.needs(str(provider_file(tmp_path / "own", more + text)))
    assert own is not None
    assert own.of()[0] == "mine-ep==1.0"
    cpu = backend_names.needs("onnxruntime[ep=cpu]")
    assert cpu is not None
    assert cpu.name == "onnxruntime"


def test_findings_cannot_install_another_version_of_a_provider() -> None:
    name = "onnxruntime[ep=nxrt]"
    with refuses("provider-without-versions", name):
        findings._versions([f"{name}==1.0"], {name})
    assert findings._versions(["onnxruntime==1.0"], {"onnxruntime"}) == {"onnxruntime": ["1.0"]}


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
    """A session whose nodes run on some providers: by provider, the operators."""

    def __init__(self, **nodes: list[str]) -> None:
        self.nodes = nodes

    def get_providers(self) -> list[str]:
        return [*self.nodes, execution_provider.CPU]

    def get_provider_graph_assignment_info(self) -> list[Part]:
        return [Part(name, operators) for name, operators in self.nodes.items()]


class Node:
    """A node."""

    def __init__(self, operator: str) -> None:
        self.domain, self.op_type = "", operator


class Part:
    """The nodes that a provider runs."""

    def __init__(self, name: str, operators: list[str]) -> None:
        self.ep_name, self.operators = name, operators

    def get_nodes(self) -> list[Node]:
        return [*map(Node, self.operators)]


def test_a_session_without_the_provider_proves_nothing() -> None:
    with pytest.raises(execution_provider.NotOnProviderError, match="Other"):
        execution_provider.Provider("Mine").assigned(Session(Other=["Add"]))


def test_a_session_reports_the_provider_of_each_node() -> None:
    mine = execution_provider.Provider("Mine")
    assigned = {"target": "Mine", "nodes": [["", "Add", "Mine"], ["", "If", "Other"]]}
    assert mine.assigned(Session(Mine=["Add"], Other=["If"])) == assigned
    assert mine.has_nodes(Session(Mine=["Add"], Other=["If"]))
    assert not mine.has_nodes(Session(Mine=[], Other=["If"]))
    assert execution_provider.Provider(execution_provider.CPU).assigned(Session()) is None


class Kernel:
    """A registered kernel."""

    domain, op_name, provider, type_constraints = "", "Abs", "Mine", {"T": ["tensor(float)"], "M": []}

    def __init__(self, last: int) -> None:
        self.version_range = (6, last)


@pytest.mark.parametrize(
    ("last", "operator"), [(12, "ai.onnx/Abs/>=6,<=12"), (execution_provider.NEWEST, "ai.onnx/Abs/>=6")]
)
def test_a_registered_kernel_is_a_claim(last: int, operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [Kernel(last)]
    monkeypatch.setattr(execution_provider._state, "get_all_opkernel_def", lambda: kernels)
    mine = execution_provider.Provider("Mine", claims_kernels=True)
    assert mine.claims() == [{"operator": operator, "types": {"T": ["tensor(float)"]}}]
    assert execution_provider.Provider("Other", claims_kernels=True).claims() == []
    assert execution_provider.Provider("Mine").claims() == []
    (claim,) = claims.of_tables(mine.claims(), "mine").every
    assert claim.has("ai.onnx/Abs/6")
    assert not claim.has("ai.onnx/Abs/1")


def added() -> bytes:
    """Return a model that adds two tensors of two elements."""
    graph = "g (float[2] A, float[2] B) => (float[2] C) { C = Add(A, B) }"
    return bytes(parser.parse_model(f'<ir_version: 8, opset_import: ["" : 14]> {graph}').SerializeToString())


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
    assert (hello["runtime"], hello["version"]) == ("cpu_ep (onnxruntime 1.32.0)", "0.1.0.dev6")
    assert "register_execution_provider_library" in hello["repro"]
    assert hello["provider"]["packages"] == "nxrt-ep-cpu==0.1.0.dev6 onnxruntime==1.32.0"
    assert "disable_cpu_ep_fallback" in hello["repro"]
    (tmp_path / "model.onnx").write_bytes(added())
    before = "import numpy as np\npath = 'model.onnx'\ninputs = {name: np.ones(2, np.float32) for name in 'AB'}\n"
    after = "assert session.get_providers()[0] == 'cpu_ep', session.get_providers()\nprint(outputs[0].tolist())\n"
    (tmp_path / "script.py").write_text(before + hello["repro_files"] + after)
    ran = subprocess.run([python, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout == "[2.0, 2.0]\n", ran.stderr


@runtime_fakes.REAL
@pytest.mark.slow
@pytest.mark.parametrize("name", ["ggml", "openvino", "qnn"])
def test_each_provider_that_needs_no_device_runs_and_scripts_load_it(name: str, tmp_path: Path) -> None:
    results = tmp_path / "r.ndjson"
    backend = f"onnxruntime[ep={name}]"
    done = command(
        "run", "--case", "ai.onnx/Add/14/same_shape", "--table", "none", "--backend", backend, "--results", results
    )
    run = Run(results)
    assert [result.verdict for result in run.results()] == [Verdict.PASS], done.text
    hello = run.header["backends"][backend]
    needed = python_environment.provider(f"ep={name}")
    assert needed is not None
    script = "path, inputs = 'model.onnx', {name: np.ones(2, np.float32) for name in 'AB'}\n"
    script = (
        f"import numpy as np\n{script}{hello['repro_files']}print(session.get_providers()[0], outputs[0].tolist())\n"
    )
    (tmp_path / "script.py").write_text(script)
    (tmp_path / "model.onnx").write_bytes(added())
    words = [python_environment.python_of(needed), "script.py"]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines()[-1] == f"{hello['provider']['name']} [2.0, 2.0]", ran.stderr
