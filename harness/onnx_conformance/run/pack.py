# SPDX-License-Identifier: Apache-2.0
"""`pack`: the cases of a suite, written to one file; see `suites.case_pack` for its format.

Equal cases have equal bytes. The last digits of expected values depend on the code that numpy, its BLAS and the C
library choose for the processor, so workers use the code that all processors of this kind have.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import itertools
import json
import os
import platform
import zipfile
import zlib
from dataclasses import dataclass, field
from importlib.metadata import distribution
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import onnx

from onnx_conformance.base import atomic_file
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import VERSION
from onnx_conformance.base.verdict import split_operator
from onnx_conformance.base.worker_pool import worker_pool
from onnx_conformance.suites import case_pack
from onnx_conformance.suites.case_pack import CASES, DATA, INDEX, LICENSE, README
from onnx_conformance.suites.lookup import check_readable, open_suite
from onnx_conformance.suites.slices import Slice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.suite import Suite

LEVEL = 9
"""The level of compression."""
_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time in a zip file: the same for all packs."""
_TEXT, _CHECKSUM = [b"model", b"tensor(float)", b"axis", b"Split", b"\0\0\x80?"], "30a77d43"
"""Words that `usual_zlib` compresses in some order, and the checksum of the result of zlib by its authors."""
_HWCAPS = ("AVX", "AVX2", "AVX512F", "AVX512VL", "FMA", "FMA4")
"""Features of processors for which the C library has other code."""
_BLAS = {"x86_64": "Nehalem", "aarch64": "ARMV8"}
"""By kind of processor, the code of OpenBLAS that all of them have."""


