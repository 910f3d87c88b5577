# SPDX-License-Identifier: Apache-2.0
"""What an adapter sees of this machine: environment variables, and in a sandbox files, processes and network."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import shutil
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from commands import adapter, command
from onnx_conformance.backends import cache
from onnx_conformance.base.package import FOLDER
from onnx_conformance.base.target import Target
from onnx_conformance.environments import backend_names, environment_variables, sandbox
from onnx_conformance.environments.environment_variables import NoVariableError
from onnx_conformance.environments.sandbox import Isolation, NoIsolationError
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.replies import Answered, Died
from onnx_conformance.suites import packs
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from paths import ROOT
from refusals import refuses

if TYPE_CHECKING:
    from onnx_conformance.case.case import Case

WRONG = ROOT / "tests" / "adapters" / "wrong.py"
FAULTY = "lengths_sum"
pytestmark = pytest.mark.usefixtures("ends", "few_operators")

SPY = """
import json, os, socket, sys
def entries(path):
    return sorted(os.listdir(path)) if os.path.isdir(path) else os.path.isfile(path)
def writable(path):
    try:
        open(os.path.join(path, "written"), "x").close()
        os.unlink(os.path.join(path, "written"))
    except OSError:
        return False
    return True
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 2).close()
    connects = True
except OSError:
    connects = False
processes = []
for name in filter(str.isdecimal, os.listdir("/proc")):
    try:
        processes.append(open(f"/proc/{name}/cmdline").read())
    except OSError:  # It has ended meanwhile.
        pass
