# SPDX-License-Identifier: Apache-2.0
"""Packs: what `pack` writes is what `run --suite FILE` judges, and a damaged file gets a sentence."""

from __future__ import annotations

import dataclasses
import io
import json
import random
import re
import shutil
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from commands import command
from onnx_conformance.base.values import Drawn
from onnx_conformance.case import properties
from onnx_conformance.case.case import Case, digest_values
from onnx_conformance.results.stream import Run
from onnx_conformance.run import pack as packing
from onnx_conformance.suites import case_pack
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.lookup import check_selection, open_suite
from onnx_conformance.suites.pack_file import PackFile
from onnx_conformance.suites.selection import Selection
from onnx_conformance.suites.suite import SuiteError
from refusals import refuses

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onnx_conformance.base.verdict import Result

OPS = (
    "Split/18", "SplitToSequence/24", "Unique/11", "TopK/24", "Multinomial/22", "Loop/25", "Optional/15", "STFT/17",
    "ai.onnx.ml/ZipMap/1", "ai.onnx.ml/DictVectorizer/1", "ReduceSum/13", "Softmax/13",
    "Floor/13", "Ceil/13",
)  # fmt: skip
"""Operator versions whose cases have every kind of value and tolerance. Two share large tensors."""
WORDS = (*(word for op in OPS for word in ("--op", op)), "--core", "--tag", "!size")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pack") / "some.pack"
    done = command("pack", *WORDS, "--out", path, "--jobs", "2")
    assert done.status == 0, done.text
    assert f"{path}: " in done.out
    return path


def of_generated() -> Selection:
    selection = Selection(ops=OPS, core=True, tags=("!size",))
    check_selection(Generated(), selection)
    return selection


def plain(case: Case) -> dict[str, Any]:
    """Return the members of a case as values that can be compared; its digest is that of the expected values, too."""
    names = {item.name for item in dataclasses.fields(Case)} - {"inputs", "earlier", "expected", "allowance"}
    members = {name: getattr(case, name) for name in names}
    members["fed"] = digest_values([dict(case.inputs), None if case.earlier is None else dict(case.earlier)])
    expected = case.expected or ()
    members["drawn"] = [properties.describe(item) for item in expected if isinstance(item, Drawn)]
    bounds, any_of = case.allowance.bounds, case.allowance.any_of
    members["any_of"] = [None if item is None else digest_values(list(item.values)) for item in any_of]
    allowance = dataclasses.replace(case.allowance, bounds=None, any_of=(), sums=None)
    members["allowance"], members["sums"] = allowance, repr(case.allowance.sums)
    return {**members, "bounded": bounds is not None, "digest": case.digest()}


def test_a_pack_has_the_cases_of_its_suite(written: Path) -> None:
    suite = PackFile(written)
    packed, made = list(suite.cases(Selection())), list(Generated().cases(of_generated()))
    assert len(made) > 500
    assert [case.id for case in packed] == [case.id for case in made]
    for one, other in zip(packed, made, strict=True):
        a, b = plain(one), plain(other)
        assert {key: (a[key], b[key]) for key in a if a[key] != b[key]} == {}, one.id
        for rounded, bound in zip(one.allowance.bounds or (), other.allowance.bounds or (), strict=True):
            assert (rounded >= bound / 4).all(), "other code for the processor makes other errors"
            assert (rounded / 4 <= bound).all()
    assert not suite.unreadable


def test_a_bound_is_rounded_up_to_few_bits() -> None:
    largest = np.finfo(np.float64).max
    bound = np.array([0, 1, 1 / 3, 1e-310, largest, np.inf, np.nan])
    rounded = case_pack.rounded_up(bound)
    assert rounded.tolist()[:2] == [0, 1]
    assert rounded.tolist()[4:6] == [largest, np.inf]
    assert np.isnan(rounded[6])
    assert (rounded[:6] >= bound[:6]).all()
    assert (rounded[2:4] <= bound[2:4] * (1 + 2.0 ** (1 - case_pack.BOUND_BITS))).all()
    assert (case_pack.rounded_up(bound[2:4] * (1 + 1e-12)) == rounded[2:4]).all()


