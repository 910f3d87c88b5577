# SPDX-License-Identifier: Apache-2.0
"""The names of dimensions in the texts, such as batch_size in "(batch_size, sequence_length, hidden_size)".

Dimensions of one name have one size. So a model whose sizes are not known must use one symbol for them: a runtime may
reject a product of a matrix of M x K elements with one of L x N elements.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_BRACKETS = re.compile(r"\(([^()\[\]]*)\)|\[([^()\[\]]*)\]")
_ONE = re.compile(
    r"\bshape (?:is )?`?[(\[]([A-Za-z]\w*),?[)\]]"
    r"|\b(?:size of|of length) (\w*[A-Z_]\w*)(?=[\s.,]|$)"
)
"""The name of the only dimension of a vector: "of shape (num_rois,)", "has size of M"."""
_SEPARATOR = re.compile(r"\s*,\s*|\s+x\s+")
_ANY = re.compile(r"(?:\s+x)?\s*\.\.\.(?:\s+x\s)?|\*(?=,)")
"""Stands for any number of dimensions: (N, C, D1, ..., Dn), [*, M, M]."""
_ITEM = re.compile(r"[\w{}]+(?:\s*[-+*/]\s*[\w{}]+)*")
_NAME = re.compile(r"([A-Za-z]\w*)(?:/group)?")
"""A dimension of C/group elements has C elements if there is one group; whoever uses the name compares the sizes."""


class _Written(NamedTuple):
    """A shape in a text: the names of its first dimensions, and of its last ones if any number may be in between."""

    first: tuple[str, ...]
    last: tuple[str, ...] | None

    def names(self, rank: int) -> tuple[str, ...] | None:
        """Return a name or an empty text for each dimension of a tensor of this rank; None if it has another rank."""
        if self.last is None:
            return self.first if len(self.first) == rank else None
        start = self.first[:rank]
        end = self.last[-(rank - len(start)) :] if rank > len(start) else ()
        return (*start, *[""] * (rank - len(start) - len(end)), *end)


@functools.cache
def names(description: str, rank: int) -> tuple[str, ...]:
    """Return the name of each dimension of a tensor, or an empty text if the description does not name it.

    Args:
        description: the description of an input or output in the text.
        rank: the rank of the tensor. The first shape of this rank in the description is used.
    """
    written = [*_written(description)]
    exact = [item for item in written if item.last is None]
    found = (item.names(rank) for item in (*exact, *(item for item in written if item.last is not None)))
    return next((item for item in found if item is not None), ("",) * rank)


def _written(description: str) -> Iterator[_Written]:
    for match in _BRACKETS.finditer(description):
        text = _ANY.sub(",...,", next(item for item in match.groups() if item is not None))
        items = [item.strip(" `") for item in _SEPARATOR.split(text)]
        items = [item for item in items if item]
        if len(items) < 2 or not all(item == "..." or _ITEM.fullmatch(item) for item in items):  # noqa: PLR2004
            continue
        places = [place for place, item in enumerate(items) if item == "..."]
        labels = tuple(found[1] if (found := _NAME.fullmatch(item)) else "" for item in items)
        if places:
            yield _Written(labels[: places[0]], labels[places[-1] + 1 :])
        else:
            yield _Written(labels, None)
    if found := _ONE.search(description):
        yield _Written((found[1] or found[2],), None)
