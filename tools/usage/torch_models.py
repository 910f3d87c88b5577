# SPDX-License-Identifier: Apache-2.0
"""Small torch modules with the parts of common networks, and their export: `python -m tools.usage.torch_models FOLDER`.

Both exporters of torch write each module: `dynamo`, which is the present one, at its own opset and at the newest one
that it knows, and `script`, the former one, at opsets that many published models have. The modules have random
weights: only the nodes count.
"""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional

DYNAMO_OPSETS = (18, 23)
SCRIPT_OPSETS = (11, 13, 17)


class ResidualNetwork(nn.Module):
    """A residual CNN with a classifier, as in ResNet."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 7, 2, 3, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.body = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 16, 1))
        self.head = nn.Linear(16, 10)

    def forward(self, x: Any) -> Any:
        x = self.pool(self.stem(x))
        x = torch.relu(x + self.body(x))
        x = functional.adaptive_avg_pool2d(x, 1)
        return torch.softmax(self.head(torch.flatten(x, 1)), dim=1)


class MobileBlock(nn.Module):
    """A depthwise convolution with squeeze-and-excitation, as in MobileNet and EfficientNet."""

    def __init__(self) -> None:
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(8, 32, 1), nn.BatchNorm2d(32), nn.Hardswish())
        self.depth = nn.Sequential(nn.Conv2d(32, 32, 3, 2, 1, groups=32), nn.BatchNorm2d(32), nn.ReLU6())
        self.squeeze = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(32, 8, 1), nn.SiLU(), nn.Conv2d(8, 32, 1))
        self.project = nn.Conv2d(32, 8, 1)

    def forward(self, x: Any) -> Any:
        x = self.depth(self.expand(x))
        return functional.hardsigmoid(self.project(x * torch.sigmoid(self.squeeze(x))))


class UNet(nn.Module):
    """A UNet with a transposed convolution, a bilinear resize and group normalization."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.LeakyReLU(0.1))
        self.deep = nn.Sequential(nn.Conv2d(8, 16, 3, 2, 1), nn.InstanceNorm2d(16, affine=True), nn.ELU())
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.last = nn.Conv2d(16, 1, 1)

    def forward(self, x: Any) -> tuple[Any, Any]:
        first = self.down(x)
        second = self.deep(first)
        joined = torch.cat([first, self.up(second)], dim=1)
        mask = torch.sigmoid(self.last(joined))
        return mask, functional.interpolate(second, scale_factor=2, mode="bilinear", align_corners=False)


