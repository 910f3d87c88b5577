# SPDX-License-Identifier: Apache-2.0
"""A self-contained Python script that shows the largest error of a function on a runtime."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.verdict import clean
from onnx_conformance.repro import script as scripts
from onnx_conformance.repro.literals import PLAIN_TYPES
from onnx_conformance.specification import schema
from onnx_conformance.specification.element_types import element_type_named
from onnx_conformance.verification.accuracy.measured import Example, Place, name_of
from onnx_conformance.verification.accuracy.models import dtype_named, one_node
from onnx_conformance.verification.accuracy.truth import Format

if TYPE_CHECKING:
    from onnx_conformance.verification.accuracy.measured import Accuracy, Elementwise

ELEMENTS = 67
"""The number of elements that the script feeds, all equal: runtimes compute the rest of a vector with other code."""
LARGEST = np.finfo(np.float64).maxexp - 1
"""The exponent of the largest double."""
SCALE = 60
"""Huge doubles are multiplied by 2 to this negative power, so that their distance from an infinity is finite."""

TEMPLATE = '''\
"""{title}

{needs}
Exit status: 1 the error is more than half of this, 0 it is not.
"""

import sys

import numpy as np
import onnx
import onnx.parser
{wide}
{model}
inputs = {{"input_0": np.full({elements}, {value}, dtype={dtype})}}
exact = {exact}  # rounded to a double
unit = 2.0**{exponent}  # one unit in the last place (ULP) there{scaled}

{code}
got = np.asarray(outputs[0]).astype(np.float64)
top = 2.0**{top}  # An infinite result counts as this number.
errors = np.abs(np.clip(got{scale}, -top, top) - min(max(exact{scale}, -top), top)) / unit
worst = int(np.argmax(np.where(np.isnan(errors), np.inf, errors)))
print(f"input {input}: exact {{exact}}, actual {{float(got[worst])}}, error {{errors[worst]:.7g}} ULP")
sys.exit(0 if errors[worst] <= {limit} else 1)
'''


class NoCodeError(HarnessError):
    """The adapter of a runtime has no code that calls it without this project."""


def script(of: Accuracy, row: Elementwise) -> str:
    """Return a script that shows the largest error of a function, or a wrong special value.

    Raises:
        NoCodeError: the adapter has no code that calls the runtime.
        HarnessError: the function has no error.
    """
    domain, name, since = row.operator.split("/")
    number = element_type_named(row.type).number
    wide = number > PLAIN_TYPES + 2
    code = (of.repro_wide if wide else "") or of.repro
    if not code:
        raise NoCodeError(
            "accuracy-without-code",
            f"the file has no code that calls {of.label}: its adapter has none, or the file is of an older version",
        )
    worst: Place | Example | None = row.normal.worst if row.normal and row.normal.worst.ulp else None
    if row.special:
        worst = row.special[0]
    if worst is None:
        raise HarnessError("accuracy-without-error", f"{name_of(row.operator, row.attributes)} has no error to show")
    dtype, exact = dtype_named(row.type), float(worst.expected)
    numbers = Format.of(dtype)
    values = np.full(ELEMENTS, float(worst.input)).astype(dtype)
    version = schema.in_force(domain, name, int(since))
    serialized = one_node(version, [values], row.attributes).SerializeToString()
    exponent = round(math.log2(float(numbers.unit(np.array(exact)))))
    largest = max(abs(exact), abs(float(worst.actual)))
    scaled = SCALE if numbers.greatest == LARGEST and not largest < 2.0 ** (LARGEST - SCALE) else 0
    ulp = worst.ulp if isinstance(worst, Place) else math.inf
    distance = f"{ulp:.3g} ULP from the exact result" if math.isfinite(ulp) else "a wrong special value"
    hello = {"runtime": of.runtime, "version": of.version}
    title = f"{name_of(row.operator, row.attributes)} ({row.operator}, {row.type}) of {of.runtime} {of.version}"
    return TEMPLATE.format(
        title=f"{clean(title, 300)}: {distance} at {worst.input}.".replace("\\", "").replace('"', "'"),
        needs=scripts.needs(of.backend, hello),
        wide="\nimport ml_dtypes\n" if wide else "",
        model="\n".join(scripts.model_lines(serialized, scripts.Model.of(serialized))),
        elements=ELEMENTS,
        input=worst.input,
        value=_number(worst.input),
        dtype=f"ml_dtypes.{dtype.name}" if wide else f"np.{dtype.name}",
        exact=_number(worst.expected),
        exponent=exponent - scaled,
        scaled=f", times 2**-{scaled}, so that the error of an infinite result is finite" if scaled else "",
        scale=f" * 2.0**-{scaled}" if scaled else "",
        code=code.strip() + "\n",
        top=min(numbers.greatest + 1 - scaled, LARGEST),
        limit=f"{ulp / 2:.6g}" if math.isfinite(ulp) else "0.5",
    )


def _number(text: str) -> str:
    """Return a number as Python writes it."""
    number = float(text)
    return text if math.isfinite(number) else f'float("{text}")'
