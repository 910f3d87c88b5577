# SPDX-License-Identifier: Apache-2.0
"""`schema`: the JSON Schemas of files and messages."""

from __future__ import annotations

import difflib

import click
from tabulate import tabulate

from onnx_conformance.base import printing, schemas
from onnx_conformance.base.errors import HarnessError


@click.command()
@click.argument("name", required=False)
def schema(name: str | None) -> None:
    """Print the JSON Schema of a file or message that other programs read or write.

    Without NAME, list the schemas with their versions.
    """
    if name is None:
        every = {each: schemas.read(each) for each in schemas.names()}
        rows = [(each, schemas.version(read), read["title"]) for each, read in every.items()]
        printing.show(tabulate(rows, ("schema", "version", "describes"), disable_numparse=True))
        return
    if name not in schemas.names():
        near = difflib.get_close_matches(name, schemas.names(), 1)
        hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(schemas.names())}"
        raise HarnessError("no-such-schema", f"there is no schema {name[:40]!r}; {hint}")
    printing.show(schemas.text(name).rstrip("\n"))
