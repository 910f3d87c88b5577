# SPDX-License-Identifier: Apache-2.0
"""A page in headless Chromium: calls of its functions, the files that it may load, and how it ends."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from onnx_conformance import backends
from windows import CHROMIUM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NODE = shutil.which("node") or ""
MODULE = Path(backends.__file__).parent / "chromium.mjs"
PAGE = """
export const add = async (a, b) => a + b;
export const fail = () => { throw new TypeError("no sum"); };
export const status = async (address) => (await fetch(address)).status;
"""
pytestmark = pytest.mark.skipif(not NODE or CHROMIUM is None, reason="there is no Node.js, or no Chromium")


@pytest.fixture
def temporary() -> Iterator[Path]:
    """The folder for temporary files, with a short path, as the address of a socket in it must be."""
    with tempfile.TemporaryDirectory(prefix="oc") as folder:
        yield Path(folder)


@pytest.fixture
def program(tmp_path: Path, temporary: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a program that has a `page`, and that prints what it is told to; its files are in a folder of the test."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "page.mjs").write_text(PAGE)
    (tmp_path / "files" / ".hidden").write_text("secret")
    (tmp_path / "secret.txt").write_text("secret")
    processes = contextlib.ExitStack()

    def started(body: str, path: str = os.environ["PATH"]) -> subprocess.Popen[str]:
        text = (
            f'import {{ opened }} from "{MODULE}";\n'
            f'const page = await opened([], {{ files: "{tmp_path}/files" }}, "files/page.mjs");\n{body}\n'
        )
        (tmp_path / "program.mjs").write_text(text)
        environment = {**os.environ, "TMPDIR": str(temporary), "PATH": path}
        words = [NODE, tmp_path / "program.mjs"]
        pipe = subprocess.PIPE
        process = subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=environment)
        processes.enter_context(process)
        processes.callback(process.kill)  # Comes before the wait for its end.
        return process

    with processes:
        yield started


def printed(process: subprocess.Popen[str]) -> tuple[list[str], str]:
    """Return the lines of a program that ends, and its errors."""
    out, errors = process.communicate(timeout=60)
    return out.splitlines(), errors


def left(temporary: Path) -> list[str]:
    """Return the temporary files that remain, after a moment in which the processes of Chromium may end."""
    for _ in range(50):
        if not (found := [path.name for path in temporary.iterdir()]):
            break
        time.sleep(0.1)
    return found


def test_functions_of_the_page_are_called(program: Callable[..., subprocess.Popen[str]], temporary: Path) -> None:
    lines, errors = printed(program("""
        console.log(await page.call("add", 2, 3), await page.call("add", "ü", '"'));
        await page.call("fail").catch((error) => console.log(error.message.split("\\n")[0]));
        process.exit(0);
    """))  # fmt: skip
    assert lines == ['5 ü"', "TypeError: no sum"], errors
    assert not left(temporary)


def test_the_page_loads_no_other_files(program: Callable[..., subprocess.Popen[str]]) -> None:
    lines, errors = printed(program("""
        for (const at of ["/files/page.mjs", "/files/none.mjs", "/files/../secret.txt", "/files/%2e%2e/secret.txt",
            "/files/..%2fsecret.txt",
            "/files/.hidden", "/files/page.mjs/more", "/secret.txt", "/other/page.mjs", "/constructor/name"]) {
          console.log(await page.call("status", at));
        }
        process.exit(0);
    """))  # fmt: skip
    assert lines == ["200", *["404"] * 9], errors


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('await page.send("Page.crash");', "the page of Chromium crashed"),
        ('await page.send("Browser.crash");', "Chromium ended: "),
    ],
    ids=["page", "browser"],
)
def test_a_crash_ends_the_program(
    body: str, sentence: str, program: Callable[..., subprocess.Popen[str]], temporary: Path
) -> None:
    process = program(body)
    _, errors = printed(process)
    assert process.returncode == -signal.SIGABRT, errors
    assert sentence in errors
    assert not left(temporary)


def test_chromium_does_not_outlive_a_killed_program(
    program: Callable[..., subprocess.Popen[str]], temporary: Path
) -> None:
    process = program('console.log("ready"); setInterval(() => {}, 1000);')
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.communicate()
    [folder] = [path.name for path in temporary.iterdir() if "chromium-" in path.name]
    for _ in range(100):
        if folder not in subprocess.run(["ps", "-ef"], capture_output=True, text=True, check=True).stdout:
            break
        time.sleep(0.1)
    else:
        pytest.fail("a process of Chromium still runs")
    printed(program("process.exit(0);"))
    assert not left(temporary), "the next program removes what the killed one left"


def test_a_folder_that_is_not_chromiums_is_not_removed(
    program: Callable[..., subprocess.Popen[str]], temporary: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    abandoned = temporary / "onnx-conformance-chromium-999999999-x"
    abandoned.mkdir()
    (abandoned / "SingletonSocket").symlink_to(tmp_path / "mine" / "socket")
    printed(program("process.exit(0);"))
    assert not abandoned.exists()
    assert (tmp_path / "mine").is_dir()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_not_removed(
    program: Callable[..., subprocess.Popen[str]], temporary: Path
) -> None:
    theirs = temporary / "onnx-conformance-chromium-999999999-x"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    printed(program("process.exit(0);"))
    assert theirs.is_dir()


def test_without_chromium_there_is_a_sentence(
    program: Callable[..., subprocess.Popen[str]], temporary: Path, tmp_path: Path
) -> None:
    _, errors = printed(program("", path=str(tmp_path)))
    assert "none of chromium, chromium-browser, google-chrome is on the path; install Chromium" in errors
    assert not left(temporary)
