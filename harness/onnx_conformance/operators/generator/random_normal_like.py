# SPDX-License-Identifier: Apache-2.0
"""RandomNormalLike: draw values from a normal distribution, in the shape of the input.

    output = RandomNormalLike(input, dtype=None, mean=0.0, scale=1.0, seed=None)

Versions: 1, 22 (bfloat16).
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import EXACT, Array, Drawn, Op, Tag, Version, attribute, element_type, ramp, typed, vary

NORMAL = Op("RandomNormalLike", versions=(1, 22), compare=EXACT, rank="input", derives={"T2": attribute("dtype", "T1")})
NORMAL.example(input=ramp(2, 3), dtype=element_type("{T2}"), mean=1.0, scale=2.0, seed=3.5)

DRAWS = NORMAL.clause("Generate a tensor with random values drawn from a normal distribution.")
COPIED = NORMAL.clause(
    "The shape of the output tensor is copied from the shape of the input tensor, and the parameters of the normal "
    "distribution are specified by `mean` and `scale`."
)
DATA_TYPE = NORMAL.clause(
    "The data type is specified by the 'dtype' argument, or copied from the input tensor if not provided."
)
ENUM = NORMAL.clause(
    "The 'dtype' argument must be one of the data types specified in the 'DataType' enum field in the TensorProto "
    "message, and be valid as an output type."
)
OPTIONAL = NORMAL.clause(
    "(Optional) The data type for the elements of the output tensor, if not specified, we will use the data type of "
    "the input tensor."
)
SEED = NORMAL.clause("(Optional) Seed to the random generator, if not specified we will auto generate one.")
SCALE = NORMAL.clause(
    "The standard deviation of the normal distribution.",
    note="The text does not define a deviation that is negative or not finite.",
)
MEAN = NORMAL.clause("The mean of the normal distribution.", note="The text does not define a mean that is not finite.")
ANY_TYPE = NORMAL.clause(
    "Constrain to any tensor type. If the dtype attribute is not provided this must be a valid output type."
)
FLOATS = NORMAL.clause("Constrain output types to float tensors.")


@NORMAL.oracle()
def normal(v: Version, input: Array, mean: float, scale: float) -> Drawn:
    """Return a description that any values of this distribution satisfy."""
    v.silent(MEAN, not np.isfinite(mean))
    v.silent(SCALE, not 0 <= scale < np.inf)
    example = np.asarray(np.random.default_rng(0).normal(mean, scale, input.shape))
    return Drawn(example, mean=mean, deviation=scale, kurtosis=3)


case = NORMAL.case

case("default", input=ramp(40, 50), cites=(DRAWS, COPIED, OPTIONAL))
case("mean", input=ramp(40, 50), mean=7.5, cites=(MEAN, COPIED))
case("scale", input=ramp(2000), scale=0.25, cites=(SCALE, COPIED))
case("mean_and_scale", input=ramp(1000, 2), mean=-3.0, scale=5.0, cites=COPIED)
case("mean_far_from_scale", Tag.EDGE, input=ramp(2000), mean=1000.0, scale=10.0, cites=COPIED)
case("scale_zero", Tag.EDGE, input=ramp(3, 4), mean=2.5, scale=0.0, cites=SCALE)
case("seed", input=ramp(40, 50), seed=3.5, cites=SEED)
case("seed_zero", Tag.EDGE, input=ramp(40, 50), seed=0.0, cites=SEED)
case("shape", Tag.EDGE, input=vary(rank0=3, one_element=[3], zero_size=ramp(3, 0, 2)), cites=COPIED)
case("rank5", input=ramp(5, 4, 3, 2, 10), cites=COPIED)
for type_ in ("float16", "float", "double"):
    case(f"type_copied_{type_}", Tag.DTYPE, input=typed(type_, ramp(30, 20)), cites=(DATA_TYPE, OPTIONAL))
case("type_copied_bfloat16", Tag.DTYPE, input=typed("bfloat16", ramp(30, 20)), since=22, cites=DATA_TYPE)
case("dtypes", Tag.DTYPE, each="T2", input=ramp(30, 20), dtype=element_type("{T2}"), cites=(DATA_TYPE, FLOATS))
case("input_dtypes", Tag.DTYPE, each="T1", input=ramp(30, 20), dtype=element_type("float"), cites=ANY_TYPE)

case("type_not_copied", Tag.DTYPE, input=typed("int32", ramp(3)), rejects=ANY_TYPE)
case("type_of_text_not_copied", Tag.DTYPE, input=typed("string", ramp(3)), rejects=ANY_TYPE)
case("dtype_of_no_type", input=ramp(3), dtype=99, rejects=ENUM)
case("mean_infinite", Tag.EDGE, input=ramp(3), mean=np.inf, unspecified=MEAN)
case("scale_negative", Tag.EDGE, input=ramp(3), scale=-1.0, unspecified=SCALE)
case("scale_infinite", Tag.EDGE, input=ramp(3), scale=np.inf, unspecified=SCALE)
