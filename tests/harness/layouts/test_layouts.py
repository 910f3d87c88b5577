# SPDX-License-Identifier: Apache-2.0
"""Layouts: foreign readers accept the folders, and accept every answer that the case permits."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import subprocess
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from commands import command
from harness_readers import iree_accepts, iree_flags, opencv_accepts, tensors, tract_accepts, tract_suite
from onnx_conformance.environments import python_environment
from onnx_conformance.layouts import expressible
from onnx_conformance.layouts import layout as layouts
from onnx_conformance.layouts.known import iree, opencv, tract
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.selection import Selection
from refusals import refuses
from runtime_fakes import REAL

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.layouts.layout import Layout

pytestmark = pytest.mark.usefixtures("few_operators")
OPS = ("Split/18", "ReduceSum/13", "Dropout/22", "SequenceInsert/11")
FORMS = ("plain", "external_data", "twice")
WORDS = (*(word for op in OPS for word in ("--op", op)), *(word for form in FORMS for word in ("--form", form)))
SMALL = ("--op", "Split/18", "--op", "Dropout/22", "--op", "ReduceSum/13", "--tag", "basic", "--form", "plain")
MLIR = "module {\n}\n"
"""What the replaced importer returns; its real output is in the tests of the real runtime."""


@pytest.fixture
def no_importer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iree._Importer, "text", lambda *_: MLIR)


def written(name: str, folder: Path) -> Path:
    done = command("generate", *SMALL, "--layout", name, "--out", folder)
    assert done.status == 0, done.text
    return folder


@functools.cache
def every() -> list[Case]:
    return list(Generated().cases(Selection(ops=OPS, forms=("plain",))))


def cases(layout: Layout) -> list[Case]:
    found = [case for case in every() if not layout.left_out(case)]
    assert len(found) > 40
    return found


def test_a_layout_is_a_file() -> None:
    assert layouts.names() == ["onnx", "iree", "opencv", "tract"]
    for name in layouts.names():
        assert layouts.named(name).summary
    with refuses("unknown-layout"):
        layouts.named("nothing")


def test_names_are_those_of_functions_one_to_one() -> None:
    ids = [case.id for case in Generated().listed(Selection(ops=OPS))]
    ids += ["a/b.c", "a/b_c", "a/b-c", "a/b@c", "a/b_at_c", "a/ü", "a/\udc80", "a/" + "x" * 400, "a/" + "x" * 401]
    names = [expressible.identifier(name) for name in ids]
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{,230}", name) for name in names)
    assert len(set(names)) == len(set(ids))


def nudged(value: np.ndarray[Any, Any], error: np.ndarray[Any, Any], sign: int) -> np.ndarray[Any, Any]:
    """Return an answer at the limit of the permitted error, but not beyond it."""
    if value.dtype.kind != "f":
        return value
    with np.errstate(all="ignore"):
        moved = (value.astype(np.float64) + sign * error * 0.999).astype(value.dtype)
        return np.where(np.abs(moved.astype(np.float64) - value) <= error, moved, value).astype(value.dtype)


def wrong(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return an answer whose first element is far from the expected one."""
    changed = value.copy().reshape(-1)
    changed[0] = not changed[0] if value.dtype == bool else 3 if changed[0] == 99 else 99
    return changed.reshape(value.shape)


def accepts(name: str, actual: Any, expected: Any, case: Case) -> bool:
    if name == "iree":
        lines = "".join(iree._thresholds(case)).splitlines()
        thresholds = {line[11:14]: float(line.partition("=")[2]) for line in lines}
        type_ = iree.TYPES[expressible.element_type(expected.dtype).name]
        return iree_accepts(actual, expected, type_, thresholds)
    return {"tract": tract_accepts, "opencv": opencv_accepts}[name](actual, expected)


