# SPDX-License-Identifier: Apache-2.0
"""Usage: how real models call operators, as counts, and the patterns that the generated cases lack."""