@dataclass
class _Part:
    """The cases of an operator.

    Attributes:
        operator: such as ai.onnx/Split.
        block: the bytes of models and tensors.
        lines: the entries, as JSON.
        versions: the number of cases by operator version.
        core: the number of cases in the core.
        digests: the id and the digest of each case.
        idle: the globs of the selection that matched nothing.
    """

    operator: str
    block: case_pack.Block = field(default_factory=case_pack.Block)
    lines: list[bytes] = field(default_factory=list)
    versions: dict[str, int] = field(default_factory=dict)
    core: int = 0
    digests: list[str] = field(default_factory=list)
    idle: set[tuple[str, str]] = field(default_factory=set)

    def add(self, case: Case, *, core: bool) -> None:
        """Add a case."""
        entry = case_pack.entry(case, self.block, core=core)
        self.lines.append(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
        self.versions[case.operator] = self.versions.get(case.operator, 0) + 1
        self.core += core
        self.digests.append(f"{case.id} {entry['digest']}\n")


@dataclass(frozen=True)
class Packed:
    """Facts about a written pack.

    Attributes:
        cases: the number of cases.
        size: of the file, in bytes.
        content: a digest of the cases, which is the same on every processor.
    """

    cases: int
    size: int
    content: str


def write(suite: Suite, selection: Selection, out: Path, jobs: int, on_operator: Callable[[int, int], None]) -> Packed:
    """Write the selected cases of a suite to a file, completely or not at all.

    Args:
        suite: the suite.
        selection: the cases.
        out: the file; an existing one is replaced.
        jobs: the number of processes.
        on_operator: called with the number of operators that are done, and of all.

    Raises:
        HarnessError: a case cannot be read, or the file cannot be written.
    """
    try:
        with atomic_file.replaced(out) as file:
            index = _write(suite, selection, file, _parts(suite, selection, jobs, on_operator))
            file.flush()
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise HarnessError("pack-not-writable", f"{out}: cannot be written: {error.strerror}") from error
    return Packed(index["cases"], size, index["content"])


def _write(suite: Suite, selection: Selection, file: BinaryIO, parts: Iterable[_Part]) -> dict[str, Any]:
    """Write a pack to an open file, and return its index."""
    content, operators, cases, large = hashlib.sha256(), list[dict[str, Any]](), 0, set[str]()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        for part in parts:
            content.update("".join(part.digests).encode())
            for digest, data in part.block.large.items():
                if digest not in large:
                    _put(archive, f"{case_pack.LARGE}/{digest}", data)
            large.update(part.block.large)
            members = {"cases": (CASES, b"".join(part.lines)), "data": (DATA, bytes(part.block.data))}
            described = {key: _put(archive, f"{part.operator}/{name}", data) for key, (name, data) in members.items()}
            cases += len(part.lines)
            operators.append(
                {
                    "operator": part.operator,
                    "usage_rank": case_pack.usage_rank(part.operator),
                    "versions": part.versions,
                    "core": part.core,
                    **described,
                }
            )
        index = {
            "format": case_pack.FORMAT,
            "version": case_pack.VERSION,
            "made_by": f"onnx-conformance {VERSION}",
            "onnx": onnx.__version__,
            "suite": {"name": suite.name, "digest": suite.digest(), "selection": str(selection)},
            "cases": cases,
            "content": content.hexdigest(),
            "operators": operators,
        }
        _put(archive, INDEX, json.dumps(index, indent=1).encode() + b"\n")
        _put(archive, README, case_pack.readme(index).encode())
        _put(archive, LICENSE, _license().encode())
    return index


def _license() -> str:
    """Return the licence of this project."""
    return distribution("onnx-conformance").read_text("licenses/LICENSE") or ""


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> dict[str, Any]:
    """Add a member, and return its name, size and digest."""
    info = zipfile.ZipInfo(name, _TIME)
    info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
    archive.writestr(info, data, compresslevel=LEVEL)
    return {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _parts(suite: Suite, selection: Selection, jobs: int, on_operator: Callable[[int, int], None]) -> Iterator[_Part]:
    """Yield the operators in the order of the suite."""
    if not suite.makes:
        found: dict[str, _Part] = {}
        for case in suite.cases(selection):
            name = split_operator(case.operator)[0]
            found.setdefault(name, _Part(name)).add(case, core=False)
        check_readable(suite)
        yield from found.values()
        return
    versions = dict.fromkeys(part.operator for part in suite.slices(selection))
    by_operator = [
        list(several) for _, several in itertools.groupby(versions, key=lambda version: split_operator(version)[0])
    ]
    task = functools.partial(_made, suite.name, dataclasses.replace(selection))
    with worker_pool(jobs) as pool:
        with _same_everywhere():  # The processes start here.
            made = pool.map(task, by_operator)
        for done, part in enumerate(made, 1):
            selection.idle &= part.idle
            on_operator(done, len(by_operator))
            if part.lines:
                yield part


def _made(suite_name: str, selection: Selection, versions: Sequence[str]) -> _Part:
    """Return the selected cases of some versions of an operator."""
    suite, part = open_suite(suite_name), _Part(split_operator(versions[0])[0])
    part.idle = set(selection.idle)
    for version in versions:
        own = selection.within(Slice(version))
        core = {item.id for item in suite.listed(own) if item.core} if suite.has_core else set()
        for case in suite.cases(own):
            part.add(case, core=case.id in core)
        part.idle &= own.idle
    return part


@contextlib.contextmanager
def _same_everywhere() -> Iterator[None]:
    """Let processes that start meanwhile compute the same values as on every other processor of this kind."""
    before = dict(os.environ)
    os.environ.update(portable_settings())
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def portable_settings() -> Mapping[str, str]:
    """Return variables for the code that all processors of this kind have, and against values from the cache."""
    off = [f"-{name}{suffix}" for name in _HWCAPS for suffix in ("", "_Usable")]  # As of glibc 2.33, and before.
    features = np._core._multiarray_umath.__cpu_dispatch__  # type: ignore[attr-defined]  # noqa: SLF001 - no public name
    return {
        "ONNX_CONFORMANCE_CACHE": "",
        "NPY_DISABLE_CPU_FEATURES": " ".join(features),
        "OPENBLAS_CORETYPE": _BLAS.get(platform.machine(), ""),
        "GLIBC_TUNABLES": f"glibc.cpu.hwcaps={','.join(off)}",
    }


def usual_zlib() -> bool:
    """Return whether this Python has zlib by its authors: others compress the same data to other bytes."""
    order = hashlib.shake_128(b"").digest(4000)
    data = b"".join(_TEXT[number % len(_TEXT)] + bytes([number]) for number in order)
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, -15)
    return f"{zlib.crc32(compressor.compress(data) + compressor.flush()):08x}" == _CHECKSUM