@pytest.mark.parametrize("name", ["tract", "opencv", "iree"])
def test_the_reader_accepts_every_permitted_answer_and_no_wrong_one(name: str) -> None:
    seen = set()
    for case in cases(layouts.named(name)):
        for index, expected in enumerate(expressible.tensors(case) or ()):
            error = expressible.permitted(case, index)
            for sign in (-1, 0, 1):
                assert accepts(name, nudged(expected, error, sign), expected, case), (case.id, error)
            if expected.size:
                assert not accepts(name, wrong(expected), expected, case), case.id
            seen.add((expected.dtype.name, bool(error.any())))
    assert {("float32", True), ("float32", False), ("int64", False)} <= seen, seen
    assert (("float16", True) in seen) is (name != "opencv"), "OpenCV compares float16 as strictly as float32"


def test_a_tolerance_that_is_wider_than_that_of_a_reader_is_left_out() -> None:
    case = next(case for case in cases(tract.LAYOUT) if case.operator.endswith("ReduceSum/13") and _has_float(case))
    for absolute, left_out in ((1e-6, set()), (5e-5, {"opencv"}), (0.5, {"opencv", "tract"})):
        wide = dataclasses.replace(case, allowance=dataclasses.replace(case.allowance, atol=absolute, bounds=None))
        found = {name for name in ("opencv", "tract", "iree") if "wider" in layouts.named(name).left_out(wide)}
        assert found == left_out, absolute
    nan = dataclasses.replace(case, expected=tuple(value * np.nan for value in expressible.tensors(case) or ()))
    assert "NaN" in opencv.LAYOUT.left_out(nan)
    assert "NaN" in iree.LAYOUT.left_out(nan)
    assert tract.LAYOUT.left_out(nan) == ""


def _has_float(case: Case) -> bool:
    return any(value.dtype == np.float32 and value.size for value in expressible.tensors(case) or ())


# tract


@pytest.fixture
def for_tract(tmp_path: Path) -> Path:
    return written("tract", tmp_path / "out")


def test_tract_finds_and_runs_the_cases(for_tract: Path) -> None:
    found = tract_suite(for_tract)
    assert set(found.values()) == {True}
    wanted = {expressible.identifier(case.id) for case in cases(tract.LAYOUT) if "basic" in case.tags}
    assert set(found) == wanted
    releases = {path.parents[6].name for path in for_tract.rglob("model.onnx")}
    assert {"onnx-1_13_0", "onnx-1_17_0"} <= releases, "Split-18 is in 1.13.0, Dropout-22 in 1.17.0"


def without_a_folder(folder: Path) -> None:
    (folder / "onnx/onnx-1_4_1/onnx/backend/test/data/simple").rmdir()


def with_a_dot(folder: Path) -> None:
    case = next(folder.rglob("model.onnx")).parent
    case.rename(case.with_name("test_ai.onnx"))


def another_output(folder: Path) -> None:
    data = next(folder.rglob("output_0.pb"))
    data.with_name("output_0_1.pb").write_bytes(data.read_bytes())


def no_input(folder: Path) -> None:
    next(folder.rglob("input_0.pb")).unlink()


def a_sequence(folder: Path) -> None:
    next(folder.rglob("output_0.pb")).write_bytes(b"\x0a\x01s\x10\x01")


def no_data_set(folder: Path) -> None:
    data = next(folder.rglob("test_data_set_0"))
    data.rename(data.with_name("data"))


@pytest.mark.parametrize(
    "harm",
    [without_a_folder, with_a_dot, another_output, no_input, a_sequence, no_data_set],
    ids=lambda it: it.__name__,
)
def test_the_check_of_tracts_rules_notices_a_wrong_folder(for_tract: Path, harm: Callable[[Path], None]) -> None:
    tract_suite(for_tract)
    harm(for_tract)
    with pytest.raises((AssertionError, FileNotFoundError)):
        tract_suite(for_tract)


def test_since_and_comments_ignore_cases(for_tract: Path) -> None:
    path = for_tract / "node.txt"
    first, second, *rest = path.read_text().splitlines()
    path.write_text("\n".join([f"# {first}", re.sub(r"since:\d+", "since:99", second), *rest]))
    ignored = {name for name, runs in tract_suite(for_tract).items() if not runs}
    assert ignored == {first.split()[0], second.split()[0]}


# OpenCV


