# SPDX-License-Identifier: Apache-2.0
"""Losses of classes: the part of NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss after the log-probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onnx_conformance.declare.data import ramp
from onnx_conformance.declare.families.sums import roundings

if TYPE_CHECKING:
    from onnx_conformance.declare import Array
    from onnx_conformance.declare.clause import Clause, Version


@dataclass(frozen=True)
class Samples:
    """The losses of all samples and the applied weights. Both are 0 for an ignored sample."""

    losses: Array
    weights: Array


def samples(logarithms: Array, classes: Array, weights: Array | None, ignore_index: int | None) -> Samples:
    """Return for each sample minus the logarithm of its class times the weight of that class.

    Args:
        logarithms: [N, C, d1, ..., dk].
        classes: [N, d1, ..., dk], each in [0, C) except those that are ignored.
        weights: [C]. None means all ones.
        ignore_index: the class to ignore. None means that no class is ignored.
    """
    left_out = np.asarray(classes == ignore_index)
    if left_out.all():
        return Samples(np.zeros(classes.shape), np.zeros(classes.shape))
    chosen = classes % logarithms.shape[1]  # For ignored samples, any class works.
    with np.errstate(all="ignore"):
        losses = -np.take_along_axis(logarithms, np.expand_dims(chosen, 1), 1).squeeze(1)
        applied = np.ones(classes.shape) if weights is None else weights[chosen]
        losses = np.where(left_out, 0, losses * applied)
    return Samples(losses, np.where(left_out, 0, applied))


def reduced(of: Samples, reduction: str) -> Array:
    """Return all losses, their sum, or their sum divided by the sum of the applied weights, which must not be 0."""
    if reduction == "none":
        return of.losses
    total = of.losses.sum()
    return np.asarray(total / of.weights.sum() if reduction == "mean" else total)


def answer(v: Version, of: Samples, reduction: str, divided: Clause) -> Array:
    """Return the reduced losses. For a mean, raise Unspecified for `divided` if the applied weights add up to 0."""
    v.silent(divided, reduction == "mean" and of.weights.sum() == 0)
    with np.errstate(all="ignore"):
        return reduced(of, reduction)


def rounding(of: Samples, before: Array, reduction: str) -> Array:
    """Return the error of the reduced losses in epsilons.

    Args:
        of: the losses.
        before: the error of each loss before the reduction, in epsilons.
        reduction: "none", "sum" or "mean".
    """
    size, weights = np.abs(of.losses), np.abs(of.weights)
    errors = np.asarray(before + size / 2)
    if reduction == "none":
        return errors
    units = roundings(size.size) / 2
    with np.errstate(all="ignore"):
        in_sum = errors.sum() + units * size.sum()
        if reduction == "sum":
            return np.asarray(in_sum)
        divisor, mean = np.abs(of.weights.sum()), np.abs(reduced(of, "mean"))
        return np.asarray((in_sum + mean * units * weights.sum()) / divisor + mean)


SHAPES: dict[str, tuple[tuple[int, ...], str]] = {
    "one_loss_each": ((4, 5), "none"),
    "d1_to_d4": ((2, 4, 3, 1, 2, 3), "none"),
}
"""By the name of a case: log-probabilities and a reduction."""


def picks(*shape: int) -> Array:
    """Return a class for each sample of an input of this shape. Classes are not in order and not equally frequent."""
    of_samples = (shape[0], *shape[2:])
    index = np.arange(int(np.prod(of_samples)))
    return ((index * 7 + index * index // 3) % shape[1]).reshape(of_samples)


def weighting(count: int) -> Array:
    """Return the weights of `count` classes. All are different, and none is 1."""
    return np.array([0.25, 2, 0.75, 3, 1.5, 0.5])[:count]


EMPTY = {"batch": (ramp(0, 3, 2), ramp(0, 2)), "d1": (ramp(2, 3, 0), ramp(2, 0))}
"""Inputs and targets without samples."""
