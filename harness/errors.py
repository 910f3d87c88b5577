"""The one base of errors that are told to a person in a sentence."""


class HarnessError(Exception):
    """Bad input, or something the harness cannot do; the text says what, where, and what would be right."""