def test_the_cases_have_every_kind_of_value_and_tolerance() -> None:
    made = list(Generated().cases(of_generated()))
    allowances = [case.allowance for case in made]
    values = [value for case in made for value in (*case.inputs.values(), *(case.expected or ()))]
    assert {type(value) for value in values} >= {np.ndarray, list, dict, type(None), Drawn}
    for name in ("ulp", "signed_zero", "any_of", "any_order", "interval", "sums"):
        assert any(getattr(item, name) for item in allowances), name
    assert any(item.bounds is not None for item in allowances)
    assert {case.form for case in made} >= {"external_data", "twice", "symbolic", "expanded"}
    assert any(case.files for case in made)
    assert any(case.earlier for case in made)


def of_any_processor(result: Result) -> Result:
    """Return a result without its time, and without numbers that depend on the last digits of expected values."""
    first = result.message.partition(";")[0]
    return dataclasses.replace(result, seconds=None, actual=None, expected=None, mismatch=None, ulps={}, message=first)


@pytest.mark.slow
def test_the_verdicts_are_those_of_the_generated_suite(written: Path, tmp_path: Path) -> None:
    found = []
    for number, words in enumerate((WORDS, ("--suite", written))):
        results = tmp_path / f"{number}.ndjson"
        command("run", *words, "--backend", "onnx_reference", "--results", results, "--table", "none", "--jobs", "2")
        each = map(of_any_processor, Run(results).results())
        found.append({item.case: item for item in each if "/Multinomial/" not in item.case})  # It draws other numbers.
    own = {case: item for case, item in found[0].items() if case in found[1]}  # The core adds older versions.
    assert own == found[1]
    assert len({item.verdict for item in own.values()}) > 3, "the reference evaluator has faults, and lacks operators"


