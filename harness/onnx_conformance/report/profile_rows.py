# SPDX-License-Identifier: Apache-2.0
"""Rows of a report about the exclusions, overrides and bounds that the results of a backend depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from onnx_conformance.results.profile_use import ProfileUse


def rows(use: ProfileUse) -> Iterator[tuple[str, int, str]]:
    """Yield a label, the number of cases, and the reasons with their numbers, for exclusions, overrides and bounds."""
    for label, counts in (
        ("failed, but excluded", use.excluded),
        ("passed within an override", use.overridden),
        ("passed, but exceeds a bound of the profile", use.exceeded),
    ):
        if counts:
            yield label, counts.total(), _named(counts)


def sentences(use: ProfileUse) -> Iterator[str]:
    """Yield the rows as sentences, such as "passed within an override: 12 (REASON)"."""
    yield from (f"{label}: {count:,} ({reasons})" for label, count, reasons in rows(use))


def short(use: ProfileUse) -> Iterator[str]:
    """Yield the rows without reasons, such as "passed within an override: 12"."""
    yield from (f"{label}: {count:,}" for label, count, _ in rows(use))


def _named(counts: Counter[str]) -> str:
    """Return the reasons, most cases first; each with its number if there are several."""
    every = counts.most_common()
    return every[0][0] if len(every) == 1 else "; ".join(f"{count:,} {text}" for text, count in every)
