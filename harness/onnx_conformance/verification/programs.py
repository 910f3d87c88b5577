# SPDX-License-Identifier: Apache-2.0
"""Tests an exporter: asks it for its programs, lets it export them, and judges each model; see `judging.producer`."""

from __future__ import annotations

import dataclasses
import fnmatch
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.sample import in_sample
from onnx_conformance.base.under_test import Subject, subject
from onnx_conformance.base.verdict import line
from onnx_conformance.judging.judge import judge
from onnx_conformance.processes import program_requests, replies
from onnx_conformance.processes.asker import Asker
from onnx_conformance.processes.program_requests import DYNAMIC
from onnx_conformance.processes.replies import Product, Programs, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from onnx_conformance.base.target import Target
    from onnx_conformance.base.verdict import Result
    from onnx_conformance.processes.adapter_process import Limits
    from onnx_conformance.processes.program_requests import Program

LIST_SECONDS = 300.0
"""Seconds that an exporter may take to list its programs, which it may have to make for that."""
SHAPES = ("static", DYNAMIC)
"""How programs are exported: with the sizes of their inputs, or with sizes that stay open."""


@dataclass(frozen=True)
class Exported:
    """One exported program.

    Attributes:
        result: the verdict.
        product: the model, and the runs in the framework; None without a model.
    """

    result: Result
    product: Product | None


class Producer:
    """A process that exports programs.

    Attributes:
        hello: the first message of its adapter.
    """

    def __init__(self, target: Target, limits: Limits) -> None:
        """Start it.

        Raises:
            HarnessError: it does not start, or is no exporter.
        """
        self._asker = Asker(target, limits)
        self.hello: Mapping[str, Any] = self._asker.process.hello
        if (kind := subject(self.hello)) is not Subject.PRODUCER:
            self.close()
            raise HarnessError(
                "not-a-producer", f"{line(target.name)} is a {kind}; expected an exporter, whose adapter has produce()"
            )
        self._target = target

    def programs(self, globs: Sequence[str] = ()) -> list[str]:
        """Return the names of the programs that globs select, by name or by operation; all without a glob.

        Raises:
            HarnessError: it does not return them, or a glob matches no program.
        """
        process, limits = self._asker.process, self._asker.process.limits
        process.limits = dataclasses.replace(limits, timeout=max(limits.timeout, LIST_SECONDS))
        reply = self._asker.ask(program_requests.names(globs))
        process.limits = limits
        if isinstance(reply, Programs):
            return chosen(reply.names, globs)
        why = f"{reply.error}: {reply.message}" if isinstance(reply, Refused) else "it sent another message"
        if isinstance(reply, replies.Died | replies.Late | replies.Broken):
            why = replies.reason(reply)
        raise HarnessError("programs-not-listed", f"{line(self._target.name)} does not list its programs: {line(why)}")

    def export(self, program: Program) -> Exported:
        """Export one program, and return the verdict.

        Raises:
            AdapterProcessError: its process does not start again.
        """
        reply = self._asker.ask(program)
        return Exported(judge(program, self._target.name, reply), reply if isinstance(reply, Product) else None)

    def close(self) -> None:
        """End the process."""
        self._asker.close()

    def __enter__(self) -> Self:
        """Return this object."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()


def chosen(names: Sequence[str], globs: Iterable[str]) -> list[str]:
    """Return the programs that globs over their names, or over the operations that these begin with, select.

    Raises:
        HarnessError: a glob matches no program.
    """
    picked: dict[str, None] = {}
    for glob in globs:
        hits = [
            name
            for name in names
            if fnmatch.fnmatchcase(name, glob) or fnmatch.fnmatchcase(name.partition("/")[0], glob)
        ]
        if not hits:
            raise HarnessError(
                "program-glob-unmatched", f"--program {line(glob, 80)!r} matches no program; --list shows all of them"
            )
        picked.update(dict.fromkeys(hits))
    return list(picked or names)


def requests(
    producer: str, names: Iterable[str], opsets: Sequence[int], shapes: Sequence[str], sample: int = 1
) -> Iterator[Program]:
    """Yield the requests to export programs.

    Args:
        producer: as the user named it.
        names: the names of the programs.
        opsets: the opsets of the models.
        shapes: some of SHAPES.
        sample: only 1 of so many, always the same ones.
    """
    for name, opset, shape in itertools.product(names, opsets, shapes):
        request = program_requests.program(producer, name, opset, dynamic=shape == DYNAMIC)
        if in_sample(request.id, sample):
            yield request
