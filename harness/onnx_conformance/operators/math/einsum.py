# SPDX-License-Identifier: Apache-2.0
"""Einsum: products of tensors, summed over the indices that are not in the output term of an equation.

    Output = Einsum(*Inputs, equation)

Versions: 12, 28 (bfloat16).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_conformance.declare import Array, Op, Result, Tag, Version, bounded, ramp, typed
from onnx_conformance.declare.sizes import filled, grid

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _symbols(equation: str) -> tuple[list[list[str]], list[str]]:
    """Return the symbols of each term and of the output. An ellipsis is one symbol, written *."""
    left, arrow, right = equation.replace(" ", "").replace("...", "*").partition("->")
    if not arrow:
        once = sorted(letter for letter in set(left) - {",", "*"} if left.count(letter) == 1)
        right = "*" * ("*" in left) + "".join(once)
    return [list(term) for term in left.split(",")], list(right)


def _indices(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """Return an index for each dimension of the operands and the output: a letter, or *0, *1, ... for an ellipsis."""
    terms, output = _symbols(equation)
    ellipses = (range(rank - len(term) + 1) for term, rank in zip(terms, ranks, strict=False) if "*" in term)
    ellipsis_indices = dict.fromkeys(f"*{number}" for numbers in ellipses for number in numbers)

    def expanded(symbols: list[str]) -> list[str]:
        return [index for symbol in symbols for index in (ellipsis_indices if symbol == "*" else [symbol])]

    return [expanded(term) for term in terms], expanded(output)


def _contracted(operands: Sequence[Array], terms: list[list[str]], output: list[str]) -> tuple[Array, int]:
    """Return output[output-term] = reduce-sum(input1[term1] * input2[term2]), and the number of products in each sum.

    Args:
        operands: tensors of any rank. A dimension of 1 matches any size of the same index.
        terms: the index of each dimension of each operand. An index that occurs twice selects the diagonal.
        output: the indices of the dimensions of the result. The products are summed over all other indices.
    """
    summed = sorted({index for term in terms for index in term} - set(output))
    every = [*output, *summed]
    sizes = dict.fromkeys(every, 1)
    product: Any = 1
    for operand, term in zip(operands, terms, strict=True):
        sizes |= {index: size for index, size in zip(term, operand.shape, strict=True) if size != 1}
        counters = tuple(
            np.arange(size).reshape([size if index == other else 1 for other in every])
            for index, size in zip(term, operand.shape, strict=True)
        )
        product = product * operand[counters]
    whole = np.broadcast_to(product, [sizes[index] for index in every])
    return np.asarray(whole.sum(tuple(range(len(output), len(every))))), math.prod(sizes[index] for index in summed)


def _rank(arguments: Mapping[str, Any]) -> int:
    """Return the rank of the output.

    Models without an expected output must state one too, so it is computed for any arguments.
    """
    ranks = [int(value.ndim) for name, value in arguments.items() if name.startswith("Inputs_")]
    return len(_indices(arguments.get("equation", ""), ranks)[1])


def _dimensions(shapes: Mapping[str, tuple[int, ...]], attributes: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """Name each dimension with a letter by its index. Those of an ellipsis are broadcast, and may have other sizes."""
    operands = {name: shape for name, shape in shapes.items() if name.startswith("Inputs_")}
    terms, output = _indices(attributes.get("equation", b"").decode(), [len(shape) for shape in operands.values()])
    named = dict(zip((*operands, *(shapes.keys() - operands.keys())), (*terms, output), strict=False))
    return {
        name: [f"index_{symbol}" if symbol.isalpha() else "" for symbol in symbols] for name, symbols in named.items()
    }


def _rounding(Inputs: list[Array], equation: str) -> list[Array]:
    """Return half a rounding of all magnitudes for each product and sum; 0 if elements are only moved."""
    terms, output = _indices(equation, [operand.ndim for operand in Inputs])
    magnitudes, count = _contracted([np.abs(operand.astype(float)) for operand in Inputs], terms, output)
    roundings = count + len(Inputs) - 2
    return [magnitudes * ((roundings + 1) / 2 if roundings > 0 else 0)]


EINSUM = Op(
    "Einsum",
    versions=(12, 28),
    compare=bounded(_rounding, "each product and sum, in any order, rounds by half an epsilon of all magnitudes"),
    rank=_rank,
    dimensions=_dimensions,
)
EINSUM.example(Inputs=(ramp(2, 3), ramp(3, 4)), equation="ij,jk->ik")

FORM = EINSUM.clause(
    "output[output-term] = reduce-sum( input1[term1] * input2[term2] )",
    note="The text does not define the result of an overflow.",
)
SUMMATION = EINSUM.clause(
    "performs a summation over all the indices occurring in the input terms (term1, term2) that do not occur in the",
    note="A sum over no elements is 0. The text does not define whether an ellipsis that is not in the output is "
    "summed over.",
)
LETTERS = EINSUM.clause(
    "The equation string contains a comma-separated sequence of lower case letters and/or upper case letters.",
    note="The term of a scalar has no letters.",
)
OPERANDS = EINSUM.clause("Each term corresponds to an operand tensor")
DIMENSIONS = EINSUM.clause(
    "and the characters within the terms correspond to operands dimensions.",
    note="An index has one size. The text allows 1 to match any size, as in numpy, only for the ellipsis.",
)
DISTINCT = EINSUM.clause(
    "Lower case letters and upper case letters are treated as distinct symbols",
    see=("https://github.com/onnx/onnx/pull/8258", "https://github.com/onnx/onnx/issues/5282"),
)
ARROW = EINSUM.clause('This sequence may be followed by "->" to separate the left and right hand side of the equation.')
EXPLICIT = EINSUM.clause(
    "and the right-hand side indices indicate output tensor dimensions.",
    note="An output index that no term has belongs to no dimension. The text does not define an output index that "
    "occurs twice.",
)
IMPLICIT = EINSUM.clause(
    "appearing exactly once in the equation, sorted in increasing order of their ASCII values",
    note="Upper case sorts before lower case. onnxruntime rejects upper case in implicit mode.",
)
REPEATED = EINSUM.clause(
    "When a dimension character is repeated in the left-hand side, it represents summation along the dimension.",
    note="Unless the output has the character too. Then the result is the diagonal, as in output[output-term].",
)
ELLIPSIS = EINSUM.clause(
    'The equation may contain ellipsis ("...") to enable broadcasting.',
    note="The text does not define two ellipses in one term.",
)
FIXED = EINSUM.clause(
    "Ellipsis must indicate a fixed number of dimensions. Specifically, every occurrence of ellipsis in the equation "
    "must represent the same number of dimensions.",
    note="numpy, and therefore onnx.reference, broadcasts ellipses of different numbers of dimensions.",
)
ONE_ELLIPSIS = EINSUM.clause("The right-hand side may contain exactly one ellipsis.")
BEGINNING = EINSUM.clause("In implicit mode, the ellipsis dimensions are set to the beginning of the output.")
SPACE = EINSUM.clause(
    "The equation string may contain space (U+0020) character.", note="No other white space is allowed."
)
NUMERICAL = EINSUM.clause("Constrain input and output types to all numerical tensor types.")


@EINSUM.oracle()
def summed(v: Version, Inputs: list[Array], equation: str) -> Result:
    """Return the sums of products that the equation describes."""
    _require_equation(v, equation.replace(" ", ""), [operand.ndim for operand in Inputs])
    terms, output = _indices(equation, [operand.ndim for operand in Inputs])
    _require_sizes(v, {pair for term, x in zip(terms, Inputs, strict=True) for pair in zip(term, x.shape, strict=True)})
    dtype = np.result_type(*Inputs)
    wide = np.longdouble if dtype.kind == "f" else object
    with np.errstate(all="ignore"):
        sums, _ = _contracted([operand.astype(wide) for operand in Inputs], terms, output)
    return sums.astype(dtype) if dtype.kind == "f" else v.fitting(FORM, sums, dtype)


def _require_equation(v: Version, equation: str, ranks: list[int]) -> None:
    """Raise Rejected or Unspecified unless an equation without spaces is defined for operands of these ranks."""
    v.require(ARROW, equation.count("->") <= 1)
    left, _, right = equation.replace("...", "").partition("->")
    letters = left.replace(",", "") + right
    v.require(LETTERS, not letters or (letters.isascii() and letters.isalpha()))
    terms, output = _symbols(equation)
    v.require(OPERANDS, len(terms) == len(ranks))
    v.silent(ELLIPSIS, any(term.count("*") > 1 for term in terms))
    v.require(ONE_ELLIPSIS, output.count("*") <= 1)
    symbols = {symbol for term in terms for symbol in term}
    v.silent(SUMMATION, ("*" in symbols) is not ("*" in output))
    v.require(EXPLICIT, set(output) <= symbols)
    v.silent(EXPLICIT, len(set(output)) < len(output))
    for term, rank in zip(terms, ranks, strict=True):
        v.require(DIMENSIONS, rank >= len(term) - 1 if "*" in term else rank == len(term))
    v.require(FIXED, len({rank - len(term) for term, rank in zip(terms, ranks, strict=True) if "*" in term}) <= 1)


def _require_sizes(v: Version, sizes: set[tuple[str, int]]) -> None:
    """Raise Rejected if an index has two sizes that are not 1, Unspecified if a letter has size 1 and another size."""
    larger = [index for index, size in sizes if size != 1]
    v.require(DIMENSIONS, len(set(larger)) == len(larger))
    v.silent(DIMENSIONS, any(size == 1 and index in larger and not index.startswith("*") for index, size in sizes))


case = EINSUM.case


def waves(*shapes: tuple[int, ...]) -> tuple[Array, ...]:
    """Return operands of these shapes. In each, all rows, columns and layers are different."""
    return tuple(
        np.sin(np.arange(1.0, math.prod(shape) + 1) * (1.7 + number)).reshape(shape)
        for number, shape in enumerate(shapes)
    )


case("product", Inputs=waves((2, 3), (3, 4)), equation="ij,jk->ik", cites=(FORM, ARROW))
case("transposed_second", Inputs=waves((2, 3), (4, 3)), equation="ij,kj->ik", cites=(FORM, ARROW))
case("outer", Inputs=waves((3,), (4,)), equation="i,j->ij", cites=(FORM, ARROW))
case("elementwise", Inputs=waves((2, 3), (2, 3)), equation="ij,ij->ij", cites=(FORM, ARROW))
case("batch", Inputs=waves((2, 3, 4), (2, 4, 5)), equation="bij,bjk->bik", cites=(FORM, ARROW))
case("rank4", Inputs=waves((2, 3, 4, 5), (2, 3, 6, 5)), equation="bhqd,bhkd->bhqk", cites=(FORM, ARROW))
case("rank5", Inputs=waves((2, 3, 2, 1, 3), (3, 2)), equation="abcde,ec->bda", cites=(FORM, ARROW))
case("size_one", Inputs=waves((1, 1), (1, 1)), equation="ij,jk->ik", cites=(FORM, ARROW))
case("no_rows", Inputs=waves((0, 3), (3, 4)), equation="ij,jk->ik", cites=(FORM, ARROW))
case("product_implicit", Inputs=waves((2, 3), (3, 4)), equation="ij,jk", cites=IMPLICIT)
case("permutation_implicit", Inputs=waves((2, 3, 4)), equation="kij", cites=IMPLICIT)
case("identity_implicit", Inputs=waves((2, 3)), equation="ab", cites=IMPLICIT)
case("outer_implicit", Inputs=waves((3,), (4,)), equation="j,i", cites=IMPLICIT)
case("upper_first", Inputs=waves((2, 3)), equation="bA", cites=IMPLICIT)
case("transpose", Inputs=waves((2, 3)), equation="ij->ji", cites=(EXPLICIT, ARROW))
case("permutation", Inputs=waves((2, 3, 4)), equation="ijk->kij", cites=(EXPLICIT, ARROW))
case("sum", Inputs=waves((2, 3)), equation="ij->", cites=(SUMMATION, ARROW))
case("sum_rows", Inputs=waves((2, 3)), equation="ij->j", cites=(SUMMATION, ARROW))
case("sum_middle", Inputs=waves((2, 3, 4)), equation="ijk->ki", cites=(SUMMATION, ARROW))
case("dot", Inputs=waves((3,), (3,)), equation="i,i->", cites=(SUMMATION, ARROW))
case("summed_alone", Inputs=waves((2, 3), (4, 3)), equation="ij,kl->il", cites=(SUMMATION, ARROW))
case("no_terms", Inputs=waves((2, 0), (0, 3)), equation="ij,jk->ik", cites=(SUMMATION, ARROW))
case("no_terms_sum", Inputs=waves((0,)), equation="i->", cites=(SUMMATION, ARROW))
case("sum_of_products", Inputs=waves((2, 3), (2, 3)), equation="ij,ij", cites=REPEATED)
case("trace", Inputs=waves((3, 3)), equation="ii->", cites=(REPEATED, ARROW))
case("diagonal", Inputs=waves((3, 3)), equation="ii->i", cites=(REPEATED, ARROW))
case("diagonal_inside", Inputs=waves((3, 2, 3)), equation="iji->ji", cites=(REPEATED, ARROW))
case("diagonal_of_three", Inputs=waves((2, 2, 2)), equation="iii->i", cites=(REPEATED, ARROW))
case("diagonal_product", Inputs=waves((3, 3), (3, 4)), equation="ii,ij->j", cites=(REPEATED, ARROW))
case("repeated_implicit", Inputs=waves((3, 3, 2)), equation="iij", cites=REPEATED)
case("three", Inputs=waves((2, 3), (3, 4), (4, 5)), equation="ij,jk,kl->il", cites=(OPERANDS, ARROW))
case("chain", Inputs=waves((3,), (3, 4), (4,)), equation="i,ij,j->", cites=(OPERANDS, ARROW))
case("four", Inputs=waves((3,), (4,), (2,), (5,)), equation="i,j,k,l->lkji", cites=(OPERANDS, ARROW))
CONTRACTIONS: dict[str, tuple[Any, ...]] = {
    "two_of_three_summed": ("ijk->i", (2, 3, 4)),
    "first_two_summed": ("ijk->k", (2, 3, 4)),
    "outer_two_summed": ("ijkl->kj", (2, 3, 4, 2)),
    "reversed_of_five": ("abcde->edcba", (1, 2, 1, 2, 3)),
    "two_diagonals": ("iijj->ji", (2, 2, 3, 3)),
    "diagonal_summed_beside_kept": ("iij->j", (3, 3, 2)),
    "two_contracted": ("ijk,jkl->il", (2, 3, 4), (3, 4, 2)),
    "two_contracted_in_another_order": ("ijk,lkj->li", (2, 3, 4), (5, 4, 3)),
    "contracted_beside_summed": ("ijk,k->i", (2, 3, 4), (4,)),
    "summed_in_both": ("ijk,lmj->il", (2, 3, 4), (2, 5, 3)),
    "batch_last": ("bij,bkj->kib", (2, 3, 4), (2, 5, 4)),
    "batch_summed": ("bij,bjk->ik", (2, 3, 4), (2, 4, 5)),
    "size_one_contracted": ("ij,jk->ik", (2, 1), (1, 3)),
    "size_one_kept": ("ij,jk->ki", (1, 3), (3, 4)),
    "three_with_two_contracted": ("ij,jkl,lk->i", (2, 3), (3, 4, 2), (2, 4)),
    "bilinear": ("bi,kij,bj->bk", (2, 3), (4, 3, 2), (2, 2)),
    "four_in_a_chain": ("ij,jk,kl,lm->mi", (2, 3), (3, 2), (2, 4), (4, 3)),
    "four_with_one_index": ("i,i,i,i->i", (3,), (3,), (3,), (3,)),
}
"""By name, an equation and the shapes of its operands. Indices are repeated, kept, summed, permuted or of size 1."""
for name, (equation, *shapes) in CONTRACTIONS.items():
    case(name, Inputs=waves(*shapes), equation=equation, cites=(SUMMATION, OPERANDS, ARROW))
WITH_DOTS: dict[str, tuple[Any, ...]] = {
    "dots_of_three": ("...i,...j,...k->k...ji", (2, 3), (2, 4), (2, 2)),
    "dots_of_three_contracted": ("...ij,...jk,...kl->...il", (2, 2, 3), (2, 3, 2), (2, 2, 4)),
    "dots_of_four": ("i...,j...,k...,l...->...lkji", (2, 3), (1, 3), (2, 3), (2, 3)),
    "dots_in_each_place": ("...ij,j...k->i...k", (4, 2, 3), (3, 4, 2)),
    "dots_inside_both": ("i...j,j...k->k...i", (2, 4, 3), (3, 4, 2)),
    "dots_of_three_broadcast": ("...i,...i,...i->...", (2, 1, 3), (1, 4, 3), (1, 1, 3)),
}
for name, (equation, *shapes) in WITH_DOTS.items():
    case(name, Inputs=waves(*shapes), equation=equation, cites=(ELLIPSIS, OPERANDS, ARROW))
case("case", Inputs=waves((2, 3)), equation="aA->Aa", cites=(DISTINCT, ARROW))
case("case_implicit", Inputs=waves((2, 3)), equation="aA", cites=DISTINCT)
case("case_product", Inputs=waves((2, 3), (3, 4)), equation="iI,Ij->ij", cites=(DISTINCT, ARROW))
case("upper_sum", Inputs=waves((3, 2, 3)), equation="ZaZ", cites=DISTINCT)
case("ellipsis", Inputs=waves((2, 3, 4), (2, 4, 5)), equation="...ij,...jk->...ik", cites=(ELLIPSIS, ARROW))
case("dots_alone", Inputs=waves((2, 3, 4)), equation="...", cites=ELLIPSIS)
case("dots_of_one", Inputs=waves((2, 3), (3,)), equation="...i,i->...", cites=(ELLIPSIS, ARROW))
case("dots_broadcast", Inputs=waves((4, 1, 3), (1, 5, 3)), equation="...i,...i->...i", cites=(ELLIPSIS, ARROW))
case("dots_wider", Inputs=waves((1, 2), (4, 3)), equation="...i,...j->...ij", cites=(ELLIPSIS, ARROW))
case("dots_implicit", Inputs=waves((2, 3, 4)), equation="i...", cites=BEGINNING)
case("dots_product", Inputs=waves((2, 3, 4), (2, 4, 5)), equation="...ij,...jk", cites=BEGINNING)
case("dots_implicit_sum", Inputs=waves((2, 3, 3)), equation="...ii", cites=BEGINNING)
case("dots_last", Inputs=waves((2, 3, 4)), equation="...i->i...", cites=(ONE_ELLIPSIS, ARROW))
case("dots_inside", Inputs=waves((2, 3, 4, 5)), equation="i...j->j...i", cites=(ONE_ELLIPSIS, ARROW))
case("dots_alone_explicit", Inputs=waves((2, 3, 4)), equation="...->...", cites=(ONE_ELLIPSIS, ARROW))
case("dots_none", Inputs=waves((2, 3)), equation="...ij->...ji", cites=(FIXED, ARROW))
case("dots_beside_more_letters", Inputs=waves((2, 3), (2, 3, 4)), equation="...i,...ij->...j", cites=(FIXED, ARROW))
case("dots_scalars", Inputs=waves((), ()), equation="...,...", cites=FIXED)
case("spaces", Inputs=waves((2, 3), (3, 4)), equation=" ij , jk -> ik ", cites=(SPACE, ARROW))
case("spaces_implicit", Inputs=waves((2, 3)), equation=" b a ", cites=SPACE)
case("spaces_ellipsis", Inputs=waves((2, 3, 4)), equation="... i -> i ...", cites=(SPACE, ARROW))
case("scalar", Inputs=waves(()), equation="->", cites=(LETTERS, ARROW))
case("scalar_product", Inputs=waves((), ()), equation=",->", cites=(LETTERS, ARROW))
case("scalar_and_vector", Inputs=waves((), (3,)), equation=",i->i", cites=(LETTERS, ARROW))
case("scalar_implicit", Inputs=waves((), (3,)), equation=",i", cites=LETTERS)

case("fewer_operands", Tag.EDGE, Inputs=waves((2, 3)), equation="ij,jk->ik", rejects=OPERANDS)
case("letters_too_few", Tag.EDGE, Inputs=waves((2, 3)), equation="i->i", rejects=DIMENSIONS)
case("letters_too_many", Tag.EDGE, Inputs=waves((2, 3)), equation="ijk->i", rejects=DIMENSIONS)
case("dots_too_long", Tag.EDGE, Inputs=waves((2, 3)), equation="...ijk->...", rejects=DIMENSIONS)
case("sizes_differ", Tag.EDGE, Inputs=waves((2, 3), (4, 3)), equation="ij,jk->ik", rejects=DIMENSIONS)
case("diagonal_uneven", Tag.EDGE, Inputs=waves((2, 3)), equation="ii->i", rejects=DIMENSIONS)
case("dots_sizes", Tag.EDGE, Inputs=waves((2, 3), (3, 3)), equation="...i,...i->...", rejects=DIMENSIONS)
case("output_unknown", Tag.EDGE, Inputs=waves((2, 3)), equation="ij->ik", rejects=EXPLICIT)
case("digit", Tag.EDGE, Inputs=waves((2, 3)), equation="1j->j", rejects=LETTERS)
case("single_dot", Tag.EDGE, Inputs=waves((2, 3)), equation=".j->j", rejects=LETTERS)
case("tab", Tag.EDGE, Inputs=waves((2, 3)), equation="ij\t->ji", rejects=LETTERS)
case("half_arrow", Tag.EDGE, Inputs=waves((2, 3)), equation="ij>ji", rejects=LETTERS)
case("output_comma", Tag.EDGE, Inputs=waves((2, 3)), equation="ij->i,j", rejects=LETTERS)
case("umlaut", Tag.EDGE, Inputs=waves((2, 3)), equation="äj->j", rejects=LETTERS)
case("arrow_twice", Tag.EDGE, Inputs=waves((2, 3)), equation="ij->ji->ij", rejects=ARROW)
case("dots_differs", Tag.EDGE, Inputs=waves((2, 3), (3,)), equation="...i,...i->...i", rejects=FIXED)
case("dots_differs_implicit", Tag.EDGE, Inputs=waves((2, 3), (2, 3, 4)), equation="i...,i...", rejects=FIXED)
case("output_ellipsis_twice", Tag.EDGE, Inputs=waves((2, 3, 4)), equation="...i->...i...", rejects=ONE_ELLIPSIS)

case("size_one_broadcasts", Tag.EDGE, Inputs=waves((2, 1), (3, 4)), equation="ij,jk->ik", unspecified=DIMENSIONS)
case("output_twice", Tag.EDGE, Inputs=waves((3,)), equation="i->ii", unspecified=EXPLICIT)
case("dots_left_out", Tag.EDGE, Inputs=waves((2, 3, 4)), equation="...i->i", unspecified=SUMMATION)
case("dots_in_output_only", Tag.EDGE, Inputs=waves((2, 3)), equation="ij->...ij", unspecified=SUMMATION)
case("dots_twice_in_term", Tag.EDGE, Inputs=waves((2, 3, 4)), equation="...i...->i...", unspecified=ELLIPSIS)
case("dots_twice_in_one_term", Tag.EDGE, Inputs=waves((2, 3), (3,)), equation="...i...,i->i...", unspecified=ELLIPSIS)

case("long", Inputs=(np.cos(np.arange(500.0)), np.sin(np.arange(500.0))), equation="i,i->", cites=FORM)
case("infinity", Tag.EDGE, Inputs=([[np.inf, 1], [2, 3]], [1, 2]), equation="ij,j->i", cites=FORM)
case("nan", Tag.EDGE, Inputs=([[np.nan, 1], [2, 3]], [1, 2]), equation="ij,j->i", cites=FORM)

case("dtypes_diagonal", Tag.DTYPE, each="T", Inputs=(ramp(3, 3),), equation="ii->i", cites=NUMERICAL)
for type_ in ("int8", "uint8", "int32", "int64", "uint64"):
    high = int(np.iinfo(type_).max)
    near = typed(type_, np.array([high - 2, 1], type_))
    case(f"exact_{type_}", Tag.EDGE, Inputs=(near, typed(type_, [1, 2])), equation="i,i->", cites=FORM)
    one_beyond = typed(type_, [[1, 1], [3, 2]])
    case(f"overflow_{type_}", Tag.EDGE, Inputs=(near, one_beyond), equation="i,ij->j", unspecified=FORM)
for type_ in ("float16", "double"):
    pair = tuple(typed(type_, operand) for operand in waves((2, 3), (3, 4)))
    case(f"fractions_{type_}", Tag.EDGE, Inputs=pair, equation="ij,jk->ik", cites=FORM)

EQUATIONS: dict[str, tuple[str, list[dict[str, int]]]] = {
    "batched": ("bij,bjk->bik", grid(b=(3,), i=(5, 16), j=(8, 33), k=(7, 64))),
    "turned": ("bij,bkj->bik", grid(b=(2,), i=(4, 17), j=(16, 31), k=(8, 33))),
    "heads": ("bqhd,bkhd->bhqk", grid(b=(2,), q=(5, 16), h=(3,), d=(8, 33), k=(7, 17))),
    "values": ("bhqk,bkhd->bqhd", grid(b=(2,), h=(3,), q=(5, 16), k=(7, 17), d=(8, 33))),
    "bilinear": ("bi,oij,bj->bo", grid(b=(3,), i=(7, 16), o=(5,), j=(8, 33))),
    "outer": ("i,j->ij", grid(i=(7, 65, 513), j=(16, 129))),
    "long": ("ij,jk->ik", grid(i=(5, 8), j=(128, 256, 300, 513), k=(8, 9))),
    "dot": ("i,i->", grid(i=(7, 64, 127))),
    "elementwise": ("ij,ij->ij", grid(i=(17,), j=(16, 129))),
    "rows": ("ij->i", grid(i=(17,), j=(16, 127))),
    "columns": ("ij->j", grid(i=(17, 64), j=(33,))),
    "moved": ("ijk->kij", grid(i=(5, 16), j=(7,), k=(8, 33))),
    "diagonal": ("ii->i", grid(i=(7, 65))),
}
"""By the name of a call: the equation, and the sizes. The letters of a term are the dimensions of its operand."""
for name, (equation, sizes) in EQUATIONS.items():
    operands = tuple(filled(*term, integers=(0, 1)) for term in equation.partition("->")[0].split(","))
    of_sizes: dict[str, Any] = {"Inputs": operands, "equation": equation}
    EINSUM.sized(name, sizes, each="T", cites=(FORM, SUMMATION), arguments=of_sizes)
