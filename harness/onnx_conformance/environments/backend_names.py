# SPDX-License-Identifier: Apache-2.0
"""Resolves the name of a backend to the command that starts its adapter process."""

from __future__ import annotations

import dataclasses
import difflib
import importlib.machinery
import os
import pkgutil
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_conformance.backends.option import EP, VARIABLE, provider_file
from onnx_conformance.base import under_test
from onnx_conformance.base.errors import HarnessError
from onnx_conformance.base.package import BACKENDS
from onnx_conformance.base.target import Target
from onnx_conformance.base.verdict import line
from onnx_conformance.environments import environment_variables, node_environment, python_environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_conformance.environments.python_environment import Needs

NOT_ADAPTERS = frozenset(
    {
        "as_package",
        "execution_provider",
        "option",
        "protocol",
        "serve",
        "serve_node",
        "supervisor",
        "cache",
        "calibration",
        "child",
        "fork_server",
        "onnx_backend",
        "producers",
    }
)
"""Modules of `backends` that are no adapters."""
RESERVED = NOT_ADAPTERS | {"onnx_conformance"}
"""Names that no module of a user can have as a backend."""
SERVE = BACKENDS / "serve.py"
IMPORTABLE = (
    "import importlib.util, os, sys; sys.path.insert(0, os.getcwd()); "
    "spec = importlib.util.find_spec(sys.argv[1]); print(spec and spec.has_location and spec.origin or '')"
)
"""Prints where an interpreter finds a module."""
MOST_SECONDS = 60.0
"""Seconds that this may take."""

BUILT_IN = {"oracle": "onnx_conformance.specification.evaluator"}
"""Backends that are part of the harness itself."""


class UnknownBackendError(HarnessError):
    """No backend has this name; the text contains the existing names."""


IN_SANDBOX = (
    "with --isolate, it sees only system libraries, the environment of its runtime and its own folder; "
    "add other files with --show PATH"
)
"""The end of the message about an adapter that does not start in a sandbox."""


def names() -> list[str]:
    """Return the backends that have an adapter here."""
    files = {info.name for info in pkgutil.iter_modules([str(BACKENDS)])} - NOT_ADAPTERS
    return sorted(files | node_environment.names() | set(BUILT_IN))


def needs(name: str) -> Needs | node_environment.Needs | None:
    """Return the requirements of an adapter or of an execution provider; None if it has no data file."""
    if (provider := python_environment.provider(option_of(name))) is not None:
        return provider
    name = under_test.stem(name)
    if not name.isidentifier():  # A file of the user, for example.
        return None
    return python_environment.needs(name) or node_environment.needs(name)


def option_of(name: str) -> str:
    """Return the option of a backend's name; the path of a provider file is short for the option that names it."""
    return f"{EP}{Path(name).absolute()}" if name.endswith(".toml") else under_test.parts(name).option


def resolve(name: str, python: str = "", passes: Iterable[str] = ()) -> Target:
    """Return the target of a backend's name, NAME==VERSION, a file, a module, a dotted path, or cmd:COMMAND.

    All but a command may have an option in brackets behind the name, which its adapter gets as a variable.

    The name of an adapter of this project is that adapter, whatever modules there are. A file is a path with a slash,
    or one that ends in .py; relative paths begin in the current folder, in which adapters run too.

    Args:
        name: as the user wrote it.
        python: the interpreter of an environment that the user made; empty: this one where the runtime is installed
            here, and otherwise, or if a version is named, a separate environment.
        passes: names of environment variables that the adapter inherits in addition to those of every adapter.

    Raises:
        UnknownBackendError: there is no such backend.
        NoEnvironmentError: its environment cannot be made.
        NoVariableError: a variable is not set.
    """
    if name.endswith(".toml"):
        return _provider_target(name, python, passes)
    if option := under_test.parts(name).option:
        needed = python_environment.provider(option)
        if needed is not None and under_test.parts(name).version:
            raise UnknownBackendError(
                "provider-with-version",
                f"backend {line(name)}: the versions of an execution provider and of its onnxruntime are in its file; "
                "remove the version, or write another file",
            )
        provider = None if python else needed
        interpreter = python if provider is None else python_environment.python_of(provider)
        target = _plain_target(name.replace(f"[{option}]", "", 1), interpreter, passes)
        environment = {**target.environment, VARIABLE: option}
        return dataclasses.replace(target, name=name, environment=environment, profile=_profile(option))
    return _plain_target(name, python, passes)


