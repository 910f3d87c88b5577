# SPDX-License-Identifier: Apache-2.0
"""DFT: the discrete Fourier transform along one axis, its inverse, and both of real signals by half a spectrum.

    output = DFT(input, dft_length=None, axis=-2, inverse=0, onesided=0)
    output = DFT(input, dft_length=None, axis=1, inverse=0, onesided=0)    # version 17

Versions: 17 (axis as attribute, default 1), 20 (axis as input, default -2; formulas).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onnx_conformance.declare import Array, Clause, Op, Tag, Version, measured, ramp, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.rounding import fourier, rounding_as
from onnx_conformance.declare.sizes import Sizes, filled, fractions, grid

COMPLEX = 2
"""The size of the last dimension for complex numbers. For real numbers it is 1."""


@dataclass(frozen=True)
class Transform:
    """A transform along an axis.

    Attributes:
        axis: the axis, counted from the front.
        length: the length of the transform. Shorter signals are padded with zeros, longer signals are cut.
        inverse: whether it transforms a spectrum into a signal.
        onesided: whether the signal is real and the spectrum ends at length // 2.
    """

    axis: int
    length: int
    inverse: bool
    onesided: bool

    @property
    def half(self) -> int:
        """The number of values of a one-sided spectrum."""
        return self.length // 2 + 1

    def self_conjugate(self) -> list[int]:
        """Return the indices at which the spectrum of a real signal is its own conjugate and therefore real."""
        return [0] if self.length % 2 else [0, self.length // 2]

    def values(self, data: Array) -> Array:
        """Return the complex numbers to transform, including those that follow from symmetry."""
        values = np.moveaxis(data[..., 0] + 1j * (data[..., 1] if data.shape[-1] == COMPLEX else 0), self.axis, -1)
        used = values[..., : self.half if self.inverse and self.onesided else self.length]
        every = np.zeros((*values.shape[:-1], self.length), complex)
        every[..., : used.shape[-1]] = used
        if self.inverse and self.onesided:
            mirrored = np.arange(self.half, self.length)
            every[..., mirrored] = every[..., self.length - mirrored].conj()
        return np.moveaxis(every, -1, self.axis)

    def of(self, data: Array) -> Array:
        """Return the transform."""
        values = rounding_as(np.moveaxis(self.values(data), self.axis, -1), data)
        count = self.half if self.onesided and not self.inverse else self.length
        sums = fourier(values, count, inverse=self.inverse) / (self.length if self.inverse else 1)
        result = np.moveaxis(sums, -1, self.axis)
        return np.stack([result.real] if self.inverse and self.onesided else [result.real, result.imag], -1)


def _transform(input: Array, dft_length: Array | None, axis: int, inverse: int, onesided: int) -> Transform:
    """Return the transform that the arguments of a node describe."""
    size = input.shape[axis]
    default = 2 * (size - 1) if inverse and onesided else size
    length = default if dft_length is None else int(dft_length.item())
    return Transform(axis % input.ndim, length, bool(inverse), bool(onesided))


DFT = Op(
    "DFT",
    versions=(17, 20),
    compare=measured("every addition, in any order, every factor and the angle of each factor round"),
    rank="input",
)
DFT.example(input=waves(2, 5, 3, 1), dft_length=4, axis=1, inverse=0, onesided=1)

NAMED = DFT.clause(
    "Computes the discrete Fourier transform of input.",
    before=20,
    note="The text has no formula and does not mention the factor 1/N of the inverse. The formulas of version 20 "
    "apply, as the official cases show. The official case of the inverse deviates; see the note on the formula of "
    "version 20.",
    against=("test_dft_inverse_opset19",),
)
FORMULA = DFT.clause(r"$$y[m, k] = \sum_{n=0}^{N-1} e^{-2 \pi j \frac{k n}{N} } x[m, n] ,$$", since=20)
INVERSE = DFT.clause(
    r"$$x[m, n] = \frac{1}{N} \sum_{k=0}^{N-1} e^{2 \pi j \frac{k n}{N} } y[m, k] ,$$",
    since=20,
    note="For a sum of 0 the official cases expect 1.9e-7, a rounding error of their float32 computation, and allow "
    "1e-7.",
    against=("test_dft_inverse",),
)
OTHERS = DFT.clause('and `M` denotes the conceptual "all other dimensions,"', since=20)
AXIS_ONE = DFT.clause(
    "set to 1, which corresponds to the first dimension after the batch index.",
    before=20,
    see=("https://github.com/onnx/onnx/issues/5447",),
)
AXIS_LAST = DFT.clause("Default is `-2` (last signal axis).", since=20)
AXIS_SCALAR = DFT.clause(
    "The axis as a scalar on which to perform the DFT.",
    since=20,
    note="ONNX's shape inference rejects a tensor of shape [1], although it accepts one in other operators.",
)
BACK = DFT.clause("Negative value means counting dimensions from the back.")
RANGE = DFT.clause(r"Accepted range is $[-r, -2] \cup [0, r-2]$ where `r = rank(input)`.")
INVALID = DFT.clause("The last dimension is for representing complex numbers and thus is an invalid axis.")
SYMMETRY = DFT.clause(
    "because the real-to-complex Fourier transform satisfies the conjugate symmetry",
    note="The text does not define the result for a spectrum without this symmetry, that is, with a value at 0, or in "
    "the middle of an even length, that is not real.",
)
WHOLE = DFT.clause("When invoked with real or complex valued input, the default value is 0.", before=20)
PARTS = DFT.clause("The final dimension represents the real and imaginary parts of the value in that order.")
SCALAR = DFT.clause(
    "The length of the signal as a scalar.",
    note="The text does not define a length below 1. ONNX's shape inference rejects a tensor of shape [1], although it "
    "accepts one in other operators.",
)
PADDED = DFT.clause("If greater than the axis dimension, the signal will be zero-padded up to")
CUT = DFT.clause("If less than the axis dimension, only the first", note="onnxruntime uses other elements for IRFFT.")
FLOATS = DFT.clause("Constrain input and output types to float tensors.")


@dataclass(frozen=True)
class Wording:
    """Sentences that versions 17 and 20 word differently. Each field is named after the meaning of its sentence."""

    default_false: Clause
    frequencies: Clause
    rfft_of_real: Clause
    irfft_of_complex: Clause
    zero_or_one: Clause
    real: Clause
    complex: Clause
    default_length: Clause
    default_length_half: Clause
    rfft_dimension: Clause
    irfft_dimension: Clause
    length_types: Clause


BEFORE_20 = Wording(
    default_false=DFT.clause(
        "By default this value is set to 0, which corresponds to false.",
        before=20,
        note="The text does not define values other than 0 and 1.",
    ),
    frequencies=DFT.clause(
        "only values for w in [0, 1, 2, ..., floor(n_fft/2) + 1] are used or returned",
        before=20,
        note="The shape of the output decides: it has floor(dft_length/2) + 1 values, starting at 0.",
    ),
    rfft_of_real=DFT.clause(
        "When onesided=1 and inverse=0 (forward DFT), only real input is supported and a one-sided complex spectrum is "
        "returned (RFFT).",
        before=20,
    ),
    irfft_of_complex=DFT.clause(
        "When onesided=1 and inverse=1 (inverse DFT), only complex input is supported and a full real signal is "
        "returned (IRFFT).",
        before=20,
        see=("https://github.com/onnx/onnx/issues/5920", "https://github.com/onnx/onnx/pull/7574"),
    ),
    zero_or_one=DFT.clause("Values can be 0 or 1.", before=20),
    real=DFT.clause(
        "For real input, the following shape is expected: [batch_idx][signal_dim1][signal_dim2]...[signal_dimN][1].",
        before=20,
    ),
    complex=DFT.clause(
        "For complex input, the following shape is expected: [batch_idx][signal_dim1][signal_dim2]...[signal_dimN][2].",
        before=20,
    ),
    default_length=DFT.clause(
        "If not provided, the default dft_length = signal_dim_axis,",
        before=20,
        see=("https://github.com/onnx/onnx/issues/5493",),
    ),
    default_length_half=DFT.clause("in which case the default dft_length is 2 * (signal_dim_axis - 1).", before=20),
    rfft_dimension=DFT.clause("(one-sided complex), with signal_dim_axis = floor(dft_length/2) + 1.", before=20),
    irfft_dimension=DFT.clause("(real), where signal_dim_axis = dft_length.", before=20),
    length_types=DFT.clause(
        "Constrain scalar length types to int64_t.", before=20, note="The signature also allows int32."
    ),
)
SINCE_20 = Wording(
    default_false=DFT.clause(
        "Default is 0, which corresponds to `false`.",
        since=20,
        note="The text does not define values other than 0 and 1.",
    ),
    frequencies=DFT.clause(
        "only values for `k` in `[0, 1, 2, ..., floor(n_fft/2) + 1]` are used or returned",
        since=20,
        note="The shape of the output decides: it has floor(dft_length/2) + 1 values, starting at 0.",
    ),
    rfft_of_real=DFT.clause(
        "When `onesided=1` and `inverse=0` (forward DFT), only real input is supported and a one-sided complex "
        "spectrum is returned (RFFT).",
        since=20,
    ),
    irfft_of_complex=DFT.clause(
        "When `onesided=1` and `inverse=1` (inverse DFT), only complex input is supported and a full real signal is "
        "returned (IRFFT).",
        since=20,
    ),
    zero_or_one=DFT.clause("Value can be `0` or `1`. Default is `0`.", since=20),
    real=DFT.clause(
        "For real input, the following shape is expected: "
        "`[signal_dim0][signal_dim1][signal_dim2]...[signal_dimN][1]`.",
        since=20,
    ),
    complex=DFT.clause(
        "For complex input, the following shape is expected: "
        "`[signal_dim0][signal_dim1][signal_dim2]...[signal_dimN][2]`.",
        since=20,
    ),
    default_length=DFT.clause("If not provided, the default `dft_length = signal_dim_axis`,", since=20),
    default_length_half=DFT.clause("in which case the default dft_length is `2 * (signal_dim_axis - 1)`.", since=20),
    rfft_dimension=DFT.clause("(one-sided complex), with `signal_dim_axis = floor(dft_length/2) + 1`.", since=20),
    irfft_dimension=DFT.clause("(real), where `signal_dim_axis = dft_length`.", since=20),
    length_types=DFT.clause(
        "Constrain scalar length types to integers.", since=20, note="The signature also allows int32."
    ),
)


@DFT.oracle(before=20)
def transformed_before_20(
    v: Version, input: Array, dft_length: Array | None, axis: int, inverse: int, onesided: int
) -> Array:
    """Return the transform. The axis is an attribute."""
    return _transformed(v, BEFORE_20, input, dft_length, axis, inverse, onesided)


@DFT.oracle(since=20)
def transformed_since_20(
    v: Version, input: Array, dft_length: Array | None, axis: Array | None, inverse: int, onesided: int
) -> Array:
    """Return the transform. The axis is an input."""
    v.silent(AXIS_SCALAR, axis is not None and axis.shape == (1,))
    along = -2 if axis is None else int(v.scalar(AXIS_SCALAR, axis))
    return _transformed(v, SINCE_20, input, dft_length, along, inverse, onesided)


def _transformed(
    v: Version, wording: Wording, input: Array, dft_length: Array | None, axis: int, inverse: int, onesided: int
) -> Array:
    v.require(RANGE, -input.ndim <= axis <= -2 or 0 <= axis <= input.ndim - 2)  # noqa: PLR2004 - as in the sentence
    v.require(wording.complex, input.shape[-1] in {1, COMPLEX})
    v.silent(SCALAR, dft_length is not None and dft_length.shape == (1,))
    length = None if dft_length is None else v.scalar(SCALAR, dft_length)
    v.require(wording.zero_or_one, onesided in {0, 1})
    v.silent(wording.default_false, inverse not in {0, 1})
    if onesided:
        real = input.shape[-1] == 1
        v.require(wording.rfft_of_real, real or bool(inverse))
        v.require(wording.irfft_of_complex, not (real and inverse))
    transform = _transform(input, length, axis, inverse, onesided)
    v.silent(SCALAR, transform.length < 1)
    if inverse and onesided:
        real_ones = transform.values(input).take(transform.self_conjugate(), transform.axis)
        v.silent(SYMMETRY, bool(real_ones.imag.any()))
    return transform.of(input)


case = DFT.case


def half_spectrum(axis: int, length: int, *shape: int) -> Array:
    """Return the first half of the spectrum of a real signal of that length.

    Values are real at the indices at which the spectrum is its own conjugate.
    """
    values = np.moveaxis(waves(*shape, COMPLEX), axis, 0)
    real = Transform(axis, length, inverse=True, onesided=True).self_conjugate()
    values[[index for index in real if index < len(values)], ..., 1] = 0
    return np.moveaxis(values, 0, axis)


REAL_LINE, COMPLEX_LINE = waves(2, 5, 1), waves(2, 5, COMPLEX)
HALF_LINE = half_spectrum(1, 6, 3, 4)
# Sums that do not cancel out, so that a type with few bits keeps some of their digits.
RISING, FAR_FROM_ZERO = COMPLEX_LINE + 3, HALF_LINE.copy()
FAR_FROM_ZERO[:, 0, 0] += 16
LENGTHS = (1, 2, 3, 4, 5, 8, 9)

for versions, wording, formula, inverse_formula in (
    ("before_20", BEFORE_20, NAMED, NAMED),
    ("since_20", SINCE_20, FORMULA, INVERSE),
):
    default = (wording.default_length, wording.default_false)
    irfft = (wording.irfft_of_complex, wording.irfft_dimension)
    case(f"real_{versions}", input=REAL_LINE, axis=1, cites=(formula, wording.real, *default))
    case(f"complex_{versions}", input=COMPLEX_LINE, axis=1, cites=(formula, wording.complex, PARTS, INVALID))
    for name, line in {"real": REAL_LINE, "complex": COMPLEX_LINE}.items():
        forward = (formula, wording.zero_or_one)
        case(f"{name}_inverse_0_{versions}", input=line, axis=1, inverse=0, onesided=0, cites=forward)
        back = (inverse_formula, wording.zero_or_one)
        case(f"{name}_inverse_1_{versions}", input=line, axis=1, inverse=1, onesided=0, cites=back)
    for length in LENGTHS:
        spectrum = half_spectrum(1, length, 3, length // 2 + 1)
        rfft = (wording.rfft_of_real, wording.frequencies, wording.rfft_dimension, SYMMETRY)
        case(f"rfft_of_{length}_{versions}", input=waves(3, length, 1), axis=1, onesided=1, cites=rfft)
        case(
            f"irfft_of_{length}_{versions}",
            input=spectrum,
            axis=1,
            dft_length=length,
            inverse=1,
            onesided=1,
            cites=irfft,
        )
        case(
            f"length_{length}_irfft_{versions}",
            input=half_spectrum(1, length, 2, 4),
            axis=1,
            dft_length=length,
            inverse=1,
            onesided=1,
            cites=(PADDED if length >= 4 else CUT, *irfft),  # noqa: PLR2004 - the size of the spectrum
        )
    left_out = (wording.default_length_half, *irfft)
    case(f"irfft_length_left_out_{versions}", input=HALF_LINE, axis=1, inverse=1, onesided=1, cites=left_out)
    floats = (FLOATS, *irfft)
    case(
        f"dtypes_irfft_{versions}",
        Tag.DTYPE,
        each="T1",
        input=FAR_FROM_ZERO,
        axis=1,
        inverse=1,
        onesided=1,
        cites=floats,
    )
    for rank in (2, 3, 4):
        for axis in (*range(-rank, -1), *range(rank - 1)):
            case(
                f"rank{rank}_axis{axis}_irfft_{versions}".replace("-", "_minus"),
                Tag.AXIS,
                input=half_spectrum(axis % rank, 4, *(3, 4, 5)[: rank - 1]),
                axis=axis,
                dft_length=4,
                inverse=1,
                onesided=1,
                cites=(RANGE, *([BACK] if axis < 0 else []), *irfft),
            )
    case(f"last_{versions}", input=vary(of_0=ramp(2, 5, 0), of_3=ramp(2, 5, 3)), axis=1, rejects=wording.complex)
    case(f"onesided_two_{versions}", input=REAL_LINE, axis=1, onesided=2, rejects=wording.zero_or_one)
    case(f"rfft_of_complex_{versions}", input=COMPLEX_LINE, axis=1, onesided=1, rejects=wording.rfft_of_real)
    real = wording.irfft_of_complex
    case(f"irfft_of_real_{versions}", input=REAL_LINE, axis=1, inverse=1, onesided=1, rejects=real)
    integers = wording.length_types
    case(f"length_dtypes_{versions}", Tag.DTYPE, each="T2", input=COMPLEX_LINE, axis=1, dft_length=3, cites=integers)
FALSE_BEFORE_20, FALSE_SINCE_20 = BEFORE_20.default_false, SINCE_20.default_false
case("inverse_two_before_20", Tag.EDGE, input=COMPLEX_LINE, axis=1, inverse=2, before=20, unspecified=FALSE_BEFORE_20)
case("inverse_two_since_20", Tag.EDGE, input=COMPLEX_LINE, axis=1, inverse=2, since=20, unspecified=FALSE_SINCE_20)
case("axis_left_out_before_20", Tag.CHANGE, input=waves(2, 3, 4, COMPLEX), cites=AXIS_ONE)
case("axis_left_out_since_20", Tag.CHANGE, input=waves(2, 3, 4, COMPLEX), cites=AXIS_LAST)
case("onesided_left_out", input=vary(real=waves(3, 4, 1), complex=waves(3, 4, COMPLEX)), axis=1, cites=WHOLE)
case("all_other_dimensions", input=waves(2, 3, 4, COMPLEX), axis=1, cites=OTHERS)

for length in LENGTHS:
    of_5 = PADDED if length >= COMPLEX_LINE.shape[1] else CUT
    case(f"length_{length}", input=COMPLEX_LINE, axis=1, dft_length=length, cites=(of_5, SCALAR))
    case(f"length_{length}_inverse", input=COMPLEX_LINE, axis=1, dft_length=length, inverse=1, cites=SCALAR)
    case(f"length_{length}_rfft", input=REAL_LINE, axis=1, dft_length=length, onesided=1, cites=SCALAR)
for name, length in {"prime": 17, "power": 32, "product": 12}.items():
    long = np.cos(np.arange(2.0 * length) ** 2).reshape(1, length, COMPLEX)
    case(f"long_{name}", input=long, axis=1)
    case(f"long_{name}_inverse", input=long, axis=1, inverse=1)
case("impulse", Tag.EDGE, input=np.eye(1, 10, 2).reshape(1, 5, COMPLEX), axis=1, inverse=1)
case("size_one", Tag.EDGE, input=[[[3.0, -2.0]]], axis=1)
case("no_batch", Tag.EDGE, input=ramp(0, 3, COMPLEX), axis=1)
case("nothing_padded", Tag.EDGE, input=ramp(2, 0, 1), axis=1, dft_length=3, cites=PADDED)

for rank in (2, 3, 4):
    shape = (3, 4, 5)[: rank - 1]
    for axis in (*range(-rank, -1), *range(rank - 1)):
        name = f"rank{rank}_axis{axis}".replace("-", "_minus")
        cites = (RANGE, BACK) if axis < 0 else (RANGE,)
        case(name, Tag.AXIS, input=waves(*shape, COMPLEX), axis=axis, cites=cites)
        case(f"{name}_rfft", Tag.AXIS, input=waves(*shape, 1), axis=axis, onesided=1, dft_length=6, cites=cites)
    outside = vary(last=rank - 1, minus_one=-1, too_high=rank, too_low=-rank - 1)
    case(f"rank{rank}_axis", Tag.AXIS, input=waves(*shape, COMPLEX), axis=outside, rejects=RANGE)
case("rank0", Tag.EDGE, input=ramp(), axis=0, rejects=RANGE)
case("rank1", Tag.EDGE, input=ramp(COMPLEX), axis=0, rejects=RANGE)
case("rank2_axis_left_out_before_20", Tag.CHANGE, input=COMPLEX_LINE[0], before=20, rejects=RANGE)
case("rank2_axis_left_out_since_20", Tag.CHANGE, input=COMPLEX_LINE[0], cites=AXIS_LAST)
case("axis_vector", Tag.EDGE, input=COMPLEX_LINE, axis=[1], since=20, unspecified=AXIS_SCALAR)
case("length_vector", Tag.EDGE, input=COMPLEX_LINE, axis=1, dft_length=[4], unspecified=SCALAR)
case("axis_of_two", input=COMPLEX_LINE, axis=[1, 1], since=20, rejects=AXIS_SCALAR)
case("length_of_two", input=COMPLEX_LINE, axis=1, dft_length=[4, 4], rejects=SCALAR)
case("length_negative", Tag.EDGE, input=COMPLEX_LINE, axis=1, dft_length=-5, unspecified=SCALAR)
case("nothing", Tag.EDGE, input=ramp(2, 0, 1), axis=1, unspecified=SCALAR)
ONE_VALUE = half_spectrum(1, 1, 2, 1)
case("irfft_of_one_value", Tag.EDGE, input=ONE_VALUE, axis=1, inverse=1, onesided=1, unspecified=SCALAR)
case("irfft_not_symmetric", Tag.EDGE, input=COMPLEX_LINE, axis=1, inverse=1, onesided=1, unspecified=SYMMETRY)
MIDDLE = HALF_LINE.copy()
MIDDLE[0, -1, 1] = 1
case("irfft_middle_not_real", Tag.EDGE, input=MIDDLE, axis=1, inverse=1, onesided=1, unspecified=SYMMETRY)

case("dtypes", Tag.DTYPE, each="T1", input=RISING, axis=1, cites=FLOATS)
LENGTH_OUTSIDE = SINCE_20.length_types
case("length_outside", Tag.DTYPE, outside="T2", input=COMPLEX_LINE, axis=1, dft_length=3, rejects=LENGTH_OUTSIDE)

SIGNALS = (7, 16, 31, 64, 127, 240, 256, 509, 1000, 1009, 1024, 4096)
"""Primes, powers of 2 and other products: fast transforms have other code for each of them."""
DFT.sized(
    "real_onesided",
    grid(b=(1,), n=SIGNALS),
    cites=(FORMULA, SINCE_20.rfft_of_real),
    arguments={"input": filled("b", "n", 1), "axis": 1, "onesided": 1},
)
DFT.sized(
    "real",
    grid(b=(2,), n=SIGNALS[:-4]),
    cites=(FORMULA, SINCE_20.real),
    arguments={"input": filled("b", "n", 1), "axis": 1},
)
DFT.sized(
    "complex",
    grid(b=(2,), n=SIGNALS[:-4:2]) + grid(b=(17,), n=(2048,)),
    cites=(FORMULA, SINCE_20.complex),
    arguments={"input": filled("b", "n", 2), "axis": 1},
)
DFT.sized(
    "inverse",
    grid(b=(2,), n=SIGNALS[1:-4:2]),
    cites=(INVERSE, SINCE_20.complex),
    arguments={"input": filled("b", "n", 2), "axis": 1, "inverse": 1},
)


def _half(sizes: Sizes) -> Array:
    """Return half the spectrum of a real signal of even length: its first and its last value are real."""
    count = sizes["n"] // 2 + 1
    spectrum = fractions(f"{DFT} half {sizes}", 2 * count).reshape(1, count, COMPLEX).astype(np.float32)
    spectrum[:, [0, -1], 1] = 0
    return spectrum


DFT.sized(
    "inverse_onesided",
    grid(n=(16, 64, 240, 256, 1000)),
    cites=(INVERSE, SYMMETRY, SINCE_20.irfft_of_complex),
    arguments={"input": _half, "axis": 1, "inverse": 1, "onesided": 1},
)
DFT.sized(
    "padded",
    grid(b=(2,), n=(33, 100), length=(64, 128, 509))[1:],
    cites=(FORMULA, PADDED),
    arguments={"input": filled("b", "n", 1), "dft_length": lambda sizes: sizes["length"], "axis": 1},
)
DFT.sized(
    "cut",
    grid(b=(2,), n=(300,), length=(33, 128, 256)),
    cites=(FORMULA, CUT),
    arguments={"input": filled("b", "n", 1), "dft_length": lambda sizes: sizes["length"], "axis": 1},
)
DFT.sized(
    "columns",
    grid(b=(2,), n=(16, 60), w=(7, 16)),
    cites=(FORMULA, OTHERS),
    arguments={"input": filled("b", "n", "w", 1), "axis": -3},
)
DFT.sized(
    "types",
    grid(b=(3,), n=(7, 16, 31, 32)),
    each="T1",
    cites=(FORMULA, FLOATS),
    arguments={"input": filled("b", "n", 1), "axis": 1, "onesided": 1},
)
