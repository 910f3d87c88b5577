# SPDX-License-Identifier: Apache-2.0
"""Layouts of cases on disk that the test harnesses of other projects read; docs/layouts.md describes them."""
