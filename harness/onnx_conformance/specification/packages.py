# SPDX-License-Identifier: Apache-2.0
"""Finds the installed operator packages: ONNX's operators, and those of other specifications.

A package that cannot be used is left out with one line, and the others work.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import re
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import onnx.defs

from onnx_conformance import operators
from onnx_conformance.base.errors import HarnessError, Note
from onnx_conformance.base.verdict import line
from onnx_conformance.declare.package import OperatorPackage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

ONNX = OperatorPackage(
    name="onnx",
    module=operators.__name__,
    source=f"onnx {onnx.__version__}",
    schemas=onnx.defs.get_all_schemas_with_history,
)
"""ONNX's own operators."""
GROUP = "onnx_conformance.operators"
"""The group of the entry points of operator packages."""
FOLDERS = "ONNX_CONFORMANCE_OPERATORS"
"""The variable with the folders of further operator packages, which processes of a run inherit."""
RESERVED = frozenset({ONNX.name, "generated", "kernels", "provisional", "official", "transforms"})
"""Names of suites that no package may have."""
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,40}")
Schemas = dict[tuple[str, str], tuple[onnx.defs.OpSchema, ...]]
"""The schemas of an operator, the oldest first, by domain and name."""


class PackageError(HarnessError):
    """An operator package cannot be used; the text contains its place and the reason."""


def add_folder(folder: Path) -> None:
    """Let this process, and those that it starts, use the operator package in a folder.

    Raises:
        PackageError: the folder has no operator package, or the package cannot be used.
    """
    known, absolute = folders(), str(folder.absolute())
    if absolute not in known:
        os.environ[FOLDERS] = os.pathsep.join((*known, absolute))
        _found.cache_clear()
        _claimed.cache_clear()
    for problem in _found()[1]:
        if str(folder) in problem.text or absolute in problem.text:
            raise PackageError(problem.id, problem.text)


def folders() -> list[str]:
    """Return the folders that `add_folder` added, in this process or in one that started it."""
    return list(filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)))


def others() -> Mapping[str, OperatorPackage]:
    """Return the other operator packages than ONNX's, by name."""
    return _found()[0]


def every() -> tuple[OperatorPackage, ...]:
    """Return the package of ONNX itself, and then the others."""
    return (ONNX, *others().values())


def problems() -> list[Note]:
    """Return a sentence for each operator package that cannot be used."""
    return [*_found()[1], *_claimed()[1]]


def find(name: str) -> OperatorPackage | None:
    """Return the operator package of a name, or of a domain if only one package has operators of it; None otherwise."""
    if (found := others().get(name)) is not None:
        return found
    owners = {package.name for (domain, _), (package, _) in _claimed()[0].items() if domain == name}
    return others()[owners.pop()] if len(owners) == 1 else None


def named(name: str) -> OperatorPackage:
    """Return the operator package of a name, or of a domain.

    Raises:
        PackageError: no package has the name.
    """
    if name == ONNX.name:
        return ONNX
    if (found := find(name)) is not None:
        return found
    wrong = "".join(f"; {note.text}" for note in problems())
    known = ", ".join((ONNX.name, *others()))
    raise PackageError("unknown-package", f"there is no operator package {line(name, 80)}; there are {known}{wrong}")


def schemas_of(package: OperatorPackage) -> Schemas:
    """Return the schemas of the operators of a package, sorted, without those that another package defined first."""
    if package is ONNX:
        return _of_onnx()
    return {key: found for key, (owner, found) in sorted(_claimed()[0].items()) if owner is package}


def owner_of(domain: str, name: str, unknown: OperatorPackage = ONNX) -> OperatorPackage:
    """Return the package that defines an operator; `unknown` if none does."""
    if (domain, name) in _of_onnx():
        return ONNX
    return _claimed()[0].get((domain, name), (unknown, ()))[0]


def schemas(domain: str, name: str) -> tuple[onnx.defs.OpSchema, ...]:
    """Return the schemas of an operator, the oldest first; empty if no package defines it."""
    return _of_onnx().get((domain, name)) or _claimed()[0].get((domain, name), (None, ()))[1]


@functools.cache
def _of_onnx() -> Schemas:
    return _grouped(ONNX)