def producers() -> list[str]:
    """Return the exporters that have an adapter here."""
    return sorted(path.stem for path in python_environment.PRODUCERS.glob("*.toml"))


def producer(name: str, python: str = "", passes: Iterable[str] = ()) -> Target:
    """Return the target of an exporter: NAME or NAME==VERSION, or one of the user, which is named like a backend.

    Args:
        name: as the user wrote it.
        python: as in `resolve`.
        passes: as in `resolve`.

    Raises:
        UnknownBackendError: there is no such exporter.
        NoEnvironmentError: its environment cannot be made.
        NoVariableError: a variable is not set.
    """
    named = under_test.parts(name)
    needed = python_environment.producer(named.stem)
    if needed is None:
        if name.startswith("cmd:") or "." in named.stem or is_file_name(name):
            return resolve(name, python, passes)
        raise UnknownBackendError(
            "unknown-producer",
            f"there is no exporter {line(name)!r}; use one of {', '.join(producers())}; your own file or module, such "
            "as ./my_exporter.py; or cmd:COMMAND",
        )
    if named.option:
        raise UnknownBackendError(
            "producer-without-options", f"the exporter {named.stem} has no options; remove [{line(named.option)}]"
        )
    passed = environment_variables.check(passes)
    module = f"{PRODUCER_PACKAGE}.{named.stem}"
    interpreter = python or _interpreter(module, needed, named.version, versioned=bool(named.version))
    return Target(name, (interpreter, str(SERVE), module), needed.environment, passed)


PRODUCER_PACKAGE = "onnx_conformance.backends.producers"
"""The package of the exporters that have an adapter here."""


def _plain_target(name: str, python: str, passes: Iterable[str]) -> Target:
    """Return the target of a backend's name without an option; see `resolve`."""
    passed = environment_variables.check(passes)
    if name.startswith("cmd:"):
        try:
            words = shlex.split(name.removeprefix("cmd:"))
        except ValueError as error:
            raise UnknownBackendError(
                "backend-not-quoted", f"backend {name!r}: {error}; quote it like in a shell"
            ) from None
        if not words:
            raise UnknownBackendError(
                "backend-command-missing", "backend 'cmd:' names no command; write cmd:./my_runner --stdio"
            )
        return Target(name, tuple(words), passes=passed)
    if is_file_name(name):
        return _file_target(name, python, passed)
    named = under_test.parts(name)
    stem, version, exact = named.stem, named.version, name != named.stem
    module = BUILT_IN.get(stem, stem)
    if (script := node_environment.needs(stem)) is not None:
        if python:
            raise UnknownBackendError(
                "backend-without-python", f"backend {name!r} runs in Node.js, which cannot use --python; remove it"
            )
        return Target(name, node_environment.command(script, version), script.environment, passed)
    if (module in names() and not (exact and module in BUILT_IN)) or (_is_dotted(module) and not exact):
        needed = python_environment.needs(stem)
        interpreter = python or _interpreter(module, needed, version, versioned=bool(exact))
        return Target(name, (interpreter, str(SERVE), module), needed.environment if needed else {}, passed)
    if not exact and name.isidentifier() and name not in RESERVED and (folder := _module_folder(name, python, passed)):
        return Target(
            name, (python or python_environment.of_runtimes(), str(SERVE), name), passes=passed, sees=(folder,)
        )
    near = difflib.get_close_matches(name, names(), 1)
    hint = f"did you mean {near[0]}? Use" if near else "use"
    raise UnknownBackendError(
        "unknown-backend",
        f"there is no backend {name!r}; {hint} one of {', '.join(names())}; your own file or module, such as "
        "./my_adapter.py; a dotted path, such as my_runtime.backend; cmd:COMMAND; or NAME==VERSION for another version",
    )


def _provider_target(name: str, python: str, passes: Iterable[str]) -> Target:
    """Return the target of an execution provider of ONNX Runtime that a file of the user describes.

    Raises:
        UnknownBackendError: there is no such file.
    """
    path = Path(name).absolute()
    if not path.is_file():
        raise UnknownBackendError("provider-file-missing", f"no file {line(name)} that describes an execution provider")
    target = resolve(f"onnxruntime[{option_of(name)}]", python, passes)
    return dataclasses.replace(target, name=name, sees=(*target.sees, path.parent))


def _profile(option: str) -> str:
    """Return the text of the file of the execution provider that an option names; empty if it names none.

    Raises:
        UnknownBackendError: the file cannot be read.
    """
    name = next((word.removeprefix(EP) for word in option.split(",") if word.startswith(EP)), "")
    path = provider_file(name)
    if not name or not path.is_file():  # The adapter lists the providers that there are.
        return ""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise UnknownBackendError("provider-file-not-readable", f"cannot read {line(path)}: {why}") from None


