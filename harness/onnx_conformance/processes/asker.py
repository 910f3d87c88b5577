# SPDX-License-Identifier: Apache-2.0
"""One adapter process that is asked one case at a time."""

from __future__ import annotations

import atexit
import contextlib
import selectors
from typing import TYPE_CHECKING, Self

from onnx_conformance.processes.adapter_process import AdapterProcess, Limits, poll
from onnx_conformance.processes.fork_server import ForkServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.replies import Reply

_kept: dict[tuple[object, ...], ForkServer] | None = None
"""The fork servers that are kept for all processes of a target; None outside of `fork_servers`."""


@contextlib.contextmanager
def fork_servers() -> Iterator[None]:
    """Fork the processes of all askers inside from one for each target that has loaded the runtime.

    That is for searches that start hundreds of processes. A process that an adapter does not allow to be forked is
    started.
    """
    global _kept  # noqa: PLW0603 - one for all askers of this process
    _kept, before = {}, _kept
    try:
        yield
    finally:
        for server in _kept.values():
            server.close()
        _kept = before


def keep_fork_servers() -> None:
    """Enter `fork_servers` until this process ends."""
    kept = contextlib.ExitStack()
    kept.enter_context(fork_servers())
    atexit.register(kept.close)


def _fork_server(target: Target, limits: Limits) -> ForkServer | None:
    if _kept is None:
        return None
    environment = tuple(sorted(target.environment.items()))
    key = (target.name, target.command, environment, target.passes, target.sandbox, limits.memory)
    if key not in _kept:
        _kept[key] = ForkServer(target, limits.memory)
    return _kept[key]


class Asker:
    """One adapter process that runs one case at a time, as the pytest plugin and `repro` need it.

    Attributes:
        process: the adapter process.
        selector: waits for it.
    """

    def __init__(self, target: Target, limits: Limits, fork_server: ForkServer | None = None) -> None:
        """Start the process and wait for its hello.

        Args:
            target: the backend.
            limits: of the process.
            fork_server: from which the process is forked, if it runs; without it, a kept one, see `fork_servers`.

        Raises:
            StartError: it does not start.
        """
        self.selector = selectors.DefaultSelector()
        kept = _fork_server(target, limits) if fork_server is None else None
        fork_server = fork_server or kept
        self.process = AdapterProcess(target, limits, self.selector, fork_server=fork_server)
        self.process.start()
        try:
            while not self.process.hello:
                poll(self.selector, [self.process])
            if kept is not None:
                kept.prepare(self.process.hello)
        except BaseException:
            self.close()
            raise

    def ask(self, case: Case) -> Reply:
        """Return the reply to one case.

        Raises:
            AdapterProcessError: its process does not start again.
        """
        try:
            self.process.put(case)
            while not (received := self.process.take_replies()):
                poll(self.selector, [self.process])
        except BaseException:
            self.process.close()  # The next case must not get this one's answer.
            raise
        return received[0].reply

    def close(self) -> None:
        """End the process."""
        self.process.close()
        self.selector.close()

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()
