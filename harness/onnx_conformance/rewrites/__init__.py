# SPDX-License-Identifier: Apache-2.0
"""Rewrites that optimizers are known to make: models that have the pattern, and models that only resemble it.

Each file contains one family of rewrites; each rewrite is one row. Every model is delivered in all forms of
`generation.rewrite_cases`, and in some of these the rewrite would be wrong. The oracles compute the expected values.
"""