def implementation_of(backend: str) -> str:
    """Return the implementation of a backend: versions, options, and bindings to other languages are one."""
    needed = needs(backend)
    return (needed.implementation or needed.name) if needed else under_test.stem(backend)


def is_file_name(name: str) -> bool:
    """Return whether a name is the path of a file, whether or not that exists."""
    return not name.startswith("cmd:") and ("/" in name or os.sep in name or name.endswith(".py"))


def _file_target(name: str, python: str, passed: tuple[str, ...]) -> Target:
    """Return the target of a file of the user.

    Raises:
        UnknownBackendError: there is no such file.
    """
    path = Path(name)
    if path.is_file():
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 - keeps a link, whose neighbours can be imported
        return Target(
            name, (python or python_environment.of_runtimes(), str(SERVE), name), passes=passed, sees=(absolute.parent,)
        )
    where = "" if path.is_absolute() else f" here, in {Path.cwd()}"
    if path.is_dir():
        raise UnknownBackendError(
            "backend-is-a-folder", f"backend {name!r} is a folder; name a file in it: {path / 'my_adapter.py'}"
        )
    named = under_test.parts(name)
    if named.version and Path(named.stem).is_file():
        raise UnknownBackendError(
            "backend-file-with-version", f"backend {name!r}: a file has no versions; remove =={named.version}"
        )
    try:
        beside = [item.name for item in path.parent.iterdir() if item.suffix == ".py"]
    except OSError:
        beside = []
    near = difflib.get_close_matches(path.name, beside, 1)
    hint = f"; did you mean {line(path.with_name(near[0]))}?" if near else ""
    raise UnknownBackendError("backend-file-missing", f"no file {line(name)}{where}{hint}")


def _module_folder(name: str, python: str, passed: Iterable[str]) -> Path | None:
    """Return the folder from which an adapter process imports a module; None if there is no such module."""
    if (python := python or python_environment.of_runtimes()) != sys.executable:
        words = [python, "-c", IMPORTABLE, name]
        variables = environment_variables.variables(passed)
        try:
            done = subprocess.run(  # noqa: S603 - the interpreter that the user names
                words,
                capture_output=True,
                timeout=MOST_SECONDS,
                check=False,
                env=variables,
                text=True,
                errors="replace",
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UnknownBackendError(
                "python-not-runnable", f"--python {line(python)} cannot be run to find {name!r}: {line(error)}"
            ) from None
        origin = done.stdout.strip()
    else:
        spec = importlib.machinery.PathFinder.find_spec(name, [str(Path.cwd()), *sys.path])
        origin = spec.origin if spec and spec.has_location and spec.origin else ""
    if not origin:
        return None
    path = Path(origin)
    return path.parent.parent if path.stem == "__init__" else path.parent


def interpreters(options: Iterable[str], names: Sequence[str]) -> dict[str, str]:
    """Return the path of the interpreter by backend; the empty name is for all others.

    Args:
        options: values of --python: PATH, or NAME=PATH for one backend.
        names: the backends that are to be tested.

    Raises:
        UnknownBackendError: a name is not among `names`, or has two paths.
    """
    paths: dict[str, str] = {}
    for text in options:
        name = max((name for name in names if text.startswith(f"{name}=")), key=len, default="")
        path = text[len(name) + 1 :] if name else text
        stem = path.partition("=")[0]
        if not name and stem != path and "/" not in stem and "\\" not in stem:
            raise UnknownBackendError(
                "python-of-unknown-backend",
                f"--python {text}: there is no --backend {stem!r}; expected one of {', '.join(names)}",
            )
        if paths.setdefault(name, path) != path:
            raise UnknownBackendError(
                "two-interpreters",
                f"two interpreters for {name or 'every backend'}, {paths[name]} and {path}; use one of them",
            )
    return paths


def _interpreter(module: str, needed: Needs | None, version: str, *, versioned: bool) -> str:
    """Return the Python that runs an adapter of a module; `versioned`: the user named a version."""
    if needed is None:  # The oracle, or an object of a package.
        return sys.executable if module in BUILT_IN.values() else python_environment.of_runtimes()
    if needed.here and not versioned:
        return needed.interpreter
    return python_environment.interpreter(needed.of(version), needed.python, needed.locks_of(version))


def _is_dotted(name: str) -> bool:
    return "." in name and all(part.isidentifier() for part in name.split("."))
