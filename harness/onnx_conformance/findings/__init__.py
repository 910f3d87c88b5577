# SPDX-License-Identifier: Apache-2.0
"""Findings: the distinct faults behind failures, each with a sentence, the smallest case, and a reproducing script."""
