"""One adapter process: start it, send cases ahead, take answers, hold it to a deadline, start it again.

When the process dies, the first unanswered case is the one that killed it: an adapter answers in order
and frees what a case used before it answers. The cases behind it go to the next process.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import backends
from backends import protocol
from harness import replies
from harness.errors import HarnessError
from harness.replies import Broken, Died, Late, Reply
from harness.verdict import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.case import Case
    from harness.targets import Target

CHUNK = 1 << 18
STDERR_KEPT = 8192
STDERR_READS = 8
"""Reads of what a process printed when its end is told; one that prints without end must not hold us."""
LAST_BREATH = 10.0
"""Seconds from the end of a process's output to its own end: one that crashes while holding GB, on a busy machine."""
UNSENT_MOST = 16 << 20
"""Bytes that wait for one process before no more cases are encoded for it."""

SERVE = Path(backends.__file__).with_name("serve.py")
MANUAL = "backends/README.md describes the wire format"


@dataclass(frozen=True)
class Limits:
    """What a process is held to.

    Attributes:
        timeout: seconds that one case may take.
        start: seconds until the adapter says hello; importing a runtime may take long.
        memory: bytes of address space, or None.
        restarts: how often one lane's process is started again.
        ahead: how many requests are sent ahead of answers.
    """

    timeout: float = 20.0
    start: float = 120.0
    memory: int | None = None
    restarts: int = 200
    ahead: int = 16


class SessionError(HarnessError):
    """A session cannot go on.

    Attributes:
        session: which one; two of them may bear one backend's name.
    """

    def __init__(self, session: Session, text: str) -> None:
        """Take the session, and a sentence that names its backend."""
        super().__init__(text)
        self.session = session


class StartError(SessionError):
    """The adapter process does not come up; the text names it, says why and what to do."""


class BudgetError(SessionError):
    """The process was started again too often."""


