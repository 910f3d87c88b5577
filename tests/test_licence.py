# SPDX-License-Identifier: Apache-2.0
"""Every source file names its licence, so that a copied file keeps it."""

from __future__ import annotations

import itertools

from paths import ROOT

HEADER = "SPDX-License-Identifier: Apache-2.0"
ENDINGS = (".py", ".mjs", ".js", ".c", ".h", ".rs")
FOLDERS = ("harness", "backends", "runners", "tests", "tools")
WITHOUT = {"target"}
"""Folders with files that a compiler wrote."""


def test_every_source_file_names_its_licence() -> None:
    files = [
        path
        for path in itertools.chain.from_iterable((ROOT / folder).rglob("*") for folder in FOLDERS)
        if path.suffix in ENDINGS and path.is_file() and not WITHOUT & set(path.parts) and path.stat().st_size
    ]
    assert len(files) > 1000
    lacking = [path for path in files if HEADER not in "".join(path.read_text("utf-8").splitlines(keepends=True)[:2])]
    assert not lacking, lacking[:10]
