# SPDX-License-Identifier: Apache-2.0
"""uv and npm themselves: a project's settings do not reach them, the user's do, and a lock binds what they choose."""

from __future__ import annotations

import base64
import functools
import hashlib
import http.server
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

from onnx_conformance.environments import node_environment, package_index, python_environment, python_lock, sandbox
from onnx_conformance.environments.backend_names import Target
from onnx_conformance.environments.kept_environment import NoEnvironmentError
from onnx_conformance.environments.python_lock import LockError
from onnx_conformance.environments.sandbox import NoIsolationError
from refusals import refuses
from tools import locks

if TYPE_CHECKING:
    from collections.abc import Iterator

NOWHERE = "http://127.0.0.1:9"
"""An index that does not exist."""

PROJECTS = {
    "uv.toml": f'[[index]]\nurl = "{NOWHERE}/simple"\ndefault = true\n',
    "pyproject.toml": f'[project]\nname = "p"\nversion = "1"\n[[tool.uv.index]]\nurl = "{NOWHERE}"\ndefault = true\n',
    ".python-version": "3.0\n",
}
TOY = python_environment.Needs("toy", "toy", "toy", "2.0")
SHOW = """
import importlib.metadata  # of the environment alone, for it has no pip
print(*(f"{item.name}=={item.version}" for item in importlib.metadata.distributions()))
"""


