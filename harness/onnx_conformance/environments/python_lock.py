# SPDX-License-Identifier: Apache-2.0
r"""Reads locks of Python environments: requirement files that pin every package, with the digests of its files.

    numpy==2.5.5 ; python_full_version >= '3.12' \
        --hash=sha256:00f1... \
        --hash=sha256:17a2...

`tools/locks.py` writes them, in the format of `uv pip compile --generate-hashes`, which pip and uv read. uv accepts a
file of a package only if its digest is among those of the lock. So a changed file on an index is not installed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

HASH = re.compile(r"--hash=(sha256:[0-9a-f]{64})")
"""The digest of one file of a package."""


class LockError(HarnessError):
    """A lock cannot be made or read. The message names the lock and the reason."""


@dataclass(frozen=True)
class Pin:
    """One entry of a lock.

    Attributes:
        requirement: the package with one public version, and the platforms that it is for.
        hashes: "sha256:" and the digest, of each file of the package.
    """

    requirement: Requirement
    hashes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the package, in the spelling that can be compared."""
        return canonicalize_name(self.requirement.name)

    @property
    def text(self) -> str:
        """The entry as uv writes it."""
        (only,) = self.requirement.specifier
        marker = f" ; {self.requirement.marker}" if self.requirement.marker else ""
        lines = [f"{self.requirement.name}{only}{marker}", *(f"--hash={item}" for item in self.hashes)]
        return " \\\n    ".join(lines) + "\n"


def pins(text: str, name: str) -> list[Pin]:
    """Return the entries of a lock; comments are skipped.

    Args:
        text: the text of the lock.
        name: the name of the file, for the message.

    Raises:
        LockError: an entry has another form: a range, an address, or an option such as the index; or it has no digest.
    """
    return [_pin(number, entry, name) for number, entry in _entries(text)]


def _entries(text: str) -> Iterator[tuple[int, str]]:
    """Yield the entries, each on one line, with the number of the first line of each."""
    parts: list[str] = []
    for number, raw in enumerate(text.splitlines(), 1):
        content = raw.partition("#")[0].strip()
        parts.append(content.removesuffix("\\").strip())
        if content.endswith("\\"):
            continue
        if entry := " ".join(filter(None, parts)):
            yield number - len(parts) + 1, entry
        parts = []
    if entry := " ".join(filter(None, parts)):
        yield len(text.splitlines()) - len(parts) + 1, entry


def _pin(number: int, entry: str, name: str) -> Pin:
    pin, *options = re.split(r"\s+(?=--)", entry)
    try:
        requirement = Requirement(pin)
        (only,) = requirement.specifier
        pinned = only.operator == "==" and not requirement.url and Version(only.version).local is None
    except (InvalidRequirement, InvalidVersion, ValueError):
        pinned = False
    if not pinned:
        raise LockError(
            "pin-invalid",
            f"{name}, line {number}: {line(pin, 80)!r} is not NAME==VERSION with a public version; a lock must not "
            "contain an index, an address or a range",
        )
    found = [HASH.fullmatch(option) for option in options]
    hashes = tuple(match[1] for match in found if match)
    if not hashes or len(hashes) < len(options):
        raise LockError(
            "pin-without-hash",
            f"{name}, line {number}: {line(pin, 80)!r} must be followed by the SHA-256 digest of each of its files, "
            "and nothing else: --hash=sha256:DIGEST",
        )
    return Pin(requirement, hashes)


def joined(locks: Iterable[Path]) -> list[Pin]:
    """Return the entries of several locks; a package that several name has the entries of the first.

    Raises:
        LockError: a lock cannot be read.
    """
    found: list[Pin] = []
    for lock in locks:
        names = {pin.name for pin in found}
        found += [pin for pin in pins(lock.read_text(encoding="utf-8"), lock.name) if pin.name not in names]
    return found


def unmet(pinned: Iterable[Pin], requirements: Iterable[str]) -> list[str]:
    """Return the requirements that no entry of a lock meets."""
    versions: dict[str, list[str]] = {}
    for pin in pinned:
        (only,) = pin.requirement.specifier
        versions.setdefault(pin.name, []).append(only.version)
    missing = []
    for text in requirements:
        wanted = Requirement(text)
        known = versions.get(canonicalize_name(wanted.name), [])
        if not any(wanted.specifier.contains(version, prereleases=True) for version in known):
            missing.append(text)
    return missing
