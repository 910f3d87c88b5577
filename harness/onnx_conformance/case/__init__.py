# SPDX-License-Identifier: Apache-2.0
"""Cases, the comparison of answers with expected values, and texts of values and models.

Imports `declare` and `specification`; the packages that generate, run or report cases import it.
"""
