# SPDX-License-Identifier: Apache-2.0
"""A backend, and how to start its adapter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Target:
    """A backend, and how to start its adapter.

    Attributes:
        name: as the user wrote it.
        command: of its adapter.
        environment: variables that its adapter needs, whatever those of the harness are.
        passes: names of variables that it inherits from the harness, in addition to those of every adapter.
        sandbox: words before the command that confine it; see `sandbox`.
        sees: folders that its adapter imports from, which a sandbox must show.
        profile: the text of the file with the statements of its author, see `judging.profile`; may be empty.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    passes: tuple[str, ...] = ()
    sandbox: tuple[str, ...] = ()
    sees: tuple[Path, ...] = ()
    profile: str = ""
