# SPDX-License-Identifier: Apache-2.0
"""Where things lie in a checkout."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
ADAPTERS = TESTS / "adapters"
WRONG = ADAPTERS / "wrong.py"
"""An adapter of many faults, one an argument."""
