# SPDX-License-Identifier: Apache-2.0
"""The time of onnx_conformance.ReferenceEvaluator, compared with that of onnx.reference.ReferenceEvaluator.

    python tests/bench/evaluator_speed.py [--share N] [--rounds N]

Both load and run onnx's own node tests, and some convolutions of real sizes. Models that one of them cannot run are
left out. Prints a table and exits with 1 if a ratio exceeds its limit. Nothing here is a test, because machines are
noisy.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.parser
import onnx.reference
from tabulate import tabulate

import onnx_conformance
from onnx_conformance.suites.lookup import open_suite
from onnx_conformance.suites.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Inputs = Mapping[str, Any]

LIMIT = 3
"""How many times longer than onnx.reference the evaluator may take, in total and in the median."""
CONVOLUTIONS = (
    ((1, 3, 7, 7), (4, 3, 3, 3), ""),
    ((1, 16, 32, 32), (16, 16, 3, 3), "<pads=[1, 1, 1, 1]>"),
    ((1, 32, 28, 28), (32, 1, 3, 3), "<group=32>"),
    ((1, 8, 100), (16, 8, 5), "<strides=[2]>"),
    ((1, 64, 14, 14), (128, 64, 1, 1), ""),
)
"""The shapes of the image and of the kernel, and the attributes."""


def node_tests(share: int) -> Iterator[tuple[onnx.ModelProto, Inputs]]:
    """Yield the model and the inputs of one node test in `share`."""
    for number, case in enumerate(open_suite("official").cases(Selection())):
        if number % share == 0 and case.model:
            yield onnx.load_from_string(case.model), case.inputs


def convolutions() -> Iterator[tuple[onnx.ModelProto, Inputs]]:
    """Yield models of one convolution, with inputs drawn at random."""
    draw = np.random.default_rng(0)
    for image, kernel, attributes in CONVOLUTIONS:
        declared = ", ".join(f"float{list(shape)} {name}" for shape, name in ((image, "X"), (kernel, "W")))
        sizes = ", ".join(f"size{axis}" for axis in range(len(image)))
        text = f'<ir_version: 10, opset_import: ["": 22]> g ({declared}) => (float[{sizes}] Y) '
        model = onnx.parser.parse_model(text + f"{{ Y = Conv {attributes} (X, W) }}")
        shapes = {"X": image, "W": kernel}
        yield model, {name: draw.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def seconds(evaluator: Any, model: onnx.ModelProto, inputs: Inputs, rounds: int) -> float:
    """Return the shortest CPU time of loading and running a model."""
    times = []
    for _ in range(rounds):
        started = time.process_time()
        evaluator(model).run(None, dict(inputs))
        times.append(time.process_time() - started)
    return min(times)


def measured(models: Iterator[tuple[onnx.ModelProto, Inputs]], rounds: int) -> list[tuple[float, float]]:
    """Return for each model the seconds of onnx.reference and of this project's evaluator."""
    found = []
    for model, inputs in models:
        try:
            found.append(
                (
                    seconds(onnx.reference.ReferenceEvaluator, model, inputs, rounds),
                    seconds(onnx_conformance.ReferenceEvaluator, model, inputs, rounds),
                )
            )
        except Exception:  # noqa: BLE001 - either may raise anything, and tests of correctness are elsewhere
            continue
    return found


def main() -> int:
    """Measure; return 1 if the evaluator takes too long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=int, default=4, help="measure one node test in this many")
    parser.add_argument("--rounds", type=int, default=3, help="how often each model is measured")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tests, convolved = measured(node_tests(options.share), options.rounds), measured(convolutions(), options.rounds)
    total, of_convolutions = (
        sum(ours for _, ours in pairs) / sum(item for item, _ in pairs) for pairs in (tests, convolved)
    )
    median = statistics.median(ours / max(theirs, 1e-6) for theirs, ours in tests)
    rows = [
        (f"{len(tests)} node tests, in total", total, LIMIT),
        (f"{len(tests)} node tests, median", median, LIMIT),
        (f"{len(convolved)} convolutions, in total", of_convolutions, 1),
    ]
    shown = [
        (name, f"{ratio:.2f}", f"<= {limit}", "met" if ratio <= limit else "MISSED") for name, ratio, limit in rows
    ]
    print(tabulate(shown, ["time, as a multiple of onnx.reference", "ratio", "wanted", ""], disable_numparse=True))
    return int(any(ratio > limit for _, ratio, limit in rows))


if __name__ == "__main__":
    sys.exit(main())
