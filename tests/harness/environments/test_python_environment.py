# SPDX-License-Identifier: Apache-2.0
"""Python environments: the requirements of a version, the arguments of uv, and messages where it fails."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from commands import command
from onnx_conformance import backends
from onnx_conformance.environments import backend_names, python_environment, python_lock
from onnx_conformance.environments.kept_environment import NoEnvironmentError
from onnx_conformance.environments.python_environment import Needs
from onnx_conformance.results.stream import Run
from paths import ROOT
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Installs = Callable[[str], list[tuple[list[str], str]]]

pytestmark = pytest.mark.usefixtures("few_operators")

DATA = sorted(path for path in Path(backends.__file__).parent.glob("*.toml") if not path.with_suffix(".mjs").is_file())
OLD = Needs("mine", "mine-dist", "mine", "2.0", ("extra",), (("1.0", ("numpy<2",)), ("1.5", ("numpy<3",))))


@pytest.fixture
def fresh() -> Iterator[None]:
    cached = python_environment.interpreter
    cached.cache_clear()
    yield
    cached.cache_clear()


def fake_uv(folder: Path, body: str) -> Path:
    path = folder / "uv"
    path.write_text(f"#!{sys.executable}\nimport sys\n" + textwrap.dedent(body))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_every_requirement_of_an_adapter_is_valid(path: Path) -> None:
    assert path.with_suffix(".py").is_file(), "data of no adapter"
    known = {
        "distribution", "import", "version", "requirements", "older", "python", "environment", "implementation",
        "folds_with", "limits",
    }  # fmt: skip
    assert set(tomllib.loads(path.read_text())) <= known
    needs = python_environment.needs(path.stem)
    assert needs is not None
    for version in ("", "0.1"):
        assert all(Requirement(text) for text in needs.of(version))
    assert Version(needs.version)


@pytest.mark.parametrize(
    ("version", "beside"), [("", ("extra",)), ("1.5", ("extra",)), ("1.4.9", ("numpy<3",)), ("0.9", ("numpy<2",))]
)
def test_an_older_version_needs_other_things(version: str, beside: tuple[str, ...]) -> None:
    assert OLD.of(version) == (f"mine-dist=={version or '2.0'}", *python_environment.EVERY, *beside)


def test_environments_leave_out_the_versions_that_the_package_leaves_out() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    mine, theirs = (
        {item.name: {str(each) for each in item.specifier if each.operator == "!="} for item in map(Requirement, texts)}
        for texts in (python_environment.EVERY, declared)
    )
    assert any(mine.values())
    assert mine == {name: theirs[name] for name in mine}


def test_a_requirement_follows_the_version() -> None:
    pair = Needs("mine", "mine-compiler", "mine", "2.0", ("mine-runtime=={version}", "extra"))
    assert pair.of()[-2:] == ("mine-runtime==2.0", "extra")
    assert pair.of("1.5")[-2:] == ("mine-runtime==1.5", "extra")


def test_an_invalid_version_is_reported() -> None:
    with refuses("not-a-python-version", kind=NoEnvironmentError):
        OLD.of("newest")
    done = command("run", "--backend", "onnxruntime==one", "--op", "Split/13")
    assert done.status == 2, done.text
    assert "[not-a-python-version]" in done.err, done.text


@pytest.mark.usefixtures("fresh")
def test_uv_is_asked_for_an_environment_that_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "asked"
    uv = fake_uv(
        tmp_path,
        f"""
        open({str(log)!r}, "a").write(" ".join(sys.argv[1:]) + "\\n")
        print({sys.executable!r}, flush=True)
        sys.stdin.read()
        """,
    )
    monkeypatch.setattr(python_environment, "uv", lambda: str(uv))
    for _ in range(2):
        assert python_environment.interpreter(("a==1", "numpy"), "3.11") == sys.executable
    lines = log.read_text().splitlines()
    assert len(lines) == 1, "one environment, however often it is asked for"
    words = lines[0].split()
    assert words.pop(1).startswith("--project="), lines
    assert " ".join(words).startswith("run --no-project --isolated --python 3.11 --with a==1 --with numpy python -c")


HASH = f"--hash=sha256:{'0' * 64}"
RECORDS = """
import json
words = sys.argv[1:]
lock = next((open(word.partition("=")[2]).read() for word in words if word.startswith("--requirement=")), "")
shown = [word for word in words if not word.startswith(("--project=", "--requirement="))]
with open({log!r}, "a") as log:
    print(json.dumps([shown, lock]), file=log)
