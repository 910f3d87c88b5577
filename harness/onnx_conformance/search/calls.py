# SPDX-License-Identifier: Apache-2.0
"""Drawing of one call: a declared call with other types, sizes, attributes or values, in any form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from onnx_conformance.declare import Graph, Typed, ValueOf
from onnx_conformance.declare.type import Type
from onnx_conformance.forms import table
from onnx_conformance.minimize.declared_candidate import value_groups, without
from onnx_conformance.search import elements
from onnx_conformance.search.grammar import MOST_ELEMENTS
from onnx_conformance.specification import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from onnx_conformance.minimize.declared_candidate import DeclaredCandidate
    from onnx_conformance.minimize.search_space import Leaf, Path
    from onnx_conformance.search.grammar import Source

Array = np.ndarray[Any, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]
Change = Callable[[Draw, "Source", "DeclaredCandidate"], "DeclaredCandidate"]

SIZES = (1, 2, 3, 0, 4, 5, 7, 8, 16, 17, 33, 64, 65)
"""The new sizes of axes: small ones, and sizes just below and above the length of vector instructions."""
MOST_CHANGES = 4
MOST_RANK = 6
FORMS = tuple(form.name for form in table.FORMS for _ in range(form.drawn))
"""The forms that are drawn, with the frequencies of the table."""
PATTERNED = 5
"""The maximum number of values that a tensor repeats."""


@dataclass(frozen=True)
class Call:
    """A drawn call.

    Attributes:
        candidate: its operator version and arguments.
        form: the form in which it is delivered, if it is suitable; otherwise the plain form is used.
    """

    candidate: DeclaredCandidate
    form: str

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:  # noqa: ANN401, FBT001 - hypothesis's
        """Write only the operator, because hypothesis would write all drawn values."""
        printer.text(f"Call({self.candidate.version} {self.form})")


def calls(sources: Sequence[Source]) -> st.SearchStrategy[Call | None]:
    """Return the strategy for one call. It draws None if a declared call cannot be used."""

    @st.composite
    def drawn(draw: Draw) -> Call | None:
        source = draw(st.sampled_from(sources))
        candidate = base(draw, source)
        if candidate is None:
            return None
        for _ in range(MOST_CHANGES):
            if not draw(st.integers(0, 2)):
                break
            candidate = changed(draw, source, candidate)
        return Call(candidate, draw(st.sampled_from(FORMS)))

    return drawn()


def changed(draw: Draw, source: Source, candidate: DeclaredCandidate) -> DeclaredCandidate:
    """Change a call. A call with a subgraph keeps its types and shapes, because the subgraph declares them."""
    has_graph = any(isinstance(value, Graph) for value in candidate.spec.arguments.values())
    change: Change = draw(st.sampled_from(KEEPING if has_graph else CHANGES))
    return change(draw, source, candidate)


def base(draw: Draw, source: Source, *, valid: bool = False) -> DeclaredCandidate | None:
    """Draw a declared call and its types: only one with an answer if `valid`, and mostly such a one otherwise."""
    only = valid or (source.valid and draw(st.integers(0, 7)) < 7)  # noqa: PLR2004 - odds
    most = source.valid if only else len(source.calls)
    spec = source.calls[draw(st.integers(0, most - 1))]
    types = {}
    graphs = [value.text for value in spec.arguments.values() if isinstance(value, Graph)]
    for variable, allowed in source.types.items():
        # A subgraph that does not name the variable declares other types.
        if (not graphs or all("{" + variable + "}" in text for text in graphs)) and draw(st.booleans()):
            types[variable] = draw(st.sampled_from(allowed))
    return source.candidate(spec, types) or source.candidate(spec, {})


def _tensors(candidate: DeclaredCandidate, *, ranked: bool = False) -> list[Leaf]:
    return [leaf for leaf in candidate.leaves() if leaf.tensor and (leaf.array.ndim or not ranked)]


def _no_flags(source: Source, candidate: DeclaredCandidate) -> list[Leaf]:
    """Return the values, except those of attributes that are flags."""
    attributes = source.version.attributes
    flags = {name for name in attributes if _is_flag((attributes[name].default, *source.pools.get(name, ())))}
    return [leaf for leaf in candidate.leaves() if leaf.name not in flags]


def _is_flag(values: Iterable[Any]) -> bool:
    """Return whether all values of an attribute are 0 or 1. It is then a flag, and no text defines the value 2."""
    whole = {item for item in values if isinstance(item, int)}
    return bool(whole) and whole <= {0, 1}


def _sized(array: Array, axis: int, size: int) -> Array:
    """Return an array with another size along an axis: shortened, or with repeated elements."""
    if not array.shape[axis]:
        shape = (*array.shape[:axis], size, *array.shape[axis + 1 :])
        return np.full(shape, "", object) if array.dtype.kind == "O" else np.zeros(shape, array.dtype)
    return np.ascontiguousarray(array.take(np.arange(size) % array.shape[axis], axis))


def _fits(changes: dict[Path, Array]) -> bool:
    return all(item.size <= MOST_ELEMENTS and item.ndim <= MOST_RANK for item in changes.values())


def resized(draw: Draw, source: Source, candidate: DeclaredCandidate) -> DeclaredCandidate:
    """Resize every axis of one size, and the numbers that name this size, or resize only the axes of one tensor."""
    tensors = _tensors(candidate, ranked=True)
    sizes = sorted({size for leaf in tensors for size in leaf.array.shape})
    if not sizes:
        return candidate
    size, to = draw(st.sampled_from(sizes)), draw(st.sampled_from(SIZES))
    named, alone = draw(st.booleans()), not draw(st.integers(0, 4))
    if alone:
        tensors = [draw(st.sampled_from(tensors))]
    return with_size(source, candidate, size, to, named=named, tensors=tensors)


def with_size(
    source: Source, candidate: DeclaredCandidate, size: int, to: int, *, named: bool, tensors: list[Leaf] | None = None
) -> DeclaredCandidate:
    """Return a call in which every axis of one size has another size.

    Args:
        source: the source of the call.
        candidate: the call.
        size: the size of the axes.
        to: their new size.
        named: whether the integers that name this size also change.
        tensors: the tensors that change; None for all.
    """
    changes: dict[Path, Array] = {}
    for leaf in _tensors(candidate, ranked=True) if tensors is None else tensors:
        array = leaf.array
        for axis, length in enumerate(leaf.array.shape):
            if length == size and array.size // max(1, size) * to <= MOST_ELEMENTS:
                array = _sized(array, axis, to)
        changes[leaf.path] = array
    if named:
        changes |= _named(source, candidate, size, to)
    return candidate.with_values(changes) if _fits(changes) else candidate


def _named(source: Source, candidate: DeclaredCandidate, size: int, to: int) -> dict[Path, Array]:
    """Return the integers that name a size or add up to it, changed to the other size."""
    changes: dict[Path, Array] = {}
    for leaf in _no_flags(source, candidate):
        array = leaf.array
        if array.dtype.kind not in "iu" or array.ndim > 1 or not array.size:
            continue
        numbers = array.reshape(-1).tolist()  # Python numbers do not overflow.
        if size in numbers:
            numbers = [to if number == size else number for number in numbers]
        elif array.ndim and sum(numbers) == size:
            numbers[-1] += to - size
        if min(numbers) >= 0 and max(numbers) <= np.iinfo(array.dtype).max:
            changes[leaf.path] = np.array(numbers, array.dtype).reshape(array.shape)
    return changes


def reranked(draw: Draw, _source: Source, candidate: DeclaredCandidate) -> DeclaredCandidate:
    """Add or remove an axis, in every tensor of one rank or in one tensor."""
    tensors = _tensors(candidate)
    if not tensors:
        return candidate
    ranks = sorted({leaf.array.ndim for leaf in tensors}, reverse=True)
    rank, more, front = draw(st.sampled_from(ranks)), draw(st.booleans()), draw(st.booleans())
    chosen = [leaf for leaf in tensors if leaf.array.ndim == rank]
    if not draw(st.integers(0, 3)):
        chosen = [draw(st.sampled_from(chosen))]
    size = draw(st.sampled_from((1, 2, 3)))
    if more:
        changes = {
            leaf.path: _sized(np.expand_dims(leaf.array, 0 if front else rank), 0 if front else rank, size)
            for leaf in chosen
        }
    else:
        kept = [leaf for leaf in chosen if leaf.array.ndim and leaf.array.shape[0 if front else -1]]
        changes = {leaf.path: np.asarray(leaf.array.take(0, 0 if front else -1)) for leaf in kept}
        changes = {leaf.path: changes[leaf.path].astype(leaf.array.dtype) for leaf in kept}
    return candidate.with_values(changes) if _fits(changes) else candidate


def filled(draw: Draw, _source: Source, candidate: DeclaredCandidate) -> DeclaredCandidate:
    """Fill a tensor with a few repeated values."""
    tensors = _tensors(candidate)
    if not tensors:
        return candidate
    leaf = draw(st.sampled_from(tensors))
    dtype = leaf.array.dtype
    values = draw(st.lists(elements.elements(dtype), min_size=1, max_size=PATTERNED))
    return candidate.with_values({leaf.path: elements.array(values, dtype, leaf.array.shape)})


def poked(draw: Draw, source: Source, candidate: DeclaredCandidate) -> DeclaredCandidate:
    """Change one element of a tensor, or of the list of an attribute."""
    some = [leaf for leaf in _no_flags(source, candidate) if leaf.array.size]
    if not some:
        return candidate
    leaf = draw(st.sampled_from(some))
    index = draw(st.integers(0, leaf.array.size - 1))
    flat = leaf.array.reshape(-1).copy()
    flat[index] = elements.array([draw(elements.elements(flat.dtype))], flat.dtype, (1,))[0]
    return candidate.with_values({leaf.path: flat.reshape(leaf.array.shape)})


def crossed(draw: Draw, source: Source, candidate: DeclaredCandidate) -> DeclaredCandidate:
    """Change an argument to its value in another declared call."""
    names = [name for name, values in source.pools.items() if name in source.version.arguments and values]
    if not names:
        return candidate
    name = draw(st.sampled_from(names))
    value = draw(st.sampled_from(source.pools[name]))
    return _with(candidate, name, value)


def _with(candidate: DeclaredCandidate, name: str, value: Any) -> DeclaredCandidate:  # noqa: ANN401 - any argument
    """Return a copy with another argument. Values of the outer graph are copied from the call that declares them."""
    old = candidate.spec.arguments.get(name)
    if isinstance(value, ValueOf) or isinstance(old, ValueOf):
        return candidate
    return candidate.with_spec(arguments={**candidate.spec.arguments, name: value})


def _without(candidate: DeclaredCandidate, name: str) -> DeclaredCandidate:
    rest = {key: value for key, value in candidate.spec.arguments.items() if key != name}
    return candidate.with_spec(arguments=rest)


def attributed(draw: Draw, source: Source, candidate: DeclaredCandidate) -> DeclaredCandidate:
    """Set an attribute to a value of its type near its present value, or omit it."""
    names = [name for name, item in source.version.attributes.items() if item.type in _ATTRIBUTES]
    if not names:
        return candidate
    name = draw(st.sampled_from(names))
    attribute = source.version.attributes[name]
    if not attribute.required and not draw(st.integers(0, 5)):
        return _without(candidate, name)
    old = candidate.spec.arguments.get(name, attribute.default)
    return _with(candidate, name, _ATTRIBUTES[attribute.type](draw, old, source.pools.get(name, ())))


def _integer(draw: Draw, old: Any, pool: Sequence[Any]) -> Any:  # noqa: ANN401 - any argument
    if _is_flag((old, *pool)):
        return draw(st.sampled_from((0, 1)))
    near = [old - 1, old + 1, -old] if isinstance(old, int) else []
    return draw(st.one_of(elements.SMALL, st.sampled_from([*near, *pool, 0, 1, -1]), st.sampled_from(elements.WIDE)))


def _real(draw: Draw, old: Any, pool: Sequence[Any]) -> Any:  # noqa: ANN401
    near = [old / 2, -old, old + 1] if isinstance(old, int | float) else []
    return draw(st.sampled_from([*pool, *near, *elements.REALS]))


def _word(draw: Draw, old: Any, pool: Sequence[Any]) -> Any:  # noqa: ANN401
    values = [*pool, *([old] if isinstance(old, str) else []), "", "a"]
    return draw(st.sampled_from(values))


def _list(of: Callable[[Draw, Any, Sequence[Any]], Any]) -> Callable[[Draw, Any, Sequence[Any]], Any]:
    """Return a function that draws a similar list: with one element changed, added or removed, reversed, or empty."""

    def drawn(draw: Draw, old: Any, pool: Sequence[Any]) -> Any:  # noqa: ANN401
        lists = [list(item) for item in pool if isinstance(item, list | tuple | np.ndarray)]
        chosen = list(old) if isinstance(old, list | tuple | np.ndarray) else draw(st.sampled_from(lists or [[]]))
        flat = sorted({item for one in lists for item in one}, key=str) or [1]
        change = draw(st.sampled_from(("other", "one", "more", "less", "reversed", "empty")))
        if change == "other" and lists:
            return draw(st.sampled_from(lists))
        if change == "one" and chosen:
            index = draw(st.integers(0, len(chosen) - 1))
            return [*chosen[:index], of(draw, chosen[index], flat), *chosen[index + 1 :]]
        if change == "more":
            return [*chosen, of(draw, None, flat)]
        if change == "less":
            return chosen[:-1]
        return chosen[::-1] if change == "reversed" else []

    return drawn


_ATTRIBUTES: dict[str, Callable[[Draw, Any, Sequence[Any]], Any]] = {
    "INT": _integer, "FLOAT": _real, "STRING": _word, "INTS": _list(_integer), "FLOATS": _list(_real),
    "STRINGS": _list(_word),
}  # fmt: skip
"""For each type of attribute, the function that draws a value, from its present value and those of declared calls."""


def omitted(draw: Draw, source: Source, candidate: DeclaredCandidate) -> DeclaredCandidate:
    """Omit an optional input, or a value of a variadic input or of a sequence."""
    groups = [(path, count) for path, count in value_groups(candidate) if count]
    optional = [
        name
        for name, item in source.version.arguments.items()
        if isinstance(item, schema.Parameter) and item.optional and candidate.spec.arguments.get(name) is not None
    ]
    if not groups and not optional:
        return candidate
    chosen = draw(st.sampled_from([*optional, *groups]))
    if isinstance(chosen, str):
        return _without(candidate, chosen)
    path, count = chosen
    return without(candidate, path, draw(st.integers(0, count - 1)))


def counted(draw: Draw, source: Source, candidate: DeclaredCandidate) -> DeclaredCandidate:
    """Change the number of outputs of the node."""
    least = max(1, source.version.outputs_least)
    most = len(source.version.outputs)
    n = candidate.spec.n or least
    highest = n + 1 if source.version.outputs[-1].variadic else most
    return candidate.with_spec(n=draw(st.integers(least, max(least, highest))), omits=())


def retyped(draw: Draw, _source: Source, candidate: DeclaredCandidate) -> DeclaredCandidate:
    """Change the type of an argument that declares its type."""
    typed = {name: item for name, item in candidate.spec.arguments.items() if isinstance(item, Typed)}
    plain = {name: item for name, item in typed.items() if isinstance(item.values, np.ndarray) and "{" not in item.type}
    if not plain:
        return candidate
    name = draw(st.sampled_from(sorted(plain)))
    allowed = candidate.version.arguments[name]
    types = candidate.version.allowed(allowed.type) if isinstance(allowed, schema.Parameter) else ()
    others = [item for item in types if Type.parse(item).is_tensor]
    if not others:
        return candidate
    return _with(candidate, name, Typed(draw(st.sampled_from(others)), plain[name].values))


CHANGES: tuple[Change, ...] = (
    filled, resized, attributed, poked, crossed, resized, reranked, attributed, omitted, counted, retyped,
)  # fmt: skip
"""The changes of a call; more frequent ones occur twice."""
KEEPING: tuple[Change, ...] = (filled, poked, attributed, omitted, counted)
"""The changes that keep types and shapes."""
