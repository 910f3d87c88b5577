# SPDX-License-Identifier: Apache-2.0
"""What holds for every declared operator's versions, ids and models, whoever adds it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import onnx
import onnx.checker
import onnx.defs
import pytest

from generated import LOWEST_IR, LOWEST_IR_OF_DOMAIN, OPS, cases, every_operator, few, files_of, model
from onnx_conformance.case.case import Outcome
from onnx_conformance.forms.surroundings import LOCAL_DOMAIN
from paths import TESTS

if TYPE_CHECKING:
    from onnx_conformance.declare import Op


def test_some_operator_is_declared() -> None:
    assert {"ai.onnx/Split", "ai.onnx/SplitToSequence"} <= set(map(str, OPS)), OPS


DIGEST = """
import hashlib
from generated import few
print(hashlib.sha256("".join(f"{case.id} {case.digests()}" for case in few()).encode()).hexdigest())
"""


@pytest.mark.slow
def test_generation_is_deterministic_in_this_process_and_in_others() -> None:
    """The manifest holds the digests of all cases; here are some of each kind under other hash seeds."""

    def digest() -> str:
        return hashlib.sha256("".join(f"{case.id} {case.digests()}" for case in few()).encode()).hexdigest()

    here = digest()
    assert digest() == here
    for seed in ("1", "4242"):
        run = subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(TESTS)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == here, f"PYTHONHASHSEED={seed}"


@every_operator
def test_every_model_that_gives_values_passes_the_checker(op: Op) -> None:
    checked = [case for case in cases(op) if case.expected is not None]
    assert checked, op
    for case in checked:
        try:
            with files_of(case) as folder:
                onnx.checker.check_model(model(case) if folder is None else f"{folder}/model.onnx")
        except onnx.checker.ValidationError as error:
            pytest.fail(f"{case.id}: {error}")


@pytest.mark.slow
def test_the_checker_sees_what_is_wrong() -> None:
    broken = onnx.ModelProto()
    broken.CopyFrom(model(next(case for case in cases(OPS[0]) if case.outcome is Outcome.VALUES)))
    broken.graph.node[0].attribute.add(name="no_such_attribute", type=onnx.AttributeProto.INT)
    with pytest.raises(onnx.checker.ValidationError, match="no_such_attribute"):
        onnx.checker.check_model(broken)


@every_operator
def test_every_model_has_the_lowest_ir_version_of_its_opset(op: Op) -> None:
    assert onnx.defs.onnx_opset_version() in LOWEST_IR, "a new opset: add its row from Versioning.md"
    for case in cases(op):
        imports = [item for item in model(case).opset_import if item.domain != LOCAL_DOMAIN]
        expected = max(LOWEST_IR_OF_DOMAIN[item.domain][item.version] for item in imports)
        if model(case).functions:
            expected = max(expected, 8)  # The IR version that brought them.
        if case.form == "overridden":
            expected = max(expected, 4)  # Below it, every initializer is a graph input.
        assert model(case).ir_version == expected, f"{case.id}: IR {model(case).ir_version}, {imports}"
