# SPDX-License-Identifier: Apache-2.0
"""Writes the first lines of an operator file from the schema, or extends one by a version: `new OPERATOR`.

Decisions that need a reader of the text fail in the tests until somebody makes them: the oracle raises, a sentence that
demands something has a case whose arguments do not break it yet, and the others have none.
"""

from __future__ import annotations

import ast
import difflib
import keyword
import re
import textwrap
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.declare.clause import Clause, Force
from onnx_conformance.declare.type import Kind, Type
from onnx_conformance.generation import coverage
from onnx_conformance.generation.derived import VALUES
from onnx_conformance.specification import packages, registry, schema
from onnx_conformance.specification.schema import Attribute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from onnx_conformance.declare import Op
    from onnx_conformance.specification.schema import OperatorVersion, Parameter

WIDTH = 120
_TYPES = {
    "INT": "int", "INTS": "list[int]", "FLOAT": "float", "FLOATS": "list[float]", "STRING": "str",
    "STRINGS": "list[str]", "TENSOR": "Array", "GRAPH": "Subgraph",
}  # fmt: skip
"""The parameter type of an oracle for an attribute, by its kind."""
_STOP = frozenset({
    "the", "and", "for", "this", "that", "are", "with", "from", "not", "must", "should", "its", "given", "which",
})  # fmt: skip
"""Words that do not identify the topic of a sentence."""


class OperatorFileError(HarnessError):
    """An operator file cannot be written or extended; the text contains the reason and a solution."""


@dataclass(frozen=True)
class Draft:
    """The text of an operator file, and the remaining tasks.

    Attributes:
        path: of the file.
        text: whole.
        left: one line each.
    """

    path: Path
    text: str
    left: tuple[str, ...]


def folder_of(version: OperatorVersion) -> Path:
    """Return the folder of an operator file: the one that onnx/defs has the operator in, or that of its package."""
    owner = packages.owner_of(version.domain, version.name)
    if owner is not packages.ONNX:
        return registry.folder_of(owner)
    name = schema.folder(version)
    here = registry.FOLDER
    folder = here / name
    if not folder.is_dir():
        known = ", ".join(sorted(item.name for item in here.iterdir() if (item / "__init__.py").is_file()))
        raise OperatorFileError(
            "domain-folder-missing",
            f"onnx/defs has it in {name!r}, and {here} has no such folder; make it, or take {known}",
        )
    return folder


def snake(name: str) -> str:
    """Return a name as files and functions have it: grouped_mat_mul for GroupedMatMul, if_ for If."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return f"{words}_" if keyword.iskeyword(words) else words


def path_of(op: Op) -> Path:
    """Return the path of the file that declares an operator.

    Raises:
        OperatorFileError: it does not exist.
    """
    for name in registry.operator_modules(packages.owner_of(op.domain, op.name)):
        path = registry.file_of(name)
        if f'"{op.name}"' in path.read_text("utf-8") and registry.declares(name, op):
            return path
    raise OperatorFileError("no-operator-file", f"no file declares {op}")


def new(domain: str, name: str, since: int | None) -> Draft:
    """Return a new operator file, or one extended by a version.

    Args:
        domain: of the operator.
        name: of the operator.
        since: the version; None: of a declared operator the oldest that it lacks, of another one all.

    Raises:
        OperatorFileError: all of it is declared.
        SchemaError: the installed onnx has no such operator.
    """
    every = schema.versions(domain, name)
    known = [item.since for item in every]
    if since is not None and since not in known:
        raise OperatorFileError(
            "no-such-version", f"{domain}/{name} has the versions {', '.join(map(str, known))}, not {since}"
        )
    op = registry.load().find(domain, name)
    if op is None:
        current = [item for item in every if since in {None, item.since}]
        return _drafted(current)
    lacking = registry.undeclared(op)
    if not lacking or (since is not None and since in op.versions):
        raise OperatorFileError("version-exists", f"{path_of(op)} declares {op}/{since or op.versions[-1]} already")
    added = since or lacking[0]
    return _extended(op, next(item for item in every if item.since == added))


def _drafted(versions: Sequence[OperatorVersion]) -> Draft:
    """Return the text of a new file, for the meaning of the newest version."""
    last = versions[-1]
    constant, function = snake(last.name).upper(), snake(last.name)
    domain = "" if last.domain == "ai.onnx" else f', domain="{last.domain}"'
    numbers = ", ".join(str(item.since) for item in versions) + ("," if len(versions) == 1 else "")
    texts = tuple(dict.fromkeys(coverage.sentences(last)))
    chains = _wordings(versions)
    names = _clause_names(last.name, (chain[0].text for chain in chains))
    clauses = [_reworded(constant, names[chain[0].text], chain) for chain in chains]
    demanding = {names[chain[0].text]: chain[0].text for chain in chains if _demands(chain[0].text)}
    first = texts[0].removeprefix(f"{last.name} ") if texts else "what it does"
    about = textwrap.shorten(first, WIDTH - len(last.name) - 8, placeholder="...")
    call = ", ".join(_formal(name, item) for name, item in last.arguments.items())
    outputs = ", ".join(item.name for item in last.outputs)
    used = ["EXACT", "Array", "Op", "Version", "ramp", *(["Subgraph"] if "Subgraph" in _parameters(last) else [])]
    shown = textwrap.fill(f"{outputs} = {last.name}({call})", WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 8)
    head = f'''"""{last.name}: {about}

