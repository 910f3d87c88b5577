# SPDX-License-Identifier: Apache-2.0
"""RandomUniform: draw values from a uniform distribution.

    output = RandomUniform(shape=..., dtype=float, low=0.0, high=1.0, seed=None)

Versions: 1, 22 (bfloat16).
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import EXACT, Drawn, Op, Tag, Version, attribute, element_type, length_of, vary

UNIFORM = Op(
    "RandomUniform", versions=(1, 22), compare=EXACT, rank=length_of("shape"), derives={"T": attribute("dtype")}
)
UNIFORM.example(shape=[2, 3], dtype=element_type("{T}"), low=-1.0, high=2.0, seed=3.5)

DRAWS = UNIFORM.clause("Generate a tensor with random values drawn from a uniform distribution.")
PARAMETERS = UNIFORM.clause(
    "The shape of the tensor is specified by the `shape` argument and the range by `low` and `high`."
)
DATA_TYPE = UNIFORM.clause("The data type is specified by the 'dtype' argument.")
ENUM = UNIFORM.clause(
    "The 'dtype' argument must be one of the data types specified in the 'DataType' enum field in the TensorProto "
    "message."
)
SHAPE = UNIFORM.clause("The shape of the output tensor.", note="The text does not define a negative dimension.")
DEFAULT = UNIFORM.clause(
    "The data type for the elements of the output tensor. If not specified, default is TensorProto::FLOAT."
)
SEED = UNIFORM.clause("(Optional) Seed to the random generator, if not specified we will auto generate one.")
LOW = UNIFORM.clause("Lower boundary of the output values.")
HIGH = UNIFORM.clause(
    "Upper boundary of the output values.",
    note="The text does not define an upper boundary below the lower one, or whether the boundary can be reached.",
)
FLOATS = UNIFORM.clause("Constrain output types to float tensors.")


@UNIFORM.oracle()
def uniform(v: Version, shape: list[int], low: float, high: float) -> Drawn:
    """Return a description that any values of this distribution satisfy."""
    v.silent(SHAPE, any(size < 0 for size in shape))
    v.silent(HIGH, not -math.inf < low <= high < math.inf)
    example = np.asarray(np.random.default_rng(0).uniform(low, high, shape))
    deviation = (high - low) / math.sqrt(12)
    return Drawn(example, low=low, high=high, mean=(low + high) / 2, deviation=deviation, kurtosis=1.8)


case = UNIFORM.case

case("default", shape=[40, 50], cites=(DRAWS, DEFAULT))
case("low_and_high", shape=[40, 50], low=-3.0, high=5.0, cites=(LOW, HIGH, PARAMETERS))
case("low_alone", shape=[2000], low=-7.0, cites=LOW)
case("high_alone", shape=[2000], high=9.0, cites=HIGH)
case("narrow", Tag.EDGE, shape=[1000, 2], low=0.25, high=0.5, cites=PARAMETERS)
case("both_equal", Tag.EDGE, shape=[3, 4], low=2.0, high=2.0, cites=PARAMETERS)
case("seed", shape=[40, 50], seed=3.5, cites=SEED)
case("seed_zero", Tag.EDGE, shape=[40, 50], seed=0.0, cites=SEED)
case("shape", Tag.EDGE, shape=vary(rank0=[], one_element=[1], zero_size=[3, 0, 2]), cites=SHAPE)
case("rank5", shape=[5, 4, 3, 2, 10], cites=SHAPE)
case("dtypes", Tag.DTYPE, each="T", shape=[30, 20], dtype=element_type("{T}"), cites=(DATA_TYPE, FLOATS))
case("dtypes_seed", Tag.DTYPE, each="T", shape=[30, 20], dtype=element_type("{T}"), seed=2.0, cites=SEED)

case("dtype_of_no_type", shape=[3], dtype=99, rejects=ENUM)
case("dimension_negative", Tag.EDGE, shape=[3, -1], unspecified=SHAPE)
case("high_below_low", Tag.EDGE, shape=[3], low=2.0, high=1.0, unspecified=HIGH)
case("high_infinite", Tag.EDGE, shape=[3], high=math.inf, unspecified=HIGH)
case("low_infinite", Tag.EDGE, shape=[3], low=-math.inf, unspecified=HIGH)
