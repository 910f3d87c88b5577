# SPDX-License-Identifier: Apache-2.0
"""pack.mjs: it reads the same cases as Python, and reports a wrong pack in one line."""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from onnx_conformance.backends import protocol
from onnx_conformance.base.values import Drawn
from onnx_conformance.suites import case_pack
from paths import TESTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from onnx_conformance.base.values import Value
    from onnx_conformance.case.case import Case

pytestmark = pytest.mark.slow
SCRIPT = TESTS / "runners" / "read_packs.mjs"


def printed(node: str, *words: str | Path) -> list[dict[str, Any]]:
    done = subprocess.run([node, str(SCRIPT), *map(str, words)], capture_output=True, check=False)
    assert not done.returncode, done.stderr.decode()
    return [json.loads(line) for line in done.stdout.splitlines()]


def sha256(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()


def described(case: Case) -> dict[str, Any]:
    """Return a case in the form in which read_packs.mjs prints it."""
    buffers: list[bytes] = []

    def named(values: Mapping[str, Value]) -> list[list[Any]]:
        return [[name, protocol.encode(value, buffers)] for name, value in values.items()]

    def plain(values: Sequence[Any] | None) -> list[Any] | None:
        if values is None:
            return None
        return [None if isinstance(value, Drawn) else protocol.encode(value, buffers) for value in values]

    parts = [
        named(case.inputs), None if case.earlier is None else named(case.earlier), plain(case.expected),
        plain(case.allowance.bounds),
        [[index, plain(item.values[1:])] for index, item in enumerate(case.allowance.any_of) if item is not None],
    ]  # fmt: skip
    return {
        "id": case.id, "outputs": list(case.outputs), "clauses": list(case.clauses), "force": case.force,
        "tags": sorted(case.tags), "outcome": str(case.outcome), "form": case.form,
        "files": [[name, sha256(data)] for name, data in case.files.items()], "described": parts,
        "model": sha256(case.model), "bytes": sha256(*buffers),
    }  # fmt: skip


def test_it_reads_the_cases_that_python_reads(node: str, pack: Path, cases: dict[str, Case]) -> None:
    with zipfile.ZipFile(pack) as archive:
        assert any(name.startswith("large/") for name in archive.namelist()), "the pack has no large tensor"
    read = {item["id"]: item for item in printed(node, "read", pack)}
    assert list(read) == list(cases)
    assert len(cases) > 200
    for name, case in cases.items():
        assert read[name] == json.loads(json.dumps(described(case))), name


def rewritten(pack: Path, out: Path, name: str, change: Callable[[bytes], bytes | None]) -> Path:
    """Write a pack whose member has other bytes; None: it is missing."""
    with zipfile.ZipFile(pack) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            data = old.read(member)
            changed = change(data) if member == name else data
            if changed is not None:
                new.writestr(member, changed)
    return out


def index_with(**members: Any) -> Callable[[bytes], bytes]:
    return lambda data: json.dumps({**json.loads(data), **members}).encode()


def flipped(data: bytes) -> bytes:
    return bytes([data[0] ^ 1, *data[1:]])


SPLIT = "ai.onnx/Split"
WRONG: dict[str, tuple[str, Callable[[bytes], bytes | None], str]] = {
    "no index": (case_pack.INDEX, lambda _: None, "it has no index.json"),
    "no JSON": (case_pack.INDEX, lambda _: b"{", "its index.json is not JSON"),
    "another format": (case_pack.INDEX, index_with(format="x"), "its index.json is not that of a pack"),
    "a newer format": (case_pack.INDEX, index_with(version=2), "has version 2 of the format, and this page reads"),
    "no operators": (case_pack.INDEX, index_with(operators=[]), "its index.json lists no operators"),
    "changed cases": (f"{SPLIT}/{case_pack.CASES}", flipped, '"ai.onnx/Split/cases.ndjson" was changed'),
    "changed data": (f"{SPLIT}/{case_pack.DATA}", flipped, '"ai.onnx/Split/data.bin" was changed'),
    "no data": (f"{SPLIT}/{case_pack.DATA}", lambda _: None, '"ai.onnx/Split/data.bin" is missing'),
}


@pytest.fixture(scope="module")
def messages(node: str, pack: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return what Node.js prints on each wrong pack. All are read by one process."""
    folder = tmp_path_factory.mktemp("wrong")
    paths = {kind: rewritten(pack, folder / kind, member, change) for kind, (member, change, _) in WRONG.items()}
    whole = pack.read_bytes()
    with zipfile.ZipFile(pack) as archive:
        large = next(name for name in archive.namelist() if name.startswith("large/"))
    paths["changed large"] = rewritten(pack, folder / "changed large", large, flipped)
    for size in (0, 1, 21, 22, 1000, len(whole) // 2, len(whole) - 1):
        paths[f"cut {size}"] = folder / f"cut {size}"
        paths[f"cut {size}"].write_bytes(whole[:size])
    drawn = random.Random(5)
    for number in range(20):
        data = bytearray(whole)
        data[drawn.randrange(len(data))] ^= 1 << drawn.randrange(8)
        paths[f"bit {number}"] = folder / f"bit {number}"
        paths[f"bit {number}"].write_bytes(data)
    paths["text"] = folder / "text"
    paths["text"].write_text("no pack " * 100)
    return dict(zip(paths, printed(node, "open", *paths.values()), strict=True))


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_member_is_named(messages: dict[str, dict[str, Any]], kind: str) -> None:
    assert messages[kind].get("error") == "PackError", messages[kind]
    assert WRONG[kind][2] in messages[kind]["message"]


def test_a_changed_large_tensor_is_named(messages: dict[str, dict[str, Any]]) -> None:
    assert '"large/' in messages["changed large"]["message"]
    assert "was changed" in messages["changed large"]["message"]


def test_a_damaged_file_gets_one_line(messages: dict[str, dict[str, Any]], cases: dict[str, Case]) -> None:
    damaged = {kind: message for kind, message in messages.items() if kind.startswith(("cut", "text", "bit"))}
    assert len(damaged) == 28
    for kind, message in damaged.items():
        if kind.startswith("bit") and message == {"count": len(cases)}:
            continue  # The bit belongs to a name, a time or the licence, which no case needs.
        assert message.get("error") == "PackError", (kind, message)
        assert "\n" not in message["message"]
    assert sum("error" in message for message in damaged.values()) > 15