"""
"""Notes the words of a call of uv, and the lock."""


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installs:
    """Return a function that replaces uv by a program, and returns the list of its calls."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(python_environment.NO_VERIFY, raising=False)
    log = tmp_path / "asked"
    log.touch()

    def replace(body: str) -> list[tuple[list[str], str]]:
        uv = fake_uv(tmp_path, RECORDS.format(log=str(log)) + textwrap.dedent(body))
        monkeypatch.setattr(python_environment, "uv", lambda: str(uv))
        return Calls(log)

    return replace


class Calls(list[tuple[list[str], str]]):
    """The calls in a log, read when they are asked for."""

    def __init__(self, log: Path) -> None:
        super().__init__()
        self.log = log

    def __iter__(self) -> Iterator[tuple[list[str], str]]:
        return iter([json.loads(line) for line in self.log.read_text().splitlines()])


def written(folder: Path, text: str = f"a==1 {HASH}\nnumpy==2 ; sys_platform == 'linux' {HASH}\n") -> Path:
    lock = folder / "mine.lock"
    lock.write_text(text)
    return lock


def kept(tmp_path: Path) -> list[str]:
    folder = tmp_path / "cache" / "onnx-conformance" / "python"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.usefixtures("fresh")
def test_a_lock_is_installed_with_hashes_and_wheels_only_and_kept(tmp_path: Path, installs: Installs) -> None:
    calls = installs("")
    lock = written(tmp_path)
    paths = set()
    for _ in range(2):
        paths.add(python_environment.interpreter(("a==1", "numpy"), "", (lock,)))
        python_environment.interpreter.cache_clear()
    [path] = paths
    place = Path(path).parent.parent
    assert kept(tmp_path) == [place.name], "nothing temporary is left"
    assert place.name.startswith("mine+lock-")
    (making, _), (installing, text) = calls
    folder = making.pop()
    assert Path(folder).name == "made"
    assert Path(folder).parent.parent == place.parent
    assert making == ["venv", "--relocatable", f"--python={sys.executable}"], "the harness runs on such a version"
    assert installing == [
        "pip", "install", "--quiet", f"--python={folder}", "--require-hashes", "--only-binary=:all:"
    ]  # fmt: skip
    assert python_lock.pins(text, "") == python_lock.pins(lock.read_text(), "")


@pytest.mark.usefixtures("fresh")
def test_another_lock_or_python_is_another_environment(
    tmp_path: Path, installs: Installs, monkeypatch: pytest.MonkeyPatch
) -> None:
    installs("")
    lock = written(tmp_path)
    python_environment.interpreter(("a==1",), "", (lock,))
    lock.write_text(f"a==1 --hash=sha256:{'1' * 64}\n")
    python_environment.interpreter.cache_clear()
    python_environment.interpreter(("a==1",), "", (lock,))
    assert len(kept(tmp_path)) == 2
    monkeypatch.setattr(python_environment, "_identity", lambda _: "another Python in the same place")
    python_environment.interpreter.cache_clear()
    python_environment.interpreter(("a==1",), "", (lock,))
    assert len(kept(tmp_path)) == 3


@pytest.mark.usefixtures("fresh")
def test_uv_finds_a_python_that_the_harness_has_not(tmp_path: Path, installs: Installs) -> None:
    calls = installs("""
    from pathlib import Path
    if words[0] == "venv" and words[-1].endswith("python"):
        Path(words[-1], "bin").mkdir(parents=True)
        Path(words[-1], "bin", "python").symlink_to(sys.executable)
    """)
    python_environment.interpreter(("a==1",), "<3.0", (written(tmp_path),))
    assert [words[:2] for words, _ in calls] == [
        ["venv", "--python=<3.0"], ["venv", "--relocatable"], ["pip", "install"]
    ]  # fmt: skip
    installs("sys.exit('error: No interpreter found')")
    with refuses("python-not-found", "<2.0", "No interpreter found", kind=NoEnvironmentError):
        python_environment.interpreter(("a==1",), "<2.0", (written(tmp_path),))


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("stderr", "problem"),
    [
        ("error: Failed to download `a==1`\\n  cause: Hash mismatch for `a==1`", "hash-mismatch"),
        ("error: Hash-checking is required, but no trusted hash was provided for: `a`", "hash-mismatch"),
        ("error: Failed to fetch", "environment-failed"),
    ],
)
def test_a_failed_installation_leaves_nothing(stderr: str, problem: str, tmp_path: Path, installs: Installs) -> None:
    installs(f"sys.exit('{stderr}' if words[0] == 'pip' else 0)")
    with refuses(problem, "a==1", "mine.lock", "--no-verify-hashes", kind=NoEnvironmentError):
        python_environment.interpreter(("a==1",), "", (written(tmp_path),))
    assert kept(tmp_path) == []


