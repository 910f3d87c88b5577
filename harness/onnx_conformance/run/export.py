# SPDX-License-Identifier: Apache-2.0
"""`generate`: the cases of a suite, written to a folder in ONNX's test-data layout, or in that of another reader."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.base import atomic_file
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.layouts import layout as layouts
from onnx_conformance.layouts.layout import Unwritable, Written
from onnx_conformance.run import progress
from onnx_conformance.suites import onnx_layout
from onnx_conformance.suites.case_json import StoreError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from onnx_conformance.case.case import Case
    from onnx_conformance.layouts.layout import Layout
    from onnx_conformance.suites.selection import Selection
    from onnx_conformance.suites.suite import Outlook, Suite

NAME = "cases"
"""The name on the progress line."""


@dataclass
class Export:
    """Writes the cases of a selection to a folder.

    Attributes:
        out: the folder; it may contain other cases already.
        replace: replaces a different case of the same name.
        layout: the layout of the files.
        known_failures: the ids of cases that the reader of the layout shall skip.
        written: how many cases were written.
        same: how many identical cases were there already.
        faults: a line on each case that the layout cannot express, although its rules admit the case.
        left_out: by reason, the number of cases that the reader of the layout cannot judge.
    """

    suite: Suite
    selection: Selection
    out: Path
    replace: bool = False
    layout: Layout = field(default_factory=lambda: layouts.named(layouts.DEFAULT))
    known_failures: Collection[str] = ()
    written: int = 0
    same: int = 0
    faults: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    _listed: list[Written] = field(default_factory=list)
    _made: Counter[str] = field(default_factory=Counter)
    _outlook: Outlook | None = None
    _outlook_read: bool = False
    _last: bool = False

    @property
    def whole(self) -> int:
        """How many cases of the selection are in the folder so far."""
        return self.written + self.same

    def run(self) -> None:
        """Write every case, each completely or not at all, and then the lists of the layout.

        Raises:
            StoreError: the folder cannot be written, or contains a different case of the same name.
            HarnessError: a list cannot be written, or lists other cases.
        """
        try:
            with progress.shown(progress.Watch({NAME: self._made}, {NAME: 1.0}, self._total, judged=False)) as advance:
                for case in self.suite.cases(self.selection):
                    self._put(case)
                    advance()
                self._last = True
        finally:
            self.layout.close()
        if self._listed:
            self._put_lists()

    def _put(self, case: Case) -> None:
        self._made[case.operator] += 1
        if why := self.layout.left_out(case):
            self.left_out[why] += 1
            return
        try:
            files = self.layout.files(case)
        except Unwritable as unwritable:
            self.left_out[str(unwritable)] += 1
            return
        except StoreError as error:
            self.faults.append(str(error))
            return
        folder = self.out / self.layout.folder(case)
        if onnx_layout.put(files, folder, replace=self.replace, folders=self.layout.data_sets):
            self.written += 1
        else:
            self.same += 1
        failing, outputs = case.id in self.known_failures, len(case.expected or ())
        self._listed.append(Written(folder.name, len(case.inputs), outputs, self.layout.opset(case), failing))

    def _put_lists(self) -> None:
        """Write the files about all cases, and the empty folders."""
        path = self.out
        try:
            for name in self.layout.folders:
                path = self.out / name
                path.mkdir(parents=True, exist_ok=True)
            for name, data in self.layout.lists(self._listed).items():
                path = self.out / name
                if path.exists() and path.read_bytes() != data and not self.replace:
                    raise HarnessError(
                        "list-differs",
                        f"{path} lists other cases; name an empty folder, or replace the list with --overwrite",
                    )
                path.parent.mkdir(parents=True, exist_ok=True)
                atomic_file.write(path, [data.decode()])
        except OSError as error:
            raise HarnessError("list-not-writable", f"cannot write {path}: {error.strerror}") from error

    def _total(self) -> progress.Total | None:
        if not self._outlook_read and not self._last:  # Takes half a second, so only where progress is shown.
            self._outlook, self._outlook_read = self.suite.outlook(self.selection), True
        return progress.total(self._outlook, self._made, last=self._last)
