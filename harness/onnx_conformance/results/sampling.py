# SPDX-License-Identifier: Apache-2.0
"""Samples: 1 case in n, for a quick test, and for backends that are too slow for all cases.

Only the id of a case decides whether it is in a sample; see `base.sample.in_sample`. Each backend of a run may have a
different sample.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.sample import in_sample
from onnx_conformance.base.suite_names import OF_PROVISIONAL, PROVISIONAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from onnx_conformance.results.stream import Run

_SHARE = re.compile(r"1/([1-9]\d{0,8})")


class SampleError(HarnessError):
    """A text is not a sample, or a sample is for a backend that the run does not have."""


def parse(text: str) -> tuple[str, int]:
    """Return the backend (empty: all) and n of 1/n or NAME=1/n.

    Raises:
        SampleError: the text has another form.
    """
    name, _, share = text.rpartition("=")
    match = _SHARE.fullmatch(share)
    if match is None or text.startswith("="):
        raise SampleError(
            "not-a-sample", f"{text!r} is not a sample; write 1/n, such as 1/80, or NAME=1/n for one backend"
        )
    return name, int(match[1])


def by_backend(samples: Iterable[tuple[str, int]], backends: Sequence[str]) -> dict[str, int]:
    """Return n by backend, for the backends that run 1 case in n.

    Args:
        samples: the result of `parse` for each --sample.
        backends: backends of the run, as named by the user.

    Raises:
        SampleError: a sample names another backend, or there are two samples for one backend.
    """
    counts: dict[str, int] = {}
    for name, count in samples:
        if name and name not in backends:
            raise SampleError(
                "sample-of-unknown-backend",
                f"--sample {name}=1/{count}: there is no --backend {name!r}; expected one of {', '.join(backends)}",
            )
        if counts.setdefault(name, count) != count:
            whose = name or "every backend"
            raise SampleError(
                "two-samples", f"two samples for {whose}, 1/{counts[name]} and 1/{count}; use one of them"
            )
    every = {name: counts.get(name, counts.get("", 1)) for name in backends}
    return {name: count for name, count in every.items() if count > 1}


def includes(samples: Mapping[str, int], backend: str, case_id: str) -> bool:
    """Return whether a case is in the sample of a backend."""
    return in_sample(case_id, samples.get(backend, 1))


def widest(samples: Mapping[str, int], backends: Iterable[str]) -> int:
    """Return n of the sample that contains all others; 1 if a backend runs every case."""
    return min((samples.get(name, 1) for name in backends), default=1)


def from_header(header: Mapping[str, Any]) -> dict[str, int]:
    """Return n by backend, from the header of a results file."""
    samples = header["arguments"].get("samples")
    samples = samples if isinstance(samples, dict) else {}
    return {name: count for name, count in samples.items() if isinstance(count, int) and count > 1}


def in_words(count: int) -> str:
    """Return a sample in words; empty: all cases."""
    return f"1 case in {count}" if count > 1 else ""


def selected(header: Mapping[str, Any], backend: str) -> str:
    """Return the selection of a run for a backend, as command-line options; empty: everything."""
    count = from_header(header).get(backend, 1)
    words = [str(header["arguments"].get("selection", "")), f"--sample 1/{count}" if count > 1 else ""]
    return " ".join(filter(None, words))


def notes(run: Run) -> list[str]:
    """Return a warning about each sampled backend of a run, and about provisional cases."""
    of_suite = [OF_PROVISIONAL] if run.header["suite"].get("name") == PROVISIONAL else []
    return of_suite + [
        f"{name} ran a sample of {in_words(count)}; the other cases were not run."
        for name, count in from_header(run.header).items()
    ]
