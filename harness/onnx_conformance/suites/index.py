# SPDX-License-Identifier: Apache-2.0
"""The index of the generated suite: the data that a command needs before its first case.

The names of the declared operator versions are kept among the packs, so that a second run need not load all operator
files, which takes longer than to start. They are compared with the manifest, and the numbers of cases are read from it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import onnx

from onnx_conformance.base.errors import Note
from onnx_conformance.generation import manifest
from onnx_conformance.specification import completeness, registry, rewordings, schema
from onnx_conformance.suites import packs

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(frozen=True)
class Index:
    """The declarations of the operator files.

    Attributes:
        cases: by declared operator version, how many cases the manifest has, in the order of the suite.
        core: the same of the core.
        new: operator versions that only the installed onnx has.
        gone: operator versions that only the operator files have.
        reworded: operator versions with sentences that the installed onnx words otherwise.
        covers: see `completeness.covers`.
    """

    cases: dict[str, int]
    core: dict[str, int]
    new: list[str]
    gone: list[str]
    reworded: list[str]
    covers: dict[str, int]

    @property
    def total(self) -> int:
        """The number of all cases."""
        return sum(self.cases.values())


def index(digest: str) -> Index:
    """Return the index of the operator files, from the cache if an earlier command has made it.

    Args:
        digest: of the operator files.
    """
    # A caller of the library may have put another registry in place of the one of the operator files.
    key = packs.key("index", digest) if registry.load.__module__ == registry.__name__ else None
    counts = manifest.all_counts()
    known = _known(key, counts) if key is not None else None
    if known is None:
        known = _declared()
        if key is not None:
            packs.write_json(key, asdict(known))
    return Index(
        cases={name: counts[name].cases if name in counts else 0 for name in known.names},
        core={name: counts[name].core if name in counts else 0 for name in known.names},
        new=_new(known.names),
        gone=known.gone,
        reworded=known.reworded,
        covers=completeness.covers(known.names),
    )


def _new(names: Collection[str]) -> list[str]:
    """Return the operator versions that only the installed onnx has, those of declared operators first."""
    declared = {name.rpartition("/")[0] for name in names}
    new = [name for name in schema.every_version() if name not in set(names)]
    return sorted(new, key=lambda name: name.rpartition("/")[0] not in declared)


@dataclass(frozen=True)
class _Declared:
    """The part of the index that only the operator files have.

    Attributes:
        names: the declared operator versions that the installed onnx has, in the order of the suite.
        gone, reworded: as in `Index`.
    """

    names: list[str]
    gone: list[str]
    reworded: list[str]


def _known(key: str, in_manifest: Collection[str]) -> _Declared | None:
    """Return the part that an earlier command has kept; None if it is missing, or does not match the manifest.

    The names decide which cases run. So each operator version of the manifest must be among them, unless the installed
    onnx lacks it, and any other name must be in an operator file.
    """
    kept: Any = packs.read_json(key)
    try:
        known = _Declared(**kept)
        names, here = set(known.names), set(schema.every_version())
        lists = {*known.gone, *known.reworded}
    except TypeError:  # It does not exist, or has another format.
        return None
    if not all(isinstance(name, str) for name in lists | names) or names - here or here & set(known.gone):
        return None
    if (here & set(in_manifest)) - names or set(known.reworded) - names:
        return None
    return known if all(map(_is_declared, names - set(in_manifest))) else None


def _is_declared(name: str) -> bool:
    """Return whether an operator file declares an operator version; imports only this file."""
    domain, operator, since = name.split("/")
    op = registry.load().find(domain, operator)
    return op is not None and int(since) in op.versions


def _declared() -> _Declared:
    """Return the declarations of all operator files, which takes longer than to start."""
    declared = registry.load()
    versions = [(op, version) for op in declared for version in registry.versions(op)]
    return _Declared(
        names=[str(version) for _, version in versions],
        gone=[f"{op}/{since}" for op in declared for since in registry.missing(op)],
        reworded=[
            str(version)
            for op, version in versions
            if rewordings.unread(version, (item for item in op.clauses if item.in_force(version.since)))
        ],
    )


def left_out(known: Index) -> list[tuple[Note, list[str]]]:
    """Return notes about operator versions, each with the names of the versions."""
    release = f"the installed onnx {onnx.__version__}"
    reworded = f"{release} rewords sentences; cases that cite them are unspecified: "
    new = f"{release} defines operator versions that are not declared yet; the suite has no cases for them: "
    gone = f"skipping operator versions that {release} does not define: "
    return [
        (Note("sentences-reworded", reworded), known.reworded),
        (Note("versions-undeclared", new), known.new),
        (Note("versions-not-in-onnx", gone), known.gone),
    ]