def wheel(folder: Path, name: str, version: str, *requirements: str) -> None:
    """Put a package that holds one empty module into a folder."""
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    about += "".join(f"Requires-Dist: {requirement}\n" for requirement in requirements)
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", "")
        file.writestr(f"{info}/METADATA", about)
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a package index on disk that is not configured in uv; uv ignores the configuration of this machine."""
    packages = tmp_path / "index"
    packages.mkdir()
    for version in ("1.0", "1.1", "2.0"):
        wheel(packages, "toy", version, "part")
        wheel(packages, "part", version)
    for text in (*python_environment.EVERY, "unasked"):
        wheel(packages, Requirement(text).name, "1.0")
    for name in [name for name in os.environ if name.startswith("UV_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache-home"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setattr(tempfile, "tempdir", None)
    python_environment.interpreter.cache_clear()
    yield packages
    python_environment.interpreter.cache_clear()


def of_the_user(index: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    """Tell uv of the index as a user does, in a file or in variables, these with a path from the current folder."""
    if where == "file":
        (index.parent / "config" / "uv").mkdir(parents=True)
        text = f'[[index]]\nurl = "{index}"\nformat = "flat"\ndefault = true\n'
        (index.parent / "config" / "uv" / "uv.toml").write_text(text)
    else:
        monkeypatch.setenv("UV_FIND_LINKS", os.path.relpath(index))
        monkeypatch.setenv("UV_NO_INDEX", "1")


def installed(python: str) -> set[str]:
    return set(subprocess.run([python, "-I", "-c", SHOW], capture_output=True, text=True, check=True).stdout.split())


def project_around(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str) -> None:
    """Go into a folder of a project that has such a file, and have temporary files there, too."""
    for part in ("below", "below/tmp"):
        (folder / "project" / part).mkdir(parents=True)
    (folder / "project" / name).write_text(text)
    monkeypatch.chdir(folder / "project" / "below")
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "project" / "below" / "tmp"))


@pytest.mark.slow
@pytest.mark.usefixtures("ends")
@pytest.mark.parametrize("where", ["file", "variables"])
@pytest.mark.parametrize("name", PROJECTS)
def test_uv_reads_the_users_settings_and_no_projects(
    name: str, where: str, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_around(tmp_path, monkeypatch, PROJECTS[name], name)
    of_the_user(index, monkeypatch, where)
    if where == "file" or name == ".python-version":
        words = [python_environment.uv(), "run", "--no-project", "--isolated", "--with", "toy", "python", "-c", ""]
        bare = subprocess.run(words, capture_output=True, text=True, check=False)
        assert bare.returncode, f"{name} does nothing to uv, so that nothing is shown here"
    assert {"toy==2.0", "part==2.0"} <= installed(python_environment.interpreter(TOY.of()))
    assert package_index.minors(TOY, 3) == ["1.0", "1.1", "2.0"]
    pins = python_lock.pins(locks.of_python(TOY.of(), "toy.lock"), "toy.lock")
    [toy] = [pin for pin in pins if pin.name == "toy"]
    digest = hashlib.sha256((index / "toy-2.0-py3-none-any.whl").read_bytes()).hexdigest()
    assert (str(toy.requirement), toy.hashes) == ("toy==2.0", (f"sha256:{digest}",))


@pytest.mark.usefixtures("ends")
def test_without_the_users_settings_the_package_is_missing(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_around(tmp_path, monkeypatch, f'no-index = true\nfind-links = ["{index}"]\n', "uv.toml")
    monkeypatch.setenv("UV_DEFAULT_INDEX", f"{NOWHERE}/simple")
    with refuses("environment-failed", f"toy==2.0, {', '.join(python_environment.EVERY)}", kind=NoEnvironmentError):
        python_environment.interpreter(TOY.of())


def locked(index: Path, lock: Path, *names: str) -> Path:
    """Write a lock of some packages of the index, by the names of their files, with their digests."""
    lines = []
    for name in names:
        digest = hashlib.sha256((index / f"{name}-py3-none-any.whl").read_bytes()).hexdigest()
        lines.append(f"{name.replace('-', '==')} --hash=sha256:{digest}\n")
    lock.parent.mkdir(exist_ok=True)
    lock.write_text("".join(lines))
    return lock


ALL = ("toy-2.0", "part-1.0", "numpy-1.0", "ml_dtypes-1.0", "unasked-1.0")


@pytest.mark.slow
@pytest.mark.usefixtures("ends")
def test_uv_installs_exactly_the_files_of_a_lock_and_the_next_run_needs_neither_uv_nor_the_index(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_the_user(index, monkeypatch, "file")
    lock = locked(index, tmp_path / "a folder" / "toy.lock", *ALL)
    python = python_environment.interpreter(TOY.of(), "", (lock,))
    assert installed(python) == {"toy==2.0", "part==1.0", "numpy==1.0", "ml_dtypes==1.0", "unasked==1.0"}
    python_environment.interpreter.cache_clear()
    shutil.rmtree(index)
    monkeypatch.setattr(python_environment, "uv", lambda: pytest.fail("the environment is there"))
    assert python_environment.interpreter(TOY.of(), "", (lock,)) == python


@pytest.mark.slow
@pytest.mark.usefixtures("ends")
def test_a_file_that_was_changed_is_not_installed(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_the_user(index, monkeypatch, "file")
    lock = locked(index, tmp_path / "toy.lock", *ALL)
    wheel(index, "part", "1.0", "unasked")  # Another file of the same name and version.
    with refuses("hash-mismatch", "part", "toy.lock", "--no-verify-hashes", kind=NoEnvironmentError):
        python_environment.interpreter(TOY.of(), "", (lock,))
    assert list((tmp_path / "cache-home" / "onnx-conformance" / "python").iterdir()) == []
    monkeypatch.setenv(python_environment.NO_VERIFY, "1")
    python_environment.interpreter.cache_clear()
    assert "part==1.0" in installed(python_environment.interpreter(TOY.of(), "", (lock,)))


@pytest.mark.usefixtures("ends")
def test_a_source_distribution_is_not_built(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of_the_user(index, monkeypatch, "file")
    built = tmp_path / "built"
    with tarfile.open(index / "source-1.0.tar.gz", "w:gz") as archive:
        for name, text in {
            "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "b"\nbackend-path = ["."]\n',
            "b.py": f"open({str(built)!r}, 'w')\n",
            "PKG-INFO": "Metadata-Version: 2.2\nName: source\nVersion: 1.0\n",
        }.items():
            entry = tarfile.TarInfo(f"source-1.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    digest = hashlib.sha256((index / "source-1.0.tar.gz").read_bytes()).hexdigest()
    lock = tmp_path / "source.lock"
    lock.write_text(f"source==1.0 --hash=sha256:{digest}\n")
    with refuses("environment-failed", "source", kind=NoEnvironmentError):
        python_environment.interpreter(("source==1.0",), "", (lock,))
    assert not built.exists(), "a program that no lock names has run"
    with refuses("uv-cannot-resolve", "source", kind=LockError):
        locks.of_python(["source==1.0"], "source.lock")


@pytest.mark.slow
@pytest.mark.usefixtures("ends")
def test_without_a_check_of_hashes_a_lock_constrains_versions_and_requires_nothing(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_the_user(index, monkeypatch, "file")
    lock = locked(index, tmp_path / "a folder" / "toy.lock", *ALL)
    wheel(index, "toy", "2.0+cpu", "part")  # What an index of builds without CUDA has.
    monkeypatch.setenv(python_environment.NO_VERIFY, "1")
    assert installed(python_environment.interpreter(TOY.of(), "", (lock,))) == {
        "toy==2.0+cpu", "part==1.0", "numpy==1.0", "ml_dtypes==1.0"
    }  # fmt: skip
    lock.write_text(f"part==9 --hash=sha256:{'0' * 64}\n")
    python_environment.interpreter.cache_clear()
    with pytest.raises(NoEnvironmentError) as raised:
        python_environment.interpreter(TOY.of(), "", (lock,))
    message = str(raised.value)
    assert f"environment for toy==2.0, {', '.join(python_environment.EVERY)} with the versions of toy.lock: " in message
    assert "part==9" in message
    assert message.endswith("--python PATH")


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="NO BUBBLEWRAP")
@pytest.mark.usefixtures("ends")
def test_a_sandbox_shows_a_kept_environment_but_not_the_cache_around_it(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_the_user(index, monkeypatch, "file")
    python = python_environment.interpreter(TOY.of(), "", (locked(index, tmp_path / "toy.lock", *ALL),))
    beside = Path(python).parents[2] / "secret"
    beside.write_text("expected answers")
    try:
        isolation = sandbox.around("generated", None)
    except NoIsolationError as error:
        pytest.skip(f"NO SANDBOX: {error}")
    target = isolation.of(Target("toy", (python, "-c", f"import os, toy; print(os.path.exists({str(beside)!r}))")))
    words = [*target.sandbox, *target.command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("False\n", 0), done.stderr


# npm

NPM = shutil.which("npm")
PATH = os.environ.get("PATH", "")
PACKAGE = node_environment.Needs("toy", "toy", "2.0.0", ">=20")


class Registry(http.server.BaseHTTPRequestHandler):
    """Serves toy and part, in three versions each; toy wants any part."""

    def do_GET(self) -> None:
        name, _, file = self.path.strip("/").partition("/")
        archives = {version: self.archive(name, version) for version in ("1.0.0", "1.1.0", "2.0.0")}
        if file:
            body = archives[file.removesuffix(".tgz")]
        else:
            host = f"http://127.0.0.1:{self.server.server_address[1]}"
            versions = {
                version: {
                    **self.about(name, version),
                    "dist": {"tarball": f"{host}/{name}/{version}.tgz", "integrity": integrity(data)},
                }
                for version, data in archives.items()
            }
            body = json.dumps({"name": name, "dist-tags": {"latest": "2.0.0"}, "versions": versions}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    @staticmethod
    def about(name: str, version: str) -> dict[str, object]:
        return {"name": name, "version": version, "dependencies": {"part": "*"} if name == "toy" else {}}

    @classmethod
    @functools.cache
    def archive(cls, name: str, version: str) -> bytes:
        file, data = io.BytesIO(), json.dumps(cls.about(name, version)).encode()
        with tarfile.open(fileobj=file, mode="w:gz") as archive:
            entry = tarfile.TarInfo("package/package.json")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        return file.getvalue()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def integrity(data: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


@pytest.fixture
def registry() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture
def in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go into a project with settings of its own for npm, which the cache folder lies in as well."""
    if NPM is None:
        pytest.skip("NO NPM")
    project = tmp_path / "project"
    (project / "below" / "tmp").mkdir(parents=True)
    about = {"name": "p", "workspaces": ["**"], "packageManager": "yarn@4.0.0"}
    (project / "package.json").write_text(json.dumps(about))
    (project / ".npmrc").write_text(f"registry={NOWHERE}/\nfetch-retries=0\n")
    monkeypatch.chdir(project / "below")
    monkeypatch.setattr(tempfile, "tempdir", str(project / "below" / "tmp"))
    for name in [name for name in os.environ if name.lower().startswith("npm_config_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(project / "below" / "cache"))
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    node_environment.environment.cache_clear()


def versions_of(folder: Path) -> dict[str, str]:
    manifests = (folder / "node_modules").glob("*/package.json")
    return {path.parent.name: json.loads(path.read_text())["version"] for path in manifests}


@pytest.mark.slow
@pytest.mark.usefixtures("ends", "in_a_project")
@pytest.mark.parametrize("where", ["of the user", "of the machine", "variable"])
def test_npm_reads_the_users_settings_and_no_projects(
    where: str, registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where == "variable":
        monkeypatch.setenv("npm_config_registry", registry)
    else:
        monkeypatch.setenv("PREFIX", str(tmp_path / "prefix"))
        files = {"of the user": tmp_path / "home" / ".npmrc", "of the machine": tmp_path / "prefix" / "etc" / "npmrc"}
        files[where].parent.mkdir(parents=True, exist_ok=True)
        files[where].write_text(f"registry={registry}\n")
        bare = subprocess.run(["npm", "view", "toy", "version"], capture_output=True, text=True, check=False)
        assert bare.returncode, "the project does nothing to npm, so that nothing is shown here"
    assert package_index.minors(PACKAGE, 3) == ["1.0.0", "1.1.0", "2.0.0"]
    assert versions_of(node_environment.environment("toy@1.1.0")) == {"toy": "1.1.0", "part": "2.0.0"}
    assert [path.name for path in (tmp_path / "project").iterdir() if path.name == "node_modules"] == []


@pytest.mark.slow
@pytest.mark.usefixtures("ends", "in_a_project")
def test_npm_installs_the_packages_of_its_lock(registry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", registry)
    monkeypatch.setenv("npm_config_package_lock", "false")  # Some set this for their own projects.
    lock = tmp_path / "toy.lock"
    text = locks.of_node(PACKAGE)
    assert "127.0.0.1" not in text
    assert "resolved" not in text
    older = json.loads(text)
    older["packages"]["node_modules/part"].update(
        version="1.0.0", integrity=integrity(Registry.archive("part", "1.0.0"))
    )
    lock.write_text(json.dumps(older))
    assert versions_of(node_environment.environment("toy@2.0.0", lock)) == {"toy": "2.0.0", "part": "1.0.0"}
    assert versions_of(node_environment.environment("toy@2.0.0")) == {"toy": "2.0.0", "part": "2.0.0"}, (
        "another place without it"
    )
    older["packages"]["node_modules/part"]["integrity"] = integrity(b"what was published first")
    lock.write_text(json.dumps(older))
    node_environment.environment.cache_clear()
    with refuses("npm-failed", "toy@2.0.0", "toy.lock", "EINTEGRITY", kind=NoEnvironmentError):
        node_environment.environment("toy@2.0.0", lock)
