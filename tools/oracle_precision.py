# SPDX-License-Identifier: Apache-2.0
"""Compares the oracles of all unary functions in float32 with mpmath, which computes with hundreds of bits.

`python -m tools.oracle_precision` prints a table; it needs the package mpmath. An operator is precise if no result,
rounded to float32, has an error of more than 0.5000001 ULP. An exact function that is rounded to the nearest number has
at most 0.5 ULP, so a larger error means that float64 is not precise enough for the formula of the oracle. The exit
status is 1 if an operator is not precise, unless `CANCELS` explains it.

The operators are those that `accuracy` measures and that compute something: elementwise functions of one tensor.
`FORMULAS` has the formula in each text.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import mpmath
import numpy as np
from mpmath import mp
from tabulate import tabulate

from onnx_conformance.base import printing
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.declare import EXACT
from onnx_conformance.specification.evaluator import Answer, apply
from onnx_conformance.specification.signature import TypedValue
from onnx_conformance.verification.accuracy import unary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from onnx_conformance.declare import Op
    from onnx_conformance.specification.schema import OperatorVersion

Array = np.ndarray[Any, Any]
Attributes = dict[str, Any]

MOST_ULP = 0.5000001
"""The greatest permitted error after rounding, in ULP of float32."""
BITS = 300
"""The precision of mpmath, in bits. Arguments up to 2**128 are reduced by mpmath with more."""
FLOAT = "tensor(float)"
DIGITS, LEAST, MOST = 23, -149, 127
"""The stored bits of a significand of float32, and the exponents of its smallest and largest numbers."""
NORMAL = -126
"""The exponent of the smallest normal number."""
NEAR = (-10, 7)
"""The exponents of half of the inputs: in this range, most functions are curved."""

FORMULAS: Mapping[str, Callable[[Any, Attributes], Any]] = {
    "Abs": lambda x, _: abs(x),
    "Acos": lambda x, _: mp.acos(x),
    "Acosh": lambda x, _: mp.acosh(x),
    "Asin": lambda x, _: mp.asin(x),
    "Asinh": lambda x, _: mp.asinh(x),
    "Atan": lambda x, _: mp.atan(x),
    "Atanh": lambda x, _: mp.atanh(x),
    "Ceil": lambda x, _: mp.ceil(x),
    "Celu": lambda x, a: max(0, x) + min(0, a["alpha"] * mp.expm1(x / mp.mpf(a["alpha"]))),
    "Cos": lambda x, _: mp.cos(x),
    "Cosh": lambda x, _: mp.cosh(x),
    "Elu": lambda x, a: a["alpha"] * mp.expm1(x) if x < 0 else x,
    "Erf": lambda x, _: mp.erf(x),
    "Exp": lambda x, _: mp.exp(x),
    "Floor": lambda x, _: mp.floor(x),
    "Gelu": lambda x, _: x * mp.erfc(-x / mp.sqrt(2)) / 2,  # 1 + erf(y) is erfc(-y).
    "HardSigmoid": lambda x, a: max(0, min(1, a["alpha"] * x + a["beta"])),
    "HardSwish": lambda x, _: x * max(0, min(1, x / 6 + mp.mpf(1) / 2)),
    "LeakyRelu": lambda x, a: a["alpha"] * x if x < 0 else x,
    "Log": lambda x, _: mp.log(x),
    "Mish": lambda x, _: x * mp.tanh(mp.log1p(mp.exp(x))),
    "Neg": lambda x, _: -x,
    "Reciprocal": lambda x, _: 1 / x,
    "Relu": lambda x, _: max(0, x),
    "Round": lambda x, _: mp.nint(x),  # Halves to the nearest even integer.
    "Selu": lambda x, a: a["gamma"] * (x if x > 0 else a["alpha"] * mp.expm1(x)),
    "Shrink": lambda x, a: x + a["bias"] if x < -a["lambd"] else x - a["bias"] if x > a["lambd"] else mp.mpf(0),
    "Sigmoid": lambda x, _: 1 / (1 + mp.exp(-x)),
    "Sign": lambda x, _: mp.sign(x),
    "Sin": lambda x, _: mp.sin(x),
    "Sinh": lambda x, _: mp.sinh(x),
    "Softplus": lambda x, _: mp.log1p(mp.exp(x)),
    "Softsign": lambda x, _: x / (1 + abs(x)),
    "Sqrt": lambda x, _: mp.sqrt(x),
    "Swish": lambda x, a: x / (1 + mp.exp(-a["alpha"] * x)),
    "Tan": lambda x, _: mp.tan(x),
    "Tanh": lambda x, _: mp.tanh(x),
    "ThresholdedRelu": lambda x, a: x if x > a["alpha"] else mp.mpf(0),
}
"""The function of each operator, of an exact number and the values of the attributes."""


CANCELS: Mapping[str, str] = {
    "Celu": "exp(x/alpha)-1",
    "Elu": "exp(x) - 1",
    "Gelu": "1 + erf(x/sqrt(2))",
    "Selu": "alpha * exp(X) - alpha",
    "Softplus": "exp(x) + 1",
}
"""The operators whose formula in the text loses digits in a sum of two nearly opposite or very different numbers.

