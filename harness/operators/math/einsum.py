"""Einsum: products of tensors, summed over the indices that an equation leaves out of the result.

Versions: 12, 28 (bfloat16).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.declare import Array, Clause, Op, Rule, Tag, Version, bounded, ramp, typed
from harness.operators.math._contraction import contracted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def _symbols(equation: str) -> tuple[list[list[str]], list[str]]:
    """Return the symbols of each term and of the output; an ellipsis is one symbol, written *."""
    left, arrow, right = equation.replace(" ", "").replace("...", "*").partition("->")
    if not arrow:
        once = sorted(letter for letter in set(left) - {",", "*"} if left.count(letter) == 1)
        right = "*" * ("*" in left) + "".join(once)
    return [list(term) for term in left.split(",")], list(right)


def _indices(equation: str, ranks: Sequence[int]) -> tuple[list[list[str]], list[str]]:
    """Return an index for each dimension of each operand and of the output, those of an ellipsis by number."""
    terms, output = _symbols(equation)
    spans = [rank - len(term) + 1 for term, rank in zip(terms, ranks, strict=False) if "*" in term]

    def expanded(symbols: list[str]) -> list[str]:
        ellipsis_ = [f"*{at}" for at in range(max(0, *spans, 0))]
        return [name for symbol in symbols for name in (ellipsis_ if symbol == "*" else [symbol])]

    return [expanded(term) for term in terms], expanded(output)


def _rank(arguments: Mapping[str, Any]) -> int:
    """Return the rank of the output, as far as a model that has no answer can have one."""
    ranks = [int(value.ndim) for name, value in arguments.items() if name.startswith("Inputs_")]
    return len(_indices(arguments.get("equation", ""), ranks)[1])


def _rounding(Inputs: list[Array], equation: str) -> list[Array]:  # noqa: N803 - the text's own name
    """Return half a rounding of all magnitudes for each product and sum; none where elements are only moved."""
    names, output = _indices(equation, [operand.ndim for operand in Inputs])
    magnitudes, terms = contracted([np.abs(operand.astype(float)) for operand in Inputs], names, output)
    roundings = terms + len(Inputs) - 2
    return [magnitudes * ((roundings + 1) / 2 if roundings > 0 else 0)]


EINSUM = Op(
    "Einsum",
    versions=(12, 28),
    compare=bounded(_rounding, "each product and sum, in any order, rounds by half an epsilon of all magnitudes"),
    rank=_rank,
)

FORM = EINSUM.clause(
    "output[output-term] = reduce-sum( input1[term1] * input2[term2] )", note="Says not what an overflow yields."
)
SUMMATION = EINSUM.clause(
    "performs a summation over all the indices occurring in the input terms (term1, term2) that do not occur in the",
    note="Over no elements it is 0. Says not whether an ellipsis left out of the output is summed over.",
)
LETTERS = EINSUM.clause(
    "The equation string contains a comma-separated sequence of lower case letters and/or upper case letters.",
    note="A term of no letters is that of a scalar.",
)
OPERANDS = EINSUM.clause("Each term corresponds to an operand tensor")
DIMENSIONS = EINSUM.clause(
    "and the characters within the terms correspond to operands dimensions.",
    note="An index has one size. That 1 may stand for any, as in numpy, is said of the ellipsis only.",
)
DISTINCT = EINSUM.clause("Lower case letters and upper case letters are treated as distinct symbols")
ARROW = EINSUM.clause('This sequence may be followed by "->" to separate the left and right hand side of the equation.')
EXPLICIT = EINSUM.clause(
    "and the right-hand side indices indicate output tensor dimensions.",
    note="An index that no term has is that of no dimension. Says nothing of one that comes twice.",
)
IMPLICIT = EINSUM.clause(
    "appearing exactly once in the equation, sorted in increasing order of their ASCII values",
    note="Upper case before lower case; onnxruntime takes no upper case in implicit mode.",
)
REPEATED = EINSUM.clause(
    "When a dimension character is repeated in the left-hand side, it represents summation along the dimension.",
    note="Unless the output has it: then it is the diagonal, as output[output-term] says.",
)
ELLIPSIS = EINSUM.clause(
    'The equation may contain ellipsis ("...") to enable broadcasting.', note="Says nothing of two in one term."
)
FIXED = EINSUM.clause(
    "Ellipsis must indicate a fixed number of dimensions. Specifically, every occurrence of ellipsis in the equation "
    "must represent the same number of dimensions.",
    note="numpy, and with it onnx.reference, broadcasts different numbers of them.",
)
ONE_ELLIPSIS = EINSUM.clause("The right-hand side may contain exactly one ellipsis.")
BEGINNING = EINSUM.clause("In implicit mode, the ellipsis dimensions are set to the beginning of the output.")
SPACE = EINSUM.clause("The equation string may contain space (U+0020) character.", note="And no other white space.")
NUMERICAL = EINSUM.clause("Constrain input and output types to all numerical tensor types.")


@EINSUM.oracle()
def summed(v: Version, Inputs: list[Array], equation: str) -> Array:  # noqa: N803
    """Return the sums of products that the equation says."""
    written = equation.replace(" ", "")
    v.require(ARROW, written.count("->") <= 1)
    left, _, right = written.replace("...", "").partition("->")
    letters = left.replace(",", "") + right
    v.require(LETTERS, not letters or (letters.isascii() and letters.isalpha()))
    terms, output = _symbols(equation)
    v.require(OPERANDS, len(terms) == len(Inputs))
    v.silent(ELLIPSIS, any(term.count("*") > 1 for term in terms))
    v.require(ONE_ELLIPSIS, output.count("*") <= 1)
    given = {symbol for term in terms for symbol in term}
    v.silent(SUMMATION, ("*" in given) is not ("*" in output))
    v.require(EXPLICIT, set(output) <= given)
    v.silent(EXPLICIT, len(set(output)) < len(output))
    pairs = list(zip(terms, Inputs, strict=True))
    v.require(DIMENSIONS, all(x.ndim == len(term) if "*" not in term else x.ndim >= len(term) - 1 for term, x in pairs))
    v.require(FIXED, len({operand.ndim - len(term) for term, operand in pairs if "*" in term}) <= 1)
    names, result = _indices(equation, [operand.ndim for operand in Inputs])
    dims = {pair for term, x in zip(names, Inputs, strict=True) for pair in zip(term, x.shape, strict=True)}
    larger = [name for name, dim in dims if dim != 1]
    v.require(DIMENSIONS, len(set(larger)) == len(larger))
    v.silent(DIMENSIONS, any(dim == 1 and name in larger and not name.startswith("*") for name, dim in dims))
    exact = Inputs[0].dtype.kind != "f"
    with np.errstate(all="ignore"):
        total = contracted([x.astype(object if exact else np.longdouble) for x in Inputs], names, result)[0]
    if exact:
        limits = np.iinfo(Inputs[0].dtype)
        v.silent(FORM, any(not limits.min <= item <= limits.max for item in total.ravel()))
    return total.astype(Inputs[0].dtype)


def waves(shapes: str) -> tuple[Array, ...]:
    """Return operands of shapes written as digits (s: a scalar); no two rows, columns or layers of them are alike."""
    dims = [tuple(int(digit) for digit in shape.strip("s")) for shape in shapes.split()]
    return tuple(np.sin(np.arange(1.0, math.prod(one) + 1) * (1.7 + at)).reshape(one) for at, one in enumerate(dims))


case = EINSUM.case

Table = list[tuple[str, str, str, Clause]]
"""Name, equation, shapes, and the sentence that it tries."""
EQUATIONS: Table = [
    ("product", "ij,jk->ik", "23 34", FORM), ("transposed_second", "ij,kj->ik", "23 43", FORM),
    ("outer", "i,j->ij", "3 4", FORM), ("elementwise", "ij,ij->ij", "23 23", FORM),
    ("batch", "bij,bjk->bik", "234 245", FORM), ("rank5", "abcde,ec->bda", "23213 32", FORM),
    ("size_one", "ij,jk->ik", "11 11", FORM), ("no_rows", "ij,jk->ik", "03 34", FORM),
    ("product_implicit", "ij,jk", "23 34", IMPLICIT), ("permutation_implicit", "kij", "234", IMPLICIT),
    ("identity_implicit", "ab", "23", IMPLICIT), ("outer_implicit", "j,i", "3 4", IMPLICIT),
    ("upper_first", "bA", "23", IMPLICIT), ("transpose", "ij->ji", "23", EXPLICIT),
    ("permutation", "ijk->kij", "234", EXPLICIT), ("sum", "ij->", "23", SUMMATION),
    ("sum_rows", "ij->j", "23", SUMMATION), ("sum_middle", "ijk->ki", "234", SUMMATION),
    ("dot", "i,i->", "3 3", SUMMATION), ("summed_alone", "ij,kl->il", "23 43", SUMMATION),
    ("no_terms", "ij,jk->ik", "20 03", SUMMATION), ("no_terms_sum", "i->", "0", SUMMATION),
    ("sum_of_products", "ij,ij", "23 23", REPEATED), ("trace", "ii->", "33", REPEATED),
    ("diagonal", "ii->i", "33", REPEATED), ("diagonal_inside", "iji->ji", "323", REPEATED),
    ("diagonal_of_three", "iii->i", "222", REPEATED), ("diagonal_product", "ii,ij->j", "33 34", REPEATED),
    ("repeated_implicit", "iij", "332", REPEATED), ("three", "ij,jk,kl->il", "23 34 45", OPERANDS),
    ("chain", "i,ij,j->", "3 34 4", OPERANDS), ("four", "i,j,k,l->lkji", "3 4 2 5", OPERANDS),
    ("case", "aA->Aa", "23", DISTINCT), ("case_implicit", "aA", "23", DISTINCT),
    ("case_product", "iI,Ij->ij", "23 34", DISTINCT), ("upper_sum", "ZaZ", "323", DISTINCT),
    ("ellipsis", "...ij,...jk->...ik", "234 245", ELLIPSIS), ("dots_alone", "...", "234", ELLIPSIS),
    ("dots_of_one", "...i,i->...", "23 3", ELLIPSIS), ("dots_broadcast", "...i,...i->...i", "413 153", ELLIPSIS),
    ("dots_wider", "...i,...j->...ij", "12 43", ELLIPSIS), ("dots_implicit", "i...", "234", BEGINNING),
    ("dots_product", "...ij,...jk", "234 245", BEGINNING), ("dots_implicit_sum", "...ii", "233", BEGINNING),
    ("dots_last", "...i->i...", "234", ONE_ELLIPSIS), ("dots_inside", "i...j->j...i", "2345", ONE_ELLIPSIS),
    ("dots_alone_explicit", "...->...", "234", ONE_ELLIPSIS), ("dots_none", "...ij->...ji", "23", FIXED),
    ("dots_scalars", "...,...", "s s", FIXED), ("spaces", " ij , jk -> ik ", "23 34", SPACE),
    ("spaces_implicit", " b a ", "23", SPACE), ("spaces_ellipsis", "... i -> i ...", "234", SPACE),
    ("scalar", "->", "s", LETTERS), ("scalar_product", ",->", "s s", LETTERS),
    ("scalar_and_vector", ",i->i", "s 3", LETTERS), ("scalar_implicit", ",i", "s 3", LETTERS),
]  # fmt: skip
WRONG: Table = [
    ("fewer_operands", "ij,jk->ik", "23", OPERANDS), ("letters_too_few", "i->i", "23", DIMENSIONS),
    ("letters_too_many", "ijk->i", "23", DIMENSIONS), ("dots_too_long", "...ijk->...", "23", DIMENSIONS),
    ("sizes_differ", "ij,jk->ik", "23 43", DIMENSIONS), ("diagonal_uneven", "ii->i", "23", DIMENSIONS),
    ("dots_sizes", "...i,...i->...", "23 33", DIMENSIONS), ("output_unknown", "ij->ik", "23", EXPLICIT),
    ("digit", "1j->j", "23", LETTERS), ("single_dot", ".j->j", "23", LETTERS), ("tab", "ij\t->ji", "23", LETTERS),
    ("half_arrow", "ij>ji", "23", LETTERS), ("output_comma", "ij->i,j", "23", LETTERS),
    ("umlaut", "äj->j", "23", LETTERS), ("arrow_twice", "ij->ji->ij", "23", ARROW),
    ("dots_differs", "...i,...i->...i", "23 3", FIXED), ("dots_differs_implicit", "i...,i...", "23 234", FIXED),
    ("output_ellipsis_twice", "...i->...i...", "234", ONE_ELLIPSIS),
]  # fmt: skip
OPEN: Table = [
    ("size_one_broadcasts", "ij,jk->ik", "21 34", DIMENSIONS), ("output_twice", "i->ii", "3", EXPLICIT),
    ("dots_left_out", "...i->i", "234", SUMMATION), ("dots_in_output_only", "ij->...ij", "23", SUMMATION),
    ("dots_twice_in_term", "...i...->i...", "234", ELLIPSIS),
]  # fmt: skip
for name, equation, shapes, clause in EQUATIONS:
    case(name, Inputs=waves(shapes), equation=equation, cites=(clause, ARROW) if ">" in equation else (clause,))
for table, outcome in ((WRONG, "rejects"), (OPEN, "unspecified")):
    for name, equation, shapes, clause in table:
        ends: dict[str, Any] = {outcome: clause}
        case(name, Tag.EDGE, Inputs=waves(shapes), equation=equation, **ends)
case("long", Inputs=(np.cos(np.arange(500.0)), np.sin(np.arange(500.0))), equation="i,i->", cites=(FORM,))
for name, odd in (("infinity", np.inf), ("nan", np.nan)):
    case(name, Tag.EDGE, Inputs=([[odd, 1], [2, 3]], [1, 2]), equation="ij,j->i", cites=(FORM,))

case("dtypes_product", Tag.DTYPE, each="T", Inputs=(ramp(2, 3), ramp(3, 4)), equation="ij,jk->ik", cites=(NUMERICAL,))
case("dtypes_diagonal", Tag.DTYPE, each="T", Inputs=(ramp(3, 3),), equation="ii->i", cites=(NUMERICAL,))
case("outside", Tag.DTYPE, outside="T", Inputs=(ramp(2, 3),), equation="ij->ji", rejects=Rule.TYPES)
for type_ in ("int8", "uint8", "int32", "int64", "uint64"):
    high = int(np.iinfo(type_).max)
    near, one, two = (typed(type_, np.array(item, type_)) for item in ([high - 2, 1], [1, 2], [1, 3]))
    case(f"exact_{type_}", Tag.EDGE, Inputs=(near, one), equation="i,i->", cites=(FORM,))
    case(f"overflow_{type_}", Tag.EDGE, Inputs=(near, two), equation="i,i->", unspecified=FORM)
for type_ in ("float16", "double"):
    pair = tuple(typed(type_, operand) for operand in waves("23 34"))
    case(f"fractions_{type_}", Tag.EDGE, Inputs=pair, equation="ij,jk->ik", cites=(FORM,))
case("two_types", Inputs=(ramp(2, 3), typed("double", ramp(3, 4))), equation="ij,jk->ik", rejects=Rule.TYPES)
case("no_operands", Inputs=(), equation="->", rejects=Rule.ARITY)
case("no_equation", Inputs=(ramp(2, 3),), rejects=Rule.ATTRIBUTES)
case("no_outputs", Inputs=(ramp(2, 3),), equation="ij->ji", n=0, rejects=Rule.ARITY)
case("two_outputs", Inputs=(ramp(2, 3),), equation="ij->ji", n=2, rejects=Rule.ARITY)
