# SPDX-License-Identifier: Apache-2.0
"""A checker that accepts what its option says: everything, or nothing; it is there for the phases that it names."""

from __future__ import annotations

import os

from onnx_conformance.backends.option import VARIABLE

WHAT, _, PHASES = os.environ.get(VARIABLE, "all:signature,static").partition(":")


def info() -> dict[str, object]:
    return {"runtime": "wrong", "version": "1", "repro": "pass\n", "phases": PHASES.split(",")}


def check(model: bytes) -> None:
    if WHAT == "none":
        raise ValueError(f"{len(model)} bytes are never right")
