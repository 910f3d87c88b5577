# SPDX-License-Identifier: Apache-2.0
"""The nox sessions: `nox -s NAME` runs one, and `nox --list` lists them all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nox

nox.options.sessions = ["tests", "lint", "types"]
nox.options.default_venv_backend = "uv|virtualenv"  # uv, if installed, creates an environment in a second

REPORTS = Path("reports")
RUNS = REPORTS / "runs"
NIGHTLY = "onnx-weekly"
RESULTS = [RUNS / f"{suite}.ndjson" for suite in ("generated", "official")]


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; arguments are passed to pytest."""
    session.install(".[onnxruntime,test]")
    session.run("pytest", "-n", "3", *session.posargs)


@nox.session
def operators(session: nox.Session) -> None:
    """Run the operator tests for all operators, and record in tests/tested.toml that they passed; see tests/due.py."""
    session.install("-e", ".[onnxruntime,test]")  # Editable: the session writes into this checkout.
    session.run("pytest", "-n", "2", "--operators", "all", "-k", "ai.onnx", *session.posargs)
    session.run("python", "tests/due.py", env={"PYTHONPATH": "tests"})


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format."""
    session.install("ruff>=0.12")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly."""
    session.install(".[dev]")
    session.run("mypy")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Feed mutated bytes to the parsers of untrusted data; ONNX_CONFORMANCE_ROUNDS sets the number of rounds."""
    session.install(".[onnxruntime,test]")
    rounds = os.environ.get("ONNX_CONFORMANCE_ROUNDS", "100000")
    session.run("pytest", "-k", "mutated", *session.posargs, env={"ONNX_CONFORMANCE_ROUNDS": rounds})


@nox.session
def conformance(session: nox.Session) -> None:
    """Write the published reports of onnxruntime and onnx.reference: findings, the site, an index."""
    session.install(".[onnxruntime]", "uv>=0.8")  # uv creates the environments in which findings are confirmed.
    RUNS.mkdir(parents=True, exist_ok=True)
    for results in RESULTS:
        command = [
            "onnx-conformance",
            "run",
            "--suite",
            results.stem,
            "--results",
            str(results),
            "--overwrite",
            "--jobs",
            "2",
        ]
        backends = ["--backend", "onnxruntime", "--backend", "onnx_reference"]
        session.run(*command, *backends, success_codes=[0, 1], silent=True)
    findings = REPORTS / "findings"
    words = ["--folder", str(findings), *(["--update"] if (findings / "findings.json").exists() else [])]
    session.run("onnx-conformance", "findings", str(RESULTS[0]), *words, success_codes=[0, 1])
    session.run("onnx-conformance", "publish", *map(str, RESULTS), "--folder", str(REPORTS))


@nox.session
def weekly(session: nox.Session) -> None:
    """Report the changes in the nightly onnx and in the newest runtimes since the previous run of this session.

    It writes these files to reports/runs/weekly/:

    - `opset.md`: the operator versions that are new, or were reworded since the installed onnx.
    - `core.ndjson`: the results of the core with the nightly onnx.
    - `provisional.ndjson`: the results for operator versions that no operator file declares yet.
    - `changes.txt`: the verdicts that differ from the previous run.
    """
    session.install(".[onnxruntime]", "uv>=0.8")
    session.install("--upgrade", "onnxruntime")
    folder = RUNS / "weekly"
    folder.mkdir(parents=True, exist_ok=True)
    now, last = folder / "core.ndjson", folder / "last.ndjson"
    if now.exists():
        now.replace(last)
    with (folder / "opset.md").open("w") as file:
        session.run("onnx-conformance", "opset", f"..{NIGHTLY}", "--format", "markdown", stdout=file)
    run = ["onnx-conformance", "run", "--onnx", NIGHTLY, "--backend", "onnx_reference", "--backend", "onnxruntime"]
    session.run(*run, "--core", "--jobs", "2", "--results", str(now), "--overwrite", success_codes=[0, 1])
    undeclared = folder / "provisional.ndjson"  # Status 2 if every version of the nightly onnx is declared.
    session.run(*run, "--provisional", "--results", str(undeclared), "--overwrite", success_codes=[0, 1, 2])
    if last.exists():
        with (folder / "changes.txt").open("w") as file:
            session.run("onnx-conformance", "compare", str(last), str(now), stdout=file, success_codes=[0, 1])


@nox.session
def mutants(session: nox.Session) -> None:
    """Inject faults into the oracles, one token at a time, and list those that no case detects; see --help."""
    session.install("-e", ".[test]")  # Editable: the session writes into this checkout.
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # --jobs already uses all cores.
    session.run("python", "-m", "tools.mutants", *session.posargs, env=one_thread)


@nox.session
def size_faults(session: nox.Session) -> None:
    """Inject faults that depend on sizes into right answers, and count the operators that notice them; see --help."""
    session.install(".[test]")
    session.run("python", "-m", "tools.size_faults", *session.posargs, success_codes=[0, 1])


@nox.session
def locks(session: nox.Session) -> None:
    """Pin the versions in the environments of the runtimes and the action again; arguments are names of adapters."""
    session.install("-e", ".", "uv>=0.8")
    session.run("python", "-m", "tools.locks", *session.posargs)


EXPORTERS = ("torch==2.13.0", "onnxscript==0.7.2", "skl2onnx==1.20.0", "onnxmltools==1.16.0", "jax2onnx==0.17.1")
BOOSTED = ("lightgbm==4.7.0", "xgboost==3.2.0")


@nox.session
def usage(session: nox.Session) -> None:
    """Download and export models, and count how their nodes call operators; it needs npm and a network, see --help."""
    session.install("-e", ".", "pip", *EXPORTERS, *BOOSTED)
    session.run("python", "-m", "tools.usage", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure the cost of the harness and of the oracles: ratios within one run, and the CPU time of a core run."""
    session.install(".[onnxruntime,test]")
    session.run("python", "tests/bench/oracle_speed.py")
    session.run("python", "tests/bench/evaluator_speed.py")
    session.run("python", "tests/bench/bench.py", *session.posargs)
    if shutil.which("chromium"):
        session.run("python", "tests/bench/html_page.py")
    else:
        session.warn("chromium is not installed: the HTML page is not measured")
