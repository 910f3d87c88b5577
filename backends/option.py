"""The option of an adapter: what stands in brackets behind its name, as in onnx_version_converter[18]."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "ONNX_CONFORMANCE_OPTION"


def option(known: Sequence[str]) -> str:
    """Return the option that the user chose; without one, the first that the adapter knows.

    Raises:
        ValueError: the adapter has no such option; the text names those that it has.
    """
    chosen = os.environ.get(VARIABLE) or known[0]
    if chosen not in known:
        raise ValueError(f"there is no option {chosen!r}; there are {', '.join(known)}")
    return chosen
