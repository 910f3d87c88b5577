# SPDX-License-Identifier: Apache-2.0
"""STFT: the discrete Fourier transforms of frames of a signal, each multiplied by a window.

    output = STFT(signal, frame_step, window=None, frame_length=None, onesided=1)

Version: 17.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_conformance.declare import Array, Op, Tag, Version, measured, ramp, typed, vary
from onnx_conformance.declare.data import waves
from onnx_conformance.declare.rounding import fourier
from onnx_conformance.declare.sizes import filled

COMPLEX = 2
"""The size of the last dimension for complex numbers. For real numbers it is 1."""

STFT = Op(
    "STFT",
    versions=(17,),
    compare=measured("every addition, in any order, every factor, the angle of each factor and the window round"),
    rank=lambda _: 4,
)
STFT.example(signal=waves(2, 11, 1), frame_step=3, window=np.arange(1.0, 6), frame_length=5, onesided=0)

SLIDING = STFT.clause(
    "The STFT is computed by sliding a window of length `frame_length` over the signal with a step size of "
    "`frame_step`, computing a DFT of each windowed frame.",
    note="The DFT is that of the operator DFT: forward and not scaled. The text does not define a step or a length "
    "below 1.",
)
FRAMES = STFT.clause(
    "`frames = floor((signal_length - frame_length) / frame_step) + 1`",
    note="For a frame longer than the signal this is 0 or negative. This is left open.",
)
REJECTED = "ONNX's shape inference rejects a tensor of shape [1], although it accepts one in other operators."
STEP_SCALAR = STFT.clause("`frame_step` must be a scalar.", note=REJECTED)
LENGTH_SCALAR = STFT.clause("`frame_length` must be a scalar.", note=REJECTED)
INFERRED = STFT.clause("When omitted and `window` is provided, `frame_length` is inferred from `window.shape[0]`.")
BOTH_OMITTED = STFT.clause(
    "When both `window` and `frame_length` are omitted, `frame_length` defaults to `signal_length`."
)
VECTOR = STFT.clause("`window` must be a 1-D tensor.")
ONES = STFT.clause("When omitted, a rectangular (all-ones) window of length `frame_length` is used.")
EQUAL = STFT.clause(
    "When both `window` and `frame_length` are provided, the length of the `window` tensor must equal `frame_length`."
)
EQUAL_TOO = STFT.clause("the length of the `window` must equal `frame_length`.")
ONESIDED = STFT.clause(
    "If onesided is 1, only values for w in [0, 1, 2, ..., floor(n_fft/2) + 1] are returned because the "
    "real-to-complex Fourier transform satisfies the conjugate symmetry, i.e., X[m, w] = X[m, n_fft-w]*.",
    note="This is one value more than the shape of the output has. The shape decides: frame_length // 2 + 1, as in the "
    "text of DFT.",
)
NOT_POSSIBLE = STFT.clause(
    "Note if the input or window tensors are complex, then onesided output is not possible.",
    note="The default of 1 is not possible for complex signals either.",
)
REAL = STFT.clause("Enabling onesided with real inputs performs a Real-valued fast Fourier transform (RFFT).")
DEFAULT = STFT.clause("When invoked with real or complex valued input, the default value is 1.")
ZERO_OR_ONE = STFT.clause("Values can be 0 or 1.")
REAL_SIGNAL = STFT.clause("For real input, the following shape is expected: [batch_size][signal_length][1].")
COMPLEX_SIGNAL = STFT.clause(
    "For complex input, the following shape is expected: [batch_size][signal_length][2], where "
    "[batch_size][signal_length][0] represents the real component and [batch_size][signal_length][1] represents the "
    "imaginary component of the signal."
)
RANK = STFT.clause("The tensor is expected to have rank 3.")
SAMPLES = STFT.clause("A scalar representing the number of samples to step between successive DFTs.")
APPLIED = STFT.clause(
    "An optional 1-D tensor representing the window function to be applied to each frame of the signal before "
    "computing the DFT."
)
SHAPE_ONESIDED = STFT.clause(
    "If onesided is 1, the output has the shape: [batch_size][frames][dft_unique_bins][2], where dft_unique_bins is "
    "frame_length // 2 + 1 (the unique components of the DFT)."
)
SHAPE = STFT.clause(
    "If onesided is 0, the output has the shape: [batch_size][frames][frame_length][2], where frame_length is the "
    "length of the DFT."
)
PARTS = STFT.clause("The last dimension of size 2 represents the real and imaginary parts of each complex value.")
FLOATS = STFT.clause("Constrain signal and output to float tensors.")
INTEGERS = STFT.clause("Constrain scalar length types to int64_t.", note="The signature allows int32 and int64 for T2.")


@STFT.oracle()
def transforms(
    v: Version, *, signal: Array, frame_step: Array, window: Array | None, frame_length: Array | None, onesided: int
) -> Array:
    """Return the transform of each frame."""
    v.require(ZERO_OR_ONE, onesided in {0, 1})
    v.require(RANK, signal.ndim == 3)  # noqa: PLR2004 - as in the sentence
    v.require(REAL_SIGNAL, signal.shape[2] in {1, COMPLEX})
    v.require(NOT_POSSIBLE, signal.shape[2] == 1 or not onesided)
    v.require(VECTOR, window is None or window.ndim == 1)
    v.silent(STEP_SCALAR, frame_step.shape == (1,))
    step = int(v.scalar(STEP_SCALAR, frame_step))
    samples = signal.shape[1]
    if frame_length is not None:
        v.silent(LENGTH_SCALAR, frame_length.shape == (1,))
        length = int(v.scalar(LENGTH_SCALAR, frame_length))
        v.require(EQUAL, window is None or len(window) <= length)
        v.require(EQUAL_TOO, window is None or len(window) >= length)
    else:
        length = samples if window is None else len(window)
    v.silent(SLIDING, step < 1 or length < 1)
    frames = (samples - length) // step + 1
    v.silent(FRAMES, length > samples)
    values = signal[..., 0] + 1j * (signal[..., 1] if signal.shape[2] == COMPLEX else 0)
    places = np.arange(frames)[:, np.newaxis] * step + np.arange(length)
    windowed = values[:, places] if window is None else values[:, places] * window
    result = fourier(windowed, length // 2 + 1 if onesided else length, inverse=False)
    return np.stack([result.real, result.imag], -1)


case = STFT.case
LINE, COMPLEX_LINE = waves(2, 11, 1), waves(2, 11, COMPLEX)
WINDOW = np.array([0.25, 1, 0.75, -0.5, 2])

case("default", signal=LINE, frame_step=3, window=WINDOW, frame_length=5, cites=(SLIDING, DEFAULT, SHAPE_ONESIDED))
case("onesided", signal=LINE, frame_step=2, frame_length=4, onesided=1, cites=(ONESIDED, REAL, REAL_SIGNAL, FRAMES))
case("twosided", signal=LINE, frame_step=3, window=WINDOW, onesided=0, cites=(SHAPE, PARTS, INFERRED, APPLIED))
COMPLEXES: dict[str, Any] = {"signal": COMPLEX_LINE, "onesided": 0}
case("of_complex", **COMPLEXES, frame_step=2, frame_length=4, cites=(COMPLEX_SIGNAL, ONES, SAMPLES))
case("of_complex_window", **COMPLEXES, frame_step=3, window=WINDOW, cites=(COMPLEX_SIGNAL, APPLIED))
case("neither_window_nor_length", signal=LINE, frame_step=3, cites=BOTH_OMITTED)
case("neither_of_complex", **COMPLEXES, frame_step=20, cites=BOTH_OMITTED)
case("window_alone", signal=LINE, frame_step=1, window=WINDOW, cites=INFERRED)
case("step", signal=LINE, frame_step=vary(of_6=6, of_7=7), frame_length=5, cites=FRAMES)
case("length", Tag.EDGE, signal=LINE, frame_step=2, frame_length=vary(of_1=1, of_11=11), cites=FRAMES)
case("no_batch", Tag.EDGE, signal=ramp(0, 7, 1), frame_step=2, frame_length=3, cites=REAL_SIGNAL)
case("one_sample", Tag.EDGE, signal=[[[2.5]]], frame_step=1, cites=SLIDING)
case("dtypes", Tag.DTYPE, each="T1", signal=LINE, frame_step=3, window=WINDOW, cites=FLOATS)
case("length_dtypes", Tag.DTYPE, each="T2", signal=LINE, frame_step=3, frame_length=4, cites=INTEGERS)
ONE = typed("int64", [3])
case(
    "step_of_shape_1", Tag.EDGE, signal=LINE, frame_step=ONE, frame_length=typed("int64", [4]), unspecified=STEP_SCALAR
)

case("window_longer", signal=LINE, frame_step=3, window=WINDOW, frame_length=4, rejects=EQUAL)
case("window_shorter", signal=LINE, frame_step=3, window=WINDOW, frame_length=6, rejects=EQUAL_TOO)
case("window", signal=LINE, frame_step=3, window=vary(matrix=ramp(1, 5), scalar=2), rejects=VECTOR)
case("onesided_of_complex", signal=COMPLEX_LINE, frame_step=3, frame_length=4, onesided=1, rejects=NOT_POSSIBLE)
case("onesided_of_complex_default", signal=COMPLEX_LINE, frame_step=3, frame_length=4, rejects=NOT_POSSIBLE)
case("onesided_other", signal=LINE, frame_step=3, onesided=vary(two=2, negative=-1), rejects=ZERO_OR_ONE)
case("step", signal=LINE, frame_step=vary(of_shape_2=[3, 3], of_shape_1x1=[[3]]), rejects=STEP_SCALAR)
case("length_of_shape_1", Tag.EDGE, signal=LINE, frame_step=3, frame_length=[4], unspecified=LENGTH_SCALAR)
case("length_of_shape_2", signal=LINE, frame_step=3, frame_length=[4, 4], rejects=LENGTH_SCALAR)
case("rank", Tag.EDGE, signal=vary(of_2=ramp(2, 11), of_4=ramp(2, 11, 1, 1)), frame_step=3, rejects=RANK)
case("parts", signal=vary(none=ramp(2, 11, 0), three=ramp(2, 11, 3)), frame_step=3, rejects=REAL_SIGNAL)
case("frame_beyond", Tag.EDGE, signal=LINE, frame_step=3, frame_length=12, unspecified=FRAMES)
case("step_below_1", Tag.EDGE, signal=LINE, frame_step=vary(zero=0, negative=-2), frame_length=4, unspecified=SLIDING)
case("length_below_1", Tag.EDGE, signal=LINE, frame_step=3, frame_length=0, unspecified=SLIDING)

FRAMED = [
    {"b": b, "samples": samples, "step": step, "length": length}
    for b, samples, step, length in (
        (1, 1000, 4, 16),
        (3, 1000, 20, 64),
        (2, 2000, 50, 101),
        (1, 4000, 128, 256),
        (1, 8000, 160, 400),
        (1, 8192, 256, 512),
        (1, 8192, 512, 1024),
        (1, 80_000, 160, 400),
    )
]
"""Numbers of signals, samples, samples between frames, and samples of a frame; the last is 5 seconds of speech."""
WINDOWS: dict[str, dict[str, Any]] = {
    "window": {"window": filled("length", floats=(0.1, 1)), "frame_length": lambda sizes: sizes["length"]},
    "window_alone": {"window": filled("length", floats=(0.1, 1))},
    "length_alone": {"frame_length": lambda sizes: sizes["length"]},
}
for name, arguments in WINDOWS.items():
    STFT.sized(
        name,
        FRAMED if name == "window" else FRAMED[::2],
        cites=(SLIDING, FRAMES, SHAPE_ONESIDED),
        arguments={
            "signal": filled("b", "samples", 1),
            "frame_step": lambda sizes: sizes["step"],
            "onesided": 1,
            **arguments,
        },
    )
STFT.sized(
    "both_sides",
    FRAMED[:5:2],
    cites=(SLIDING, SHAPE),
    arguments={
        "signal": filled("b", "samples", 1),
        "frame_step": lambda sizes: sizes["step"],
        "frame_length": lambda sizes: sizes["length"],
        "onesided": 0,
    },
)
STFT.sized(
    "complex",
    FRAMED[1:4],
    cites=(SLIDING, COMPLEX_SIGNAL),
    arguments={
        "signal": filled("b", "samples", 2),
        "frame_step": lambda sizes: sizes["step"],
        "window": filled("length", floats=(0.1, 1)),
        "onesided": 0,
    },
)
