"""Samples: 1 case in n, for a quick look, and for backends that are too slow for all cases.

What a sample holds depends on the ids of the cases alone; see
`harness.case.case.in_sample`. Each backend of a run may have its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from harness.case.case import in_sample
from harness.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.results.stream import Run

_SHARE = re.compile(r"1/([1-9]\d{0,8})")


class SampleError(HarnessError):
    """A sample is none, or of a backend that the run does not have."""


def parse(text: str) -> tuple[str, int]:
    """Return the backend, empty for all, and n of 1/n or NAME=1/n.

    Raises:
        SampleError: it is written otherwise.
    """
    name, _, share = text.rpartition("=")
    match = _SHARE.fullmatch(share)
    if match is None or text.startswith("="):
        raise SampleError(f"{text!r} is no sample; write 1/n, such as 1/80, or NAME=1/n for one backend")
    return name, int(match[1])


def given(asked: Iterable[tuple[str, int]], backends: Sequence[str]) -> dict[str, int]:
    """Return n by backend, of those that are to be asked 1 case in n.

    Args:
        asked: what `parse` gave of each --sample.
        backends: of the run, as the user named them.

    Raises:
        SampleError: a name that is none of these, or two samples for one backend.
    """
    found: dict[str, int] = {}
    for name, count in asked:
        if name and name not in backends:
            raise SampleError(
                f"--sample {name}=1/{count}: no --backend is called {name!r}; there are {', '.join(backends)}"
            )
        if found.setdefault(name, count) != count:
            whose = f"of {name}" if name else "of every backend"
            raise SampleError(f"two samples {whose}, 1/{found[name]} and 1/{count}; give one")
    every = {name: found.get(name, found.get("", 1)) for name in backends}
    return {name: count for name, count in every.items() if count > 1}


def takes(samples: Mapping[str, int], backend: str, case_id: str) -> bool:
    """Tell whether a backend is to be asked a case."""
    return in_sample(case_id, samples.get(backend, 1))


def widest(samples: Mapping[str, int], backends: Iterable[str]) -> int:
    """Return n of the sample that all others lie within; 1 where a backend is asked everything."""
    return min((samples.get(name, 1) for name in backends), default=1)


def of(header: Mapping[str, Any]) -> dict[str, int]:
    """Return n by backend as the header of a results file has it."""
    kept = header["arguments"].get("samples")
    kept = kept if isinstance(kept, dict) else {}
    return {name: count for name, count in kept.items() if isinstance(count, int) and count > 1}


def said(count: int) -> str:
    """Return what part of the cases a backend was asked, in words; empty: all."""
    return f"1 case in {count}" if count > 1 else ""


def selected(header: Mapping[str, Any], backend: str) -> str:
    """Return what a run selected for a backend, as a command line has it; empty: everything."""
    count = of(header).get(backend, 1)
    words = [str(header["arguments"].get("selection", "")), f"--sample 1/{count}" if count > 1 else ""]
    return " ".join(filter(None, words))


def notes(run: Run) -> list[str]:
    """Return what must be said of a run's samples, a sentence for each sampled backend."""
    return [
        f"{name} was asked {said(count)}: a sample, whose counts say nothing of the other cases."
        for name, count in of(run.header).items()
    ]
