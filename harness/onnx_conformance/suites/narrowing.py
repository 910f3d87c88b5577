# SPDX-License-Identifier: Apache-2.0
"""Which cases --type, --no-containers, --model and --claims select: those whose operator is called in certain ways."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.case.model_file import load_nodes
from onnx_conformance.declare.type import Type
from onnx_conformance.specification import model_use
from onnx_conformance.suites.claims import use_in, version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.specification.model_use import Use
    from onnx_conformance.specification.schema import OperatorVersion
    from onnx_conformance.suites.claims import Claims


@dataclass(frozen=True)
class Model:
    """A model of the user.

    Attributes:
        name: the name of its file.
        uses: how it uses each operator version, such as ai.onnx/Split/18.
        foreign: its operators that the installed onnx does not have.
    """

    name: str
    uses: Mapping[str, Use]
    foreign: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> Model:
        """Return the model of a file.

        Raises:
            HarnessError: the file cannot be read, or is not a model.
        """
        every = model_use.uses(load_nodes(path))
        foreign = tuple(use.operator for use in every if not use.version)
        return cls(path.name, {str(use): use for use in every if use.version}, foreign)

    @functools.cached_property
    def digest(self) -> str:
        """A digest of everything that the selection depends on."""
        rows = [
            f"{name} {sorted(use.attributes)} {sorted(use.unknown)} "
            f"{sorted((key, sorted(map(str, types))) for key, types in use.bound.items())}"
            for name, use in sorted(self.uses.items())
        ]
        return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Narrowing:
    """Limits on how the operator of a case is called.

    Attributes:
        types: names of element types; empty: any.
        containers: whether values may be in sequences, optionals or maps.
        model: only operator versions, types and attributes of this model; None: any.
        claims: only cases that these claims cover; None: any.
    """

    types: tuple[str, ...] = ()
    containers: bool = True
    model: Model | None = None
    claims: Claims | None = None

    def __bool__(self) -> bool:
        """Return whether there is any limit."""
        return bool(self.types) or not self.containers or self.model is not None or self.claims is not None

    def __str__(self) -> str:
        """Return the limits as on a command line, with digests of the files."""
        return " ".join(text for text, _ in self.parts())

    def parts(self) -> Iterator[tuple[str, Narrowing]]:
        """Yield the text of each limit, and the narrowing without it."""
        if self.model is not None:
            yield (
                f"--model {shlex.quote(f'{self.model.name}@{self.model.digest}')}",
                dataclasses.replace(self, model=None),
            )
        if self.claims is not None:
            yield (
                f"--claims {shlex.quote(f'{self.claims.name}@{self.claims.digest}')}",
                dataclasses.replace(self, claims=None),
            )
        if self.types:
            yield f"--type {','.join(self.types)}", dataclasses.replace(self, types=())
        if not self.containers:
            yield "--no-containers", dataclasses.replace(self, containers=True)

    @property
    def names_operators(self) -> bool:
        """Whether it selects certain operator versions."""
        return self.model is not None or self.claims is not None

    def has(self, operator: str) -> bool:
        """Return whether cases of an operator version may be selected."""
        return (self.model is None or operator in self.model.uses) and (
            self.claims is None or self.claims.has(operator)
        )

    def takes_case(self, case: Case) -> bool:
        """Return whether a case is selected; its model is read."""
        if not self:
            return True
        fits = self.fits(use_in(case))
        return fits is not None and fits(case.id, case.form)

    def fits(self, use: Use) -> Callable[[str, str], bool] | None:
        """Return a predicate on id and form of cases with such a use: whether they are selected; None: none is."""
        if not self._takes(use):
            return None
        if self.claims is None:
            return _any
        covering = self.claims.of(use)
        if not covering:
            return None
        return lambda case_id, form: any(claim.takes_named(case_id, form) for claim in covering)

    def _takes(self, use: Use) -> bool:
        """Return whether types, containers and model select a use, in any form."""
        if not self.containers and use.contains:
            return False
        if self.types and not self._has_types(use):
            return False
        if self.model is None:
            return True
        known = self.model.uses.get(str(use))
        return known is not None and use.attributes <= known.attributes and _types_within(use, known)

    def _has_types(self, use: Use) -> bool:
        """Return whether every type variable that allows one of the element types has one of them, and there is one."""
        wanted, version = set(self.types), version_of(use)
        elements = [
            {item.innermost.element for item in types}
            for key, types in use.bound.items()
            if version is None or (_counts(version, key) and wanted & _allowed_elements(version, key))
        ]
        return bool(elements) and all(item <= wanted for item in elements)


def _any(_case_id: str, _form: str) -> bool:
    return True


def _counts(version: OperatorVersion, key: str) -> bool:
    """Return whether the types of a variable count; in an operator without variables, the first parameter counts."""
    if version.types:
        return key in version.types
    return key == (*version.inputs, *version.outputs)[0].type


@functools.cache
def _elements(allowed: tuple[str, ...]) -> frozenset[str]:
    return frozenset(Type.parse(text).innermost.element for text in allowed)


def _allowed_elements(version: OperatorVersion, key: str) -> frozenset[str]:
    return _elements(version.allowed(key))


def _types_within(use: Use, known: Use) -> bool:
    """Return whether a model uses all the types, as far as its types are known."""
    return all(
        types <= known.bound[key] for key, types in use.bound.items() if key in known.bound and key not in known.unknown
    )
