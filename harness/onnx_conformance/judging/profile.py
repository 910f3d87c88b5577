# SPDX-License-Identifier: Apache-2.0
"""The profile of a backend: the statements of its author that verdicts depend on, from a TOML file."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.verdict import line
from onnx_conformance.judging import bounds, exclusions, overrides
from onnx_conformance.suites import claims, profile_file
from onnx_conformance.suites.claims import Claims
from onnx_conformance.suites.profile_file import ProfileError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from onnx_conformance.base.target import Target
    from onnx_conformance.judging.bounds import Bound
    from onnx_conformance.judging.error_limit import ErrorLimit
    from onnx_conformance.judging.exclusions import Exclusion
    from onnx_conformance.judging.overrides import Override

TABLES = (claims.TABLE, exclusions.TABLE, overrides.TABLE, bounds.TABLE)
"""The names of the tables; a provider file has other tables, too."""
DIGEST = "profile"
"""The member of a backend in the header of results with a digest of its file."""


@dataclass(frozen=True)
class Profile:
    """The statements of the author of a backend.

    Attributes:
        claims: the cases that the backend supports.
        exclusions: failures that are accepted.
        overrides: wider tolerances.
        bounds: errors that answers stay below, smaller than the tolerances.
    """

    claims: Claims = field(default_factory=Claims)
    exclusions: tuple[Exclusion, ...] = ()
    overrides: tuple[Override, ...] = ()
    bounds: tuple[Bound, ...] = ()

    def exclusion(self, case_id: str) -> Exclusion | None:
        """Return the first exclusion that matches a case."""
        return next((item for item in self.exclusions if item.matches(case_id)), None)


NOTHING = Profile()


def of(target: Target, hello: Mapping[str, Any]) -> Profile:
    """Return the profile of a backend: of its file, and claims that its adapter derives from registered kernels.

    Raises:
        ProfileError: it is malformed.
    """
    registered = hello.get(claims.TABLE)
    if not target.profile and not registered:
        return NOTHING
    return _of(target.profile, target.name, json.dumps(registered or []))


@functools.lru_cache(maxsize=16)
def _of(text: str, name: str, registered: str) -> Profile:
    tables = _tables(text, name)
    own = claims.of_tables(tables.get(claims.TABLE, []), name)
    more = claims.of_tables(json.loads(registered), name)
    return Profile(
        Claims(name, (*own.every, *more.every)),
        exclusions.of_tables(tables.get(exclusions.TABLE, []), name),
        overrides.of_tables(tables.get(overrides.TABLE, []), name),
        bounds.of_tables(tables.get(bounds.TABLE, []), name),
    )


def _tables(text: str, name: str) -> dict[str, Any]:
    tables = profile_file.parsed(text, name)
    for key in tables:
        if key not in TABLES and (near := difflib.get_close_matches(key, TABLES, 1)):
            raise ProfileError(
                "profile-table-unknown",
                f"{line(name)}: [[{line(key, 80)}]] is not a valid table; did you mean [[{near[0]}]]?",
            )
    return tables


def with_file(target: Target, text: str) -> Target:
    """Return a target with the profile of another file, unless the file of the backend has tables of a profile.

    Args:
        target: the backend.
        text: the text of --profile; may be empty.

    Raises:
        ProfileError: a file is malformed.
    """
    if text and not any(table in _tables(target.profile, target.name) for table in TABLES):
        target = dataclasses.replace(target, profile=text)
    of(target, {})
    return target


def described(target: Target, hello: Mapping[str, Any]) -> dict[str, Any]:
    """Return a hello with the profile of its backend: a digest of the file, and its tables without claims.

    Raises:
        ProfileError: it is malformed.
    """
    profile = of(target, {}) if target.profile else NOTHING
    tables: dict[str, Sequence[Exclusion | ErrorLimit]] = {
        exclusions.TABLE: profile.exclusions, overrides.TABLE: profile.overrides, bounds.TABLE: profile.bounds,
    }  # fmt: skip
    members = {key: value for key, value in hello.items() if key not in {DIGEST, *tables}}
    if not target.profile:
        return members
    members[DIGEST] = hashlib.sha256(target.profile.encode()).hexdigest()
    members |= {table: [row.members for row in rows] for table, rows in tables.items() if rows}
    return members
