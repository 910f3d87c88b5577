# SPDX-License-Identifier: Apache-2.0
"""Adapter processes: starting and ending them, sending cases, and reading replies."""
