# SPDX-License-Identifier: Apache-2.0
"""One adapter process at a time: failed starts, replies, and further requests."""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from onnx_conformance.environments import backend_names
from onnx_conformance.processes import adapter_process, replies
from onnx_conformance.processes.adapter_process import (
    ENOUGH_AHEAD,
    STDERR_KEPT,
    AdapterProcess,
    BudgetError,
    CaseReply,
    Limits,
    StartError,
    poll,
)
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.replies import Answered, Broken, Died, Late, Refused
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from orphans import runs
from paths import WRONG
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onnx_conformance.base.target import Target
    from onnx_conformance.case.case import Case
    from onnx_conformance.processes.process_tree import ProcessTree

SHORT = 0.5
pytestmark = pytest.mark.usefixtures("ends")

NAMES = ("lengths", "lengths_one", "lengths_sum", "even")
FAULTY = "lengths_sum"


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    ids = tuple(f"ai.onnx/Split/13/{name}" for name in NAMES)
    by_name = {case.name: case for case in Generated().cases(Selection(cases=ids))}
    assert set(by_name) == set(NAMES), f"the generated suite has only {sorted(by_name)} of {NAMES}"
    return by_name


def adapter(kind: str, case: str = FAULTY, *more: str) -> Target:
    words = [sys.executable, "-S", str(WRONG), kind, case, *more]
    return backend_names.resolve("cmd:" + shlex.join(words))


@contextlib.contextmanager
def lane(kind: str, **limits: Any) -> Iterator[Asker]:
    with Asker(adapter(kind), Limits(**limits)) as opened:
        yield opened


# Starting

STARTS = [
    ("dies_at_start", "its process exited with 3 before it sent hello", "libruntime.so.1: cannot open"),
    ("aborts_at_start", "its process was ended by SIGABRT before it sent hello", ""),
    ("prints_before_hello", "broke the wire format", "Welcome to the runtime"),
    ("speaks_another_protocol", "it uses wire format 99, but this harness uses 1", "update the older one"),
    ("speaks_endless_protocol", '"protocol" in its hello is \'999', "..., expected an integer"),
    ("says_true_for_an_integer", '"protocol" in its hello is True', "expected an integer"),
    ("says_a_float_for_an_integer", '"protocol" in its hello is 1.0', "expected an integer"),
    ("says_a_list_as_subject", "\"subject\" in its hello is ['runtime']", "expected a string"),
    ("says_an_object_as_subject", '"subject" in its hello is {}', "expected a string"),
    ("says_a_field_twice", "the field 'payload' occurs twice", "wire format"),
    ("never_says_hello", "no hello within 0.5 s", "README.md"),
    ("answers_before_hello", "its first message is 'answer', expected \"hello\"", "README.md"),
    ("fails_with_hostile_words", "red", "second line"),
    ("fails_without_words", "the adapter reports no reason", ""),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "why", "hint"), STARTS, ids=[row[0] for row in STARTS])
def test_an_adapter_that_does_not_start_is_named_with_its_fault(kind: str, why: str, hint: str) -> None:
    target = adapter(kind)
    with pytest.raises(StartError) as caught:
        Asker(target, Limits(start=SHORT if kind == "never_says_hello" else 20))
    text = str(caught.value)
    assert text.startswith(target.name), f"{text!r} does not begin with the backend's name"
    assert text.count(target.name) == 1, f"{text!r} names the backend more than once"
    assert why in text, text
    assert hint in text, text
    assert text.isprintable(), f"not one clear line: {text!r}"
    assert len(text) < 2500, f"{len(text)} characters are no sentence"


