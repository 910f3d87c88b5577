# SPDX-License-Identifier: Apache-2.0
"""Progress of a run: estimates, the pace of the last minutes, and output without a terminal."""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from commands import adapter, command, on_a_terminal
from onnx_conformance.processes.case_times import Status, Wait
from onnx_conformance.run import progress
from onnx_conformance.run.progress import Look, Total, Watch, total
from onnx_conformance.suites.folder import Folder
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.official import Official
from onnx_conformance.suites.selection import Selection
from onnx_conformance.suites.suite import Outlook

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("few_operators")

OUTLOOK = Outlook({"a": 100, "b": 100, "c": 300}, 4.0)


@dataclass
class Scene:
    """A run that another one plays: time passes and results come as a test says."""

    shares: dict[str, float] = field(default_factory=lambda: {"mine": 1.0})
    total: Total | None = field(default_factory=lambda: Total(1000))
    now: float = 0.0
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    status: dict[str, Status] = field(default_factory=dict)

    def watch(self) -> Watch:
        return Watch(self.counts, self.shares, lambda: self.total, lambda: self.now, status=lambda: self.status)

    def hang(self, seconds: float, backend: str = "mine") -> None:
        """Let time pass in which a backend does nothing but hang."""
        self.now += seconds
        self.status[backend] = Status(stalled=self.status.get(backend, Status()).stalled + seconds)

    def pass_by(self, seconds: float, results: int = 0, verdict: str = "pass", backend: str = "mine") -> None:
        self.now += seconds
        self.counts.setdefault(backend, Counter())[verdict] += results


# How many cases there are


@pytest.mark.parametrize(
    ("counts", "cases"),
    [
        ({}, 2000),
        ({"a": 30}, 2000),
        ({"a": 430}, 2030),  # More than there were to be.
        ({"c": 1, "b": 400}, 2000),  # Workers take operator versions in any order.
        ({"a": 500, "b": 500}, 2200),
        ({"of a folder": 2100}, 2100),
    ],
)
def test_cases_done_give_an_estimate_of_the_total(counts: dict[str, int], cases: int) -> None:
    estimate = total(OUTLOOK, counts, last=False)
    assert estimate is not None
    assert not estimate.exact
    assert estimate.cases == pytest.approx(cases), estimate
    assert estimate.cases >= sum(counts.values()), "fewer than there are"


def test_the_last_case_makes_the_number_exact() -> None:
    assert total(OUTLOOK, {"a": 7}, last=True) == Total(7, exact=True)
    assert total(None, {"a": 7}, last=True) == Total(7, exact=True)
    assert total(None, {"a": 7}, last=False) is None, "a number that nobody knows"
    assert total(Outlook({}), {}, last=False) == Total(0)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"ops": ("Split*",)}, {"sample": 10}, {"shard": (1, 3)}, {"tags": ("edge",)}])
