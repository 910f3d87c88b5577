"""The command's entry point: what stands between the shell and `harness.cli`, whose import takes a second."""

from __future__ import annotations

import os
import signal

EXIT_BROKEN = 2


def _interrupted(*_: object) -> None:
    """End at once and with a sentence: nothing has begun that would have to be ended in order."""
    os.write(2, b"onnx-conformance: interrupted\n")
    os._exit(EXIT_BROKEN)


def main() -> None:
    """Import the command line, and run the command."""
    before = signal.signal(signal.SIGINT, _interrupted) if signal.getsignal(signal.SIGINT) != signal.SIG_IGN else None
    from harness.cli import entry  # noqa: PLC0415 - the handler comes first

    if before is not None:
        signal.signal(signal.SIGINT, before)
    entry()
