# SPDX-License-Identifier: Apache-2.0
"""Meanings of sentences and tables of cases that operators of several folders share. Each family has one file.

These files import `declare`, and operator files import them.
"""