seen = {
    "environment": dict(os.environ), "processes": processes, "connects": connects, "tmp": writable("/tmp"),
    "here": writable("."), "entries": {path: entries(path.lstrip(":")) for path in sys.argv[2:]},
}
hello = {"kind": "hello", "protocol": 1, "runtime": "spy", "version": json.dumps(seen), "payload": 0}
print(json.dumps(hello), flush=True)
sys.stdin.read()
"""


def surroundings(target: Target) -> dict[str, Any]:
    """Return what an adapter says that it sees."""
    with Asker(target, Limits()) as lane:
        return dict(json.loads(lane.process.hello["version"]))


def spy(folder: Path, *paths: Path, port: int = 1, passes: tuple[str, ...] = ()) -> Target:
    """Return an adapter in a folder that reports its surroundings: variables, processes, and the content of paths."""
    script = folder / "spy.py"
    script.write_text(SPY)
    return backend_names.resolve(
        "cmd:" + shlex.join([sys.executable, "-S", str(script), str(port), *map(str, paths)]), passes=passes
    )


# Environment variables

NEEDED = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "OMP_NUM_THREADS": "3", "XDG_CACHE_HOME": "/nowhere"}
WITHHELD = {
    "GITHUB_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "s", "NVIDIA_API_KEY": "k", "CUDA_LICENSE_TOKEN": "c", "MY_OWN": "m",
    "DATABASE_URL": "u", "SSH_AUTH_SOCK": "a", "PYTHON_KEYRING_BACKEND": "p",
}  # fmt: skip


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (NEEDED | WITHHELD).items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("crowded")
def test_an_adapter_gets_only_the_variables_that_runtimes_need(tmp_path: Path) -> None:
    environment = surroundings(spy(tmp_path))["environment"]
    assert NEEDED.items() <= environment.items(), environment
    assert not WITHHELD.keys() & environment.keys(), environment


@pytest.mark.usefixtures("crowded")
def test_a_named_variable_is_passed_on(tmp_path: Path) -> None:
    environment = surroundings(spy(tmp_path, passes=("GITHUB_TOKEN", "MY_OWN")))["environment"]
    assert {name for name in WITHHELD if name in environment} == {"GITHUB_TOKEN", "MY_OWN"}, environment
    assert environment["MY_OWN"] == "m"


def test_variables_of_an_adapter_override_those_set_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    target = spy(tmp_path)
    own = Target(target.name, target.command, {"OMP_NUM_THREADS": "1"})
    assert surroundings(own)["environment"]["OMP_NUM_THREADS"] == "1"


@pytest.mark.slow
@pytest.mark.parametrize("glob", environment_variables.INHERITED)
def test_no_glob_takes_in_a_secret(glob: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for word in ("TOKEN", "SECRET", "PASSWORD", "API_KEY", "CREDENTIALS"):
        name = glob.replace("*", word)
        monkeypatch.setenv(name, "x")
        assert ("*" in glob) is not (name in environment_variables.variables()), name


@pytest.mark.parametrize(
    ("name", "problem", "named"),
    [("NOT_SET_HERE", "variable-not-set", "NOT_SET_HERE"), ("A=b", "variable-with-value", "A")],
)
def test_an_invalid_variable_is_refused(name: str, problem: str, named: str) -> None:
    with refuses(problem, f"--env {named}", kind=NoVariableError):
        backend_names.resolve("onnx_reference", passes=(name,))


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--op", "Split", "--backend", "onnx_reference"),
        ("backends", "check", "onnx_reference"),
        ("repro", "ai.onnx/Split/13/even", "--backend", "onnx_reference"),
        ("minimize", "ai.onnx/Split/13/even", "--backend", "onnx_reference"),
        ("trend", "onnx_reference==1.0", "onnx_reference==2.0"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_that_starts_adapters_passes_named_variables(words: tuple[str, ...]) -> None:
    done = command(*words, "--env", "NOT_SET_HERE")
    assert done.status == 2, done.text
    assert "[variable-not-set]" in done.err, done.text


# A sandbox


def _why_not() -> str:
    try:
        sandbox.check()
    except NoIsolationError as error:
        return str(error)
    return ""


SANDBOX = pytest.mark.skipif(bool(_why_not()), reason=_why_not() or "there is one")


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    ids = tuple(f"ai.onnx/Split/13/{name}" for name in (FAULTY, "even"))
    return {case.name: case for case in Generated().cases(Selection(cases=ids))}


@SANDBOX
def test_an_isolated_adapter_sees_neither_answers_nor_processes_nor_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, results, beside = tmp_path / "suite", tmp_path / "results.ndjson", tmp_path / "model"
    (suite / "case").mkdir(parents=True)
    results.write_text("{}\n")
    beside.write_text("of the runtime\n")
    elsewhere = Path("/tmp") / f"of-another-process-{os.getpid()}"
    monkeypatch.chdir(tmp_path)
    looked_at = [suite, results, beside, FOLDER, ROOT / "generated_cases", ROOT / "reports", elsewhere]
    with _listening() as port:
        target = spy(tmp_path, *looked_at, port=port)
        sandboxed = sandbox.around(str(suite), results).of(target)
        elsewhere.touch()  # Not before: what is there and named among its arguments, an adapter is shown.
        try:
            free, confined = surroundings(target), surroundings(sandboxed)
        finally:
            elsewhere.unlink()
    assert free["connects"], "the test itself is wrong"
    assert all(free["entries"].values()), free
    assert (confined["connects"], confined["tmp"], confined["here"]) == (False, True, False)
    own = os.fsdecode(b"\0".join(map(os.fsencode, [*target.command, ""])))
    assert len(confined["processes"]) == 2, confined["processes"]
    assert own in confined["processes"], confined["processes"]
    shown = {path: entries for path, entries in confined["entries"].items() if entries}
    assert set(shown) == {str(beside), str(FOLDER)}, confined["entries"]
    assert shown[str(FOLDER)] == ["backends"], "of the package, the adapters alone"


class _listening:  # noqa: N801 - a context, used as a function
    """A server on this machine."""

    def __enter__(self) -> int:
        import socket  # noqa: PLC0415 - of this test alone

        self._server = socket.create_server(("127.0.0.1", 0))
        return int(self._server.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        self._server.close()


@pytest.mark.slow
@SANDBOX
def test_an_isolated_adapter_finds_no_answers_and_gains_no_privileges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cases: dict[str, Case]
) -> None:
    """The folder of the adapter has everything that a user may keep there: a cache, a suite, results, a checkout."""
    own = tmp_path / "own"
    own.mkdir()
    script = own / "cheats.py"
    shutil.copyfile(ROOT / "tests" / "adapters" / "cheats.py", script)
    monkeypatch.chdir(own)
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(own / "cache"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(own / "home"))
    assert cache.secret()
    results, suite = own / "results.ndjson", own / "suite"
    words = ("run", "--case", "ai.onnx/Split/13/even", "--backend", "onnx_reference", "--results", own / "old.ndjson")
    assert command(*words).status == 0
    assert command("generate", "--case", "ai.onnx/Split/13/even", "--out", suite).status == 0
    packs.write("name", list(cases.values()))
    hidden = [str(FOLDER), str(suite), str(own / "cache"), str(own / "home")]
    target = backend_names.resolve("cmd:" + shlex.join([sys.executable, str(script), "2"]))
    free = surroundings(target)
    found = {"a pack of the cache", "ids of cases", "results", "expected values of a case", "the key of the cache"}
    assert found <= set(free["found"].values()), free["found"]
    long = dataclasses.replace(target, command=(*target.command[:2], "10", *hidden))
    confined = surroundings(sandbox.around(str(suite), results).of(long))
    assert confined["read"] > 1000, "it saw neither libraries nor its interpreter"
    assert confined["found"] == {}
    assert confined["gained"] == []
    assert {int(confined["CapEff"], 16), int(confined["CapBnd"], 16)} == {0}
    assert confined["NoNewPrivs"] == "1"


@SANDBOX
def test_an_adapter_sees_what_the_user_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, library = tmp_path / "own", tmp_path / "library"
    own.mkdir()
    library.mkdir()
    (library / "lib.so").touch()
    monkeypatch.chdir(own)
    target = spy(own)
    word = f":{library}"  # A path among the arguments would be shown.
    looks = dataclasses.replace(target, command=(*target.command, word))
    for shown, entries in ((), []), ((library,), ["lib.so"]):
        seen = surroundings(sandbox.around("generated", None, shown=shown).of(looks))["entries"]
        assert (seen[word] or []) == entries, (shown, seen)
    with refuses("nothing-to-show", kind=NoIsolationError):
        sandbox.around("generated", None, shown=(tmp_path / "none",))


@pytest.mark.slow
@SANDBOX
def test_an_adapter_that_needs_a_hidden_file_gets_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, library = tmp_path / "own", tmp_path / "library"
    own.mkdir()
    library.mkdir()
    (library / "runtime.py").touch()
    (own / "needs.py").write_text(
        f"import sys\nsys.path.append({str(library)!r})\nimport runtime\n"
        "def info(): return {'runtime': 'r', 'version': '1'}\ndef run(model, inputs, outputs): return []\n"
    )
    monkeypatch.chdir(own)
    words = ("run", "--case", "ai.onnx/Split/13/even", "--backend", "./needs.py", "--isolate")
    without, with_it = command(*words), command(*words, "--show", library)
    assert without.status == 2, without.text
    assert without.refused("adapter-not-started", "--show PATH"), without.text
    assert with_it.status == 1, with_it.text


def test_show_without_isolate_is_a_sentence() -> None:
    done = command("run", "--op", "Split", "--backend", adapter("good"), "--show", "/usr")
    assert done.status == 2, done.text
    assert "add --isolate" in done.err, done.text


@pytest.mark.slow
@SANDBOX
@pytest.mark.parametrize("place", ["results.ndjson", "../results.ndjson"])
def test_results_may_be_beside_the_adapter_or_elsewhere(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    monkeypatch.chdir(tmp_path / "own")
    shutil.copyfile(WRONG, "wrong.py")
    words = ("run", "--case", "ai.onnx/Split/13/even", "--isolate", "--results", place)
    done = command(*words, "--backend", f"cmd:{sys.executable} -S wrong.py good even")
    assert done.status == 0, done.text
    assert Path(place).is_file()
    missing = command(*words[:-1], "new/results.ndjson", "--backend", f"cmd:{sys.executable} -S wrong.py good even")
    assert "[results-not-writable]" in missing.err, missing.text


@pytest.mark.slow
@SANDBOX
@pytest.mark.parametrize(
    ("kind", "status", "name"),
    [
        ("dies_by_segv", -signal.SIGSEGV, "SIGSEGV"),
        ("dies_by_abrt", -signal.SIGABRT, "SIGABRT"),
        ("exits_with_3", 3, ""),
        ("dies_leaving_a_child", 4, ""),
    ],
)
def test_the_end_of_an_isolated_adapter_is_reported_unchanged(
    kind: str, status: int, name: str, cases: dict[str, Case]
) -> None:
    words = [sys.executable, "-S", str(WRONG), kind, FAULTY]
    target = sandbox.around("generated", None).of(backend_names.resolve("cmd:" + shlex.join(words)))
    with Asker(target, Limits(timeout=10)) as lane:
        dead, after = lane.ask(cases[FAULTY]), lane.ask(cases["even"])
    assert isinstance(dead, Died), dead
    assert (dead.status, dead.signal) == (status, name), dead
    assert isinstance(after, Answered), after


@pytest.mark.slow
@SANDBOX
@pytest.mark.parametrize("backend", ["onnx_reference", "oracle", "onnxruntime"])
def test_an_isolated_runtime_answers_as_it_does_otherwise(backend: str, tmp_path: Path) -> None:
    if backend == "onnxruntime":
        pytest.importorskip("onnxruntime")
    words = ("run", "--backend", backend, "--case", "ai.onnx/Split/13/*", "--tag", "basic", "--groups", "0")
    files = [tmp_path / "free.ndjson", tmp_path / "confined" / "results.ndjson"]
    files[1].parent.mkdir()
    done = [command(*words, "--results", files[0]), command(*words, "--results", files[1], "--isolate")]
    assert done[0].status == done[1].status, done
    verdicts = [
        sorted(
            (record["case"], record["verdict"])
            for record in map(json.loads, path.read_text().splitlines())
            if "verdict" in record
        )
        for path in files
    ]
    assert verdicts[0], done[0].text
    assert verdicts[0] == verdicts[1], done[1].text


def test_without_bubblewrap_isolation_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox.check.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    done = command("run", "--op", "Split", "--backend", adapter("good"), "--isolate")
    assert (done.status, done.out) == (2, ""), done.text
    assert "[bubblewrap-missing]" in done.err, done.text


def test_a_system_that_allows_no_sandbox_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    sandbox.check.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda *_: str(program))
    with refuses("sandbox-not-allowed", "bwrap: No permissions", kind=NoIsolationError):
        sandbox.around("generated", None)
    sandbox.check.cache_clear()


def test_an_adapter_cannot_run_in_a_hidden_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    with refuses("folder-hidden-in-sandbox", tmp_path, kind=NoIsolationError):
        Isolation((tmp_path,)).of(backend_names.resolve("cmd:true"))


def test_a_results_file_in_a_crowded_folder_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(sandbox, "MOST_ENTRIES", 2)
    for name in "abc":
        (tmp_path / name).touch()
    with refuses("results-hidden-in-sandbox", tmp_path, kind=NoIsolationError):
        Isolation((), (tmp_path / "results.ndjson",)).of(backend_names.resolve("cmd:true ./a"))


def test_naming_a_hidden_path_does_not_show_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An argument that is a hidden folder, or above one, hides nothing less."""
    suite = tmp_path / "suite"
    suite.mkdir()
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    words = Isolation((suite,)).of(backend_names.resolve(f"cmd:true / {suite} {tmp_path}")).sandbox
    hides = max(index for index, word in enumerate(words) if word == "--tmpfs")
    assert words[hides + 1] == str(suite), words
    assert "--ro-bind-try / /" not in " ".join(words), words
    assert str(suite) not in {words[place + 1] for place, word in enumerate(words) if word.startswith("--ro-bind")}


def test_a_path_within_a_shown_folder_is_not_shown_again(tmp_path: Path) -> None:
    hidden, environment = tmp_path / "hidden", tmp_path / "hidden" / "environment"
    inner, other = environment / "hidden too", tmp_path / "other"
    paths = [environment / "bin" / "python3", environment, other, other / "file", inner / "file", Path("/usr/lib")]
    assert sandbox._outermost(paths, [hidden]) == [other, environment]
    assert sandbox._outermost(paths, [hidden, inner]) == [other, environment, inner / "file"]
    assert sandbox._outermost([hidden], [hidden]) == []
