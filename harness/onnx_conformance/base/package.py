# SPDX-License-Identifier: Apache-2.0
"""This package: its version, its address, and the folders that it reads its own files from."""

from __future__ import annotations

from pathlib import Path

from onnx_conformance.base.archived_folder import SUFFIX, ArchivedPath

VERSION = "1.0.0"
REPOSITORY = "https://github.com/onnx-conformance/onnx-conformance"
"""The address of the repository. To move the project, change this line; tests/test_release.py lists the copies."""
FOLDER = Path(__file__).absolute().parents[1]
"""The package `onnx_conformance`."""
BACKENDS = FOLDER / "backends"
"""The adapters; in a checkout, a link to the folder of that name at the top."""
_MANIFEST = FOLDER / "generated_cases"
GENERATED: Path = _MANIFEST if _MANIFEST.is_dir() else ArchivedPath(_MANIFEST.with_suffix(SUFFIX))
"""The manifest; in a checkout, a link to the folder of that name at the top, and otherwise an archive."""
LOCKS = f"locks{SUFFIX}"
"""The archive of the locks of the adapters and of those in subfolders, which a wheel has instead of the files."""
CHECKOUT = FOLDER.resolve().parents[1] if (FOLDER.resolve().parents[1] / "pyproject.toml").is_file() else None
"""The checkout that contains the package; None in an installed copy."""


def packed(path: Path) -> Path:
    """Return the path of a file of the package; a wheel has it in an archive, which is smaller.

    Args:
        path: the file in a checkout. The archive has the same name with another suffix.
    """
    place = path.with_suffix(SUFFIX)
    return ArchivedPath(place) / path.name if place.is_file() and not path.is_file() else path


def lock_of(data: Path) -> Path | None:
    """Return the lock in the folder of an adapter's data, or in the archive of the adapters; None without a lock.

    Args:
        data: the TOML file or module of the adapter.
    """
    lock = data.with_suffix(".lock")
    archives = (ArchivedPath(folder / LOCKS) / lock.relative_to(folder) for folder in lock.parents[:2])
    return next((path for path in (lock, *archives) if path.is_file()), None)
