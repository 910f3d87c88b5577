# SPDX-License-Identifier: Apache-2.0
"""From results to findings: failure groups, evidence, deduplication, confirmation, and comparison with old findings."""

from __future__ import annotations

import dataclasses
import itertools
from collections import defaultdict
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.base import under_test
from onnx_conformance.base.errors import HarnessError, Note
from onnx_conformance.base.verdict import Verdict, clean, line
from onnx_conformance.base.worker_pool import worker_pool
from onnx_conformance.environments import backend_names
from onnx_conformance.findings import chosen_sentence, confirm, gap_findings, script, titles
from onnx_conformance.findings.causes import related, runtime_at_fault, runtime_inside
from onnx_conformance.findings.earlier import OldFindings
from onnx_conformance.findings.evidence import Evidence, evidence
from onnx_conformance.findings.failure_groups import failure_groups, set_apart
from onnx_conformance.findings.finding import BACK, FIXED, MOST_IDS, MOST_SAID, OPEN, Finding, Findings, History
from onnx_conformance.findings.findings_file import MOST_SCRIPT
from onnx_conformance.findings.script import shows
from onnx_conformance.findings.sentence import may_decide_value
from onnx_conformance.findings.smallest import Budget
from onnx_conformance.judging.ask import ask_and_judge
from onnx_conformance.processes import asker
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.repro.bug_report import public

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from onnx_conformance.findings.confirm import Said
    from onnx_conformance.findings.earlier import Earlier
    from onnx_conformance.findings.failure_groups import FailureGroup
    from onnx_conformance.results.stream import Run
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.suite import Suite


Ran = dict[tuple[str, str, str], "Said"]
"""The outputs of scripts, by backend, version and program."""


@dataclass(frozen=True)
class Options:
    """How findings are made.

    Attributes:
        selection: the operators.
        jobs: the number of processes.
        seconds: the time limit for minimizing a case, in seconds.
        timeout: the time limit for running a case, in seconds.
        others: other backends that also run the smallest cases.
        versions: for each backend, other versions of its runtime on which the scripts run.
        profile: the text of --profile, for backends whose own file has no profile.
        search_again: whether to search for the smallest cases, although old findings have some.
    """

    selection: Selection
    jobs: int = 1
    seconds: float = 20.0
    timeout: float = 20.0
    others: tuple[str, ...] = ()
    versions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    profile: str = ""
    search_again: bool = False


