"""`generate`: the cases of a suite, written to a folder in ONNX's test-data layout."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onnx_conformance.run import progress
from onnx_conformance.suites import onnx_layout
from onnx_conformance.suites.case_json import StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_conformance.case.case import Case
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
        written: how many cases were written.
        same: how many identical cases were there already.
        faults: a line on each case that the layout cannot express.
    """

    suite: Suite
    selection: Selection
    out: Path
    replace: bool = False
    written: int = 0
    same: int = 0
    faults: list[str] = field(default_factory=list)
    _made: Counter[str] = field(default_factory=Counter)
    _outlook: Outlook | None = None
    _outlook_read: bool = False
    _last: bool = False

    @property
    def whole(self) -> int:
        """How many cases of the selection are in the folder so far."""
        return self.written + self.same

    def run(self) -> None:
        """Write every case, each completely or not at all.

        Raises:
            StoreError: the folder cannot be written, or contains a different case of the same name.
        """
        with progress.shown(progress.Watch({NAME: self._made}, {NAME: 1.0}, self._total, judged=False)) as advance:
            for case in self.suite.cases(self.selection):
                self._put(case)
                advance()
            self._last = True

    def _put(self, case: Case) -> None:
        self._made[case.operator] += 1
        try:
            files = onnx_layout.encoded(case)
        except StoreError as error:
            self.faults.append(str(error))
            return
        if onnx_layout.put(files, self.out / onnx_layout.folder_name(case.id), replace=self.replace):
            self.written += 1
        else:
            self.same += 1

    def _total(self) -> progress.Total | None:
        if not self._outlook_read and not self._last:  # Takes half a second, so only where progress is shown.
            self._outlook, self._outlook_read = self.suite.outlook(self.selection), True
        return progress.total(self._outlook, self._made, last=self._last)
