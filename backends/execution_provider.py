# SPDX-License-Identifier: Apache-2.0
"""The execution provider (EP) that the adapter of ONNX Runtime tests: onnxruntime[ep=NAME].

A provider is a file backends/providers/NAME.toml, or a file of the user. Its table [provider] has:

    names = ["cpu_ep"]            # as get_ep_devices() or get_available_providers() return them; the first known
                                  # counts. A library is registered under the first, which some plugins use as theirs
    package = "nxrt_ep_cpu"       # a Python package with get_library_path(), or "package:function" of another name, or
    library = "./libmy_ep.so"     # the library of a plugin, relative to the file; without both, it is a built-in one
    device = "gpu"                # only devices of this type: cpu, gpu or npu

    claims = "kernels"            # it supports the kernels that it registers, as far as onnxruntime lists them

    [provider.options]            # options of the provider
    device_id = "0"

    [provider.session]            # entries of the session's configuration

    [provider.environment]        # variables that the library reads
    MY_EP_LOG = "error"

    [[provider.unsupported]]      # an error with which it reports missing support, as in OPT_OUTS of an adapter
    error = "Fail"                # the type of the exception
    message = "the device has no float16"  # a regular expression
    reason = "no float16 on this device"

The other tables of the file ([[claims]] and the like) are the harness's; see docs/reference/profiles.md.

Fallback to the CPU is disabled. If the provider does not take every node, a second session allows the CPU, so that the
harness can judge models with added nodes. Each answer reports which provider ran which node.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import os
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as _state

from onnx_conformance.backends.option import PROVIDERS, provider_file

if TYPE_CHECKING:
    from collections.abc import Mapping

CPU = "CPUExecutionProvider"
FALLBACK = "session.disable_cpu_ep_fallback"
"""The entry of a session's configuration that refuses a model with a node on the CPU."""
ALONE = {"enable_fallback": 0}
"""Without this argument of InferenceSession, its Python code repeats a call that fails on the provider on the CPU."""
OLDEST = "1.23"
"""The oldest ONNX Runtime whose Python interface loads plugins."""
DEVICES = ("cpu", "gpu", "npu")
"""Types of devices."""
TEXT, TEXTS, TABLE = "a text", "a list of texts", "a table of texts and numbers"
ROWS = "tables [[provider.unsupported]] with the texts error, message (a regular expression) and reason"
KEYS = {
    "names": TEXTS,
    "package": TEXT,
    "library": TEXT,
    "device": TEXT,
    "claims": TEXT,
    "options": TABLE,
    "session": TABLE,
    "environment": TABLE,
    "unsupported": ROWS,
}
"""The keys of the table [provider], each with the kind of its value."""
ROW = ("error", "message", "reason")
"""The keys of a table [[provider.unsupported]]."""
TABLES = tuple(key for key, kind in KEYS.items() if kind is TABLE)


NO_FALLBACK = re.compile(
    r"Provider type for .* node with name .* is not set"
    r"|fallback to CPU EP has been explicitly disabled|CPU EP fallback is disabled"
)
"""The messages of ONNX Runtime about a node that the provider does not take, while fallback is disabled."""


class NotOnProviderError(Exception):
    """The session has no such provider, so another one runs the model."""


