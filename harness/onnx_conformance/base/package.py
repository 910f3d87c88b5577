"""This package: its version, and the folders that it reads its own files from."""

from __future__ import annotations

from pathlib import Path

VERSION = "0.1.0"
FOLDER = Path(__file__).absolute().parents[1]
"""The package `onnx_conformance`."""
BACKENDS = FOLDER / "backends"
"""The adapters; in a checkout, a link to the folder of that name at the top."""
GENERATED = FOLDER / "generated_cases"
"""The manifest; in a checkout, a link to the folder of that name at the top."""
CHECKOUT = FOLDER.resolve().parents[1] if (FOLDER.resolve().parents[1] / "pyproject.toml").is_file() else None
"""The checkout that contains the package; None in an installed copy."""
