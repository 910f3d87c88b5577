"""One adapter process: start it, send cases ahead, take answers, hold it to a deadline, start it again.

When the process dies, the first unanswered case is the one that killed it: an adapter answers in order
and frees what a case used before it answers. The cases behind it go to the next process.

Where one case takes long, those behind it may be withdrawn to run elsewhere. As the adapter was sent them, its process
ends with the answer of that one: so no case is run twice, and none is answered where another is due.
"""

from __future__ import annotations

import itertools
import os
import selectors
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends import protocol
from harness.errors import HarnessError
from harness.execution import replies
from harness.execution.messages import ANY, Incoming, Room
from harness.execution.process_tree import IDLE_END, LAST_DESCENDANT, ProcessTree, read, signal_name
from harness.execution.replies import Broken, Died, Late, Reply
from harness.execution.usual_time import Patience
from harness.verdict import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.case.case import Case
    from harness.execution.backend_names import Target

STDERR_KEPT = 8192
STDERR_READS = 8
"""Reads of what a process printed when its end is told; one that prints without end must not hold us."""
LAST_BREATH = 10.0
"""Seconds from the end of a process's output to its own end: one that crashes while holding GB, on a busy machine."""
UNSENT_MOST = 16 << 20
"""Bytes that wait for one process before no more cases are encoded for it."""

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
    restarts: int = 1000
    ahead: int = 16


class AdapterProcessError(HarnessError):
    """A session cannot go on.

    Attributes:
        session: which one; two of them may bear one backend's name.
    """

    def __init__(self, session: AdapterProcess, text: str) -> None:
        """Take the session, and a sentence that names its backend."""
        super().__init__(text)
        self.session = session


class StartError(AdapterProcessError):
    """The adapter process does not come up; the text names it, says why and what to do."""


class BudgetError(AdapterProcessError):
    """The process was started again too often."""


@dataclass
class Budget:
    """How often the process of a lane ended by itself, or was ended for a fault, whichever session it was of.

    Attributes:
        ends: how often.
        last: why it did the last time.
    """

    ends: int = 0
    last: str = ""


