# SPDX-License-Identifier: Apache-2.0
"""Changes that a hostile or careless writer makes to bytes and to JSON, drawn from a seeded random.Random.

A test feeds them to what reads a file or a message, and holds what comes of it: a value or the reader's own error. The
same seed gives the same changes on every machine. ONNX_CONFORMANCE_ROUNDS is how many are tried; without it, seconds'
worth: `ONNX_CONFORMANCE_ROUNDS=200000 pytest -k mutated`, or `nox -s fuzz`.

    rng = random.Random(seed)
    line = mutation.text(mutation.changed_json(rng, {"kind": "hello"}))
    data = mutation.changed_bytes(rng, line)
"""

from __future__ import annotations

import copy
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

VARIABLE = "ONNX_CONFORMANCE_ROUNDS"
MOST_CHANGES = 3
"""Changes of one value at once: more, and hardly anything gets past the first check."""
MOST_TEXT = 1 << 20
"""Characters that a change makes of a part of JSON: sizes have tests of their own."""


@dataclass(frozen=True)
class Literal:
    """Text that is written into JSON unchanged, such as a number that Python would not write."""

    text: str


@dataclass(frozen=True)
class Members:
    """An object whose keys may occur twice, in this order."""

    pairs: tuple[tuple[str, Any], ...]


NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, 2**32, 2**53 + 1, 2**62, 2**63 - 1, 2**63, -(2**63), 2**64, 10**400,
    10**4000, Literal("1" + "0" * 5000), Literal("9" * 100_000), Literal("-" + "9" * 5000), 0.5, -0.0, 1e308,
    Literal("1e400"), Literal("-1e-400"), Literal("NaN"), Literal("Infinity"), Literal("-Infinity"),
)  # fmt: skip
"""Integers around the widths of machines, beyond what int() takes, and what JSON lacks but Python reads."""

TEXTS: tuple[Any, ...] = (
    "", "0", "1e9", "\0", "\x1b[2J\x1b[31mred", "a\r\n::error::b", "\u202egnp", "\ud800", "\udcff", "\ufeff",
    "\U0001f600", "x" * 100_000, "../../etc/passwd", "__proto__", "kind", Literal('"\\ud800\\u0000"'), Literal('"open'),
)  # fmt: skip
"""Texts that a terminal, a log, a path or a decoder could stumble over."""

VALUES: tuple[Any, ...] = (*NUMBERS, *TEXTS, None, True, False, [], {}, [[]], [{}], {"": None}, Literal(""), [None] * 9)


def rounds(few: int) -> int:
    """Return how many changes to try: what the environment asks for, or `few`."""
    return int(os.environ.get(VARIABLE, few))


# JSON


def text(value: Any) -> bytes:
    """Return a value as JSON, with whatever JSON does not allow that was put into it."""
    return "".join(_pieces(value)).encode("utf-8", "surrogatepass")


def _pieces(value: Any) -> Iterator[str]:
    if isinstance(value, Literal):
        yield value.text
    elif isinstance(value, Members | dict):
        pairs = value.pairs if isinstance(value, Members) else value.items()
        for index, (key, inner) in enumerate(pairs):
            yield ("," if index else "{") + json.dumps(key) + ":"
            yield from _pieces(inner)
        yield "}" if pairs else "{}"
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield "," if index else "["
            yield from _pieces(inner)
        yield "]" if value else "[]"
    else:
        yield json.dumps(value)


def changed_json(rng: random.Random, value: Any) -> Any:
    """Return a copy of what json.loads() gave with some of its parts replaced, dropped, doubled or nested."""
    root = [copy.deepcopy(value)]
    for _ in range(rng.randint(1, MOST_CHANGES)):
        holder, key = rng.choice(list(_places(root)))
        rng.choice(JSON_CHANGES)(rng, holder, key)
    return root[0] if root else None