def test_the_outlook_of_the_suite_is_near_its_number_of_cases(options: dict[str, Any]) -> None:
    generated = Generated()
    outlook = generated.outlook(Selection(**options))
    assert outlook is not None
    cases = [case.operator for case in generated.cases(Selection(**options))]
    assert set(cases) <= set(outlook.declared), "a case of an operator that was not counted"
    at_first = total(outlook, {}, last=False)
    half = total(outlook, Counter(cases[: len(cases) // 2]), last=False)
    assert at_first is not None
    assert half is not None
    assert len(cases) / 2 < at_first.cases < len(cases) * 2, f"{at_first} of {len(cases)}"
    assert len(cases) / 2 < half.cases < len(cases) * 2, f"{half} of {len(cases)}"


@pytest.mark.slow
def test_other_suites_have_an_exact_outlook_or_none(tmp_path: Path) -> None:
    assert Generated().outlook(Selection(cases=("*lengths*",))) is None
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.onnx").touch()
    folder = Folder(tmp_path)
    assert folder.outlook(Selection()) == Outlook({"": 2}, 1.0)
    assert folder.outlook(Selection(sample=2)) == Outlook({"": 2}, 0.5)
    assert folder.outlook(Selection(ops=("Split",))) is None
    official = Official()
    estimate = total(official.outlook(Selection(ops=("Split/18",))), {}, last=False)
    assert estimate == Total(sum(1 for _ in official.cases(Selection(ops=("Split/18",)))))


# How fast


def test_the_pace_is_that_of_the_last_minutes() -> None:
    scene = Scene(total=Total(2000))
    watch = scene.watch()
    watch.look()
    for _ in range(100):  # A quick operator ...
        scene.pass_by(1, 10)
        quick = watch.look()["mine"]
    assert (quick.pace, quick.left) == (pytest.approx(10), pytest.approx(100)), quick
    for _ in range(200):  # ... and a slow one.
        scene.pass_by(1)
        if scene.now % 10 == 0:
            scene.pass_by(0, 1)
        slow = watch.look()["mine"]
    assert slow.pace == pytest.approx(0.1, rel=0.1), f"the quick ones are long over: {slow}"
    assert slow.left == pytest.approx((2000 - 1020) / 0.1, rel=0.1), slow


def test_resumed_results_do_not_count_for_the_pace() -> None:
    scene = Scene()
    scene.pass_by(0, 900)
    watch = scene.watch()
    assert watch.look()["mine"].pace == 0
    scene.pass_by(10, 10)
    progress_of = watch.look()["mine"]
    assert (progress_of.done, progress_of.pace, progress_of.left) == (910, 1, 90), progress_of


def test_each_backend_has_its_own_share() -> None:
    scene = Scene({"quick": 1.0, "slow": 1 / 80}, Total(8000, exact=True))
    watch = scene.watch()
    watch.look()
    scene.pass_by(10, 1000, backend="quick")
    scene.pass_by(0, 10, "crash", "slow")
    progress_of = watch.look()
    assert str(progress_of["quick"]) == "1,000 of 8,000, about 1 min left, 0 failed, 100/s", progress_of["quick"]
    assert str(progress_of["slow"]) == "10 of about 100, about 2 min left, 10 failed, 1/s", progress_of["slow"]


@pytest.mark.parametrize(
    ("look", "text"),
    [
        (Look(0, 0, None, 0), "0, 0 failed"),
        (Look(12, 3, None, 2.5), "12, 3 failed, 2.5/s"),
        (Look(10, 0, Total(176_317), 0.0), "10 of about 180,000, 0 failed"),
        (Look(10, 0, Total(176_317, exact=True), 0.01), "10 of 176,317, about 204.1 days left, 0 failed, 0.01/s"),
        (Look(0, 0, Total(7300), 1), "0 of about 7,300, about 2 h 2 min left, 0 failed, 1/s"),
        (
            Look(99, 0, Total(199, exact=True), 2, 20.0, Wait("ai.onnx/Einsum/12/tab/float16@dynamic", 14.4, 20), 3),
            "99 of 199, Einsum/12/tab/float16, 14 s of 20, about 1 min left, 0 failed, 3 restarts, 2/s",
        ),
        (Look(9, 0, None, 2, 0, Wait("official/test_split", 1.9, 20), 1), "9, 0 failed, 1 restart, 2/s"),
        (Look(9, 0, None, 2, 0, Wait("official/test_split", 2.0, 0.5)), "9, test_split, 2 s of 0.5, 0 failed, 2/s"),
        (Look(9, 0, None, 0, 0, Wait("x/\x1b[31m\n::error::", 3, 20)), "9, ::error::, 3 s of 20, 0 failed"),
        (Look(9, 0, None, 0, 0, Wait("x/" + 99 * "a", 3, 20)), f"9, aaaaa...{32 * 'a'}, 3 s of 20, 0 failed"),
        (Look(99, 0, Total(50), 1), "99 of about 50, about 1 s left, 0 failed, 1/s"),
    ],
)
def test_progress_as_text(look: Look, text: str) -> None:
    assert str(look) == text


def lefts(scene: Scene, watch: Watch, seconds: float) -> list[float]:
    """Return the estimates of seconds left, two a second while 300 cases a second are answered."""
    estimates = []
    for _ in range(round(seconds * 2)):
        scene.pass_by(0.5, 150)
        estimates.append(watch.look()["mine"].left)
    return [left for left in estimates if left is not None]


@pytest.mark.parametrize("before", [0.5, 10, 200], ids=lambda seconds: f"after {seconds} s")
@pytest.mark.parametrize("hangs", [1, 20])
def test_hangs_do_not_ruin_an_estimate(hangs: int, before: float) -> None:
    """A run of ten minutes and its hangs; none of them counts for the pace of the rest."""
    scene = Scene(total=Total(180_000))
    watch = scene.watch()
    watch.look()
    estimates = lefts(scene, watch, before)
    for _ in range(hangs):
        for _ in range(40):
            scene.hang(0.5)
            estimates += [left for left in [watch.look()["mine"].left] if left is not None]
        scene.pass_by(0, 1, "timeout")
    estimates += lefts(scene, watch, 300)
    assert len(estimates) > 500, "it goes on saying what is left"
    assert max(estimates) < 600 + 20 * hangs + 5, f"{max(estimates):.0f} s left of a run of {600 + 20 * hangs}"
    truth = 600 - before - 300
    assert truth - 5 < estimates[-1] < truth + 20 * hangs + 5, estimates[-1]
    assert watch.look()["mine"].pace == pytest.approx(300, rel=0.05)


def test_hangs_are_expected_as_often_as_they_came() -> None:
    scene = Scene(total=Total(4000))
    watch = scene.watch()
    watch.look()
    for _ in range(3):
        scene.pass_by(10, 999)
        scene.hang(20)
        scene.pass_by(0, 1, "timeout")
        look = watch.look()["mine"]
    assert (look.pace, look.hangs) == (pytest.approx(100), pytest.approx(20)), look
    assert look.left == pytest.approx(10 + 20), look


def test_a_hang_at_the_beginning_is_no_estimate() -> None:
    scene = Scene()
    watch = scene.watch()
    watch.look()
    scene.hang(20)
    scene.pass_by(0.1, 1, "timeout")
    assert watch.look()["mine"].left is None


# Where it is shown


def lines_of(scene: Scene, steps: int, seconds: float) -> list[str]:
    """Return the lines of a run whose results come so far apart, where there is no terminal."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), progress.shown(scene.watch()) as advance:
        for _ in range(steps):
            scene.pass_by(seconds, 1)
            advance()
    assert not out.getvalue(), "standard output is for the report"
    return err.getvalue().splitlines()


def test_without_a_terminal_there_is_a_line_every_half_minute() -> None:
    assert lines_of(Scene(), 29, 1) == [], "a short run says nothing"
    lines = lines_of(Scene(total=Total(1000, exact=True)), 100, 1)
    assert len(lines) == 3, lines
    assert lines[0] == "onnx-conformance: after 30 s: mine: 30 of 1,000, about 16 min left, 0 failed, 1/s"
    assert len(lines_of(Scene(), 10, 100)) == 10, "one line a result, where they come once in a hundred seconds"
    assert "\x1b" not in "".join(lines_of(Scene({"\x1b[31mevil\n": 1.0}), 40, 1))


@pytest.mark.slow
def test_a_backend_that_hangs_is_seen_to_hang(tmp_path: Path) -> None:
    record = tmp_path / "record"
    backend = f"{adapter('hangs_on_record')} lengths_sum {record}"
    words = ["run", "--backend", backend, "--case", "ai.onnx/Split/13/lengths_sum", "--timeout", "6"]
    _, shown = on_a_terminal(*words, folder=tmp_path)
    assert re.search(r"Split/13/lengths_sum, [2-6] s of 6", shown), shown


def test_progress_is_cheap() -> None:
    looks: list[int] = []
    scene = Scene()
    watch = Watch(scene.counts, scene.shares, lambda: looks.append(1), lambda: scene.now)  # type: ignore[arg-type,return-value,func-returns-value]
    with progress.shown(watch) as advance:
        for _ in range(10_000):
            scene.pass_by(0.001, 1)
            advance()
    assert len(looks) < 5, f"{len(looks)} looks in 10 s"


@pytest.mark.slow
def test_a_terminal_shows_a_line_for_each_backend(tmp_path: Path) -> None:
    slow = adapter("is_slow")
    words = ["run", "--backend", slow, "--backend", "oracle", "--op", "Split/13", "--tag", "edge"]
    out, shown = on_a_terminal(*words, "--sample", "1/3", folder=tmp_path)
    assert re.search(r"^oracle .*, 1 case in 3: ", out, re.MULTILINE), out
    assert re.search(r"oracle +[\d,]+ of (about )?[\d,]+", shown), shown
    assert re.search(r", about \d[\d.]* (s|min|h \d+ min|days) left, \d+ failed", shown), shown
    assert re.search(r"cmd:/\.\.\.\S*py is_slow ", shown), shown
    assert "\x1b" not in out, "what a terminal shows went to standard output"
    assert " left, " not in out, out


@pytest.mark.slow
def test_a_short_run_prints_no_progress() -> None:
    done = command("run", "--backend", "oracle", "--case", "ai.onnx/Split/13/lengths")
    assert (done.status, done.err) == (0, ""), done.text
