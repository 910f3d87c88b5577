# SPDX-License-Identifier: Apache-2.0
"""The option of an adapter: the text in brackets after its name, as in onnx_version_converter[18].

Optimizers choose their passes by it, all with the same words: `[only:A+B]` runs A and B alone, `[without:A]` all but
A, `[only:]` none. A word of the adapter's own may stand before them, as in
onnxruntime_optimizer[basic,without:ConstantFolding].
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

VARIABLE = "ONNX_CONFORMANCE_OPTION"
ONLY, WITHOUT = "only:", "without:"
EP = "ep="
"""The word before the name of an execution provider of ONNX Runtime, as in onnxruntime[none,ep=nxrt]."""
PROVIDERS = Path(__file__).with_name("providers")


def provider_file(name: str) -> Path:
    """Return the file of an execution provider, whether or not it exists: one of PROVIDERS, or a path of the user."""
    return Path(name) if name.endswith(".toml") else PROVIDERS / f"{name}.toml"


def option(known: Sequence[str]) -> str:
    """Return the option that the user chose; without one, the first that the adapter knows.

    Raises:
        ValueError: the adapter has no such option; the text names those that it has.
    """
    chosen = os.environ.get(VARIABLE) or known[0]
    if chosen not in known:
        raise ValueError(f"there is no option {chosen!r}; there are {', '.join(known)}")
    return chosen


@dataclass(frozen=True)
class Passes:
    """The passes of an optimizer that the user chose.

    Attributes:
        word: the adapter's own, such as a level.
        chosen: those that run, in the order in which the optimizer has them.
        left_out: those that run by default, but not now.
        by_default: whether the user selected none, so the default passes run.
    """

    word: str
    chosen: tuple[str, ...]
    left_out: tuple[str, ...]
    by_default: bool


def passes(default: Sequence[str], more: Sequence[str] = (), words: Sequence[str] = ("",)) -> Passes:
    """Return the passes that the user chose; without an option, those that run by default.

    Args:
        default: names of the passes that run by default, in their order.
        more: names of others that can be chosen.
        words: other words of the adapter that may precede the passes, default first.

    Raises:
        ValueError: there is no such pass or word; the text names those that there are.
    """
    word, chosen, by_default = words[0], tuple(default), True
    known = (*default, *(name for name in more if name not in default))
    for part in filter(None, os.environ.get(VARIABLE, "").split(",")):
        kind = next((kind for kind in (ONLY, WITHOUT) if part.startswith(kind)), "")
        names = list(filter(None, part[len(kind) :].split("+"))) if kind else []
        by_default = by_default and not kind
        for name in names:
            if name not in known:
                raise ValueError(f"there is no pass {name!r}; there are {', '.join(known) or 'none to choose'}")
        if kind == ONLY:
            chosen = tuple(name for name in known if name in names)
        elif kind == WITHOUT:
            chosen = tuple(name for name in chosen if name not in names)
        elif part in words:
            word = part
        else:
            there = ", ".join([*filter(None, words), "only:PASS+PASS", "without:PASS+PASS"])
            raise ValueError(f"there is no option {part!r}; there are {there}")
    return Passes(word, chosen, tuple(name for name in default if name not in chosen), by_default)
