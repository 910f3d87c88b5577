# SPDX-License-Identifier: Apache-2.0
"""MelWeightMatrix: the weights of the bins of a spectrum in the bands of a mel spectrum.

    output = MelWeightMatrix(num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz, ...)

Version: 17.
"""

from __future__ import annotations

import numpy as np

from onnx_conformance.declare import Array, Op, PartlyOpen, Tag, Tolerance, Version, element_type, typed, vary
from onnx_conformance.declare.sizes import grid

MEL = Op(
    "MelWeightMatrix",
    versions=(17,),
    compare=Tolerance("the values that the text determines are all 0"),
    rank=lambda _: 2,
    derives={"T3": lambda _, attributes: attributes.get("output_datatype", "tensor(float)")},
)
MEL.example(
    num_mel_bins=3,
    dft_length=10,
    sample_rate=1000,
    lower_edge_hertz=250,
    upper_edge_hertz=350,
    output_datatype=element_type("{T3}"),
)

GENERATES = MEL.clause(
    "Generate a MelWeightMatrix that can be used to re-weight a Tensor containing a linearly sampled frequency spectra "
    "(from DFT or STFT) into num_mel_bins frequency information based on the [lower_edge_hertz, upper_edge_hertz] "
    "range on the mel scale.",
    note="The text does not define the position of the bands within the range, or the value of a triangle between two "
    "bins. onnx.reference has num_mel_bins + 2 points in steps of the range divided by that number, so the last point "
    "is not at the upper edge, and it rounds the points to bins. Therefore all bins within the range are left open, "
    "plus one bin on either side for implementations that round. The official case expects the values of "
    "onnx.reference.",
    against=("test_melweightmatrix",),
)
SCALE = MEL.clause("mel(f) = 2595 * log10(1 + f/700)", note="For frequencies >= 0.")
PEAK = MEL.clause(
    "In the returned matrix, all the triangles (filterbanks) have a peak value of 1.0.",
    note="If a peak is between two bins, no element of the matrix has this value.",
)
MULTIPLIES = MEL.clause(
    "The returned MelWeightMatrix can be used to right-multiply a spectrogram S of shape [frames, num_spectrogram_bins]"
)
BANDS = MEL.clause(
    "The number of bands in the mel spectrum.", note="The text does not define 0 bands, and does not require a scalar."
)
SIZE = MEL.clause("The size of the original DFT.", note="The text does not define a size below 1.")
HALF = MEL.clause(
    "The size of the original DFT is used to infer the size of the onesided DFT, which is understood to be "
    "floor(dft_length/2) + 1, i.e. the spectrogram only contains the nonredundant DFT bins."
)
RATE = MEL.clause(
    "Samples per second of the input signal used to create the spectrogram.",
    note="The text does not define a rate below 1.",
)
FREQUENCIES = MEL.clause(
    "Used to figure out the frequencies corresponding to each spectrogram bin, which dictates how they are mapped into "
    "the mel scale."
)
LOWER = MEL.clause(
    "Lower bound on the frequencies to be included in the mel spectrum.",
    note="The text does not define a frequency that is negative, not finite or above the upper edge.",
)
LOWEST = MEL.clause("This corresponds to the lower edge of the lowest triangular band.")
UPPER = MEL.clause("The desired top edge of the highest frequency band.")
SHAPE = MEL.clause("The output has the shape: [floor(dft_length/2) + 1][num_mel_bins].")
DATA_TYPE = MEL.clause(
    "Strictly must be one of the values from DataType enum in TensorProto whose values correspond to T3."
)
DEFAULT = MEL.clause("The default value is 1 = FLOAT.")
INTEGERS = MEL.clause("Constrain to integer tensors.")
FLOATS = MEL.clause("Constrain to float tensors")
NUMERIC = MEL.clause("Constrain to any numerical types.")


