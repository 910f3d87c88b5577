# SPDX-License-Identifier: Apache-2.0
"""Collecting models from packages, and counting them."""

from __future__ import annotations

import io
import json
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING

import onnx.parser
import pytest
from click.testing import CliRunner

from onnx_conformance.specification.usage import table
from refusals import refuses
from tools.usage import __main__ as usage
from tools.usage import packages
from tools.usage.packages import Model, Package, PackagesError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MODEL = '<ir_version: 10, opset_import: ["" : 17]> main (float[2] x) => (y) { y = Relu(x) }'
WHEEL = Package("pypi", "of-python", "1.0", "a test", "MIT", (Model("own/a.onnx", ("own/a.onnx",)),))
PACKED = Package("npm", "@of/node", "2.0", "a test", "", (Model("whole", ("package/1", "package/2")),))


def relu() -> bytes:
    return onnx.parser.parse_model(MODEL).SerializeToString()


def wheel(path: Path, files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def packed(path: Path, files: Mapping[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            item = tarfile.TarInfo(name)
            item.size = len(data)
            archive.addfile(item, io.BytesIO(data))


@pytest.fixture
def registries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let both registries be a folder, whose files are copied into the current folder under their own names."""
    copy = "import shutil, sys; shutil.copy(sys.argv[1], '.')"
    folder = tmp_path / "registry"
    folder.mkdir()
    suffixes = {"pypi": "whl", "npm": "tgz"}
    commands = {name: (sys.executable, "-c", copy, f"{folder}/{{version}}.{end}") for name, end in suffixes.items()}
    monkeypatch.setattr(packages, "_DOWNLOADS", commands)
    return folder


def test_models_are_collected_once_and_have_an_index(registries: Path, tmp_path: Path) -> None:
    model = relu()
    wheel(registries / "1.0.whl", {"own/a.onnx": model})
    packed(registries / "2.0.tgz", {"package/1": model[:20], "package/2": model[20:]})
    folder = tmp_path / "models"
    assert list(packages.collect([WHEEL, PACKED], folder)) == ["of-python 1.0: 1 models", "@of/node 2.0: 1 models"]
    (folder / "torch.small.onnx").write_bytes(model)
    assert not list(packages.collect([WHEEL, PACKED], folder))
    index = json.loads((folder / "index.json").read_text())
    assert {name: (row["source"], row["path"], row["licence"]) for name, row in index.items()} == {
        "of-python-own.a.onnx": ("pypi of-python 1.0", "own/a.onnx", "MIT"),
        "of.node-whole.onnx": ("npm @of/node 2.0", "whole", ""),
        "torch.small.onnx": ("export torch", "torch.small.onnx", ""),
    }
    assert all((folder / name).read_bytes() == model for name in index)


def test_a_package_without_its_model_is_refused(registries: Path, tmp_path: Path) -> None:
    wheel(registries / "1.0.whl", {"other.onnx": b""})
    with refuses("no-such-model", "of-python 1.0", "own/a.onnx", "packages.toml", kind=PackagesError):
        list(packages.collect([WHEEL], tmp_path / "models"))


def test_a_package_that_cannot_be_downloaded_is_refused(registries: Path, tmp_path: Path) -> None:
    del registries
    with refuses("cannot-download", "of-python 1.0", kind=PackagesError):
        list(packages.collect([WHEEL], tmp_path / "models"))


@pytest.mark.parametrize(
    "text",
    [
        "package = 1",
        "[[package]]\nregistry = 'pypi'",
        "[[package]]\nregistry = 'cran'\nname = 'a'\nversion = '1'\nabout = 'b'\nmodels = []",
        "[[package]",
    ],
)
def test_a_wrong_list_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "packages.toml"
    path.write_text(text)
    with refuses("not-a-list-of-packages", path, kind=PackagesError):
        packages.listed(path)


def test_the_list_of_the_project_has_models_under_names_of_their_own() -> None:
    listed = packages.listed()
    names = [package.file_of(model) for package in listed for model in package.models]
    assert len(names) > 40
    assert len(names) == len(set(names))
    assert all(package.about for package in listed)


def test_equal_models_count_once(tmp_path: Path) -> None:
    for name, text in (("a", MODEL), ("b", MODEL.replace("float[2]", "float[3]")), ("c", MODEL.replace("Relu", "Abs"))):
        onnx.save(onnx.parser.parse_model(text), tmp_path / f"{name}.onnx")
    counts = usage.counted(sorted(tmp_path.iterdir()))
    assert [pattern.name for count in counts for pattern in count] == ["ai.onnx/Relu", "ai.onnx/Abs"]


def test_the_command_writes_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "usage.tsv"
    monkeypatch.setattr(packages, "listed", list)
    write, read = table.write, table.read
    monkeypatch.setattr(table, "write", lambda models: write(models, own))
    monkeypatch.setattr(table, "read", lambda: read(own))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "a.onnx").write_bytes(relu())
    words = ["--models", str(tmp_path / "models"), "--no-export"]
    done = CliRunner().invoke(usage.main, words)
    assert (done.exit_code, done.output) == (0, "1 models, 1 patterns of 1 operators\n")
    assert own.read_text().endswith("ai.onnx/Relu/14\tT=float\t\tX/1\t0\t1\t1\n")
    (tmp_path / "models" / "b.onnx").write_bytes(b"no model")
    done = CliRunner().invoke(usage.main, words)
    assert done.exit_code == 2
    assert done.output.endswith("b.onnx is not an ONNX model; remove it\n"), done.output


def test_an_exporter_that_fails_is_named(tmp_path: Path) -> None:
    with refuses("exporter-failed", "torch_models", "--python", kind=PackagesError):
        usage.export(tmp_path, "false")