Their oracles evaluate exactly this formula, in float64. Their tolerance is the error that the same formula has
in the type of the output, which is larger than this loss.
"""


@dataclass(frozen=True)
class Precision:
    """The largest errors of one operator.

    Attributes:
        operator: the operator version.
        inputs: the number of inputs whose result the text defines.
        before: the largest error of the oracle's float64 value, in ULP of float32.
        rounded: the largest error after rounding to float32, in ULP.
        worst: the input with the largest error after rounding.
    """

    operator: str
    inputs: int
    before: float
    rounded: float
    worst: float

    @property
    def good(self) -> bool:
        """Whether every rounded result is the nearest number of float32, or as near as that."""
        return self.rounded <= MOST_ULP

    @property
    def cancels(self) -> str:
        """The part of the formula that loses digits; empty if nothing does."""
        return CANCELS.get(self.operator.split("/")[1], "")

    @property
    def as_known(self) -> bool:
        """Whether it is precise, or known to lose digits, and not both."""
        return self.good is not bool(self.cancels)


def answered(op: Op, version: OperatorVersion, x: Array) -> Answer:
    """Return the oracle's answer to one tensor of float32, with the default attributes."""
    with np.errstate(all="ignore"):
        return apply(op, version, [TypedValue(x, FLOAT)], {}, 1)


def functions() -> Iterator[tuple[Op, OperatorVersion]]:
    """Yield the operators that compute a function of each element in float32, with their newest version.

    Those that only move or select data are left out.
    """
    for function in unary.functions(lambda _: True):
        if not function.attributes and function.op.compare != EXACT:
            yield function.op, function.version


