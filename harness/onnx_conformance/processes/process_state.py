# SPDX-License-Identifier: Apache-2.0
"""The states of one adapter process, from its start to its end, each with the data that only this state has.

    Absent -> Starting -> Serving -> Ending -> Absent

A process that closes its output is Silent until its supervisor reports how it ended. Starting, Serving and Silent
processes may be ended at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_conformance.processes.process_tree import ProcessTree
    from onnx_conformance.processes.replies import Died


@dataclass(frozen=True)
class Absent:
    """There is no process."""


@dataclass(frozen=True)
class Starting:
    """The process has not sent hello.

    Attributes:
        process: it.
        in_advance: whether it was started while the process before it worked.
        first_death: how the process before it died, if that had not sent hello either.
    """

    process: ProcessTree
    in_advance: bool = False
    first_death: Died | None = None


@dataclass(frozen=True)
class Serving:
    """The process has sent hello, and answers cases.

    Attributes:
        process: it.
        withdrawn: whether cases that it was sent are withdrawn; it is ended after its next answer.
    """

    process: ProcessTree
    withdrawn: bool = False


@dataclass(frozen=True)
class Silent:
    """The process has closed its output, but is not known to have ended.

    Attributes:
        before: its state before that.
        since: the time.monotonic() when it closed its output.
    """

    before: Starting | Serving
    since: float

    @property
    def process(self) -> ProcessTree:
        """The process."""
        return self.before.process


@dataclass(frozen=True)
class Ending:
    """The process was killed; the next one starts when it has ended.

    Attributes:
        process: it.
        until: the time.monotonic() when it must have ended.
        first_death: how it died, if it did before its hello, and is to be started once more.
    """

    process: ProcessTree
    until: float
    first_death: Died | None = None


State = Absent | Starting | Serving | Silent | Ending


def has_said_hello(state: State) -> bool:
    """Return whether a process that is not being ended has sent hello."""
    return isinstance(state.before if isinstance(state, Silent) else state, Serving)