READ_WITH_OPENCV = """
import json, re, sys
from pathlib import Path
import cv2, numpy as np
folder = Path(sys.argv[1])
rows = re.findall(r'{"(\\w+)", (\\d+), (\\d+)},', (folder / sys.argv[2]).read_text())
for name, inputs, outputs in rows:
    case = folder / sys.argv[3] / name
    data = case / "test_data_set_0"
    mats = {kind: [cv2.dnn.readTensorFromONNX(str(data / f"{kind}_{index}.pb")) for index in range(int(count))]
            for kind, count in (("input", inputs), ("output", outputs))}
    sizes = [0 if mat is None else int(np.asarray(mat).size) for mat in mats["output"]]
    print(json.dumps([name, len(mats["input"]), sizes]))
"""


@REAL
def test_opencv_reads_every_tensor(tmp_path: Path) -> None:
    folder = written("opencv", tmp_path / "out")
    needed = python_environment.needs("opencv")
    assert needed
    words = [python_environment.python_of(needed), "-c", READ_WITH_OPENCV, str(folder), opencv.CASES, opencv.NODE]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    read = {name: (inputs, sizes) for name, inputs, sizes in map(json.loads, done.stdout.splitlines())}
    folders = {path.parent.name: path.parent for path in folder.rglob("model.onnx")}
    assert read == {
        name: (len(tensors(path, "input")), [item.size for item in tensors(path, "output")])
        for name, path in folders.items()
    }


def test_opencvs_lists_are_initializers_of_strings(tmp_path: Path) -> None:
    folder = written("opencv", tmp_path / "out")
    rows = re.findall(r'^{"(\w+)", (\d+), (\d+)},$', (folder / opencv.CASES).read_text(), re.MULTILINE)
    folders = {path.parent.name: path.parent for path in folder.rglob("model.onnx")}
    assert len(rows) == len(folders) > 5
    for name, inputs, outputs in rows:
        assert (len(tensors(folders[name], "input")), len(tensors(folders[name], "output"))) == (
            int(inputs),
            int(outputs),
        )
    for name in (opencv.PARSER, *opencv.OTHER_LISTS):
        assert re.fullmatch(r'(//.*\n|"\w+",\n)+', (folder / name).read_text()), name


# IREE


@pytest.mark.usefixtures("no_importer")
def test_irees_flags_name_the_values(tmp_path: Path) -> None:
    folder = written("iree", tmp_path / "out")
    folders = [path.parent for path in folder.rglob(iree.FLAGS)]
    assert len(folders) > 5
    by_name = {expressible.identifier(case.id): case for case in cases(iree.LAYOUT)}
    for path in folders:
        values, _ = iree_flags(path)
        case = by_name[path.name]
        assert [array.shape for _, array in values["input"]] == [
            np.asarray(item).shape for item in case.inputs.values()
        ]
        assert [array.tobytes() for _, array in values["expected_output"]] == [
            item.tobytes() for item in expressible.tensors(case) or ()
        ]
        assert not (path / "test_data_set_0").exists()
    (folders[0] / "output_0.bin").write_bytes(b"\0" * 3)
    with pytest.raises((AssertionError, ValueError)):
        iree_flags(folders[0])


def test_models_that_irees_importer_rejects_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replies = iter(["exit", "error", *[""] * 1000])

    def text(_: object, model: bytes) -> str:
        del model
        if reply := next(replies):
            raise layouts.Unwritable({"exit": iree.ENDED, "error": iree.REJECTED}[reply])
        return MLIR

    monkeypatch.setattr(iree._Importer, "text", text)
    done = command("generate", *SMALL, "--layout", "iree", "--out", tmp_path / "out")
    assert f"1  {iree.ENDED}" in done.out
    assert f"1  {iree.REJECTED}" in done.out


