# SPDX-License-Identifier: Apache-2.0
"""Selects the environment variables that an adapter process inherits: those that runtimes need, and no secrets."""

from __future__ import annotations

import fnmatch
import os
import re
from typing import TYPE_CHECKING

from onnx_conformance.backends import cache
from onnx_conformance.base.errors import HarnessError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

INHERITED = (
    # Where programs, libraries, and the user's own files are.
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "XDG_*", "LD_LIBRARY_PATH", "DYLD_*",
    # Language and time.
    "LANG", "LANGUAGE", "LC_*", "TZ",
    # Interpreters, and their environments.
    "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "NODE_PATH", "NODE_OPTIONS", "PYTHONPATH", "PYTHONHOME",
    "PYTHONSAFEPATH", "PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYTHONHASHSEED", "PYTHONUTF8", "PYTHONIOENCODING",
    "PYTHONOPTIMIZE", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONMALLOC", "PYTHONFAULTHANDLER",
    "PYTHONWARNINGS", "PYTHONDEVMODE",
    # How many threads, on which cores.
    "OMP_*", "GOMP_*", "KMP_*", "MKL_*", "DNNL_*", "ONEDNN_*", "OPENBLAS_*", "GOTO_NUM_THREADS", "BLIS_*", "VECLIB_*",
    "NUMEXPR_*", "RAYON_*", "TBB_*",
    # Which devices, and where their libraries are.
    "CUDA_*", "CUDNN_*", "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_TF32_OVERRIDE", "HIP_*",
    "HSA_*", "ROCM_*", "ROCR_*", "ONEAPI_*", "SYCL_*", "ZE_*", "VK_ICD_FILENAMES", "VK_DRIVER_FILES", "OCL_*",
    # Compilers and their options; sanitizers of native code.
    "CC", "CXX", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "SDKROOT",
    "MACOSX_DEPLOYMENT_TARGET",
    "ASAN_*", "LSAN_*", "MSAN_*", "TSAN_*", "UBSAN_*", "LLVM_PROFILE_FILE", "MALLOC_*", "GLIBC_TUNABLES",
    "RUST_BACKTRACE",
    # Windows starts no process without them.
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
    "USERPROFILE", "NUMBER_OF_PROCESSORS", "PROCESSOR_*",
)  # fmt: skip
"""Globs over names."""

LOCALE, THREADS = "ONNX_CONFORMANCE_LOCALE", "ONNX_CONFORMANCE_THREADS"
"""Variables for the locale and the number of threads of an adapter."""
OF_THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS", "NUMEXPR_NUM_THREADS",
)  # fmt: skip
"""Variables by which libraries take their number of threads."""

SECRET = re.compile(r"TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE|PRIVATE|_KEY|APIKEY")
"""A variable whose name contains one of these is inherited only where --env names it, whatever glob it matches."""


class NoVariableError(HarnessError):
    """A variable of --env is not set; the text contains the correction."""


def check(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of --env, each once.

    Raises:
        NoVariableError: a variable is not set, or a name is invalid.
    """
    for name in names:
        if "=" in name:
            key = name.partition("=")[0]
            raise NoVariableError(
                "variable-with-value",
                f"--env {key}=...: write --env {key}; the value is taken from the current environment",
            )
        if name not in os.environ:
            raise NoVariableError(
                "variable-not-set", f"--env {name}: this variable is not set; set it, or remove the option"
            )
    return tuple(dict.fromkeys(names))


def variables(more: Iterable[str] = (), *, programs: bool = True) -> Mapping[str, str]:
    """Return the variables that an adapter inherits, those that `more` names, and the folder of compiled programs.

    The hash seed of Python is 0 if the user sets none: some messages of runtimes contain an element of a set, and two
    runs should have the same results. The other folders of the cache contain expected answers, so an adapter does not
    get their path.

    Args:
        more: names of further variables that are inherited.
        programs: whether compiled programs may be taken from the cache.
    """
    named = frozenset(more)
    inherited = {name: value for name, value in os.environ.items() if name in named or _is_inherited(name)}
    return {"PYTHONHASHSEED": "0", **inherited, cache.PROGRAMS: str((programs and cache.programs()) or "")}


def settings(locale: str = "", threads: int | None = None) -> dict[str, str]:
    """Return the variables of an adapter that runs in a locale, with a number of threads; none for an adapter's own."""
    of_locale = {LOCALE: locale, "LC_ALL": locale} if locale else {}
    of_threads = {} if threads is None else dict.fromkeys((THREADS, *OF_THREADS), str(threads))
    return of_locale | of_threads


def _is_inherited(name: str) -> bool:
    return not SECRET.search(name) and any(fnmatch.fnmatchcase(name, glob) for glob in INHERITED)
