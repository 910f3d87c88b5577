# SPDX-License-Identifier: Apache-2.0
"""A target that runs only some passes of its optimizer."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from onnx_conformance.backends.option import ONLY, VARIABLE, WITHOUT
from onnx_conformance.base import under_test

if TYPE_CHECKING:
    from collections.abc import Iterable

    from onnx_conformance.base.target import Target


def with_passes(target: Target, passes: Iterable[str]) -> Target:
    """Return the target of an optimizer that runs these of its passes alone; other words of its option stay."""
    option = target.environment.get(VARIABLE, "")
    words = [word for word in option.split(",") if word and not word.startswith((ONLY, WITHOUT))]
    chosen = ",".join([*words, ONLY + "+".join(passes)])
    name = under_test.with_option(target.name, chosen)
    return dataclasses.replace(target, name=name, environment={**target.environment, VARIABLE: chosen})