class Session:
    """One lane: an adapter process, the cases it was sent, and its successors when it dies.

    Attributes:
        hello: what the adapter said of itself; empty until it has.
        ends: how often the process ended.
        noise: faults that no case can be blamed for.
    """

    def __init__(
        self, target: Target, limits: Limits, selector: selectors.BaseSelector, on_reply: Callable[[Case, Reply], None]
    ) -> None:
        """Take what to start and whom to tell; nothing is started yet."""
        self.target, self.limits = target, limits
        self.hello: Mapping[str, Any] = {}
        self.ends = 0
        self.noise: list[str] = []
        self._selector, self._on_reply = selector, on_reply
        self._pending: deque[tuple[int, Case]] = deque()
        self._last_end = ""
        self._next_id = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = False

    # The life of the process

    def start(self) -> None:
        """Spawn the process; its hello comes later.

        Raises:
            StartError: the command cannot be run.
        """
        command = list(self.target.command)
        if self.limits.memory is not None:
            kib = max(1, self.limits.memory // 1024)
            command = ["sh", "-c", f'ulimit -v {kib}; exec "$@"', "sh", *command]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - running what the user names is the purpose
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,  # SIGINT is for us; what it spawned dies with its group.
                env={**os.environ, "PYTHONUNBUFFERED": "1", **self.target.environment},
            )
        except OSError as error:
            raise StartError(self, f"{self.target.name}: cannot run {command[0]!r}: {error.strerror}") from error
        self._incoming = bytearray()
        self._header: dict[str, Any] | None = None
        self._outgoing: deque[memoryview] = deque()
        self._unsent = 0
        self._stderr = bytearray()
        self._ready = False
        self._scanned = 0
        self._since = self._begun = time.monotonic()
        for stream, react in ((self._process.stdout, self._on_stdout), (self._process.stderr, self._on_stderr)):
            assert stream is not None  # noqa: S101 - PIPE was asked for
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, react)
        assert self._process.stdin is not None  # noqa: S101
        os.set_blocking(self._process.stdin.fileno(), False)
        self._writing = False
        for request, case in self._pending:
            self._enqueue(request, case)

    def close(self) -> None:
        """End the process and everything it spawned; what is unanswered is given up."""
        self._end(kill=not self._ready or bool(self._pending))
        self._pending.clear()

    def _end(self, *, kill: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout, process.stderr):
            assert stream is not None  # noqa: S101
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(stream)
            with contextlib.suppress(OSError):
                stream.close()
        if kill or process.poll() is not None:
            _kill(process)
        else:  # Its standard input is closed: an idle adapter ends by itself.
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                pass
            finally:
                _kill(process)

    def _again(self, why: str) -> None:
        """End the process, and start the next one for the cases that are still unanswered."""
        self._end(kill=True)
        self.ends += 1
        self._last_end = why
        if self._pending:
            self._restart()

    def _restart(self) -> None:
        """Start the next process; where nothing is to be run there is none, so `put` may be what needs it."""
        if self.ends > self.limits.restarts:
            times = "once" if self.ends == 1 else f"{self.ends} times"
            raise BudgetError(
                self,
                f"{self.target.name}: ended {times}, the last time because {self._last_end}; the rest is not run "
                f"(--restarts allows {self.limits.restarts}; raise it to go on)",
            )
        self.start()

    # Sending

    @property
    def idle(self) -> bool:
        """Whether every case sent has been answered."""
        return not self._pending

    @property
    def room(self) -> bool:
        """Whether another case may be sent ahead."""
        return len(self._pending) < self.limits.ahead and self._unsent < UNSENT_MOST

    def put(self, case: Case) -> None:
        """Send a case; its reply comes through `on_reply`.

        Raises:
            SessionError: a new process was needed for it, and there is none.
        """
        self._next_id += 1
        if not self._pending:
            self._since = time.monotonic()
        self._pending.append((self._next_id, case))
        if self._process is None:
            self._restart()
        else:
            self._enqueue(self._next_id, case)

    def _enqueue(self, request: int, case: Case) -> None:
        data = case.request(request)
        self._outgoing.append(memoryview(data))
        self._unsent += len(data)
        self._on_stdin()

    def _on_stdin(self) -> None:
        stream = self._process.stdin if self._process else None
        if stream is None:
            return
        while self._outgoing:
            try:
                written = os.write(stream.fileno(), self._outgoing[0])
            except BlockingIOError:
                break
            except OSError:  # It died, or closed its input; the end of its output tells which.
                self._outgoing.clear()
                self._unsent = 0
                break
            self._unsent -= written
            rest = self._outgoing[0][written:]
            if rest:
                self._outgoing[0] = rest
            else:
                self._outgoing.popleft()
        if bool(self._outgoing) is not self._writing:
            self._writing = bool(self._outgoing)
            if self._writing:
                self._selector.register(stream, selectors.EVENT_WRITE, self._on_stdin)
            else:
                self._selector.unregister(stream)

    # Receiving

    def _on_stderr(self) -> None:
        process = self._process
        assert process is not None  # noqa: S101
        assert process.stderr is not None  # noqa: S101
        data = _read(process.stderr.fileno())
        if data:
            self._stderr += data
            del self._stderr[:-STDERR_KEPT]
        elif data is not None:
            self._selector.unregister(process.stderr)

    def _on_stdout(self) -> None:
        process = self._process
        assert process is not None  # noqa: S101
        assert process.stdout is not None  # noqa: S101
        data = _read(process.stdout.fileno())
        if data is None:
            return
        if not data:
            self._ended(process)
            return
        if not self._incoming and self._header is None:
            self._begun = time.monotonic()
        self._incoming += data
        try:
            while self._process is process and self._message():
                pass
        except protocol.ProtocolError as error:
            what = clean(f"{self.target.name} broke the wire format: {error}")
            self._blame(lambda stderr: Broken(what, stderr))

    def _message(self) -> bool:
        """Take one message off what came in; return whether there was a whole one."""
        if self._header is None:
            end = self._incoming.find(b"\n", self._scanned)
            if end < 0:
                self._scanned = len(self._incoming)
                if len(self._incoming) > protocol.MAX_HEADER:
                    raise protocol.HeaderError(f"a header line of over {protocol.MAX_HEADER} bytes")
                return False
            self._header = protocol.parse_header(self._incoming[:end])
            del self._incoming[: end + 1]
            self._scanned = 0
        size = self._header["payload"]
        if len(self._incoming) < size:
            return False
        header, payload = self._header, bytes(self._incoming[:size])
        del self._incoming[:size]
        self._header = None
        self._dispatch(header, payload)
        return True

    def _dispatch(self, header: Mapping[str, Any], payload: bytes) -> None:
        if not self._ready:
            self._greet(header)
            return
        if not self._pending:
            raise protocol.HeaderError(f"a message of kind {clean(header['kind'], 40)!r} that nobody asked for")
        request, case = self._pending[0]
        if header["kind"] == "hello":
            raise protocol.HeaderError('a second "hello"; it is said once, when the process starts')
        if header.get("id") != request:
            given = protocol.clip(header.get("id"))
            raise protocol.HeaderError(f"an answer to request {given} while {request} was due")
        reply = replies.parse(header, payload)
        self._pending.popleft()
        self._since = self._begun = time.monotonic()
        self._stderr.clear()
        self._on_reply(case, reply)

    def _greet(self, header: Mapping[str, Any]) -> None:
        name = self.target.name
        if header["kind"] == "failed":
            why = " ".join(clean(header.get("message", "the adapter does not say why")).split())
            raise StartError(self, f"{name}: {why.removeprefix(f'{name} ').removeprefix(f'{name}: ')}")
        if header["kind"] != "hello":
            given = clean(header["kind"], 40)
            raise StartError(self, f'{name}: its first message is {given!r}, expected "hello" ({MANUAL})')
        if header.get("protocol") != protocol.VERSION:
            given = protocol.clip(header.get("protocol"))
            raise StartError(
                self, f"{name}: it speaks wire format {given}, this harness {protocol.VERSION}; update the older one"
            )
        self.hello, self._ready, self._since = header, True, time.monotonic()

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        """React to the end of the adapter's output."""
        try:
            status = process.wait(LAST_BREATH)
        except subprocess.TimeoutExpired:
            self._blame(lambda stderr: Broken(f"{self.target.name} closed its output without an answer", stderr))
            return
        name = _signal_name(status)
        self._blame(lambda stderr: Died(name, status, stderr))

    def tick(self, now: float) -> None:
        """Hold the process to its deadline; call it after everything that could be read was read."""
        if self._process is None:
            return
        if self.deadline is None or now <= self.deadline:
            return
        waited = now - self._since
        status = self._process.poll()
        if status is not None:  # It is dead, but something it spawned holds its output open.
            self._ended(self._process)
        elif not self._ready:
            raise StartError(
                self, f"{self.target.name}: no hello within {self.limits.start:g} s of its start ({MANUAL})"
            )
        else:
            self._blame(lambda stderr: Late(waited, stderr))

    @property
    def deadline(self) -> float | None:
        """The time.monotonic() at which `tick` has something to say, or None."""
        if self._process is None or (self._ready and not self._pending):
            return None
        # What has begun to come in has waited for us as long as we were busy elsewhere, so it has its time again.
        return max(self._since, self._begun) + (self.limits.timeout if self._ready else self.limits.start)

    def _blame(self, reply: Callable[[str], Reply]) -> None:
        """Give the first unanswered case its reply and start again for the others."""
        if self._process is not None and self._process.stderr is not None:
            with contextlib.suppress(ValueError):
                for _ in range(STDERR_READS):
                    data = _read(self._process.stderr.fileno())
                    if not data:
                        break
                    self._stderr += data
        said = reply(clean(self._stderr[-STDERR_KEPT:].decode("utf-8", "replace")))
        why = replies.why(said)
        if not self._ready:
            self.close()
            raise StartError(self, replies.sentence(self.target.name, f"{why} before it said hello", said))
        if not self._pending:
            self.noise.append(replies.sentence(self.target.name, f"{why}, with no case to blame", said))
        else:
            _, case = self._pending.popleft()
            self._on_reply(case, said)
        self._again(why)


def _read(descriptor: int) -> bytes | None:
    """Return what can be read now; empty at the end, None if there is nothing yet."""
    try:
        return os.read(descriptor, CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _signal_name(status: int) -> str:
    if status >= 0:
        return ""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
