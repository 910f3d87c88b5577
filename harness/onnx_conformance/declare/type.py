# SPDX-License-Identifier: Apache-2.0
"""The type of a value: ONNX writes it as a text such as tensor(float) or seq(tensor(int64))."""

from __future__ import annotations

import enum
import functools
import re
from dataclasses import dataclass

from onnx_conformance.base.errors import HarnessError


class TypeTextError(HarnessError, ValueError):
    """A text that is not a type."""


class Kind(enum.StrEnum):
    """The kind of a type, as the word that ONNX writes before the parenthesis."""

    TENSOR = "tensor"
    SPARSE_TENSOR = "sparse_tensor"
    SEQUENCE = "seq"
    MAP = "map"
    OPTIONAL = "optional"


_KINDS = {str(kind): kind for kind in Kind}
_OUTERMOST = re.compile(r"(\w+)\((.*)\)")
_ELEMENT = re.compile(r"[^\s(),]+")


@dataclass(frozen=True)
class Type:
    """The type of a value.

    Attributes:
        kind: whether it is a tensor or a container.
        element: the element type of a tensor, such as float, or the type of the keys of a map; empty for a sequence or
            an optional. Whether ONNX has such an element type is checked where its number or dtype is needed.
        inner: the type inside a container; for a map, that of its values. None for a tensor.
    """

    kind: Kind
    element: str = ""
    inner: Type | None = None

    @staticmethod
    @functools.cache
    def parse(text: str) -> Type:
        """Return the type that ONNX writes as `text`; of a map, both map(int64, float) and map(int64,tensor(float)).

        Raises:
            TypeTextError: the text is not a type.
        """
        parsed = _parsed(text)
        if parsed is None:
            raise TypeTextError(
                "not-a-type",
                f"{text!r} is not an ONNX type; expected a text such as tensor(float), seq(tensor(int64)), "
                "optional(tensor(float)) or map(string, float)",
            )
        return parsed

    @staticmethod
    def parse_short(text: str) -> Type:
        """Return the type that `short` writes as `text`: an element type alone means a tensor of it.

        Raises:
            TypeTextError: the text is no element type, and no type.
        """
        return Type.tensor(text) if _ELEMENT.fullmatch(text) else Type.parse(text)

    @staticmethod
    @functools.cache
    def tensor(element: str) -> Type:
        """Return the type of tensors of an element type, such as float."""
        return Type(Kind.TENSOR, element)

    def __str__(self) -> str:
        """Return the text that onnx.defs has for the type in its type constraints."""
        if self.inner is None:
            return f"{self.kind}({self.element})"
        if self.kind is Kind.MAP:
            return f"{self.kind}({self.element}, {self.inner.short})"
        return f"{self.kind}({self.inner})"

    @property
    def short(self) -> str:
        """The text of the type, or the element type alone for a tensor: float, seq(tensor(float))."""
        return self.element if self.is_tensor else str(self)

    @property
    def is_tensor(self) -> bool:
        """Whether it is a dense tensor."""
        return self.kind is Kind.TENSOR

    @property
    def innermost(self) -> Type:
        """The type of the tensors inside all containers; a tensor is its own."""
        return self if self.inner is None else self.inner.innermost


def _parsed(text: str) -> Type | None:
    match = _OUTERMOST.fullmatch(text)
    kind = _KINDS.get(match[1]) if match else None
    if match is None or kind is None:
        return None
    content = match[2]
    if kind in {Kind.TENSOR, Kind.SPARSE_TENSOR}:
        return Type(kind, content) if _ELEMENT.fullmatch(content) else None
    key = ""
    if kind is Kind.MAP:
        key, _, content = content.partition(",")
        content = content.removeprefix(" ")
        if not _ELEMENT.fullmatch(key):
            return None
    bare = kind is Kind.MAP and _ELEMENT.fullmatch(content)
    inner = Type.tensor(content) if bare else _parsed(content)
    return Type(kind, key, inner) if inner else None
