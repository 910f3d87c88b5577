# SPDX-License-Identifier: Apache-2.0
"""Names of suites that results and the gate know, and their descriptions."""

MAIN = "generated"
"""The suite of the cases that the operator files declare for ONNX's operators."""
PROVISIONAL = "provisional"
"""The suite of operator versions that no operator file declares yet; see `onnx_conformance.generation.provisional`."""
OF_PROVISIONAL = (
    "Provisional: cases of previous versions whose sentences still apply, and cases of new signatures. These "
    "versions have not been reviewed yet, so no gate accepts the results."
)
