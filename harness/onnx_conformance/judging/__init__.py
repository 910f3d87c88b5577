# SPDX-License-Identifier: Apache-2.0
"""From a reply to a verdict."""
