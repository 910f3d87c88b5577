# SPDX-License-Identifier: Apache-2.0
"""Packs of slices: what a second run reads is what the first one made, in every respect that a run can notice."""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import shutil
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from commands import adapter, command
from onnx_conformance.backends import protocol, serve
from onnx_conformance.backends.cache import DIGEST_BYTES
from onnx_conformance.base.verdict import Verdict
from onnx_conformance.case import properties
from onnx_conformance.case.allowance import Allowance, Bounds
from onnx_conformance.case.case import Case, Outcome, digest_values
from onnx_conformance.case.compare import compare
from onnx_conformance.declare import Drawn
from onnx_conformance.generation import manifest, plans
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes import replies
from onnx_conformance.processes.adapter_process import Limits
from onnx_conformance.processes.messages import Incoming
from onnx_conformance.processes.replies import Answered, AsExpected
from onnx_conformance.results.stream import Run as Stream
from onnx_conformance.run.export import Export
from onnx_conformance.run.options import Options
from onnx_conformance.run.run import Run
from onnx_conformance.suites import onnx_layout, packs
from onnx_conformance.suites.folder import Folder
from onnx_conformance.suites.generated import Generated
from onnx_conformance.suites.packs import MOST_COMPARED, PackedCase
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from onnx_conformance.suites.slices import Slice
    from onnx_conformance.suites.suite import Suite

pytestmark = pytest.mark.slow

OPS = (
    "Abs/1", "Add/1", "ArgMax/1", "Bernoulli/22", "Clip/13", "MeanVarianceNormalization/13", "Loop/19",
    "RandomNormalLike/22", "SequenceInsert/11", "Split/18", "StringNormalizer/10", "TopK/24", "Unique/11", "Sign/13",
    "ai.onnx.ml/DictVectorizer/1",
)  # fmt: skip
"""Operators of every kind: any of several values or orders, drawn, bounds, subgraphs, sequences, strings, maps."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ONNX_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "packs"


def read(suite: Suite, selection: Selection) -> list[Case]:
    """Return the cases of all slices, as a run takes them."""
    cases: list[Case] = []
    for part in suite.slices(selection):
        cases += suite.cases(selection.within(part))
        suite.finished(part)
    return cases


def told(case: Case) -> dict[str, Any]:
    """Return everything of a case, in a form that compares exactly."""
    fields = {item.name: getattr(case, item.name) for item in dataclasses.fields(case)}
    allowance = case.allowance
    orders = {item.name: getattr(allowance, item.name) for item in dataclasses.fields(allowance)}
    orders["bounds"] = None if allowance.bounds is None else digest_values(list(map(np.asarray, allowance.bounds)))
    orders["any_of"] = [
        None if item is None else (item.elementwise, digest_values(list(item.values))) for item in allowance.any_of
    ]
    expected = None
    if case.expected is not None:
        expected = [described(item) if isinstance(item, Drawn) else digest_values([item]) for item in case.expected]
    return {
        **fields,
        "inputs": digest_values(dict(case.inputs)),
        "earlier": None if case.earlier is None else digest_values(dict(case.earlier)),
        "files": dict(case.files),
        "expected": expected,
        "allowance": orders,
        "frame": case.frame,
        "request": case.request(7),
        "needs": case.needs,
        "size": case.size,
        "has_outputs": case.has_outputs,
    }


def described(drawn: Drawn) -> str:
    """Return properties as text, in which 0 and 0.0 are alike."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, list):
            return [plain(item) for item in value]
        return float(value) if isinstance(value, int | float) else value

    return json.dumps(plain(properties.describe(drawn)))


@pytest.fixture(scope="module")
def made() -> list[Case]:
    """Cases of every kind, as they are made."""
    cases = list(Generated().cases(Selection(ops=OPS, core=True)))
    assert {str(case.outcome) for case in cases} == {str(outcome) for outcome in Outcome}
    for kind in (
        [case.allowance.bounds for case in cases],
        [item for case in cases for item in case.allowance.any_of],
        [case.allowance.any_order for case in cases],
        [case.earlier for case in cases],
        [case.files for case in cases],
        [case.force for case in cases],
        [case.readings for case in cases],
    ):
        assert any(kind), "a kind of case is missing"
    return cases


