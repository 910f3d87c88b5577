# SPDX-License-Identifier: Apache-2.0
"""Makes this folder importable as `onnx_conformance.backends` in the environment of any runtime.

`serve.py` and `serve_node.py` run as scripts in an interpreter in which this project need not be installed. The package
that they belong to is the one around this folder, even where another copy is installed. In a sandbox only this folder
of it is visible.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

NAME = "onnx_conformance"


def register(script: str) -> None:
    """Let `import onnx_conformance` find the package that contains a script of this folder.

    Args:
        script: its `__file__`. In a checkout the package reaches this folder through a link, which must not be
            resolved: behind it there is no package.
    """
    if NAME in sys.modules:
        return
    folder = Path(script).absolute().parent.parent
    file = folder / "__init__.py"
    if not file.is_file():
        package = sys.modules[NAME] = types.ModuleType(NAME)
        package.__path__ = [str(folder)]
        return
    spec = importlib.util.spec_from_file_location(NAME, file, submodule_search_locations=[str(folder)])
    assert spec is not None  # noqa: S101 - the file exists
    assert spec.loader is not None  # noqa: S101 - as above
    package = sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
