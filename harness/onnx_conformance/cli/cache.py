# SPDX-License-Identifier: Apache-2.0
"""The command `cache`: where the cache is, how large it is, and how to empty it."""

from __future__ import annotations

import click
from tabulate import tabulate

from onnx_conformance.backends import cache
from onnx_conformance.base import printing
from onnx_conformance.environments import kept_environment
from onnx_conformance.suites import packs

MEBIBYTE = 1 << 20


@click.command("cache")
@click.option("--clear", is_flag=True, help="Remove the packs and the compiled programs.")
@click.option("--clear-environments", is_flag=True, help="Remove the installed environments of runtimes.")
def cache_(*, clear: bool, clear_environments: bool) -> None:
    """Show where the cache is and how large it is, or empty it.

    The cache is in the folder that the variable ONNX_CONFORMANCE_CACHE names, or in ~/.cache/onnx-conformance. It makes
    a second run faster, and changes no result. Only files that this project wrote are removed.

    The environments that hold the runtimes are always in the cache folder of the user. Their size has no limit.
    """
    _show_cache(clear=clear)
    if clear_environments:
        kept_environment.remove_all()
    folders = kept_environment.kept()
    mebibytes = sum(map(kept_environment.size, folders)) / MEBIBYTE
    removed = "removed; left: " if clear_environments else ""
    printing.show(f"\nenvironments of runtimes: {removed}{len(folders)}, {mebibytes:,.1f} MiB in {cache.user_folder()}")


def _show_cache(*, clear: bool) -> None:
    root = cache.folder()
    if root is None:
        printing.show("the cache is off, because the variable ONNX_CONFORMANCE_CACHE is empty")
        return
    rows = []
    for name, content, stores, limit in (
        (packs.FOLDER, "encoded cases", [packs.store()], packs.MOST_BYTES),
        ("programs", "output of compilers", cache.every_program(), cache.MOST_BYTES),
    ):
        found = [store for store in stores if store is not None]
        removed = sum(store.clear() for store in found) if clear else 0
        files = [file for store in found for file in store.files()]
        size = sum(bytes_ for _, bytes_, _ in files)
        rows.append([name, content, len(files), size / MEBIBYTE, limit / MEBIBYTE, removed / MEBIBYTE])
    printing.show(f"{root}\n")
    heads = ["folder", "content", "files", "MiB", "limit in MiB", "removed MiB"]
    columns = slice(None) if clear else slice(None, -1)
    printing.show(tabulate([row[columns] for row in rows], heads[columns], tablefmt="simple", floatfmt=".1f"))
