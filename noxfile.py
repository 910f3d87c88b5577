"""Sessions: tests, operators, lint, types, fuzz, conformance, weekly, mutants, locks, bench; `nox -s NAME` runs one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nox

nox.options.sessions = ["tests", "lint", "types"]
nox.options.default_venv_backend = "uv|virtualenv"  # uv where it is there: an environment in a second

REPORTS = Path("reports")
RUNS = REPORTS / "runs"
NIGHTLY = "onnx-weekly"
RESULTS = [RUNS / f"{suite}.ndjson" for suite in ("generated", "official")]


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; arguments go to pytest."""
    session.install(".[onnxruntime,test]")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session
def operators(session: nox.Session) -> None:
    """Run the tests of every operator for all of them, and write down that they passed; see tests/due.py."""
    session.install("-e", ".[onnxruntime,test]")  # What was tested is written into this folder.
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
    """Feed what reads foreign bytes with changed ones, for minutes; ONNX_CONFORMANCE_ROUNDS says how many."""
    session.install(".[onnxruntime,test]")
    rounds = os.environ.get("ONNX_CONFORMANCE_ROUNDS", "100000")
    session.run("pytest", "-k", "mutated", *session.posargs, env={"ONNX_CONFORMANCE_ROUNDS": rounds})


@nox.session
def conformance(session: nox.Session) -> None:
    """Write the published reports of the runtimes here: their findings, the site, an index."""
    session.install(".[onnxruntime]", "uv>=0.8")  # uv makes the environments in which findings are confirmed.
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
    """Report what is new in the nightly onnx and in the newest runtimes, since the last time; in reports/runs/weekly/.

    `opset.md`: the operator versions that came or were reworded since the installed onnx. `core.ndjson`: the core with
    the nightly onnx; `provisional.ndjson`: what no file declares yet. `changes.txt`: verdicts that differ from those of
    the last time.
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
    undeclared = folder / "provisional.ndjson"  # Status 2: every version of the nightly onnx is declared.
    session.run(*run, "--provisional", "--results", str(undeclared), "--overwrite", success_codes=[0, 1, 2])
    if last.exists():
        with (folder / "changes.txt").open("w") as file:
            session.run("onnx-conformance", "compare", str(last), str(now), stdout=file, success_codes=[0, 1])


@nox.session
def mutants(session: nox.Session) -> None:
    """Put faults into the oracles, one token at a time, and list those that no case notices; --help names options."""
    session.install("-e", ".[test]")  # The figures are written into this folder.
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # --jobs uses the cores.
    session.run("python", "-m", "tools.mutants", *session.posargs, env=one_thread)


@nox.session
def locks(session: nox.Session) -> None:
    """Write anew which versions the environments of runtimes and the action have; arguments are names of adapters."""
    session.install("-e", ".", "uv>=0.8")
    session.run("python", "-m", "tools.locks", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure what the harness costs, as ratios within one run."""
    session.install(".[onnxruntime,test]")
    session.run("python", "tests/bench/bench.py", *session.posargs)
    if shutil.which("chromium"):
        session.run("python", "tests/bench/html_page.py")
    else:
        session.warn("no chromium: the page is not measured")
