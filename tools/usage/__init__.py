# SPDX-License-Identifier: Apache-2.0
"""The counts of `specification.usage`: collects real models, exports others, and counts the calls of their nodes."""
