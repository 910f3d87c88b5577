# SPDX-License-Identifier: Apache-2.0
"""Rewrites of the layers of BERT and GPT-2, with the nodes that PyTorch exports for them, to one attention.

The attention of BERT is after `normalization(x + attention(x))`, that of GPT-2 is before: `x + attention(norm(x))`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.rewrites.rewrite import Array, Model, Rewrite, changed, integers, numbers, positive, scalar, taken

if TYPE_CHECKING:
    from collections.abc import Mapping

X = numbers(2, 3, 8, seed=1)
MASK = integers(1, 1, 0, 1, 1, 1).reshape(2, 3)

HEADS_OF_BERT = """qm = MatMul(x, wq)
qa = Add(bq, qm)
qr = Reshape(qa, split)
qt = Transpose<perm = [0, 2, 1, 3]>(qr)
km = MatMul(x, wk)
ka = Add(bk, km)
kr = Reshape(ka, split)
kt = Transpose<perm = [0, 2, 3, 1]>(kr)
vm = MatMul(x, wv)
va = Add(bv, vm)
vr = Reshape(va, split)
vt = Transpose<perm = [0, 2, 1, 3]>(vr)
"""
SCORES_OF_BERT = "s = MatMul(qt, kt)\nd = Div(s, root)\n"
MASK_OF_BERT = """mu = Unsqueeze(mask, one)
mw = Unsqueeze(mu, two)
mf = Cast<to = 1>(mw)
mi = Sub(unit, mf)
mm = Mul(mi, low)
a = Add(d, mm)
"""
OUTPUT_OF_BERT = """p = Softmax<axis = -1>(a)
o = MatMul(p, vt)
t = Transpose<perm = [0, 2, 1, 3]>(o)
j = Reshape(t, join)
l = MatMul(j, wo)
h = Add(bo, l)
r = Add(h, x)
n = LayerNormalization<axis = -1, epsilon = 1e-05>(r, scale, bias)
"""
NORMALIZED_IN_STEPS = """rm = ReduceMean<axes = [-1]>(r)
rs = Sub(r, rm)
rp = Pow(rs, square)
rv = ReduceMean<axes = [-1]>(rp)
re = Add(rv, small)
rq = Sqrt(re)
rd = Div(rs, rq)
rt = Mul(rd, scale)
n = Add(rt, bias)
"""
FEED_FORWARD = """i = MatMul(n, wi)
f = Add(bi, i)
gd = Div(f, root_two)
ge = Erf(gd)
ga = Add(ge, unit)
gm = Mul(f, ga)
g = Mul(gm, half)
w = MatMul(g, wf)
z = Add(bf, w)
q = Add(z, n)
y = LayerNormalization<axis = -1, epsilon = 1e-05>(q, scale, bias)"""
BERT = HEADS_OF_BERT + SCORES_OF_BERT + MASK_OF_BERT + OUTPUT_OF_BERT
WEIGHTS: dict[str, Array] = {
    "wq": numbers(8, 8, seed=4) / 4,
    "wk": numbers(8, 8, seed=5) / 4,
    "wv": numbers(8, 8, seed=6) / 4,
    "wo": numbers(8, 8, seed=7) / 4,
    "wi": numbers(8, 12, seed=12) / 4,
    "wf": numbers(12, 8, seed=13) / 4,
    "bq": numbers(8, seed=8),
    "bk": numbers(8, seed=9),
    "bv": numbers(8, seed=10),
    "bo": numbers(8, seed=11),
    "bi": numbers(12, seed=14),
    "bf": numbers(8, seed=15),
    "scale": positive(8, seed=2),
    "bias": numbers(8, seed=3),
    "split": integers(0, 0, 2, 4),
    "join": integers(0, 0, 8),
    "root": scalar(2),
    "root_two": scalar(2**0.5),
    "one": integers(1),
    "two": integers(2),
    "unit": scalar(1),
    "half": scalar(0.5),
    "square": scalar(2),
    "small": scalar(1e-5),
    "low": scalar(-10000),
}


def _model(name: str, nodes: str, inputs: Mapping[str, Array], since: int, before: int | None, **others: Any) -> Model:
    """Return a model with those weights that its nodes take."""
    return Model(name, nodes, inputs, taken(nodes, {**WEIGHTS, **others}), since=since, before=before)


def _bert(name: str, *changes: str, nodes: str = "", mask: Array | None = MASK, **others: Array) -> Model:
    """Return the attention of a layer of BERT, whose last node gets the name y."""
    found = changed(nodes or BERT, *changes)
    if not nodes:
        found = found.replace("n = LayerNormalization", "y = LayerNormalization").rstrip()
    inputs = {"x": X} if mask is None else {"x": X, "mask": mask}
    return _model(name, found, inputs, 17, None, **others)


def _in_steps(name: str, **others: Array) -> Model:
    """Return the attention with the normalization of opsets before 17."""
    normalization = "n = LayerNormalization<axis = -1, epsilon = 1e-05>(r, scale, bias)\n"
    nodes = BERT.replace(normalization, NORMALIZED_IN_STEPS).rstrip().replace("n = Add(rt", "y = Add(rt")
    return _model(name, nodes, {"x": X, "mask": MASK}, 13, 18, **others)


WHERE = "mu = Unsqueeze(mask, one)\nmw = Unsqueeze(mu, two)\nme = Equal(mw, none)\na = Where(me, low, d)\n"
LAYER_OF_BERT = Rewrite(
    "layer_of_bert",
    "Softmax",
    (
        "onnxruntime.transformers: attention",
        "onnxruntime.transformers: skip_layer_norm",
        "onnxruntime.transformers: bias_skip_layer_norm",
        "onnxruntime.transformers: bias_gelu",
        "onnxruntime: AttentionFusion",
    ),
    (
        _bert("plain"),
        _bert("whole_layer", nodes=BERT + FEED_FORWARD),
        _bert("four_heads", split=integers(0, 0, 4, 2), root=scalar(2**0.5)),
        _bert("no_mask", MASK_OF_BERT, "", "Softmax<axis = -1>(a)", "Softmax<axis = -1>(d)", mask=None),
        _bert("mask_of_the_middle", mask=integers(1, 0, 1, 1, 1, 1).reshape(2, 3)),
        _bert("mask_of_the_first", mask=integers(0, 1, 1, 1, 1, 0).reshape(2, 3)),
        _bert("mask_of_everything", mask=integers(0, 0, 0, 1, 1, 1).reshape(2, 3)),
        _bert("mask_by_where", MASK_OF_BERT, WHERE, none=integers(0), low=scalar(-3e38)),
        _bert("mask_of_few", low=scalar(-3)),
        _bert("mask_of_int32", mask=MASK.astype("int32")),
        _bert("other_scale", root=scalar(3)),
        _bert("multiplied_scale", "Div(s, root)", "Mul(s, half)"),
        _bert("multiplied_by_another_scale", "Div(s, root)", "Mul(s, root)"),
        _bert("queries_scaled", SCORES_OF_BERT, "e = Div(qt, root)\nd = MatMul(e, kt)\n"),
        _bert("softmax_of_other_axis", "Softmax<axis = -1>", "Softmax<axis = -2>"),
        _bert("keys_of_another_value", "km = MatMul(x, wk)", "e = Relu(x)\nkm = MatMul(e, wk)"),
        _bert("keys_and_values_swapped", "MatMul(x, wk)", "MatMul(x, wv)", "vm = MatMul(x, wv)", "vm = MatMul(x, wk)"),
        _bert("without_biases", "Add(bq, qm)", "Identity(qm)", "Add(bk, km)", "Identity(km)"),
        _bert("residual_of_another_value", "r = Add(h, x)", "e = Relu(x)\nr = Add(h, e)"),
        _bert("subtracted_residual", "r = Add(h, x)", "r = Sub(h, x)"),
        _bert(
            "heads_not_transposed_back",
            "t = Transpose<perm = [0, 2, 1, 3]>(o)\nj = Reshape(t, join)",
            "j = Reshape(o, join)",
            join=integers(2, 3, 8),
        ),
        _bert(
            "values_of_another_width",
            "Reshape(va, split)",
            "Reshape(va, split_values)",
            split_values=integers(0, 0, 2, 6),
            join=integers(0, 0, 12),
            wv=numbers(8, 12, seed=6) / 4,
            bv=numbers(12, seed=10),
            wo=numbers(12, 8, seed=7) / 4,
        ),
        _bert("default_epsilon", ", epsilon = 1e-05", ""),
        _bert("another_epsilon", "epsilon = 1e-05", "epsilon = 0.5"),
        _in_steps("normalized_in_steps"),
        _in_steps("normalized_in_steps_with_another_epsilon", small=scalar(0.5)),
        _in_steps("normalized_in_steps_with_another_power", square=scalar(4)),
    ),
)

NORMALIZED_BEFORE = "n = LayerNormalization<axis = -1, epsilon = 1e-05>(x, scale, bias)\n"
GPT_2 = (
    NORMALIZED_BEFORE
    + """nr = Reshape(n, rows)
