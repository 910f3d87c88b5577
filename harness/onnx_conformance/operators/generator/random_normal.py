# SPDX-License-Identifier: Apache-2.0
"""RandomNormal: draw values from a normal distribution.

    output = RandomNormal(shape=..., dtype=float, mean=0.0, scale=1.0, seed=None)

Versions: 1, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Drawn, Op, Tag, Version, attribute, element_type, length_of, vary

NORMAL = Op("RandomNormal", versions=(1, 22), compare=EXACT, rank=length_of("shape"), derives={"T": attribute("dtype")})
NORMAL.example(shape=[2, 3], dtype=element_type("{T}"), mean=1.0, scale=2.0, seed=3.5)

DRAWS = NORMAL.clause("Generate a tensor with random values drawn from a normal distribution.")
PARAMETERS = NORMAL.clause(
    "The shape of the tensor is specified by the `shape` argument and the parameter of the normal distribution "
    "specified by `mean` and `scale`."
)
DATA_TYPE = NORMAL.clause("The data type is specified by the 'dtype' argument.")
ENUM = NORMAL.clause(
    "The 'dtype' argument must be one of the data types specified in the 'DataType' enum field in the TensorProto "
    "message."
)
SHAPE = NORMAL.clause("The shape of the output tensor.", note="The text does not define a negative dimension.")
DEFAULT = NORMAL.clause("The data type for the elements of the output tensor. Default is TensorProto::FLOAT.")
SEED = NORMAL.clause("(Optional) Seed to the random generator, if not specified we will auto generate one.")
SCALE = NORMAL.clause(
    "The standard deviation of the normal distribution.",
    note="The text does not define a deviation that is negative or not finite.",
)
MEAN = NORMAL.clause("The mean of the normal distribution.")
FLOATS = NORMAL.clause("Constrain output types to float tensors.")


@NORMAL.oracle()
def normal(v: Version, shape: list[int], mean: float, scale: float) -> Drawn:
    """Return a description that any values of this distribution satisfy."""
    v.silent(SHAPE, any(size < 0 for size in shape))
    v.silent(SCALE, not (np.isfinite([scale, mean]).all() and scale >= 0))
    example = np.random.default_rng(0).normal(mean, scale, shape)
    return Drawn(example, mean=mean, deviation=scale, kurtosis=3)


case = NORMAL.case

case("default", shape=[40, 50], cites=(DRAWS, DEFAULT))
case("mean", shape=[40, 50], mean=7.5, cites=(MEAN, PARAMETERS))
case("scale", shape=[40, 50], scale=0.25, cites=(SCALE, PARAMETERS))
case("mean_and_scale", shape=[1000, 2], mean=-3.0, scale=5.0, cites=PARAMETERS)
case("mean_far_from_scale", Tag.EDGE, shape=[2000], mean=1000.0, scale=10.0, cites=PARAMETERS)
case("scale_zero", Tag.EDGE, shape=[3, 4], mean=2.5, scale=0.0, cites=SCALE)
case("seed", shape=[40, 50], seed=3.5, cites=SEED)
case("seed", Tag.EDGE, shape=[40, 50], seed=vary(zero=0.0, negative=-1.0), cites=SEED)
case("shape", Tag.EDGE, shape=vary(rank0=[], one_element=[1], zero_size=[3, 0, 2]), cites=SHAPE)
case("rank5", shape=[5, 4, 3, 2, 10], cites=SHAPE)
case("dtypes", Tag.DTYPE, each="T", shape=[30, 20], dtype=element_type("{T}"), cites=(DATA_TYPE, FLOATS))
case("dtypes_seed", Tag.DTYPE, each="T", shape=[30, 20], dtype=element_type("{T}"), seed=2.0, cites=SEED)

case("dtype_of_no_type", shape=[3], dtype=99, rejects=ENUM)
case("dimension_negative", Tag.EDGE, shape=[3, -1], unspecified=SHAPE)
case("mean_infinite", Tag.EDGE, shape=[3], mean=np.inf, unspecified=SCALE)
case("scale_negative", Tag.EDGE, shape=[3], scale=-1.0, unspecified=SCALE)
