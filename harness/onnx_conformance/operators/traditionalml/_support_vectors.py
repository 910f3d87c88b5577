# SPDX-License-Identifier: Apache-2.0
"""Support vector machines: ONNX's texts name their parts but do not define how they compute a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_conformance.declare.clause import Clause, Version

KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")
PARAMETERS = 3


def check_kernel(
    v: Version, kernels: Clause, parameters: Clause, unused: Clause, kernel: str, given: list[float] | None
) -> None:
    """Raise Rejected or Unspecified if the kernel is unknown or the number of its parameters is not three.

    Args:
        v: the version.
        kernels: the sentence that lists the kernels.
        parameters: the sentence on the three parameters.
        unused: the sentence on parameters that the kernel does not use.
        kernel: the attribute kernel_type.
        given: the attribute kernel_params.
    """
    v.require(kernels, kernel in KERNELS)
    v.require(parameters, given is None or len(given) == PARAMETERS)
    v.silent(unused, given is None)
