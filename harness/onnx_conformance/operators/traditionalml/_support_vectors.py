"""Support vector machines, of which ONNX's texts name the parts and do not say how they make a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_conformance.declare.clause import Clause, Version

KERNELS = ("LINEAR", "POLY", "RBF", "SIGMOID")
PARAMETERS = 3


def check_kernel(
    v: Version, kernels: Clause, parameters: Clause, unused: Clause, kernel: str, given: list[float] | None
) -> None:
    """Raise Rejected or Unspecified where the kernel is none, or its parameters are not three.

    Args:
        v: the version.
        kernels: lists the kernels.
        parameters: says that there are three parameters.
        unused: says what they are where the kernel does not use them.
        kernel: the attribute kernel_type.
        given: the attribute kernel_params.
    """
    v.require(kernels, kernel in KERNELS)
    v.require(parameters, given is None or len(given) == PARAMETERS)
    v.silent(unused, given is None)