@MEL.oracle()
def weights(
    v: Version,
    num_mel_bins: Array,
    dft_length: Array,
    sample_rate: Array,
    lower_edge_hertz: Array,
    upper_edge_hertz: Array,
) -> PartlyOpen:
    """Return 0 for the bins whose frequencies are outside the edges. All other elements are open."""
    inputs = (num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz)
    v.silent(BANDS, any(item.ndim for item in inputs))
    bands, size, rate, lower, upper = (item.item() for item in inputs)
    v.silent(BANDS, bands < 1)
    v.silent(SIZE, size < 1)
    v.silent(RATE, rate < 1)
    v.silent(LOWER, not 0 <= lower < upper < np.inf)
    width = rate / size
    frequencies = np.arange(size // 2 + 1) * width
    outside = (frequencies < lower - width) | (frequencies > upper + width)
    is_open = np.repeat(~outside[:, np.newaxis], bands, axis=1)
    return PartlyOpen(is_open.astype(np.float64), is_open)


CALL = {"num_mel_bins": 3, "dft_length": 20, "sample_rate": 1000, "lower_edge_hertz": 210, "upper_edge_hertz": 340}
"""The bins are 50 Hz apart. Those from 0 to 150 Hz and from 400 Hz on have no weight."""


def case(name: str, *tags: Tag, **words: object) -> None:
    """Declare a case of CALL, with some arguments replaced."""
    MEL.case(name, *tags, **{**CALL, **words})  # type: ignore[arg-type]


case("between_edges", cites=(GENERATES, SCALE, PEAK, SHAPE, LOWER, LOWEST, UPPER, DEFAULT))
case("high", lower_edge_hertz=430, upper_edge_hertz=500, cites=LOWER)
case("on_bins", Tag.EDGE, lower_edge_hertz=200, upper_edge_hertz=350, cites=(LOWER, UPPER))
case("one_bin", Tag.EDGE, num_mel_bins=1, cites=(BANDS, MULTIPLIES))
case("length_odd", Tag.EDGE, dft_length=21, cites=(SIZE, HALF))
case("length_of_1", Tag.EDGE, dft_length=1, upper_edge_hertz=400, cites=HALF)
case("low", lower_edge_hertz=0, upper_edge_hertz=110, cites=UPPER)
case("sample_rate_one", sample_rate=1, lower_edge_hertz=0.21, upper_edge_hertz=0.34, cites=(RATE, FREQUENCIES))
case(
    "dtypes",
    Tag.DTYPE,
    each="T3",
    output_datatype=element_type("{T3}"),
    but=("int16", "int64", "uint16", "uint32"),
    cites=(DATA_TYPE, NUMERIC),
)
case("size_dtypes", Tag.DTYPE, each="T1", cites=INTEGERS)
case("edge_dtypes", Tag.DTYPE, each="T2", cites=FLOATS)

case("datatype", Tag.DTYPE, output_datatype=vary(of_no_type=99, bool=9), rejects=DATA_TYPE)
case("bins_none", Tag.EDGE, num_mel_bins=0, unspecified=BANDS)
case("size_vector", Tag.EDGE, dft_length=typed("int64", [20]), unspecified=BANDS)
case("length_zero", Tag.EDGE, dft_length=0, unspecified=SIZE)
case("sample_rate_zero", Tag.EDGE, sample_rate=0, unspecified=RATE)
case("lower_negative", Tag.EDGE, lower_edge_hertz=-1, unspecified=LOWER)
case("edges_equal", Tag.EDGE, lower_edge_hertz=340, unspecified=LOWER)
case("upper_infinite", Tag.EDGE, upper_edge_hertz=np.inf, unspecified=LOWER)
case("lower_nan", Tag.EDGE, lower_edge_hertz=np.nan, unspecified=LOWER)

MEL.sized(
    "bands",
    grid(bands=(8, 40, 67, 128), size=(256, 400, 1024)),
    cites=(GENERATES, SHAPE),
    arguments={
        "num_mel_bins": lambda sizes: sizes["bands"],
        "dft_length": lambda sizes: sizes["size"],
        "sample_rate": 16_000,
        "lower_edge_hertz": 300.0,
        "upper_edge_hertz": 6000.0,
    },
)
