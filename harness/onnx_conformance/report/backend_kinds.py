# SPDX-License-Identifier: Apache-2.0
"""The kinds of backends, each with a separate table: runtimes, and tools by their task."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onnx_conformance.base.under_test import Subject
from onnx_conformance.base.verdict import WRONG, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.results.summary import Summary


@dataclass(frozen=True)
class BackendKind:
    """One kind of backend, and the properties of its table.

    Attributes:
        heading: above its table, if there are several kinds.
        one: a noun phrase for one of its members.
        own: verdicts that only its members have, or that are more important for them; always shown as columns.
        counted: verdicts with a separate column in tables with one row for each backend.
        impossible: verdicts that its members cannot have.
    """

    heading: str
    one: str
    own: tuple[Verdict, ...]
    counted: tuple[Verdict, ...]
    impossible: frozenset[Verdict] = frozenset()


_ENDED = (Verdict.CRASH, Verdict.TIMEOUT, Verdict.FLAKY)
_OF_FORBIDDEN_MODELS = frozenset({Verdict.ACCEPTED_INVALID, Verdict.LENIENT})
"""For invalid models, any behaviour of a transformer or inferencer is accepted."""
_CHANGES = BackendKind(
    "Tools that change models",
    "a tool that changes models",
    (Verdict.INVALID_MODEL,),
    (*_ENDED, Verdict.INVALID_MODEL, Verdict.REFUSED, Verdict.UNSUPPORTED),
    _OF_FORBIDDEN_MODELS | {Verdict.KNOWS_LESS, Verdict.FALLBACK},
)
KINDS: Mapping[Subject, BackendKind] = {
    Subject.RUNTIME: BackendKind(
        "Runtimes", "a runtime", (), (*_ENDED, Verdict.ACCEPTED_INVALID, Verdict.LENIENT, Verdict.UNSUPPORTED)
    ),
    Subject.TRANSFORMER: _CHANGES,
    Subject.QUANTIZER: dataclasses.replace(_CHANGES, heading="Quantizers", one="a quantizer"),
    Subject.INFERENCER: BackendKind(
        "Shape inference",
        "a tool that infers types and shapes",
        (Verdict.KNOWS_LESS,),
        (*_ENDED, Verdict.KNOWS_LESS, Verdict.REFUSED, Verdict.UNSUPPORTED),
        _OF_FORBIDDEN_MODELS | {Verdict.INVALID_MODEL, Verdict.WRONG_VALUE, Verdict.FALLBACK},
    ),
    Subject.CHECKER: BackendKind(
        "Checkers",
        "a model checker",
        (Verdict.REFUSED, Verdict.ACCEPTED_INVALID),
        (*_ENDED, Verdict.REFUSED, Verdict.ACCEPTED_INVALID, Verdict.LENIENT, Verdict.UNSUPPORTED),
        WRONG | {Verdict.INVALID_MODEL, Verdict.KNOWS_LESS, Verdict.FALLBACK},
    ),
    Subject.PRODUCER: BackendKind(
        "Exporters",
        "an exporter",
        (Verdict.INVALID_MODEL,),
        (*_ENDED, Verdict.INVALID_MODEL, Verdict.REFUSED, Verdict.UNSUPPORTED),
        _OF_FORBIDDEN_MODELS | {Verdict.KNOWS_LESS, Verdict.FALLBACK, Verdict.DECLINED},
    ),
}
"""By subject, in the order of the reports."""


@dataclass(frozen=True)
class Part:
    """The results of one kind of backend.

    Attributes:
        kind: the kind.
        heading: the heading of the kind; empty if it is the only one.
        summary: the counts of these backends only.
    """

    kind: BackendKind
    heading: str
    summary: Summary


def parts(summary: Summary) -> Iterator[Part]:
    """Yield the results of each kind that has results; without results, an empty part for runtimes."""
    by_kind: dict[Subject, set[str]] = {}
    for _, backend in summary.counts:
        by_kind.setdefault(summary.subject(backend), set()).add(backend)
    if not by_kind:
        yield Part(KINDS[Subject.RUNTIME], "", summary)
    for subject, kind in KINDS.items():
        if subject in by_kind:
            heading = kind.heading if len(by_kind) > 1 else ""
            yield Part(kind, heading, summary.of(by_kind[subject]) if heading else summary)
