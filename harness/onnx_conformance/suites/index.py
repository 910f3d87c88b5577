"""The index of the generated suite: the data that a command needs before its first case.

It is kept among the packs, so that a second run need not load all operator files, which takes longer than to start.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import onnx

from onnx_conformance.generation import manifest
from onnx_conformance.specification import completeness, registry, rewordings, schema
from onnx_conformance.suites import packs


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
    known: Any = packs.read_json(key) if key is not None else None
    if known is not None:
        return Index(**known)
    made = _made()
    if key is not None:
        packs.write_json(key, asdict(made))
    return made


def _made() -> Index:
    declared = registry.load()
    versions = [(op, version) for op in declared for version in registry.versions(op)]
    cases: Counter[str] = Counter()
    core: Counter[str] = Counter()
    for op in declared:
        cases.update(manifest.counts(op))
        core.update(manifest.counts(op, of_core=True))
    names = [str(version) for _, version in versions]
    new = [f"{op}/{since}" for op in declared for since in registry.undeclared(op)]
    return Index(
        cases={name: cases[name] for name in names},
        core={name: core[name] for name in names},
        new=new + [name for path, each in schema.every().items() if not _has(declared, path) for name in each],
        gone=[f"{op}/{since}" for op in declared for since in registry.missing(op)],
        reworded=[
            str(version)
            for op, version in versions
            if rewordings.unread(version, (item for item in op.clauses if item.in_force(version.since)))
        ],
        covers=completeness.covers(),
    )


def _has(declared: registry.Registry, path: str) -> bool:
    domain, name = path.split("/")
    return declared.find(domain, name) is not None


def left_out(known: Index) -> list[tuple[str, list[str]]]:
    """Return notes about operator versions, each with the names of the versions."""
    release = f"the installed onnx {onnx.__version__}"
    return [
        (f"{release} rewords sentences; cases that cite them are unspecified: ", known.reworded),
        (
            f"{release} defines operator versions that are not declared yet; the suite has no cases for them: ",
            known.new,
        ),
        (f"skipping operator versions that {release} does not define: ", known.gone),
    ]
