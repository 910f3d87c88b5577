# SPDX-License-Identifier: Apache-2.0
"""The table of usage: how many nodes and models have each pattern. `nox -s usage` writes it; see `tools/usage/`."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_conformance.specification.usage.pattern import Pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PATH = Path(__file__).with_name("usage.tsv")
_HEAD = "operator\ttypes\tattributes\tinputs\tsize\tnodes\tmodels"
_MODELS = "# {} models\n"


@dataclass(frozen=True)
class Count:
    """How often a pattern occurs.

    Attributes:
        nodes: the number of nodes.
        models: the number of models with such a node.
    """

    nodes: int
    models: int


@dataclass(frozen=True)
class Usage:
    """How real models call operators.

    Attributes:
        models: the number of models.
        rows: the counts of each pattern.
        operators: operator, such as ai.onnx/Conv -> the number of models that have it, in any version.
    """

    models: int
    rows: Mapping[Pattern, Count]
    operators: Mapping[str, int]

    @functools.cached_property
    def _ranks(self) -> dict[str, int]:
        ordered = sorted(self.operators, key=lambda name: (-self.operators[name], name))
        return {name: place for place, name in enumerate(ordered, 1)}

    def rank(self, operator: str) -> int | None:
        """Return the place of an operator, such as ai.onnx/Conv, by the number of models; None if no model has it."""
        return self._ranks.get(operator)

    @functools.cached_property
    def _by_operator(self) -> dict[str, dict[Pattern, Count]]:
        grouped: dict[str, dict[Pattern, Count]] = {}
        for pattern, count in self.rows.items():
            grouped.setdefault(pattern.name, {})[pattern] = count
        return grouped

    def patterns(self, operator: str) -> Mapping[Pattern, Count]:
        """Return the counts of each pattern of an operator, such as ai.onnx/Conv."""
        return self._by_operator.get(operator, {})


def write(models: Collection[Counter[Pattern]], path: Path = PATH) -> None:
    """Write the table.

    Args:
        models: for each model, the number of nodes with each pattern.
        path: the file.
    """
    nodes, having, operators = Counter[Pattern](), Counter[Pattern](), Counter[str]()
    for counts in models:
        nodes.update(counts)
        having.update(counts.keys())
        operators.update({pattern.name for pattern in counts})
    lines = [_MODELS.format(len(models)), _HEAD, "\n"]
    lines += [f"{name}\t\t\t\t\t\t{operators[name]}\n" for name in sorted(operators)]
    lines += [
        "\t".join([*pattern.columns(), str(nodes[pattern]), str(having[pattern])]) + "\n" for pattern in sorted(nodes)
    ]
    path.write_text("".join(lines), encoding="utf-8")


@functools.cache
def read(path: Path = PATH) -> Usage:
    """Return the table."""
    first, _, *lines = path.read_text(encoding="utf-8").splitlines()
    rows, operators = {}, {}
    for line in lines:
        *columns, nodes, having = line.split("\t")
        if nodes:
            rows[Pattern.of_columns(*columns)] = Count(int(nodes), int(having))
        else:
            operators[columns[0]] = int(having)
    return Usage(int(first.split()[1]), rows, operators)
