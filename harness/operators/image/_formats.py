"""Image files: what the formats that lose nothing keep in 8 bits, read and written by their own specifications."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]


class UnreadableError(Exception):
    """The bytes are no image, or one of a variant that is not read here."""


def _demand(holds: object) -> None:
    if not holds:
        raise UnreadableError


def _pixels(data: bytes, height: int, width: int, channels: int) -> Array:
    _demand(min(height, width) > 0 and len(data) == height * width * channels)
    return np.frombuffer(data, np.uint8).reshape(height, width, channels)


def _png(data: bytes) -> Array:
    """Read a PNG of 8 bits without interlacing: gray or colours, with or without alpha."""
    place, chunks = 8, dict[bytes, bytes]()
    while place < len(data):
        (length,) = struct.unpack_from(">I", data, place)
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        (check,) = struct.unpack_from(">I", data, place + 8 + length)
        _demand(zlib.crc32(kind + body) == check)
        chunks[kind] = chunks.get(kind, b"") + body
        place += 12 + length
    _demand({b"IHDR", b"IDAT", b"IEND"} == {*chunks})
    width, height, depth, colours, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    _demand(depth == 8 and colours in {0, 2, 4, 6} and rest == [0, 0, 0])  # noqa: PLR2004 - bits of a sample
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colours]
    lines = _pixels(zlib.decompress(chunks[b"IDAT"]), height, width * channels + 1, 1)[:, :, 0].astype(int)
    image = np.zeros((height + 1, width * channels + channels), int)  # With the zeros above and to the left.
    for y, (kind_, *line) in enumerate(lines, start=1):
        _demand(kind_ <= 4)  # noqa: PLR2004 - none, sub, up, average, Paeth
        for x, value in enumerate(line, start=channels):
            left, up, corner = (int(image[at]) for at in ((y, x - channels), (y - 1, x), (y - 1, x - channels)))
            paeth = min((left, up, corner), key=lambda near: abs(left + up - corner - near))
            image[y, x] = (value + (0, left, up, (left + up) // 2, paeth)[kind_]) % 256
    return image[1:, channels:].reshape(height, width, channels).astype(np.uint8)


def _bmp(data: bytes) -> Array:
    """Read a bitmap of 24 bits; its lines begin at the bottom, if the height is not negative."""
    start, size, width, height, _, bits, compression = struct.unpack_from("<IIiiHHI", data, 10)
    _demand(size == 40 and bits == 24 and compression == 0 and width > 0)  # noqa: PLR2004 - as it says
    line = -(-width * 3 // 4) * 4
    lines = _pixels(data[start : start + abs(height) * line], abs(height), line, 1)[:, : width * 3, 0]
    return (lines[::-1] if height > 0 else lines).reshape(abs(height), width, 3)[:, :, ::-1]


def _pnm(data: bytes) -> Array:
    """Read a portable bitmap, graymap or pixmap, in text or binary."""
    kind, words, place = data[1] - ord("0"), list[int](), 2
    wanted = 2 if kind in {1, 4} else 3
    while len(words) < wanted:
        text = data[place:].lstrip(b" \t\n\r")
        digits = text[: len(text) - len(text.lstrip(b"0123456789"))]
        _demand(digits)
        place = len(data) - len(text) + len(digits)
        words.append(int(digits))
    width, height, channels = words[0], words[1], 3 if kind in {3, 6} else 1
    body = data[place + 1 :]
    if kind == 1:
        return 255 * (1 - _pixels(bytes(int(digit) for digit in body.decode() if digit in "01"), height, width, 1))
    if kind == 4:  # noqa: PLR2004 - P4
        bits = np.unpackbits(_pixels(body, height, -(-width // 8), 1)[:, :, 0], axis=1)[:, :width]
        return (255 * (1 - bits))[:, :, None]
    _demand(words[2] == 255)  # noqa: PLR2004 - the highest value of 8 bits
    return _pixels(bytes(map(int, body.split())) if kind in {2, 3} else body, height, width, channels)


def _tiff(data: bytes) -> Array:
    """Read a TIFF without compression, of 8 bits, its samples side by side."""
    order = "<" if data[:2] == b"II" else ">"
    (at,) = struct.unpack_from(f"{order}I", data, 4)
    (entries,) = struct.unpack_from(f"{order}H", data, at)
    tags: dict[int, list[int]] = {}
    for entry in range(at + 2, at + 2 + 12 * entries, 12):
        tag, kind, count = struct.unpack_from(f"{order}HHI", data, entry)
        code, size = {3: ("H", 2), 4: ("I", 4)}.get(kind, ("", 0))
        if code:
            where = entry + 8 if count * size <= 4 else struct.unpack_from(f"{order}I", data, entry + 8)[0]  # noqa: PLR2004
            tags[tag] = list(struct.unpack_from(f"{order}{count}{code}", data, where))
    channels = tags.get(277, [1])[0]
    _demand(tags[258] == [8] * channels and tags.get(259, [1]) == [1] and tags.get(284, [1]) == [1])
    _demand((tags[262], channels) in (([1], 1), ([2], 3)))
    strips = zip(tags[273], tags[279], strict=True)
    return _pixels(
        b"".join(data[start : start + length] for start, length in strips), tags[257][0], tags[256][0], channels
    )


READERS: dict[bytes, Callable[[bytes], Array]] = {
    b"\x89PNG\r\n\x1a\n": _png,
    b"BM": _bmp,
    b"II*\x00": _tiff,
    b"MM\x00*": _tiff,
}
READERS |= {f"P{kind}".encode(): _pnm for kind in range(1, 7)}


def read(data: bytes) -> Array:
    """Return the pixels of an image file, (height, width, channels): gray or colours, and alpha behind them.

    Raises:
        UnreadableError: it is none, is damaged, or is of a variant that is not read here.
    """
    try:
        for magic, reader in READERS.items():
            if data.startswith(magic):
                return reader(data)
    except (struct.error, zlib.error, KeyError, ValueError, IndexError) as error:
        raise UnreadableError from error
    raise UnreadableError


def to_png(image: Array, kind: int = 0) -> bytes:
    """Write a PNG whose lines hold these numbers under one filter: only without (0) are they the pixels."""
    height, width, channels = image.shape
    header = struct.pack(">IIBBBBB", width, height, 8, {1: 0, 3: 2, 2: 4, 4: 6}[channels], 0, 0, 0)
    body = zlib.compress(b"".join(bytes([kind]) + line.tobytes() for line in image))
    chunks = ((b"IHDR", header), (b"IDAT", body), (b"IEND", b""))
    made = (
        struct.pack(">I", len(held)) + name + held + struct.pack(">I", zlib.crc32(name + held)) for name, held in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(made)


def to_bmp(image: Array, *, down: bool = False) -> bytes:
    """Write a bitmap of 24 bits, its first line at the bottom or, with `down`, at the top."""
    height, width, _ = image.shape
    rows = image[:: 1 if down else -1, :, ::-1]
    body = b"".join(row.tobytes() + bytes(-width * 3 % 4) for row in rows)
    header = struct.pack("<IIiiHHIIiiII", 54, 40, width, -height if down else height, 1, 24, 0, len(body), 1, 1, 0, 0)
    return b"BM" + struct.pack("<IHH", 54 + len(body), 0, 0) + header + body


def to_tiff(image: Array, order: str = "<") -> bytes:
    """Write a TIFF in one strip, its numbers little (<) or big (>) end first."""
    height, width, channels = image.shape
    tags = [
        (256, width),
        (257, height),
        (258, 8),
        (259, 1),
        (262, 1 if channels == 1 else 2),
        (273, 8),
        (277, channels),
    ]
    tags += [(278, height), (279, image.size)]
    end = 8 + image.size + 2 + 12 * len(tags) + 4
    entries = b"".join(
        struct.pack(f"{order}HHII", tag, 4, 1, value) if tag != 258 or channels == 1  # noqa: PLR2004 - bits of a sample
        else struct.pack(f"{order}HHII", tag, 3, channels, end) for tag, value in tags
    )  # fmt: skip
    head = (b"II*\x00" if order == "<" else b"MM\x00*") + struct.pack(f"{order}I", 8 + image.size)
    bits = struct.pack(f"{order}{channels}H", *[8] * channels)
    return head + image.tobytes() + struct.pack(f"{order}H", len(tags)) + entries + bytes(4) + bits
