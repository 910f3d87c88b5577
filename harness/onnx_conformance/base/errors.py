"""The base class of errors that a user sees as a message."""


class HarnessError(Exception):
    """Invalid input, or an impossible request; the text contains the problem, its location, and the correction."""
