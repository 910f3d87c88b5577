"""One adapter process that is asked one case at a time."""

from __future__ import annotations

import selectors
from typing import TYPE_CHECKING, Self

from onnx_conformance.processes.adapter_process import AdapterProcess, Limits, poll

if TYPE_CHECKING:
    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.fork_server import ForkServer
    from onnx_conformance.processes.replies import Reply


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
            fork_server: from which the process is forked, if it runs.

        Raises:
            StartError: it does not start.
        """
        self.selector = selectors.DefaultSelector()
        self.process = AdapterProcess(target, limits, self.selector, fork_server=fork_server)
        self.process.start()
        try:
            while not self.process.hello:
                poll(self.selector, [self.process])
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
