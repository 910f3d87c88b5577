"""What a user may name as a backend, and the command that starts its adapter process."""

from __future__ import annotations

import difflib
import pkgutil
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import backends
from harness import environments, npm, surroundings
from harness.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.environments import Needs

NOT_ADAPTERS = frozenset({"protocol", "serve", "serve_node", "supervisor", "cache", "child", "onnx_backend"})
"""Modules of `backends` that are part of the machinery."""

BUILT_IN = {"oracle": "harness.oracle"}
"""Backends that are part of the harness itself."""


class UnknownBackendError(HarnessError):
    """Nothing is called so; the text says what may be named."""


@dataclass(frozen=True)
class Target:
    """Something under test, and how to start its adapter.

    Attributes:
        name: as the user gave it.
        command: of its adapter.
        environment: variables that its adapter needs, whatever those of the harness are.
        passes: names of variables of the harness that it is given beside those that every adapter is.
        sandbox: words that stand before a command and confine it; see isolation.py.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    passes: tuple[str, ...] = ()
    sandbox: tuple[str, ...] = ()


def names() -> list[str]:
    """Return the backends that have an adapter here."""
    files = {info.name for info in pkgutil.iter_modules(backends.__path__)} - NOT_ADAPTERS
    return sorted(files | npm.names() | set(BUILT_IN))


def needs(name: str) -> Needs | npm.Needs | None:
    """Return what the adapter of a name needs, in whichever language it is; None where nothing is known of it."""
    return environments.needs(name) or npm.needs(name)


def resolve(name: str, python: str = "", passes: Iterable[str] = ()) -> Target:
    """Return what `name` means: a backend's name, NAME==VERSION, a dotted path, or cmd:COMMAND.

    Args:
        name: as the user gave it.
        python: the interpreter of an environment that the user made; empty: this one where the runtime is here,
            and otherwise, or where a version is named, an environment of its own.
        passes: names of environment variables that the adapter is given beside those that every adapter is.

    Raises:
        UnknownBackendError: it means nothing.
        NoEnvironmentError: its environment cannot be made.
        NoVariableError: a variable is not set.
    """
    passed = surroundings.check(passes)
    if name.startswith("cmd:"):
        try:
            words = shlex.split(name.removeprefix("cmd:"))
        except ValueError as error:
            raise UnknownBackendError(f"backend {name!r}: {error}; quote it as a shell would need it") from None
        if not words:
            raise UnknownBackendError("backend 'cmd:' names no command; write cmd:./my_runner --stdio")
        return Target(name, tuple(words), passes=passed)
    stem, exact, version = name.partition("==")
    module = BUILT_IN.get(stem, stem)
    if (script := npm.needs(stem)) is not None:
        if python:
            raise UnknownBackendError(f"backend {name!r} runs in Node.js; leave out --python, which it cannot use")
        return Target(name, npm.command(script, version), script.environment, passed)
    if (module in names() and not (exact and module in BUILT_IN)) or (_is_dotted(module) and not exact):
        serve = Path(backends.__file__).with_name("serve.py")
        needed = environments.needs(stem)
        interpreter = python or _interpreter(needed, version, asked=bool(exact))
        return Target(name, (interpreter, str(serve), module), needed.environment if needed else {}, passed)
    near = difflib.get_close_matches(name, names(), 1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise UnknownBackendError(
        f"no backend is called {name!r}; {hint}There are {', '.join(names())}, any dotted path such as "
        "my_runtime.backend, cmd:COMMAND, and NAME==VERSION of those that have a version"
    )


def interpreters(given: Iterable[str], names: Sequence[str]) -> dict[str, str]:
    """Return the path of the interpreter by backend, under the empty name the one of all others.

    Args:
        given: PATH, or NAME=PATH for one backend.
        names: the backends that are to be tested.

    Raises:
        UnknownBackendError: a name is none of these, or has two paths.
    """
    found: dict[str, str] = {}
    for text in given:
        name = max((name for name in names if text.startswith(f"{name}=")), key=len, default="")
        path = text[len(name) + 1 :] if name else text
        stem = path.partition("=")[0]
        if not name and stem != path and "/" not in stem and "\\" not in stem:
            raise UnknownBackendError(f"--python {text}: no --backend is called {stem!r}; there are {', '.join(names)}")
        if found.setdefault(name, path) != path:
            raise UnknownBackendError(
                f"two interpreters for {name or 'every backend'}, {found[name]} and {path}; give one"
            )
    return found


def _interpreter(needed: Needs | None, version: str, *, asked: bool) -> str:
    """Return the Python that runs an adapter; `asked`: a version was."""
    if needed is None or (needed.here and not asked):
        return sys.executable
    return environments.interpreter(needed.of(version), needed.python, needed.lock_of(version))


def _is_dotted(name: str) -> bool:
    return "." in name and all(part.isidentifier() for part in name.split("."))
