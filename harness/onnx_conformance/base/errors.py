"""The base class of errors that a user sees as a message."""


class HarnessError(Exception):
    """Invalid input, or something the harness cannot do; the text says what, where, and what would be right."""
