# SPDX-License-Identifier: Apache-2.0
"""The file that lists where the results of several repositories are, for a combined web site.

[[source]]
name = "my-runtime"
results = "https://example.org/results.ndjson.xz"
sha256 = "..."  # optional
"""

from __future__ import annotations

import ipaddress
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import line

TABLE = "source"
MOST_FILE_BYTES = 1 << 20
"""Maximum size of the file with the list."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._=+-]{0,79}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_KEYS = {"name": _NAME, "results": re.compile(r"[^\x00-\x1f\x7f]{1,2000}"), "sha256": _DIGEST}
_EXAMPLES = {
    "name": "up to 80 letters, digits and the signs . _ = + -",
    "results": "an https address or the path of a file",
    "sha256": "64 hexadecimal digits in lower case",
}


class SourcesError(HarnessError):
    """The list of sources cannot be used; the text names the file, the table and the correction."""


@dataclass(frozen=True)
class Source:
    """The results of one repository.

    Attributes:
        name: of the source; unique.
        address: an https address, or a path.
        sha256: the digest that the file must have; empty: any.
    """

    name: str
    address: str
    sha256: str = ""

    @property
    def remote(self) -> bool:
        """Whether the results are fetched from a server."""
        return "://" in self.address

    def __str__(self) -> str:
        """Return the name and the address, for messages."""
        return f"{self.name} ({line(self.address, 200)})"


def read(path: Path) -> tuple[Source, ...]:
    """Return the sources that a file lists; a path in it is relative to the folder of the file.

    Raises:
        SourcesError: the file cannot be read, is not TOML, or has another content.
    """
    where = line(path)
    try:
        with path.open("rb") as file:
            text = file.read(MOST_FILE_BYTES + 1)
        if len(text) > MOST_FILE_BYTES:
            raise SourcesError("sources-too-large", f"{where} has more than 1 MiB; list fewer sources")
        tables = tomllib.loads(text.decode("utf-8"))
    except OSError as error:
        raise SourcesError("sources-not-readable", f"cannot read {where}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise SourcesError("sources-not-toml", f"{where} is not TOML: {line(error, 200)}") from None
    listed = tables.pop(TABLE, None)
    if tables or not isinstance(listed, list) or not listed:
        raise SourcesError("sources-without-table", f"{where}: expected only tables [[{TABLE}]], at least one")
    sources = [_source(table, f"{where}, [[{TABLE}]] {number}") for number, table in enumerate(listed, 1)]
    names = [source.name.casefold() for source in sources]
    doubled = [source.name for source in sources if names.count(source.name.casefold()) > 1]
    if doubled:
        raise SourcesError("source-named-twice", f"{where}: two sources are called {doubled[0]}; rename one")
    return tuple(_relative(source, path.parent) for source in sources)


def _source(table: Any, where: str) -> Source:  # noqa: ANN401 - of any type
    """Return the source of a table.

    Raises:
        SourcesError: a member is missing, unknown, or has another form.
    """
    members = table if isinstance(table, dict) else {}
    unknown = [*(members.keys() - _KEYS), *({"name", "results"} - members.keys())]
    if unknown:
        raise SourcesError(
            "source-members", f"{where}: {line(unknown[0], 40)!r} is missing or unknown; write name and results"
        )
    for key, pattern in _KEYS.items():
        if key in members and not (isinstance(members[key], str) and pattern.fullmatch(members[key])):
            raise SourcesError(
                "source-member-invalid", f"{where}: {key} is {line(members[key], 80)!r}; expected {_EXAMPLES[key]}"
            )
    source = Source(members["name"], members["results"], members.get("sha256", ""))
    if source.remote and not may_be_fetched(source.address):
        raise SourcesError("source-not-https", f"{where}: results is {line(source.address, 80)!r}; expected https")
    return source


def _relative(source: Source, folder: Path) -> Source:
    return source if source.remote else Source(source.name, str(folder / Path(source.address)), source.sha256)


def may_be_fetched(address: str) -> bool:
    """Return whether an address is https, or a server on this machine, which needs no encryption."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return bool(parts.hostname) and (parts.scheme == "https" or (parts.scheme == "http" and is_local(address)))


def is_local(address: str) -> bool:
    """Return whether the host of an address is this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