@REAL
def test_iree_runs_the_folders(tmp_path: Path) -> None:
    """The programs that conftest.py of iree-test-suites runs accept the right values, and refuse wrong ones."""
    out = tmp_path / "out"
    words = ("--op", "Split/18", "--op", "ReduceSum/13", "--form", "plain", "--tag", "basic")
    assert command("generate", *words, "--layout", "iree", "--out", out).status == 0
    needed = python_environment.needs("iree")
    assert needed
    programs = python_environment.python_of(needed).rpartition("/")[0]
    config = json.loads((out / iree.CONFIG).read_bytes())
    folders = sorted(path.parent for path in out.rglob(iree.FLAGS))[:3]
    assert len(folders) == 3
    for folder in folders:
        compile_ = [f"{programs}/iree-compile", "model.mlir", *config["iree_compile_flags"], "-o", "model.vmfb"]
        subprocess.run(compile_, cwd=folder, check=True, capture_output=True)
        run = [f"{programs}/iree-run-module", "--module=model.vmfb", *config["iree_run_module_flags"]]
        run.append(f"--flagfile={iree.FLAGS}")
        assert subprocess.run(run, cwd=folder, capture_output=True, check=False).returncode == 0, folder.name
        data = bytearray((folder / "output_0.bin").read_bytes())
        data[3] ^= 0x40
        (folder / "output_0.bin").write_bytes(data)
        assert subprocess.run(run, cwd=folder, capture_output=True, check=False).returncode != 0, folder.name


# The command


def test_the_command_counts_the_cases_that_it_leaves_out(tmp_path: Path) -> None:
    done = command("generate", *WORDS, "--layout", "tract", "--out", tmp_path / "out")
    match = re.match(r"(\d+) cases in .*\nleft out (\d+) cases that the reader of tract cannot judge:\n", done.out)
    assert match, done.text
    counts = {text: int(number) for number, text in re.findall(r"^ +(\d+)  (.+)$", done.out, re.MULTILINE)}
    assert sum(counts.values()) == int(match[2])
    listed = len(list(Generated().listed(Selection(ops=OPS, forms=FORMS))))
    assert int(match[1]) + int(match[2]) == listed
    assert set(counts) >= {
        "the model is invalid, and the reader cannot expect an error", "the outputs are random",
        "an input or output is a sequence, a map or an optional", "the model has external data",
        "the session runs the model twice",
    }  # fmt: skip
    again = command("generate", *WORDS, "--layout", "tract", "--out", tmp_path / "out")
    assert f"{match[1]} of them unchanged" in again.out


def test_a_list_of_other_cases_is_not_replaced(tmp_path: Path) -> None:
    out = written("tract", tmp_path / "out")
    words = ("generate", "--op", "Split/18", "--tag", "basic", "--form", "plain", "--layout", "tract", "--out", out)
    assert command(*words).refused("list-differs", out / "node.txt")
    assert command(*words, "--overwrite").status == 0
    assert "ReduceSum" not in (out / "node.txt").read_text()


@pytest.mark.usefixtures("no_importer")
@pytest.mark.parametrize("name", ["tract", "opencv", "iree"])
def test_known_failures_are_skipped(name: str, tmp_path: Path) -> None:
    results = tmp_path / "results.ndjson"
    part = ("--op", "Split/18", "--tag", "basic", "--form", "plain")
    command("run", *part, "--backend", "oracle", "--results", results)
    lines = results.read_text().splitlines(keepends=True)
    place = next(
        index for index, text in enumerate(lines) if '"outcome":"values"' in text and '"verdict":"pass"' in text
    )
    failing = expressible.identifier(json.loads(lines[place])["case"])
    lines[place] = lines[place].replace('"verdict":"pass"', '"verdict":"wrong_value"')
    results.write_text("".join(lines))
    out = tmp_path / "out"
    words = ("generate", *part, "--out", out, "--known-failures", results)
    assert command(*words, "--layout", name).status == 0
    if name == "tract":
        assert [case for case, runs in tract_suite(out).items() if not runs] == [failing]
    elif name == "opencv":
        assert re.findall(r'"(\w+)",', (out / opencv.PARSER).read_text()) == [failing]
    else:
        assert json.loads((out / iree.CONFIG).read_bytes())["skip_compile_tests"] == [f"onnx/conformance/{failing}"]
    assert command(*words).refused("layout-without-list")
    header = json.loads(lines[0])
    header["backends"]["other"] = {}
    results.write_text("".join([json.dumps(header) + "\n", *lines[1:]]))
    assert command(*words, "--layout", name).refused("known-failures-of-several-backends", results)
