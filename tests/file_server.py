# SPDX-License-Identifier: Apache-2.0
"""A server on this machine for tests that fetch files, with the faults that servers have."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Answer:
    """The answer to a request.

    Attributes:
        content: its body.
        status: the status of HTTP.
        location: the address of a redirection.
        missing: bytes that the header promises in addition.
    """

    content: bytes = b""
    status: int = 200
    location: str = ""
    missing: int = 0


@dataclass
class FileServer:
    """A running server.

    Attributes:
        address: without a path.
        answers: by path.
        asked: the paths of the requests.
    """

    address: str
    answers: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@contextlib.contextmanager
def running() -> Iterator[FileServer]:
    """Run a server until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.asked.append(self.path)
            answer = served.answers.get(self.path, Answer(status=404))
            self.send_response(answer.status)
            if answer.location:
                self.send_header("Location", answer.location)
            self.send_header("Content-Length", str(len(answer.content) + answer.missing))
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # The client may stop at a limit.
                self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = FileServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
