# SPDX-License-Identifier: Apache-2.0
"""Loads the operator files; rejects duplicates and gaps."""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.util
import pkgutil
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_conformance import operators
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.declare import DeclarationError, Op
from onnx_conformance.specification import packages, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType

    from onnx_conformance.declare.package import OperatorPackage
    from onnx_conformance.specification.schema import OperatorVersion

FOLDER = Path(operators.__file__).parent
"""The folder of all operator files, which has a folder for each group of operators."""


class UnknownOperatorError(HarnessError):
    """No operator file declares the operator. The message names the declared ones."""


class Registry:
    """The declared operators, by domain and name."""

    def __init__(self, declared: Iterable[Op]) -> None:
        """Store the operators, which may have any order.

        Raises:
            DeclarationError: two operators have the same name, or a version has no oracle.
        """
        self._ops: dict[tuple[str, str], Op] = {}
        self._add(declared)

    def _add(self, declared: Iterable[Op]) -> None:
        for op in declared:
            if (op.domain, op.name) in self._ops:
                raise DeclarationError("operator-declared-twice", f"{op} is declared in two operator files")
            _check(op)
            self._ops[op.domain, op.name] = op

    def __iter__(self) -> Iterator[Op]:
        """Iterate in the order of domain and name."""
        return iter(op for _, op in sorted(self._ops.items()))

    def find(self, domain: str, name: str) -> Op | None:
        """Return the operator, or None if no file declares it."""
        return self._ops.get((domain, name))

    def some(self, wanted: Callable[[str], bool]) -> Iterator[Op]:
        """Iterate over the operators that have a wanted version; its text is, for example, ai.onnx/Split/18."""
        return (op for op in self if any(wanted(str(version)) for version in versions(op)))

    def called(self, name: str) -> Op | None:
        """Return the operator called `Split` or `ai.onnx/Split`, in any letter case; None if no file declares it."""
        return next((op for op in self if _has_name(op, name)), None)

    def named(self, name: str) -> Op:
        """Return the operator called `Split` or `ai.onnx/Split`.

        Raises:
            UnknownOperatorError: there is no such operator.
        """
        op = self.called(name)
        if op is not None:
            return op
        names = [op.name for op in self]
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]}?" if near else f"the declared operators are {', '.join(names)}"
        raise UnknownOperatorError("unknown-operator", f"no operator is called {name!r}; {hint}")


class _Files(Registry):
    """The operators of all files of an operator package. A file is imported when one of its operators is needed.

    The file of an operator has its name: `SplitToSequence` is declared in `split_to_sequence.py`.
    """

    def __init__(self, package: OperatorPackage) -> None:
        """Import nothing yet: all files take more than a second."""
        super().__init__(())
        self._package = package
        self._complete = False
        self._modules: dict[str, list[str]] = {}
        for module in operator_modules(package):
            self._modules.setdefault(_stem(module), []).append(module)

    def __iter__(self) -> Iterator[Op]:
        """Import all files, and iterate in the order of domain and name.

        Raises:
            DeclarationError: a file is not valid Python, or a declaration is wrong. The message names file and line.
        """
        if not self._complete:
            self._ops = {}
            self._add(op for name in operator_modules(self._package) for op in _declared(name))
            self._complete = True
        return super().__iter__()

    def find(self, domain: str, name: str) -> Op | None:
        """Return the operator, of any package; None if no file declares it."""
        owner = packages.owner_of(domain, name, self._package)  # A file may declare one that its package lacks.
        if owner is not self._package:
            return load(owner).find(domain, name)
        self._import(name)
        return super().find(domain, name)

    def _import(self, name: str) -> None:
        """Import the files of the operators with a name, in any domain."""
        for module in self._modules.pop(name.lower(), ()) if not self._complete else ():
            self._add(_declared(module))

    def some(self, wanted: Callable[[str], bool]) -> Iterator[Op]:
        if self._complete:
            return super().some(wanted)
        every = schema.every(self._package)
        names = sorted(path.split("/", 1) for path, found in every.items() if any(map(wanted, found)))
        return (op for domain, name in names if (op := self.find(domain, name)) is not None)

    def called(self, name: str) -> Op | None:
        """Return the operator with this name, of ONNX rather than of another package."""
        self._import(name.rpartition("/")[2])
        own = next((op for _, op in sorted(self._ops.items()) if _has_name(op, name)), None)
        if own is not None or self._package is not packages.ONNX:
            return own
        return next(filter(None, (load(other).called(name) for other in packages.others().values())), None)