def test_a_command_that_does_not_send_hello_gets_a_hint(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(adapter_process, "HINT_SECONDS", 0.2)
    with refuses("no-hello", kind=StartError):
        Asker(backend_names.resolve("cmd:cat"), Limits(start=SHORT))
    hints = [line for line in capfd.readouterr().err.splitlines() if line.endswith("[hello-late]")]
    assert len(hints) == 1, hints


def test_a_death_before_the_hello_starts_the_adapter_again(cases: dict[str, Case], tmp_path: Path) -> None:
    target = adapter("dies_at_its_first_start", FAULTY, str(tmp_path / "started"))
    with Asker(target, Limits(restarts=0)) as opened:
        reply = opened.ask(cases["even"])
    assert isinstance(reply, Answered), reply


def test_a_second_death_before_the_hello_is_reported_with_both_outputs(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    with pytest.raises(StartError) as caught:
        Asker(adapter("counts_its_starts", FAULTY, str(starts)), Limits())
    for part in ("exited with 3 before it sent hello", "started twice", "at start 1", "at start 2"):
        assert part in str(caught.value), f"{part!r} is not in {str(caught.value)!r}"
    assert starts.read_text() == "xx", "one more chance, and no third"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody can tell whose child left its session")
@pytest.mark.parametrize(
    ("kind", "kind_of_reply"),
    [("leaves_daemons", Answered), ("dies_leaving_daemons", Died), ("hangs_leaving_daemons", Late)],
)
def test_nothing_that_an_adapter_started_outlives_it(
    kind: str, kind_of_reply: type, cases: dict[str, Case], tmp_path: Path
) -> None:
    """Processes that left the session of their parent, and processes that outlived it."""
    ids = tmp_path / "ids"
    with Asker(adapter(kind, FAULTY, str(ids)), Limits(timeout=5)) as opened:
        reply = opened.ask(cases[FAULTY])
        assert isinstance(reply, kind_of_reply), reply
        after = opened.ask(cases["even"])
        assert isinstance(after, Answered), after
        assert all(runs(pid) == (kind_of_reply is Answered) for pid in daemons(ids)), "they live as long as the process"
    assert not any(map(runs, daemons(ids)))


def daemons(path: Path) -> list[int]:
    pids = [int(line) for line in path.read_text().splitlines()]
    assert len(pids) == 2, pids
    return pids


NOT_PROGRAMS = [
    ("cmd:./no_such_runner --stdio", "cannot run './no_such_runner': No such file or directory"),
    (f"cmd:{WRONG.parent}", "Permission denied"),
]


@pytest.mark.parametrize(("name", "why"), NOT_PROGRAMS, ids=["missing", "a folder"])
def test_a_command_that_cannot_be_run_is_named(name: str, why: str) -> None:
    with pytest.raises(StartError) as caught:
        Asker(backend_names.resolve(name), Limits())
    text = str(caught.value)
    assert text.startswith(name), text
    assert why in text, text


NO_ADAPTERS = [
    ("no_such_runtime.backend", "cannot import no_such_runtime.backend"),
    ("json.decoder", "is not an adapter: it has neither info() and run() nor prepare()"),
    ("json.no_such_name", "json has no no_such_name"),
]


@pytest.mark.parametrize(("name", "why"), NO_ADAPTERS, ids=[row[0] for row in NO_ADAPTERS])
def test_a_module_that_is_no_adapter_is_named(name: str, why: str) -> None:
    with pytest.raises(StartError) as caught:
        Asker(backend_names.resolve(name), Limits())
    text = str(caught.value)
    assert text.startswith(name), text
    assert why in text, text
    assert "Traceback" not in text, text


def test_a_memory_limit_below_what_the_adapter_needs_is_a_start_error() -> None:
    with pytest.raises(StartError) as caught, lane("good", memory=1 << 20):
        pass
    assert "before it sent hello" in str(caught.value), str(caught.value)
    assert "it may need more memory than the 1,048,576 bytes of --memory" in str(caught.value), str(caught.value)


def test_a_module_takes_nothing_from_the_folder_it_is_served_from() -> None:
    """`backends/onnxruntime.py` must not be what `import onnxruntime` finds."""
    pytest.importorskip("onnxruntime")
    with Asker(backend_names.resolve("onnxruntime"), Limits()) as opened:
        assert opened.process.hello["runtime"] == "onnxruntime", opened.process.hello


# One case after the other


def test_a_good_adapter_answers_every_case(cases: dict[str, Case]) -> None:
    with lane("good") as opened:
        replies = {name: opened.ask(case) for name, case in cases.items()}
    assert replies
    for name, reply in replies.items():
        assert isinstance(reply, Answered), f"{name}: {reply}"
        expected = cases[name].expected
        assert expected is not None, name
        assert len(reply.outputs) == len(expected), f"{name}: {reply.outputs}"
        for got, value in zip(reply.outputs, expected, strict=True):
            assert (got == value).all(), f"{name}: {got} is not {value}"


@pytest.mark.slow
def test_an_unasked_answer_is_a_fault_without_a_case_and_the_next_case_is_right(cases: dict[str, Case]) -> None:
    with lane("answers_unasked") as opened:
        culprit = opened.ask(cases[FAULTY])
        after = opened.ask(cases["even"])
        faults, ends = opened.process.faults, opened.process.ends
    assert isinstance(culprit, Answered), culprit
    assert isinstance(after, Answered), after
    assert ends == 1, f"the process ended {ends} times"
    assert len(faults) == 1, faults
    assert "'answer' that was not requested, while no case was running" in faults[0], faults
    assert faults[0].startswith(adapter("answers_unasked").name), faults


@pytest.mark.slow
def test_replies_are_returned_once_each_with_its_case_and_its_process(cases: dict[str, Case]) -> None:
    names = ["even", FAULTY, "even"]
    with lane("exits_with_3") as opened:
        for name in names:
            opened.process.put(cases[name])
        received: list[CaseReply] = []
        while len(received) < len(names):
            poll(opened.selector, [opened.process], 1)
            received += opened.process.take_replies()
        assert opened.process.take_replies() == []
    assert [reply.case.name for reply in received] == names
    assert [type(reply.reply) for reply in received] == [Answered, Died, Answered]
    assert [reply.process_number for reply in received] == [0, 0, 1], "the last one ran in the next process"
    assert sorted(reply.time for reply in received) == [reply.time for reply in received]
    assert not any(reply.slow for reply in received), received


def test_an_adapter_that_dies_between_cases_is_started_again(cases: dict[str, Case]) -> None:
    with lane("exits_with_3") as opened:
        dead = opened.ask(cases[FAULTY])
        after = opened.ask(cases["even"])
    assert isinstance(dead, Died), dead
    assert (dead.status, dead.signal) == (3, ""), dead
    assert isinstance(after, Answered), after


def pid_of(process: ProcessTree | None) -> int:
    assert process is not None
    return process._process.pid


@pytest.mark.slow
def test_after_an_end_the_next_process_is_started_ahead_of_time(cases: dict[str, Case]) -> None:
    with lane("exits_with_3") as opened:
        opened.ask(cases["even"])
        assert opened.process._successor is None, "one that never ended needs no second process"
        opened.ask(cases[FAULTY])
        opened.ask(cases["even"])
        ahead = pid_of(opened.process._successor)
        assert isinstance(opened.ask(cases[FAULTY]), Died)
        assert isinstance(opened.ask(cases["even"]), Answered)
        assert pid_of(opened.process._process) == ahead
        last = pid_of(opened.process._successor)
        assert last != ahead
    assert not runs(last)
    assert not runs(ahead)


@pytest.mark.slow
def test_a_successor_that_was_killed_meanwhile_is_started_again(cases: dict[str, Case]) -> None:
    with lane("exits_with_3") as opened:
        for name in (FAULTY, "even"):
            opened.ask(cases[name])
        ahead = pid_of(opened.process._successor)
        os.kill(ahead, signal.SIGKILL)
        assert isinstance(opened.ask(cases[FAULTY]), Died)
        assert isinstance(opened.ask(cases["even"]), Answered)
        assert pid_of(opened.process._process) != ahead


def test_no_successor_is_started_that_the_restarts_do_not_allow(cases: dict[str, Case]) -> None:
    with lane("exits_with_3", restarts=1) as opened:
        for name in (FAULTY, "even"):
            opened.ask(cases[name])
        assert opened.process._successor is None


def test_a_death_is_reported_with_its_signal_and_last_output(cases: dict[str, Case]) -> None:
    with lane("dies_by_abrt") as opened:
        dead = opened.ask(cases[FAULTY])
    assert isinstance(dead, Died), dead
    assert dead.signal == "SIGABRT", dead
    assert "terminate called after throwing" in dead.stderr, dead


def test_last_output_is_short_and_escaped(cases: dict[str, Case]) -> None:
    with lane("dies_with_hostile_words") as opened:
        dead = opened.ask(cases[FAULTY])
    assert isinstance(dead, Died), dead
    assert dead.status == 5, dead
    assert "\x1b" not in dead.stderr, dead.stderr
    assert len(dead.stderr) <= STDERR_KEPT, f"{len(dead.stderr)} characters kept of 4 MiB"


def test_messages_of_refusals_are_short_and_escaped(cases: dict[str, Case]) -> None:
    with lane("refuses_with_hostile_words") as opened:
        reply = opened.ask(cases[FAULTY])
    assert isinstance(reply, Refused), reply
    assert reply.reason is None, reply.reason
    assert reply.error == "Error", repr(reply.error)
    assert reply.message.startswith("red"), repr(reply.message[:80])
    assert not {"\x1b", "\x07", "\0", "\r", "\u202e", "\ud800"} & set(reply.message), repr(reply.message[:80])
    assert len(reply.message) < 2100, f"{len(reply.message)} characters of 1 MB"
    reply.message.encode("utf-8")  # Raises where a lone surrogate is left.


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hangs", "hangs_printing", "drips"])
def test_an_adapter_that_does_not_answer_is_late_whatever_else_it_does(kind: str, cases: dict[str, Case]) -> None:
    with lane(kind, timeout=SHORT) as opened:
        before = opened.ask(cases["lengths"])
        late = opened.ask(cases[FAULTY])
        after = opened.ask(cases["even"])
    assert isinstance(late, Late), late
    assert late.seconds >= SHORT, late
    assert isinstance(before, Answered), before
    assert isinstance(after, Answered), after


def test_a_death_that_leaves_a_child_behind_is_no_lateness(cases: dict[str, Case]) -> None:
    with lane("dies_leaving_a_child", timeout=SHORT) as opened:
        dead = opened.ask(cases[FAULTY])
    assert isinstance(dead, Died), dead
    assert dead.status == 4, dead


@pytest.mark.parametrize("kind", ["takes_nan_seconds", "takes_endless_seconds"])
def test_an_invalid_time_is_left_out(kind: str, cases: dict[str, Case]) -> None:
    with lane(kind) as opened:
        reply, after = opened.ask(cases[FAULTY]), opened.ask(cases["even"])
    assert isinstance(reply, Answered), reply
    assert reply.seconds is None, reply
    assert isinstance(after, Answered), after
    assert after.seconds == 0.001, after


def test_a_second_hello_is_reported_as_such(cases: dict[str, Case]) -> None:
    with lane("says_hello_again") as opened:
        reply = opened.ask(cases[FAULTY])
    assert isinstance(reply, Broken), reply
    assert 'a second "hello"' in reply.message, reply


def test_an_answer_beyond_memory_is_blamed_on_its_own_case(
    cases: dict[str, Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = iter([MemoryError, None])
    right = replies.parse

    def parse(*message: Any) -> Any:
        if (error := next(errors, None)) is not None:
            raise error
        return right(*message)

    monkeypatch.setattr(replies, "parse", parse)
    with lane("good") as opened:
        reply, after = opened.ask(cases[FAULTY]), opened.ask(cases["even"])
    assert isinstance(reply, Broken), reply
    assert "does not fit into the memory of the harness" in reply.message, reply
    assert isinstance(after, Answered), after


LAST_WORDS = """
import os
import selectors
import sys
from pathlib import Path


def info():
    return {"runtime": "chatty", "version": "1"}


def run(model, inputs, outputs):
    if not Path("asked").exists():
        Path("asked").touch()
        raise ValueError("the first case")
    print("last words", file=sys.stderr, flush=True)
    Path("ends").touch()
    os._exit(6)
"""


def test_what_a_process_printed_last_is_kept_where_it_is_read_before_the_answer_before(
    cases: dict[str, Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chatty.py").write_text(LAST_WORDS)
    with Asker(backend_names.resolve("./chatty.py"), Limits()) as opened:
        process = opened.process
        process.put(cases["lengths"])
        process.put(cases["even"])
        while not (tmp_path / "ends").exists():
            time.sleep(0.01)
        process._on_stderr()
        process._on_stdout()
        received: list[CaseReply] = []
        while len(received) < 2:
            poll(opened.selector, [process])
            received += process.take_replies()
    last = received[-1].reply
    assert isinstance(last, Died), received
    assert "last words" in last.stderr


# Giving up


def test_a_lane_without_restarts_reports_it_every_time(cases: dict[str, Case]) -> None:
    """The pytest plugin asks one lane for all its items: none may wait for a process that is not there."""
    with lane("dies_on_every_case", restarts=1) as opened:
        replies = [opened.ask(cases["lengths"]), opened.ask(cases["even"])]
        texts = []
        for name in ("lengths_sum", "lengths_one"):
            with pytest.raises(BudgetError) as caught:
                opened.ask(cases[name])
            texts.append(str(caught.value))
    assert all(isinstance(reply, Died) for reply in replies), replies
    assert texts[0] == texts[1], texts
    for part in ("ended 2 times", "its process exited with 6", "--restarts allows 1", "raise it"):
        assert part in texts[0], f"{part!r} is not in {texts[0]!r}"
    assert texts[0].startswith(adapter("dies_on_every_case").name), texts


def test_a_process_without_further_cases_is_not_started_again(cases: dict[str, Case]) -> None:
    with lane("dies_on_every_case", restarts=0) as opened:
        dead = opened.ask(cases["lengths"])
        ends = opened.process.ends
    assert isinstance(dead, Died), dead
    assert ends == 1, ends


@pytest.mark.slow
@pytest.mark.parametrize(("memory", "kind"), [(512 << 20, Refused), (None, Answered)], ids=["512 MiB", "no limit"])
def test_an_adapter_cannot_exceed_its_memory_limit(memory: int | None, kind: type, cases: dict[str, Case]) -> None:
    with lane("allocates", memory=memory) as opened:
        reply, after = opened.ask(cases[FAULTY]), opened.ask(cases["even"])
    assert isinstance(reply, kind), reply
    assert isinstance(after, Answered), after
    if isinstance(reply, Refused):
        assert reply.error == "MemoryError", reply


def test_requests_that_are_sent_ahead_are_sent_together(
    cases: dict[str, Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []

    def writev(handle: int, parts: list[memoryview]) -> int:
        sent.append(len(parts))
        return write(handle, parts)

    write = os.writev
    monkeypatch.setattr(os, "writev", writev)
    selector, answered = selectors.DefaultSelector(), 0
    process = AdapterProcess(adapter("good"), Limits(ahead=48), selector)
    process.start()
    while not process.hello:
        poll(selector, [process])
    for _ in range(48):
        process.put(cases["even"])
    assert sent == [1] * ENOUGH_AHEAD, "the process has enough to do"
    while not process.idle:
        poll(selector, [process])
        answered += sum(isinstance(reply.reply, Answered) for reply in process.take_replies())
    process.close()
    assert answered == 48
    assert sent == [*[1] * ENOUGH_AHEAD, 48 - ENOUGH_AHEAD]