gw = Gemm(nr, wide, bw)
gr = Reshape(gw, three)
qs, ks, vs = Split<axis = 2>(gr, parts)
qr = Reshape(qs, split)
qt = Transpose<perm = [0, 2, 1, 3]>(qr)
kr = Reshape(ks, split)
kt = Transpose<perm = [0, 2, 3, 1]>(kr)
vr = Reshape(vs, split)
vt = Transpose<perm = [0, 2, 1, 3]>(vr)
s = MatMul(qt, kt)
d = Div(s, root)
sa = Shape(d)
sb = Slice(sa, minus_two, minus_one, zero_axis)
sq = Squeeze(sb, zero_axis)
sc = Slice(sa, minus_one, end, zero_axis)
sk = Squeeze(sc, zero_axis)
so = Sub(sk, sq)
su = Unsqueeze(so, zero_axis)
sv = Unsqueeze(sk, zero_axis)
ca = Slice(past, su, sv, two)
cb = Slice(ca, zero_axis, sv, last)
a = Where(cb, d, hidden)
p = Softmax<axis = -1>(a)
o = MatMul(p, vt)
t = Transpose<perm = [0, 2, 1, 3]>(o)
j = Reshape(t, back)
jr = Reshape(j, rows)
l = Gemm(jr, wo, bo)
h = Reshape(l, back)
r = Add(h, x)
y = LayerNormalization<axis = -1, epsilon = 1e-05>(r, scale, bias)"""
)
FAST_GELU = """
i = MatMul(y0, wi)
f = Add(i, bi)
fp = Pow(f, cube)
fm = Mul(fp, small_factor)
fa = Add(f, fm)
fs = Mul(fa, root_two_by_pi)
ft = Tanh(fs)
fu = Add(ft, unit)
fh = Mul(f, half)
g = Mul(fh, fu)
w = MatMul(g, wf)
z = Add(w, bf)
y = Add(z, r)"""
PAST = np.tril(np.ones((1, 1, 6, 6), bool))
"""Whether a position, in the rows, takes another one: itself and those before it."""
OF_GPT_2: dict[str, Array] = {
    "rows": integers(-1, 8),
    "wide": numbers(8, 24, seed=16) / 4,
    "bw": numbers(24, seed=17),
    "three": integers(-1, 3, 24),
    "back": integers(-1, 3, 8),
    "past": PAST,
    "hidden": scalar(-10000),
    "parts": integers(8, 8, 8),
    "minus_two": integers(-2),
    "minus_one": integers(-1),
    "end": integers(2**63 - 1),
    "zero_axis": integers(0),
    "last": integers(3),
    "cube": scalar(3),
    "small_factor": scalar(0.044715),
    "root_two_by_pi": scalar((2 / 3.141592653589793) ** 0.5),
}


def _gpt_2(name: str, *changes: str, nodes: str = GPT_2, **others: Array) -> Model:
    """Return the attention of a layer of GPT-2, in which a position takes no later ones."""
    return _model(name, changed(nodes, *changes), {"x": X}, 17, None, **{**OF_GPT_2, **others})


WHOLE_GPT_2 = GPT_2.replace("y = LayerNormalization", "y0 = LayerNormalization") + FAST_GELU
LAYER_OF_GPT_2 = Rewrite(
    "layer_of_gpt_2",
    "Softmax",
    ("onnxruntime.transformers: attention", "onnxruntime.transformers: gelu", "onnxruntime: AttentionFusion"),
    (
        _gpt_2("plain"),
        _gpt_2("whole_layer", nodes=WHOLE_GPT_2),
        _gpt_2("whole_layer_with_another_factor", nodes=WHOLE_GPT_2, small_factor=scalar(0.25)),
        _gpt_2("other_scale", root=scalar(3)),
        _gpt_2("later_positions", past=PAST.swapaxes(2, 3)),
        _gpt_2("every_position", past=np.ones_like(PAST)),
        _gpt_2("hidden_are_small", hidden=scalar(-3)),
        _gpt_2("parts_in_another_order", "qs, ks, vs = Split", "vs, ks, qs = Split"),
        _gpt_2("residual_of_the_normalized", "r = Add(h, x)", "r = Add(h, n)"),
        _gpt_2(
            "transposed_weights",
            "Gemm(nr, wide, bw)",
            "Gemm<transB = 1>(nr, wide, bw)",
            wide=numbers(24, 8, seed=16) / 4,
        ),
        _gpt_2("scaled_projection", "Gemm(nr, wide, bw)", "Gemm<alpha = 0.5>(nr, wide, bw)"),
        _gpt_2("without_normalization", NORMALIZED_BEFORE, "n = Relu(x)\n"),
    ),
)
