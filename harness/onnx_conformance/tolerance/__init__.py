# SPDX-License-Identifier: Apache-2.0
"""How far an answer may differ from the expected one, for one operator, for several nodes and for a whole model."""
