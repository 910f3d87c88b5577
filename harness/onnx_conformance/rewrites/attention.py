# SPDX-License-Identifier: Apache-2.0
"""Rewrites of nodes to one attention: projections of one value, heads, masks, embeddings, rotations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, changed, integers, numbers, positive, scalar, taken

if TYPE_CHECKING:
    from collections.abc import Mapping

X = numbers(2, 3, 8, seed=1)


def _of(
    name: str,
    nodes: str,
    *outputs: str,
    x: Array = X,
    inputs: Mapping[str, Array] | None = None,
    since: int = 13,
    **constants: Any,
) -> Model:
    return Model(name, nodes, {"x": x, **(inputs or {})}, constants, outputs or ("y",), since)


PROJECTIONS: dict[str, Any] = {"q": numbers(8, 4, seed=2), "k": numbers(8, 4, seed=3), "v": numbers(8, 4, seed=4)}
THREE = "a = MatMul(x, q)\nb = MatMul(x, k)\nc = MatMul(x, v)\n"
JOINED = "d = Mul(a, b)\ny = Sub(d, c)"

QKV = Rewrite(
    "projections_of_one_value",
    "MatMul",
    ("onnxoptimizer: fuse_qkv",),
    (
        _of("three", THREE + JOINED, **PROJECTIONS),
        _of("three_outputs", THREE + "y = Neg(a)\nz = Relu(b)\nw = Abs(c)", "y", "z", "w", **PROJECTIONS),
        _of(
            "of_other_widths",
            THREE + "y = Neg(a)\nz = Relu(b)\nw = Abs(c)",
            "y",
            "z",
            "w",
            q=numbers(8, 4, seed=2),
            k=numbers(8, 2, seed=3),
            v=numbers(8, 5, seed=4),
        ),
        _of("two_alike", THREE + JOINED, q=numbers(8, 4, seed=2), k=numbers(8, 4, seed=2), v=numbers(8, 4, seed=4)),
        _of(
            "two", "a = MatMul(x, q)\nb = MatMul(x, k)\ny = Sub(a, b)", q=numbers(8, 4, seed=2), k=numbers(8, 4, seed=3)
        ),
        _of(
            "of_another_value",
            "n = Relu(x)\na = MatMul(x, q)\nb = MatMul(n, k)\nc = MatMul(x, v)\n" + JOINED,
            **PROJECTIONS,
        ),
        _of(
            "from_the_left",
            "a = MatMul(q, x)\nb = MatMul(k, x)\nc = MatMul(v, x)\n" + JOINED,
            x=numbers(4, 4, seed=1),
            q=numbers(4, 4, seed=2),
            k=numbers(4, 4, seed=3),
            v=numbers(4, 4, seed=4),
        ),
        _of(
            "stacks_of_weights",
            THREE + JOINED,
            q=numbers(2, 8, 4, seed=2),
            k=numbers(2, 8, 4, seed=3),
            v=numbers(2, 8, 4, seed=4),
        ),
        _of(
            "with_biases",
            "a = MatMul(x, q)\nb = MatMul(x, k)\nc = MatMul(x, v)\nd = Add(a, e)\nf = Add(b, g)\nh = Add(c, i)\nm = Mul(d, f)\ny = Sub(m, h)",
            **PROJECTIONS,
            e=numbers(4, seed=5),
            g=numbers(4, seed=6),
            i=numbers(4, seed=7),
        ),
    ),
)

HEADS = """n = LayerNormalization(x, scale, bias)
qm = MatMul(n, wq)
qa = Add(bq, qm)
qr = Reshape(qa, split)
qt = Transpose<perm = [0, 2, 1, 3]>(qr)
km = MatMul(n, wk)
ka = Add(bk, km)
kr = Reshape(ka, split)
kt = Transpose<perm = [0, 2, 3, 1]>(kr)
vm = MatMul(n, wv)
va = Add(bv, vm)
vr = Reshape(va, split)
vt = Transpose<perm = [0, 2, 1, 3]>(vr)
s = MatMul(qt, kt)
d = Div(s, root)
u = Unsqueeze(mask, one)
w = Unsqueeze(u, two)
f = Cast<to = 1>(w)
i = Sub(unit, f)
m = Mul(i, low)
a = Add(d, m)
p = Softmax<axis = 3>(a)
o = MatMul(p, vt)
t = Transpose<perm = [0, 2, 1, 3]>(o)
j = Reshape(t, join)
l = MatMul(j, wo)
h = Add(l, bo)
y = Add(h, n)"""
WEIGHTS: dict[str, Any] = {
    "scale": positive(8, seed=2),
    "bias": numbers(8, seed=3),
    "wq": numbers(8, 8, seed=4) / 4,
    "wk": numbers(8, 8, seed=5) / 4,
    "wv": numbers(8, 8, seed=6) / 4,
    "wo": numbers(8, 8, seed=7),
    "bq": numbers(8, seed=8),
    "bk": numbers(8, seed=9),
    "bv": numbers(8, seed=10),
    "bo": numbers(8, seed=11),
    "split": integers(0, 0, 2, 4),
    "join": integers(0, 0, 8),
    "root": scalar(2),
    "one": integers(1),
    "two": integers(2),
    "unit": scalar(1),
    "low": scalar(-10000),
}
MASK = {"mask": integers(1, 1, 0, 1, 1, 1).reshape(2, 3)}


def _heads(name: str, *changes: str, inputs: Mapping[str, Array] | None = None, **others: Array) -> Model:
    nodes = changed(HEADS, *changes)
    constants = taken(nodes, {**WEIGHTS, **others})
    return Model(name, nodes, {"x": X, **(inputs or MASK)}, constants, since=17)


ATTENTION = Rewrite(
    "attention_of_heads",
    "Softmax",
    ("onnxruntime: AttentionFusion", "onnxruntime: SkipLayerNormFusion"),
    (
        _heads("plain"),
        _heads("without_residual", "y = Add(h, n)", "y = Relu(h)"),
        _heads("four_heads", split=integers(0, 0, 4, 2), root=scalar(2**0.5)),
        _heads("other_scale", root=scalar(3)),
        _heads("low_is_small", low=scalar(-3)),
        _heads("softmax_of_other_axis", "Softmax<axis = 3>", "Softmax<axis = 2>"),
        _heads("keys_from_another", "km = MatMul(n, wk)", "e = Relu(n)\nkm = MatMul(e, wk)"),
        Model(
            "values_are_keys",
            HEADS.replace("vm = MatMul(n, wv)", "vm = MatMul(n, wk)"),
            {"x": X, **MASK},
            {key: value for key, value in WEIGHTS.items() if key != "wv"},
            since=17,
        ),
        _heads(
            "heads_not_transposed_back",
            "t = Transpose<perm = [0, 2, 1, 3]>(o)\nj = Reshape(t, join)",
            "j = Reshape(o, whole)",
            whole=integers(2, 3, 8),
        ),
        _heads("residual_of_x", "y = Add(h, n)", "y = Add(h, x)"),
        _heads("mask_of_one_batch", inputs={"mask": integers(1, 0, 1).reshape(1, 3)}),
    ),
)


def _embedding(name: str, nodes: str, *outputs: str, since: int = 17, **others: Array) -> Model:
    known = {
        "words": numbers(7, 8, seed=1),
        "places": numbers(5, 8, seed=2),
        "kinds": numbers(2, 8, seed=3),
        "scale": positive(8, seed=4),
        "bias": numbers(8, seed=5),
        "order": integers(0, 1, 2).reshape(1, 3),
        "both": integers(2, 3),
        "zero": scalar(0, "int64"),
        "one": scalar(1, "int64"),
        "front": integers(0),
        **others,
    }
    inputs = {"x": integers(3, 0, 6, 1, 1, 5).reshape(2, 3), "kind": integers(0, 1, 1, 0, 0, 1).reshape(2, 3)}
    inputs = {key: value for key, value in inputs.items() if f"{key})" in nodes or f"({key}" in nodes}
    return Model(
        name,
        nodes,
        inputs,
        {key: value for key, value in known.items() if f"({key}" in nodes or f" {key}" in nodes},
        outputs or ("y",),
        since,
    )


EMBEDDED = "a = Gather(words, x)\nb = Gather(places, order)\nc = Add(a, b)\n"
OF_KINDS = "d = Gather(kinds, kind)\ne = Add(c, d)\ny = LayerNormalization(e, scale, bias)"
EMBEDDING = Rewrite(
    "embedding_of_words_and_places",
    "Gather",
    ("onnxruntime: EmbedLayerNormFusion", "onnxruntime.transformers: embed_layer_norm"),
    (
        _embedding("three", EMBEDDED + OF_KINDS),
        _embedding("two", EMBEDDED + "y = LayerNormalization(c, scale, bias)"),
        _embedding("places_expanded", "o = Expand(order, both)\n" + EMBEDDED.replace("order)", "o)") + OF_KINDS),
        _embedding(
            "places_by_shape",
            "q = Shape(x)\nn = Gather(q, one)\nr = Range(zero, n, one)\nu = Unsqueeze(r, front)\no = Expand(u, q)\n"
            + EMBEDDED.replace("order)", "o)")
            + OF_KINDS,
        ),
        _embedding("places_out_of_order", EMBEDDED + OF_KINDS, order=integers(2, 0, 1).reshape(1, 3)),
        _embedding("places_from_the_second", EMBEDDED + OF_KINDS, order=integers(1, 2, 3).reshape(1, 3)),
        _embedding("places_by_batch", EMBEDDED + OF_KINDS, order=integers(0, 1, 2, 3, 4, 0).reshape(2, 3)),
        _embedding(
            "kinds_first",
            "d = Gather(kinds, kind)\na = Gather(words, x)\ne = Add(a, d)\nb = Gather(places, order)\nc = Add(e, b)\ny = LayerNormalization(c, scale, bias)",
        ),
        _embedding(
            "another_axis",
            EMBEDDED + "e = LayerNormalization<axis = 1>(c, wide)\ny = Mul(e, scale)",
            wide=positive(3, 8, seed=6),
        ),
        _embedding("sum_taken_too", EMBEDDED + OF_KINDS + "\nz = Neg(e)", "y", "z"),
    ),
)

GROUPS = "ku = Unsqueeze(k, a)\nke = Expand(ku, s)\nkr = Reshape(ke, r)\nvu = Unsqueeze(v, a)\nve = Expand(vu, s)\nvr = Reshape(ve, r)\ny = Attention(x, kr, vr)"


def _groups(name: str, nodes: str = GROUPS, **others: Array) -> Model:
    constants = {"a": integers(2), "s": integers(1, 2, 2, 3, 4), "r": integers(1, 4, 3, 4), **others}
    return _of(
        name,
        nodes,
        x=numbers(1, 4, 2, 4, seed=1),
        inputs={"k": numbers(1, 2, 3, 4, seed=2), "v": numbers(1, 2, 3, 4, seed=3)},
        since=23,
        **constants,
    )


GROUPED = Rewrite(
    "keys_repeated_for_groups",
    "Attention",
    ("onnxscript: OnnxGroupQueryAttention",),
    (
        _groups("repeated_in_place"),
        _groups("repeated_one_after_another", a=integers(1), s=integers(1, 2, 2, 3, 4)),
        _groups("values_not_in_place", GROUPS.replace("Unsqueeze(v, a)", "Unsqueeze(v, b)"), b=integers(1)),
        _groups("scaled", GROUPS.replace("Attention(", "Attention<scale = 0.3>(")),
        _groups("causal", GROUPS.replace("Attention(", "Attention<is_causal = 1>(")),
    ),
)

ROTATED = "{b}\nh = Slice(x, z, m, l)\nt = Slice(x, m, e, l)\nn = Neg(t)\nr = Concat<axis = -1>(n, h)\ng = Mul(r, si)\nf = Mul(x, co)\ny = Add(f, g)"
OF_POSITIONS = ROTATED.format(b="c = Cos(angle)\nw = Sin(angle)\nco = Unsqueeze(c, one)\nsi = Unsqueeze(w, one)")


def _rotated(name: str, nodes: str = OF_POSITIONS, *, angle: Array | None = None, **others: Array) -> Model:
    half = numbers(2, 3, 2, seed=2)
    inputs = {"angle": np.concatenate([half, half], axis=-1) if angle is None else angle}
    constants = {
        "z": integers(0),
        "m": integers(2),
        "e": integers(2**63 - 1),
        "l": integers(3),
        "one": integers(1),
        **others,
    }
    return _of(name, nodes, x=numbers(2, 2, 3, 4, seed=1), inputs=inputs, since=23, **constants)


ROTATION = Rewrite(
    "rotary_embedding",
    "Concat",
    (
        "onnxscript: RotaryEmbedding23Fusion",
        "onnxscript: PartialRotaryEmbedding23Fusion",
        "onnxruntime.transformers: rotary_embeddings",
    ),
    (
        _rotated("halves"),
        _rotated("angles_of_halves_differ", angle=numbers(2, 3, 4, seed=2)),
        _rotated("not_negated", OF_POSITIONS.replace("n = Neg(t)", "n = Abs(t)")),
        _rotated("halves_not_swapped", OF_POSITIONS.replace("Concat<axis = -1>(n, h)", "Concat<axis = -1>(h, n)")),
        _rotated(
            "sine_and_cosine_swapped",
            OF_POSITIONS.replace("c = Cos(angle)\nw = Sin(angle)", "c = Sin(angle)\nw = Cos(angle)"),
        ),
        _rotated("uneven_parts", m=integers(1)),
        _rotated("subtracted", OF_POSITIONS.replace("Add(f, g)", "Sub(f, g)")),
        _of(
            "part_of_the_width",
            "i = Slice(x, z, q, l)\nj = Slice(x, q, e, l)\nc = RotaryEmbedding<num_heads = 2>(i, co, si, p)\ny = Concat<axis = -1>(c, j)",
            x=numbers(2, 2, 3, 6, seed=1),
            since=23,
            z=integers(0),
            q=integers(4),
            e=integers(2**63 - 1),
            l=integers(3),
            co=numbers(5, 2, seed=2),
            si=numbers(5, 2, seed=3),
            p=integers(0, 1, 2, 4, 3, 0).reshape(2, 3),
        ),
        _of(
            "last_part_of_the_width",
            "i = Slice(x, z, q, l)\nj = Slice(x, q, e, l)\nc = RotaryEmbedding<num_heads = 2>(j, co, si, p)\ny = Concat<axis = -1>(i, c)",
            x=numbers(2, 2, 3, 6, seed=1),
            since=23,
            z=integers(0),
            q=integers(2),
            e=integers(2**63 - 1),
            l=integers(3),
            co=numbers(5, 2, seed=2),
            si=numbers(5, 2, seed=3),
            p=integers(0, 1, 2, 4, 3, 0).reshape(2, 3),
        ),
    ),
)
