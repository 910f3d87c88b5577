# SPDX-License-Identifier: Apache-2.0
"""Multinomial: draw outcomes by their unnormalized log-probabilities.

    output = Multinomial(input, dtype=int32, sample_size=1, seed=None)

Versions: 7, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Drawn, Op, Tag, Version, attribute, element_type, ramp

MULTINOMIAL = Op("Multinomial", versions=(7, 22), compare=EXACT, rank=lambda _: 2, derives={"T2": attribute("dtype")})
MULTINOMIAL.example(input=[[0, -1, 1], [2, 0, -3]], dtype=element_type("{T2}"), sample_size=4, seed=3.5)

DRAWS = MULTINOMIAL.clause(
    "Generate a tensor of samples from a multinomial distribution according to the probabilities of each of the "
    "possible outcomes."
)
CLASSES = MULTINOMIAL.clause(
    "Input tensor with shape [batch_size, class_size], where class_size is the number of all possible outcomes."
)
LOG = MULTINOMIAL.clause(
    "Each value along the axis zero represents the unnormalized log-probability of each corresponding outcome in a "
    "batch.",
    note="This refers to axis one, as the shape shows. It is a log-probability: an outcome with -inf is never drawn. "
    "+inf, NaN and rows without a possible outcome are left open.",
)
SAMPLES = MULTINOMIAL.clause(
    "Output tensor with shape [batch_size, sample_size], where sample_size is the number of times to sample."
)
OUTCOME = MULTINOMIAL.clause(
    "Each value along the axis zero represents the outcome of the corresponding sample in a batch."
)
TIMES = MULTINOMIAL.clause("Number of times to sample.", note="The text does not define a negative number.")
DEFAULT = MULTINOMIAL.clause("if not specified, we will use int32.")
SEED = MULTINOMIAL.clause("(Optional) Seed to the random generator, if not specified we will auto generate one.")
FLOATS = MULTINOMIAL.clause("Constrain input types to float tensors.")
INTEGERS = MULTINOMIAL.clause("Constrain output types to integral tensors.")


@MULTINOMIAL.oracle()
def multinomial(v: Version, input: Array, sample_size: int) -> Drawn:
    """Return a description that any valid draws satisfy.

    It excludes impossible outcomes and contains the moments of the outcomes' numbers.
    """
    v.require(CLASSES, input.ndim == len(("batch_size", "class_size")))
    v.silent(TIMES, sample_size < 0)
    largest = input.max(axis=1, initial=-np.inf, keepdims=True)
    v.silent(LOG, not np.isfinite(largest).all() or bool(np.isnan(input).any()))
    weights = np.exp(input - largest)
    p = weights / weights.sum(axis=1, keepdims=True)
    batch, classes = p.shape
    generator, numbers = np.random.default_rng(0), np.arange(classes)
    example = np.array([generator.choice(classes, sample_size, p=row) for row in p]).reshape(batch, sample_size)
    shape = (batch, sample_size)
    likely = p.argmax(axis=1, keepdims=True)  # Used in place of the impossible outcomes.
    choices = tuple(np.broadcast_to(np.where(p[:, [k]] > 0, k, likely), shape) for k in numbers)
    mean = (p * numbers).sum(axis=1, keepdims=True)
    second, fourth = ((p * (numbers - mean) ** power).sum(axis=1, keepdims=True) for power in (2, 4))
    with np.errstate(all="ignore"):
        kurtosis = float(np.nanmax(fourth / second**2)) if (second > 0).any() else None
    return Drawn(
        example,
        choices=choices,
        mean=np.broadcast_to(mean, shape),
        deviation=np.broadcast_to(np.sqrt(second), shape),
        kurtosis=kurtosis,
    )


case = MULTINOMIAL.case

SKEWED = np.log([[0.7, 0.2, 0.1]])
CERTAIN_ROWS = np.where(np.eye(4), 0, -np.inf)[[2, 0, 3]]

case("skewed", input=SKEWED, sample_size=800, cites=(DRAWS, TIMES))
case("two_rows", input=np.log([[0.1, 0.2, 0.7], [0.8, 0.15, 0.05]]), sample_size=500, cites=(SAMPLES, OUTCOME))
case("unnormalized", input=SKEWED + 5, sample_size=800, cites=LOG)
case("unnormalized_below_zero", input=SKEWED - 60, sample_size=800, cites=LOG)
case("large", Tag.EDGE, input=SKEWED + 700, sample_size=800, cites=LOG)
case("equal", input=np.zeros((1, 4)), sample_size=800, cites=LOG)
case("last_most", input=[[-4, -3, -2, -1, 3]], sample_size=800, cites=CLASSES)
case("impossible", Tag.EDGE, input=[[-np.inf, 0, -np.inf, 1]], sample_size=600, cites=LOG)
case("certain_rows", Tag.EDGE, input=CERTAIN_ROWS, sample_size=5, cites=OUTCOME)
case("one_class", Tag.EDGE, input=[[0.5], [-3]], sample_size=7, cites=CLASSES)
case("one_sample", input=SKEWED, cites=(TIMES, DEFAULT))
case("no_samples", Tag.EDGE, input=SKEWED, sample_size=0, cites=SAMPLES)
case("no_rows", Tag.EDGE, input=ramp(0, 3), sample_size=4, cites=SAMPLES)
case("seed", input=SKEWED, sample_size=400, seed=3.5, cites=SEED)
case("seed_zero", Tag.EDGE, input=SKEWED, sample_size=400, seed=0.0, cites=SEED)
case("dtypes", Tag.DTYPE, each="T1", input=SKEWED, sample_size=400, cites=FLOATS)
case("output_dtypes", Tag.DTYPE, each="T2", input=SKEWED, sample_size=400, dtype=element_type("{T2}"), cites=INTEGERS)

case("vector", Tag.EDGE, input=SKEWED[0], sample_size=4, rejects=CLASSES)
case("rank3", Tag.EDGE, input=SKEWED[None], sample_size=4, rejects=CLASSES)
case("no_classes", Tag.EDGE, input=ramp(2, 0), sample_size=4, unspecified=LOG)
case("nothing_possible", Tag.EDGE, input=[[-np.inf, -np.inf]], sample_size=4, unspecified=LOG)
case("infinity", Tag.EDGE, input=[[np.inf, 0]], sample_size=4, unspecified=LOG)
case("nan", Tag.EDGE, input=[[np.nan, 0]], sample_size=4, unspecified=LOG)
case("sample_size_negative", Tag.EDGE, input=SKEWED, sample_size=-1, unspecified=TIMES)
