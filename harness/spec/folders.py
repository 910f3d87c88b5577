"""Where the committed data of the generated cases lies."""

from __future__ import annotations

from pathlib import Path

import harness

_PACKAGE = Path(harness.__file__).parent
GENERATED = (_PACKAGE / "generated_cases", _PACKAGE.parent / "generated_cases")
"""In an installed package, and in a checkout."""