@pytest.mark.usefixtures("fresh")
def test_a_lock_that_does_not_pin_a_requirement_is_reported(tmp_path: Path, installs: Installs) -> None:
    calls = installs("")
    with refuses("lock-incomplete", "mine.lock", "a==2, b", kind=NoEnvironmentError):
        python_environment.interpreter(("a==2", "b", "numpy"), "", (written(tmp_path),))
    assert list(calls) == []


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(("complete", "variable"), [(False, ""), (True, "1"), (True, "true")])
def test_without_a_check_of_hashes_the_lock_constrains_a_temporary_environment(
    complete: bool,  # noqa: FBT001 - pytest passes it by name
    variable: str,
    tmp_path: Path,
    installs: Installs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = tmp_path / "constraints"
    calls = installs(f"""
    from pathlib import Path
    file = Path(words[words.index("--with-requirements") + 1])
    [line] = file.read_text().splitlines()
    Path({str(log)!r}).write_text(file.with_name(line.removeprefix("-c ")).read_text())
    print(sys.executable, flush=True)
    sys.stdin.read()
    """)
    monkeypatch.setenv(python_environment.NO_VERIFY, variable)
    lock = written(tmp_path)
    assert python_environment.interpreter(("a==1", "more"), "", (lock,), complete=complete) == sys.executable
    [(words, _)] = calls
    assert words[:8] == ["run", "--no-project", "--isolated", "--python", ">=3.11", "--with", "a==1", "--with"]
    assert log.read_text().splitlines() == ["a==1", 'numpy==2; sys_platform == "linux"']
    assert kept(tmp_path) == []


@pytest.mark.parametrize("value", [None, "", "0", "false", "No"])
def test_hashes_are_checked_unless_the_variable_is_set(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(python_environment.NO_VERIFY, raising=False)
    if value is not None:
        monkeypatch.setenv(python_environment.NO_VERIFY, value)
    assert python_environment.verifies_hashes()


def test_an_option_switches_the_check_of_hashes_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(python_environment.NO_VERIFY, "")
    words = ("run", "--backend", "oracle", "--case", "ai.onnx/Split/13/lengths")
    assert command(*words).status == 0
    assert python_environment.verifies_hashes()
    assert command(*words, "--no-verify-hashes").status == 0
    assert not python_environment.verifies_hashes()


def test_a_lock_is_for_the_version_that_was_tried() -> None:
    lock = Path("mine.lock")
    mine = Needs("mine", "mine-dist", "mine", "2.0", lock=lock)
    assert [mine.locks_of(version) for version in ("", "2.0", "2.0.0", "2")] == [(lock,)] * 4
    assert [mine.locks_of(version) for version in ("2.0.1", "1.9", "newest")] == [()] * 3
    assert OLD.locks_of() == ()


@pytest.mark.parametrize(
    ("name", "locked"), [("tract", ["tract.lock"]), ("tract==0.23.9", ["tract.lock"]), ("tract==0.23.8", [])]
)
def test_a_backend_has_the_versions_of_its_lock(name: str, locked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(python_environment, "interpreter", lambda *words: calls.append(words) or "python")
    backend_names.resolve(name)
    [(_, _, locks)] = calls
    assert [lock.name for lock in locks] == locked


@pytest.mark.usefixtures("fresh")
def test_an_environment_that_cannot_be_made_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uv = fake_uv(tmp_path, "sys.exit('\\x1b[31mNo solution found\\nwhen resolving')")
    monkeypatch.setattr(python_environment, "uv", lambda: str(uv))
    done = command("run", "--backend", "onnxruntime==999.1", "--op", "Split/13")
    assert done.status == 2, done.text
    every = ", ".join(python_environment.EVERY)
    message = f"environment for onnxruntime==999.1, {every}: No solution found when resolving"
    assert message in done.err, done.text
    assert len(done.err.splitlines()) == 1, done.text


def test_without_uv_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(python_environment.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with refuses("uv-missing", kind=NoEnvironmentError):
        python_environment.uv()


def test_a_name_alone_is_the_installed_version() -> None:
    assert backend_names.resolve("onnx_reference").command[0] == sys.executable
    assert backend_names.resolve("onnx_reference", python="/elsewhere/python").command[0] == "/elsewhere/python"


def test_a_name_that_is_not_here_has_an_environment_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Needs("onnxruntime", "onnxruntime", "no_such_module", "1.31.1")
    monkeypatch.setattr(python_environment, "needs", lambda _: missing)
    monkeypatch.setattr(python_environment, "interpreter", lambda *words: f"made of {words}")
    target = backend_names.resolve("onnxruntime")
    assert target.command[0] == "made of (('onnxruntime==1.31.1', 'numpy', 'ml_dtypes!=0.7.0'), '', ())"
    assert target.name == "onnxruntime"


def test_variables_reach_the_process_wherever_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_ = Needs("onnxruntime", "onnxruntime", "json", "1", environment={"OMP_NUM_THREADS": "1"})
    monkeypatch.setattr(python_environment, "needs", lambda _: needs_)
    for target in (
        backend_names.resolve("onnxruntime"),
        backend_names.resolve("onnxruntime", python="/elsewhere/python"),
    ):
        assert target.environment == {"OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize("name", ["oracle==1.0", "my_runtime.backend==2.0"])
def test_a_backend_without_versions_rejects_one(name: str) -> None:
    with refuses("unknown-backend", name, kind=backend_names.UnknownBackendError):
        backend_names.resolve(name)


@pytest.mark.slow
@pytest.mark.usefixtures("ends", "fresh")
def test_two_versions_side_by_side(tmp_path: Path) -> None:
    """The real thing, with the smallest runtime there is."""
    results = tmp_path / "results.ndjson"
    words = [item for name in ("onnx_reference==1.22.0", "onnx_reference") for item in ("--backend", name)]
    done = command("run", *words, "--case", "ai.onnx/Split/13/lengths", "--results", results)
    if "Failed to fetch" in done.err:
        pytest.skip(f"NO PACKAGE INDEX: {done.err}")
    assert done.status == 0, done.text
    run = Run(results)
    versions = {name: hello["version"] for name, hello in run.header["backends"].items()}
    assert versions["onnx_reference==1.22.0"] == "1.22.0", versions
    assert versions["onnx_reference"] != "1.22.0", versions
    assert {result.backend for result in run.results()} == set(versions)
    words = [sys.executable, "-c", "import onnx; print(onnx.__version__)"]
    here = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    assert here == versions["onnx_reference"], "nothing is installed here"


def test_one_backend_may_have_an_interpreter_of_its_own() -> None:
    names = ("mine", "mine==1.0", "other")
    options = ("mine=/a/python", "mine==1.0=/b=c/python", "/all/python")
    assert backend_names.interpreters(options, names) == {
        "mine": "/a/python",
        "mine==1.0": "/b=c/python",
        "": "/all/python",
    }
    assert backend_names.interpreters(("/a=b/python",), names) == {"": "/a=b/python"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("yours=/a/python",), "there is no --backend 'yours'; expected one of mine, other"),
        (("mine=/a", "mine=/b"), "two interpreters for mine, /a and /b"),
        (("/a", "/b"), "two interpreters for every backend, /a and /b"),
    ],
)
def test_ambiguous_interpreters_are_reported(options: tuple[str, ...], message: str) -> None:
    with pytest.raises(backend_names.UnknownBackendError) as raised:
        backend_names.interpreters(options, ("mine", "other"))
    assert message in str(raised.value)


def test_run_takes_an_interpreter_for_one_backend() -> None:
    done = command("run", "--backend", "oracle", "--python", "yours=/a", "--op", "Split/13")
    assert done.status == 2, done.text
    assert "[python-of-unknown-backend]" in done.err
    run = ("run", "--op", "Split/13", "--backend", "onnx_reference")
    done = command(*run, "--python", "onnx_reference=/nowhere/python")
    assert done.status == 2, done.text
    assert "/nowhere/python" in done.err


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("variable", ["UV_NATIVE_TLS", "UV_COMPILE_BYTECODE"])
@pytest.mark.parametrize(("set_by_the_user", "version"), [(None, "true"), ("false", "false")])
def test_uv_uses_the_certificates_of_the_machine_and_compiles_bytecode(
    variable: str, set_by_the_user: str | None, version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "seen"
    body = f"""
        import os
        open({str(record)!r}, "w").write(os.environ.get({variable!r}, "unset"))
        print({sys.executable!r}, flush=True)
        sys.stdin.read()
    """
    uv = fake_uv(tmp_path, body)
    monkeypatch.setattr(python_environment, "uv", lambda: str(uv))
    monkeypatch.delenv(variable, raising=False)
    if set_by_the_user is not None:
        monkeypatch.setenv(variable, set_by_the_user)
    python_environment.interpreter((f"{variable}=={version}",))
    assert record.read_text() == version