def inputs(count: int, seed: int) -> Array:
    """Return numbers of float32: half over all exponents, half near 1, with all significands and both signs.

    Args:
        count: how many, at least 8.
        seed: the seed of the significands.
    """
    draw = np.random.default_rng(seed)
    more = count + count // 20 + 8  # Some numbers with the smallest exponents occur twice.
    parts = []
    for low, high in ((LEAST, MOST), NEAR):
        for sign in (1.0, -1.0):
            exponents = np.resize(np.arange(low, high + 1), more // 4)  # Each exponent as often as the others.
            parts.append(sign * np.ldexp(1 + draw.random(exponents.size), exponents))
    made = np.concatenate(parts).astype(np.float32)
    different = np.unique(made[np.isfinite(made) & (made != 0)])
    return np.sort(draw.choice(different, count, replace=False))


def unit(value: Any) -> Any:  # noqa: ANN401 - a number of mpmath
    """Return a unit in the last place of float32 in the binade of a number."""
    exponent = NORMAL if value == 0 else max(NORMAL, int(mp.floor(mp.log(abs(value), 2))))
    return mp.ldexp(1, exponent - DIGITS)


def exact(formula: Callable[[Any, Attributes], Any], x: float, attributes: Attributes) -> Any:  # noqa: ANN401 - as above
    """Return the exact value of a function; NaN outside its domain."""
    value = formula(mp.mpf(x), attributes)
    if isinstance(value, mpmath.mpc):
        return mp.nan if value.imag else value.real
    return mp.mpf(value)


def measured(op: Op, version: OperatorVersion, x: Array) -> Precision:
    """Return the largest errors of an oracle on some inputs.

    Raises:
        HarnessError: there is no formula for the operator.
    """
    formula = FORMULAS.get(op.name)
    if formula is None:
        raise HarnessError(
            "no-formula", f"tools/oracle_precision.py has no formula for {version}; add the one in its text to FORMULAS"
        )
    answer = answered(op, version, x)
    wide, narrow = np.asarray(answer.exact[0], np.float64), np.asarray(answer.outputs[0])
    left_open = np.zeros(x.shape, bool) if answer.open[0] is None else answer.open[0]
    before = rounded = 0.0
    worst, number = math.nan, 0
    with mp.workprec(BITS):
        for index in np.flatnonzero(~left_open):
            right = exact(formula, float(x[index]), dict(answer.arguments))
            errors = [error(float(item[index]), right, overflow=item is narrow) for item in (wide, narrow)]
            number += 1
            before = max(before, errors[0])
            if errors[1] > rounded or math.isnan(worst):
                rounded, worst = errors[1], float(x[index])
    return Precision(str(version), number, before, rounded, worst)


def error(value: float, right: Any, *, overflow: bool) -> float:  # noqa: ANN401 - as above
    """Return the error of a number in ULP of float32, for an exact value.

    Args:
        value: the number.
        right: the exact value.
        overflow: whether the number was rounded to float32, so it is infinite if the exact value is too large.
    """
    if mp.isnan(right) or math.isnan(value):
        return 0.0 if mp.isnan(right) and math.isnan(value) else math.inf
    limit = mp.ldexp(2 - mp.ldexp(1, -DIGITS - 1), MOST)  # Half a unit above the largest number.
    if math.isinf(value):
        beyond = abs(right) >= (limit if overflow else mp.ldexp(1, 1024) - mp.ldexp(1, 970))
        return 0.0 if beyond and (right > 0) == (value > 0) else math.inf
    if mp.isinf(right):
        return math.inf
    if abs(right) >= limit:  # Too large for float32: only whether it overflows matters, and float64 keeps it.
        return math.inf if overflow else 0.0
    return float(abs(mp.mpf(value) - right) / unit(right))


@click.command()
@click.option(
    "--inputs", "count", type=click.IntRange(8), default=10_000, show_default=True, help="Inputs per operator."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The seed of the inputs.")
@click.option("--op", "names", multiple=True, metavar="NAME", help="Only this operator. Repeatable.")
def main(count: int, seed: int, names: tuple[str, ...]) -> None:
    """Compare the oracles of all unary functions in float32 with mpmath."""
    found = [(op, version) for op, version in functions() if not names or op.name in names]
    if unknown := sorted(set(names) - {op.name for op, _ in found}):
        raise click.UsageError(f"--op {unknown[0]!r} is not a function of elements in float32")
    x = inputs(count, seed)
    rows = [measured(op, version, x) for op, version in found]
    table = [
        (row.operator, row.inputs, f"{row.before:.3g}", f"{row.rounded:.8f}", f"{row.worst!r}", row.cancels)
        for row in sorted(rows, key=lambda row: (row.good, -row.before))
    ]
    headers = ("operator", "inputs", "ULP before rounding", "ULP after", "worst input", "loses digits in")
    printing.show(tabulate(table, headers, disable_numparse=True))
    good, surprising = sum(row.good for row in rows), [row for row in rows if not row.as_known]
    printing.show(f"{good} of {len(rows)} operators have at most {MOST_ULP} ULP after rounding.")
    for row in surprising:
        text = "is precise, so remove it from CANCELS" if row.good else f"has {row.rounded:.8f} ULP after rounding"
        printing.show(f"{row.operator} {text}")
    sys.exit(1 if surprising else 0)


if __name__ == "__main__":
    main()
