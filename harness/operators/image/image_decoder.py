"""ImageDecoder: the pixels of an image file.

Versions: 20. The oracle reads what BMP, PNG, TIFF and portable images keep without loss in 8 bits, by their own
specifications; how JPEG, JPEG2000 and WebP are to be rounded, the text says of one step alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.declare import EXACT, Array, Op, Rule, Tag, Version, ramp, typed
from harness.operators.image._formats import UnreadableError, read, to_bmp, to_png, to_tiff

DECODER = Op("ImageDecoder", versions=(20,), compare=EXACT, rank=lambda _: 3)

said = DECODER.clause
EMPTY = said(
    "If it can't decode for any reason (e.g. corrupted encoded stream, invalid format, it will return an empty "
    "matrix).",
    note="Does not say of which shape.",
)
FORMATS = said(
    "The following image formats are supported:",
    note="JPEG, JPEG2000 and WebP are left open: what they lose, and how the rest is rounded, no sentence bounds. The "
    "official cases of JPEG and WebP expect what Pillow made of them. The one of JPEG2000 has lost nothing and expects "
    "the pixels of the official PNG, rightly: this oracle has no decoder for it.",
    against=("test_image_decoder_decode_jpeg*", "test_image_decoder_decode_webp_rgb"),
)
LOSSLESS = said("JPEG (note: Lossless JPEG support is optional)")
TURBO = said("is the default chroma upsampling method in the well-established libjpeg-turbo library")
LAYOUT = said("Decoded images follow a channel-last layout: (Height, Width, Channels).")
UPSAMPLING = said(
    "When upsampling the chroma components by a factor of 2, the pixels are linearly interpolated",
    note="Of JPEG only this is said: the transform behind it may round as it likes.",
)
PIXEL_FORMAT = said(
    'Can be one of "RGB", "BGR", or "Grayscale".',
    note="Does not say how colours become gray, nor what becomes of what is not opaque.",
)
STREAM = said("Encoded stream", note="Says nothing of a stream that is no vector.")
DECODED = said("Decoded image")
INPUT_TYPE = said("Constrain input types to 8-bit unsigned integer tensor.")


LOSSY = (b"\xff\xd8", b"\x00\x00\x00\x0cjP  ", b"RIFF")
"""How files of JPEG, JPEG2000 and WebP begin."""


@DECODER.oracle()
def decoded(v: Version, encoded_stream: Array, pixel_format: str) -> Array:
    """Return height, width and channels of the image, in the order asked for."""
    v.require(PIXEL_FORMAT, pixel_format in {"RGB", "BGR", "Grayscale"})
    v.silent(STREAM, encoded_stream.ndim != 1)
    data = encoded_stream.tobytes()
    v.silent(FORMATS, data.startswith(LOSSY))
    try:
        image = read(data)
    except UnreadableError:
        v.silent(EMPTY)
    colours, alpha = (image[:, :, :-1], image[:, :, -1:]) if image.shape[2] in {2, 4} else (image, None)
    v.silent(PIXEL_FORMAT, alpha is not None and bool((alpha < 255).any()))  # noqa: PLR2004 - opaque
    v.silent(PIXEL_FORMAT, pixel_format == "Grayscale" and colours.shape[2] > 1)
    if pixel_format == "Grayscale":
        return colours
    return np.broadcast_to(colours, (*colours.shape[:2], 3))[:, :, :: -1 if pixel_format == "BGR" else 1]


case = DECODER.case

COLOURS = (np.arange(2 * 3 * 3) * 83 % 251).astype(np.uint8).reshape(2, 3, 3)
GRAY = COLOURS[:, :, :1]
LARGE = (np.arange(5 * 7 * 3) * 59 % 256).astype(np.uint8).reshape(5, 7, 3)
OPAQUE = np.concatenate([COLOURS, np.full((2, 3, 1), 255, np.uint8)], 2)


def _stream(data: bytes) -> Any:  # noqa: ANN401 - see typed
    return typed("uint8", np.frombuffer(data, np.uint8))


def _pnm(kind: int, image: Array) -> bytes:
    """Return a portable image; as text where its kind says so."""
    height, width, _ = image.shape
    head = f"P{kind}\n{width} {height}\n".encode() + (b"" if kind in {1, 4} else b"255\n")
    if kind == 4:  # noqa: PLR2004 - P4, in which 1 is black
        return head + np.packbits(image[:, :, 0] == 0, axis=1).tobytes()
    values = (image == 0).astype(int) if kind == 1 else image
    return head + (image.tobytes() if kind > 3 else " ".join(map(str, values.reshape(-1))).encode())  # noqa: PLR2004


BITS = np.where(LARGE[:, :, :1] % 2, 255, 0).astype(np.uint8)
FILES: dict[str, bytes] = {f"png_filter_{kind}": to_png(LARGE, kind) for kind in range(5)}
FILES |= {"png": to_png(COLOURS), "png_gray": to_png(GRAY), "png_opaque": to_png(OPAQUE)}
FILES |= {
    "png_gray_opaque": to_png(OPAQUE[:, :, 2:]),
    "png_pixel": to_png(COLOURS[:1, 1:2]),
    "png_row": to_png(LARGE[1:2]),
}
FILES |= {"bmp": to_bmp(COLOURS), "bmp_large": to_bmp(LARGE), "bmp_down": to_bmp(LARGE, down=True)}
FILES |= {"bmp_pixel": to_bmp(COLOURS[:1, 1:2]), "bmp_four_wide": to_bmp(LARGE[:3, :4])}
FILES |= {"tiff": to_tiff(COLOURS), "tiff_big_endian": to_tiff(LARGE, ">"), "tiff_gray": to_tiff(GRAY)}
FILES |= {
    f"pnm_{kind}": _pnm(kind, BITS if kind in {1, 4} else GRAY if kind in {2, 5} else LARGE) for kind in range(1, 7)
}
COLOURLESS = {"png_gray", "png_gray_opaque", "tiff_gray", "pnm_1", "pnm_2", "pnm_4", "pnm_5"}
for name, data in FILES.items():
    case(f"{name}_default", encoded_stream=_stream(data), cites=(FORMATS, DECODED, STREAM))
    case(f"{name}_rgb", encoded_stream=_stream(data), pixel_format="RGB", cites=(PIXEL_FORMAT, LAYOUT))
    case(f"{name}_bgr", encoded_stream=_stream(data), pixel_format="BGR", cites=(PIXEL_FORMAT, LAYOUT))
    open_: dict[str, Any] = {"cites": (LAYOUT,)} if name in COLOURLESS else {"unspecified": PIXEL_FORMAT}
    case(f"{name}_gray", encoded_stream=_stream(data), pixel_format="Grayscale", **open_)
clear = OPAQUE.copy()
clear[0, 1, 3] = 7
case("png_clear", Tag.EDGE, encoded_stream=_stream(to_png(clear)), unspecified=PIXEL_FORMAT)
WHOLE = FILES["png"]
BROKEN = {
    "empty": b"",
    "text": b"no image",
    "png_cut": WHOLE[:-20],
    "png_head": WHOLE[:8],
    "bmp_cut": FILES["bmp"][:60],
}
BROKEN |= {
    "png_damaged": WHOLE[:45] + b"\xff\xff" + WHOLE[47:],
    "tiff_cut": FILES["tiff"][:12],
    "pnm_cut": FILES["pnm_6"][:20],
}
for name, data in BROKEN.items():
    case(f"broken_{name}", Tag.EDGE, encoded_stream=_stream(data), unspecified=EMPTY)
for name, magic in zip(("jpeg", "jpeg2000", "webp"), LOSSY, strict=True):
    head = _stream(magic + bytes(8))
    case(f"{name}_head", Tag.EDGE, encoded_stream=head, cites=(LOSSLESS, UPSAMPLING, TURBO), unspecified=FORMATS)
case("matrix", Tag.EDGE, encoded_stream=ramp(3, 4), unspecified=STREAM)
for name, unknown in {"small": "rgb", "alpha": "RGBA", "empty": "", "gray": "GRAY"}.items():
    case(f"format_{name}", encoded_stream=_stream(WHOLE), pixel_format=unknown, rejects=PIXEL_FORMAT)
case("outside", Tag.DTYPE, outside="T1", encoded_stream=ramp(8), rejects=INPUT_TYPE)
case("no_input", pixel_format="RGB", rejects=Rule.ARITY)
case("no_outputs", encoded_stream=_stream(WHOLE), n=0, rejects=Rule.ARITY)
case("two_outputs", encoded_stream=_stream(WHOLE), n=2, rejects=Rule.ARITY)
case("attribute_channels", encoded_stream=_stream(WHOLE), stray={"channels": 3}, rejects=Rule.ATTRIBUTES)
