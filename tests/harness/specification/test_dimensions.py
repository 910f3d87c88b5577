# SPDX-License-Identifier: Apache-2.0
"""The names of dimensions in the descriptions of inputs and outputs."""

from __future__ import annotations

import pytest

from onnx_conformance.specification import schema
from onnx_conformance.specification.dimensions import names


@pytest.mark.parametrize(
    ("text", "rank", "expected"),
    [
        ("4D tensor with shape `(batch_size, heads, length)`", 3, ("batch_size", "heads", "length")),
        ("of shape [seq_length, 4*hidden_size, input_size].", 3, ("seq_length", "", "input_size")),
        ("(N x C x H x W) for images; (N x C x D1 x D2 ... Dn) otherwise", 4, ("N", "C", "H", "W")),
        ("(N x C x H x W) for images; (N x C x D1 x D2 ... Dn) otherwise", 6, ("N", "C", "D1", "D2", "", "Dn")),
        ("(N x C x H x W) for images; (N x C x D1 x D2 ... Dn) otherwise", 3, ("N", "C", "D1")),
        ("(M x C/group x k1 x k2 x ... x kn)", 5, ("M", "C", "k1", "k2", "kn")),
        ("1D bias to be added, has size of M.", 1, ("M",)),
        ("1-D tensor of shape (num_rois,) with indices", 1, ("num_rois",)),
        ("matrices of shape [*, M, M]", 3, ("", "M", "M")),
        ("a shape of another rank (M, N)", 3, ("", "", "")),
        ("in the range [-r, r-1] (by default it is 0, empty string or False), (i.e., a scalar)", 2, ("", "")),
        ("the input tensor", 0, ()),
    ],
)
def test_a_description_names_dimensions(text: str, rank: int, expected: tuple[str, ...]) -> None:
    assert names(text, rank) == expected


def test_the_texts_of_layers_with_batches_name_them() -> None:
    for operator, name, rank in (
        ("Attention", "past_key", 4),
        ("LSTM", "sequence_lens", 1),
        ("Multinomial", "input", 2),
    ):
        version = schema.versions("ai.onnx", operator)[-1]
        (description,) = (item.description for item in version.inputs if item.name == name)
        assert "batch_size" in names(description, rank), operator