class VisionBlock(nn.Module):
    """Patches, a class token and one encoder layer, as in ViT."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 32, 8, 8)
        self.token = nn.Parameter(torch.zeros(1, 1, 32))
        self.positions = nn.Parameter(torch.zeros(1, 17, 32))
        self.norms = nn.ModuleList([nn.LayerNorm(32) for _ in range(3)])
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))

    def forward(self, x: Any) -> Any:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
        y = self.norms[0](x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        x = x + self.mlp(self.norms[1](x))
        return self.norms[2](x)[:, 0]


class BertBlock(nn.Module):
    """Embeddings, a masked attention and a pooled sentence embedding, as in BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(100, 32, padding_idx=0), nn.Embedding(64, 32)
        self.query, self.key, self.value = (nn.Linear(32, 32) for _ in range(3))
        self.out = nn.Linear(32, 32)
        self.norm = nn.LayerNorm(32, eps=1e-12)

    def forward(self, ids: Any, mask: Any) -> Any:
        batch, length = ids.shape
        x = self.norm(self.words(ids) + self.places(torch.arange(length)))
        q, k, v = (
            layer(x).view(batch, length, 4, 8).permute(0, 2, 1, 3) for layer in (self.query, self.key, self.value)
        )
        bias = (1.0 - mask[:, None, None, :].to(torch.float32)) * torch.finfo(torch.float32).min
        scores = torch.matmul(q, k.transpose(-1, -2)) / 8**0.5 + bias
        y = torch.matmul(torch.softmax(scores, dim=-1), v).permute(0, 2, 1, 3).reshape(batch, length, 32)
        x = x + functional.gelu(self.out(y))
        weights = mask.unsqueeze(-1).expand(x.size()).to(torch.float32)
        pooled = (x * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return functional.normalize(pooled, p=2.0, dim=1)


class DecoderBlock(nn.Module):
    """A decoder layer with rotary embedding, root mean square normalization and a cache, as in Llama and GPT."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, 32)
        self.query, self.out = nn.Linear(32, 32, bias=False), nn.Linear(32, 32, bias=False)
        self.pair = nn.Linear(32, 32, bias=False)  # keys and values of two heads each
        self.gate, self.up, self.down = nn.Linear(32, 64), nn.Linear(32, 64), nn.Linear(64, 32)
        self.scale = nn.Parameter(torch.ones(32))
        self.register_buffer("frequencies", 1.0 / 10000 ** (torch.arange(0, 8, 2).float() / 8))

    def rotated(self, x: Any, cos: Any, sin: Any) -> Any:
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-second, first), dim=-1) * sin

    def normalized(self, x: Any) -> Any:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale

    def forward(self, ids: Any, places: Any, past_keys: Any, past_values: Any) -> tuple[Any, Any, Any]:
        x = self.embedding(ids)
        batch, length, _ = x.shape
        y = self.normalized(x)
        angles = places[:, :, None].float() * self.frequencies
        angles = torch.cat((angles, angles), dim=-1)[:, None]
        q = self.query(y).view(batch, length, 4, 8).transpose(1, 2)
        k, v = self.pair(y).view(batch, length, 2, 16).transpose(1, 2).split(8, dim=-1)
        q, k = self.rotated(q, angles.cos(), angles.sin()), self.rotated(k, angles.cos(), angles.sin())
        k, v = torch.cat((past_keys, k), dim=2), torch.cat((past_values, v), dim=2)
        total = k.shape[2]
        wide_k = k[:, :, None].expand(batch, 2, 2, total, 8).reshape(batch, 4, total, 8)
        wide_v = v[:, :, None].expand(batch, 2, 2, total, 8).reshape(batch, 4, total, 8)
        causal = torch.ones(length, total, dtype=torch.bool).tril(total - length)
        scores = (q @ wide_k.transpose(-1, -2) * 8**-0.5).masked_fill(~causal, float("-inf"))
        y = (torch.softmax(scores, -1) @ wide_v).transpose(1, 2).reshape(batch, length, 32)
        x = x + self.out(y)
        y = self.normalized(x)
        x = x + self.down(functional.silu(self.gate(y)) * self.up(y))
        return torch.log_softmax(x @ self.embedding.weight.t(), dim=-1), k, v


class AttentionBlock(nn.Module):
    """The fused attention of torch, which exporters write as nodes or as Attention."""

    def forward(self, q: Any, k: Any, v: Any) -> Any:
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True)


class Tagger(nn.Module):
    """A bidirectional LSTM and a GRU over embeddings, as in taggers and speech models."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 12, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(24, 8)
        self.head = nn.Linear(8, 5)

    def forward(self, ids: Any, h: Any, c: Any) -> tuple[Any, Any]:
        x, _ = self.lstm(self.embedding(ids), (h, c))
        x, last = self.gru(x)
        return self.head(x).argmax(-1), last


class Detector(nn.Module):
    """Boxes and scores, selected by top k, comparison and index, as in detection heads."""

    def __init__(self) -> None:
        super().__init__()
        self.boxes, self.scores = nn.Conv2d(8, 4, 1), nn.Conv2d(8, 3, 1)

    def forward(self, x: Any) -> tuple[Any, Any, Any]:
        boxes = self.boxes(x).flatten(2).permute(0, 2, 1)
        scores = self.scores(x).flatten(2).permute(0, 2, 1).sigmoid()
        best, labels = scores.max(dim=-1)
        best, order = best.topk(10, dim=1)
        centre, size = torch.gather(boxes, 1, order[..., None].expand(-1, -1, 4)).split(2, dim=-1)
        corners = torch.cat((centre - size / 2, centre + size.exp() / 2), dim=-1).clamp(0, 64)
        kept = torch.where(best > 0.5, best, torch.zeros_like(best))
        return corners, kept, torch.gather(labels, 1, order).to(torch.int32)


class _Suppressed(torch.autograd.Function):
    """Non-maximum suppression for the former exporter, as published detectors add it to their graphs."""

    @staticmethod
    def forward(_context: Any, _boxes: Any, scores: Any, *_limits: Any) -> Any:
        return torch.zeros(scores.shape[-1], 3, dtype=torch.int64)

    @staticmethod
    def symbolic(graph: Any, *values: Any) -> Any:
        return graph.op("NonMaxSuppression", *values)


class Suppression(nn.Module):
    """Boxes of several classes; overlapping ones are suppressed."""

    def __init__(self, *, dynamo: bool) -> None:
        super().__init__()
        self.dynamo = dynamo

    def forward(self, boxes: Any, scores: Any) -> tuple[Any, Any]:
        limits = torch.tensor([3]), torch.tensor([0.5]), torch.tensor([0.1])
        if self.dynamo:
            operands = (boxes, scores, *limits)
            kept = torch.onnx.ops.symbolic("NonMaxSuppression", operands, dtype=torch.int64, shape=(5, 3), version=11)
        else:
            kept = _Suppressed.apply(boxes, scores, *limits)
        return boxes[0, kept[:, 2]], kept[:, 1]


class SuperResolution(nn.Module):
    """A pixel shuffle and resizes, as in upscalers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.ReflectionPad2d(2), nn.Conv2d(3, 12, 5), nn.PReLU(12))
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, x: Any) -> tuple[Any, Any, Any]:
        y = self.shuffle(self.first(x))
        return (
            torch.tanh(y) + functional.interpolate(x, scale_factor=2.0, mode="nearest"),
            functional.interpolate(x, size=(20, 20), mode="bicubic", align_corners=False),
            functional.avg_pool2d(functional.pad(y, (1, 1, 1, 1)), 2),
        )


class Speech(nn.Module):
    """One-dimensional convolutions, dilated and transposed, with sums and statistics, as in vocoders."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Conv1d(1, 16, 10, 5)
        self.dilated = nn.Conv1d(16, 32, 3, padding=2, dilation=2)
        self.up = nn.ConvTranspose1d(16, 1, 4, 2, 1)
        self.norm = nn.BatchNorm1d(16)

    def forward(self, x: Any) -> tuple[Any, Any]:
        x = functional.gelu(self.norm(self.features(x[:, None])))
        gated, passed = self.dilated(x).chunk(2, dim=1)
        x = x + torch.tanh(gated) * torch.sigmoid(passed)
        statistics = torch.cat((x.mean(-1), x.std(-1), x.amax(-1)), dim=1)
        return torch.log(self.up(x).abs() + 1e-5).cumsum(-1), statistics


class Points(nn.Module):
    """Indexing, scatter and comparisons on integers, as around the networks."""

    def forward(self, x: Any, index: Any) -> tuple[Any, ...]:
        counts = torch.zeros(8, dtype=x.dtype).scatter_add(0, index, torch.ones_like(x))
        grid = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(5), indexing="ij"), -1)
        return (
            counts,
            grid.reshape(-1, 2),
            functional.one_hot(index, 8).float() @ torch.outer(counts, counts),
            x[x > 0.5],
            torch.einsum("i,j->ij", x, x).tril(),
            (index % 2 == 0) & ~(index > 3) | (x < 0),
            torch.round(x).floor().sign() + torch.minimum(x, x.square().sqrt()),
            x.sort(descending=True)[0].unbind()[0],
        )