def _has_name(op: Op, name: str) -> bool:
    """Return whether this is the name of an operator, with or without its domain, in any letter case."""
    return name.lower() in (op.name.lower(), str(op).lower())


def _declared(module: str) -> list[Op]:
    """Return the operators that a module declares.

    Raises:
        DeclarationError: the file is not valid Python, or a declaration is wrong. The message names file and line.
    """
    ops = [item for item in vars(_imported(module)).values() if isinstance(item, Op)]
    for op in ops:
        if op.name.lower() != _stem(module):
            raise DeclarationError(
                "operator-file-misnamed",
                f"{file_of(module)} declares {op.name}; the file of an operator must have its name",
            )
    return ops


def _stem(module: str) -> str:
    """Return the part of a module's name that is the name of its operator in lower case."""
    return module.rpartition(".")[2].replace("_", "")


def folder_of(package: OperatorPackage) -> Path:
    """Return the folder of the operator files of a package."""
    return Path(importlib.import_module(package.module).__path__[0])


def file_of(module: str) -> Path:
    """Return the file of an operator's module, such as onnx_conformance.operators.math.add."""
    spec = importlib.util.find_spec(module)
    return Path(spec.origin if spec is not None and spec.origin else module)


def versions(op: Op) -> tuple[OperatorVersion, ...]:
    """Return the versions of an operator that its file declares and the installed onnx has, oldest first."""
    if not schema.known(op.domain, op.name):
        return ()
    return tuple(version for version in schema.versions(op.domain, op.name) if version.since in op.versions)


def undeclared(op: Op) -> tuple[int, ...]:
    """Return the versions of an operator that the installed onnx has and its file does not declare."""
    if not schema.known(op.domain, op.name):
        return ()
    return tuple(item.since for item in schema.versions(op.domain, op.name) if item.since not in op.versions)


def missing(op: Op) -> tuple[int, ...]:
    """Return the versions of an operator that its file declares and the installed onnx lacks."""
    here = {version.since for version in versions(op)}
    return tuple(since for since in op.versions if since not in here)


def _check(op: Op) -> None:
    current = [version for version in versions(op) if not version.deprecated]
    oracles = {version.since: op.oracle_for(version.since) for version in current}
    if missing(op):
        return  # An oracle may have a parameter of a version that this onnx lacks.
    for oracle in op.oracles:
        served = [version for version in current if oracles[version.since] is oracle]
        for name in oracle.parameters:
            if not any(name in version.arguments for version in served):
                raise DeclarationError(
                    "parameter-unknown",
                    f"{op}: no version has {name}, a parameter of oracle {oracle.function.__name__}",
                )


@functools.cache
def load(package: OperatorPackage = packages.ONNX) -> Registry:
    """Return the registry of all operator files of ONNX, or of another package.

    Either finds an operator of the other one by domain and name.
    """
    return _Files(package)


def _imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except SyntaxError as error:
        raise DeclarationError("operator-file-syntax", f"{error.filename}, line {error.lineno}: {error.msg}") from error
    except Exception as error:
        file = file_of(name)
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename) == file]
        where = f"{file}, line {frames[-1].lineno}" if frames else f"{file}"
        said = f"{error}" if isinstance(error, HarnessError) else f"{type(error).__name__}: {error}"
        raise DeclarationError("operator-file-broken", f"{where}: {said}") from error


def declares(module: str, op: Op) -> bool:
    """Return whether a module declares an operator."""
    return any(item is op for item in vars(importlib.import_module(module)).values())


def operator_modules(package: OperatorPackage = packages.ONNX) -> list[str]:
    """Return the names of the operator files' modules, without `_name.py`, which several operators share."""
    names = [
        info.name
        for info in pkgutil.walk_packages(importlib.import_module(package.module).__path__, f"{package.module}.")
        if not info.ispkg and not info.name.rpartition(".")[2].startswith("_")
    ]
    return sorted(names)
