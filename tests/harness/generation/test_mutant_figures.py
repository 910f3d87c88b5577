# SPDX-License-Identifier: Apache-2.0
"""The committed figures: what `coverage` shows of them, and for how long they hold."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from commands import command
from onnx_conformance.generation import coverage, manifest
from onnx_conformance.generation import mutant_figures as figures
from onnx_conformance.generation.mutant_figures import Figures, FiguresError, Shown
from onnx_conformance.report import coverage as report
from onnx_conformance.specification import registry
from weak_operators import PLAIN, STRONG, WEAK, loaded

if TYPE_CHECKING:
    from pathlib import Path

SOME = Figures(digest="0", faults=30, tried=20, noticed=16, equivalent=2, surviving=2, untouched=1)
RELU = "ai.onnx/Relu"


def test_figures_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / figures.NAME
    figures.write_file(file, {RELU: SOME}, [RELU])
    assert figures.read(file) == {RELU: SOME}
    assert len([line for line in file.read_text().splitlines() if line.startswith('"')]) == 1


def test_other_operators_are_left_as_they_are_unless_they_are_gone(tmp_path: Path) -> None:
    file = tmp_path / figures.NAME
    figures.write_file(file, {"ai.onnx/A": SOME, "ai.onnx/B": SOME}, ["ai.onnx/A", "ai.onnx/B"])
    figures.write_file(file, {RELU: SOME}, ["ai.onnx/A", RELU])
    assert list(figures.read(file)) == ["ai.onnx/A", RELU]


@pytest.mark.parametrize(("digest", "tried"), [("0", 20), ("1", 5)])
def test_fewer_faults_replace_more_only_of_other_declarations(tmp_path: Path, digest: str, tried: int) -> None:
    file = tmp_path / figures.NAME
    figures.write_file(file, {RELU: SOME}, [RELU])
    figures.write_file(file, {RELU: dataclasses.replace(SOME, digest=digest, tried=5)}, [RELU])
    assert figures.read(file)[RELU].tried == tried


@pytest.mark.parametrize("text", ["[", '"ai.onnx/Relu" = 3', '"ai.onnx/Relu" = { digest = "0" }'])
def test_a_broken_file_is_refused_with_a_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / figures.NAME
    file.write_text(text)
    with pytest.raises(FiguresError, match=figures.NAME):
        figures.read(file)


def test_the_digest_is_of_the_code_and_not_of_its_prose(tmp_path: Path) -> None:
    weak = figures.digest(loaded(tmp_path, PLAIN, WEAK))
    assert figures.digest(loaded(tmp_path, PLAIN, WEAK)) == weak
    assert figures.digest(loaded(tmp_path, f"# A comment.\n{PLAIN}", WEAK)) == weak
    assert figures.digest(loaded(tmp_path, PLAIN, STRONG)) != weak


def test_the_digest_is_the_same_in_every_version_of_python() -> None:
    """Python 3.12 added fields to functions, and 3.13 shows empty lists no more."""
    arguments = "arguments(args=[arg(arg='x')])"
    value = "List(elts=[Name(id='x', ctx=Load()), Constant()], ctx=Load())"
    function = f"FunctionDef(name='f', args={arguments}, body=[Return(value={value})])"
    assert figures._code("def f(x): return [x, None]") == f"Module(body=[{function}])"


def test_the_digest_is_not_of_sized_calls() -> None:
    sized = """
from onnx_conformance.declare.sizes import filled, grid

for name in ("a", "b"):
    OP.sized(name, grid(n=(1, 2)), cites=CLAUSE, arguments={"x": filled("n")})


def sized(self):
    self.op.sized("c", [], cites=CLAUSE, arguments={})
"""
    assert figures._code(f"x = 1\n{sized}") == figures._code("x = 1\n")
    assert figures._code(f"x = 1\n{sized}", alone=False) == figures._code("x = 1\n", alone=False)
    for other in ('OP.case("a", x=1)', "def case(self):\n    return 1", "for name in (1,):\n    OP.case(name)"):
        assert figures._code(f"x = 1\n{other}\n") != figures._code("x = 1\n"), other


USED = """
from typing import TYPE_CHECKING, Any
from onnx_conformance.operators.nn._sizes import FILTERED, filtered