class AdapterProcess:
    """One lane: an adapter process, the cases it was sent, and its successors when it dies.

    Attributes:
        hello: what the adapter said of itself; empty until it has.
        ends: how often the process ended.
        noise: faults that no case can be blamed for.
        took: seconds from when the latest case was due until its reply.
        budget: of restarts; sessions that follow one another on a lane share one.
        patience: what is known of how long cases take; the sessions of a backend share one.
    """

    def __init__(
        self,
        target: Target,
        limits: Limits,
        selector: selectors.BaseSelector,
        on_reply: Callable[[Case, Reply], None],
        budget: Budget | None = None,
        patience: Patience | None = None,
    ) -> None:
        """Take what to start and whom to tell; nothing is started yet."""
        self.target, self.limits = target, limits
        self.budget = budget or Budget()
        self.patience = patience or Patience(limits.timeout)
        self.took = 0.0
        self._shortened = False
        """Whether cases that the process was sent are withdrawn."""
        self._cpu: tuple[float, float] | None = None
        """When the CPU time of the process was looked at last, and what it was."""
        self.hello: Mapping[str, Any] = {}
        self.ends = 0
        self.noise: list[str] = []
        self._selector, self._on_reply = selector, on_reply
        self._pending: deque[tuple[int, Case]] = deque()
        self._next_id = self._unsent = 0
        self._process: ProcessTree | None = None
        self._gone_by: float | None = None
        """When a process that was killed is to be gone; while it is not, there is no other."""
        self._ready = False
        self._stillborn: Died | None = None
        """How the process ended before its hello, where it is started once more for that."""

    # The life of the process

    def start(self) -> None:
        """Spawn the process; its hello comes later.

        Raises:
            StartError: the command cannot be run.
        """
        try:
            self._process = ProcessTree(self.target, self.limits.memory)
        except OSError as error:
            raise StartError(self, f"{self.target.name}: cannot run {error.filename!r}: {error.strerror}") from error
        self._incoming = Incoming()
        self._outgoing: deque[memoryview] = deque()
        self._unsent = 0
        self._stderr = bytearray()
        self._ready = self._shortened = False
        self._cpu = None
        self._closed: float | None = None
        self._since = self._begun = time.monotonic()
        self._process.watch(self._selector, self._on_stdout, self._on_stderr, self._on_supervisor)
        self._writing = False
        for request, case in self._pending:
            self._enqueue(request, case)

    def close(self) -> None:
        """End the process and everything it started; what is unanswered is given up."""
        self._end()
        self._pending.clear()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            idle = self._ready and not self._pending and self._gone_by is None
            process.end(self._selector, IDLE_END if idle else 0)  # As its input is closed, one that is idle just ends.
        self._gone_by = None

    def _kill(self) -> None:
        """End the process; nobody waits for that, but the next one does not start before."""
        if self._process is not None:
            self._process.close(self._selector)
            self._process.kill()
            self._gone_by = time.monotonic() + LAST_DESCENDANT
            self._outgoing.clear()
            self._unsent = 0

    def _again(self, why: str) -> None:
        """End the process; the next one starts, once it is gone, for the cases that are still unanswered."""
        self._kill()
        self.ends += 1
        self.budget.ends += 1
        self.budget.last = why
        if self._pending:
            self._check_budget()

    def _gone(self, forced: float = LAST_DESCENDANT) -> None:
        """Leave a process that has ended, and start the next one where there is something to do for it."""
        if self._process is not None:
            self._process.end(self._selector, 0, forced)
        self._process = self._gone_by = None
        if self._pending or self._stillborn is not None:
            self._restart()

    def _check_budget(self) -> None:
        ends = self.budget.ends
        if ends > self.limits.restarts:
            times = "once" if ends == 1 else f"{ends} times"
            raise BudgetError(
                self,
                f"{self.target.name}: ended {times}, the last time because {self.budget.last}; the rest is not run "
                f"(--restarts allows {self.limits.restarts}; raise it to go on)",
            )

    def _restart(self) -> None:
        """Start the next process; where nothing is to be run there is none, so `put` may be what needs it."""
        self._check_budget()
        self.start()

    # A case that takes long

    def waited(self, now: float) -> float:
        """Return the seconds that the first unanswered case has been due; 0 where none is."""
        if self._process is None or self._gone_by is not None or not self._ready or not self._pending:
            return 0.0
        return max(0.0, now - max(self._since, self._begun))

    @property
    def due(self) -> Case | None:
        """The first unanswered case."""
        return self._pending[0][1] if self._pending else None

    @property
    def behind(self) -> int:
        """How many cases wait for the answer of the first."""
        return max(0, len(self._pending) - 1)

    def withdraw(self, *, kept: int = 1) -> list[Case]:
        """Give up the cases behind the first `kept`, and return them; the process ends with the answer of the last."""
        others = [case for _, case in itertools.islice(self._pending, kept, None)]
        self._pending = deque(itertools.islice(self._pending, kept))
        self._shortened |= bool(others)
        return others

    def cores_used(self, now: float) -> float | None:
        """Return how many processors the process has kept busy since this was asked last, for the same case.

        None where it was not asked before; 1 where the system does not say.
        """
        before, spent = self._cpu, self._process.cpu_seconds() if self._process is not None else 0.0
        if spent is None:
            return 1.0
        self._cpu = (now, spent)
        if before is None or before[0] < self._since or now <= before[0]:
            return None
        return (spent - before[1]) / (now - before[0])

    @property
    def has_process(self) -> bool:
        """Whether there is a process that runs, or that is about to end."""
        return self._process is not None

    def retire(self) -> None:
        """End the process, which nobody blames; nobody waits for that, but a next one does not start before."""
        if self._process is not None and self._gone_by is None:
            self._kill()
            self.ends += 1

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
            AdapterProcessError: a new process was needed for it, and there is none.
        """
        self._next_id += 1
        if not self._pending:
            self._since = time.monotonic()
        self._pending.append((self._next_id, case))
        if self._process is None:
            self._restart()
        elif self._gone_by is None:
            self._enqueue(self._next_id, case)
        else:
            self._check_budget()

    def _enqueue(self, request: int, case: Case) -> None:
        data = case.request(request)
        self._outgoing.append(memoryview(data))
        self._unsent += len(data)
        self._on_stdin()

    def _on_stdin(self) -> None:
        if self._process is None or self._gone_by is not None:
            return
        stream = self._process.stdin
        while self._outgoing:
            try:
                written = os.write(stream, self._outgoing[0])
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
        assert process is not None  # noqa: S101 - it is watched while it is there
        data = read(process.stderr)
        if data:
            self._stderr += data
            del self._stderr[:-STDERR_KEPT]
        elif data is not None:
            self._selector.unregister(process.stderr)

    def _on_stdout(self) -> None:
        process = self._process
        assert process is not None  # noqa: S101 - as above
        data = read(process.stdout)
        if data:
            self._take(process, data)
        elif data is not None:
            self._selector.unregister(process.stdout)
            self._closed = time.monotonic()  # How the process ends, its supervisor tells; `tick` waits no longer.

    def _take(self, process: ProcessTree, data: bytes) -> None:
        """React to a part of the adapter's output."""
        if not self._incoming.begun:
            self._begun = time.monotonic()
        self._incoming.add(data)
        try:
            while self._answers(process) and (message := self._incoming.next(self._reply_room)) is not None:
                self._dispatch(*message)
        except protocol.ProtocolError as error:
            what = clean(f"{self.target.name} broke the wire format: {error}")
            self._blame(lambda stderr: Broken(what, stderr))

    def _answers(self, process: ProcessTree) -> bool:
        """Whether this process is still the one that is asked."""
        return self._process is process and self._gone_by is None

    def _reply_room(self) -> Room:
        return replies.room(self._pending[0][1]) if self._pending else ANY

    def _on_supervisor(self) -> None:
        """React to the end of the adapter, and of everything that it started."""
        process = self._process
        assert process is not None  # noqa: S101 - it is watched while it is there
        told = read(process.supervisor.fileno())
        if told is None:
            return
        while self._answers(process) and (data := read(process.stdout)):
            self._take(process, data)  # It may have answered before it ended.
        if self._answers(process):
            status = process.status(told)
            self._blame(lambda stderr: Died(signal_name(status), status, stderr))
        if self._process is process:
            self._gone()

    def _dispatch(self, header: Mapping[str, Any], payload: bytes | None) -> None:
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
        try:
            reply = replies.parse(header, payload)
        except MemoryError:
            raise protocol.PayloadError("the answer does not fit into the memory of the harness") from None
        self._pending.popleft()
        now = time.monotonic()
        self.took = now - self._since
        self.patience.add(self.took)
        self._since = self._begun = now
        self._stderr.clear()
        self._on_reply(case, reply)
        if self._shortened:  # It goes on with what was withdrawn.
            self.retire()

    def _greet(self, header: Mapping[str, Any]) -> None:
        name = self.target.name
        if header["kind"] == "failed":
            why = " ".join(replies.text_of(header, "message", "the adapter does not say why").split())
            raise StartError(self, f"{name}: {why.removeprefix(f'{name} ').removeprefix(f'{name}: ')}")
        if header["kind"] != "hello":
            given = clean(header["kind"], 40)
            raise StartError(self, f'{name}: its first message is {given!r}, expected "hello" ({MANUAL})')
        if header.get("protocol") != protocol.VERSION:
            given = protocol.clip(header.get("protocol"))
            raise StartError(
                self, f"{name}: it speaks wire format {given}, this harness {protocol.VERSION}; update the older one"
            )
        self.hello = {key: value if _is_plain(value) else protocol.clip(value) for key, value in header.items()}
        now = time.monotonic()
        self.patience.start = now - self._since
        self._ready, self._stillborn, self._since = True, None, now

    def tick(self, now: float) -> None:
        """Hold the process to its deadline; call it after everything that could be read was read."""
        deadline = self.deadline
        if deadline is None or now <= deadline:
            return
        if self._gone_by is not None:
            self._gone(forced=0)
        elif self._closed is not None:
            self._blame(lambda stderr: Broken(f"{self.target.name} closed its output without an answer", stderr))
        elif not self._ready:
            raise StartError(
                self, f"{self.target.name}: no hello within {self.limits.start:g} s of its start ({MANUAL})"
            )
        else:
            waited = now - self._since
            self._blame(lambda stderr: Late(waited, stderr))

    @property
    def deadline(self) -> float | None:
        """The time.monotonic() at which `tick` has something to say, or None."""
        if self._process is None:
            return None
        if self._gone_by is not None:
            return self._gone_by
        if self._closed is not None:
            return self._closed + LAST_BREATH
        if self._ready and not self._pending:
            return None
        # What has begun to come in has waited for us as long as we were busy elsewhere, so it has its time again.
        return max(self._since, self._begun) + (self.limits.timeout if self._ready else self.limits.start)

    def _blame(self, reply: Callable[[str], Reply]) -> None:
        """Give the first unanswered case its reply and start again for the others."""
        for _ in range(STDERR_READS if self._process is not None else 0):
            assert self._process is not None  # noqa: S101 - as the range says
            data = read(self._process.stderr)
            if not data:
                break
            self._stderr += data
        said = reply(clean(self._stderr[-STDERR_KEPT:].decode("utf-8", "replace")))
        why = replies.why(said)
        if not self._ready:
            self._end_unborn(said, why)
            return
        if not self._pending:
            self.noise.append(replies.sentence(self.target.name, f"{why}, with no case to blame", said))
        else:
            _, case = self._pending.popleft()
            self.took = time.monotonic() - self._since
            self._on_reply(case, said)
        self._again(why)

    def _end_unborn(self, reply: Reply, why: str) -> None:
        """React to the end of a process that has not said hello: one that died is started once more.

        Raises:
            StartError: it has died before.
        """
        first = self._stillborn
        if first is None and isinstance(reply, Died):
            self._stillborn = reply
            self._kill()
            return
        self._end()
        text = replies.sentence(self.target.name, f"{why} before it said hello", reply)
        if first is not None:
            text += f"; it was started twice, and the first time {replies.sentence('', replies.why(first), first)}"
        raise StartError(self, text)


def poll(selector: selectors.BaseSelector, sessions: list[AdapterProcess], wait: float | None = None) -> float:
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


def _is_plain(value: object) -> bool:
    """Whether a field of a hello is a text, a number, or a list of texts, such as results keep."""
    return isinstance(value, str | int | float | None) or (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    )
