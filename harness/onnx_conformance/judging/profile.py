"""The profile of a backend: the statements of its author that verdicts depend on, from a TOML file."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onnx_conformance.suites import claims
from onnx_conformance.suites.claims import Claims

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.target import Target


@dataclass(frozen=True)
class Profile:
    """The statements of the author of a backend.

    Attributes:
        claims: the cases that the backend supports.
    """

    claims: Claims = field(default_factory=Claims)


NOTHING = Profile()


def of(target: Target, hello: Mapping[str, Any]) -> Profile:
    """Return the profile of a backend: of its file, and claims that its adapter derives from registered kernels.

    Raises:
        ClaimsError: it is malformed.
    """
    registered = hello.get(claims.TABLE)
    if not target.profile and not registered:
        return NOTHING
    return _of(target.profile, target.name, json.dumps(registered or []))


@functools.lru_cache(maxsize=16)
def _of(text: str, name: str, registered: str) -> Profile:
    own, more = claims.parse(text, name), claims.of_tables(json.loads(registered), name)
    return Profile(Claims(name, (*own.every, *more.every)))
