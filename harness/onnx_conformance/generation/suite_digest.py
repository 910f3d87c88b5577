# SPDX-License-Identifier: Apache-2.0
"""The digest of the suite: results with the same digest have the same cases.

It is a digest of the manifest, so a faster oracle or a comment in an operator file does not make published results
those of another suite. But the manifest is only known to be right for the code that it was written with. Therefore
`generated_cases/suite.toml` records that code. If the code has changed since, or another onnx is installed, the digest
is one of the code itself, until `onnx-conformance manifest` writes the manifest again.

The limits of errors are not in the manifest: they depend on the processor. The code that computes them is part of the
digest instead.
"""

from __future__ import annotations

import functools
import hashlib
import tomllib
from typing import TYPE_CHECKING

import onnx

from onnx_conformance.base.package import FOLDER, GENERATED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NAME = "suite.toml"
MACHINERY = ("operators", "declare", "specification", "forms", "tolerance", "generation")
"""The packages that generate the cases."""
LIMITS = ("tolerance",)
"""The packages that compute how large an error may be."""
LENGTH = 16


def code_digest(packages: Iterable[str]) -> str:
    """Return a digest of the files of packages of the harness."""
    hashed = hashlib.sha256()
    for path in sorted(path for name in packages for path in (FOLDER / name).rglob("*.py")):
        hashed.update(str(path.relative_to(FOLDER)).encode() + path.read_bytes())
    return hashed.hexdigest()


@functools.cache
def _machinery() -> str:
    """Return a digest of the code that makes the cases, as it was when this process began."""
    return code_digest(MACHINERY)


def of_code() -> str:
    """Return a digest of the operator files, the code that expands them, and the version of onnx."""
    return hashlib.sha256(f"{onnx.__version__} {_machinery()}".encode()).hexdigest()[:LENGTH]


def of_manifest(folder: Path = GENERATED) -> str:
    """Return a digest of the cases in a manifest, and of the code that computes the limits of errors."""
    hashed = hashlib.sha256(code_digest(LIMITS).encode())
    for path in sorted(folder.glob("*.txt"), key=lambda path: path.name):
        hashed.update(f"{path.name} {path.read_text(encoding='utf-8')}".encode())
    return hashed.hexdigest()[:LENGTH]


def recorded(folder: Path = GENERATED) -> str | None:
    """Return the recorded digest of a manifest; None if the manifest was written with other code or another onnx."""
    try:
        record = tomllib.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    digest = record.get("digest")
    return digest if isinstance(digest, str) and record.get("code") == of_code() else None


@functools.cache
def _known(code: str) -> str:
    return recorded() or code


def digest() -> str:
    """Return the digest of the suite."""
    return _known(of_code())


def record(folder: Path) -> Path:
    """Write the digest of the manifest in a folder, which the present code has just written.

    Returns:
        The written file.

    Raises:
        OSError: the file cannot be written.
    """
    path = folder / NAME
    text = f'# Written by `onnx-conformance manifest`.\ncode = "{of_code()}"\ndigest = "{of_manifest(folder)}"\n'
    path.write_text(text, encoding="utf-8")
    return path


def differences(folder: Path) -> list[str]:
    """Return a sentence if the recorded digest is not that of the manifest in a folder, otherwise an empty list.

    A record of other code is no difference: it is not used.
    """
    known, now = recorded(folder), of_manifest(folder)
    return [] if known in {None, now} else [f"{folder / NAME}: has digest {known}, but the manifest has {now}"]
