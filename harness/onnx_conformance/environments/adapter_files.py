# SPDX-License-Identifier: Apache-2.0
"""Finds the files that an adapter needs: its program, its interpreter with the modules, and the adapter itself.

A sandbox shows these and system libraries, and nothing else.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_conformance.base.package import BACKENDS
from onnx_conformance.environments import environment_variables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnx_conformance.base.target import Target

PYTHON = re.compile(r"(python|pypy)[0-9.]*")
"""The names of Python interpreters."""
ASK = "import json, sys; print(json.dumps([sys.prefix, sys.base_prefix, *sys.path]))"
"""Prints where an interpreter finds its modules."""
ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
"""Files or folders by which the folder of an environment is known."""
MOST_SECONDS = 60.0
"""Maximum number of seconds of an interpreter to answer this."""
MOST_LINKS = 40
"""Maximum number of links that are followed from a program, as in Linux."""
LIBRARIES = ("LD_LIBRARY_PATH", "NODE_PATH")
"""Variables that name folders of libraries, separated as in PATH."""
SHARED = (Path("/"), Path("/tmp"), Path("/var/tmp"), Path("/usr"))  # noqa: S108 - they are not shown as a whole
"""Folders with files of other people, which are not shown only because an adapter is in them."""


def needed(target: Target) -> list[Path]:
    """Return the files and folders that an adapter reads, as absolute paths. Links are not resolved.

    The adapter's folder is among them, because an adapter may import its neighbours, unless other people share it.
    """
    variables = {**environment_variables.variables(target.passes), **target.environment}
    paths = [BACKENDS, BACKENDS.resolve(), *target.sees, Path(sys.base_prefix)]  # Of the supervisor's interpreter.
    words = list(target.command)
    for program in _programs(words[0]):
        paths += _of_program(program, variables)
    files = [Path(word).absolute() for word in words[1:] if _exists(word)]
    paths += files
    adapter = Path(words[0]).absolute() if os.sep in words[0] and _exists(words[0]) else None
    scripts = [file for file in files if file.is_file()][:1]
    paths += [file.parent for file in (adapter, *scripts) if file is not None and not _is_shared(file.parent)]
    for name in LIBRARIES:
        paths += [Path(text) for text in variables.get(name, "").split(os.pathsep) if Path(text).is_absolute()]
    return [path for path in dict.fromkeys(paths) if path.exists()]


def _exists(word: str) -> bool:
    try:
        return Path(word).exists()
    except (OSError, ValueError):  # The word is too long for a path, or contains a null byte.
        return False


def _is_shared(folder: Path) -> bool:
    """Return whether a folder is shared with other people, or is the user's home."""
    home = Path(os.environ.get("HOME") or "/")
    return folder in {*SHARED, home} or folder in home.parents or Path("/usr") in folder.parents


def _programs(word: str) -> Iterator[Path]:
    """Yield a program, and the interpreters that the first lines of scripts name."""
    found = shutil.which(word)
    for _ in range(MOST_LINKS):
        if found is None:
            return
        yield Path(found).absolute()
        found = _interpreter_of(Path(found))


def _interpreter_of(script: Path) -> str | None:
    """Return the program that the first line of a script names; None if it is not a script."""
    try:
        with script.open("rb") as file:
            first = file.readline(4096)
    except OSError:
        return None
    if not first.startswith(b"#!"):
        return None
    try:
        words = shlex.split(os.fsdecode(first[2:]))
    except ValueError:
        return None
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return shutil.which(words[0]) if words else None


def _of_program(program: Path, variables: Mapping[str, str]) -> Iterator[Path]:
    """Yield the paths of a program: its files, and the folders of its environment."""
    for hop in _hops(program):
        yield hop
        if any((hop.parent.parent / name).exists() for name in ENVIRONMENTS):
            yield hop.parent.parent
    if PYTHON.fullmatch(program.name):
        yield from map(Path, _python_path(str(program), tuple(sorted(variables.items()))))


def _hops(program: Path) -> Iterator[Path]:
    """Yield a program, and the files to which its links lead, one after the other."""
    for _ in range(MOST_LINKS):
        yield program
        if not program.is_symlink():
            break
        program = Path(os.path.normpath(program.parent / program.readlink()))
    yield program.resolve()


@functools.cache
def _python_path(program: str, variables: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Return the folders from which an interpreter imports modules; empty if it does not run."""
    try:
        done = subprocess.run(  # noqa: S603 - the interpreter of an adapter
            [program, "-c", ASK], env=dict(variables), capture_output=True, timeout=MOST_SECONDS, check=True
        )
        paths = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return ()
    return tuple(path for path in paths if isinstance(path, str) and Path(path).is_absolute())
