# SPDX-License-Identifier: Apache-2.0
"""ImageDecoder: decode an image file to its pixels.

    image = ImageDecoder(encoded_stream, pixel_format="RGB")

Versions: 20.

The oracle reads lossless images of 8 bits in BMP, PNG, TIFF and the portable formats, by their specifications. JPEG,
JPEG2000 and WebP are left open: the text defines the rounding of only one of their steps.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Op, Tag, Typed, Version, ramp, typed, vary
from onnx_conformance.operators.image._formats import (
    BITS_PER_SAMPLE,
    COMPRESSION,
    PHOTOMETRIC,
    PLANAR_CONFIGURATION,
    UnreadableError,
    read,
    to_bmp,
    to_png,
    to_pnm,
    to_tiff,
)

DECODER = Op("ImageDecoder", versions=(20,), compare=EXACT, rank=lambda _: 3)

EMPTY = DECODER.clause(
    "If it can't decode for any reason (e.g. corrupted encoded stream, invalid format, it will return an empty "
    "matrix).",
    note="The text does not define its shape.",
)
FORMATS = DECODER.clause(
    "The following image formats are supported:",
    note="JPEG, JPEG2000 and WebP are left open, because no sentence limits their loss or their rounding. The official "
    "cases of JPEG and WebP expect the output of Pillow. The official case of JPEG2000 is lossless and correctly "
    "expects the pixels of the official PNG, but this oracle has no decoder for it.",
    against=("test_image_decoder_decode_jpeg*", "test_image_decoder_decode_webp_rgb"),
)
LOSSLESS = DECODER.clause("JPEG (note: Lossless JPEG support is optional)")
TURBO = DECODER.clause("is the default chroma upsampling method in the well-established libjpeg-turbo library")
LAYOUT = DECODER.clause("Decoded images follow a channel-last layout: (Height, Width, Channels).")
UPSAMPLING = DECODER.clause(
    "When upsampling the chroma components by a factor of 2, the pixels are linearly interpolated",
    note="This is the only sentence on JPEG decoding. The transform before it may round in any way.",
)
PIXEL_FORMAT = DECODER.clause(
    'Can be one of "RGB", "BGR", or "Grayscale".',
    note="The text does not define how colours become gray, or the result for pixels that are not opaque.",
)
STREAM = DECODER.clause("Encoded stream", note="The text does not define a stream that is not a vector.")
DECODED = DECODER.clause("Decoded image")
INPUT_TYPE = DECODER.clause("Constrain input types to 8-bit unsigned integer tensor.")

JPEG, JPEG2000, WEBP = b"\xff\xd8", b"\x00\x00\x00\x0cjP  ", b"RIFF"
"""The first bytes of the formats that may be lossy."""
OPAQUE = 255
"""The highest alpha."""


@DECODER.oracle()
def decoded(v: Version, encoded_stream: Array, pixel_format: str) -> Array:
    """Return the pixels, (height, width, channels), with the channels of pixel_format."""
    v.require(PIXEL_FORMAT, pixel_format in {"RGB", "BGR", "Grayscale"})
    v.silent(STREAM, encoded_stream.ndim != 1)
    data = encoded_stream.tobytes()
    v.silent(FORMATS, data.startswith((JPEG, JPEG2000, WEBP)))
    try:
        image = read(data)
    except UnreadableError:
        v.silent(EMPTY)
    colours, alpha = (image[:, :, :-1], image[:, :, -1:]) if image.shape[2] in {2, 4} else (image, None)
    v.silent(PIXEL_FORMAT, alpha is not None and bool((alpha < OPAQUE).any()))
    v.silent(PIXEL_FORMAT, pixel_format == "Grayscale" and colours.shape[2] != 1)
    if pixel_format == "Grayscale":
        return colours
    return np.broadcast_to(colours, (*colours.shape[:2], 3))[:, :, :: -1 if pixel_format == "BGR" else 1]


case = DECODER.case

COLOURS = (np.arange(2 * 3 * 3) * 83 % 251).astype(np.uint8).reshape(2, 3, 3)
GRAY = COLOURS[:, :, :1]
LARGE = (np.arange(5 * 7 * 3) * 59 % 256).astype(np.uint8).reshape(5, 7, 3)
BITS = np.where(LARGE[:, :, :1] % 2, 255, 0).astype(np.uint8)
WITH_ALPHA = np.concatenate([COLOURS, np.full((2, 3, 1), OPAQUE, np.uint8)], 2)
TRANSLUCENT = WITH_ALPHA.copy()
TRANSLUCENT[0, 1, 3] = 7


def stream(data: bytes) -> Typed:
    """Return the bytes of a file as the input."""
    return typed("uint8", np.frombuffer(data, np.uint8))


COLOURED = {
    "png": to_png(COLOURS),
    "png_filter_0": to_png(LARGE, 0),
    "png_filter_1": to_png(LARGE, 1),
    "png_filter_2": to_png(LARGE, 2),
    "png_filter_3": to_png(LARGE, 3),
    "png_filter_4": to_png(LARGE, 4),
    "png_opaque": to_png(WITH_ALPHA),
    "png_pixel": to_png(COLOURS[:1, 1:2]),
    "png_row": to_png(LARGE[1:2]),
    "bmp": to_bmp(COLOURS),
    "bmp_large": to_bmp(LARGE),
    "bmp_down": to_bmp(LARGE, down=True),
    "bmp_pixel": to_bmp(COLOURS[:1, 1:2]),
    "bmp_four_wide": to_bmp(LARGE[:3, :4]),
    "tiff": to_tiff(COLOURS),
    "tiff_big_endian": to_tiff(LARGE, ">"),
    "pnm_3": to_pnm(LARGE, 3),
    "pnm_6": to_pnm(LARGE, 6),
}
COLOURLESS = {
    "png_gray": to_png(GRAY),
    "png_gray_opaque": to_png(WITH_ALPHA[:, :, 2:]),
    "tiff_gray": to_tiff(GRAY),
    "pnm_1": to_pnm(BITS, 1),
    "pnm_2": to_pnm(GRAY, 2),
    "pnm_4": to_pnm(BITS, 4),
    "pnm_4_of_two_bytes": to_pnm(BITS.repeat(2, axis=1), 4),
    "pnm_5": to_pnm(GRAY, 5),
}
PNG = stream(COLOURED["png"])
DECODER.example(encoded_stream=PNG, pixel_format="BGR")

for name, data in (COLOURED | COLOURLESS).items():
    case(f"{name}_default", encoded_stream=stream(data), cites=(FORMATS, DECODED, STREAM))
    case(f"{name}_rgb", encoded_stream=stream(data), pixel_format="RGB", cites=(PIXEL_FORMAT, LAYOUT))
    case(f"{name}_bgr", encoded_stream=stream(data), pixel_format="BGR", cites=(PIXEL_FORMAT, LAYOUT))
for name, data in COLOURLESS.items():
    case(f"{name}_gray", encoded_stream=stream(data), pixel_format="Grayscale", cites=LAYOUT)
for name, data in COLOURED.items():
    case(f"{name}_gray", encoded_stream=stream(data), pixel_format="Grayscale", unspecified=PIXEL_FORMAT)
case("png_clear", Tag.EDGE, encoded_stream=stream(to_png(TRANSLUCENT)), unspecified=PIXEL_FORMAT)

WHOLE = COLOURED["png"]
BROKEN = vary(
    empty=stream(b""),
    text=stream(b"no image"),
    png_cut=stream(WHOLE[:-20]),
    png_head=stream(WHOLE[:8]),
    png_without_end=stream(WHOLE[:-12]),
    png_wrong_check=stream(WHOLE[:-1] + bytes([WHOLE[-1] ^ 1])),
    png_damaged=stream(WHOLE[:45] + b"\xff\xff" + WHOLE[47:]),
    bmp_cut=stream(COLOURED["bmp"][:60]),
    tiff_cut=stream(COLOURED["tiff"][:12]),
    pnm_without_columns=stream(b"P5\n0 2\n255\n"),
    pnm_cut=stream(COLOURED["pnm_6"][:20]),
)
case("broken", Tag.EDGE, encoded_stream=BROKEN, unspecified=EMPTY)
VARIANTS = vary(
    png_interlaced=stream(to_png(COLOURS[:1, 1:2], interlaced=True)),
    bmp_compressed=stream(COLOURED["bmp"][:30] + b"\x01" + COLOURED["bmp"][31:]),
    pnm_to_127=stream(b"P5\n1 1\n127\n\x05"),
    tiff_compressed=stream(to_tiff(GRAY, tags={COMPRESSION: 5})),
    tiff_planar=stream(to_tiff(GRAY, tags={PLANAR_CONFIGURATION: 2})),
    tiff_white_is_zero=stream(to_tiff(GRAY, tags={PHOTOMETRIC: 0})),
    tiff_of_4_bits=stream(to_tiff(GRAY, tags={BITS_PER_SAMPLE: 4})),
)
case("not_read", Tag.EDGE, encoded_stream=VARIANTS, unspecified=EMPTY)
for name, magic in {"jpeg": JPEG, "jpeg2000": JPEG2000, "webp": WEBP}.items():
    head = stream(magic + bytes(8))
    case(f"{name}_head", Tag.EDGE, encoded_stream=head, cites=(LOSSLESS, UPSAMPLING, TURBO), unspecified=FORMATS)
case("matrix", Tag.EDGE, encoded_stream=ramp(3, 4), unspecified=STREAM)
UNKNOWN = vary(small="rgb", alpha="RGBA", empty="", gray="GRAY")
case("format", encoded_stream=PNG, pixel_format=UNKNOWN, rejects=PIXEL_FORMAT)

# Forbidden by sentences of the text, not only by the signature.
case("outside", Tag.DTYPE, outside="T1", encoded_stream=ramp(8), rejects=INPUT_TYPE)