@pytest.mark.slow
def test_the_same_cases_give_the_same_bytes(written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PYTHONHASHSEED": "7", **packing.portable_settings()}.items():
        monkeypatch.setenv(name, value)  # As on a processor that has no other code.
    other = tmp_path / "other.pack"
    assert command("pack", *WORDS, "--out", other, "--jobs", "1").status == 0
    assert other.read_bytes() == written.read_bytes()


def test_a_pack_of_a_folder_has_its_cases(tmp_path: Path) -> None:
    folder, path = tmp_path / "cases", tmp_path / "folder.pack"
    command("generate", "--op", "Split/18", "--tag", "basic", "--form", "plain", "--out", folder)
    assert command("pack", "--suite", folder, "--out", path).status == 0
    packed, stored = (list(open_suite(str(item)).cases(Selection())) for item in (path, folder))
    assert [plain(case) for case in packed] == [plain(case) for case in stored]


def test_a_case_without_tags_is_read(tmp_path: Path) -> None:
    folder, path = tmp_path / "cases", tmp_path / "folder.pack"
    command("generate", "--op", "Split/18", "--tag", "basic", "--form", "plain", "--out", folder)
    files = list(folder.glob("*/case.json"))
    for file in files:
        file.write_text(json.dumps({**json.loads(file.read_bytes()), "tags": []}))
    assert command("pack", "--suite", folder, "--out", path).status == 0
    packed = list(PackFile(path).cases(Selection()))
    assert len(packed) == len(files) > 0
    assert {case.tags for case in packed} == {frozenset()}


def test_selections_work_as_in_the_generated_suite(written: Path) -> None:
    for selection in (
        Selection(ops=("Loop*",)),
        Selection(tags=("basic",), forms=("symbolic",)),
        Selection(sample=3),
        Selection(shard=(1, 3)),
        Selection(core=True, ops=("Split/18",)),
        Selection(at_most=7),
    ):
        suite, wanted = PackFile(written), dataclasses.replace(selection)
        check_selection(suite, wanted)
        ids = [case.id for case in suite.cases(wanted)]
        assert ids
        assert ids == [item.id for item in suite.listed(wanted)]
        parts = [case.id for part in suite.slices(wanted) for case in PackFile(written).cases(wanted.within(part))]
        assert sorted(parts) == sorted(ids)


def test_a_tag_can_be_excluded() -> None:
    every, rest = (
        {item.id for item in Generated().listed(Selection(ops=("Split/18",), tags=tags))} for tags in ((), ("!size",))
    )
    sized = {item.id for item in Generated().listed(Selection(ops=("Split/18",), tags=("size",)))}
    assert sized
    assert rest == every - sized
    both = Selection(ops=("Split/18",), tags=("basic", "!bas*"))
    assert not list(Generated().listed(both))
    assert str(both) == "--op Split/18 --tag basic --tag '!bas*'"
    done = command("list", "--op", "Split/18", "--tag", "!no_such_tag")
    assert done.refused("nothing-matches", "'!no_such_tag'"), done.text


# Files that are not whole


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """Return a pack with other members."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def with_index(**members: object) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        files["index.json"] = json.dumps({**json.loads(files["index.json"]), **members}).encode()

    return change


def changed_data(files: dict[str, bytes]) -> None:
    files["ai.onnx/Split/data.bin"] = files["ai.onnx/Split/data.bin"][:-1] + b"!"


def without(name: str) -> Callable[[dict[str, bytes]], None]:
    return lambda files: files.pop(name) and None


DAMAGED: list[tuple[str, Callable[[Path], bytes], str]] = [
    ("pack-not-whole", lambda path: path.read_bytes()[:-1000], "incomplete or damaged"),
    ("pack-not-whole", lambda path: path.read_bytes()[:100], "incomplete or damaged"),
    ("pack-not-whole", lambda _: b"", "incomplete or damaged"),
    ("pack-not-whole", lambda _: b"GIF89a" * 100, "incomplete or damaged"),
    ("pack-not-whole", lambda path: rewritten(path, changed_data), "ai.onnx/Split/data.bin was changed"),
    ("pack-not-whole", lambda path: rewritten(path, without("index.json")), "no readable index.json"),
    ("pack-not-whole", lambda path: rewritten(path, without("ai.onnx/Split/data.bin")), "data of ai.onnx/Split"),
    ("pack-not-whole", lambda path: rewritten(path, with_index(format="zip")), "not that of a pack"),
    ("pack-not-whole", lambda path: rewritten(path, with_index(operators=[{}])), "lacks members"),
    ("pack-format-newer", lambda path: rewritten(path, with_index(version=2)), "install a newer one"),
]


@pytest.mark.parametrize(("problem", "make", "part"), DAMAGED)
def test_a_file_that_is_no_whole_pack_is_a_line(
    written: Path, tmp_path: Path, problem: str, make: Callable[[Path], bytes], part: str
) -> None:
    path = tmp_path / "bad.pack"
    path.write_bytes(make(written))
    done = command("list", "--suite", path, "--op", "Split", "--type", "float")
    assert done.status == 2, done.text
    assert f"[{problem}]" in done.err, done.text
    assert part in done.err
    assert str(path) in done.err


def test_each_altered_byte_is_noticed_or_changes_nothing(written: Path, tmp_path: Path) -> None:
    whole, path = written.read_bytes(), tmp_path / "bad.pack"
    ids = [case.digest() for case in PackFile(written).cases(Selection(ops=("Split",)))]
    with zipfile.ZipFile(written) as archive:
        starts = [item.header_offset for item in archive.infolist() if item.filename.startswith("ai.onnx/Split/")]
    noticed = 0
    for place in random.Random(1).sample(range(starts[0], starts[1] + 1000), 40):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            found = [case.digest() for case in PackFile(path).cases(Selection(ops=("Split",)))]
        except SuiteError as error:
            found, noticed = ids, noticed + 1
            if error.id != "pack-not-whole":
                raise
        assert found == ids
    assert noticed > 30


def test_operators_share_large_tensors(written: Path) -> None:
    with zipfile.ZipFile(written) as archive:
        large = {name for name in archive.namelist() if name.startswith("large/")}
        used = [
            set(re.findall(r'"large":"([0-9a-f]{64})"', archive.read(f"ai.onnx/{name}/cases.ndjson").decode()))
            for name in ("Floor", "Ceil")
        ]
    assert used[0] & used[1]
    assert {f"large/{digest}" for each in used for digest in each} <= large


@pytest.mark.parametrize(("changed", "part"), [(b"?", "was changed"), (None, "is missing")])
def test_a_damaged_large_tensor_is_a_line(written: Path, tmp_path: Path, changed: bytes | None, part: str) -> None:
    def change(files: dict[str, bytes]) -> None:
        for name in [name for name in files if name.startswith("large/")]:
            data = files.pop(name)
            if changed:
                files[name] = data[:-1] + changed

    path = tmp_path / "bad.pack"
    path.write_bytes(rewritten(written, change))
    with refuses("pack-not-whole", path, "large/", part):
        list(PackFile(path).cases(Selection(ops=("Floor",))))


def test_a_pack_of_another_onnx_runs_with_a_note(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.pack"
    path.write_bytes(rewritten(written, with_index(onnx="1.9.0")))
    done = command("list", "--suite", path, "--op", "Split")
    assert done.status == 0, done.text
    assert "[pack-of-another-onnx]" in done.err
    assert "1.9.0" in done.err


def test_a_case_that_cannot_be_read_is_named_and_the_others_run(written: Path, tmp_path: Path) -> None:
    name, path = "ai.onnx/Split/cases.ndjson", tmp_path / "bad.pack"

    def change(files: dict[str, bytes]) -> None:
        lines = files[name].splitlines(keepends=True)
        item = json.loads(lines[2])
        item["model"] = {"at": 0, "size": 1 << 40}
        lines[1:3] = [b"[]\n", json.dumps(item).encode() + b"\n"]
        files[name] = b"".join(lines)
        index = json.loads(files["index.json"])
        member = next(each for each in index["operators"] if each["operator"] == "ai.onnx/Split")["cases"]
        member["sha256"] = packing.hashlib.sha256(files[name]).hexdigest()
        files["index.json"] = json.dumps(index).encode()

    path.write_bytes(rewritten(written, change))
    suite = PackFile(path)
    good = list(suite.cases(Selection(ops=("Split",))))
    assert len(good) > 10
    assert len(suite.unreadable) == 2
    assert [item.case for item in suite.unreadable] == ["ai.onnx/Split, line 2", item_of(written, 2)]


def item_of(path: Path, number: int) -> str:
    return [case.id for case in PackFile(path).cases(Selection(ops=("Split",)))][number]


def test_an_existing_file_stays(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.pack"
    shutil.copy(written, path)
    for out, problem in ((path, "file-exists"), (tmp_path / "no" / "x.pack", "no-such-folder")):
        done = command("pack", "--op", "Split/18", "--out", out)
        assert done.refused(problem, out if out == path else out.parent), done.text
    assert path.read_bytes() == written.read_bytes()


def test_an_interrupted_command_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(packing, "_put", fail)
    out = tmp_path / "x.pack"
    with refuses("pack-not-writable", out, "No space left on device"):
        packing.write(Generated(), Selection(ops=("Split/18",), core=True), out, 1, lambda _done, _all: None)
    assert not list(tmp_path.iterdir())


def test_another_zlib_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert packing.usual_zlib()
    monkeypatch.setattr(packing, "LEVEL", 1)
    assert not packing.usual_zlib()
    done = command("pack", "--op", "Split/18", "--tag", "basic", "--out", tmp_path / "x.pack")
    assert "[other-zlib]" in done.err, done.text
    assert done.status == 0
