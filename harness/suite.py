"""Where cases come from: generated, official (the installed onnx package), or a folder in ONNX's layout."""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import os
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

from harness import casefile, core, generate, globs, lifted, manifest, registry, schema, store
from harness.case import EXPANDED, PLAIN, Allowance, Case, Outcome, in_sample, in_shard
from harness.errors import HarnessError
from harness.results import COMPLETENESS
from harness.verdict import MOST_DIGITS, Unreadable, line, parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from harness.case import Value
    from harness.declare import Op
    from harness.forms import Plan


class SelectionError(HarnessError):
    """A selection names something that the suite does not have."""


class SuiteError(HarnessError):
    """A suite cannot be had; the text names it and says why."""


@dataclass
class Selection:
    """What part of a suite is wanted; empty tuples mean everything.

    Attributes:
        ops: globs over operators: Split*, Split/18, ai.onnx/Split/18.
        cases: globs over case ids.
        tags: globs over tags.
        shard: (i, n), i from 1.
        sample: n, of which 1 case is wanted; 1: all. The text leaves it out: backends differ in it.
        core: only the core of each operator; see `harness.core`.
        ids: only these very cases.
        forms: globs over forms: plain, symbolic, initializer*.
        idle: globs that have matched nothing so far, with the option they came from.
    """

    ops: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    shard: tuple[int, int] | None = None
    sample: int = 1
    core: bool = False
    ids: frozenset[str] = frozenset()
    forms: tuple[str, ...] = ()
    idle: set[tuple[str, str]] = field(init=False)
    _operators: dict[str, bool] = field(init=False, default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Mark every glob as not matched yet."""
        self.idle = {(option, glob) for option, globs in self._named for glob in globs}

    @property
    def _named(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The globs by the option they come from, in the order of a command line."""
        return (("--op", self.ops), ("--case", self.cases), ("--tag", self.tags), ("--form", self.forms))

    def takes_operator(self, operator: str) -> bool:
        """Tell whether an operator version, written ai.onnx/Split/18, is wanted."""
        if operator not in self._operators:  # Each is asked for each of its cases, of which it may have thousands.
            domain, _, rest = operator.partition("/")
            name = rest.partition("/")[0]
            self._operators[operator] = self._any("--op", self.ops, (name, rest, operator, f"{domain}/{name}"))
        return self._operators[operator]

    def takes(self, case: Case | Listed) -> bool:
        """Tell whether a case is wanted."""
        wanted = [  # Each is asked, so that a glob that matches is known for it whatever the others do.
            self.takes_operator(case.operator),
            self._any("--case", self.cases, (case.id,)),
            self._any("--tag", self.tags, tuple(case.tags)),
            self._any("--form", self.forms, (case.form,)),
        ]
        return all(wanted) and self.takes_id(case.id)

    @property
    def partial(self) -> bool:
        """Whether it takes a part of the cases that its globs fit, so that none of them may be in it."""
        return self.shard is not None or self.sample > 1

    @property
    def share(self) -> float:
        """What part of the cases that its globs fit it takes."""
        return 1 / (self.sample * (self.shard[1] if self.shard else 1))

    def takes_id(self, case_id: str) -> bool:
        """Tell whether a case is in the shard, in the sample, and one of the ids, where there are such."""
        return (
            (not self.ids or case_id in self.ids)
            and (self.shard is None or in_shard(case_id, self.shard))
            and in_sample(case_id, self.sample)
        )

    def may_take_id(self, case_id: str) -> bool:
        """Tell whether a generated case of this id may have to be seen; spares making it.

        As long as a glob over cases has matched nothing, all that it fits are: whether it matches anything is told of
        the suite, not of the part of it that runs.
        """
        form = case_id.partition("@")[2] or PLAIN
        named = (not self.cases or bool(_hits(self.cases, (case_id,)))) and (
            not self.forms or bool(_hits(self.forms, (form,)))
        )
        return named and (self.takes_id(case_id) or any(option != "--op" for option, _ in self.idle))

    def may_take_folder(self, case_id: str) -> bool:
        """Tell whether a folder may hold a wanted case: the one of this id, or one of its further data sets."""
        named = any(fnmatch.fnmatchcase(case_id, glob) or globs.may_match(glob, case_id) for glob in self.cases)
        return not self.cases or named

    def would_take(self, case_id: str) -> bool:
        """Tell whether a case of which the id is all that is known would be wanted."""
        return (not self.cases or bool(_hits(self.cases, (case_id,)))) and self.takes_id(case_id)

    def may_take(self, operator: str, tags: Iterable[str]) -> bool:
        """Tell whether a case of this operator version with these tags may be wanted; spares generating it."""
        named = not self.cases or any(globs.may_match(glob, operator) for glob in self.cases)
        return named and (not self.tags or bool(_hits(self.tags, tags)))

    def _any(self, option: str, globs: tuple[str, ...], names: tuple[str, ...]) -> bool:
        hits = _hits(globs, names)
        self.idle.difference_update((option, glob) for glob in hits)
        return bool(hits) or not globs

    def __str__(self) -> str:
        """Return it as it would be written on a command line."""
        words = [f"{option} {glob}" for option, globs in self._named for glob in globs]
        words += ["--core"] if self.core else []
        words += [f"--shard {self.shard[0]}/{self.shard[1]}"] if self.shard else []
        return " ".join(words)


def _hits(globs: tuple[str, ...], names: Iterable[str]) -> list[str]:
    return [glob for glob in globs if any(fnmatch.fnmatchcase(name, glob) for name in names)]


@dataclass(frozen=True)
class Listed:
    """What is known of a case before it is made.

    Attributes:
        id, operator, form, tags: as in Case.
        outcome: what the text expects.
    """

    id: str
    operator: str
    form: str
    outcome: str
    tags: frozenset[str]


def listed(cases: Iterable[Case]) -> Iterator[Listed]:
    """Yield what is known of cases that are made."""
    return (Listed(case.id, case.operator, case.form, str(case.outcome), case.tags) for case in cases)


@dataclass(frozen=True)
class Outlook:
    """About how many cases a selection has, known before any of them is made.

    Attributes:
        declared: by operator version in the suite's order, how many are declared, whatever their forms.
        forms: how many cases of the selection come of a declared one, on the average of the suite.
    """

    declared: Mapping[str, int]
    forms: float = 1.0


class Suite(Protocol):
    """A source of cases.

    Attributes:
        name: as it is written on the command line.
        unreadable: cases that could not be read so far, each once.
        makes: it makes the cases that are wanted and no others, by operator; other suites read all that they have.
    """

    name: str
    unreadable: list[Unreadable]
    makes: bool

    def digest(self) -> str:
        """Return what tells this suite from another version of it."""

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases in a fixed order."""

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield what is known of the selected cases, in the order of `cases`, and makes none where that can be."""

    def left_out(self, selection: Selection) -> list[str]:
        """Return lines on what a selection may be thought to hold and does not."""

    def operators(self) -> list[str]:
        """Return every operator version it has cases for, where that is known beforehand."""

    def outlook(self, selection: Selection) -> Outlook | None:
        """Return about how many cases are selected; None where that is not known beforehand."""


FORMS_EACH = 4.3
"""Forms that a declared case has, on the average of all operators."""

MACHINERY = ("arguments", "expansion", "forms", "generate", "oracle", "schema", "signature")
"""The modules that expand operator files to cases."""


class Generated:
    """The cases that this project's operator files declare."""

    name = "generated"
    makes = True

    def __init__(self) -> None:
        """Load the operator files."""
        self.unreadable: list[Unreadable] = []
        self._registry = registry.load()

    def digest(self) -> str:
        """Return a digest of the operator files, of what expands them, and of onnx's version."""
        hashed = hashlib.sha256(onnx.__version__.encode())
        here = Path(generate.__file__).parent
        words = [*sorted((here / "operators").glob("*.py")), *sorted((here / "declare").glob("*.py"))]
        for path in [*words, *(here / f"{name}.py" for name in MACHINERY)]:
            hashed.update(path.name.encode() + path.read_bytes())
        return hashed.hexdigest()[:16]

    def left_out(self, selection: Selection) -> list[str]:
        """Return lines on the operator versions that the installed onnx and the declarations do not share."""
        new = [f"{op}/{since}" for op in self._registry for since in registry.undeclared(op)]
        gone = [f"{op}/{since}" for op in self._registry for since in registry.missing(op)]
        return [
            f"onnx {onnx.__version__} {what}; no case of suite {self.name} is of {them}: {_few(names)}"
            for what, them, every in (
                ("has operator versions that are not declared here", "them", new),
                ("lacks operator versions that are declared here", "them", gone),
            )
            if (names := [name for name in every if not selection.ops or selection.takes_operator(name)])
        ]

    def operators(self) -> list[str]:
        """Return the declared operator versions."""
        return [str(version) for op in self._registry for version in registry.versions(op)]

    def outlook(self, selection: Selection) -> Outlook | None:
        """Return how many cases are declared; None where ids or forms are named, which only made cases have."""
        if selection.cases or selection.ids or selection.forms:
            return None
        declared = {
            str(version): sum(
                1 for _ in generate.stems(version, (spec for spec in op if selection.may_take(str(version), spec.tags)))
            )
            for op in self._registry
            for version in registry.versions(op)
            if selection.takes_operator(str(version))
        }
        return Outlook(declared, FORMS_EACH * selection.share)

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases, by operator, version, declaration, type and form."""
        for op in self._registry:
            yield from self._cases(op, selection)

    def _cases(self, op: Op, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases of an operator."""
        versions = [version for version in registry.versions(op) if selection.takes_operator(str(version))]
        of_core = self._core(op) if selection.core and versions else frozenset()

        def wanted(case_id: str) -> bool:
            return (not selection.core or case_id in of_core) and selection.may_take_id(case_id)

        for version in versions:
            specs = [spec for spec in op if selection.may_take(str(version), spec.tags)]
            yield from filter(selection.takes, generate.cases(op, (version.since,), specs, wanted))

    def _core(self, op: Op) -> frozenset[str]:
        """Return the ids of an operator's core, which is chosen anew where the manifest is of other declarations."""
        entries = manifest.entries(op)
        if entries is None:
            return frozenset(core.choose(op, generate.cases(op)))
        return frozenset(entry.id for entry in entries if entry.core)

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield what is known of the selected cases; those are made that the manifest does not know."""
        for op in self._registry:
            if not [version for version in registry.versions(op) if selection.takes_operator(str(version))]:
                continue
            entries = manifest.entries(op)
            if entries is None:
                yield from listed(self._cases(op, selection))
                continue
            tags = {spec.name: spec.tags for spec in op}
            for entry in entries:
                operator, _, rest = entry.id.partition("@")[0].partition("/")
                operator = "/".join([operator, *rest.split("/")[:2]])
                item = Listed(
                    id=entry.id,
                    operator=operator,
                    form=entry.id.partition("@")[2] or PLAIN,
                    outcome=entry.outcome,
                    tags=tags.get(parts(entry.id, operator)[0], frozenset()),
                )
                if (entry.core or not selection.core) and selection.takes(item):
                    yield item


def _few(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


class Official:
    """The node cases of the installed onnx package."""

    name = "official"
    makes = False

    def __init__(self) -> None:
        """Nothing is loaded before it is asked for: that takes seconds."""
        self.unreadable: list[Unreadable] = []
        self._loaded: list[Case] | None = None

    def digest(self) -> str:
        """Return onnx's version."""
        return f"onnx {onnx.__version__}"

    def left_out(self, selection: Selection) -> list[str]:  # noqa: ARG002 - Suite's own
        """Return nothing: the package has what it has."""
        return []

    def operators(self) -> list[str]:
        """Return the operator versions of its cases."""
        return sorted({case.operator for case in self._load()})

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield what is known of the selected cases."""
        return listed(self.cases(selection))

    def outlook(self, selection: Selection) -> Outlook:
        """Return how many cases there are: they are loaded as a whole anyway."""
        return Outlook(Counter(case.operator for case in self.cases(selection)))

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases in the order of the package."""
        yield from filter(selection.takes, self._load())

    def _load(self) -> list[Case]:
        if self._loaded is None:
            from onnx.backend.test.loader import load_model_tests  # noqa: PLC0415 - takes seconds, most runs do without

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Its case files divide by zero on purpose.
                loaded = load_model_tests(kind="node")
            names = {item.name: item for item in loaded}
            self._loaded = [_official(item, names) for item in loaded]
        return self._loaded


def _official(item: Any, names: dict[str, Any]) -> Case:  # noqa: ANN401 - onnx's TestCase
    """Convert one of onnx's cases; an expanded one counts for the operator that it expands."""
    stem, expanded, _ = item.name.partition("_expanded")
    base = names[stem] if expanded and stem in names else item
    inputs, outputs = item.data_sets[0]
    expected = tuple(map(_array, outputs))
    rtol = item.rtol
    if any(isinstance(value, np.ndarray) and value.dtype == ml_dtypes.bfloat16 for value in expected):
        rtol = max(rtol, 2**-6)  # As onnx's runner has it: two units in the last place of bfloat16.
    return Case(
        id=f"official/{item.name}",
        operator=store.operator_of(base.model),
        model=item.model.SerializeToString(deterministic=True),
        inputs={info.name: _array(value) for info, value in zip(item.model.graph.input, inputs, strict=True)},
        outputs=tuple(info.name for info in item.model.graph.output),
        outcome=Outcome.VALUES,
        expected=expected,
        allowance=Allowance("the official suite has one tolerance for all", rtol=rtol, atol=item.atol),
        tags=frozenset({"official"}),
        form=EXPANDED if expanded else PLAIN,
    )


def _array(value: Any) -> Value:  # noqa: ANN401 - TestCase's own types do not say what it holds
    if isinstance(value, onnx.TensorProto):
        return np.asarray(numpy_helper.to_array(value))
    if isinstance(value, list | tuple):
        return [_array(item) for item in value]
    if isinstance(value, dict):
        return {key: _array(item) for key, item in value.items()}
    if value is None:
        return None
    array = np.asarray(value)
    return array.astype(object) if array.dtype.kind in "US" else array


class Folder:
    """A folder in ONNX's test-data layout: */model.onnx, test_data_set_*/."""

    makes = False

    def __init__(self, path: Path) -> None:
        """Take a folder.

        Raises:
            SuiteError: it is missing, no folder, or holds no case.
        """
        self.name, self._root = str(path), path
        self.unreadable: list[Unreadable] = []
        try:
            if not path.is_dir():
                what = "is not a folder" if path.exists() else "does not exist"
                raise SuiteError(f"suite {line(path)} {what}; name generated, official, or a folder with */model.onnx")
            self._folders = sorted(folder for folder in path.iterdir() if _holds_model(folder))
            self._suite = path.resolve().name
        except (OSError, RuntimeError, ValueError) as error:
            raise SuiteError(f"suite {line(path)} cannot be read: {line(error)}; name another folder") from error
        if not self._folders:
            raise SuiteError(
                f"suite {line(path)} holds no case; ONNX's layout is CASE/model.onnx and CASE/test_data_set_0/"
            )

    def digest(self) -> str:
        """Return a digest of every file's name and content."""
        hashed = hashlib.sha256()
        for folder in self._folders:
            for path in sorted(folder.rglob("*")):
                content = store.digest(path, self._root)
                if content:
                    hashed.update(os.fsencode(path.relative_to(self._root)) + b"\0" + content.encode())
        return hashed.hexdigest()[:16]

    def left_out(self, selection: Selection) -> list[str]:  # noqa: ARG002 - Suite's own
        """Return nothing: a folder has what it has; what cannot be read goes to `unreadable`."""
        return []

    def operators(self) -> list[str]:
        """Return nothing: that would mean reading every model twice."""
        return []

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield what is known of the selected cases: every model is read."""
        return listed(self.cases(selection))

    def outlook(self, selection: Selection) -> Outlook | None:
        """Return how many folders there are; what is in them, globs are held against only when they are read."""
        if selection.ops or selection.cases or selection.tags or selection.ids or selection.forms:
            return None
        return Outlook({"": len(self._folders)}, selection.share)

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases by folder name; what cannot be read goes to `unreadable`."""
        for folder in self._folders:
            case_id = f"{self._suite}/{folder.name}"
            if not selection.may_take_folder(case_id):
                continue
            try:
                for case_id, make in store.parts(folder, self._root, self._suite):
                    case = self._case(case_id, make, selection)
                    if case is not None and selection.takes(case):
                        yield case
            except casefile.StoreError as error:
                self._cannot_read(case_id, error, selection)

    def _case(self, case_id: str, make: Callable[[], Case], selection: Selection) -> Case | None:
        try:
            return make()
        except casefile.StoreError as error:
            self._cannot_read(case_id, error, selection)
            return None

    def _cannot_read(self, case_id: str, error: casefile.StoreError, selection: Selection) -> None:
        """Note a case that cannot be read, in the part of the suite that it would be of."""
        item = Unreadable(line(case_id, 1000), f"{line(error, 800)}; mend the folder, or take it out of the suite")
        if selection.would_take(case_id) and item not in self.unreadable:
            self.unreadable.append(item)


def _holds_model(folder: Path) -> bool:
    """Tell whether a folder is a case; a link that leads nowhere is one that cannot be read, not the absence of one."""
    model = folder / "model.onnx"
    try:
        return model.is_symlink() or model.exists()
    except OSError:  # The folder is another user's.
        return True


def open_suite(name: str) -> Suite:
    """Return the suite called `name`: generated, official, or the path of a folder.

    Raises:
        SuiteError: there is none.
    """
    if name == Generated.name:
        return Generated()
    if name == Official.name:
        return Official()
    return Folder(Path(name))


def check_selection(suite: Suite, selection: Selection) -> None:
    """Raise SelectionError for a selection that the suite cannot have, if that is known beforehand.

    An --op that no operator of the suite fits, or a core of a suite that has none.
    """
    if selection.core and not isinstance(suite, Generated):
        raise SelectionError(f"--core: suite {suite.name} has no core; leave it out, or take --sample 1/20")
    known = suite.operators() if selection.ops else []
    if not known:
        return
    for operator in known:
        selection.takes_operator(operator)
    for option, glob in sorted(selection.idle):
        if option == "--op":
            raise SelectionError(f"--op {glob!r} matches nothing in suite {suite.name}; {_nearest(glob, known)}")


def _nearest(glob: str, known: list[str]) -> str:
    words = glob.removeprefix("ai.onnx/").split("/")
    versions = [item.split("/")[2] for item in known if item.split("/")[1] == words[0]]
    if versions and len(words) > 1:
        return f"{words[0]} has the versions {', '.join(versions)}"
    of_onnx = [version for op, every in schema.every().items() for version in every if words[0] == op.split("/")[1]]
    if of_onnx:
        return f"{_undeclared(of_onnx[0].rpartition('/')[0])}"
    names = sorted({item.split("/")[1] for item in known})
    near = difflib.get_close_matches(words[0], [*names, *(op.split("/")[1] for op in schema.every())], 3, 0.5)
    if near:
        return f"did you mean {' or '.join(dict.fromkeys(near))}?"
    return f"it has {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"  # noqa: PLR2004


def _undeclared(op: str) -> str:
    """Return a sentence on an operator of ONNX that nothing is declared of."""
    versions = ", ".join(item.rpartition("/")[2] for item in schema.every()[op])
    return f"ONNX has {op} (versions {versions}), of which no case is written yet; {completeness()}"


def covers() -> dict[str, int]:
    """Return how much of ONNX the generated cases are of, as the header of a run has it."""
    versions = [version for op in registry.load() for version in registry.versions(op)]
    every = schema.every()
    return {
        "operators": len({(version.domain, version.name) for version in versions}),
        "of_operators": len(every),
        "versions": len(versions),
        "of_versions": sum(map(len, every.values())),
    }


def completeness() -> str:
    """Return the same as a sentence part."""
    return COMPLETENESS.format(**covers())


def operator_named(name: str) -> tuple[Op, int | None] | None:
    """Return the declared operator that a name means (Split, ai.onnx/Split, Split/18), and the version it names.

    None where it is none, and may be a case.

    Raises:
        SelectionError: ONNX has it and nothing is declared of it, or not in this version.
    """
    *words, last = name.split("/")
    since = int(last) if words and last.isdecimal() and len(last) < MOST_DIGITS else None
    path = "/".join(words) if since is not None else name
    for op in registry.load():
        if path in (op.name, str(op)):
            known = [version.since for version in registry.versions(op)]
            if since is not None and since not in known:
                raise SelectionError(f"{op} has the versions {', '.join(map(str, known))}, not {since}")
            return op, since
    for op_path in schema.every():
        if path in (op_path, op_path.split("/")[1]):
            raise SelectionError(_undeclared(op_path))
    return None


def find(name: str, suites: tuple[Suite, ...] = ()) -> Case:
    """Return the case with this very id, from the suite that the id begins with.

    Raises:
        SelectionError: there is none; the text names near ones.
    """
    sources = suites or ((Official(),) if name.startswith("official/") else (Generated(),))
    escaped = globs.literal(name)
    for suite in sources:
        for case in suite.cases(Selection(cases=(escaped,))):
            return case
        for item in suite.unreadable:
            if f"{name}/".startswith(f"{item.case}/"):
                raise SuiteError(item.message)
    raise SelectionError(f"no case is called {name!r}; {_near_case(name, sources)}")


def origin(case: Case) -> Plan:
    """Return the plan that a generated case was delivered from, or that would give a case of another suite.

    Raises:
        LiftError: it is of another suite, and no declaration would give it.
    """
    op = registry.load().find(*case.operator.split("/")[:2]) if case.operator.count("/") == 2 else None  # noqa: PLR2004
    own = generate.origin(op, case) if op else None
    return own or lifted.lift(case)


def _near_case(name: str, suites: tuple[Suite, ...]) -> str:
    """Return a sentence part on ids that look alike: of the operator that the name begins with, if there is one."""
    domain, _, rest = name.partition("/")
    stem = f"{domain}/{rest.partition('/')[0]}/"
    near: list[str] = []
    for suite in suites:
        ids = [item.id for item in suite.listed(Selection())]
        of_operator = [case for case in ids if case.startswith(stem)]
        near += difflib.get_close_matches(name, of_operator or [case.partition("@")[0] for case in ids], 3, 0.5)
    if near:
        return f"near it are {', '.join(dict.fromkeys(near))}"
    operators = [op.split("/")[1] for op in schema.every()]
    alike = difflib.get_close_matches(name.rpartition("/")[2], operators, 1)
    hint = f"`onnx-conformance show {alike[0]}` shows that operator, " if alike else ""
    return f"{hint}`onnx-conformance list` shows all"
