# SPDX-License-Identifier: Apache-2.0
"""`generated_cases/core.toml`: cases that the core keeps, because they detect faults that its other cases do not.

The rules of `core` skip repetitions of a case in other types, versions and forms. A few of these repetitions detect an
injected fault that no other case detects. `nox -s mutants -- --core --add` measures which.
"""

from __future__ import annotations

import functools
import json
import tomllib
from typing import TYPE_CHECKING

from onnx_conformance.base.atomic_file import write
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import GENERATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

NAME = "core.toml"
HEAD = """\
# Cases of the core that detect an injected fault which no other case of the core detects, by operator.
# Written by `nox -s mutants -- --core --add`.
"""


class KeptError(HarnessError):
    """The file cannot be read or written; the text has the reason."""


@functools.cache
def ids(operator: str) -> frozenset[str]:
    """Return the ids of the kept cases of an operator such as ai.onnx/Split.

    Raises:
        KeptError: the file cannot be read.
    """
    return frozenset(f"{operator}/{name}" for name in _read(GENERATED).get(operator, ()))


@functools.cache
def _read(folder: Path) -> Mapping[str, list[str]]:
    file = folder / NAME
    try:
        tables = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise KeptError("kept-cases-not-readable", f"cannot read {file}: {error}") from error
    for operator, names in tables.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            text = f'{file}: {operator} must have a list of names of cases, such as ["18/uneven"]'
            raise KeptError("kept-cases-invalid", text)
    return tables


def add(cases: Iterable[str], known: Iterable[str], folder: Path = GENERATED) -> Path:
    """Add cases to the file of a folder, and remove those that do not exist any more.

    Args:
        cases: the ids of the new cases, such as ai.onnx/Split/18/uneven.
        known: the ids of all cases.
        folder: the folder of the file.

    Returns:
        The written file.

    Raises:
        KeptError: the file cannot be read or written.
    """
    every = set(known)
    before = {f"{operator}/{name}" for operator, names in _read(folder).items() for name in names}
    by_operator: dict[str, list[str]] = {}
    for case in sorted((before | set(cases)) & every):
        domain, name, rest = case.split("/", 2)
        by_operator.setdefault(f"{domain}/{name}", []).append(rest)
    file = folder / NAME
    try:
        write(file, [HEAD, *(f"{json.dumps(name)} = {json.dumps(names)}\n" for name, names in by_operator.items())])
    except OSError as error:
        raise KeptError("kept-cases-not-writable", f"cannot write {error.filename}: {error.strerror}") from error
    _read.cache_clear()
    ids.cache_clear()
    return file