def test_a_second_run_reads_what_the_first_one_made(made: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    suite, selection = Generated(), Selection(ops=OPS, core=True)
    assert list(map(told, read(suite, selection))) == list(map(told, made))  # Everything is told, so bounds are known.
    assert read(suite, selection)
    monkeypatch.setattr(plans, "cases", lambda *_: pytest.fail("it makes them again"))
    again = read(Generated(), selection)
    assert all(isinstance(case, PackedCase) for case in again)
    assert [case.id for case in again] == [case.id for case in made]
    assert [case.digest() for case in again] == [case.digest() for case in made]


def test_bounds_that_no_run_needed_are_computed_and_kept(made: list[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    selection = Selection(ops=OPS, core=True)
    read(Generated(), selection)
    suite = Generated()
    assert list(map(told, read(suite, selection))) == list(map(told, made))
    for part in suite.slices(selection):  # As a run does: what is asked for before the slice ends is kept.
        for case in suite.cases(selection.within(part)):
            told(case)
        suite.finished(part)
    monkeypatch.setattr(plans, "cases", lambda *_: pytest.fail("it makes them again"))
    monkeypatch.setattr(plans, "plan", lambda *_: pytest.fail("it plans them again"))
    assert list(map(told, read(Generated(), selection))) == list(map(told, made))


def test_damaged_bounds_are_computed_again(cache: Path) -> None:
    selection = Selection(ops=("MeanVarianceNormalization/13",), core=True)

    def bounds() -> list[str]:
        suite, found = Generated(), []
        for part in suite.slices(selection):
            cases = suite.cases(selection.within(part))
            found += [digest_values(list(map(np.asarray, case.allowance.bounds or ()))) for case in cases]
            suite.finished(part)
        return found

    right = bounds()
    [file] = cache.glob("*.bounds")
    for place in (5, 40, -1):
        data = bytearray(file.read_bytes())
        data[place] ^= 4
        file.write_bytes(data)
        assert bounds() == right
        assert file.read_bytes() != bytes(data), "the damaged one stays"


SELECTIONS = {
    "whole": Selection(ops=("Split/18",)),
    "core": Selection(ops=("Split/18",), core=True),
    "shard": Selection(ops=("Split/18",), shard=(1, 2)),
    "sample": Selection(ops=("Split/18",), core=True, sample=3),
}


def flips_an_expected_value(header: dict[str, Any], data: bytearray) -> None:
    place = 0
    for item in header["cases"]:
        if item.get("bytes_expected"):
            data[place + item["frame"]] ^= 1
            return
        place += item["frame"] + item["bytes"]
    raise AssertionError("no case has an expected value")


def flips_a_byte_of_a_message(header: dict[str, Any], data: bytearray) -> None:
    data[header["cases"][0]["frame"] - 1] ^= 1


def forbids_every_model(header: dict[str, Any], data: bytearray) -> None:  # noqa: ARG001 - as every forgery
    for common in header["common"]:
        common["outcome"] = "rejects"


def allows_any_error(header: dict[str, Any], data: bytearray) -> None:  # noqa: ARG001 - as every forgery
    for common in header["common"]:
        common["allowance"]["atol"] = 1e30


def names_another_shape(header: dict[str, Any], data: bytearray) -> None:  # noqa: ARG001 - as every forgery
    item = next(item for item in header["cases"] if item.get("bytes_expected"))
    described = json.loads(item["expected"])
    described[0]["shape"].insert(0, 1)
    item["expected"] = json.dumps(described, separators=(",", ":"))


def renames_the_outputs(header: dict[str, Any], data: bytearray) -> None:  # noqa: ARG001 - as every forgery
    header["cases"][0]["outputs"] = ["another"]


def shortens_the_model(header: dict[str, Any], data: bytearray) -> None:  # noqa: ARG001 - as every forgery
    header["cases"][0]["model"] -= 1


def removes_the_last_case(header: dict[str, Any], data: bytearray) -> None:  # noqa: ARG001 - as every forgery
    header["cases"].pop()


def repeats_a_case(header: dict[str, Any], data: bytearray) -> None:
    """The first of two cases of one name is another case, and the second the right one."""
    first = header["cases"][0]
    size = first["frame"] + first["bytes"]
    other = json.loads(data[: first["frame"]].partition(b"\n")[0])
    other["outputs"] = ["another"]
    frame = json.dumps(other).encode() + b"\n" + data[: first["frame"]].partition(b"\n")[2]
    header["cases"].insert(0, {**first, "frame": len(frame)})
    data[:0] = frame + data[first["frame"] : size]


FORGERIES = (
    flips_an_expected_value, flips_a_byte_of_a_message, forbids_every_model, allows_any_error, names_another_shape,
    renames_the_outputs, shortens_the_model, removes_the_last_case, repeats_a_case,
)  # fmt: skip


def forge(file: Path, change: Callable[[dict[str, Any], bytearray], None]) -> bytes:
    """Change a pack, write it with the right digest, as a program with the user's key can, and return its bytes."""
    body = file.read_bytes()[len(packs.MAGIC) + DIGEST_BYTES :]
    line, _, rest = body.partition(b"\n")
    header, data = json.loads(rest[: int(line)]), bytearray(rest[int(line) :])
    change(header, data)
    text = json.dumps(header).encode()
    body = b"%d\n" % len(text) + text + data
    store = packs.store()
    assert store is not None
    file.write_bytes(packs.MAGIC + store.digest(file.name, body) + body)
    return file.read_bytes()


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[list[dict[str, Any]], Path]]:
    """Return the cases of a selection, and a folder with their packs that no test changes."""

    @functools.cache
    def of(name: str) -> tuple[list[dict[str, Any]], Path]:
        folder = tmp_path_factory.mktemp(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ONNX_CONFORMANCE_CACHE", str(folder))
            return list(map(told, read(Generated(), SELECTIONS[name]))), folder

    return of


@pytest.mark.parametrize(
    ("name", "change"),
    [*(("sample", change) for change in FORGERIES), *((name, FORGERIES[0]) for name in SELECTIONS if name != "sample")],
)
def test_a_forged_pack_is_made_again(
    change: Callable[[dict[str, Any], bytearray], None],
    name: str,
    packed: Callable[[str], tuple[list[dict[str, Any]], Path]],
    cache: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    right, folder = packed(name)
    shutil.copytree(folder, cache.parent)
    selection = SELECTIONS[name]
    files = {file: (file.read_bytes(), forge(file, change)) for file in cache.glob("*.pack")}
    assert files
    assert all(before != forged for before, forged in files.values())
    capsys.readouterr()
    assert list(map(told, read(Generated(), selection))) == right
    lines = capsys.readouterr().err.splitlines()
    assert sorted(lines) == sorted(
        f"cache: {file} has other cases than the manifest, and was removed; it is not used" for file in files
    )
    assert {file: file.read_bytes() for file in files} == {file: before for file, (before, _) in files.items()}
    assert list(map(told, read(Generated(), selection))) == right
    assert not capsys.readouterr().err


def test_a_pack_cannot_bring_bounds_of_its_own(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    selection = Selection(ops=("MeanVarianceNormalization/13",), core=True)
    right = list(map(told, read(Generated(), selection)))

    def brings(header: dict[str, Any], data: bytearray) -> None:
        """Add bounds that no answer exceeds to a case; they replace those that would be computed."""
        place = 0
        for item in header["cases"]:
            place += item["frame"] + item["bytes"]
            if "bounds" in item:
                huge: list[bytes] = []
                wide = [np.full(each["shape"], 1e300) for each in json.loads(item["expected"])]
                item["known_bounds"] = [protocol.encode(each, huge) for each in wide]
                item["bytes"] += sum(map(len, huge))
                data[place:place] = b"".join(huge)
                return
        raise AssertionError("no case has bounds")

    [file] = cache.glob("*.pack")
    forge(file, brings)
    assert list(map(told, read(Generated(), selection))) == right
    assert capsys.readouterr().err.count("\n") == 1


def test_cases_that_differ_from_the_manifest_are_not_kept(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As after a change of an operator file; a package of operators has no manifest."""
    selection = Selection(ops=("Split/18",), core=True)
    file = tmp_path / "ai.onnx.Split.txt"
    lines = (manifest.GENERATED / file.name).read_text().splitlines(keepends=True)
    place = next(place for place, text in enumerate(lines) if text.startswith("18/") and " plain* " in text)
    name, outcome, digests, *forms = lines[place].split(" ")
    changed = ("A" if digests[0] != "A" else "B") + digests[1:]
    monkeypatch.setattr(manifest, "GENERATED", tmp_path)
    right, other_name = lines[place], " ".join(["18/gone", outcome, digests, *forms])
    for others in ([" ".join([name, outcome, changed, *forms])], [other_name], [right, other_name], []):
        file.write_text("".join([*lines[:place], *others, *lines[place + 1 :]]))
        assert read(Generated(), selection)
        assert not list(cache.glob("*.pack"))
    file.unlink()
    assert read(Generated(), selection)
    assert len(list(cache.glob("*.pack"))) == 1
    assert not capsys.readouterr().err


@pytest.mark.parametrize("place", [0, 30, 60, 500, -1])
def test_a_flipped_bit_is_never_a_wrong_case(place: int, cache: Path) -> None:
    selection = Selection(ops=("Split/18",), core=True)
    right = list(map(told, read(Generated(), selection)))
    [file] = cache.glob("*.pack")
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)
    assert list(map(told, read(Generated(), selection))) == right
    assert list(map(told, read(Generated(), selection))) == right
    assert file.read_bytes() != bytes(data)


def test_a_pack_of_another_version_of_the_harness_is_not_read(cache: Path) -> None:
    """It begins with another line, though its key is right."""
    selection = Selection(ops=("Split/18",), core=True)
    right = list(map(told, read(Generated(), selection)))
    [file] = cache.glob("*.pack")
    file.write_bytes(file.read_bytes().replace(b"conformance pack 4", b"conformance pack 3", 1))
    assert list(map(told, read(Generated(), selection))) == right


def test_each_selection_has_a_pack_of_its_own(cache: Path) -> None:
    for selection in (
        Selection(ops=("Split/18",), core=True),
        Selection(ops=("Split/18",), core=True, shard=(1, 2)),
        Selection(ops=("Split/18",), core=True, shard=(2, 2)),
        Selection(ops=("Split/18",), sample=9),
    ):
        right = [case.id for case in Generated().cases(selection)]
        assert right
        for _ in range(2):
            assert sorted(case.id for case in read(Generated(), selection)) == sorted(right)
    assert len(list(cache.glob("*.pack"))) >= 4


@pytest.mark.parametrize("words", [{"tags": ("edge",)}, {"forms": ("plain",)}, {"cases": ("*/lengths*",)}])
def test_what_is_chosen_by_name_needs_no_pack(words: dict[str, tuple[str, ...]], cache: Path) -> None:
    selection = Selection(ops=("Split/18",), **words)  # type: ignore[arg-type]
    assert read(Generated(), selection)
    assert not list(cache.glob("*.pack"))


def test_a_case_that_was_left_open_is_no_longer_known_to_the_byte(made: list[Case]) -> None:  # noqa: ARG001 - is slow
    suite, selection = Generated(), Selection(ops=("Split/18",), core=True)
    read(suite, selection)
    case = next(item for item in read(suite, selection) if item.outcome is Outcome.VALUES)
    open_ = dataclasses.replace(case, outcome=Outcome.UNSPECIFIED, expected=None)
    assert not open_.has_outputs
    assert not open_.is_answer(*answer(case))
    assert told(dataclasses.replace(case)) == told(case)


def answer(case: Case) -> tuple[list[dict[str, Any]], bytes]:
    """Return the outputs and the payload of an answer with the expected values."""
    buffers: list[bytes] = []
    outputs = [protocol.encode(value, buffers) for value in case.expected or ()]  # type: ignore[arg-type]
    return json.loads(json.dumps(outputs)), b"".join(buffers)


def test_an_answer_that_is_right_to_the_byte_passes_without_being_decoded() -> None:
    suite, selection = Generated(), Selection(ops=OPS, core=True)
    read(suite, selection)
    known = 0
    for case in read(suite, selection):
        drawn = any(isinstance(value, Drawn) for value in case.expected or ())
        if case.outcome is not Outcome.VALUES or drawn:
            assert not case.is_answer([], b"")
            continue
        outputs, payload = answer(case)
        header = {"kind": "answer", "id": 1, "outputs": outputs, "payload": len(payload), "seconds": 0.5}
        reply = replies.parse(header, payload, case)
        assert isinstance(reply, AsExpected), case.id
        slow = replies.parse(header, payload)
        assert isinstance(slow, Answered)
        assert not isinstance(slow, AsExpected)
        fast, right = judge(case, "b", reply), judge(case, "b", slow)
        assert fast == right
        assert fast.verdict is Verdict.PASS
        assert fast.seconds == 0.5
        assert compare(case.expected or (), reply.outputs, case.allowance) is None
        known += 1
    assert known > 100


def wrong_answers(outputs: list[dict[str, Any]], payload: bytes) -> dict[str, tuple[Any, bytes]]:
    first = outputs[0]
    return {
        "another byte": (outputs, bytes([payload[0] ^ 1]) + payload[1:]),
        "a byte more": (outputs, payload + b"\0"),
        "a byte less": (outputs, payload[:-1]),
        "another shape": ([{**first, "shape": [*first["shape"], 1]}, *outputs[1:]], payload),
        "another type": ([{**first, "type": first["type"] + 1}, *outputs[1:]], payload),
        "a type that is true": ([{**first, "type": True}, *outputs[1:]], payload),
        "a type that is a float": ([{**first, "type": float(first["type"])}, *outputs[1:]], payload),
        "an output less": (outputs[:-1], payload),
        "no list": (None, payload),
    }


def test_what_differs_by_anything_is_decoded() -> None:
    suite, selection = Generated(), Selection(ops=("Split/18",), core=True)
    read(suite, selection)
    seen = 0
    for case in read(suite, selection):
        if case.outcome is Outcome.VALUES and (right := answer(case))[1]:
            assert case.is_answer(*right)
            for what, wrong in wrong_answers(*right).items():
                assert not case.is_answer(*wrong), what
            seen += 1
    assert seen > 5


class Echo:
    """An adapter that returns the expected values of one case."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def run(self, _model: bytes, _inputs: Any, _outputs: Any) -> list[Any]:
        return list(self.case.expected or ())


def expected_message(case: Case, request: int) -> bytes:
    """Return the answer of an adapter with exactly the expected values."""
    message = protocol.read(BytesIO(case.request(request)))
    assert message is not None
    return serve.answer(Echo(case), *message)


def is_known(case: Case) -> bool:
    drawn = any(isinstance(value, Drawn) for value in case.expected or ())
    return case.outcome is Outcome.VALUES and not drawn


def test_the_expected_answer_of_an_adapter_is_read_without_being_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    suite, selection = Generated(), Selection(ops=OPS, core=True)
    read(suite, selection)
    cases = read(suite, selection)
    messages = [(case, expected_message(case, number)) for number, case in enumerate(cases) if is_known(case)]
    incoming = Incoming()
    monkeypatch.setattr(protocol, "parse_header", None)  # It is not called.
    for case, message in messages:
        incoming.add(message)
        seconds = float(message.partition(b'"seconds":')[2].partition(b",")[0])
        reply = replies.read_expected(incoming, json.loads(message.partition(b"\n")[0])["id"], case, {})
        if len(message) > MOST_COMPARED:
            assert reply is None, case.id
            incoming = Incoming()
            continue
        assert reply is not None, case.id
        assert (reply.seconds, reply.outputs) == (seconds, case.expected)
        assert judge(case, "b", reply).verdict is Verdict.PASS
        assert not incoming.begun
    assert len(messages) > 100


@pytest.fixture
def uneven() -> Case:
    """A case from a pack."""
    suite, selection = Generated(), Selection(ops=("Split/18",), core=True)
    read(suite, selection)
    return next(case for case in read(suite, selection) if case.name == "uneven" and is_known(case))


def test_every_other_message_is_left_to_be_parsed(uneven: Case) -> None:
    right = expected_message(uneven, 7)
    header, payload = right.split(b"\n", 1)
    begin, seconds, end = re.fullmatch(rb"(.*\"seconds\":)([^,]*)(,.*)", header).groups()  # type: ignore[union-attr]
    others = {
        "another number": right.replace(b'"id":7', b'"id":8'),
        "another kind": right.replace(b'"answer"', b'"refused"'),
        "another type": right.replace(b'"type":1,', b'"type":7,'),
        "another byte": right[:-1] + bytes([right[-1] ^ 1]),
        "a byte less": right[:-1],
        "another size": right.replace(b'"payload":', b'"payload":1'),
        "a space": header.replace(b",", b", ", 1) + b"\n" + payload,
        "a field more": begin + seconds + b',"more":1' + end + b"\n" + payload,
        "the header alone": header + b"\n",
        "half the header": header[:-5],
        "nothing": b"",
        **{
            f"the seconds {text!r}": begin + text + end + b"\n" + payload
            for text in (b"", b"01", b"-1", b"+1", b"1.", b".5", b"NaN", b"1e400", b"1E5", b"true", b"1 ", b"9" * 12)
        },
    }
    for what, message in {"nothing wrong": right, **others}.items():
        incoming = Incoming()
        incoming.add(message)
        reply = replies.read_expected(incoming, 7, uneven, {})
        assert (reply is not None) is (what == "nothing wrong"), what
        assert bytes(incoming._data) == (b"" if reply else message), what


def test_an_expected_answer_is_only_that_of_a_runtime_and_of_a_case_whose_values_are_scored(uneven: Case) -> None:
    message = expected_message(uneven, 7)
    unscored = dataclasses.replace(uneven, outcome=Outcome.UNSPECIFIED, expected=None)
    for case, hello in ((uneven, {"subject": "transformer"}), (unscored, {})):
        incoming = Incoming()
        incoming.add(message)
        assert replies.read_expected(incoming, 7, case, hello) is None
    incoming.add(message[:20])  # After the beginning of a message, the next one is read from its own beginning.
    assert replies.read_expected(incoming, 7, uneven, {"subject": "runtime"}) is not None
    incoming.add(message[20:])
    assert replies.read_expected(incoming, 7, uneven, {}) is not None
    assert not incoming.begun


def run(path: Path, kind: str, suite: Suite | None = None, **more: Any) -> dict[str, Any]:
    """Return the results of a run, without times, and without what an adapter printed that broke the wire format.

    It may have gone on to later cases when its message is read.
    """
    options = Options((adapter(kind),), "generated", Selection(ops=("Split/18",)), Limits(), results=path, **more)
    Run(options, suite).run()
    results = (dataclasses.replace(item, seconds=None) for item in Stream(path).results())
    return {
        item.case: dataclasses.replace(item, stderr="") if item.verdict is Verdict.ADAPTER_ERROR else item
        for item in results
    }


@pytest.mark.usefixtures("few_operators")
@pytest.mark.parametrize("kind", ["good", "gives_nan_bytes", "gives_an_output_less", "dies_by_segv"])
def test_a_second_run_has_the_results_of_the_first(kind: str, tmp_path: Path, cache: Path) -> None:
    first = run(tmp_path / "first.ndjson", kind)
    assert list(cache.glob("*.pack"))
    assert run(tmp_path / "second.ndjson", kind) == first
    assert len(first) > 200


@pytest.mark.usefixtures("few_operators")
def test_a_run_without_a_cache_leaves_nothing(cache: Path) -> None:
    done = command("run", "--op", "Split/18", "--core", "--backend", adapter("good"), "--no-cache")
    assert done.status in {0, 1}, done.text
    assert not cache.parent.exists()


def parts_of(folder: Folder) -> list[Slice]:
    return folder.slices(Selection())


def test_a_folder_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = tmp_path / "suite"
    Export(Generated(), Selection(ops=("Split/18", "CumSum/11", "Bernoulli/22"), core=True), where).run()
    (where / "broken").mkdir()
    (where / "broken" / "model.onnx").write_bytes(b"no model")
    first, selection = Folder(where), Selection()
    right = list(map(told, read(first, selection)))
    assert [item.case for item in first.unreadable] == ["suite/broken"]
    assert right
    parts = onnx_layout.parts
    monkeypatch.setattr(onnx_layout, "parts", lambda *_: pytest.fail("it reads them again"))
    second = Folder(where)
    assert list(map(told, read(second, selection))) == right
    assert second.unreadable == first.unreadable
    chosen = read(Folder(where), Selection(ops=("CumSum/*",)))
    assert chosen
    assert {case.operator for case in chosen} == {"ai.onnx/CumSum/11"}
    monkeypatch.setattr(onnx_layout, "parts", parts)
    (where / "broken" / "model.onnx").unlink()
    third = Folder(where)
    assert list(map(told, read(third, selection))) == right
    assert not third.unreadable


def test_bounds_are_known_by_what_computed_them() -> None:
    asked: list[int] = []

    def compute() -> Iterator[tuple[np.ndarray[Any, Any], ...]]:
        asked.append(1)
        yield (np.zeros(2),)

    bounds = Bounds(compute)
    assert bounds.reached is None
    assert len(bounds) == 1
    assert bounds.are_final
    assert asked == [1]


class Kept:
    """The bounds of a pack in one run, and the limits that it computed.

    Attributes:
        computed: the limits.
    """

    def __init__(self, *limits: float) -> None:
        self.computed: list[float] = []
        self._limits, self._kept = limits, packs.KeptBounds("0" * 32)

    def judges(self, error: float, case: str = "a case") -> bool:
        """Return whether an answer with this error passes."""
        allowance = Allowance(
            "measured", bounds=self._kept.of(case, lambda _: Allowance("", bounds=Bounds(self._make)))
        )
        return compare([np.array([1.0])], [np.array([1 + error])], allowance) is None

    def end(self) -> list[float]:
        """Write what is known; return the limits that were computed."""
        self._kept.write()
        return self.computed

    def _make(self) -> Iterator[tuple[np.ndarray[Any, Any], ...]]:
        for limit in self._limits:
            self.computed.append(limit)
            yield (np.array([limit]),)


def test_limits_that_were_enough_are_kept_until_an_answer_needs_more(cache: Path) -> None:
    for error, passes, computed in (
        (0.2, True, [0.1, 0.25]),
        (0.25, True, []),
        (0.05, True, []),
        (0.3, True, [0.1, 0.25, 0.5]),
        (0.3, True, []),
        (0.7, False, [0.1, 0.25, 0.5]),
        (0.7, False, []),
        (0.5, True, []),
    ):
        run = Kept(0.1, 0.25, 0.5)
        assert run.judges(error) is passes, error
        assert run.end() == computed, error
        [file] = cache.glob("*.bounds")
        before = file.stat().st_mtime_ns
        assert Kept().end() == []  # A run that needs none writes nothing.
        assert file.stat().st_mtime_ns == before
    other = Kept(0.5)
    assert other.judges(0.4, "another case")
    other.end()
    assert Kept().judges(0.4)
    assert Kept().judges(0.4, "another case")