if TYPE_CHECKING:
    from onnx_conformance.declare.sizes import Sizes

ROWS: dict[str, Any] = {"x": "n"}
\"\"\"The dimensions.\"\"\"


def lengths(sizes: Sizes) -> object:
    return ROWS, sizes


for name, sizes in FILTERED.items():
    of_sizes = {**filtered(ROWS), "lengths": lengths}
    if name:
        OP.sized(name, sizes, arguments=of_sizes)
"""


def test_the_digest_is_not_of_names_that_only_sized_calls_use() -> None:
    alone = figures._code("import numpy as np\nx: float = np.pi\n")
    assert figures._code(f"import numpy as np\nx: float = np.pi\n{USED}") == alone
    for user in ("OP.case(ROWS)", "def oracle():\n    return lengths", "y: Any = 1", "FILTERED.clear()"):
        assert figures._code(f"x = 1\n{USED}{user}\n") != figures._code(f"x = 1\n{user}\n"), user
    assert figures._code(f"x = 1\n{USED}", alone=False) != figures._code("x = 1\n", alone=False), "others may use them"


def test_the_digest_is_not_of_modules_of_sizes() -> None:
    names = {module.__name__ for module in figures.modules(registry.load().named("Conv"))}
    assert "onnx_conformance.operators.nn._filters" in names, names
    assert not any(name.endswith("_sizes") for name in names), names


def test_the_digest_is_of_the_cases_and_not_of_which_are_the_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    op = loaded(tmp_path, PLAIN, WEAK)
    monkeypatch.setattr(figures, "GENERATED", tmp_path / "generated")
    file = tmp_path / "generated" / manifest.file_name(op)
    file.parent.mkdir()
    digests = {}
    for name, line in {
        "case": "1/b values 1 plain",
        "core": "1/b values 1 plain*",
        "other": "1/b values 2 plain",
    }.items():
        file.write_text(f"# head\n{line}\n", "utf-8")
        digests[name] = figures.digest(op)
    assert digests["case"] == digests["core"] != digests["other"], digests


def test_the_digest_is_of_shared_meaning_that_the_oracle_uses() -> None:
    names = {module.__name__ for module in figures.modules(registry.load().named("ReduceSum"))}
    assert "onnx_conformance.declare.families.reduction" in names, names
    assert not any(name.startswith("onnx_conformance.operators.nn") for name in names), names


@pytest.mark.slow
@pytest.mark.parametrize(("current", "cell"), [(True, "88.8 %"), (False, "outdated")])
def test_coverage_shows_the_share_for_as_long_as_it_holds(*, current: bool, cell: str) -> None:
    coverages = list(coverage.of(registry.load().named("Split")))
    text = "\n".join(report.lines(coverages, {"ai.onnx/Split": Shown(SOME, current)}))
    rows = [line for line in text.splitlines() if line.startswith("ai.onnx/Split/") and ":" not in line]
    assert len(rows) == len(coverages) > 1
    assert all(row.endswith(cell) for row in rows), text
    assert any("outdated" in line and line.endswith(": ai.onnx/Split") for line in text.splitlines()) is not current
    assert any(line.startswith("88.8 % of the faults") for line in text.splitlines()) is current


@pytest.mark.slow
def test_coverage_without_figures_has_no_column() -> None:
    assert "faults" not in "\n".join(report.lines(list(coverage.of(registry.load().named("Split")))))


@pytest.mark.slow
def test_the_command_reads_the_committed_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / figures.NAME
    op = registry.load().named("Split")
    new = dataclasses.replace(SOME, digest=figures.digest(op))
    figures.write_file(file, {str(op): new}, [str(op)])
    monkeypatch.setattr(figures, "path", lambda *_: file)
    assert "88.8 %" in command("coverage", "--op", "Split").out
    [first, *_] = json.loads(command("coverage", "--op", "Split", "--json").out)
    assert first["faults"] == {**dataclasses.asdict(new), "current": True}
