# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's fusions in Python for transformers; the option is the type of model, and the fusions.

`optimize_model` is called as its users call it, except for these points:

- `opt_level` is 0. Otherwise it also runs the graph optimizer of a session, which is `onnxruntime_optimizer`.
- The fusions of a type are its options `enable_...`, which `[only:A+B]` and `[without:A]` choose here without that
  prefix, as in onnxruntime_transformers[gpt2,only:attention]. `gelu_approximation` does not run by default.
- Only for some types does it read the number of heads from the graph. For GPT-2 its users pass the number. Here it is
  2, as in all models of the suite `transforms` that have the layer of GPT-2.

For BERT, which is the default type, a fused Attention gets only the number of positions that a mask keeps, and keeps
the first ones. So a mask that hides other positions than the last ones gets another meaning. `optimize_model` does not
check that.
"""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import sympy  # noqa: F401 - `optimize_model` imports it for each model, and refuses all models without it
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions

from onnx_conformance.backends.option import Passes, passes

TYPES = ("bert", *sorted({*optimizer.MODEL_TYPES} - {"bert"}))
PREFIX = "enable_"
HEADS = {"gpt2": 2, "gpt2_tf": 2}
"""The number of heads for types for which it is not read from the graph; 0 for the others."""
REPRO = """\
import onnx
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions

options = FusionOptions("{type}")
{changes}made = optimizer.optimize_model(model, "{type}", num_heads={heads}, optimization_options=options, opt_level=0)
made.save_model_to_file("optimized.onnx")
model = onnx.load("optimized.onnx")
"""

logging.getLogger("onnxruntime.transformers").setLevel(logging.ERROR)


def _options(type_: str) -> dict[str, bool]:
    """Return the fusions that a type of model has, and whether each runs by default."""
    every = vars(FusionOptions(type_)).items()
    return {name.removeprefix(PREFIX): value for name, value in every if name.startswith(PREFIX)}


def _chosen() -> Passes:
    """Return the type of model, the fusions that run, and those that are left out.

    Raises:
        ValueError: there is no such type or fusion.
    """
    every = {name: on for type_ in TYPES for name, on in _options(type_).items()}
    type_ = passes((), tuple(every), TYPES).word
    own = _options(type_)
    return passes(tuple(name for name, on in own.items() if on), tuple(own), TYPES)


def _changes(chosen: Passes) -> dict[str, bool]:
    """Return the options that differ from those by default."""
    own = _options(chosen.word)
    return {f"{PREFIX}{name}": name in chosen.chosen for name, on in own.items() if on is not (name in chosen.chosen)}


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    chosen = _chosen()
    changes = "".join(f"options.{name} = {value}\n" for name, value in _changes(chosen).items())
    return {
        "runtime": f"onnxruntime.transformers, {chosen.word}",
        "version": onnxruntime.__version__,
        "repro": REPRO.format(type=chosen.word, heads=HEADS.get(chosen.word, 0), changes=changes),
        "passes": list(chosen.chosen),
    }


def transform(model: bytes) -> bytes:
    """Return the optimized model."""
    chosen = _chosen()
    options = FusionOptions(chosen.word)
    for name, value in _changes(chosen).items():
        setattr(options, name, value)
    proto = onnx.load_from_string(model)
    heads = HEADS.get(chosen.word, 0)
    made = optimizer.optimize_model(proto, chosen.word, heads, optimization_options=options, opt_level=0)
    with tempfile.TemporaryDirectory(prefix="onnx-conformance-files-") as folder:
        path = Path(folder, "optimized.onnx")
        made.save_model_to_file(str(path))  # It adds the domain of the fused nodes, which `made.model` lacks.
        return path.read_bytes()
