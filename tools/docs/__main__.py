# SPDX-License-Identifier: Apache-2.0
"""Writes the generated blocks of the pages under docs/ again; `--check` only compares them.

    python -m tools.docs [--check]

Exit status: 0 all blocks are as the code has them, 1 with --check some are not, 2 a block cannot be written.
"""

from __future__ import annotations

import sys

import click

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from tools.docs.blocks import rewritten
from tools.docs.pages import ROOT, pages


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit with status 1 if a page differs.")
def main(*, check: bool) -> None:
    """Write the generated blocks of the pages under docs/."""
    try:
        texts = {page: page.read_text(encoding="utf-8") for page in pages()}
        changed = {page: after for page, before in texts.items() if (after := rewritten(before, page)) != before}
    except HarnessError as error:
        printing.warn(error)
        sys.exit(2)
    for page, text in changed.items():
        printing.show(f"{page.relative_to(ROOT)}: {'differs from the code' if check else 'written'}")
        if not check:
            page.write_text(text, encoding="utf-8")
    sys.exit(int(check and bool(changed)))


if __name__ == "__main__":
    main()
