# SPDX-License-Identifier: Apache-2.0
"""A suite that is a pack: cases in one file that `onnx-conformance pack` wrote; see `case_pack` for its format."""

from __future__ import annotations

import functools
import hashlib
import json
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import onnx

from onnx_conformance.backends.protocol import MAX_PAYLOAD, clip
from onnx_conformance.base.errors import Note
from onnx_conformance.base.verdict import Unreadable, line, split_operator
from onnx_conformance.case.case import PLAIN
from onnx_conformance.suites import case_pack
from onnx_conformance.suites.case_json import StoreError
from onnx_conformance.suites.case_pack import INDEX
from onnx_conformance.suites.selection import Listed, Selection
from onnx_conformance.suites.slices import divided
from onnx_conformance.suites.suite import Outlook, SuiteError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.suites.slices import Slice

MOST_INDEX = 64 << 20
"""Bytes of index.json that are read."""
AGAIN = "download it again, or write it again with `onnx-conformance pack`"


class PackFile:
    """The cases of a pack."""

    makes = False
    planned = False

    def __init__(self, path: Path) -> None:
        """Open a pack, and read its index.

        Raises:
            SuiteError: the file is damaged, is not a pack, or has a newer format.
        """
        self.name, self._path = str(path), path
        self.unreadable: list[Unreadable] = []
        self._digest, index = "", dict[str, Any]()
        try:
            data = self._member(INDEX, MOST_INDEX)
            self._digest, index = hashlib.sha256(data).hexdigest()[:16], json.loads(data)
        except (KeyError, ValueError, RecursionError) as error:
            raise self._damaged("it has no readable index.json, so it is not a pack") from error
        if not isinstance(index, dict) or index.get("format") != case_pack.FORMAT:
            raise self._damaged("its index.json is not that of a pack")
        version = index.get("version")
        if type(version) is not int or version > case_pack.VERSION:
            raise SuiteError(
                "pack-format-newer",
                f"suite {line(path)} has version {clip(version)} of the format, and this onnx-conformance reads "
                f"versions up to {case_pack.VERSION}; install a newer one",
            )
        try:
            self._onnx = str(index["onnx"])
            self._parts = {str(item["operator"]): dict(item) for item in index["operators"]}
            self._counts = {
                str(version): int(count) for item in self._parts.values() for version, count in item["versions"].items()
            }
            self.has_core = any(int(item["core"]) for item in self._parts.values())
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._damaged("its index.json lacks members") from error

    def _damaged(self, why: str) -> SuiteError:
        return SuiteError("pack-not-whole", f"suite {line(self._path)}: {why}; {AGAIN}")

    def _member(self, name: str, most: int) -> bytes:
        """Return the content of a member.

        Raises:
            SuiteError: the file cannot be read, is damaged, or the member is too large.
            KeyError: there is no such member.
        """
        try:
            with zipfile.ZipFile(self._path) as archive:
                size = archive.getinfo(name).file_size
                if size > most:
                    raise self._damaged(f"{line(name)} has {size:,} bytes, but {most:,} are the most that are read")
                return archive.read(name)
        except OSError as error:
            raise SuiteError("pack-not-readable", f"suite {line(self._path)}: {error.strerror}") from error
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            raise self._damaged(f"it is incomplete or damaged ({line(error)})") from error

    def _checked(self, operator: str, key: str) -> bytes:
        """Return the content of a member that the index lists.

        Raises:
            SuiteError: it is not that of the index.
        """
        try:
            item = self._parts[operator][key]
            data = self._member(str(item["name"]), MAX_PAYLOAD)
        except (KeyError, TypeError) as error:
            raise self._damaged(f"the {key} of {line(operator)} are missing") from error
        if hashlib.sha256(data).hexdigest() != item.get("sha256"):
            raise self._damaged(f"{line(item['name'])} was changed")
        return data

    def digest(self) -> str:
        """Return a digest of the index, which has digests of everything else."""
        return self._digest

    def left_out(self, selection: Selection) -> list[Note]:
        """Return a note if the pack was made with another release of onnx."""
        del selection
        if self._onnx == onnx.__version__:
            return []
        text = (
            f"{line(self._path)} has the operators of onnx {line(self._onnx)}, but onnx {onnx.__version__} is "
            "installed; its cases are judged by the pack alone"
        )
        return [Note("pack-of-another-onnx", text)]

    def operators(self) -> list[str]:
        """Return the operator versions that have cases."""
        return list(self._counts)

    def outlook(self, selection: Selection) -> Outlook | None:
        """Return the number of cases; None if the selection needs the cases."""
        if selection.by_name or selection.core or selection.narrowing:
            return None
        return Outlook({name: n for name, n in self._counts.items() if selection.takes_operator(name)}, selection.share)

    def slices(self, selection: Selection) -> list[Slice]:
        """Return the selected operator versions, those with many cases in parts."""
        counts = ((name, count) for name, count in self._counts.items() if selection.takes_operator(name))
        return [part for name, count in counts for part in divided(name, count * selection.share)]

    def finished(self, part: Slice) -> None:
        """Keep nothing: the pack has everything."""

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield summaries of the selected cases; the models are read only if their calls decide."""
        if selection.narrowing:
            yield from (item for item, _ in self._read(selection))
        else:
            yield from (item for item, _, _ in self._selected(selection))

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases by operator; unreadable ones go to `unreadable`."""
        yield from (case for _, case in self._read(selection))

    def _read(self, selection: Selection) -> Iterator[tuple[Listed, Case]]:
        """Yield each selected case with its summary."""
        for item, text, operator in self._selected(selection):
            try:
                case = case_pack.read(self._path, text, self._block(operator), self._large)
            except StoreError as error:
                broken = Unreadable(line(item.id, 1000), f"{line(error, 800)}; {AGAIN}")
                if broken not in self.unreadable:
                    self.unreadable.append(broken)
                continue
            if selection.narrowing.takes_case(case):
                yield item, case

    def _selected(self, selection: Selection) -> Iterator[tuple[Listed, bytes, str]]:
        """Yield the summary, the line and the operator of each selected case, not considering its calls."""
        versions = [name for name in self._counts if selection.takes_operator(name)]
        part = selection.slice
        for operator in dict.fromkeys(split_operator(version)[0] for version in versions):
            for item, text in self._lines(operator):
                here = part is None or part.has(item.id.partition("@")[0])
                if here and (item.core or not selection.core) and selection.takes_named(item):
                    yield item, text, operator

    @functools.lru_cache(maxsize=2)  # noqa: B019 - a suite lives as long as its process
    def _lines(self, operator: str) -> list[tuple[Listed, bytes]]:
        """Return the summaries and the lines of an operator's cases."""
        lines = self._checked(operator, "cases").splitlines()
        return [(_summary(text, f"{operator}, line {number}"), text) for number, text in enumerate(lines, 1)]

    @functools.lru_cache(maxsize=2)  # noqa: B019 - as above
    def _block(self, operator: str) -> memoryview:
        """Return the bytes of an operator's models and tensors."""
        return memoryview(self._checked(operator, "data"))

    @functools.lru_cache(maxsize=8)  # noqa: B019 - as above
    def _large(self, digest: str) -> bytes:
        """Return a large tensor."""
        name = f"{case_pack.LARGE}/{digest}"
        try:
            data = self._member(name, MAX_PAYLOAD)
        except KeyError as error:
            raise self._damaged(f"{line(name)} is missing") from error
        if hashlib.sha256(data).hexdigest() != digest:
            raise self._damaged(f"{line(name)} was changed")
        return data


def _summary(text: bytes, place: str) -> Listed:
    """Return the summary of a line; one that cannot be read gets its place as its id."""
    try:
        item: Mapping[str, Any] = json.loads(text)
        return Listed(
            id=str(item["id"]),
            operator=str(item["operator"]),
            form=str(item.get("form", PLAIN)),
            outcome=str(item["outcome"]),
            tags=frozenset(map(str, item.get("tags", ()))),
            core=item.get("core") is True,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Listed(place, place.partition(",")[0], PLAIN, "", frozenset())
