# SPDX-License-Identifier: Apache-2.0
"""Fetches a results file from a server or a folder, and decompresses it, within limits of size and time."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import lzma
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import REPOSITORY, VERSION
from onnx_conformance.base.verdict import line
from onnx_conformance.results import sources

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onnx_conformance.results.sources import Source

MIB = 1 << 20
MAGIC = b"\xfd7zXZ\x00"
"""The first bytes of an xz file."""
MOST_MEMORY = 256 * MIB
"""Maximum memory of the decoder; the highest level of xz needs 65 MiB."""
_CHUNK = MIB


class FetchError(HarnessError):
    """A results file cannot be fetched; the text names the source and the reason."""


@dataclass(frozen=True)
class Limits:
    """Limits of one file.

    Attributes:
        fetched: bytes as they are stored, compressed or not.
        content: bytes after decompression.
        seconds: time without an answer of the server, and a tenth of the time of the whole transfer.
    """

    fetched: int = 100 * MIB
    content: int = 1024 * MIB
    seconds: float = 60.0


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirection only to https, or from this machine to this machine."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:  # fmt: skip
        """Return the next request.

        Raises:
            HTTPError: the new address is not allowed.
        """
        local = sources.is_local(newurl)
        if not sources.may_be_fetched(newurl) or (local and not sources.is_local(req.full_url)):
            raise urllib.error.HTTPError(newurl, code, "a redirection to another address than https", headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetch(source: Source, out: Path, limits: Limits) -> None:
    """Write the decompressed results of a source to a file.

    Args:
        source: the place of the results.
        out: the file to write.
        limits: of size and time.

    Raises:
        FetchError: the source cannot be read, is cut off or damaged, exceeds a limit, or has another digest.
    """
    digest = hashlib.sha256()
    size = 0
    try:
        with _opened(source, limits) as (stored, expected), out.open("wb") as file:
            for piece in _content(_pieces(stored, expected, source, limits, digest), source):
                size += len(piece)
                if size > limits.content:
                    raise FetchError(
                        "results-too-large",
                        f"{source}: more than {limits.content // MIB:,} MiB after decompression; publish fewer cases",
                    )
                file.write(piece)
    except lzma.LZMAError as error:
        raise FetchError("results-not-xz", f"{source}: not a valid xz file: {line(error, 100)}") from None
    except urllib.error.HTTPError as error:
        error.close()
        raise FetchError(
            "results-not-fetched", f"{source}: the server answers {error.code} {line(error.reason, 100)}"
        ) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise FetchError("results-not-fetched", f"{source}: cannot be read: {line(reason, 200)}") from None
    if source.sha256 and digest.hexdigest() != source.sha256:
        raise FetchError(
            "results-of-another-digest", f"{source}: its SHA-256 digest is {digest.hexdigest()}, not {source.sha256}"
        )


@contextlib.contextmanager
def _opened(source: Source, limits: Limits) -> Iterator[tuple[IO[bytes], int | None]]:
    """Open a source; yield the file, and the size that its server promises, if any.

    Raises:
        FetchError: there is no such file.
        OSError, HTTPException: the server does not answer with a file.
    """
    if not source.remote:
        path = Path(source.address)
        if not path.is_file():  # A pipe would wait for a writer.
            raise FetchError("results-not-a-regular-file", f"{source}: there is no such file; write the path of one")
        with path.open("rb") as file:
            yield file, None
        return
    request = urllib.request.Request(  # noqa: S310 - `sources` allows only https and this machine
        source.address, headers={"User-Agent": f"onnx-conformance/{VERSION} ({REPOSITORY})"}
    )
    with urllib.request.build_opener(_Redirects).open(request, timeout=limits.seconds) as answer:
        length = answer.headers.get("Content-Length", "")
        yield answer, int(length) if length.isdecimal() else None


def _pieces(
    file: IO[bytes],
    expected: int | None,
    source: Source,
    limits: Limits,
    digest: Any,  # noqa: ANN401 - an object of hashlib
) -> Iterator[bytes]:
    """Yield the bytes of a source as they are stored, and add them to a digest.

    Raises:
        FetchError: they exceed a limit, or the connection ended early.
        OSError, HTTPException: they cannot be read.
    """
    size, end = 0, time.monotonic() + 10 * limits.seconds
    while piece := file.read(_CHUNK):
        size += len(piece)
        if size > limits.fetched:
            raise FetchError(
                "results-too-large", f"{source}: more than {limits.fetched // MIB:,} MiB; compress them with xz"
            )
        if time.monotonic() > end:
            raise FetchError("results-too-slow", f"{source}: takes longer than {10 * limits.seconds:,.0f} seconds")
        digest.update(piece)
        yield piece
    if expected is not None and size != expected:
        raise FetchError(
            "results-truncated", f"{source}: the connection ended after {size:,} of {expected:,} bytes; try again"
        )


def _content(pieces: Iterator[bytes], source: Source) -> Iterator[bytes]:
    """Yield the bytes of an xz file decompressed, in bounded parts, and those of another file unchanged.

    Raises:
        FetchError: the xz file is cut off, or has bytes after its end.
        LZMAError: it is damaged, or needs too much memory.
    """
    first = next(pieces, b"")
    if not first.startswith(MAGIC):
        yield first
        yield from pieces
        return
    decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_MEMORY)
    piece: bytes | None = first
    while piece is not None and not decoder.eof:
        yield decoder.decompress(piece, _CHUNK)
        piece = b"" if not decoder.needs_input else next(pieces, None)
    if not decoder.eof:
        raise FetchError("results-truncated", f"{source}: the xz file is cut off; publish it again")
    if decoder.unused_data or next(pieces, b""):
        raise FetchError("results-after-end", f"{source}: the xz file has bytes after its end; compress it once")