def _grouped(package: OperatorPackage) -> Schemas:
    groups: dict[tuple[str, str], list[onnx.defs.OpSchema]] = {}
    for schema in package.schemas():
        groups.setdefault((schema.domain or "ai.onnx", schema.name), []).append(schema)
    return {key: tuple(sorted(group, key=lambda schema: schema.since_version)) for key, group in groups.items()}


@functools.cache
def _claimed() -> tuple[dict[tuple[str, str], tuple[OperatorPackage, tuple[onnx.defs.OpSchema, ...]]], list[Note]]:
    """Return the operators of the other packages with their package and schemas, and notes on unusable ones."""
    claimed: dict[tuple[str, str], tuple[OperatorPackage, tuple[onnx.defs.OpSchema, ...]]] = {}
    wrong: list[Note] = []
    for package in others().values():
        try:
            grouped = _grouped(package)
        except Exception as error:  # noqa: BLE001 - the package has foreign code
            text = f"operator package {package.name}: its schemas cannot be read: {_cause(error)}"
            wrong.append(Note("package-schemas-broken", text))
            continue
        for key, found in grouped.items():
            owner = ONNX if key in _of_onnx() else claimed[key][0] if key in claimed else None
            if owner is None:
                claimed[key] = package, found
                continue
            text = (
                f"operator package {package.name} defines {line('/'.join(key), 80)}, which {owner.name} defines too; "
                f"that of {owner.name} is used"
            )
            wrong.append(Note("operator-defined-twice", text))
    return claimed, wrong


@functools.cache
def _found() -> tuple[dict[str, OperatorPackage], list[Note]]:
    """Return the other packages than ONNX's by name, and notes on unusable ones."""
    packages: dict[str, OperatorPackage] = {}
    wrong: list[Note] = []
    for place, load in _places():
        try:
            package = _checked(load(), place)
        except PackageError as error:
            wrong.append(Note(error.id, error.text))
            continue
        except Exception as error:  # noqa: BLE001 - the package has foreign code
            text = f"operator package {place} cannot be imported: {_cause(error)}"
            wrong.append(Note("package-not-importable", text))
            continue
        if package.name in packages:
            text = f"operator package {place}: there is another package {package.name}; rename one"
            wrong.append(Note("package-name-taken", text))
            continue
        packages[package.name] = package
    return packages, wrong


def _cause(error: Exception) -> str:
    where = f"{error.filename}, line {error.lineno}: " if isinstance(error, SyntaxError) else ""
    return line(f"{where}{type(error).__name__}: {error}", 300)


def _places() -> Iterator[tuple[str, functools.partial[ModuleType]]]:
    """Yield the place of each package, with a function that imports it."""
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        yield f"{line(point.name, 80)} ({line(point.value, 200)})", functools.partial(point.load)
    for text in folders():
        yield text, functools.partial(_imported, Path(text))


def _imported(folder: Path) -> ModuleType:
    """Import the Python package in a folder by the name of the folder."""
    init, name = folder / "__init__.py", folder.name
    if not init.is_file():
        raise PackageError("no-operator-package", f"{folder} is not an operator package: it has no file __init__.py")
    if not name.isidentifier():
        raise PackageError("no-operator-package", f"{folder}: the name of the folder must be one of a Python package")
    if (known := sys.modules.get(name)) is not None:
        if Path(str(known.__file__)) != init:
            raise PackageError("package-name-taken", f"{folder}: another Python package has the name {name}; rename it")
        return known
    spec = importlib.util.spec_from_file_location(name, init, submodule_search_locations=[str(folder)])
    assert spec is not None  # noqa: S101 - the file is one of Python
    assert spec.loader is not None  # noqa: S101 - as above
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _checked(module: ModuleType, place: str) -> OperatorPackage:
    package = getattr(module, "PACKAGE", None)
    if not isinstance(package, OperatorPackage):
        raise PackageError(
            "no-operator-package", f"operator package {place}: its variable PACKAGE must be an OperatorPackage"
        )
    if not _NAME.fullmatch(package.name) or package.name in RESERVED:
        raise PackageError(
            "package-name-invalid",
            f"operator package {place}: its name is {line(repr(package.name), 60)}; expected lower-case letters, "
            f"digits, _ and -, and none of {', '.join(sorted(RESERVED))}",
        )
    if package.module != module.__name__:
        raise PackageError(
            "package-module-wrong",
            f"operator package {place}: its module is {line(repr(package.module), 60)}; write module=__name__",
        )
    return package
