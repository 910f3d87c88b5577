# SPDX-License-Identifier: Apache-2.0
"""The forms: ways to deliver the same case. A table has a row for each form, which names the function that makes it."""
