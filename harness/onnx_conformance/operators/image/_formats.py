# SPDX-License-Identifier: Apache-2.0
"""Image files: read and write lossless 8-bit images in PNG, BMP, TIFF and the portable formats.

An image is (height, width, channels) of uint8: gray or three colours, optionally followed by alpha.
"""

from __future__ import annotations

import math
import struct
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Array = np.ndarray[Any, Any]
BITS, HIGHEST = 8, 255
"""The number of bits of a sample, and its highest value."""
DAMAGED = (struct.error, zlib.error, KeyError, ValueError, IndexError)
"""The errors that are raised when a damaged file is read."""
PNG_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
"""The number of channels, by PNG's colour type."""
BMP_HEADER = 40
"""The size of BITMAPINFOHEADER."""
TIFF_TYPES = {3: "H", 4: "I"}
"""The types SHORT and LONG, as `struct` formats."""
IMAGE_WIDTH, IMAGE_LENGTH, BITS_PER_SAMPLE, COMPRESSION, PHOTOMETRIC = 256, 257, 258, 259, 262
STRIP_OFFSETS, SAMPLES_PER_PIXEL, ROWS_PER_STRIP, STRIP_BYTE_COUNTS, PLANAR_CONFIGURATION = 273, 277, 278, 279, 284
"""Tags of TIFF, by the names of its specification."""
MIN_IS_BLACK, RGB = 1, 2
"""TIFF's photometric interpretations."""


class UnreadableError(Exception):
    """The bytes are not an image, or an image of a variant that is not supported here."""


def _demand(condition: object) -> None:
    if not condition:
        raise UnreadableError


