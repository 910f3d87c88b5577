# SPDX-License-Identifier: Apache-2.0
"""The parts of the build that pyproject.toml cannot express: the archive of the manifest, and the description."""

from __future__ import annotations

import fnmatch
import re
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "harness"))  # The modules below import only the standard library.

from onnx_conformance.base import archived_folder  # noqa: E402
from onnx_conformance.base.package import LOCKS, REPOSITORY, VERSION  # noqa: E402

MANIFEST = HERE / "generated_cases"
ARCHIVE = Path("onnx_conformance") / f"{MANIFEST.name}{archived_folder.SUFFIX}"
PACKED = {
    # Compressed together, the locks take a fifth of their space in a wheel.
    Path("onnx_conformance", "backends", LOCKS): ("*.lock", "producers/*.lock", "providers/*.lock"),
    Path("onnx_conformance", "operators_microsoft", f"schemas{archived_folder.SUFFIX}"): ("schemas.json",),
}
"""Archives, each with globs for the files in its folder that it replaces."""
LINK = re.compile(r"(\]\(|src=\"|href=\")(?!https?:|#)([^)\"]+)")


class BuildWithArchive(build_py):
    """Builds the package, and stores the manifest, the locks of each folder, and large files, in archives."""

    def run(self) -> None:
        """Copy the modules and data files, and write the archive; an editable installation reads the folder."""
        super().run()
        if not self.editable_mode:
            archived_folder.write(Path(self.build_lib, ARCHIVE), MANIFEST, ("*.txt", "*.toml"))
            for archive, patterns in PACKED.items():
                built = Path(self.build_lib, archive)
                archived_folder.write(built, built.parent, patterns)
                for file in [file for pattern in patterns for file in built.parent.glob(pattern)]:
                    file.unlink()

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:  # noqa: FBT001, FBT002 - of setuptools
        """Return the built files."""
        built = super().get_outputs(include_bytecode)
        if self.editable_mode:
            return built
        packed = [
            str(Path(self.build_lib, archive.parent, pattern))
            for archive, patterns in PACKED.items()
            for pattern in patterns
        ]
        return [
            *(path for path in built if not any(fnmatch.fnmatchcase(path, pattern) for pattern in packed)),
            *(str(Path(self.build_lib, path)) for path in (ARCHIVE, *PACKED)),
        ]


def description() -> str:
    """Return README.md with links that work outside the repository, such as on the page of a package index."""

    def absolute(match: re.Match[str]) -> str:
        kind = "raw" if match[2].endswith(".png") else "blob"
        return f"{match[1]}{REPOSITORY}/{kind}/v{VERSION}/{match[2]}"

    return LINK.sub(absolute, (HERE / "README.md").read_text(encoding="utf-8"))


setup(
    cmdclass={"build_py": BuildWithArchive},
    long_description=description(),
    long_description_content_type="text/markdown",
)
