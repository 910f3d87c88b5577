# SPDX-License-Identifier: Apache-2.0
"""The table of usage, and what it says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx_conformance.specification import registry, schema
from onnx_conformance.specification.usage import table
from onnx_conformance.specification.usage.pattern import Pattern

if TYPE_CHECKING:
    from pathlib import Path

ADD = Pattern("ai.onnx/Add/7", ("T=float",), (), ("A/4", "B/1c"), "2")
NEWER = Pattern("ai.onnx/Add/14", ("T=float",), (), ("A/4", "B/1c"), "?")
RELU = Pattern("ai.onnx/Relu/6", ("T=float",), (), ("X/4",), "?")


def test_a_table_counts_nodes_and_models(tmp_path: Path) -> None:
    path = tmp_path / "usage.tsv"
    table.write([Counter({ADD: 3, RELU: 1}), Counter({ADD: 2, NEWER: 1}), Counter({NEWER: 5})], path)
    usage = table.read(path)
    assert usage.models == 3
    assert usage.rows == {ADD: table.Count(5, 2), NEWER: table.Count(6, 2), RELU: table.Count(1, 1)}
    assert usage.patterns("ai.onnx/Add") == {ADD: table.Count(5, 2), NEWER: table.Count(6, 2)}
    assert not usage.patterns("ai.onnx/Sub")
    assert usage.operators == {"ai.onnx/Add": 3, "ai.onnx/Relu": 1}
    assert [usage.rank(f"ai.onnx/{name}") for name in ("Add", "Relu", "Sub")] == [1, 2, None]


def test_equal_models_make_an_equal_file(tmp_path: Path) -> None:
    first, second = tmp_path / "first.tsv", tmp_path / "second.tsv"
    table.write([Counter({ADD: 3, RELU: 1}), Counter({NEWER: 1})], first)
    table.write([Counter({NEWER: 1}), Counter({RELU: 1, ADD: 3})], second)
    assert first.read_bytes() == second.read_bytes()


def test_the_table_of_the_package_is_of_real_operators_and_small() -> None:
    usage = table.read()
    assert usage.models > 100
    assert table.PATH.stat().st_size < 400_000
    ours = [pattern for pattern in usage.rows if pattern.name in schema.every()]
    assert len(ours) > 0.95 * len(usage.rows)
    versions = {str(version) for op in registry.load() for version in registry.versions(op)}
    assert {pattern.operator for pattern in ours} <= versions
    assert usage.rank("ai.onnx/Add") < usage.rank("ai.onnx/Loop")  # type: ignore[operator]
    for pattern, count in usage.rows.items():
        assert 0 < count.models <= min(count.nodes, usage.operators[pattern.name]), pattern
