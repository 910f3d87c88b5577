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
"""The archive of the locks of a folder of adapters, which a wheel has instead of the files."""
CHECKOUT = FOLDER.resolve().parents[1] if (FOLDER.resolve().parents[1] / "pyproject.toml").is_file() else None
"""The checkout that contains the package; None in an installed copy."""


def packed(path: Path, archive: str = "") -> Path:
    """Return the path of a file of the package; a wheel has it in an archive, which is smaller.

    Args:
        path: the file in a checkout.
        archive: the name of the archive in the same folder; default: that of the file, with another suffix.
    """
    place = path.with_name(archive) if archive else path.with_suffix(SUFFIX)
    return ArchivedPath(place) / path.name if place.is_file() and not path.is_file() else path


def lock_of(data: Path) -> Path | None:
    """Return the lock in the folder of an adapter's data, or in the archive of that folder; None without a lock.

    Args:
        data: the TOML file or module of the adapter.
    """
    lock = packed(data.with_suffix(".lock"), LOCKS)
    return lock if lock.is_file() else None
