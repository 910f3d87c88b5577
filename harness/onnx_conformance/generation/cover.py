# SPDX-License-Identifier: Apache-2.0
"""A small selection of sets that contains all elements of all sets: greedy set cover."""

from __future__ import annotations

import heapq
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


def cover(sets: Sequence[frozenset[Hashable]], turns: Sequence[int]) -> list[int]:
    """Return the indices of sets that together contain all elements, in the order in which they were chosen.

    Each set adds the most new elements. Afterwards, a set goes if other chosen sets of its turn or an earlier one
    contain all its elements.

    Args:
        sets: the sets.
        turns: for each set a number. Sets with a lower number are chosen first, however many elements others would add.
    """
    left = set().union(*sets)
    heap = [(turn, -len(items), place) for place, (items, turn) in enumerate(zip(sets, turns, strict=True))]
    heapq.heapify(heap)
    chosen = []
    while left:
        turn, gain, place = heapq.heappop(heap)
        now = -len(sets[place] & left)
        if now != gain:  # It would add fewer elements than at the time of its insertion.
            heapq.heappush(heap, (turn, now, place))
        elif now:
            chosen.append(place)
            left -= sets[place]
    return _without_superfluous(sets, turns, chosen)


def _without_superfluous(sets: Sequence[frozenset[Hashable]], turns: Sequence[int], chosen: Sequence[int]) -> list[int]:
    """Return the chosen indices without those whose elements are all in sets with the same or a lower number."""
    counts: Counter[tuple[Hashable, int]] = Counter()
    numbers = sorted(set(turns))
    for place in chosen:
        counts.update((item, turn) for turn in numbers if turns[place] <= turn for item in sets[place])
    kept = []
    for place in reversed(chosen):
        if all(counts[item, turns[place]] > 1 for item in sets[place]):
            counts.subtract((item, turn) for turn in numbers if turns[place] <= turn for item in sets[place])
        else:
            kept.append(place)
    return kept[::-1]