def _places(holder: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every part of a value as the list or dict that holds it, and its index or key there."""
    for key in range(len(holder)) if isinstance(holder, list) else list(holder):
        yield holder, key
        if isinstance(holder[key], list | dict):
            yield from _places(holder[key])


def _replaced(rng: random.Random, holder: Any, key: Any) -> None:
    holder[key] = copy.deepcopy(rng.choice(VALUES))


def _next_number(rng: random.Random, holder: Any, key: Any) -> None:
    number = holder[key]
    if isinstance(number, int | float):
        holder[key] = rng.choice((number + 1, number - 1, -number, number * 2, number * 1000, str(number)))
    else:
        holder[key] = rng.choice(NUMBERS)


def _dropped(_rng: random.Random, holder: Any, key: Any) -> None:
    del holder[key]
    if isinstance(holder, list) and not holder:
        holder.append(None)


def _doubled(rng: random.Random, holder: Any, key: Any) -> None:
    """Let a key stand twice with other values, or the items of a list many times."""
    inner = holder[key]
    if isinstance(inner, dict) and inner:
        name = rng.choice(list(inner))
        holder[key] = Members((*inner.items(), (name, rng.choice(VALUES))))
    elif isinstance(inner, list) and inner:
        size = sum(map(len, _pieces(inner)))
        holder[key] = inner * rng.choice([times for times in (2, 10, 1000) if times * size < MOST_TEXT] or [1])


def _nested(rng: random.Random, holder: Any, key: Any) -> None:
    """Put a part into many lists or objects; beyond a thousand, json.loads() itself gives up."""
    depth = rng.choice((1, 31, 32, 33, 100, 100_000))
    opens, closes = rng.choice((("[", "]"), ('{"kind":"sequence","items":[', "]}"), ('{"item":', "}")))
    inner = "".join(_pieces(holder[key])) if rng.random() < 0.5 else "1"
    holder[key] = Literal(opens * depth + inner + closes * depth)


def _swapped(rng: random.Random, holder: Any, key: Any) -> None:
    other = rng.choice(list(range(len(holder)) if isinstance(holder, list) else holder))
    holder[key], holder[other] = holder[other], holder[key]


JSON_CHANGES: tuple[Callable[[random.Random, Any, Any], None], ...] = (
    _replaced, _replaced, _next_number, _next_number, _dropped, _doubled, _nested, _swapped,
)  # fmt: skip


# Bytes


def changed_bytes(rng: random.Random, data: bytes) -> bytes:
    """Return bytes of which some were flipped, cut off, dropped, doubled, swapped or put between."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, MOST_CHANGES)):
        begin = rng.randrange(len(changed) + 1)
        end = min(len(changed), begin + rng.choice((1, 1, 2, 8, 64)))
        rng.choice(BYTE_CHANGES)(rng, changed, begin, end)
    return bytes(changed)


def _bit_flipped(rng: random.Random, data: bytearray, begin: int, end: int) -> None:
    if begin < end:
        data[begin] ^= 1 << rng.randrange(8)


def _byte_set(rng: random.Random, data: bytearray, begin: int, end: int) -> None:
    data[begin:end] = bytes(rng.choice(b'\x00\n\r"{}[],:09-\x7f\x80\xff') for _ in range(begin, end))


def _bytes_dropped(_rng: random.Random, data: bytearray, begin: int, end: int) -> None:
    del data[begin:end]


def _bytes_repeated(rng: random.Random, data: bytearray, begin: int, end: int) -> None:
    data[begin:begin] = data[begin:end] * rng.choice((1, 3, 1000))


def _bytes_put_between(rng: random.Random, data: bytearray, begin: int, _end: int) -> None:
    data[begin:begin] = rng.randbytes(rng.choice((1, 4, 64)))


def _cut_off(_rng: random.Random, data: bytearray, begin: int, _end: int) -> None:
    del data[begin:]


BYTE_CHANGES: tuple[Callable[[random.Random, bytearray, int, int], None], ...] = (
    _bit_flipped, _bit_flipped, _byte_set, _bytes_dropped, _bytes_repeated, _bytes_put_between, _cut_off,
)  # fmt: skip