class Sampler(nn.Module):
    """A spatial transformer, as in registration and flow networks."""

    def forward(self, x: Any, theta: Any) -> Any:
        grid = functional.affine_grid(theta, [1, 3, 8, 8], align_corners=False)
        return functional.grid_sample(x, grid, align_corners=False)


_PASTS = torch.randn(1, 2, 5, 8), torch.randn(1, 2, 5, 8)
_CORNERS = torch.tensor([[[0.0, 0, 4, 4], [1, 1, 5, 5], [8, 8, 12, 12], [0, 0, 4.5, 4], [2, 3, 9, 9]]])
MODULES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "residual": (ResidualNetwork(), (torch.randn(1, 3, 64, 64),)),
    "mobile": (MobileBlock(), (torch.randn(1, 8, 16, 16),)),
    "unet": (UNet(), (torch.randn(1, 3, 32, 32),)),
    "vision": (VisionBlock(), (torch.randn(1, 3, 32, 32),)),
    "bert": (BertBlock(), (torch.randint(0, 100, (2, 9)), torch.ones(2, 9, dtype=torch.int64))),
    "decoder": (DecoderBlock(), (torch.randint(0, 100, (1, 3)), torch.arange(5, 8)[None], *_PASTS)),
    "attention": (AttentionBlock(), tuple(torch.randn(1, 4, 6, 8) for _ in range(3))),
    "tagger": (Tagger(), (torch.randint(0, 50, (2, 7)), torch.zeros(2, 2, 12), torch.zeros(2, 2, 12))),
    "detector": (Detector(), (torch.randn(1, 8, 8, 8),)),
    "suppression": (Suppression(dynamo=False), (_CORNERS, torch.rand(1, 2, 5))),
    "symbolic_suppression": (Suppression(dynamo=True), (_CORNERS, torch.rand(1, 2, 5))),
    "super_resolution": (SuperResolution(), (torch.randn(1, 3, 10, 10),)),
    "speech": (Speech(), (torch.randn(1, 400),)),
    "points": (Points(), (torch.rand(6), torch.tensor([0, 1, 5, 2, 7, 3]))),
    "sampler": (Sampler(), (torch.randn(1, 3, 8, 8), torch.randn(1, 2, 3))),
    "half": (ResidualNetwork().half(), (torch.randn(1, 3, 64, 64).half(),)),
}
"""The modules with the inputs of their export."""


def exports(name: str, folder: Path) -> list[str]:
    """Write a module in both exporters' forms, and return a line for each export that failed."""
    module, inputs = MODULES[name]
    module = module.eval()
    failed = []
    for dynamo, opsets in ((True, DYNAMO_OPSETS), (False, SCRIPT_OPSETS)):
        for opset in opsets:
            stem = f"torch.{name}.{'dynamo' if dynamo else 'script'}{opset}"
            words: dict[str, Any] = {"dynamo": dynamo, "opset_version": opset, "verbose": False}
            try:
                if dynamo:
                    words["external_data"] = False
                with contextlib.redirect_stdout(io.StringIO()):  # The former exporter prints graphs that it rejects.
                    torch.onnx.export(module, inputs, str(folder / f"{stem}.onnx"), **words)
            except Exception as error:  # noqa: BLE001 - an exporter lacks some modules at some opsets
                (folder / f"{stem}.onnx").unlink(missing_ok=True)
                failed.append(f"{stem}: {type(error).__name__}: {str(error).strip().splitlines()[0][:150]}")
    return failed


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    for each in MODULES:
        for line in exports(each, Path(sys.argv[1])):
            sys.stderr.write(f"{line}\n")
