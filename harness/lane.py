"""Waiting for sessions, and a lane of one's own for asking one case at a time."""

from __future__ import annotations

import selectors
import time
from typing import TYPE_CHECKING, Self

from harness.process import Limits, Session

if TYPE_CHECKING:
    from harness.case import Case
    from harness.replies import Reply
    from harness.targets import Target


def poll(selector: selectors.BaseSelector, sessions: list[Session], wait: float | None = None) -> float:
    """Let every session react to what came in; wait for it until the next deadline at most.

    Returns:
        The time.monotonic() until which everything that could be read was read.
    """
    now = time.monotonic()
    due = [deadline for session in sessions if (deadline := session.deadline) is not None]
    timeout = max(0.0, min(due) - now) if due else wait
    if wait is not None and timeout is not None:
        timeout = min(timeout, wait)
    ready = selector.select(timeout)
    now = time.monotonic()  # What answers while we react to another is not late.
    for key, _ in ready:
        # An earlier reaction may have ended the process this event was for, and its number be another's now.
        if selector.get_map().get(key.fd) == key:
            key.data()
    for session in sessions:
        session.tick(now)
    return now


class Lane:
    """A session of its own for asking one case at a time, as the pytest plugin and `repro` do."""

    def __init__(self, target: Target, limits: Limits) -> None:
        """Start the process and wait for its hello.

        Raises:
            StartError: it does not come up.
        """
        self._replies: list[Reply] = []
        self._selector = selectors.DefaultSelector()
        self.session = Session(target, limits, self._selector, lambda _, reply: self._replies.append(reply))
        self.session.start()
        try:
            while not self.session.hello:
                poll(self._selector, [self.session])
        except BaseException:
            self.close()
            raise

    def ask(self, case: Case) -> Reply:
        """Return the reply to one case.

        Raises:
            SessionError: its process does not come up again.
        """
        self._replies.clear()
        try:
            self.session.put(case)
            while not self._replies:
                poll(self._selector, [self.session])
        except BaseException:
            self.session.close()  # The next question must not be given this one's answer.
            raise
        return self._replies[0]

    def close(self) -> None:
        """End the process."""
        self.session.close()
        self._selector.close()

    def __enter__(self) -> Self:
        """Return the lane."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()
