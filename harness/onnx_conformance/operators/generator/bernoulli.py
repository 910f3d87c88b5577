# SPDX-License-Identifier: Apache-2.0
"""Bernoulli: draw 0 or 1 for each element. The element is the probability of 1.

    output = Bernoulli(input, dtype=None, seed=None)

Versions: 15, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Drawn, Op, Rule, Tag, Version, attribute, element_type, vary

BERNOULLI = Op("Bernoulli", versions=(15, 22), compare=EXACT, rank="input", derives={"T2": attribute("dtype", "T1")})
BERNOULLI.example(input=[[0, 0.25, 1], [1, 0, 0.5]], dtype=element_type("{T2}"), seed=3.5)

DRAWS = BERNOULLI.clause("Draws binary random numbers (0 or 1) from a Bernoulli distribution.")
PROBABILITIES = BERNOULLI.clause(
    "The input tensor should be a tensor containing probabilities p (a value in the range [0,1]) to be used for "
    "drawing the binary random number, where an output of 1 is produced with probability p and an output of 0 is "
    "produced with probability (1-p)."
)
OWN_VALUES = BERNOULLI.clause(
    "This operator is non-deterministic and may not produce the same values in different implementations (even if a "
    "seed is specified).",
    note="The official cases expect the values of one generator, numpy's. The expanded cases expect the values of the "
    "function body, which is also wrong (see the dispute).",
    against=("test_bernoulli*",),
)
RANGE = BERNOULLI.clause("All values in input have to be in the range:[0, 1].")
SAME_SHAPE = BERNOULLI.clause("The returned output tensor only has values 0 or 1, same shape as input tensor.")
DEFAULT = BERNOULLI.clause("if not specified, we will use the data type of the input tensor.")
SEED = BERNOULLI.clause("(Optional) Seed to the random generator, if not specified we will auto generate one.")
FLOATS = BERNOULLI.clause("Constrain input types to float tensors.")
NUMERIC = BERNOULLI.clause("Constrain output types to all numeric tensors and bool tensors.")
BERNOULLI.dispute("The function body of onnx computes Greater(random, p), which returns 1 with probability 1 - p.", "*")


@BERNOULLI.oracle()
def bernoulli(v: Version, input: Array) -> Drawn:
    """Return a description that any valid draws satisfy. If p is 0 or 1, the value is certain."""
    v.require(PROBABILITIES, not (input > 1).any())
    v.require(RANGE, bool((input >= 0).all()))
    example = np.random.default_rng(0).random(input.shape) < input
    return Drawn(example, choices=(np.floor(input), np.ceil(input)), mean=input, deviation=np.sqrt(input * (1 - input)))


case = BERNOULLI.case

STEPS = np.arange(600).reshape(20, 30) / 599
"""Every probability from 0 to 1.

For values in wrong positions, only the certain ones differ, not the mean of all.
"""
CERTAIN = np.arange(60).reshape(5, 12) % 3 == 0
HALF_OR_CERTAIN = np.where(np.arange(900).reshape(30, 30) % 2, 0.5, 1)

case("steps", input=STEPS, cites=(DRAWS, PROBABILITIES))
ALIKE = vary(tenth=np.full((40, 25), 0.1), half=np.full((40, 25), 0.5), most=np.full((40, 25), 0.95))
case("all", input=ALIKE, cites=(PROBABILITIES, OWN_VALUES))
case("certain", Tag.EDGE, input=CERTAIN, cites=PROBABILITIES)
case("certain_and_half", input=HALF_OR_CERTAIN, cites=PROBABILITIES)
case("all", Tag.EDGE, input=vary(zero=np.zeros((3, 4)), one=np.ones((3, 4))), cites=RANGE)
case("seed", input=STEPS, seed=3.5, cites=SEED)
case("seed_zero", Tag.EDGE, input=STEPS, seed=0.0, cites=SEED)
case("rank0", Tag.EDGE, input=1, cites=SAME_SHAPE)
case("zero_size", Tag.EDGE, input=np.zeros((3, 0)), cites=SAME_SHAPE)
case("rank5", input=np.full((5, 4, 3, 2, 5), 0.25), cites=SAME_SHAPE)
case("dtypes", Tag.DTYPE, each="T1", input=np.full((20, 30), 0.25), cites=(FLOATS, DEFAULT))
case("output_dtypes", Tag.DTYPE, each="T2", input=STEPS, dtype=element_type("{T2}"), cites=(NUMERIC, SAME_SHAPE))
case("output_dtypes_certain", Tag.DTYPE, Tag.EDGE, each="T2", input=CERTAIN, dtype=element_type("{T2}"), cites=RANGE)

case("above_one", Tag.EDGE, input=[0.5, 1.5], rejects=PROBABILITIES)
case("below_zero", Tag.EDGE, input=[0.5, -0.1], rejects=RANGE)
case("nan", Tag.EDGE, input=[0.5, np.nan], rejects=RANGE)
case("dtype_of_no_type", input=[1, 0], dtype=99, rejects=Rule.TYPES)