@dataclass(frozen=True)
class Provider:
    """An execution provider.

    Attributes:
        name: as ONNX Runtime calls it.
        version: of the distribution of its package, or of its library; may be empty.
        devices: those of a plugin; empty for a built-in provider.
        options: of the provider.
        session: entries of the session's configuration.
        library: Python code of the path of a plugin's library; empty for a built-in provider.
        package: the Python package of that library; empty if a file or onnxruntime contains it.
        registered: the name under which that library is registered.
        environment: variables that the library reads.
        device: the type of the devices that are wanted, such as GPU; empty for any.
        unsupported: the errors with which it reports missing support, as rows of OPT_OUTS.
        claims_kernels: whether it claims to support the kernels that it registers.
    """

    name: str
    version: str = ""
    devices: tuple[Any, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    session: dict[str, str] = field(default_factory=dict)
    library: str = ""
    package: str = ""
    registered: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    device: str = ""
    unsupported: tuple[tuple[str, str, str], ...] = ()
    claims_kernels: bool = False

    @property
    def reports(self) -> bool:
        """Whether a session reports which provider runs which node."""
        return self.name != CPU and hasattr(onnxruntime, "OrtEpAssignedNode")

    @property
    def described(self) -> dict[str, str]:
        """The provider in the hello message: its name, the version of ONNX Runtime, how it is loaded, its device."""
        device = self.devices[0].device if self.devices else None
        texts = {
            "name": self.name,
            "onnxruntime": onnxruntime.__version__,
            "registration": "dynamic" if self.devices else "built-in",
            "device": "" if device is None else _named(device),
            "packages": "" if self.name == CPU else _packages(self.package),
        }
        return {key: text for key, text in texts.items() if text}

    def prepare(self, options: onnxruntime.SessionOptions, *, fallback: bool = False) -> dict[str, Any]:
        """Add the provider to the options of sessions; return further arguments of InferenceSession.

        Args:
            options: are changed.
            fallback: whether the CPU may run nodes that the provider does not take.
        """
        for key, value in self.session.items():
            options.add_session_config_entry(key, value)
        if self.name == CPU:
            return {"providers": [CPU]}
        if not fallback:
            options.add_session_config_entry(FALLBACK, "1")
        if self.reports:
            options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        if not self.devices:
            return {"providers": [(self.name, self.options)], **ALONE}
        options.add_provider_for_devices(list(self.devices), self.options)
        return {**ALONE}

    def assigned(self, session: onnxruntime.InferenceSession) -> dict[str, Any] | None:
        """Return which provider runs which node, as the wire format has it; None if the session does not report it.

        Raises:
            NotOnProviderError: the session does not have the provider.
        """
        if self.name == CPU:
            return None
        if self.name not in session.get_providers():
            raise NotOnProviderError(f"the session has only {', '.join(session.get_providers())}")
        if not hasattr(session, "get_provider_graph_assignment_info"):
            return None
        parts = session.get_provider_graph_assignment_info()
        nodes = [[node.domain, node.op_type, part.ep_name] for part in parts for node in part.get_nodes()]
        return {"target": self.name, "nodes": nodes}

    def has_nodes(self, session: onnxruntime.InferenceSession) -> bool:
        """Return whether a session runs a node on the provider."""
        assigned = self.assigned(session)
        return assigned is not None and any(provider == self.name for _, _, provider in assigned["nodes"])

    def claims(self) -> list[dict[str, Any]]:
        """Return the registered kernels as tables of claims; none if the provider does not claim them.

        Raises:
            ValueError: this ONNX Runtime does not list the kernels of a plugin.
        """
        if not self.claims_kernels:
            return []
        if not self.devices:
            every = _state.get_all_opkernel_def()
        elif hasattr(_state, "get_registered_ep_kernel_defs"):
            every = _state.get_registered_ep_kernel_defs(self.name)
        else:
            raise ValueError(f"onnxruntime {onnxruntime.__version__} does not list the kernels of {self.name}")
        return [_claim(kernel) for kernel in every if self.devices or kernel.provider == self.name]

    def code(self) -> str:
        """Return Python code that makes `options` and `more`, the arguments of InferenceSession, like this class."""
        lines = ["import os", "", f"os.environ.update({self.environment!r})"] if self.environment else []
        lines.append("options = onnxruntime.SessionOptions()")
        entries = {**self.session, FALLBACK: "1"}
        lines += [f"options.add_session_config_entry({key!r}, {value!r})" for key, value in entries.items()]
        if self.devices:
            wanted = f"item.ep_name == {self.name!r}"
            wanted += f" and item.device.type.name == {self.device!r}" if self.device else ""
            lines += [
                f"onnxruntime.register_execution_provider_library({self.registered!r}, {self.library})",
                f"devices = [item for item in onnxruntime.get_ep_devices() if {wanted}]",
                f"options.add_provider_for_devices(devices[:1], {self.options!r})",
                f"more = {ALONE!r}",
            ]
        else:
            lines.append(f"more = { ({'providers': [(self.name, self.options)], **ALONE})!r}")
        return "\n".join(lines)


NEWEST = 2**31 - 1
"""The last version of a kernel for all later versions."""


def _claim(kernel: Any) -> dict[str, Any]:  # noqa: ANN401 - its module has no types
    """Return a kernel as a table of claims."""
    first, last = kernel.version_range
    versions = f">={first}" if last == NEWEST else f">={first},<={last}"
    types = {name: list(allowed) for name, allowed in kernel.type_constraints.items() if allowed}
    operator = f"{kernel.domain or 'ai.onnx'}/{kernel.op_name}/{versions}"
    return {"operator": operator, **({"types": types} if types else {})}


IDENTITY = bytes.fromhex(
    "08083a370a100a017812017922084964656e746974791201675a0f0a0178120a0a08080112040a020801620f0a0179120a0a"
    "08080112040a02080142040a00100d"
)
"""A model: opset 13, Identity of a float tensor with one element."""


def load(name: str) -> Provider:
    """Return a provider by the name of its file in backends/providers, or by the path of a file of the user.

    Raises:
        ValueError: there is no such provider or device, or the installed ONNX Runtime is too old for it.
    """
    path = provider_file(name)
    if not path.is_file():
        there = ", ".join(sorted(item.stem for item in PROVIDERS.glob("*.toml")))
        raise ValueError(f"there is no execution provider {name!r}; there are {there}, or name a file: ep=./my_ep.toml")
    table = tomllib.loads(path.read_text(encoding="utf-8-sig")).get("provider", {})
    _check(path, table)
    names = table.get("names", [])
    if not names:
        raise ValueError(f"{path} names no provider; add the table [provider] with names = [...]")
    more: dict[str, Any] = {
        **{key: {name: str(value) for name, value in table.get(key, {}).items()} for key in TABLES},
        "claims_kernels": _claims_kernels(path, table),
        "unsupported": tuple(tuple(row[key] for key in ROW) for row in table.get("unsupported", ())),
    }
    os.environ.update(more["environment"])
    if "package" not in table and "library" not in table:
        return _built_in(names, more)
    return _plugin(path, table, names, more)


def _check(path: Path, table: object) -> None:
    """Check the keys of the table [provider], and the kinds of their values.

    Raises:
        ValueError: one of them is wrong.
    """
    if not isinstance(table, dict):
        text = f"{path}: provider = {table!r} is no table; write [provider], and its keys below"
        raise ValueError(text)  # noqa: TRY004 - the file is wrong, not the type of an argument
    for key, value in table.items():
        if key not in KEYS:
            raise ValueError(f"{path}: [provider] has no key {key!r}; its keys are {', '.join(KEYS)}")
        kind = KEYS[key]
        if kind is TABLE:
            fits = isinstance(value, dict) and all(isinstance(item, (str, int, float)) for item in value.values())
        elif kind is ROWS:
            fits = isinstance(value, list) and all(map(_is_row, value))
        elif kind is TEXTS:
            fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
        else:
            fits = isinstance(value, str)
        if not fits:
            raise ValueError(f"{path}: {key} = {value!r} in [provider] has to be {kind}")
    if (device := table.get("device", DEVICES[0])) not in DEVICES:
        raise ValueError(f"{path}: device = {device!r} is not known; write one of {', '.join(DEVICES)}")
    if "package" in table and "library" in table:
        raise ValueError(f"{path}: [provider] has both package and library; remove one of them")


def _is_row(item: object) -> bool:
    """Return whether an item describes an error of missing support."""
    if not isinstance(item, dict) or item.keys() != {*ROW} or not all(isinstance(item[key], str) for key in ROW):
        return False
    try:
        re.compile(item["message"])
    except re.error:
        return False
    return True


def _claims_kernels(path: Path, table: dict[str, Any]) -> bool:
    """Return whether a file claims the registered kernels."""
    word = table.get("claims")
    if word not in {None, "kernels"}:
        raise ValueError(f'{path}: claims = {word!r} is not known; write claims = "kernels", or tables [[claims]]')
    return word is not None


def _built_in(names: list[str], more: dict[str, Any]) -> Provider:
    there = onnxruntime.get_available_providers()
    name = next((name for name in names if name in there), None)
    if name is None:
        raise ValueError(
            f"onnxruntime {onnxruntime.__version__} was built without {' and '.join(names)}; it has {', '.join(there)}"
        )
    return _started(Provider(name, onnxruntime.__version__, **more))


def _started(provider: Provider) -> Provider:
    """Return a provider that starts on this machine.

    Raises:
        ValueError: it does not start.
    """
    if provider.name == CPU:
        return provider
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        more = provider.prepare(options, fallback=True)
        there = onnxruntime.InferenceSession(IDENTITY, options, **more).get_providers()
    except Exception as error:  # noqa: BLE001 - its type differs between versions
        raise ValueError(f"{provider.name} does not start: {error}") from None
    if provider.name not in there:
        raise ValueError(
            f"{provider.name} does not start on this machine: no device, or a library that it needs is missing"
        )
    return provider


def _plugin(path: Path, table: dict[str, Any], names: list[str], more: dict[str, Any]) -> Provider:
    if not hasattr(onnxruntime, "register_execution_provider_library"):
        raise ValueError(
            f"onnxruntime {onnxruntime.__version__} cannot load plugins; execution providers need {OLDEST} or newer"
        )
    library, code = _library(path, table)
    if not Path(library).is_file():
        raise ValueError(f"{path}: there is no library {library}")
    there = {*onnxruntime.get_available_providers(), *(item.ep_name for item in onnxruntime.get_ep_devices())}
    if same := [name for name in names if name in there]:
        raise ValueError(
            f"{path}: onnxruntime {onnxruntime.__version__} already has a provider {same[0]}, so sessions cannot "
            f"distinguish it from that of {library}; use a build of onnxruntime without it, or rename yours"
        )
    # If the library ends this process, its last output names the library.
    print(f"onnxruntime {onnxruntime.__version__} loads {library}", file=sys.stderr, flush=True)  # noqa: T201
    try:
        onnxruntime.register_execution_provider_library(names[0], library)
    except Exception as error:  # noqa: BLE001 - its type differs between versions
        raise ValueError(
            f"onnxruntime {onnxruntime.__version__} cannot load {library} as an execution provider: {error}"
        ) from None
    every = [item for item in onnxruntime.get_ep_devices() if item.ep_name not in there]
    kind = str(table.get("device", "")).upper()
    found = [item for item in every if item.ep_name in names and (not kind or item.device.type.name == kind)]
    if not found:
        seen = {_named(item.device) for item in onnxruntime.get_ep_devices()} or {"no device"}
        offers = ", ".join(sorted({f"{item.ep_name} on {item.device.type.name}" for item in every})) or "no provider"
        raise ValueError(
            f"{' and '.join(names)} found no {kind.lower() + ' ' if kind else ''}device on this machine; the library "
            f"offers {offers}, and onnxruntime sees {' and '.join(sorted(seen))}"
        )
    package = table.get("package", "").partition(":")[0]
    own = {"library": code, "package": package, "registered": names[0]}
    return _started(Provider(found[0].ep_name, _version(found[0], package), (found[0],), device=kind, **own, **more))


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    """Return the distributions of each installed package; to list them reads the metadata of all."""
    return importlib.metadata.packages_distributions()


def _version(device: Any, package: str) -> str:  # noqa: ANN401 - its module has no types
    """Return the version of the distribution of a plugin's package, or the one that its library reports.

    Some libraries report the same number in all their versions.
    """
    for name in _distributions().get(package, ()):
        return importlib.metadata.version(name)
    return str(device.ep_metadata.get("version", "")) if hasattr(device, "ep_metadata") else ""


def _named(device: Any) -> str:  # noqa: ANN401 - its module has no types
    """Return the type and the vendor of a device, such as CPU AMD."""
    return f"{device.type.name} {device.vendor}".strip()


def _packages(package: str) -> str:
    """Return the distributions to install for a package and onnxruntime, as words for pip."""
    of = _distributions()
    names = {name: None for module in (package, "onnxruntime") if module for name in of.get(module, ())}
    return " ".join(f"{name}=={importlib.metadata.version(name)}" for name in names)


def _library(path: Path, table: dict[str, Any]) -> tuple[str, str]:
    """Return the path of the library of a plugin, and Python code of that path.

    Raises:
        ValueError: the package has no such function.
    """
    if not (named := table.get("package", "")):
        library = str((path.parent / table["library"]).absolute())
        return library, repr(library)
    package, _, function = named.partition(":")
    function = function or "get_library_path"
    module = importlib.import_module(package)
    if not hasattr(module, function):
        raise ValueError(
            f"{path}: the package {package} has no function {function}() that returns the path of its library; write "
            f'package = "{package}:FUNCTION", or library = "PATH"'
        )
    return str(getattr(module, function)()), f"__import__({package!r}).{function}()"