def _pixels(data: bytes, height: int, width: int, channels: int) -> Array:
    _demand(min(height, width) > 0)
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
    width, height, depth, kind_of_colour, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    _demand(depth == BITS and rest == [0, 0, 0])
    channels = PNG_CHANNELS[kind_of_colour]
    lines = _pixels(zlib.decompress(chunks[b"IDAT"]), height, width * channels + 1, 1).squeeze(2).astype(int)
    image = np.zeros((height + 1, width * channels + channels), int)  # With the zeros above and to the left.
    for y, (filter_, *line) in enumerate(lines, start=1):
        for x, value in enumerate(line, start=channels):
            left, up, corner = (int(image[at]) for at in ((y, x - channels), (y - 1, x), (y - 1, x - channels)))
            paeth = min((left, up, corner), key=lambda near: abs(left + up - corner - near))
            predicted = {0: 0, 1: left, 2: up, 3: (left + up) // 2, 4: paeth}[filter_]
            image[y, x] = (value + predicted) % 256
    return image[1:, channels:].reshape(height, width, channels).astype(np.uint8)


def _bmp(data: bytes) -> Array:
    """Read a bitmap of 24 bits. Its first line is at the bottom, or at the top if the height is negative."""
    start, size, width, height, _, bits, compression = struct.unpack_from("<IIiiHHI", data, 10)
    _demand((size, bits, compression) == (BMP_HEADER, 3 * BITS, 0))
    line = -(-width * 3 // 4) * 4
    lines = _pixels(data[start : start + abs(height) * line], abs(height), line, 1).squeeze(2)[:, : width * 3]
    return (lines[::-1] if height > 0 else lines).reshape(abs(height), width, 3)[:, :, ::-1]


def _pnm(data: bytes) -> Array:
    """Read a portable bitmap (P1, P4), graymap (P2, P5) or pixmap (P3, P6), in text or binary."""
    kind, numbers, place = data[:2], list[int](), 2
    while len(numbers) < (2 if kind in {b"P1", b"P4"} else 3):
        text = data[place:].lstrip(b" \t\n\r")
        digits = text[: len(text) - len(text.lstrip(b"0123456789"))]
        place = len(data) - len(text) + len(digits)
        numbers.append(int(digits))
    width, height, *highest = numbers
    _demand(highest in ([], [HIGHEST]))
    body = data[place + 1 :]
    if kind == b"P1":
        black = _pixels(bytes(int(digit) for digit in body.decode() if digit in "01"), height, width, 1)
        return HIGHEST * (1 - black)
    if kind == b"P4":
        black = np.unpackbits(_pixels(body, height, math.ceil(width / BITS), 1).squeeze(2), axis=1)[:, :width]
        return (HIGHEST * (1 - black))[:, :, None]
    values = bytes(map(int, body.split())) if kind in {b"P2", b"P3"} else body
    return _pixels(values, height, width, 3 if kind in {b"P3", b"P6"} else 1)


def _tiff(data: bytes) -> Array:
    """Read a TIFF of 8 bits without compression, with the samples of each pixel side by side."""
    order = "<" if data[:2] == b"II" else ">"
    (directory,) = struct.unpack_from(f"{order}I", data, 4)
    (entries,) = struct.unpack_from(f"{order}H", data, directory)
    tags: dict[int, list[int]] = {}
    for index in range(entries):
        entry = directory + 2 + 12 * index
        tag, type_, count = struct.unpack_from(f"{order}HHI", data, entry)
        if type_ in TIFF_TYPES:
            values = f"{order}{count}{TIFF_TYPES[type_]}"
            place = entry + 8
            if struct.calcsize(values) > struct.calcsize("<I"):
                (place,) = struct.unpack_from(f"{order}I", data, place)
            tags[tag] = list(struct.unpack_from(values, data, place))
    (channels,) = tags[SAMPLES_PER_PIXEL]
    _demand(tags[BITS_PER_SAMPLE] == [BITS] * channels)
    _demand(tags[COMPRESSION] == [1])
    _demand(tags.get(PLANAR_CONFIGURATION, [1]) == [1])
    _demand((tags[PHOTOMETRIC], channels) in (([MIN_IS_BLACK], 1), ([RGB], 3)))
    strips = zip(tags[STRIP_OFFSETS], tags[STRIP_BYTE_COUNTS], strict=True)
    body = b"".join(data[start : start + length] for start, length in strips)
    (height,), (width,) = tags[IMAGE_LENGTH], tags[IMAGE_WIDTH]
    return _pixels(body, height, width, channels)


READERS: dict[bytes, Callable[[bytes], Array]] = {
    b"\x89PNG\r\n\x1a\n": _png,
    b"BM": _bmp,
    b"II*\x00": _tiff,
    b"MM\x00*": _tiff,
    b"P1": _pnm,
    b"P2": _pnm,
    b"P3": _pnm,
    b"P4": _pnm,
    b"P5": _pnm,
    b"P6": _pnm,
}


def read(data: bytes) -> Array:
    """Return the pixels of an image file.

    Raises:
        UnreadableError: it is not an image, is damaged, or is a variant that is not supported here.
    """
    for magic, reader in READERS.items():
        if data.startswith(magic):
            try:
                return reader(data)
            except DAMAGED as error:
                raise UnreadableError from error
    raise UnreadableError


def to_png(image: Array, filter_: int = 0, *, interlaced: bool = False) -> bytes:
    """Write a PNG whose lines contain these numbers under one filter. With filter 0 the numbers are the pixels.

    `interlaced` is for images of one pixel, in which only the header shows it.
    """
    height, width, channels = image.shape
    kind_of_colour = {count: kind for kind, count in PNG_CHANNELS.items()}[channels]
    header = struct.pack(">IIBBBBB", width, height, BITS, kind_of_colour, 0, 0, int(interlaced))
    body = zlib.compress(b"".join(bytes([filter_]) + line.tobytes() for line in image))
    chunks = ((b"IHDR", header), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )


def to_bmp(image: Array, *, down: bool = False) -> bytes:
    """Write a bitmap of 24 bits. Its first line is at the bottom, or with `down` at the top."""
    height, width, _ = image.shape
    rows = image[:: 1 if down else -1, :, ::-1]
    body = b"".join(row.tobytes() + bytes(-width * 3 % 4) for row in rows)
    start = 14 + BMP_HEADER
    sizes = struct.pack("<IiiHHI", BMP_HEADER, width, -height if down else height, 1, 3 * BITS, 0)
    rest = struct.pack("<IiiII", len(body), 1, 1, 0, 0)
    return b"BM" + struct.pack("<IHHI", start + len(body), 0, 0, start) + sizes + rest + body


def to_pnm(image: Array, kind: int) -> bytes:
    """Write a portable image, P1 to P6: a bitmap, graymap or pixmap in text (1 to 3), then in binary (4 to 6)."""
    height, width, _ = image.shape
    bitmap, text = kind in {1, 4}, kind in {1, 2, 3}
    values = (image == 0).astype(np.uint8) if bitmap else image  # In a bitmap 1 is black.
    head = f"P{kind}\n{width} {height}\n" + ("" if bitmap else f"{HIGHEST}\n")
    if text:
        return head.encode() + " ".join(map(str, values.reshape(-1))).encode()
    return head.encode() + (np.packbits(values[:, :, 0], axis=1) if bitmap else values).tobytes()


def to_tiff(image: Array, order: str = "<", tags: Mapping[int, int] | None = None) -> bytes:
    """Write a TIFF in one strip, little-endian (<) or big-endian (>). `tags` are added, or replace its tags."""
    height, width, channels = image.shape
    start, short, long = 8, 3, 4
    directory = start + image.size
    values = {
        IMAGE_WIDTH: width,
        IMAGE_LENGTH: height,
        BITS_PER_SAMPLE: BITS,
        COMPRESSION: 1,
        PHOTOMETRIC: MIN_IS_BLACK if channels == 1 else RGB,
        STRIP_OFFSETS: start,
        SAMPLES_PER_PIXEL: channels,
        ROWS_PER_STRIP: height,
        STRIP_BYTE_COUNTS: image.size,
        **(tags or {}),
    }
    entries = {tag: (long, 1, value) for tag, value in sorted(values.items())}
    if channels > 1:  # Several numbers of bits are stored after the directory.
        entries[BITS_PER_SAMPLE] = (short, channels, directory + 2 + 12 * len(entries) + 4)
    head = (b"II*\x00" if order == "<" else b"MM\x00*") + struct.pack(f"{order}I", directory)
    count = struct.pack(f"{order}H", len(entries))
    listed = b"".join(struct.pack(f"{order}HHII", tag, *entry) for tag, entry in entries.items())
    return head + image.tobytes() + count + listed + bytes(4) + struct.pack(f"{order}{channels}H", *[BITS] * channels)
