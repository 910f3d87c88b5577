# SPDX-License-Identifier: Apache-2.0
"""Which operators the tests of every operator are due for: those whose oracles or cases changed since all were tested.

    nox -s operators        # tests all of them, and writes tests/tested.toml anew

Of the others, `pytest` tests those of every kind alone: the whole takes longer than a change should wait.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from generated import KINDS, OPS
from onnx_conformance.generation import mutant_figures as figures
from paths import TESTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_conformance.declare import Op

TESTED = TESTS / "tested.toml"
"""By operator, the digest of its oracles and cases with which its tests have passed."""
HEAD = "# `nox -s operators` writes this file: by operator, the digest of what all its tests have passed with.\n"


def operators(ops: Iterable[Op] = OPS) -> set[str]:
    """Return the operators that are to be tested, by name."""
    tested = tomllib.loads(TESTED.read_text("utf-8")) if TESTED.is_file() else {}
    return {str(op) for op in ops if op.name in KINDS or tested.get(str(op)) != figures.digest(op)}


def write() -> None:
    """Write that all operators have been tested."""
    TESTED.write_text(HEAD + "".join(f'"{op}" = "{figures.digest(op)}"\n' for op in OPS), "utf-8")


if __name__ == "__main__":
    write()
