# SPDX-License-Identifier: Apache-2.0
"""A suite that is a folder in ONNX's test-data layout."""

from __future__ import annotations

import functools
import hashlib
import os
from typing import TYPE_CHECKING

from onnx_conformance.base.verdict import Unreadable, line
from onnx_conformance.suites import case_json, onnx_layout, packs
from onnx_conformance.suites.selection import Listed, Selection, listed
from onnx_conformance.suites.slices import divided
from onnx_conformance.suites.suite import Outlook, SuiteError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from onnx_conformance.base.errors import Note
    from onnx_conformance.case.case import Case
    from onnx_conformance.suites.slices import Slice


class Folder:
    """A folder in ONNX's test-data layout: */model.onnx, test_data_set_*/."""

    makes = False
    planned = False
    has_core = False

    def __init__(self, path: Path) -> None:
        """Open a folder.

        Raises:
            SuiteError: the folder is missing, is not a folder, or contains no cases.
        """
        self.name, self._root = str(path), path
        self.unreadable: list[Unreadable] = []
        try:
            if not path.is_dir():
                what = "is not a folder" if path.exists() else "does not exist"
                raise SuiteError(
                    "not-a-suite", f"suite {line(path)} {what}; name generated, official, or a folder with */model.onnx"
                )
            self._folders = sorted(folder for folder in path.iterdir() if _holds_model(folder))
            self._suite = path.resolve().name
        except (OSError, RuntimeError, ValueError) as error:
            raise SuiteError(
                "suite-not-readable", f"suite {line(path)} cannot be read: {line(error)}; name another folder"
            ) from error
        if not self._folders:
            raise SuiteError(
                "suite-empty",
                f"suite {line(path)} contains no cases; ONNX's layout is CASE/model.onnx and CASE/test_data_set_0/",
            )

    def digest(self) -> str:
        """Return a digest of every file's name and content, as they were when it was first asked for."""
        return self._digest

    @functools.cached_property
    def _digest(self) -> str:
        hashed = hashlib.sha256()
        for folder in self._folders:
            for path in sorted(folder.rglob("*")):
                content = onnx_layout.digest(path, self._root)
                if content:
                    hashed.update(os.fsencode(path.relative_to(self._root)) + b"\0" + content.encode())
        return hashed.hexdigest()[:16]

    def left_out(self, selection: Selection) -> list[Note]:  # noqa: ARG002 - Suite's own
        """Return nothing: unreadable cases go to `unreadable`."""
        return []

    def operators(self) -> list[str]:
        """Return nothing: that would need reading every model twice."""
        return []

    def listed(self, selection: Selection) -> Iterator[Listed]:
        """Yield summaries of the selected cases; reads every model."""
        return listed(self.cases(selection))

    def outlook(self, selection: Selection) -> Outlook | None:
        """Return the number of folders; None if the selection has globs, which need the cases."""
        if selection.ops or selection.cases or selection.tags or selection.ids or selection.forms:
            return None
        return Outlook({"": len(self._folders)}, selection.share)

    def slices(self, selection: Selection) -> list[Slice]:
        """Return parts of the folders."""
        return list(divided("", len(self._folders) * selection.share))

    def cases(self, selection: Selection) -> Iterator[Case]:
        """Yield the selected cases by folder name; unreadable ones go to `unreadable`."""
        part = selection.slice
        if part is None or selection.cases or not packs.is_on():  # Of the cases that globs name, few folders are read.
            source = self._read(self._folders, selection)
        else:
            source = self._packed([folder for folder in self._folders if part.has(folder.name)])
        for item in source:
            if isinstance(item, Unreadable):
                self._cannot_read(item, selection)
            elif selection.takes(item):
                yield item

    def _packed(self, folders: list[Path]) -> Iterator[Case | Unreadable]:
        """Yield all cases of some folders from their pack; without a pack, read the folders and write it."""
        names = [line_ for folder in folders for line_ in _every_file(folder, self._root)]
        key = packs.key("folder", str(self._root.absolute()), self.digest(), *names)
        pack = packs.read(key)
        if pack is not None:
            yield from pack.unreadable
            yield from pack
            return
        packer, unreadable = packs.Packer(key), []
        for item in self._read(folders, Selection()):
            if isinstance(item, Unreadable):
                unreadable.append(item)
            else:
                packer.add(item)
            yield item
        packer.write(unreadable)

    def finished(self, part: Slice) -> None:
        """Keep nothing: the cases of a folder have no bounds to compute."""

    def _read(self, folders: list[Path], selection: Selection) -> Iterator[Case | Unreadable]:
        """Yield the cases of some folders, or the errors of unreadable ones."""
        for folder in folders:
            case_id = f"{self._suite}/{folder.name}"
            if selection.slice is not None and not selection.slice.has(folder.name):
                continue
            if not selection.may_take_folder(case_id):
                continue
            try:
                for case_id, make in onnx_layout.parts(folder, self._root, self._suite):
                    try:
                        yield make()
                    except case_json.StoreError as error:
                        yield _unreadable(case_id, error)
            except case_json.StoreError as error:
                yield _unreadable(case_id, error)

    def _cannot_read(self, item: Unreadable, selection: Selection) -> None:
        """Record a case that cannot be read, if it would be selected."""
        if selection.would_take(item.case) and item not in self.unreadable:
            self.unreadable.append(item)


def _unreadable(case_id: str, error: case_json.StoreError) -> Unreadable:
    return Unreadable(line(case_id, 1000), f"{line(error, 800)}; repair the folder, or remove it from the suite")


def _every_file(folder: Path, root: Path) -> Iterator[str]:
    """Yield the unreadable cases of a folder."""
    for path in sorted(folder.rglob("*")):
        try:
            status = path.lstat()
            target = path.readlink() if path.is_symlink() else ""
            yield f"{os.fsencode(path.relative_to(root))!r} {status.st_mode} {status.st_size} {target}"
        except OSError as error:
            yield f"{os.fsencode(path.relative_to(root))!r} {error.errno}"


def _holds_model(folder: Path) -> bool:
    """Return whether a folder is a case; one with a broken link as model is a case that cannot be read."""
    model = folder / "model.onnx"
    try:
        return model.is_symlink() or model.exists()
    except OSError:  # The folder is another user's.
        return True