{shown}

Versions: {", ".join(str(item.since) for item in versions)}.
"""

from __future__ import annotations

from onnx_conformance.declare import {", ".join(sorted(used, key=_import_order))}

{constant} = Op("{last.name}", versions=({numbers}), compare=EXACT{domain})
{_example(constant, last)}
'''
    body = f"""

{_oracle(constant, function, last, None)}


{"".join(_to_decide(constant, name) for name in demanding)}"""
    text = head + "\n" + "".join(clauses) + body
    left = [
        f"the oracle {function}: implement it according to the sentences",
        "compare=EXACT: for operators that only move data; otherwise ulp(...), measured(...) or bounded(...)",
        "rank=: the input that has the same rank as the outputs",
        *(f"the example: {name} has no value by the signature alone" for name in _without_value(last)),
        *(f"case to_decide_{name.lower()}: arguments that violate «{text}»" for name, text in demanding.items()),
        f"{len(chains) - len(demanding)} sentences that no case cites yet: cite or remove each",
        *(f"a clause for «{text}», which was removed and added again: quote a part" for text in _interrupted(versions)),
        *(["reworded(): check that each pair of wordings is one sentence"] if ".reworded(" in "".join(clauses) else []),
    ]
    return Draft(folder_of(last) / f"{snake(last.name)}.py", text, tuple(left))


@dataclass(frozen=True)
class Quote:
    """A sentence, and the versions that contain it.

    Attributes:
        text: the sentence.
        since: the first version that contains it; None: the first version of the operator.
        before: the first later version that does not contain it; None: the newest version contains it.
    """

    text: str
    since: int | None
    before: int | None


SIMILAR = 0.6
"""How similar two sentences must be to be taken for wordings of one: the ratio of `difflib.SequenceMatcher`."""


def _quotes(versions: Sequence[OperatorVersion]) -> list[Quote]:
    """Return the sentences of all versions, those of the newest version first."""
    found: dict[Quote, None] = {}
    for version in reversed(versions):
        for text in coverage.sentences(version):
            since: int | None = None
            for former, item in zip([None, *versions], [*versions, None], strict=False):
                has, had = (other is not None and text in other.text for other in (item, former))
                if has and not had:
                    since = item.since if former is not None and item is not None else None
                elif had and not has:
                    found[Quote(text, since, item.since if item is not None else None)] = None
    return list(found)


def _interrupted(versions: Sequence[OperatorVersion]) -> list[str]:
    """Return the sentences that a version removed and a later one added again. No clause can quote such a sentence."""
    return [text for text, count in Counter(quote.text for quote in _quotes(versions)).items() if count > 1]


def _wordings(versions: Sequence[OperatorVersion]) -> list[list[Quote]]:
    """Return the sentences of all versions as chains: the newest wording of each, then its earlier wordings."""
    interrupted = set(_interrupted(versions))
    quotes = [quote for quote in _quotes(versions) if quote.text not in interrupted]
    chains = [[quote] for quote in quotes if quote.before is None]
    for quote in sorted((item for item in quotes if item.before is not None), key=lambda item: -(item.before or 0)):
        near = [
            (difflib.SequenceMatcher(None, quote.text, chain[-1].text).ratio(), place)
            for place, chain in enumerate(chains)
            if chain[-1].since == quote.before
        ]
        ratio, place = max(near, default=(0.0, 0))
        if ratio >= SIMILAR:
            chains[place].append(quote)
        else:
            chains.append([quote])
    return chains


def _reworded(constant: str, name: str, chain: Sequence[Quote]) -> str:
    """Return the declaration of a clause with its wordings, from the newest to the oldest."""
    newest, *earlier = chain
    # The later wording is in force from the end of the earlier one, so its `since` need not be repeated.
    text = _clause(constant, name, newest.text, None if earlier else newest.since, newest.before)
    for place, quote in enumerate(earlier):
        since = quote.since if place == len(earlier) - 1 else None
        words = _quoted(quote.text) + (f"    since={since},\n" if since else "")
        text = f"{text.rstrip()}.reworded(\n    before={quote.before},\n    text={words.lstrip()})\n"
    return text


def _import_order(name: str) -> tuple[bool, bool, str]:
    return name != name.upper(), name[0].islower(), name


def _formal(name: str, item: Parameter | Attribute) -> str:
    if isinstance(item, Attribute):
        return name if item.required else f"{name}={_plain(item.default)!r}"
    return f"*{name}" if item.variadic else f"{name}=None" if item.optional else name


def _plain(value: Any) -> Any:  # noqa: ANN401 - any attribute
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _parameters(version: OperatorVersion) -> str:
    """Return the parameters of an oracle, annotated."""
    words = []
    for name, item in sorted(version.arguments.items(), key=lambda pair: isinstance(pair[1], Attribute)):
        if isinstance(item, Attribute):
            annotation = _TYPES.get(item.type, "Any")
            annotation += "" if item.required or item.default is not None else " | None"
        else:
            several = item.variadic or all(
                Type.parse(text).kind is Kind.SEQUENCE for text in version.allowed(item.type)
            )
            annotation = "list[Array]" if several else "Array | None" if item.optional else "Array"
        words.append(f"{name}: {annotation}")
    return ", ".join(words)


def _oracle(constant: str, function: str, version: OperatorVersion, since: int | None) -> str:
    """Return the oracle to be written, which raises."""
    result = "Array" if len(version.outputs) == 1 else f"tuple[{', '.join(['Array'] * len(version.outputs))}]"
    signature = f"def {function}(v: Version, {_parameters(version)}) -> {result}:"
    if len(signature) > WIDTH:
        each = "".join(f"    {word},\n" for word in ("v: Version", *_parameters(version).split(", ")))
        signature = f"def {function}(\n{each}) -> {result}:"
    return f'''@{constant}.oracle({f"since={since}" if since else ""})
{signature}
    """Return the outputs according to the sentences above."""
    raise NotImplementedError("{version}: implement its meaning here, according to its sentences")'''


def _example(constant: str, version: OperatorVersion) -> str:
    """Return the declaration of one valid call, as far as it follows from the signature."""
    words = []
    for name, item in version.arguments.items():
        if isinstance(item, Attribute):
            if item.required and item.type in VALUES:
                words.append(f"{name}={VALUES[item.type]!r}")
        elif not item.optional:
            words.append(f"{name}=" + ("(ramp(2, 3), ramp(2, 3))" if item.variadic else "ramp(2, 3)"))
    one_line = f"{constant}.example({', '.join(words)})"
    return one_line if len(one_line) <= WIDTH else f"{constant}.example(\n    {', '.join(words)}\n)"


def _without_value(version: OperatorVersion) -> list[str]:
    return [
        name
        for name, item in version.arguments.items()
        if isinstance(item, Attribute) and item.required and item.type not in VALUES
    ]


def _demands(text: str) -> bool:
    return Force.of(text) is Force.MUST and not text.startswith("Constrain")


def _clause_names(operator: str, texts: Iterable[str]) -> dict[str, str]:
    """Return a name for each sentence: its first meaningful words."""
    names: dict[str, str] = {}
    for text in texts:
        every = re.findall(r"[A-Za-z]{3,}", text)
        words = [word for word in every if word.lower() not in _STOP and word != operator][:3] or ["SENTENCE"]
        name = "_".join(words).upper()
        number = 2
        while name in names.values():
            name, number = f"{'_'.join(words).upper()}_{number}", number + 1
        names[text] = name
    return names


def _clause(constant: str, name: str, text: str, since: int | None, before: int | None = None) -> str:
    limits = [f"{key}={number}" for key, number in (("since", since), ("before", before)) if number]
    words = "".join(f", {limit}" for limit in limits)
    one_line = f"{name} = {constant}.clause({_literal(text)}{words})\n"
    if len(one_line) <= WIDTH:
        return one_line
    lines = _quoted(text)
    if not limits:
        return f"{name} = {constant}.clause(\n{lines.rstrip().removesuffix(',')}\n)\n"
    return f"{name} = {constant}.clause(\n{lines}" + "".join(f"    {limit},\n" for limit in limits) + ")\n"


def _quoted(text: str) -> str:
    """Return a string as lines of an argument, each indented by four, with a comma at the end."""
    parts = textwrap.wrap(text, WIDTH - 12, break_long_words=False, break_on_hyphens=False)
    quoted = [_literal(part + (" " if part is not parts[-1] else "")) for part in parts]
    return "\n".join(f"    {part}" for part in quoted) + ",\n"


def _literal(text: str) -> str:
    """Return a string literal in double quotes, unless there are more of these in it."""
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + text.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote


def _to_decide(constant: str, name: str) -> str:
    """Return a case that fails until its arguments break the sentence, or it is declared otherwise."""
    words = (f'"to_decide_{name.lower()}"', f"rejects={name}", f"**({constant}.call or {{}})")
    one_line = f"{constant}.case({', '.join(words)})\n"
    return one_line if len(one_line) <= WIDTH else f"{constant}.case(\n    {', '.join(words)}\n)\n"


def _extended(op: Op, version: OperatorVersion) -> Draft:
    """Return the file of an operator with another version."""
    path = path_of(op)
    source = path.read_text("utf-8")
    edits = Edits(source, op)
    since = version.since
    former = max((number for number in op.versions if number < since), default=0)
    before = next((item for item in schema.versions(op.domain, op.name) if item.since == former), None)
    old = set(coverage.sentences(before)) if before else set()
    came = [text for text in coverage.sentences(version) if text not in old]
    fallen = [item for item in op.clauses if item.in_force(former) and item.text not in version.text]
    on_types = set(version.constraints.values())
    edits.add_version(since)
    by_hand = [clause for clause in fallen if not edits.end_clause(clause, since)]
    left = [f"before={since} on the clause «{clause.text}»" for clause in by_hand]
    names = _clause_names(op.name, came)
    edits.add_clauses("".join(_clause(edits.constant, f"{names[text]}_SINCE_{since}", text, since) for text in came))
    old_types = set(before.constraints.values()) if before else set()
    meaning = bool(set(came) - on_types) or bool({item.text for item in fallen} - old_types)
    arguments = {*version.arguments} != {*(before.arguments if before else ())}
    if meaning or arguments:
        function = f"{snake(op.name)}_since_{since}"
        edits.change_oracle(since, _oracle(edits.constant, function, version, since))
        left.append(f"the oracle {function}: implement it according to the sentences; or one meaning for all")
    demanding = [text for text in came if _demands(text)]
    edits.append("".join(_to_decide(edits.constant, f"{names[text]}_SINCE_{since}") for text in demanding))
    left += [
        f"case to_decide_{names[text].lower()}_since_{since}: arguments that violate «{text}»" for text in demanding
    ]
    if rest := [text for text in came if text not in demanding]:
        left.append(f"{len(rest)} sentences that no case cites yet: cite or remove each")
    left.append(f"the docstring: what version {since} changes")
    return Draft(path, edits.text(), tuple(left))


class Edits:
    """Insertions into the source of an operator file, by place."""

    def __init__(self, source: str, op: Op) -> None:
        """Take the source, and the operator that it declares.

        Raises:
            OperatorFileError: no statement is its declaration.
        """
        self.source, self.op = source, op
        self.tree = ast.parse(source)
        starts = [0]
        for line in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line.encode()))
        self._starts = starts
        self._inserted: list[tuple[int, str]] = []
        self._op = self._declaration()
        target = self._op.targets[0]
        assert isinstance(target, ast.Name)  # noqa: S101 - as every operator file has it
        self.constant = target.id

    def _declaration(self) -> ast.Assign:
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                first = node.value.args[0] if node.value.args else None
                if isinstance(first, ast.Constant) and first.value == self.op.name:
                    return node
        raise OperatorFileError(
            "op-statement-missing", f"no statement of the file of {self.op} is its Op(...); extend it by hand"
        )

    def _place(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def _after(self, node: ast.stmt | ast.expr) -> int:
        return self._place(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def add_version(self, since: int) -> None:
        """Add a number to the versions.

        Raises:
            OperatorFileError: they are no list of numbers.
        """
        call = self._op.value
        assert isinstance(call, ast.Call)  # noqa: S101
        versions = next((item.value for item in call.keywords if item.arg == "versions"), None)
        if not isinstance(versions, ast.Tuple):
            raise OperatorFileError(
                "versions-not-a-list", f"{self.op}: versions= is not a list of numbers; add {since} by hand"
            )
        last = versions.elts[-1]
        self._inserted.append((self._after(last), f", {since}"))

    def _clauses(self) -> Iterator[tuple[ast.Assign, ast.Call]]:
        assigned = [
            node for node in self.tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        ]
        for node in assigned:
            call = node.value
            if isinstance(call, ast.Call) and ast.unparse(call.func) == f"{self.constant}.clause":
                yield node, call

    def end_clause(self, clause: Clause, since: int) -> bool:
        """Say that a clause is in force before a version; return whether a statement has it."""
        for _, call in self._clauses():
            text = call.args[0] if call.args else None
            if isinstance(text, ast.Constant) and " ".join(str(text.value).split()) == clause.text:
                last = call.keywords[-1].value if call.keywords else text
                if not any(item.arg == "before" for item in call.keywords):
                    self._inserted.append((self._after(last), f", before={since}"))
                    return True
        return False

    def add_clauses(self, text: str) -> None:
        """Add statements after the last clause."""
        last = max((node for node, _ in self._clauses()), key=lambda node: node.lineno, default=self._op)
        if text:
            self._inserted.append((self._after(last), f"\n{text.rstrip()}"))

    def change_oracle(self, since: int, oracle: str) -> None:
        """End the last oracle, and add one after it."""
        found = None
        for node in self.tree.body:
            for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == f"{self.constant}.oracle":
                    found = node, decorator
        if found is None:
            raise OperatorFileError(
                "oracle-missing", f"the file of {self.op} does not contain its oracle; extend it by hand"
            )
        function, decorator = found
        if not any(item.arg == "before" for item in decorator.keywords):
            comma = ", " if decorator.keywords else ""
            self._inserted.append((self._after(decorator) - 1, f"{comma}before={since}"))
        self._inserted.append((self._after(function), f"\n\n\n{oracle}"))

    def imports(self, name: str) -> bool:
        """Return whether the file imports a name, and import it from onnx_conformance.declare if possible."""
        taken = [node for node in self.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        if any((item.asname or item.name) == name for node in taken for item in node.names):
            return True
        words = next(
            (item for item in taken if isinstance(item, ast.ImportFrom) and item.module == "onnx_conformance.declare"),
            None,
        )
        if words is None or name == "np":
            return False
        after = [item for item in words.names if _import_order(item.name) < _import_order(name)]
        first, last = (words.names[0], after[-1]) if after else (words.names[0], None)
        place = self._place(first.lineno, first.col_offset) if last is None else self._end_of(last)
        self._inserted.append((place, f"{name}, " if last is None else f", {name}"))
        return True

    def _end_of(self, node: ast.alias) -> int:
        return self._place(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def append(self, text: str) -> None:
        """Add a text at the end."""
        if text:
            self._inserted.append((len(self.source.encode()), f"\n\n{text}"))

    def text(self) -> str:
        """Return the source with all that was inserted."""
        data = self.source.encode()
        for place, text in sorted(self._inserted, key=lambda item: item[0], reverse=True):
            data = data[:place] + text.encode() + data[place:]
        return data.decode()
