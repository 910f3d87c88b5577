"""The discrete Fourier transform of numbers that have their real and imaginary parts in the last dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.declare.data import waves

Array = np.ndarray[Any, Any]

COMPLEX = 2
"""The last dimension of complex numbers; that of real ones is 1."""


@dataclass(frozen=True)
class Transform:
    """A transform of length n along an axis, counted from the front.

    Attributes:
        at: the axis.
        n: the length; shorter signals are padded with zeros, longer ones cut.
        inverse: it goes from a spectrum to a signal.
        onesided: the signal is real, and the spectrum ends at n // 2.
    """

    at: int
    n: int
    inverse: bool
    onesided: bool

    @property
    def half(self) -> int:
        """How many values a one-sided spectrum has."""
        return self.n // 2 + 1

    def own_mirror(self) -> list[int]:
        """Return where the spectrum of a real signal is its own conjugate."""
        return [0] if self.n % 2 else [0, self.n // 2]

    def whole(self, data: Array) -> Array:
        """Return the n complex numbers that are transformed, those included that symmetry gives."""
        values = np.moveaxis(data[..., 0] + 1j * (data[..., 1] if data.shape[-1] == COMPLEX else 0), self.at, -1)
        given = values[..., : self.half if self.inverse and self.onesided else self.n]
        whole = np.zeros((*values.shape[:-1], self.n), complex)
        whole[..., : given.shape[-1]] = given
        if self.inverse and self.onesided:
            mirrored = np.arange(self.half, self.n)
            whole[..., mirrored] = whole[..., self.n - mirrored].conj()
        return np.moveaxis(whole, -1, self.at)

    def _sums(self, values: Array, factors: Array) -> Array:
        """Return the sums over the axis of values times factors, as far as they are returned."""
        sums = np.moveaxis(np.tensordot(values, factors, (self.at, 0)), -1, self.at) / (self.n if self.inverse else 1)
        return sums.take(np.arange(self.half), self.at) if self.onesided and not self.inverse else sums

    def of(self, data: Array) -> Array:
        """Return the transform."""
        turns = np.outer(np.arange(self.n), np.arange(self.n)) % self.n / self.n
        result = self._sums(self.whole(data), np.exp((2j if self.inverse else -2j) * np.pi * turns))
        return np.stack([result.real] if self.inverse and self.onesided else [result.real, result.imag], -1)

    def off(self, data: Array) -> Array:
        """Return for each term half an epsilon for each addition, a few for the factor, and those of its angle."""
        values = self.whole(data)
        angles = 2 * np.pi * np.outer(np.arange(self.n), np.arange(self.n)) / self.n
        sums = self._sums(np.abs(values.real) + np.abs(values.imag), self.n / 2 + 4 + 3 * angles)
        return np.stack([sums] * (1 if self.inverse and self.onesided else COMPLEX), -1)


def half_spectrum(at: int, n: int, *shape: int) -> Array:
    """Return what is the beginning of the spectrum of a real signal of length n: real at its own mirror images."""
    values = np.moveaxis(waves(*shape, COMPLEX), at, 0)
    own = Transform(at, n, inverse=True, onesided=True).own_mirror()
    values[[index for index in own if index < len(values)], ..., 1] = 0
    return np.moveaxis(values, 0, at)
