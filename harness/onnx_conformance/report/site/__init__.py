# SPDX-License-Identifier: Apache-2.0
"""A static web site of several runs: a ranking of runtimes, and pages of operators, runtimes, findings and cases."""