@dataclass
class Collected:
    """The result of collecting findings from runs.

    Attributes:
        findings: the findings of the folder, including the old ones.
        dropped: failure groups that did not become findings: backend, operator, kind, and reason.
        notes: lines about missing data.
    """

    findings: Findings
    dropped: list[tuple[str, str, str, str]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def collect(
    runs: Sequence[tuple[Run, Suite | None]],
    options: Options,
    before: Findings | None = None,
    on_step: Callable[[str, int, int], None] = lambda _what, _done, _all: None,
) -> Collected:
    """Return the findings of some runs.

    Args:
        runs: the runs, each with its suite, or None if the suite is not available.
        options: how the findings are made.
        before: the old findings; None if they do not exist.
        on_step: called with the present activity, the number of finished items and their total number.

    Raises:
        HarnessError: a backend does not start, or has no environment.
    """
    suite = {key: str(runs[0][0].header["suite"].get(key, "")) for key in ("name", "digest")}
    runtimes = _runtimes(runs)
    for name, runtime in runtimes.items():  # Fail before spending hours if nothing can be confirmed.
        confirm.place(name, runtime["version"])
    collected = Collected(before or Findings(suite, {}, ()))
    every: list[FailureGroup] = []
    for run, source in runs:
        made, note = failure_groups(
            run, source, options.selection, jobs=options.jobs,
            on_operator=lambda done, total: on_step("explains failures by operator", done, total),
        )  # fmt: skip
        every += made
        if note:
            collected.notes.append(Note("failures-not-grouped", note))
    budget = Budget((suite["name"], suite["digest"]), options.seconds, options.timeout, options.profile)
    old = OldFindings(None if options.search_again else before)
    evidences = _evidence(every, old, budget, options, collected, on_step)
    for number, (run, _) in enumerate(runs, 1):
        on_step("looks for version gaps", number, len(runs))
        evidences += gap_findings.of_run(run, options.selection)
    merged = _merged(evidences)
    confirmed, ran = _confirmed(merged, options, collected, on_step)
    updated = _run_again(before, runtimes, ran, options, collected, on_step)
    if updated:  # Otherwise the results are not read again.
        updated = _without_apart(updated, [set_apart(run, options.selection) for run, _ in runs], collected)
    written = _update(collected, confirmed, updated)
    failing = {(under_test.unversioned(group.backend), item.case) for group in every for item in group.results}
    _leave_out_replaced(collected, written, failing)
    tools = _tools(runs)
    _add_others(collected, confirmed, options, tools, on_step)
    _set_those_of_runtimes_apart(collected, tools)
    _add_versions(collected, confirmed, options, on_step)
    own = related(collected.findings.findings)
    known = {**_kept(collected.findings, suite["digest"]), **runtimes}
    collected.findings = Findings(suite, known, tuple(own), collected.findings.scripts)
    return collected


def _kept(before: Findings, digest: str) -> dict[str, dict[str, str]]:
    """Return the runtimes of the old findings, with the digest of their suite where it is another one."""
    return {
        name: {
            **{key: text for key, text in runtime.items() if key != "suite"},
            **({"suite": before.digest_of(name)} if before.digest_of(name) not in {"", digest} else {}),
        }
        for name, runtime in before.runtimes.items()
    }


def _runtimes(runs: Iterable[tuple[Run, Suite | None]]) -> dict[str, dict[str, str]]:
    return {
        under_test.unversioned(name): {key: line(hello.get(key, ""), 80) for key in ("runtime", "version", "onnx")}
        for run, _ in runs
        for name, hello in run.header["backends"].items()
    }


# Evidence, in processes


def _evidence(
    every: Sequence[FailureGroup],
    old: OldFindings,
    budget: Budget,
    options: Options,
    collected: Collected,
    on_step: Callable[[str, int, int], None],
) -> list[Evidence]:
    """Return the evidence of each candidate that fails again."""
    made: list[Evidence] = []
    if not every:
        return made
    for done, (item, outcome) in enumerate(_outcomes(every, old, budget, options.jobs), 1):
        if isinstance(outcome, str):
            collected.dropped.append((item.backend, item.operator, str(item.kind), outcome))
        else:
            made.append(outcome)
        on_step("minimizes cases", done, len(every))
    return sorted(made, key=lambda item: (item.finding.rank, item.finding.cases.ids))


def _outcomes(
    every: Sequence[FailureGroup], old: OldFindings, budget: Budget, jobs: int
) -> Iterator[tuple[FailureGroup, Evidence | str]]:
    if jobs == 1:
        with asker.fork_servers():
            for item in every:
                yield item, _one(item, budget, old.of(item))
        return
    with worker_pool(jobs, asker.keep_fork_servers) as pool:
        futures = {pool.submit(_one, item, budget, old.of(item)): item for item in every}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _one(group: FailureGroup, budget: Budget, known: Sequence[Earlier]) -> Evidence | str:
    try:
        made = evidence(group, budget, known)
    except HarnessError as error:
        return line(error)
    except Exception as error:  # noqa: BLE001 - it is shown, and the other candidates continue
        return line(f"a fault of the harness, please report it: {type(error).__name__}: {error}")
    if made is not None and len(made.script) > MOST_SCRIPT:
        return f"the script of its smallest case is too long ({len(made.script):,} characters); try more --seconds"
    return made or "none of its cases failed again in the same way"


def _merged(made: Iterable[Evidence]) -> list[Evidence]:
    """Return one item for each cause.

    Items whose smallest cases have the same outline are merged. Two items of the same operator version are also merged
    if one case has all features that the other needs to fail in this way, because nothing shows that its additional
    features matter.
    """
    by_cause: dict[tuple[str, str], Evidence] = {}
    for item in made:
        key = item.finding.identity.cause, item.finding.identity.apart
        by_cause[key] = _joined(by_cause[key], item) if key in by_cause else item
    kept: list[Evidence] = []
    for item in sorted(by_cause.values(), key=lambda item: len(item.outline.features)):
        number = next((number for number, other in enumerate(kept) if _covers(other, item)), None)
        if number is None:
            kept.append(item)
        else:
            kept[number] = _joined(kept[number], item)
    return sorted(kept, key=lambda item: (item.finding.rank, item.finding.cases.ids))


def _covers(one: Evidence, other: Evidence) -> bool:
    a, b = one.finding, other.finding
    alike = a.identity.but_for_the_cause == b.identity.but_for_the_cause
    return alike and bool({*a.cases.versions} & {*b.cases.versions}) and one.outline.covers(other.outline)


def _of_both(ids: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Return cases of two groups in turn. By a case of either group, the next update finds the finding."""
    pairs = itertools.zip_longest(ids, others)
    return tuple(dict.fromkeys(case for pair in pairs for case in pair if case is not None))[:MOST_IDS]


def _joined(first: Evidence, other: Evidence) -> Evidence:
    a, b = first.finding.cases, other.finding.cases
    shared = tuple(text for text in a.conditions if text in b.conditions)
    joined = dataclasses.replace(
        a,
        versions=tuple(sorted({*a.versions, *b.versions})),
        types=tuple(sorted({*a.types, *b.types})),
        forms=tuple(sorted({*a.forms, *b.forms})),
        conditions=shared,
        count=a.count + b.count,
        ids=_of_both(a.ids, b.ids),
    )
    text = first.script
    if first.finding.identity.kind is Verdict.WRONG_VALUE and may_decide_value(b.clause) > may_decide_value(a.clause):
        joined = dataclasses.replace(joined, clause=b.clause)
        text = text.replace(script.said(a.clause), script.said(b.clause))
    title = first.finding.title if shared == a.conditions else first.title
    if joined.versions != a.versions:
        title = titles.with_versions(title, joined.versions)
    finding = dataclasses.replace(first.finding, title=title, cases=joined)
    return dataclasses.replace(first, finding=finding, script=text, failing=first.failing | other.failing)


# Confirmed by the script alone


def _confirmed(
    made: Sequence[Evidence], options: Options, collected: Collected, on_step: Callable[[str, int, int], None]
) -> tuple[list[Evidence], Ran]:
    """Return the items whose script shows the fault in a fresh environment, and the outputs of all scripts."""
    kept: list[Evidence] = []
    ran: Ran = {}
    done = 0
    for (backend, version), items in _by_runtime(made).items():
        texts = [item.script for item in items]
        for item, said in zip(items, confirm.run_new(backend, version, texts, options.jobs), strict=True):
            done += 1
            ran[backend, version, script.program_of(item.script)] = said
            on_step("runs scripts in fresh environments", done, len(made))
            finding = item.finding
            identity = finding.identity
            if said.status != 1 or not shows(said.text, identity.kind):
                why = f"its script does not show the fault: exit status {said.status}, {said.last}"
                collected.dropped.append((identity.backend, identity.operator, str(identity.kind), why))
                continue
            history = dataclasses.replace(finding.history, confirmed=_said(said, version))
            kept.append(dataclasses.replace(item, finding=dataclasses.replace(finding, history=history)))
    return kept, ran


def _by_runtime(made: Iterable[Evidence]) -> dict[tuple[str, str], list[Evidence]]:
    grouped: dict[tuple[str, str], list[Evidence]] = defaultdict(list)
    for item in made:
        grouped[item.finding.identity.backend, item.finding.history.version].append(item)
    return grouped


def _said(said: Said, version: str) -> dict[str, str | int]:
    text = clean(public(said.text.strip())[-MOST_SAID:], MOST_SAID)
    return {"date": confirm.today(), "version": version, "exit": said.status, "said": text}


# Comparison with the old findings


def _update(
    collected: Collected, confirmed: Sequence[Evidence], updated: dict[str, Finding]
) -> dict[str, frozenset[str]]:
    """Merge the new findings into the old ones: ids, links and histories stay, and states change.

    Returns:
        The ids of the new findings, and of the old ones that equal new ones; of each, all cases that fail in its way.
    """
    failing: dict[str, frozenset[str]] = {}
    scripts: dict[str, str] = {}
    identities = {item.identity for item in updated.values()}
    # A finding with the identity of an old one takes its id before others can.
    for item in sorted(confirmed, key=lambda item: item.finding.identity not in identities):
        finding, text = item.finding, item.script
        old = _same([one for name, one in updated.items() if name not in failing], finding)
        if old is None:
            name = finding.id
            number = 2
            while name in updated:
                name, number = f"{finding.id}-{number}", number + 1
            event = {"version": finding.history.version, "date": confirm.today(), "state": OPEN}
            history = dataclasses.replace(finding.history, events=(event,))
            finding = dataclasses.replace(finding, id=name, history=history)
        else:
            state = BACK if old.history.state in {FIXED, BACK} else OPEN
            history = dataclasses.replace(finding.history, since=old.history.since, **old.history.links)
            finding = dataclasses.replace(
                finding, id=old.id, history=_in_state(history, state, old.history, finding.history.version)
            )
            finding, text = _with_chosen(collected, old, finding, text)
        updated[finding.id] = finding
        scripts[finding.id] = text
        failing[finding.id] = item.failing
    collected.findings = dataclasses.replace(
        collected.findings, findings=tuple(updated.values()), scripts={**collected.findings.scripts, **scripts}
    )
    return failing


def _with_chosen(collected: Collected, old: Finding, new: Finding, text: str) -> tuple[Finding, str]:
    """Return a new finding and its script, with the sentence if a reader chose one for the old finding.

    If it does not fit any more, there is a note.
    """
    if not old.cases.chosen:
        return new, text
    kept = chosen_sentence.kept(old, new, text)
    if kept is None:
        why = "the smallest case is another one, or the text does not contain the sentence"
        said = f"{new.id}: the sentence that was chosen on {old.cases.chosen} is not kept, because {why}"
        collected.notes.append(Note("sentence-not-kept", f"{said}; `findings --sentence` chooses one"))
    return kept or (new, text)


def _run_again(
    before: Findings | None,
    runtimes: Mapping[str, Mapping[str, str]],
    ran: Ran,
    options: Options,
    collected: Collected,
    on_step: Callable[[str, int, int], None],
) -> dict[str, Finding]:
    """Return the old findings by id. Those of the tested runtimes are updated from a new run of their scripts.

    Args:
        before: the old findings; None if they do not exist.
        runtimes: the tested runtimes.
        ran: the outputs of the scripts of new findings. If an old script is the same, it is not run again.
        options: how the findings are made.
        collected: gets notes.
        on_step: as in `collect`.
    """
    updated = {item.id: item for item in (before.findings if before else ())}
    for backend, runtime in runtimes.items():
        own = [item for item in updated.values() if item.identity.backend == backend]
        if before is None or not own:
            continue
        version, texts = runtime["version"], [before.scripts.get(item.id, "") for item in own]
        keys = [(backend, version, script.program_of(text)) for text in texts]
        others = [text for key, text in zip(keys, texts, strict=True) if key not in ran]
        answers = confirm.run_all(backend, version, others, options.jobs)
        for number, (item, key) in enumerate(zip(own, keys, strict=True), 1):
            said = ran[key] if key in ran else next(answers)
            on_step("runs the scripts of old findings", number, len(own))
            if said.status not in {0, 1}:
                text = f"{item.id}: its script does not show whether the fault is there: {said.last}"
                collected.notes.append(Note("script-undecided", text))
                continue
            state = item.history.state
            if said.status == 0 and state != FIXED and version == item.history.version:
                text = f"{item.id}: its script passes here, although the version of the runtime is the same"
                collected.notes.append(Note("passes-here", f"{text}: the machine or uninitialized memory decides"))
                continue
            if said.status == 0 and state != FIXED:
                state = FIXED
            elif said.status == 1 and state == FIXED:
                state = BACK
            history = dataclasses.replace(item.history, version=version, confirmed=_said(said, version))
            updated[item.id] = dataclasses.replace(item, history=_in_state(history, state, item.history, version))
    return updated


def _without_apart(
    updated: dict[str, Finding], aside: Iterable[Collection[tuple[str, str]]], collected: Collected
) -> dict[str, Finding]:
    """Return the old findings without those that do not count by the rules of today, unless somebody knows them.

    Their scripts still show the fault, with the tolerance of that time. Without this, a finding that an older release
    made would stay forever.

    Args:
        updated: the old findings by id.
        aside: of each run, the backends and cases that pass or are not decided, or whose failures do not count.
        collected: gets a note about those that are left out.
    """
    cases = {(under_test.unversioned(backend), case) for of_run in aside for backend, case in of_run}
    gone = [
        name
        for name, item in updated.items()
        if item.counted
        and not item.known
        and item.cases.ids
        and {(item.identity.backend, case) for case in item.cases.ids} <= cases
    ]
    if gone:
        why = "their cases pass or are not decided, or their failures do not count any more"
        text = f"{len(gone)} old findings are left out, because {why}: {', '.join(gone)}"
        collected.notes.append(Note("findings-not-counted", line(text, 600)))
    return {name: item for name, item in updated.items() if name not in gone}


def _leave_out_replaced(
    collected: Collected, made: Mapping[str, frozenset[str]], failing: Collection[tuple[str, str]]
) -> None:
    """Remove old findings whose failures are now part of new findings, unless they are fixed.

    Their scripts still show the fault. Without this, each change of the rules that group failures leaves duplicates.
    Links to reports go to the new finding with the most of the failures. If it has other links, the old one stays.

    Args:
        collected: the findings, old and new; gets a note about those that are left out.
        made: the ids of the new findings; of each, all cases that fail in its way.
        failing: the backends and cases of all failures that count, also of those that did not become findings.
    """
    findings = {item.id: item for item in collected.findings.findings}
    gone = []
    for item in collected.findings.findings:
        backend = item.identity.backend
        own = {case for case in item.cases.ids if (backend, case) in failing}
        new = [name for name in made if findings[name].identity.backend == backend and own & made[name]]
        covered: set[str] = set().union(*(made[name] for name in new))
        if item.id in made or item.history.state == FIXED or not new or not own <= covered:
            continue
        heir = max(new, key=lambda name: len(own & made[name]))
        links, others = item.history.links, findings[heir].history.links
        if item.known and findings[heir].known and links != others:
            continue
        if item.known:
            history = dataclasses.replace(findings[heir].history, **links)
            findings[heir] = dataclasses.replace(findings[heir], history=history)
        gone.append(item.id)
    if gone:
        text = f"{len(gone)} old findings are left out, because new ones contain their failures: {', '.join(gone)}"
        collected.notes.append(Note("findings-replaced", line(text, 600)))
        kept = tuple(item for name, item in findings.items() if name not in gone)
        collected.findings = dataclasses.replace(collected.findings, findings=kept)


def _in_state(history: History, state: str, before: History, version: str) -> History:
    """Return a history in a state, with the events before it, and an event where the state changed."""
    event = {"version": version, "date": confirm.today(), "state": state}
    events = before.events if state == before.state else (*before.events, event)
    return dataclasses.replace(history, state=state, events=events)


def _same(known: Sequence[Finding], finding: Finding) -> Finding | None:
    """Return the old finding that equals a new one: with the same cause, or otherwise with the same cases.

    The reason why a finding does not count may have changed since, because of new rules.
    """
    by_cause = [item for item in known if item.identity.of_any_reason == finding.identity.of_any_reason]
    if by_cause:
        return next((item for item in by_cause if item.identity == finding.identity), by_cause[0])
    alike = [item for item in known if item.identity.but_for_the_cause == finding.identity.but_for_the_cause]
    own = set(finding.cases.ids)
    there = [item for item in alike if item.history.state != FIXED]  # The scripts of the others pass.
    return next((item for item in there if len(own & set(item.cases.ids)) * 2 > len(own)), None)


# Other runtimes and other versions


def _tools(runs: Sequence[tuple[Run, Suite | None]]) -> set[str]:
    """Return the names of the backends of some runs that do not run models."""
    hellos = ((name, hello) for run, _ in runs for name, hello in run.header["backends"].items())
    runtime = under_test.Subject.RUNTIME
    return {under_test.unversioned(name) for name, hello in hellos if under_test.subject(hello) is not runtime}


def _set_those_of_runtimes_apart(collected: Collected, tools: Collection[str]) -> None:
    """Do not count a finding of a tool if the runtime inside the tool has the same fault: it is that runtime's finding.

    Args:
        collected: the findings, with the answers of the runtimes.
        tools: only the findings of these backends.
    """

    def of_runtime(item: Finding) -> Finding:
        counts = not item.identity.apart and item.identity.backend in tools
        if not counts or not (name := runtime_at_fault(item)):
            return item
        why = f"{name}, which is inside this tool, has the same fault"
        return dataclasses.replace(item, identity=dataclasses.replace(item.identity, apart=why))

    findings = collected.findings
    collected.findings = dataclasses.replace(findings, findings=tuple(map(of_runtime, findings.findings)))


def _add_others(
    collected: Collected,
    confirmed: Sequence[Evidence],
    options: Options,
    tools: Collection[str],
    on_step: Callable[[str, int, int], None],
) -> None:
    """Run the smallest cases of the counted findings on other backends, and on the runtimes inside the tested tools.

    Args:
        collected: gets the answers.
        confirmed: the findings.
        options: they name the other backends.
        tools: the tested tools.
        on_step: as in `collect`.
    """
    inside = filter(None, map(runtime_inside, sorted(tools)))
    names = [*dict.fromkeys((*options.others, *inside))]
    counted = [item for item in confirmed if not item.finding.identity.apart]
    answers: dict[str, list[dict[str, str]]] = defaultdict(list)
    for number, name in enumerate(names, 1):
        on_step("runs other runtimes", number, len(names))
        unversioned = under_test.unversioned(name)
        cases = [item.case for item in counted if item.finding.identity.backend != unversioned]
        causes = [item.finding.identity.cause for item in counted if item.finding.identity.backend != unversioned]
        if not cases:
            continue
        try:
            limits = Limits(timeout=options.timeout, restarts=len(cases) + 1)
            with asker.Asker(backend_names.resolve(name), limits) as other:
                version = line(other.process.hello.get("version", ""), 80)
                for case, cause in zip(cases, causes, strict=True):
                    result = ask_and_judge(other, case).result
                    given = line(public(result.actual or result.message or ""), 200)
                    answers[cause].append(
                        {"backend": unversioned, "version": version, "verdict": str(result.verdict), "given": given}
                    )
        except HarnessError as error:
            collected.notes.append(Note("backend-not-run", f"{name} was not run: {line(error)}"))
    collected.findings = dataclasses.replace(
        collected.findings,
        findings=tuple(
            dataclasses.replace(
                item, example=dataclasses.replace(item.example, others=tuple(answers[item.identity.cause]))
            )
            if item.identity.cause in answers
            else item
            for item in collected.findings.findings
        ),
    )


def _add_versions(
    collected: Collected, confirmed: Sequence[Evidence], options: Options, on_step: Callable[[str, int, int], None]
) -> None:
    """Run the scripts on other versions of their runtimes."""
    seen: dict[str, dict[str, list[str]]] = {}
    for backend, versions in options.versions.items():
        items = [
            item for item in confirmed if item.finding.identity.backend == backend and not item.finding.identity.apart
        ]
        for number, version in enumerate(versions, 1):
            on_step(f"runs scripts on other versions of {backend}", number, len(versions))
            try:
                for item, said in zip(
                    items, confirm.run_all(backend, version, [i.script for i in items], options.jobs), strict=True
                ):
                    of_it = seen.setdefault(item.finding.identity.cause, {"failing": [], "passing": []})
                    if said.status in {0, 1}:
                        of_it["failing" if said.status else "passing"].append(version)
            except HarnessError as error:
                collected.notes.append(Note("version-not-tried", f"{backend} {version} was not tried: {line(error)}"))
    collected.findings = dataclasses.replace(
        collected.findings,
        findings=tuple(
            dataclasses.replace(item, history=dataclasses.replace(item.history, since={**seen[item.identity.cause]}))
            if item.identity.cause in seen
            else item
            for item in collected.findings.findings
        ),
    )
