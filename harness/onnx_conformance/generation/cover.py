"""A small selection of sets that contains all elements of all sets: greedy set cover."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


def cover(sets: Sequence[frozenset[Hashable]], turns: Sequence[int]) -> list[int]:
    """Return the indices of sets that together contain all elements. Each set adds the most new elements.

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
    return chosen
