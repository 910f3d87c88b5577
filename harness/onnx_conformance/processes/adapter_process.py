# SPDX-License-Identifier: Apache-2.0
"""One adapter process: start it, send cases ahead, read replies, enforce deadlines, replace it when it ends.

When the process dies, the first unanswered case killed it: an adapter answers in order and frees the objects of a
case before it answers. The cases behind it go to the next process.

If a case is slow, the following cases may be withdrawn to run elsewhere. As the adapter was sent them already, its
process is ended after the answer to the slow one: so no case runs twice, and no answer is taken for another's.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import selectors
import signal
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.backends import protocol
from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError, Note
from onnx_conformance.base.under_test import Subject, subject
from onnx_conformance.base.verdict import clean
from onnx_conformance.case.case import OVERRIDES
from onnx_conformance.environments.backend_names import IN_SANDBOX
from onnx_conformance.processes import hello, replies
from onnx_conformance.processes.case_times import LEAST_SECONDS, CaseTimes
from onnx_conformance.processes.messages import ANY, Incoming, Room
from onnx_conformance.processes.process_state import Absent, Ending, Serving, Silent, Starting, State, has_said_hello
from onnx_conformance.processes.process_tree import IDLE_END, LAST_DESCENDANT, ProcessTree, read, signal_name
from onnx_conformance.processes.replies import Broken, Died, Late, Refused, Reply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.fork_server import ForkServer

STDERR_KEPT = 8192
"""Maximum number of bytes stored of the last output of a process."""
MOST_STDERR_READS = 1024
"""Parts of it that are in memory, each with at most that many bytes."""
STDERR_READS = 8
"""Maximum number of reads of its remaining output when a process ends; endless output must not block the harness."""
EXIT_SECONDS = 10.0
"""Seconds that a process may take to exit after its output ended: one with GB of memory may crash slowly."""
MOST_UNSENT = 16 << 20
"""Bytes that wait to be written to one process before no more cases are encoded for it."""

MOST_GATHERED, MOST_BUFFERS = 1 << 15, 64
"""Bytes of requests that wait to be sent together, and the number of requests that one system call sends."""
ENOUGH_AHEAD, GATHER_SECONDS = 16, 0.002
"""While each process has so many requests behind the current one, its answers are left to gather for so long."""

OPTED_OUT = {
    "earlier": "its adapter runs a model only once",
    "files": "its adapter does not accept files of a model",
    OVERRIDES: "its adapter does not declare that a caller may override the default of an input",
}
"""Optional feature of a request -> why a case that has it is not asked."""
HINT_SECONDS = 5.0
"""Seconds after which a command that has not sent hello gets a hint: it may not use the wire format at all."""
MANUAL = "backends/README.md describes the wire format"


@dataclass(frozen=True)
class Limits:
    """Limits of an adapter process.

    Attributes:
        timeout: seconds that one case may take.
        start: seconds until the adapter sends hello; importing a runtime may take long.
        memory: bytes of address space, or None.
        restarts: how often a process that ended is replaced.
        ahead: how many requests are sent ahead of answers.
        cores: processors that its runtime may keep busy; None: all that there are.
    """

    timeout: float = 20.0
    start: float = 120.0
    memory: int | None = None
    restarts: int = 1000
    ahead: int = 48
    cores: float | None = None


@dataclass(frozen=True)
class CaseReply:
    """A reply, and the case that it is for.

    Attributes:
        case: as it was sent.
        reply: the reply.
        process_number: how many processes had ended before the one that the case ran in.
        time: the time.monotonic() of the reply.
        seconds: from when the case was the first unanswered one.
        slow: whether that is long for this backend.
    """

    case: Case
    reply: Reply
    process_number: int
    time: float
    seconds: float
    slow: bool


class AdapterProcessError(HarnessError):
    """An adapter process cannot go on.

    Attributes:
        process: which one; several may be of one backend.
    """

    def __init__(self, process: AdapterProcess, id: str, text: str) -> None:  # noqa: A002 - as in HarnessError
        """Take the process, the id of the problem, and a sentence that names the backend."""
        super().__init__(id, text)
        self.process = process


class StartError(AdapterProcessError):
    """The adapter process does not start; the text contains its name, the reason and a solution."""

    def __init__(self, process: AdapterProcess, id: str, text: str) -> None:  # noqa: A002 - as in HarnessError
        """Take the same; in a sandbox, a file may be missing."""
        super().__init__(process, id, f"{text}; {IN_SANDBOX}" if process.target.sandbox else text)


class BudgetError(AdapterProcessError):
    """The process was started again too often."""


@dataclass
class Budget:
    """How often a process crashed or was ended for a fault; processes that replace one another share one.

    Attributes:
        ends: how often.
        last: the reason, the last time.
    """

    ends: int = 0
    last: str = ""


class AdapterProcess:
    """An adapter process, the cases that it was sent, and the processes that replace it when it ends.

    Attributes:
        hello: the adapter's first message; empty until it is received.
        ends: how often the process ended.
        faults: lines on faults that no case can be blamed for.
        budget: of restarts.
        case_times: of the backend's cases; its processes share one.
    """

    def __init__(
        self,
        target: Target,
        limits: Limits,
        selector: selectors.BaseSelector,
        budget: Budget | None = None,
        case_times: CaseTimes | None = None,
        fork_server: ForkServer | None = None,
    ) -> None:
        """Take the command to start; nothing is started yet.

        Args:
            target: the backend.
            limits: of each process.
            selector: waits for the processes.
            budget: budget of restarts; None: a separate one.
            case_times: of the backend's cases; None: of this one alone.
            fork_server: from which processes that replace others are forked, where the adapter allows that.
        """
        self.target, self.limits = target, limits
        self.budget = budget or Budget()
        self.case_times = case_times or CaseTimes(limits.timeout)
        self.hello: Mapping[str, Any] = {}
        self.ends = 0
        self.faults: list[str] = []
        self._replies: list[CaseReply] = []
        self._selector = selector
        self._fork_server = fork_server
        self._pending: deque[tuple[int, Case]] = deque()
        self._next_id = self._unsent = 0
        self._outgoing: deque[memoryview] = deque()
        """The bytes that are not written to the process yet."""
        self._writing = False
        self._state: State = Absent()
        self._successor: ProcessTree | None = None
        """Started in advance if processes of this backend have ended before; its hello is not read yet."""
        self._crashes = False
        self._hint_shown = not self.target.name.startswith("cmd:")  # Other adapters send hello by serve.py.
        """Whether a process has crashed over a case, and no successor before its hello."""
        self._cpu: tuple[float, float] | None = None
        """When the CPU time of the process was read last, and its seconds."""

    # The life of the process

    @property
    def _process(self) -> ProcessTree | None:
        """The process, though it may be about to end."""
        return None if isinstance(self._state, Absent) else self._state.process

    def start(self) -> None:
        """Start the process, or use the one that was started in advance; its hello is received later.

        Raises:
            StartError: the command cannot be run.
        """
        self._start(None)

    def _start(self, first_death: Died | None) -> None:
        in_advance = self._successor is not None
        process, self._successor = self._successor or self._started(), None
        self._state = Starting(process, in_advance, first_death)
        self._incoming = Incoming()
        self._outgoing.clear()
        self._unsent = 0
        self._stderr: deque[tuple[int, bytes]] = deque(maxlen=MOST_STDERR_READS)
        self._reads = 0
        self._cpu = None
        self._since = self._begun = time.monotonic()
        process.watch(self._selector, self._on_stdout, self._on_stderr, self._on_supervisor)
        self._writing = False

    def _started(self) -> ProcessTree:
        if self._fork_server is not None and (forked := self._fork_server.fork()) is not None:
            return forked
        try:
            return ProcessTree.start(self.target, self.limits.memory)
        except OSError as error:
            raise StartError(
                self, "adapter-not-runnable", f"{self.target.name}: cannot run {error.filename!r}: {error.strerror}"
            ) from error

    def _start_successor(self) -> None:
        """Start the next process while this one works, where one has crashed before: the next crash costs no start.

        Not if the first such process has ended on its own: a device may allow only one process.
        """
        if self._crashes and self._successor is None and self.budget.ends < self.limits.restarts:
            with contextlib.suppress(StartError):  # The next user starts it again, and gets the error.
                self._successor = self._started()

    def close(self) -> None:
        """End the process and everything it started; unanswered cases are dropped."""
        self._end()
        self._pending.clear()
        successor, self._successor = self._successor, None
        if successor is not None:
            successor.end(self._selector, 0)

    def _end(self) -> None:
        state, self._state = self._state, Absent()
        if not isinstance(state, Absent):
            idle = has_said_hello(state) and not self._pending
            state.process.end(self._selector, IDLE_END if idle else 0)  # An idle process exits when its input ends.

    def _kill(self, first_death: Died | None = None) -> None:
        """End the process without waiting for that; the next one starts when it has ended.

        Args:
            first_death: how it died before its hello, if it is to be started once more.
        """
        if (process := self._process) is not None:
            process.close(self._selector)
            process.kill()
            self._state = Ending(process, time.monotonic() + LAST_DESCENDANT, first_death)
            self._outgoing.clear()
            self._unsent = 0

    def _replace(self, reason: str) -> None:
        """End the process; when it has ended, the next one starts if there are unanswered cases."""
        self._kill()
        self.ends += 1
        self.budget.ends += 1
        self.budget.last = reason
        if self._pending:
            self._check_budget()

    def _on_end(self, forced: float = LAST_DESCENDANT) -> None:
        """Drop a process that has ended, and start the next one if there is a case for it."""
        first_death = self._state.first_death if isinstance(self._state, Ending) else None
        if (process := self._process) is not None:
            process.end(self._selector, 0, forced)
        self._state = Absent()
        if self._pending or first_death is not None:
            self._restart(first_death)

    def _check_budget(self) -> None:
        ends = self.budget.ends
        if ends > self.limits.restarts:
            times = "once" if ends == 1 else f"{ends} times"
            raise BudgetError(
                self,
                "too-many-restarts",
                f"{self.target.name}: ended {times}, the last time because {self.budget.last}; the rest is not run "
                f"(--restarts allows {self.limits.restarts}; raise it to go on)",
            )

    def _restart(self, first_death: Died | None = None) -> None:
        """Start the next process, which `put` does where there was no case for it before."""
        self._check_budget()
        self._start(first_death)

    # Slow cases

    def waited(self, now: float) -> float:
        """Return how many seconds the first unanswered case has run; 0 if all are answered."""
        if not has_said_hello(self._state) or not self._pending:
            return 0.0
        return max(0.0, now - max(self._since, self._begun))

    @property
    def current_case(self) -> Case | None:
        """The first unanswered case."""
        return self._pending[0][1] if self._pending else None

    @property
    def behind(self) -> int:
        """How many cases were sent behind the first unanswered one."""
        return max(0, len(self._pending) - 1)

    def withdraw(self, *, kept: int = 1) -> list[Case]:
        """Remove the cases behind the first `kept`, and return them; the process ends after the next reply."""
        others = [case for _, case in itertools.islice(self._pending, kept, None)]
        self._pending = deque(itertools.islice(self._pending, kept))
        if others and isinstance(self._state, Serving):
            self._state = Serving(self._state.process, withdrawn=True)
        return others

    def cores_used(self, now: float) -> float | None:
        """Return how many processors the process has used since the last call, for the same case.

        None for the first call of a case; 1 where the system does not show CPU time.
        """
        process = self._process
        earlier, cpu_seconds = self._cpu, process.cpu_seconds() if process is not None else 0.0
        if cpu_seconds is None:
            return 1.0
        self._cpu = (now, cpu_seconds)
        if earlier is None or earlier[0] < self._since or now <= earlier[0]:
            return None
        return (cpu_seconds - earlier[1]) / (now - earlier[0])

    @property
    def has_process(self) -> bool:
        """Whether there is a process, though it may be about to end."""
        return not isinstance(self._state, Absent)

    def retire(self) -> None:
        """End the process, which is not at fault, without waiting for its end."""
        if not isinstance(self._state, Absent | Ending):
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
        return len(self._pending) < self.limits.ahead and self._unsent < MOST_UNSENT

    def put(self, case: Case) -> None:
        """Send a case; `take_replies` returns its reply.

        Raises:
            AdapterProcessError: it needed a new process, and that did not start.
        """
        self._next_id += 1
        if not self._pending:
            self._since = time.monotonic()
        self._pending.append((self._next_id, case))
        if isinstance(self._state, Absent):
            self._restart()
        elif isinstance(self._state, Ending):
            self._check_budget()
        elif has_said_hello(self._state):
            self._enqueue(self._next_id, case)
            self._opt_out()

    def _lacks(self, case: Case) -> str:
        """Return the requirements of a case that the adapter does not support; empty: none."""
        if not case.needs:
            return ""
        accepts = self.hello.get("accepts")
        of_runtime = subject(self.hello) is Subject.RUNTIME
        needs = case.needs if of_runtime else case.needs - {OVERRIDES}  # A tool gets no inputs.
        return next(iter(sorted(needs.difference(accepts if isinstance(accepts, list) else ()))), "")

    def _opt_out(self) -> None:
        """Reply to the first cases that the adapter cannot be asked for: it opts out of them."""
        while self._pending and (lacking := self._lacks(self._pending[0][1])):
            _, case = self._pending.popleft()
            self._add_reply(case, Refused("", "", OPTED_OUT[lacking], None), time.monotonic())

    def _enqueue(self, request: int, case: Case) -> None:
        if self._lacks(case):
            return
        data = case.request(request)
        self._outgoing.append(memoryview(data))
        self._unsent += len(data)
        if self.behind < ENOUGH_AHEAD or self._unsent > MOST_GATHERED:
            self._on_stdin()  # Otherwise the process has enough to do until `poll` sends several at once.

    def send_gathered(self) -> None:
        """Send the cases that were gathered since the last call, if the process does not have to read others first."""
        if self._outgoing and not self._writing:
            self._on_stdin()

    def _on_stdin(self) -> None:
        if isinstance(self._state, Absent | Ending):
            return
        stream = self._state.process.stdin
        while self._outgoing:
            try:
                written = os.writev(stream, list(itertools.islice(self._outgoing, MOST_BUFFERS)))
            except BlockingIOError:
                break
            except OSError:  # It died, or closed its input; the end of its output shows which.
                self._outgoing.clear()
                self._unsent = 0
                break
            self._unsent -= written
            while self._outgoing and written >= len(self._outgoing[0]):
                written -= len(self._outgoing.popleft())
            if written:
                self._outgoing[0] = self._outgoing[0][written:]
        if bool(self._outgoing) is not self._writing:
            self._writing = bool(self._outgoing)
            if self._writing:
                self._selector.register(stream, selectors.EVENT_WRITE, self._on_stdin)
            else:
                self._selector.unregister(stream)

    # Receiving

    def _on_stderr(self) -> None:
        process = self._process
        assert process is not None  # noqa: S101 - it is registered only while it is there
        data = read(process.stderr)
        if data:
            self._stderr.append((self._reads, data[-STDERR_KEPT:]))
        elif data is not None:
            self._selector.unregister(process.stderr)

    def _on_stdout(self) -> None:
        process = self._process
        assert process is not None  # noqa: S101 - as above
        data = read(process.stdout)
        self._reads += 1
        if data:
            self._read_messages(process, data)
        elif data is not None:
            self._selector.unregister(process.stdout)
            if isinstance(self._state, Starting | Serving):
                # Its supervisor reports how it ended; `check_deadline` limits the wait.
                self._state = Silent(self._state, time.monotonic())

    def _read_messages(self, process: ProcessTree, data: bytes) -> None:
        """Read the messages in a part of the adapter's output."""
        if not self._incoming.begun:
            self._begun = time.monotonic()
        self._incoming.add(data)
        try:
            while self._is_current(process):
                if self._read_expected():
                    continue
                if (message := self._incoming.next(self._reply_room)) is None:
                    break
                self._dispatch(*message)
        except protocol.ProtocolError as error:
            text = clean(f"{self.target.name} broke the wire format: {error}")
            self._blame(Broken(text, self._stderr_text()))

    def _is_current(self, process: ProcessTree) -> bool:
        """Whether this process is still the one that cases are sent to."""
        return self._process is process and not isinstance(self._state, Ending)

    def _reply_room(self) -> Room:
        return replies.room(self._pending[0][1]) if self._pending else ANY

    def _on_supervisor(self) -> None:
        """Handle the end of the adapter, and of everything that it started."""
        process = self._process
        assert process is not None  # noqa: S101 - it is registered only while it is there
        exit_status = read(process.supervisor.fileno())
        if exit_status is None:
            return
        while self._is_current(process) and (data := read(process.stdout)):
            self._read_messages(process, data)  # It may have answered before it ended.
        if self._is_current(process):
            status = process.status(exit_status)
            killed = has_said_hello(self._state) and status == -signal.SIGKILL
            if killed and self._fork_server is not None and self._fork_server.ended:
                self._fork_server.give_up()  # Somebody has killed it, and its forks ended with it: no case is to blame.
                self._kill()
            else:
                self._blame(Died(signal_name(status), status, self._stderr_text()))
        if self._process is process:
            self._on_end()

    def _read_expected(self) -> bool:
        """Read the next message if it is exactly the answer that its case expects; return whether it is."""
        if not self._incoming.begun or not self._pending or not isinstance(self._state, Serving):
            return False
        request, case = self._pending[0]
        reply = replies.read_expected(self._incoming, request, case, self.hello)
        if reply is not None:
            self._take(case, reply)
        return reply is not None

    def _dispatch(self, header: Mapping[str, Any], payload: bytes | None) -> None:
        if isinstance(self._state, Starting):
            self._read_hello(header, self._state)
            return
        if not self._pending:
            raise protocol.HeaderError(f"a message of kind {clean(header['kind'], 40)!r} that was not requested")
        request, case = self._pending[0]
        if header["kind"] == "hello":
            raise protocol.HeaderError('a second "hello"; it is sent once, when the process starts')
        if type(header.get("id")) is not int or header["id"] != request:  # In Python, 1 equals True and 1.0.
            number = protocol.clip(header.get("id"))
            raise protocol.HeaderError(f"an answer to request {number} while {request} was due")
        try:
            reply = replies.parse(header, payload, case, self.hello)
        except MemoryError:
            raise protocol.PayloadError("the answer does not fit into the memory of the harness") from None
        self._take(case, reply)

    def _take(self, case: Case, reply: Reply) -> None:
        """Take a reply to the first unanswered case."""
        self._pending.popleft()
        now = time.monotonic()
        self.case_times.add(now - self._since)
        self._add_reply(case, reply, now)
        self._since = self._begun = now
        self._opt_out()
        # What was printed before this answer; but what was read since the answers before may be of the case after it.
        while self._stderr and self._stderr[0][0] < self._reads - 1:
            self._stderr.popleft()
        if isinstance(self._state, Serving) and self._state.withdrawn:  # It was sent cases that now run elsewhere.
            self.retire()

    def _add_reply(self, case: Case, reply: Reply, now: float) -> None:
        seconds = now - self._since
        slow = seconds > LEAST_SECONDS and seconds > self.case_times.slow_after
        self._replies.append(CaseReply(case, reply, self.ends, now, seconds, slow))

    @property
    def replied(self) -> bool:
        """Whether there are replies to take."""
        return bool(self._replies)

    def take_replies(self) -> list[CaseReply]:
        """Return the replies since the last call."""
        taken, self._replies = self._replies, []
        return taken

    def _read_hello(self, header: Mapping[str, Any], starting: Starting) -> None:
        name = self.target.name
        if header["kind"] == "failed":
            reason = " ".join(replies.text_of(header, "message", "the adapter reports no reason").split())
            raise StartError(
                self, "adapter-not-started", f"{name}: {reason.removeprefix(f'{name} ').removeprefix(f'{name}: ')}"
            )
        if header["kind"] != "hello":
            kind = clean(header["kind"], 40)
            raise StartError(self, "not-a-hello", f'{name}: its first message is {kind!r}, expected "hello" ({MANUAL})')
        try:
            self.hello = hello.checked(header)
        except hello.HelloError as error:
            raise StartError(self, "hello-invalid", f"{name}: {error}") from None
        now = time.monotonic()
        if not starting.in_advance:  # It does not show the duration of a start.
            self.case_times.start = now - self._since
        self._state, self._since = Serving(starting.process), now
        for request, case in self._pending:  # Which of them the adapter accepts is known only now.
            self._enqueue(request, case)
        self._opt_out()
        if self._fork_server is not None and self.budget.ends:
            self._fork_server.prepare(self.hello)
        self._start_successor()

    def check_deadline(self, now: float) -> None:
        """Enforce the deadline of the process; call it after everything that could be read was read."""
        deadline = self.deadline
        if deadline is None or now <= deadline:
            return
        if isinstance(self._state, Ending):
            self._on_end(forced=0)
        elif isinstance(self._state, Silent):
            self._blame(Broken(f"{self.target.name} closed its output without an answer", self._stderr_text()))
        elif isinstance(self._state, Starting) and not self._hint_shown and now <= self._since + self.limits.start:
            self._hint_shown = True
            text = (
                f"{self.target.name}: no hello within {HINT_SECONDS:g} s of its start. A command must send it first "
                f"({MANUAL}); the run waits up to {self.limits.start:g} s"
            )
            printing.warn(Note("hello-late", text))
        elif isinstance(self._state, Starting):
            raise StartError(
                self,
                "no-hello",
                f"{self.target.name}: no hello within {self.limits.start:g} s after its start ({MANUAL})",
            )
        else:
            self._blame(Late(now - self._since, self._stderr_text()))

    @property
    def deadline(self) -> float | None:
        """The time.monotonic() at which `check_deadline` acts, or None."""
        state = self._state
        if isinstance(state, Absent):
            return None
        if isinstance(state, Ending):
            return state.until
        if isinstance(state, Silent):
            return state.since + EXIT_SECONDS
        if isinstance(state, Serving) and not self._pending:
            return None
        # An answer that has begun may have waited while the harness was busy elsewhere, so its time begins again.
        since = max(self._since, self._begun)
        if isinstance(state, Starting):
            return since + (self.limits.start if self._hint_shown else min(HINT_SECONDS, self.limits.start))
        return since + self.limits.timeout

    def _stderr_text(self) -> str:
        """Return the last output of the process, including its unread part."""
        for _ in range(STDERR_READS):
            process = self._process
            data = read(process.stderr) if process is not None else None
            if not data:
                break
            self._stderr.append((self._reads, data))
        text = b"".join(data for _, data in self._stderr)
        return clean(text[-STDERR_KEPT:].decode("utf-8", "replace"))

    def _blame(self, reply: Died | Late | Broken) -> None:
        """Make this the reply to the first unanswered case, and replace the process for the others."""
        reason = replies.reason(reply)
        ready = has_said_hello(self._state)
        self._crashes = ready and (self._crashes or isinstance(reply, Died))
        if not ready:
            self._end_before_hello(reply, reason)
            return
        if not self._pending:
            self.faults.append(replies.sentence(self.target.name, f"{reason}, while no case was running", reply))
        else:
            _, case = self._pending.popleft()
            self._add_reply(case, reply, time.monotonic())
        self._replace(reason)

    def _end_before_hello(self, reply: Died | Late | Broken, reason: str) -> None:
        """Handle the end of a process that has not sent hello: one that died is started once more.

        Raises:
            StartError: it has died before.
        """
        if self._fork_server is not None:
            self._fork_server.give_up()
        state = self._state.before if isinstance(self._state, Silent) else self._state
        first = state.first_death if isinstance(state, Starting) else None
        if first is None and isinstance(reply, Died):
            self._kill(first_death=reply)
            return
        self._end()
        text = replies.sentence(self.target.name, f"{reason} before it sent hello", reply)
        if first is not None:
            text += f"; it was started twice, and the first time {replies.sentence('', replies.reason(first), first)}"
        if self.limits.memory is not None:
            text += f"; it may need more memory than the {self.limits.memory:,} bytes of --memory"
        raise StartError(self, "ended-before-hello", text)


def poll(selector: selectors.BaseSelector, processes: list[AdapterProcess], wait: float | None = None) -> float:
    """Read the messages of every process, and enforce deadlines.

    Args:
        selector: of all these processes.
        processes: to read from.
        wait: seconds at most until there is something to read; None: until the next deadline.

    Returns:
        The time.monotonic() until which everything that could be read was read.
    """
    for process in processes:
        process.send_gathered()
    now = time.monotonic()
    deadlines = [deadline for process in processes if (deadline := process.deadline) is not None]
    timeout = max(0.0, min(deadlines) - now) if deadlines else wait
    if wait is not None and timeout is not None:
        timeout = min(timeout, wait)
    replied = any(process.replied for process in processes)
    if not replied and processes and all(process.behind >= ENOUGH_AHEAD for process in processes):
        time.sleep(GATHER_SECONDS)  # Each has enough to do: to be woken by every answer costs more than to read it.
    ready = selector.select(0 if replied else timeout)
    now = time.monotonic()  # An answer that arrives while another is handled is not late.
    for key, _ in ready:
        # Handling an earlier event may have closed this descriptor, and another process may have its number now.
        if selector.get_map().get(key.fd) == key:
            key.data()
    for process in processes:
        process.check_deadline(now)
    return now
