# SPDX-License-Identifier: Apache-2.0
"""RandomUniformLike: draw values from a uniform distribution, in the shape of the input.

    output = RandomUniformLike(input, dtype=None, low=0.0, high=1.0, seed=None)

Versions: 1, 22 (bfloat16).
"""

from __future__ import annotations

import math

import numpy as np

from onnx_conformance.declare import EXACT, Array, Drawn, Op, Tag, Version, attribute, element_type, ramp, typed, vary

UNIFORM = Op(
    "RandomUniformLike", versions=(1, 22), compare=EXACT, rank="input", derives={"T2": attribute("dtype", "T1")}
)
UNIFORM.example(input=ramp(2, 3), dtype=element_type("{T2}"), low=-1.0, high=2.0, seed=3.5)

DRAWS = UNIFORM.clause("Generate a tensor with random values drawn from a uniform distribution.")
COPIED = UNIFORM.clause(
    "The shape of the output tensor is copied from the shape of the input tensor, and the parameters of the uniform "
    "distribution are specified by `low` and `high`."
)
DATA_TYPE = UNIFORM.clause(
    "The data type is specified by the 'dtype' argument, or copied from the input tensor if not provided."
)
ENUM = UNIFORM.clause(
    "The 'dtype' argument must be one of the data types specified in the 'DataType' enum field in the TensorProto "
    "message and be valid as an output type."
)
OPTIONAL = UNIFORM.clause(
    "(Optional) The data type for the elements of the output tensor, if not specified, we will use the data type of "
    "the input tensor."
)
SEED = UNIFORM.clause("(Optional) Seed to the random generator, if not specified we will auto generate one.")
LOW = UNIFORM.clause("Lower boundary of the output values.")
HIGH = UNIFORM.clause(
    "Upper boundary of the output values.",
    note="The text does not define an upper boundary below the lower one, or whether the boundary can be reached.",
)
ANY_TYPE = UNIFORM.clause(
    "Constrain to any tensor type. If the dtype attribute is not provided this must be a valid output type."
)
FLOATS = UNIFORM.clause("Constrain output types to float tensors.")


@UNIFORM.oracle()
def uniform(v: Version, input: Array, low: float, high: float) -> Drawn:
    """Return a description that any values of this distribution satisfy."""
    v.silent(HIGH, not low <= high)
    example = np.asarray(np.random.default_rng(0).uniform(low, high, input.shape))
    deviation = (high - low) / math.sqrt(12)
    return Drawn(example, low=low, high=high, mean=(low + high) / 2, deviation=deviation, kurtosis=1.8)


case = UNIFORM.case

case("default", input=ramp(40, 50), cites=(DRAWS, COPIED, OPTIONAL))
case("low_and_high", input=ramp(40, 50), low=-3.0, high=5.0, cites=(LOW, HIGH))
case("low_alone", input=ramp(2000), low=-7.0, cites=LOW)
case("high_alone", input=ramp(2000), high=9.0, cites=HIGH)
case("narrow", Tag.EDGE, input=ramp(2000), low=0.25, high=0.5, cites=COPIED)
case("both_equal", Tag.EDGE, input=ramp(3, 4), low=2.0, high=2.0, cites=COPIED)
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
case("high_below_low", Tag.EDGE, input=ramp(3), low=2.0, high=1.0, unspecified=HIGH)
