# SPDX-License-Identifier: Apache-2.0
"""Injection of faults into the oracles, one token at a time, to measure which of them the generated cases detect.

`nox -s mutants` runs it. If no case detects a fault, a case is missing, or the fault does not change any answer.
"""
