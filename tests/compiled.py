# SPDX-License-Identifier: Apache-2.0
"""Programs in C and Rust that tests compile, each once for all processes of a test run.

The tests of runners have one mark `xdist_group`, so they run in one process, which compiles and generates cases once.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from paths import ROOT

C = ROOT / "runners" / "c"
RUST = ROOT / "runners" / "rust"
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", f"-I{C}")
SANITIZED = ("-O0", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover")
CARGO_ENVIRONMENT = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_DEV_DEBUG": "0"}
"""Without optimization, the compilation takes half the time."""


def _folder() -> Path:
    """Return the folder of compiled programs, which all processes of a test run share."""
    folder = Path(os.environ["ONNX_CONFORMANCE_CACHE"], "compiled")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@functools.cache
def c_program(name: str, *words: str, compiler: str = "cc", flags: tuple[str, ...] = STRICT) -> Path:
    """Return a compiled program; the test is skipped if there is no compiler.

    Args:
        name: a file in runners/c or tests/runners.
        words: further words of the command, such as -lz.
        compiler: its name.
        flags: words in front of the file.
    """
    if (path := shutil.which(compiler)) is None:
        pytest.skip(f"there is no C compiler {compiler}")
    source = next(file for file in (C / name, ROOT / "tests" / "runners" / name) if file.is_file())
    command = [path, *flags, str(source), *words]
    digest = hashlib.sha256("\0".join(command).encode())
    for file in (source, C / "onnx_conformance.h"):
        digest.update(file.read_bytes())
    program = _folder() / f"{source.stem}-{digest.hexdigest()[:16]}"
    if not program.is_file():
        made = program.with_suffix(f".{os.getpid()}")
        done = subprocess.run([*command, "-o", str(made)], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        made.replace(program)
    return program


def rust_tool(name: str) -> str:
    """Return the path of cargo, rustc or rustfmt; the test is skipped if there is none."""
    found = shutil.which(name) or shutil.which(name, path=str(Path.home() / ".cargo" / "bin"))
    if found is None:
        pytest.skip(f"there is no {name}, which the tests of Rust need")
    asked = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=60, check=False)
    if asked.returncode != 0:  # Such as rustup's, in a home without a toolchain.
        pytest.skip(f"{found} does not start: {asked.stderr.strip().splitlines()[:1]}")
    return found


@functools.cache
def rust_program(name: str) -> Path:
    """Return a program or example of runners/rust; the test is skipped if there is no cargo."""
    cargo = rust_tool("cargo")
    target = _folder() / "rust"
    environment = {**os.environ, **CARGO_ENVIRONMENT, "CARGO_TARGET_DIR": str(target)}
    environment["PATH"] = f"{Path(cargo).parent}:{os.environ['PATH']}"
    command = [cargo, "build", "--quiet", "--offline", "--locked", "--lib", "--bins", "--examples"]
    with (_folder() / "rust.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            command, cwd=RUST, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr, done.stderr
    found = [path for path in (target / "debug" / name, target / "debug" / "examples" / name) if path.is_file()]
    assert len(found) == 1, found
    return found[0]
