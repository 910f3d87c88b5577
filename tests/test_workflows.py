# SPDX-License-Identifier: Apache-2.0
"""The workflows and the other files for GitHub: their commands exist, and no input can be a command."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import click
import pytest
import yaml

from onnx_conformance.cli.commands import main
from paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = {path.name: path for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
FORMS = {path.name: path for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))}
READ_ONLY = {"contents": "read"}
SEPARATOR = re.compile(r"\|\||&&|;|\||\n")
EXPRESSION = re.compile(r"\$\{\{.*?\}\}")
FIELDS = {"markdown", "input", "textarea", "dropdown", "checkboxes"}


class Strict(yaml.SafeLoader):
    """Reads YAML, and rejects a key that occurs twice, as GitHub does."""


def _mapping(loader: Strict, node: yaml.MappingNode) -> dict[Any, Any]:
    keys = [loader.construct_object(key) for key, _ in node.value]
    assert len(keys) == len(set(keys)), f"a key occurs twice: {keys}"
    return yaml.SafeLoader.construct_mapping(loader, node, deep=True)


Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Strict)


def jobs(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = read(path)["jobs"]
    return found


def scripts(path: Path) -> Iterator[str]:
    for job in jobs(path).values():
        yield from (step["run"] for step in job["steps"] if "run" in step)


def faults(workflow: Any) -> Iterator[str]:
    """Yield what is wrong with a workflow."""
    if workflow.get("permissions") != READ_ONLY:
        yield "the workflow may do more than read"
    for name, job in workflow["jobs"].items():
        if "timeout-minutes" not in job:
            yield f"{name} has no limit of time"
        for step in job["steps"]:
            if EXPRESSION.search(step.get("run", "")):
                yield f"{name}: an expression in a script is a way to inject commands"
            if ("uses" in step) == ("run" in step):
                yield f"{name}: a step either uses an action or runs a script"
        needed = job.get("needs", [])
        for other in [needed] if isinstance(needed, str) else needed:
            if other not in workflow["jobs"]:
                yield f"{name} needs {other}"


def commands(script: str) -> Iterator[list[str]]:
    """Yield the words of each onnx-conformance command of a shell script."""
    for part in SEPARATOR.split(script.replace("\\\n", " ")):
        found = re.search(r"(?:^|\s)(?:\S*/)?onnx-conformance\s+(.*)", part)
        if found and not part.lstrip().startswith("#"):
            yield shlex.split(found[1].split(" > ")[0])


def parse(words: list[str]) -> None:
    """Parse the arguments of a command, without running it."""
    name, command, rest = main.resolve_command(click.Context(main), words)
    assert command is not None
    command.make_context(name, rest)


def test_the_workflows_are_those_that_are_described() -> None:
    assert set(FILES) == {"ci.yml", "pages.yml", "release.yml", "report.yml"}
    row = next(
        line for line in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `.github/workflows/` |")
    )  # fmt: skip
    assert set(re.findall(r"`(\w+\.yml)`", row)) == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_workflow_is_sound(name: str) -> None:
    workflow = read(FILES[name])
    assert not [*faults(workflow)]
    assert True in workflow, "the events; `on` is a boolean in YAML"


@pytest.mark.parametrize(
    "change",
    [
        {"permissions": {"contents": "write"}},
        {"permissions": None},
        {"jobs": {"a": {"steps": []}}},
        {"jobs": {"a": {"timeout-minutes": 1, "steps": [{"run": "echo ${{ github.head_ref }}"}]}}},
        {"jobs": {"a": {"timeout-minutes": 1, "steps": [{"name": "nothing"}]}}},
        {"jobs": {"a": {"timeout-minutes": 1, "steps": [], "needs": "b"}}},
    ],
)
def test_a_faulty_workflow_is_noticed(change: dict[str, Any]) -> None:
    good: dict[str, Any] = {"permissions": READ_ONLY, "jobs": {}}
    assert not [*faults(good)]
    assert [*faults(good | change)]


def test_a_key_that_occurs_twice_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "w.yml").write_text("a: 1\nb: {c: 1, c: 2}\n")
    with pytest.raises(AssertionError):
        read(tmp_path / "w.yml")


@pytest.mark.parametrize("name", FILES)
def test_each_command_of_a_workflow_parses(name: str) -> None:
    found = [words for script in scripts(FILES[name]) for words in commands(script)]
    assert found or name == "report.yml"
    for words in found:
        parse(words)


@pytest.mark.parametrize(
    "script",
    [
        "pip install . && onnx-conformance pakc --out a",
        "onnx-conformance pack \\\n  --cores --out a",
        "x=1\nbin/onnx-conformance pack --core",
        "onnx-conformance site collect",
    ],
)
def test_a_command_that_does_not_parse_is_noticed(script: str) -> None:
    (words,) = commands(script)
    with pytest.raises(click.ClickException):
        parse(words)


def test_the_release_has_every_pack() -> None:
    script = "\n".join(scripts(FILES["release.yml"]))
    packs = {words[words.index("--out") + 1]: set(words) for words in commands(script) if words[0] == "pack"}
    assert {name: {"--core", "!size", "size"} & words for name, words in packs.items()} == {
        "packs/cases-core.pack": {"--core", "!size"},
        "packs/cases-kernels.pack": {"--core", "size"},
        "packs/cases-all.pack": {"!size"},
    }


def test_only_the_job_that_publishes_gets_an_identity() -> None:
    rights = {name: job.get("permissions", READ_ONLY) for name, job in jobs(FILES["release.yml"]).items()}
    assert rights == {"build": READ_ONLY, "publish": {"id-token": "write"}, "attach": {"contents": "write"}}
    steps = jobs(FILES["release.yml"])["publish"]["steps"]
    assert all("run" not in step for step in steps), "a script could take the identity"


def test_the_wheel_is_tried_on_each_supported_python() -> None:
    matrix = jobs(FILES["ci.yml"])["installation"]["strategy"]["matrix"]
    supported = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert matrix["python"] == supported
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos"}


# The reusable workflow


def inputs() -> dict[str, Any]:
    found: dict[str, Any] = read(FILES["report.yml"])[True]["workflow_call"]["inputs"]
    return found


def test_the_report_passes_each_input_on() -> None:
    action = read(ROOT / "action.yml")
    (step,) = (
        step for step in jobs(FILES["report.yml"])["report"]["steps"] if "onnx-conformance" in step.get("uses", "")
    )
    assert set(step["with"]) <= set(action["inputs"])
    text = FILES["report.yml"].read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(inputs())
    assert set(re.findall(rf"steps\.{step['id']}\.outputs\.([\w-]+)", text)) <= set(action["outputs"])


def test_the_page_about_the_report_gives_it_its_inputs() -> None:
    page = (ROOT / "docs" / "publish-your-results.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    job = yaml.safe_load(text)["jobs"]["report"]
    assert set(job["with"]) <= set(inputs())
    assert {name for name, declared in inputs().items() if declared.get("required")} <= set(job["with"])
    assert job["permissions"] == jobs(FILES["report.yml"])["report"]["permissions"]


VIEW, CREATE = "release view report", "release create report"
UPLOAD = "release upload report results.ndjson.xz --clobber"


@pytest.mark.skipif(shutil.which("xz") is None, reason="xz is not installed")
@pytest.mark.parametrize(
    ("status", "viewed", "calls"),
    [("0", 0, [VIEW, UPLOAD]), ("1", 1, [VIEW, CREATE, UPLOAD]), ("2", 0, []), ("", 0, [])],
)
def test_the_results_of_a_complete_run_are_uploaded(status: str, viewed: int, calls: list[str], tmp_path: Path) -> None:
    (script,) = scripts(FILES["report.yml"])
    (tmp_path / "r.ndjson").write_text("{}\n")
    gh = tmp_path / "gh"
    gh.write_text(f'#!/bin/sh\necho "$@" >> calls\n[ "$2" != view ] || exit {viewed}\n')
    gh.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "STATUS": status, "RESULTS": "r.ndjson"}
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, check=False)
    seen = (tmp_path / "calls").read_text().splitlines() if calls else []
    assert (done.returncode, len(seen)) == (0 if calls else 2, len(calls)), done
    assert all(line.startswith(call) for line, call in zip(seen, calls, strict=True)), seen
    assert (tmp_path / "results.ndjson.xz").exists() == bool(calls)


# The forms of issues, and the image


def form_faults(form: Any) -> Iterator[str]:
    """Yield what GitHub would reject in the form of an issue."""
    yield from (f"{key} is missing" for key in ("name", "description", "body") if not form.get(key))
    ids = [field.get("id") for field in form.get("body", ()) if field["type"] != "markdown"]
    if None in ids or len(ids) != len(set(ids)):
        yield "an id is missing, or occurs twice"
    for field in form.get("body", ()):
        attributes = field.get("attributes", {})
        if field["type"] not in FIELDS:
            yield f"{field['type']} is not a kind of field"
        elif not attributes.get("value" if field["type"] == "markdown" else "label"):
            yield f"{field.get('id')} has no text"
        elif field["type"] in {"dropdown", "checkboxes"} and not attributes.get("options"):
            yield f"{field['id']} has no options"


@pytest.mark.parametrize("name", sorted(FORMS.keys() - {"config.yml"}))
def test_a_form_is_valid(name: str) -> None:
    assert not [*form_faults(read(FORMS[name]))]
    for found in re.findall(r"`onnx-conformance ([\w-]+)", FORMS[name].read_text(encoding="utf-8")):
        assert found in main.list_commands(click.Context(main)), found


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"body": [{"type": "text", "id": "a", "attributes": {"label": "A"}}]},
        {"body": [{"type": "input", "attributes": {"label": "A"}}]},
        {"body": [{"type": "input", "id": "a", "attributes": {}}]},
        {"body": [{"type": "dropdown", "id": "a", "attributes": {"label": "A"}}]},
        {"body": [{"type": "input", "id": "a", "attributes": {"label": "A"}}] * 2},
    ],
)
def test_a_faulty_form_is_noticed(change: dict[str, Any]) -> None:
    good = {"name": "A", "description": "B", "body": [{"type": "input", "id": "a", "attributes": {"label": "A"}}]}
    assert not [*form_faults(good)]
    assert [*form_faults(good | change)]


def test_there_is_a_form_for_each_kind_of_issue() -> None:
    assert set(FORMS) == {
        "config.yml", "harness-bug.yml", "new-backend.yml", "runtime-failure.yml", "wrong-expectation.yml",
    }  # fmt: skip


def test_updates_of_the_actions_and_of_the_image_are_proposed() -> None:
    updates = read(ROOT / ".github" / "dependabot.yml")["updates"]
    assert {item["package-ecosystem"] for item in updates} == {"github-actions", "docker"}


def test_the_image_has_a_reason_for_each_program_and_all_files_of_the_build() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    installed = re.search(r"--no-install-recommends \\\n((?:[^&]*\\\n)+)", text)
    assert installed
    reasons = re.findall(r"^#   ((?:[\w-]+, )*[\w-]+)  +\S", text, re.MULTILINE)
    explained = {name for names in reasons for name in names.split(", ")}
    assert set(installed[1].replace("\\", "").split()) == explained
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    needed = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "harness", "backends", "generated_cases")
    assert not set(needed) & set(ignored)
    assert all((ROOT / name).exists() for name in needed)
