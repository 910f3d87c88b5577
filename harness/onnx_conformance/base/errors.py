# SPDX-License-Identifier: Apache-2.0
"""The messages that a user sees: errors, and notes on a command that goes on."""

from __future__ import annotations

from dataclasses import dataclass


class HarnessError(Exception):
    """Invalid input, or an impossible request.

    Attributes:
        id: the name of the problem, such as `unknown-operator`; it stays when the message gets a better wording, so
            scripts and tests compare it. The command prints it in brackets after the message.
        text: the message: the problem, its location, and the correction.
    """

    def __init__(self, id: str, text: str) -> None:  # noqa: A002 - the standard term
        """Take the id, words in lower case that are joined by hyphens, and the message."""
        super().__init__(id, text)  # Both, because an error is pickled by its arguments.
        self.id = id
        self.text = text

    def __str__(self) -> str:
        """Return the message."""
        return self.text

    @property
    def alone(self) -> HarnessError:
        """The same problem for another process, without the objects of this process, such as an adapter process."""
        return HarnessError(self.id, self.text)

    @property
    def labelled(self) -> str:
        """The message, followed by the id in brackets."""
        return f"{self.text} [{self.id}]"


@dataclass(frozen=True)
class Note:
    """A message on something that the user may not expect, although the command goes on.

    Attributes:
        id, text: as in `HarnessError`.
    """

    id: str
    text: str

    @property
    def labelled(self) -> str:
        """The message, followed by the id in brackets."""
        return f"note: {self.text} [{self.id}]"
