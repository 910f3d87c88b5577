# SPDX-License-Identifier: Apache-2.0
"""jax2onnx: the functions of JAX, and the layers of Flax and Equinox, that it declares to support.

The registry of jax2onnx (`PLUGIN_REGISTRY`) lists the supported functions, each with the page of its documentation. The
programs are NAME/FORM/TYPE: a call of such a function, as a user writes it. FORM names the shapes or the arguments, and
TYPE is the element type of the first input. The programs and their inputs are those of this file, not the test cases of
jax2onnx. The framework is JAX without jax2onnx, on the CPU, with its usual 32 bits.

With dynamic shapes, an axis of an input is a letter, such as "n", and axes with the same letter have the same size. JAX
cannot trace each program so: https://docs.jax.dev/en/latest/export/shape_poly.html. Such a program is not exported.

Not tested: functions with random results; shardings and other functions that have no effect on a single device; the
training of layers; and `jax.nn.scaled_matmul`, which JAX cannot run on the CPU.
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import jax2onnx
import numpy as np
import onnx
from flax import linen, nnx
from jax import lax, nn
from jax2onnx.plugins import plugin_system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Array = np.ndarray[Any, Any]
OPSET = 23
"""The default of `jax2onnx.to_onnx`."""
SIZES = ({"a": 2, "b": 3, "c": 4, "n": 4, "m": 5, "s": 6}, {"a": 3, "b": 5, "c": 2, "n": 6, "m": 3, "s": 8})
"""The sizes of the axes that are letters, in the export and in a second run of a model with dynamic shapes."""
SPECIAL = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 7.25, 1e4, -1e4, np.inf, -np.inf, np.nan)
SPECIAL_INTEGERS = (0, 1, -1, 2, -3, 7, 31, 1000, -(2**31), 2**31 - 1)

OPT_OUTS = (
    ("NotAProgramError", r"", "JAX does not run the program, or does not trace it with dynamic shapes"),
    ("NotImplementedError", r"", "not implemented"),
    ("TypeError", r"requires static (axis|input)", "static sizes only"),
    ("ValueError", r"requires static (axis|input)", "static sizes only"),
)


class NotAProgramError(Exception):
    """JAX raises an error for a program."""


@dataclass(frozen=True)
class Program:
    """A function and its inputs, each as "AXES KIND": an axis is a letter of `SIZES` or a digit, and "." is none.

    `makes` says that the function makes the layer that the program calls, and takes the type of its parameters.
    """

    function: Callable[..., Any]
    inputs: tuple[str, ...]
    makes: bool = False

    def callable(self, dtype: Any) -> Callable[..., Any]:  # noqa: ANN401 - of numpy
        """Return the function of the inputs, in the precision of a floating-point type."""
        made: Callable[..., Any] = self.function(dtype) if self.makes else self.function
        return made


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    return {"runtime": "jax2onnx", "version": version("jax2onnx"), "onnx": onnx.__version__, "opset": OPSET}


# --- The inputs ---


def _drawn(spec: str, place: int, sizes: Mapping[str, int]) -> Array:
    """Return an input: float32, int32 or bool, always the same for the same place and sizes."""
    axes, _, kind = spec.partition(" ")
    shape = () if axes == "." else tuple(sizes[axis] if axis in sizes else int(axis) for axis in axes)
    draw = np.random.default_rng([place, *shape])
    made = np.asarray(KINDS[kind or "real"](draw, shape))
    return (
        made.astype(np.float32)
        if made.dtype == np.float64
        else made.astype(np.int32)
        if made.dtype.kind == "i"
        else made
    )


def _uniform(low: float, high: float) -> Callable[..., Array]:
    return lambda draw, shape: draw.uniform(low, high, shape)


def _integers(low: int, high: int) -> Callable[..., Array]:
    return lambda draw, shape: draw.integers(low, high, shape)


def _listed(values: Sequence[float]) -> Callable[..., Array]:
    """Return a function that repeats values; the pairs of those of two inputs are all pairs, if the sizes suffice."""
    return lambda _, shape: np.resize(np.asarray(values), shape)


def _paired(values: Sequence[float], *, first: bool) -> Callable[..., Array]:
    columns = np.asarray(values)
    pairs = np.repeat(columns, len(values)) if first else np.tile(columns, len(values))
    return lambda _, shape: np.resize(pairs, shape)


def _positive_definite(draw: np.random.Generator, shape: tuple[int, ...]) -> Array:
    factor = draw.uniform(-1, 1, shape)
    return np.asarray(factor @ np.swapaxes(factor, -1, -2) + np.diag(np.arange(1, shape[-1] + 1)))


def _with_nan(draw: np.random.Generator, shape: tuple[int, ...]) -> Array:
    made = draw.uniform(-3, 3, shape)
    made.reshape(-1)[::3] = np.nan
    return made


KINDS: Mapping[str, Callable[..., Array]] = {
    "real": _uniform(-3, 3),
    "positive": _uniform(0.1, 4),
    "unit": _uniform(-0.95, 0.95),
    "fraction": _uniform(0.05, 0.95),
    "large": _uniform(1.05, 4),
    "rising": lambda draw, shape: np.sort(draw.uniform(-3, 3, shape)),
    "ties": lambda draw, shape: draw.integers(-2, 3, shape).astype(np.float64),
    "nan": _with_nan,
    "special": _listed(SPECIAL),
    "first": _paired(SPECIAL, first=True),
    "second": _paired(SPECIAL, first=False),
    "definite": _positive_definite,
    "regular": lambda draw, shape: draw.uniform(-1, 1, shape) + 3 * np.eye(shape[-2], shape[-1]),
    "lower": lambda draw, shape: np.tril(draw.uniform(-1, 1, shape)) + 2 * np.eye(shape[-1]),
    "int": _integers(-6, 7),
    "natural": _integers(1, 7),
    "shift": _integers(0, 5),
    "index": _integers(0, 2),
    "negative_index": _integers(-2, 2),
    "length": _integers(1, 3),
    "distinct": lambda draw, shape: draw.permutation(int(np.prod(shape))).reshape(shape),
    "special_int": _listed(SPECIAL_INTEGERS),
    "first_int": _paired(SPECIAL_INTEGERS, first=True),
    "second_int": _paired(SPECIAL_INTEGERS, first=False),
    "bool": lambda draw, shape: draw.random(shape) < 0.5,  # noqa: PLR2004 - a half
}
"""By kind, the function that draws an input of a shape."""
TYPES = {"int": "int32", "natural": "int32", "special_int": "int32", "first_int": "int32", "index": "int32"}
TYPES |= {"shift": "int32", "negative_index": "int32", "length": "int32", "distinct": "int32", "bool": "bool"}


# --- The programs ---

PROGRAMS: dict[str, Program] = {}
MODULES = {"jnp": jnp, "lax": lax, "nn": nn, "image": jax.image, "linen": linen, "nnx": nnx, "eqx": eqx}
OWN = {
    (module, name): function
    for module in (*MODULES.values(), jnp.linalg, jnp.fft, lax.linalg, eqx.nn)
    for name, function in vars(module).items()
    if callable(function)
}
"""The functions of JAX, Flax and Equinox before jax2onnx replaces any."""


def _resolved(name: str) -> Any:  # noqa: ANN401 - any function
    """Return a function by its name when it is called, because jax2onnx replaces functions while it exports."""
    module, *rest = name.split(".")
    return functools.reduce(getattr, rest, MODULES[module])


def _call(name: str, **options: Any) -> Callable[..., Any]:  # noqa: ANN401 - of any function
    return lambda *inputs: _resolved(name)(*inputs, **options)


def _add(
    name: str,
    form: str,
    inputs: Sequence[str],
    function: Callable[..., Any] | None = None,
    **options: Any,  # noqa: ANN401 - of any function
) -> None:
    """Add a program: a call of a function with options, or another function of the inputs."""
    kind = inputs[0].partition(" ")[2] if inputs else "real"
    PROGRAMS[f"{name}/{form}/{TYPES.get(kind, 'float32')}"] = Program(function or _call(name, **options), tuple(inputs))


def _each(names: str) -> Iterator[str]:
    yield from names.split()


def _unary(module: str, kind: str, names: str, forms: str = "matrix:ab") -> None:
    """Add programs of functions of one input."""
    for name in _each(names):
        for form in _each(forms):
            label, axes = form.split(":")
            _add(f"{module}.{name}", label, [f"{axes} {kind}"])


def _binary(module: str, kinds: str, names: str, forms: str) -> None:
    """Add programs of functions of two inputs."""
    first, second = kinds.split()
    for name in _each(names):
        for form in _each(forms):
            label, *axes = form.split(":")
            _add(f"{module}.{name}", label, [f"{axes[0]} {first}", f"{axes[1]} {second}"])


BROADCAST = "scalar:.:ab outer:a1:1b"
SAME = "matrix:ab:ab"


def _elementwise() -> None:
    """Add the elementwise functions."""
    real = "sin cos tan sinh cosh tanh exp exp2 expm1 asinh atan ceil floor sign abs"
    _unary("jnp", "real", f"{real} fabs conj isfinite sinc i0 frexp spacing")
    _unary("jnp", "positive", "sqrt log")
    _unary("jnp", "unit", "asin acos atanh")
    _unary("jnp", "large", "acosh")
    both = f"{real} sqrt log asin acos atanh acosh"
    _unary("jnp", "special", f"{both} fabs isfinite sinc frexp", "special:35")
    _unary("jnp", "int", "abs sign sin exp sqrt floor conj isfinite invert bitwise_not", "matrix:ab")
    _unary("jnp", "bool", "invert bitwise_not isfinite", "matrix:ab")
    _unary("jnp", "special_int", "abs sign invert", "special:25")
    _unary("lax", "real", "sin tan exp neg round square logistic cbrt erf erfc bessel_i0e bessel_i1e is_finite")
    _unary("lax", "positive", "sqrt rsqrt log log1p lgamma digamma")
    _unary("lax", "unit", "asin acos atanh erf_inv")
    _unary("lax", "large", "acosh")
    _unary(
        "lax", "special", f"{both} neg round square logistic cbrt erf erfc rsqrt log1p is_finite erf_inv", "special:35"
    )
    _unary("lax", "special", "lgamma digamma bessel_i0e bessel_i1e", "special:35")
    _unary("lax", "special_int", "abs neg sign square population_count clz bitwise_not", "special:25")
    _unary("lax", "bool", "bitwise_not", "matrix:ab")
    away, even = lax.RoundingMethod.AWAY_FROM_ZERO, lax.RoundingMethod.TO_NEAREST_EVEN
    for label, method in (("away", away), ("even", even)):
        _add("lax.round", label, ["35 special"], rounding_method=method)
    for power in (-2, 0, 3):
        _add("lax.integer_pow", f"power_{power}", ["ab"], y=power)
        _add("lax.integer_pow", f"special_{power}", ["35 special"], y=power)
    activations = "relu relu6 sigmoid silu softplus soft_sign log_sigmoid elu celu selu gelu leaky_relu hard_tanh tanh"
    activations += " hard_sigmoid hard_swish mish squareplus sparse_plus sparse_sigmoid identity"
    _unary("nn", "real", activations, "tensor:abc")
    _unary("nn", "special", activations, "special:35")
    _unary("nn", "int", "relu relu6", "matrix:ab")
    _unary("nn", "positive", "log1mexp", "tensor:abc")
    _add("nn.gelu", "exact", ["ab"], approximate=False)
    _add("nn.elu", "alpha", ["ab"], alpha=0.3)
    _add("nn.celu", "alpha", ["ab"], alpha=0.3)
    _add("nn.leaky_relu", "slope", ["ab"], negative_slope=0.3)
    _add("nn.squareplus", "b", ["ab"], b=2)


def _of_pairs() -> None:  # noqa: PLR0915 - a list of programs
    """Add the elementwise functions of two inputs, and more."""
    compared = "equal greater greater_equal less less_equal"
    both = f"add divide floor_divide fmod maximum minimum {compared}"
    _binary("jnp", "real real", f"{both} copysign atan2", "outer:a1:1b")
    _binary("jnp", "real real", "outer add maximum divide", "scalar:.:ab")
    _binary("jnp", "positive real", "power pow", BROADCAST)
    _binary("jnp", "first second", f"{both} copysign atan2 power", "special:999:999")
    _binary("jnp", "int natural", f"{both} bitwise_and bitwise_or bitwise_xor gcd lcm power", "rows:ab:b")
    _binary("jnp", "int int", "divide floor_divide fmod gcd lcm", "zeros:abc:abc")
    _binary("jnp", "first_int second_int", f"{both} bitwise_and bitwise_or bitwise_xor", "special:255:255")
    _binary("jnp", "int shift", "left_shift right_shift bitwise_left_shift bitwise_right_shift", "rows:ab:b")
    _binary("jnp", "special_int first_int", "left_shift right_shift", "special:99:99")
    _binary("jnp", "bool bool", "bitwise_and bitwise_or bitwise_xor equal add maximum", "rows:ab:b")
    _binary("jnp", "real int", f"{compared} add divide maximum power", "promoted:ab:b")
    _binary("jnp", "int real", "add divide floor_divide", "promoted:ab:b")
    _binary("jnp", "real int", "ldexp", BROADCAST)
    _binary("jnp", "special int", "ldexp", "special:35:35")
    operations = "add sub mul div rem max min eq ne ge gt le lt"
    _binary("lax", "real real", f"{operations} atan2 nextafter complex", SAME)
    _binary("lax", "positive real", "pow", SAME)
    _binary("lax", "first second", f"{operations} atan2 pow nextafter", "special:999:999")
    _binary("lax", "first_int second_int", f"{operations} bitwise_or bitwise_xor", "special:255:255")
    _binary("lax", "int natural", operations, "matrix:ab:ab")
    _binary("lax", "int int", "bitwise_or bitwise_xor", "matrix:ab:ab")
    _binary("lax", "bool bool", "bitwise_or bitwise_xor eq ne max min", "matrix:ab:ab")
    shifts = "shift_left shift_right_logical shift_right_arithmetic"
    _binary("lax", "int shift", shifts, "matrix:ab:ab")
    _binary("lax", "special_int first_int", shifts, "special:99:99")
    _binary("lax", "positive positive", "igamma igammac igamma_grad_a", SAME)
    _binary("lax", "large positive", "zeta", SAME)
    _add("lax.polygamma", "matrix", ["ab natural", "ab positive"], lambda m, x: lax.polygamma(m.astype(x.dtype), x))
    _add("lax.betainc", "matrix", ["ab positive", "ab positive", "ab fraction"])
    for name in ("real", "imag", "conj"):
        function = functools.partial(lambda name, x, y: getattr(lax, name)(lax.complex(x, y)), name)
        _add(f"lax.{name}", "complex", ["ab", "ab"], function)
    _add("lax.abs", "complex", ["ab", "ab"], lambda x, y: lax.abs(lax.complex(x, y)))
    for kind in ("real", "int", "nan"):
        _add("lax.clamp", "scalars", [f". {kind}", f"ab {kind}", f". {kind}"])
        _add("lax.clamp", "matrix", [f"ab {kind}", f"ab {kind}", f"ab {kind}"])
        _add("jnp.clip", "numbers", [f"ab {kind}"], lambda x: jnp.clip(x, -1, 2))
        _add("jnp.clip", "rows", [f"ab {kind}", f"b {kind}", f"a1 {kind}"])
        _add("jnp.clip", "least", [f"ab {kind}"], lambda x: jnp.clip(x, min=0))
    for kind in ("real", "int", "bool"):
        _add("jnp.where", "outer", [f"a1 {kind}", f"b {kind}", "ab bool"], lambda x, y, c: jnp.where(c, x, y))
        _add("lax.select", "matrix", [f"ab {kind}", f"ab {kind}", "ab bool"], lambda x, y, c: lax.select(c, x, y))
        _add("lax.select", "scalar", [f"ab {kind}", f"ab {kind}", ". bool"], lambda x, y, c: lax.select(c, x, y))
    _add("jnp.where", "number", ["ab", "ab bool"], lambda x, c: jnp.where(c, x, 0))
    _add("jnp.where", "promoted", ["ab", "b int", "ab bool"], lambda x, y, c: jnp.where(c, x, y))
    _add("lax.select_n", "three", ["ab"] * 3 + ["ab index"], lambda x, y, z, w: lax.select_n(w, x, y, z))
    _add("lax.select_n", "bool", ["ab", "ab", "ab bool"], lambda x, y, w: lax.select_n(w, x, y))
    _add("jnp.select", "list", ["ab", "ab"], lambda x, y: jnp.select([x > 1, y > 0], [x, y], 7))
    _add("lax.convert_element_type", "truncate", ["35 real"], lambda x: lax.convert_element_type(x, np.int32))
    _add("lax.convert_element_type", "float", ["ab int"], lambda x: lax.convert_element_type(x, np.float32))
    _add("lax.convert_element_type", "bool", ["35 special"], lambda x: lax.convert_element_type(x, np.bool_))
    _add("lax.convert_element_type", "uint8", ["ab int"], lambda x: lax.convert_element_type(x, np.uint8))
    _add("lax.convert_element_type", "half", ["ab"], lambda x: lax.convert_element_type(x, np.float16))
    _add("lax.convert_element_type", "of_bool", ["ab bool"], lambda x: lax.convert_element_type(x, np.float32))
    _add("lax.bitcast_convert_type", "bits", ["ab"], lambda x: lax.bitcast_convert_type(x.astype(np.float32), np.int32))
    _add("lax.reduce_precision", "bfloat16", ["ab"], lambda x: lax.reduce_precision(x, 8, 7))
    _add("lax.reduce_precision", "half", ["ab"], lambda x: lax.reduce_precision(x * 1e4, 5, 10))
    _add("lax.stop_gradient", "matrix", ["ab"])
    _add("lax.optimization_barrier", "matrix", ["ab"])


def _reductions() -> None:  # noqa: C901, PLR0912 - a list of programs
    """Add the functions that reduce axes, and those that accumulate along one."""
    forms: Sequence[tuple[str, Mapping[str, Any]]] = (
        ("all", {}),
        ("axis", {"axis": 0}),
        ("last", {"axis": -1, "keepdims": True}),
    )
    numbers = "max min sum prod mean std var median nanmax nanmin nansum nanprod nanmean nanstd nanvar nanmedian"
    for name in _each(f"{numbers} amax amin argmax argmin nanargmax nanargmin any all"):
        for label, options in forms if name in {"max", "sum", "mean", "argmax", "any", "median"} else forms[1:]:
            _add(f"jnp.{name}", label, ["abc"], **options)
        kinds = ["nan"] if name not in {"any", "all"} else []
        kinds += ["ties"] if "arg" in name or "median" in name else ["int"]
        kinds += ["bool"] if name in {"any", "all", "sum", "max", "mean", "argmax"} else []
        for kind in kinds:
            _add(f"jnp.{name}", kind, [f"abc {kind}"], axis=1)
    for name in _each("sum prod mean max"):
        _add(f"jnp.{name}", "two_axes", ["abc"], axis=(0, 2))
        _add(f"jnp.{name}", "scalar", ["."])
        _add(f"jnp.{name}", "no_axes", ["ab"], axis=())
        _add(f"jnp.{name}", "masked", ["ab", "ab bool"], functools.partial(_masked, name))
        if name != "max":
            _add(f"jnp.{name}", "empty", ["0b"], axis=0)
    for name in _each("var std"):
        _add(f"jnp.{name}", "ddof", ["ab"], axis=1, ddof=1)
    for name in _each("quantile percentile nanquantile nanpercentile"):
        share = 0.3 if name.endswith("quantile") else 30
        for method in ("linear", "lower", "nearest"):
            _add(f"jnp.{name}", method, ["ab nan" if name.startswith("nan") else "ab"], q=share, axis=1, method=method)
        _add(f"jnp.{name}", "several", ["ab"], functools.partial(_quantiles, name, share))
    for kind in ("real", "nan", "int"):
        for name in _each("cumsum cumprod nancumsum nancumprod"):
            _add(
                f"jnp.{name}",
                f"flat_{kind}" if kind == "real" else kind,
                [f"ab {kind}"],
                axis=None if kind == "real" else 1,
            )
        for name in _each("cumsum cumprod cummax cummin"):
            _add(f"lax.{name}", f"axis_{kind}", [f"ab {kind}"], axis=1)
            if kind == "real":
                _add(f"lax.{name}", "reverse", [f"ab {kind}"], axis=1, reverse=True)
    _add("jnp.cumsum", "positional", ["ab"], lambda x: jnp.cumsum(x, 1))
    for reverse in (False, True):
        _add("lax.cumlogsumexp", "back" if reverse else "ahead", ["ab"], axis=1, reverse=reverse)
    for kind in ("real", "int", "nan"):
        for name in _each("reduce_max reduce_min reduce_sum reduce_prod"):
            _add(f"lax.{name}", f"axis_{kind}", [f"abc {kind}"], axes=(1,))
    for name in _each("reduce_and reduce_or reduce_xor"):
        for kind in ("bool", "int"):
            _add(f"lax.{name}", "axis", [f"abc {kind}"], axes=(1,))
    for name in _each("argmax argmin"):
        for kind in ("real", "ties", "nan", "int"):
            _add(f"lax.{name}", f"axis_{kind}", [f"ab {kind}"], axis=1, index_dtype=np.int32)
    _add("lax.reduce", "sum", ["abc"], lambda x: lax.reduce(x, np.array(0, x.dtype), lax.add, (0, 2)))
    _add("lax.reduce", "max", ["abc"], lambda x: lax.reduce(x, np.array(-np.inf, x.dtype), lax.max, (1,)))
    _add("lax.reduce", "start", ["ab int", ". int"], lambda x, y: lax.reduce(x, y, lax.add, (1,)))
    for name, start in (("max", -np.inf), ("min", np.inf), ("add", 0)):
        for padding in ("VALID", "SAME"):
            function = functools.partial(_window, name, start, padding)
            _add("lax.reduce_window", f"{name}_{padding.lower()}", ["a78"], function)
    _add("lax.reduce_window", "dilated", ["a98"], functools.partial(_dilated_window, "max", -np.inf))
    for name in _each("softmax log_softmax standardize"):
        for label, options in forms[1:]:
            _add(f"nn.{name}", label, ["abc"], axis=options["axis"])
        _add(f"nn.{name}", "masked", ["ab", "ab bool"], functools.partial(_masked_softmax, name))
        _add(f"nn.{name}", "special", ["35 special"])
    for name in _each("logsumexp logmeanexp"):
        for label, options in forms:
            _add(f"nn.{name}", label, ["abc"], **options)
    _add("nn.logsumexp", "special", ["35 special"], axis=1)
    _add("nn.logsumexp", "weighted", ["ab", "ab positive"], lambda x, b: nn.logsumexp(x, axis=1, b=b))
    _add("nn.logsumexp", "sign", ["ab", "ab"], lambda x, b: nn.logsumexp(x, axis=1, b=b, return_sign=True))
    _add("nn.glu", "last", ["a6"])
    _add("nn.glu", "axis", ["4b"], axis=0)


def _masked(name: str, x: Any, where: Any) -> Any:  # noqa: ANN401 - arrays of JAX, as in all programs
    return getattr(jnp, name)(x, axis=1, where=where, **({"initial": -9.0} if name == "max" else {}))


def _masked_softmax(name: str, x: Any, where: Any) -> Any:  # noqa: ANN401 - as above
    return getattr(nn, name)(x, where=where)


def _quantiles(name: str, share: float, x: Any) -> Any:  # noqa: ANN401 - as above
    return getattr(jnp, name)(x, jnp.asarray([0, share, share * 2]), axis=0)


def _window(name: str, start: float, padding: str, x: Any) -> Any:  # noqa: ANN401 - as above
    return lax.reduce_window(x, np.array(start, x.dtype), getattr(lax, name), (1, 3, 2), (1, 2, 2), padding)


def _dilated_window(name: str, start: float, x: Any) -> Any:  # noqa: ANN401 - as above
    first = np.array(start, x.dtype)
    padding = ((0, 0), (1, 0), (0, 2))
    return lax.reduce_window(x, first, getattr(lax, name), (1, 2, 3), (1, 2, 1), padding, window_dilation=(1, 3, 1))


def _shapes() -> None:  # noqa: C901, PLR0912, PLR0915 - a list of programs
    """Add the functions that move, join, select or make elements."""
    for kind in ("real", "int", "bool"):
        _add("jnp.concatenate", "axis", [f"ab {kind}", f"ac {kind}"], lambda x, y: jnp.concatenate([x, y], 1))
        _add("lax.concatenate", "axis", [f"ab {kind}", f"cb {kind}"], lambda x, y: lax.concatenate([x, y], 0))
        _add("jnp.stack", "last", [f"ab {kind}", f"ab {kind}"], lambda x, y: jnp.stack([x, y], -1))
        _add("jnp.pad", "constant", [f"ab {kind}"], lambda x: jnp.pad(x, ((1, 2), (0, 1))))
        _add("jnp.tile", "twice", [f"ab {kind}"], lambda x: jnp.tile(x, (3, 1, 2)))
        _add("jnp.sort", "last", [f"ab {kind}"])
        _add("jnp.take", "axis", [f"bc {kind}", "ab index"], lambda x, i: jnp.take(x, i, axis=1))
        _add("jnp.transpose", "reverse", [f"abc {kind}"])
        _add("jnp.diag", "matrix", [f"34 {kind}"])
        _add("jnp.diag", "vector", [f"3 {kind}"], k=-1)
        _add("lax.rev", "both", [f"abc {kind}"], dimensions=(0, 2))
        _add("jnp.unique", "size", [f"7 {'ties' if kind == 'real' else kind}"], size=5)
        _add("lax.sort", "last", [f"ab {kind}"])
        _add("lax.slice", "strides", [f"57 {kind}"], lambda x: lax.slice(x, (1, 0), (5, 6), (2, 3)))
        _add("lax.pad", "interior", [f"34 {kind}"], _padded)
        _add(
            "lax.dynamic_slice", "inside", [f"57 {kind}", ". index"], lambda x, i: lax.dynamic_slice(x, (i, 2), (2, 3))
        )
        _add("lax.dynamic_update_slice", "inside", [f"57 {kind}", f"22 {kind}", ". index"], _updated)
    _add("jnp.concatenate", "promoted", ["ab", "ab int"], lambda x, y: jnp.concatenate([x, y]))
    _add("jnp.block", "two", ["ab", "ab"], lambda x, y: jnp.block([[x, y], [y, x]]))
    _add("jnp.stack", "promoted", ["ab", "ab int"], lambda x, y: jnp.stack([x, y]))
    for mode in ("edge", "reflect", "symmetric", "wrap", "maximum", "mean", "linear_ramp"):
        _add("jnp.pad", mode, ["44"], pad_width=((1, 2), (0, 3)), mode=mode)
    _add("lax.pad", "negative", ["57"], lambda x: lax.pad(x, np.array(2, x.dtype), ((-1, 1, 0), (1, -2, 0))))
    for label, kind in (("beyond", "natural"), ("below", "negative_index")):
        _add("lax.dynamic_slice", label, ["45", f". {kind}"], lambda x, i: lax.dynamic_slice(x, (i, 2), (3, 3)))
        _add("lax.dynamic_update_slice", label, ["45", "22", f". {kind}"], _updated)
    for label in ("nan", "special"):
        axes = "35" if label == "special" else "ab"
        _add("jnp.sort", label, [f"{axes} {label}"])
        _add("lax.sort", label, [f"{axes} {label}"])
    _add("jnp.sort", "axis", ["abc"], axis=0)
    _add("jnp.sort", "descending", ["ab nan"], descending=True)
    _add("jnp.sort", "flat", ["ab"], axis=None)
    _add("lax.sort", "keys", ["ab ties", "ab"], lambda x, y: lax.sort((x, y), num_keys=1))
    _add("lax.sort", "two_keys", ["ab ties", "ab int"], lambda x, y: lax.sort((x, y), num_keys=2))
    for kind in ("real", "ties", "nan", "int"):
        _add("lax.top_k", kind, [f"a6 {kind}"], k=3)
    _add("lax.approx_max_k", "two", ["a6"], k=2)
    _add("jnp.partition", "middle", ["6"], lambda x: jnp.partition(x, 2)[2])
    for mode in ("clip", "wrap", "fill"):
        _add("jnp.take", mode, ["b", "4 special_int"], lambda x, i, mode=mode: jnp.take(x, i, mode=mode))
        _add("jnp.take", f"negative_{mode}", ["b", "4 negative_index"], lambda x, i, m=mode: jnp.take(x, i, mode=m))
    _add("jnp.take", "flat", ["ab", "c index"])
    _add("jnp.compress", "constant", ["4b"], lambda x: jnp.compress(np.array([True, False, True, True]), x, axis=0))
    _add("jnp.choose", "two", ["b index", "b", "b"], lambda i, x, y: jnp.choose(i, [x, y], mode="clip"))
    _add("jnp.delete", "index", ["5b"], obj=2, axis=0)
    _add("jnp.roll", "flat", ["ab"], shift=2)
    _add("jnp.roll", "axes", ["ab"], shift=(1, -1), axis=(0, 1))
    for turns in (1, 2, 3):
        _add("jnp.rot90", f"turns_{turns}", ["ab"], k=turns)
    _add("jnp.moveaxis", "first", ["abc"], source=0, destination=-1)
    _add("jnp.transpose", "axes", ["abc"], axes=(1, 2, 0))
    _add("lax.transpose", "axes", ["abc"], permutation=(2, 0, 1))
    _add("jnp.squeeze", "one", ["a1b1"], axis=1)
    _add("jnp.squeeze", "all", ["a1b1"])
    _add("lax.squeeze", "one", ["a1b1"], dimensions=(-1,))
    _add("jnp.reshape", "join", ["abc"], shape=(-1,))
    _add("jnp.reshape", "split", ["a6"], lambda x: jnp.reshape(x, (x.shape[0], 2, 3)))
    _add("jnp.reshape", "column", ["23"], shape=(3, 2), order="F")
    _add("lax.reshape", "join", ["234"], new_sizes=(6, 4))
    for label, parts in (("three", 3), ("places", (1, 4))):
        _add("jnp.split", label, ["6b"], lambda x, parts=parts: jnp.split(x, parts))
    _add("lax.split", "sizes", ["6b"], sizes=(1, 3, 2))
    _add("jnp.unstack", "first", ["3b"])
    _add("jnp.diagonal", "above", ["345"], offset=1, axis1=0, axis2=2)
    _add("jnp.trace", "matrix", ["34"])
    _add("jnp.trace", "above", ["34 int"], offset=1)
    _add("jnp.triu", "matrix", ["ab"])
    _add("jnp.triu", "above", ["345"], k=1)
    _add("jnp.tri", "below", ["."], lambda x: x * jnp.tri(3, 4, -1))
    _add("jnp.fill_diagonal", "scalar", ["34", "."], lambda x, y: jnp.fill_diagonal(x, y, inplace=False))
    _add("jnp.ndarray.at", "set", ["45", "."], lambda x, y: x.at[1:3, ::2].set(y))
    _add("jnp.ndarray.at", "add", ["b", "6 index", "6"], lambda x, i, y: x.at[i].add(y))
    _add("jnp.ndarray.at", "multiply", ["b", "6 index", "6"], lambda x, i, y: x.at[i].multiply(y))
    _add("jnp.ndarray.at", "max", ["b", "6 index", "6"], lambda x, i, y: x.at[i].max(y))
    _add("jnp.ndarray.at", "negative", ["b", "2 negative_index", "."], lambda x, i, y: x.at[i].set(y))
    _add("jnp.ndarray.at", "drop", ["3", "6 special_int", "."], lambda x, i, y: x.at[i].add(y, mode="drop"))
    _add("jnp.put", "indices", ["ab", "2", "."], lambda x, y, z: jnp.put(x, jnp.array([1, 3]), y + z, inplace=False))
    _add("jnp.put_along_axis", "last", ["ab", "a1", "a1 index"], _put_along)
    for name in _each("ones zeros"):
        _add(f"jnp.{name}", "shape", ["."], lambda x, name=name: x + getattr(jnp, name)((2, 3), x.dtype))
    _add("jnp.full", "of_input", ["."], lambda x: jnp.full((2, 3), x))
    _add("jnp.eye", "above", ["."], lambda x: x * jnp.eye(3, 4, k=1))
    _add("jnp.arange", "integers", [". int"], lambda x: x + jnp.arange(2, 9, 3))
    _add("jnp.arange", "size", ["a"], lambda x: x * jnp.arange(x.shape[0]))
    _add("jnp.linspace", "of_inputs", [".", "."], num=5)
    _add("jnp.linspace", "vectors", ["b", "b"], num=4, endpoint=False)
    for name in _each("logspace geomspace"):
        _add(f"jnp.{name}", "of_inputs", [". positive", ". positive"], num=4)
    for name in _each("bartlett blackman hamming hanning"):
        _add(f"jnp.{name}", "seven", ["7"], lambda x, name=name: x * getattr(jnp, name)(7))
    for name in _each("shape size"):
        _add(f"jnp.{name}", "matrix", ["ab"], lambda x, name=name: x * jnp.asarray(getattr(jnp, name)(x)).max())
    _add("lax.iota", "axis", ["23 int"], lambda x: x + lax.broadcasted_iota(np.int32, (2, 3), 1))
    _add("nn.one_hot", "last", ["ab int"], num_classes=4)
    _add("nn.one_hot", "axis", ["b index"], num_classes=3, axis=0)
    _add("jnp.searchsorted", "left", ["n rising", "ab"])
    _add("jnp.searchsorted", "right", ["n rising", "ab ties"], side="right")
    _add("jnp.searchsorted", "nan", ["n rising", "b nan"])
    for right in (False, True):
        _add("jnp.digitize", f"right_{right}".lower(), ["b ties", "n rising"], right=right)
    _add("jnp.digitize", "falling", ["b", "n rising"], lambda x, y: jnp.digitize(x, y[::-1]))
    _add("jnp.interp", "inside", ["ab", "n rising", "n"])
    _add("jnp.interp", "outside", ["b"], lambda x: jnp.interp(x, jnp.arange(2.0), jnp.arange(2.0), left=-9, right=9))
    _add("jnp.histogram", "bins", ["7 ties"], lambda x: jnp.histogram(x, bins=4, range=(-2, 2)))
    _add("jnp.histogram", "own_range", ["7"], bins=3)
    _add("jnp.histogram_bin_edges", "bins", ["7"], bins=3)
    _add("jnp.histogram2d", "bins", ["7", "7"], lambda x, y: jnp.histogram2d(x, y, bins=3, range=((-3, 3), (-3, 3))))
    _add("jnp.histogramdd", "bins", ["72"], lambda x: jnp.histogramdd(x, bins=3, range=((-3, 3), (-3, 3))))
    _add("jnp.unravel_index", "two", ["b index"], lambda i: jnp.unravel_index(i + 3, (2, 4)))
    _add("jnp.ravel_multi_index", "two", ["b index", "b index"], _ravelled)
    for label, axis in (("last", -1), ("first", 0)):
        _add("jnp.gradient", label, ["45"], axis=axis)
    _add("jnp.trapezoid", "dx", ["ab"], dx=0.5)
    _add("jnp.trapezoid", "x", ["b", "b rising"])
    _add("jnp.vectorize", "norm", ["ab"], _vectorized)
    for mode in ("nearest", "linear", "bilinear", "cubic", "lanczos3"):
        for label, shape in (("up", (2, 7, 9, 2)), ("down", (2, 3, 2, 2))):
            _add("image.resize", f"{mode}_{label}", ["2452"], lambda x, s=shape, m=mode: jax.image.resize(x, s, m))
    _add("image.resize", "aliased", ["2872"], lambda x: jax.image.resize(x, (2, 3, 4, 2), "linear", antialias=False))
    for name in _each("scatter scatter_add scatter_mul scatter_min scatter_max scatter_sub"):
        _add(f"lax.{name}", "rows", ["4b", "3b", "31 distinct"], functools.partial(_scattered, name))
        _add(f"lax.{name}", "beyond", ["4b", "5b", "51 special_int"], functools.partial(_scattered, name))
    for mode in ("clip", "fill"):
        _add("lax.gather", mode, ["46", "31 special_int"], functools.partial(_gathered, mode))


def _padded(x: Any) -> Any:  # noqa: ANN401 - as above
    return lax.pad(x, np.array(1, x.dtype), ((1, 2, 1), (0, 1, 2)))


def _updated(x: Any, y: Any, i: Any) -> Any:  # noqa: ANN401 - as above
    return lax.dynamic_update_slice(x, y, (i, 1))


def _put_along(x: Any, y: Any, i: Any) -> Any:  # noqa: ANN401 - as above
    return jnp.put_along_axis(x, i, y, axis=1, inplace=False)


def _ravelled(i: Any, j: Any) -> Any:  # noqa: ANN401 - as above
    return jnp.ravel_multi_index((i, j), (2, 3), mode="clip")


def _scattered(name: str, x: Any, y: Any, i: Any) -> Any:  # noqa: ANN401 - as above
    numbers = lax.ScatterDimensionNumbers((1,), (0,), (0,))
    return getattr(lax, name)(x, i, y, numbers)


def _gathered(mode: str, x: Any, i: Any) -> Any:  # noqa: ANN401 - as above
    return lax.gather(x, i, lax.GatherDimensionNumbers((1,), (0,), (0,)), (1, 4), mode=mode)


def _algebra() -> None:  # noqa: C901, PLR0912, PLR0915 - a list of programs
    """Add products, linear algebra, polynomials, statistics and Fourier transforms."""
    for kind in ("real", "int"):
        for name in _each("matmul dot"):
            for label, axes in (("vectors", "b b"), ("matrices", "ab bc"), ("vector", "b bc")):
                _add(f"jnp.{name}", label, [f"{item} {kind}" for item in axes.split()])
        _add("jnp.matmul", "batch", [f"a1mb {kind}", f"3bc {kind}"])
        _add("jnp.dot", "tensors", [f"abc {kind}", f"mcn {kind}"])
        _add("jnp.dot", "scalar", [f". {kind}", f"ab {kind}"])
        for name, axes in (("vecdot", "abc bc"), ("vdot", "ab ab"), ("matvec", "abc c"), ("vecmat", "b abc")):
            _add(f"jnp.{name}", "batch", [f"{item} {kind}" for item in axes.split()])
        _add("jnp.tensordot", "two_axes", [f"abc {kind}", f"bcm {kind}"])
        _add("jnp.tensordot", "axes", [f"abc {kind}", f"cam {kind}"], axes=((0, 2), (1, 0)))
        _add("lax.dot_general", "batch", [f"abc {kind}", f"acm {kind}"], dimension_numbers=(((2,), (1,)), ((0,), (0,))))
        _add(
            "lax.dot_general",
            "last_batch",
            [f"abc {kind}", f"mca {kind}"],
            dimension_numbers=(((2,), (1,)), ((0,), (2,))),
        )
        _add("lax.dot_general", "outer", [f"ab {kind}", f"c {kind}"], dimension_numbers=(((), ()), ((), ())))
    for subscripts, axes in EINSUMS.items():
        label = subscripts.replace("->", "_to_").replace(",", "_").replace("...", "x")
        _add("jnp.einsum", label, axes.split(), functools.partial(_einsum, subscripts))
    _add("jnp.matmul", "promoted", ["ab", "bc int"])
    _add("jnp.cross", "three", ["a3", "a3"])
    _add("jnp.cross", "two", ["a2", "a2"])
    _add("lax.ragged_dot_general", "groups", ["6b", "2bc"], _ragged)
    attention = ["amn8", "asn8", "asn8"]
    _add("nn.dot_product_attention", "plain", attention)
    _add("nn.dot_product_attention", "causal", attention, is_causal=True)
    _add("nn.dot_product_attention", "scale", attention, scale=0.3)
    _add("nn.dot_product_attention", "mask", [*attention, "a1ms bool"], lambda q, k, v, m: _attend(q, k, v, mask=m))
    _add("nn.dot_product_attention", "bias", [*attention, "anms"], lambda q, k, v, b: _attend(q, k, v, bias=b))
    _add("nn.dot_product_attention", "grouped", ["a548", "a628", "a628"])
    _add("nn.dot_product_attention", "window", ["a548", "a548", "a548"], local_window_size=1)
    _add("nn.dot_product_attention", "lengths", ["2548", "2648", "2648", "2 length"], _attend_lengths)
    for kind in ("regular", "definite"):
        for name in _each("det inv svdvals cond matrix_rank pinv"):
            _add(f"jnp.linalg.{name}", f"{kind}_matrix", [f"33 {kind}"])
        for name in _each("det inv svdvals"):
            _add(f"jnp.linalg.{name}", f"{kind}_batch", [f"a33 {kind}"])
    for axes in ("22", "44"):
        _add("jnp.linalg.det", f"size_{axes[0]}", [f"{axes} regular"])
        _add("jnp.linalg.inv", f"size_{axes[0]}", [f"{axes} regular"])
    _add("jnp.linalg.solve", "vector", ["33 regular", "3"])
    _add("jnp.linalg.solve", "batch", ["a33 regular", "a32"])
    _add("jnp.linalg.cholesky", "lower", ["33 definite"])
    _add("jnp.linalg.cholesky", "upper", ["a33 definite"], upper=True)
    _add("jnp.linalg.eigvalsh", "matrix", ["33 definite"])
    _add("jnp.linalg.eigh", "values", ["a33 definite"], lambda x: _unsigned(jnp.linalg.eigh(x)))
    _add("jnp.linalg.eigvals", "sorted", ["33 definite"], lambda x: jnp.sort(jnp.linalg.eigvals(x).real))
    _add("jnp.linalg.eig", "sorted", ["33 definite"], lambda x: jnp.sort(jnp.linalg.eig(x)[0].real))
    _add("jnp.linalg.svd", "unsigned", ["43"], lambda x: _unsigned(jnp.linalg.svd(x, full_matrices=False)))
    _add("jnp.linalg.qr", "unsigned", ["43"], lambda x: _unsigned(jnp.linalg.qr(x)))
    _add("jnp.linalg.lstsq", "solution", ["43", "4"], lambda x, y: jnp.linalg.lstsq(x, y)[0])
    for power in (-2, 0, 3):
        _add("jnp.linalg.matrix_power", f"power_{power}", ["33 regular"], n=power)
    for order in (None, 1, 2, 3, 0, np.inf, -np.inf):
        _add("jnp.linalg.norm", f"vector_{order}", ["ab"], ord=order, axis=1)
        _add("jnp.linalg.vector_norm", f"vector_{order}", ["ab"], ord=2 if order is None else order, axis=1)
    for norm in ("fro", "nuc", 1, -1, 2, np.inf):
        _add("jnp.linalg.norm", f"matrix_{norm}", ["34"], ord=norm)
        _add("jnp.linalg.matrix_norm", f"matrix_{norm}", ["34"], ord=norm)
    _add("jnp.linalg.multi_dot", "three", ["ab", "bc", "cm"], lambda *x: jnp.linalg.multi_dot(x))
    _add("jnp.linalg.tensordot", "two_axes", ["abc", "bcm"], axes=2)
    _add("jnp.linalg.tensorinv", "square", ["66 regular"], lambda x: jnp.linalg.tensorinv(x.reshape(6, 2, 3), ind=1))
    _add(
        "jnp.linalg.tensorsolve",
        "square",
        ["66 regular", "6"],
        lambda x, y: jnp.linalg.tensorsolve(x.reshape(6, 2, 3), y),
    )
    _add("jnp.linalg.trace", "batch", ["a34"])
    _add("jnp.linalg.vecdot", "batch", ["abc", "abc"])
    _add("lax.linalg.cholesky", "batch", ["a33 definite"])
    _add("lax.linalg.eigh", "values", ["33 definite"], lambda x: _unsigned(lax.linalg.eigh(x)))
    _add("lax.linalg.eig", "sorted", ["33 definite"], lambda x: jnp.sort(lax.linalg.eig(x)[0].real))
    _add("lax.linalg.lu", "matrix", ["44"])
    _add(
        "lax.linalg.lu_pivots_to_permutation",
        "four",
        ["4 index"],
        lambda x: lax.linalg.lu_pivots_to_permutation(x + 2, 4),
    )
    _add("lax.linalg.qr", "unsigned", ["43"], lambda x: _unsigned(lax.linalg.qr(x, full_matrices=False)))
    _add("lax.linalg.svd", "unsigned", ["43"], lambda x: _unsigned(lax.linalg.svd(x, full_matrices=False)))
    _add("lax.linalg.schur", "upper", ["33 definite"], lambda x: jnp.sort(jnp.diagonal(lax.linalg.schur(x)[0])))
    _add("lax.linalg.hessenberg", "unsigned", ["44"], lambda x: jnp.abs(jnp.triu(lax.linalg.hessenberg(x)[0], -1)))
    _add("lax.linalg.householder_product", "product", ["43", "3"])
    _add("lax.linalg.ormqr", "product", ["43", "3", "42"])
    _add("lax.linalg.tridiagonal", "unsigned", ["44 definite"], lambda x: _unsigned(lax.linalg.tridiagonal(x)[1:3]))
    _add("lax.linalg.tridiagonal_solve", "one", ["4", "4 large", "4", "42"], _solve_tridiagonal)
    _add("lax.linalg.symmetric_product", "plain", ["34", "33 definite"], alpha=0.5, beta=2.0)
    _add(
        "lax.linalg.cholesky_update", "one", ["33 lower", "3"], lambda x, y: lax.linalg.cholesky_update(jnp.abs(x).T, y)
    )
    for left in (False, True):
        for lower in (False, True):
            label = f"{'left' if left else 'right'}_{'lower' if lower else 'upper'}"
            function = functools.partial(_solve_triangular, left, lower)
            _add("lax.linalg.triangular_solve", label, ["a33 lower", "a33"], function)
    _add("lax.custom_linear_solve", "dense", ["33 regular", "3"], _solve_custom)
    for name in _each("fft ifft rfft fftshift ifftshift"):
        _add(f"jnp.fft.{name}", "vector", ["6"])
        _add(f"jnp.fft.{name}", "batch", ["a5"])
    _add("jnp.fft.fft", "longer", ["6"], n=8)
    _add("jnp.fft.fft", "shorter", ["a6"], n=4)
    _add("jnp.fft.fft", "ortho", ["6"], norm="ortho")
    _add("jnp.fft.ifft", "forward", ["6"], norm="forward")
    _add("jnp.fft.fft", "axis", ["45"], axis=0)
    _add("jnp.fft.irfft", "even", ["a6"], lambda x: jnp.fft.irfft(jnp.fft.rfft(x)))
    _add("jnp.fft.irfft", "odd", ["a5"], lambda x: jnp.fft.irfft(jnp.fft.rfft(x), n=5))
    for name in _each("fftfreq rfftfreq"):
        _add(f"jnp.fft.{name}", "six", ["."], lambda x, name=name: x * getattr(jnp.fft, name)(6, 0.5))
    _add("lax.fft", "real", ["a6"], fft_type="RFFT", fft_lengths=(6,))
    _add("lax.fft", "two_axes", ["46"], lambda x: lax.fft(lax.complex(x, x), "FFT", (4, 6)))
    for kind in ("real", "int"):
        for name in _each("polyadd polysub"):
            _add(f"jnp.{name}", "coefficients", [f"5 {kind}", f"3 {kind}"])
        for name in _each("polyder polyint"):
            _add(f"jnp.{name}", "coefficients", [f"5 {kind}"])
    _add("jnp.polyder", "second", ["5"], m=2)
    _add("jnp.polydiv", "coefficients", ["5", "3 large"])
    _add("jnp.polyfit", "line", ["6 rising", "6"], deg=1)
    _add("jnp.roots", "sorted", ["3 large"], lambda x: jnp.sort(jnp.abs(jnp.roots(x, strip_zeros=False))))
    for name in _each("cov corrcoef"):
        _add(f"jnp.{name}", "matrix", ["36"])
        _add(f"jnp.{name}", "two", ["6", "6"])
    for padding in ("VALID", "SAME"):
        _add("lax.conv", f"two_{padding.lower()}", ["a298", "3233"], window_strides=(2, 1), padding=padding)
    _add("lax.conv", "channels_last", ["a982", "3323"], _conv_channels_last)
    _add("lax.conv", "one_axis", ["a29", "323"], window_strides=(1,), padding="SAME")
    _add("lax.conv", "groups", ["a498", "6233"], functools.partial(_conv, feature_group_count=2))
    _add("lax.conv", "batch_groups", ["4298", "6233"], functools.partial(_conv, batch_group_count=2))
    _add("lax.conv", "dilated", ["a298", "3233"], functools.partial(_conv, rhs_dilation=(2, 1)))
    _add("lax.conv", "transposed", ["a254", "3233"], functools.partial(_conv, lhs_dilation=(2, 3)))


EINSUMS = {
    "ij,jk->ik": "ab bc",
    "bij,bjk->bik": "mab mbc",
    "ij->ji": "ab",
    "ij->": "ab",
    "ii->i": "33",
    "ii": "33",
    "i,j->ij": "a b",
    "ij,ij->i": "ab ab",
    "...ij,...j->...i": "mab mb",
    "bhqd,bkhd->bhqk": "2a35 24a5",
    "ij,jk,kl->il": "ab bc cm",
}
"""Subscripts of einsum, and the axes of their inputs."""


def _vectorized(x: Any) -> Any:  # noqa: ANN401 - as above
    return jnp.vectorize(lambda v: v @ v, signature="(n)->()")(x)


def _einsum(subscripts: str, *inputs: Any) -> Any:  # noqa: ANN401 - as above
    return jnp.einsum(subscripts, *inputs)


def _attend(*inputs: Any, **options: Any) -> Any:  # noqa: ANN401 - as above
    return nn.dot_product_attention(*inputs, **options)


def _attend_lengths(q: Any, k: Any, v: Any, lengths: Any) -> Any:  # noqa: ANN401 - as above
    return _attend(q, k, v, key_value_seq_lengths=lengths)


def _ragged(x: Any, y: Any) -> Any:  # noqa: ANN401 - as above
    return lax.ragged_dot(x, y, jnp.array([2, 4], np.int32))


def _unsigned(results: Sequence[Any]) -> list[Any]:
    """Return the absolute values of factors, because the signs of a factorization are not determined."""
    return [jnp.abs(item) for item in results]


def _solve_tridiagonal(low: Any, middle: Any, high: Any, x: Any) -> Any:  # noqa: ANN401 - as above
    return lax.linalg.tridiagonal_solve(low.at[0].set(0) / 9, middle + 1, high.at[-1].set(0) / 9, x)


def _solve_triangular(left: bool, lower: bool, x: Any, y: Any) -> Any:  # noqa: ANN401, FBT001 - as above
    matrix = x if lower else jnp.swapaxes(x, -1, -2)
    return lax.linalg.triangular_solve(matrix, y, left_side=left, lower=lower)


def _solve_custom(matrix: Any, y: Any) -> Any:  # noqa: ANN401 - as above
    return lax.custom_linear_solve(lambda v: matrix @ v, y, lambda _, v: jnp.linalg.solve(matrix, v))


def _conv(x: Any, kernel: Any, **options: Any) -> Any:  # noqa: ANN401 - as above
    return lax.conv_general_dilated(x, kernel, (1, 1), ((0, 1), (1, 0)), **options)


def _conv_channels_last(x: Any, kernel: Any) -> Any:  # noqa: ANN401 - as above
    return lax.conv_general_dilated(x, kernel, (1, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


LIMIT, TURNS = 20, 3
"""The end of loops: the greatest value of the first, and the number of turns of the second."""


def _control_flow() -> None:
    """Add branches and loops."""
    for kind in ("real", "int"):
        _add("lax.cond", "input", [f"ab {kind}", ". bool"], lambda x, c: lax.cond(c, lambda v: v + 1, lambda v: -v, x))
        _add("lax.cond", "several", [f"ab {kind}"], lambda x: lax.cond(x.sum() > 0, _swap, _pair, x))
        _add("lax.scan", "sum", [f". {kind}", f"ab {kind}"], lambda x, y: lax.scan(_scan_step, x, y))
        _add("lax.scan", "reverse", [f"b {kind}", f"ab {kind}"], lambda x, y: lax.scan(_scan_rows, x, y, reverse=True))
        _add("lax.scan", "length", [f"b {kind}"], lambda x: lax.scan(lambda c, _: (c + 1, c), x, None, length=3))
        _add("lax.fori_loop", "sum", [f"ab {kind}"], lambda x: lax.fori_loop(0, 4, lambda i, v: v + i, x))
        _add("lax.fori_loop", "rows", [f"ab {kind}"], lambda x: lax.fori_loop(0, x.shape[0], _set_row, x))
        _add(
            "lax.while_loop", "count", [f". {kind}"], lambda x: lax.while_loop(lambda v: v < LIMIT, lambda v: v + 3, x)
        )
        _add("lax.while_loop", "pair", [f"ab {kind}"], _while_pair)
        _add("lax.while_loop", "never", [f"ab {kind}"], lambda x: lax.while_loop(lambda _: False, lambda v: v + 1, x))
    _add("lax.cond", "switch", ["ab", ". int"], lambda x, i: lax.switch(i, [jnp.sin, jnp.cos, lambda v: v * 2], x))


def _swap(x: Any) -> Any:  # noqa: ANN401 - as above
    return x, x * 2


def _pair(x: Any) -> Any:  # noqa: ANN401 - as above
    return x * 3, x


def _scan_step(carry: Any, row: Any) -> Any:  # noqa: ANN401 - as above
    return carry + row.sum(), row * carry


def _scan_rows(carry: Any, row: Any) -> Any:  # noqa: ANN401 - as above
    return carry * 2 + row, carry


def _set_row(place: Any, x: Any) -> Any:  # noqa: ANN401 - as above
    return x.at[place].multiply(2)


def _while_pair(x: Any) -> Any:  # noqa: ANN401 - as above
    return lax.while_loop(lambda pair: pair[0] < TURNS, lambda pair: (pair[0] + 1, pair[1] + pair[1]), (0, x))


# --- The layers ---


def _in_precision(tree: Any, dtype: Any) -> Any:  # noqa: ANN401 - parameters
    """Return parameters whose floating-point arrays have a type: their values do not change."""

    def cast(leaf: Any) -> Any:  # noqa: ANN401 - a parameter
        floating = isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jnp.floating)
        return leaf.astype(dtype) if floating else leaf

    return jax.tree.map(cast, tree)


def _distinct(tree: Any) -> Any:  # noqa: ANN401 - parameters
    """Return parameters of which those that are initially all zeros or ones have different values."""

    def changed(leaf: Any) -> Any:  # noqa: ANN401 - a parameter
        if not (isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jnp.floating)):
            return leaf
        return leaf + jnp.linspace(0.1, 0.4, leaf.size, dtype=leaf.dtype).reshape(leaf.shape)

    return jax.tree.map(changed, tree)


def _linen(make: Callable[[], Any], inputs: Sequence[str], dtype: Any, **options: Any) -> Callable[..., Any]:  # noqa: ANN401
    with jax.enable_x64(new_val=False):
        examples = [_drawn(spec, place, SIZES[0]) for place, spec in enumerate(inputs)]
        variables = _distinct(make().init(jax.random.key(0), *examples, **options))
    made = _in_precision(variables, dtype)
    return lambda *x: make().apply(made, *x, **options)


def _nnx(make: Callable[[Any], Any], dtype: Any) -> Callable[..., Any]:  # noqa: ANN401 - of numpy
    with jax.enable_x64(new_val=False):
        layer = make(nnx.Rngs(0))
        layer.eval()
        definition, state = nnx.split(layer)
        state = _distinct(state)
    made: Callable[..., Any] = nnx.merge(definition, _in_precision(state, dtype))
    return made


def _eqx(make: Callable[[Any], Any], dtype: Any) -> Callable[..., Any]:  # noqa: ANN401 - of numpy
    with jax.enable_x64(new_val=False):
        layer = eqx.nn.inference_mode(_distinct(make(jax.random.key(0))))
    made: Callable[..., Any] = _in_precision(layer, dtype)
    return made


def _layer(name: str, form: str, inputs: Sequence[str], maker: Callable[[Any], Callable[..., Any]]) -> None:
    kind = inputs[0].partition(" ")[2]
    PROGRAMS[f"{name}/{form}/{TYPES.get(kind, 'float32')}"] = Program(maker, tuple(inputs), makes=True)


def _linen_layer(name: str, form: str, inputs: Sequence[str], make: Callable[[], Any], **options: Any) -> None:  # noqa: ANN401
    _layer(f"linen.{name}", form, inputs, lambda dtype: _linen(make, inputs, dtype, **options))


def _nnx_layer(name: str, form: str, inputs: Sequence[str], make: Callable[[Any], Any]) -> None:
    _layer(f"nnx.{name}", form, inputs, lambda dtype: _nnx(make, dtype))


def _eqx_layer(name: str, form: str, inputs: Sequence[str], make: Callable[[Any], Any]) -> None:
    _layer(f"eqx.nn.{name}", form, inputs, lambda dtype: _eqx(make, dtype))


def _layers_of_linen() -> None:  # noqa: C901 - a list of programs
    """Add the layers of flax.linen."""
    _linen_layer("Dense", "matrix", ["a5"], lambda: linen.Dense(3))
    _linen_layer("Dense", "tensor", ["ab5"], lambda: linen.Dense(3, use_bias=False))
    _linen_layer("DenseGeneral", "two_axes", ["a34"], lambda: linen.DenseGeneral((2, 5), axis=(-2, -1)))
    _linen_layer("Einsum", "heads", ["ab4"], lambda: linen.Einsum((4, 2, 3), "abc,chd->abhd"))
    for padding in ("SAME", "VALID", "CIRCULAR"):
        _linen_layer("Conv", padding.lower(), ["a783"], functools.partial(linen.Conv, 4, (3, 2), 2, padding))
    _linen_layer("Conv", "one_axis", ["a73"], lambda: linen.Conv(4, (3,), padding="CAUSAL"))
    _linen_layer("Conv", "groups", ["a784"], lambda: linen.Conv(6, (3, 3), feature_group_count=2, kernel_dilation=2))
    for padding in ("SAME", "VALID", "CIRCULAR"):
        _linen_layer(
            "ConvTranspose",
            padding.lower(),
            ["a453"],
            functools.partial(linen.ConvTranspose, 4, (3, 2), (2, 2), padding),
        )
    _linen_layer("ConvLocal", "valid", ["a562"], lambda: linen.ConvLocal(3, (3, 2), padding="VALID"))
    _linen_layer("Embed", "matrix", ["ab index"], lambda: linen.Embed(4, 3))
    for label, make in NORMS.items():
        _linen_layer(label, "image", ["a344"], make)
        _linen_layer(label, "matrix", ["a4"], make)
    _linen_layer("LayerNorm", "two_axes", ["a34"], lambda: linen.LayerNorm(reduction_axes=(1, 2), feature_axes=-1))
    _linen_layer("LayerNorm", "slow", ["a4"], lambda: linen.LayerNorm(use_fast_variance=False))
    _linen_layer("BatchNorm", "axis", ["a4b"], lambda: linen.BatchNorm(use_running_average=True, axis=1))
    _linen_layer("PReLU", "matrix", ["ab"], linen.PReLU)
    _linen_layer("Dropout", "inference", ["ab"], lambda: linen.Dropout(0.5, deterministic=True))
    _linen_layer("WeightNorm", "dense", ["a4"], lambda: linen.WeightNorm(linen.Dense(3)))
    _linen_layer("SpectralNorm", "dense", ["a4"], lambda: linen.SpectralNorm(linen.Dense(3)), update_stats=False)
    for label in ("SelfAttention", "MultiHeadDotProductAttention", "MultiHeadAttention"):
        _linen_layer(label, "two_heads", ["ab4"], functools.partial(getattr(linen, label), 2))
    _linen_layer(
        "MultiHeadDotProductAttention", "other_keys", ["ab4", "ac4"], lambda: linen.MultiHeadDotProductAttention(2)
    )
    for label in ("SimpleCell", "GRUCell", "MGUCell"):
        _linen_layer(label, "step", ["a4", "a3"], functools.partial(getattr(linen, label), 4))
    for label in ("LSTMCell", "OptimizedLSTMCell"):
        _layer(f"linen.{label}", "step", ["a4", "a4", "a3"], functools.partial(_cell_with_state, label))
    _layer("linen.ConvLSTMCell", "step", ["a451", "a451", "a452"], functools.partial(_cell_with_state, "ConvLSTMCell"))
    _linen_layer("RNN", "lstm", ["ab3"], lambda: linen.RNN(linen.LSTMCell(4)))
    _linen_layer("RNN", "reverse", ["ab3"], lambda: linen.RNN(linen.GRUCell(4), reverse=True, keep_order=True))
    _linen_layer(
        "Bidirectional", "gru", ["ab3"], lambda: linen.Bidirectional(*(linen.RNN(linen.GRUCell(4)) for _ in "ab"))
    )
    for name in _each("avg_pool max_pool pooling.min_pool"):
        for padding in ("VALID", "SAME"):
            function = functools.partial(_pool, f"linen.{name}", padding)
            _add(f"linen.{name.removeprefix('pooling.')}", padding.lower(), ["a782"], function)
    for name in _each("avg_pool max_pool"):
        function = functools.partial(_pool_by_position, f"linen.{name}")
        _add(f"linen.{name}", "positional", ["a782"], function)
    _add("linen.avg_pool", "exclude", ["a782"], _pool_without_padding)
    _add("linen.pool", "sum", ["a782"], lambda x: linen.pooling.pool(x, 0.0, lax.add, (3, 2), (2, 2), "VALID"))
    for name in _each("dot_product_attention dot_product_attention_weights"):
        inputs = ["am24", "as24", "as24"][: 2 if name.endswith("weights") else 3]
        _add(f"linen.{name}", "plain", inputs)
    _add("linen.make_attention_mask", "lengths", ["ab index", "ac index"])
    _add("linen.make_causal_mask", "matrix", ["ab index"])
    _add("linen.activation", "hard_sigmoid", ["ab"], _call("linen.activation.hard_sigmoid"))


NORMS: Mapping[str, Callable[[], Any]] = {
    "LayerNorm": linen.LayerNorm,
    "RMSNorm": linen.RMSNorm,
    "GroupNorm": lambda: linen.GroupNorm(2),
    "InstanceNorm": linen.InstanceNorm,
    "BatchNorm": lambda: linen.BatchNorm(use_running_average=True),
}
"""The normalizations of flax.linen."""


def _cell_with_state(name: str, dtype: Any) -> Callable[..., Any]:  # noqa: ANN401 - of numpy
    def make() -> Any:  # noqa: ANN401 - a layer
        return linen.ConvLSTMCell(1, (3, 3)) if name == "ConvLSTMCell" else getattr(linen, name)(4)

    shape = (2, 4, 5) if name == "ConvLSTMCell" else (2,)
    with jax.enable_x64(new_val=False):
        state = jnp.ones((*shape, 1 if len(shape) > 1 else 4))
        inputs = jnp.ones((*shape, 2 if len(shape) > 1 else 3))
        variables = _distinct(make().init(jax.random.key(0), (state, state), inputs))
    made = _in_precision(variables, dtype)
    return lambda c, h, x: make().apply(made, (c, h), x)


def _pool(name: str, padding: str, x: Any) -> Any:  # noqa: ANN401 - as above
    return _resolved(name)(x, window_shape=(3, 2), strides=(2, 2), padding=padding)


def _pool_by_position(name: str, x: Any) -> Any:  # noqa: ANN401 - as above
    return _resolved(name)(x, (3, 2), (2, 2), "VALID")


def _pool_without_padding(x: Any) -> Any:  # noqa: ANN401 - as above
    return linen.avg_pool(x, window_shape=(3, 2), strides=(2, 2), padding="SAME", count_include_pad=False)


def _nnx_conv(padding: str, rngs: Any) -> Any:  # noqa: ANN401 - a layer
    return nnx.Conv(3, 4, (3, 2), 2, padding=padding, rngs=rngs)


def _layers_of_nnx() -> None:
    """Add the layers and functions of flax.nnx."""
    _nnx_layer("Linear", "matrix", ["a5"], lambda rngs: nnx.Linear(5, 3, rngs=rngs))
    _nnx_layer("Linear", "tensor", ["ab5"], lambda rngs: nnx.Linear(5, 3, use_bias=False, rngs=rngs))
    _nnx_layer(
        "LinearGeneral", "two_axes", ["a34"], lambda rngs: nnx.LinearGeneral((3, 4), (2, 5), axis=(-2, -1), rngs=rngs)
    )
    _nnx_layer("Einsum", "heads", ["ab4"], lambda rngs: nnx.Einsum("abc,chd->abhd", (4, 2, 3), (2, 3), rngs=rngs))
    for padding in ("SAME", "VALID", "CIRCULAR"):
        _nnx_layer("Conv", padding.lower(), ["a783"], functools.partial(_nnx_conv, padding))
    _nnx_layer("Conv", "one_axis", ["a73"], lambda rngs: nnx.Conv(3, 4, (3,), padding="CAUSAL", rngs=rngs))
    _nnx_layer("Conv", "groups", ["a784"], lambda rngs: nnx.Conv(4, 6, (3, 3), feature_group_count=2, rngs=rngs))
    _nnx_layer("Embed", "matrix", ["ab index"], lambda rngs: nnx.Embed(4, 3, rngs=rngs))
    _nnx_layer("LoRA", "matrix", ["a5"], lambda rngs: nnx.LoRA(5, 2, 3, rngs=rngs))
    _nnx_layer("LoRALinear", "matrix", ["a5"], lambda rngs: nnx.LoRALinear(5, 3, lora_rank=2, rngs=rngs))
    _nnx_layer("Dropout", "inference", ["ab"], lambda rngs: nnx.Dropout(0.5, rngs=rngs))
    _nnx_layer("PReLU", "matrix", ["ab"], lambda _: nnx.PReLU())
    for form, axes in (("image", "a344"), ("matrix", "a4")):
        _nnx_layer("LayerNorm", form, [axes], lambda rngs: nnx.LayerNorm(4, rngs=rngs))
        _nnx_layer("RMSNorm", form, [axes], lambda rngs: nnx.RMSNorm(4, rngs=rngs))
        _nnx_layer("GroupNorm", form, [axes], lambda rngs: nnx.GroupNorm(4, 2, rngs=rngs))
        _nnx_layer("BatchNorm", form, [axes], lambda rngs: nnx.BatchNorm(4, rngs=rngs))
    functions = "silu log_softmax leaky_relu relu sigmoid gelu log_sigmoid hard_tanh elu softmax softplus tanh"
    _unary("nnx", "real", functions, "matrix:ab")
    _add("nnx.glu", "last", ["a6"])
    for name in _each("avg_pool max_pool"):
        for padding in ("VALID", "SAME"):
            _add(f"nnx.{name}", padding.lower(), ["a782"], functools.partial(_pool, f"nnx.{name}", padding))
    _add("nnx.dot_product_attention", "plain", ["am24", "as24", "as24"])
    _add("nnx.combine_masks", "two", ["ab bool", "ab bool"])


def _pools(name: str, *arguments: Any, **options: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - of a layer
    return lambda _: getattr(eqx.nn, name)(*arguments, **options)


def _layers_of_equinox() -> None:
    """Add the layers of Equinox; those of one sample are not mapped over a batch, except where the form says so."""
    _eqx_layer("Linear", "vector", ["5"], lambda key: eqx.nn.Linear(5, 3, key=key))
    _layer(
        "eqx.nn.Linear", "batch", ["a5"], lambda dtype: jax.vmap(_eqx(lambda key: eqx.nn.Linear(5, 3, key=key), dtype))
    )
    _eqx_layer("Conv", "two_axes", ["378"], lambda key: eqx.nn.Conv2d(3, 4, (3, 2), 2, 1, key=key))
    _eqx_layer("Conv", "groups", ["478"], lambda key: eqx.nn.Conv2d(4, 6, 3, groups=2, dilation=2, key=key))
    _eqx_layer("Conv", "one_axis", ["37"], lambda key: eqx.nn.Conv1d(3, 4, 3, padding="SAME", key=key))
    _eqx_layer("Embedding", "scalar", [". index"], lambda key: eqx.nn.Embedding(4, 3, key=key))
    _eqx_layer("LayerNorm", "vector", ["4"], lambda _: eqx.nn.LayerNorm(4))
    _eqx_layer("LayerNorm", "matrix", ["34"], lambda _: eqx.nn.LayerNorm((3, 4)))
    _eqx_layer("RMSNorm", "vector", ["4"], lambda _: eqx.nn.RMSNorm(4))
    _eqx_layer("GroupNorm", "image", ["434"], lambda _: eqx.nn.GroupNorm(2, 4))
    _eqx_layer("PReLU", "matrix", ["ab"], lambda _: eqx.nn.PReLU())
    _eqx_layer("Identity", "matrix", ["ab"], lambda _: eqx.nn.Identity())
    _eqx_layer("Dropout", "inference", ["ab"], lambda _: eqx.nn.Dropout(0.5))
    _eqx_layer("Lambda", "relu", ["ab"], lambda _: eqx.nn.Lambda(_call("nn.relu")))
    _eqx_layer(
        "Sequential",
        "two",
        ["5"],
        lambda key: eqx.nn.Sequential([eqx.nn.Linear(5, 3, key=key), eqx.nn.Lambda(jnp.tanh)]),
    )
    _eqx_layer("WeightNorm", "linear", ["5"], lambda key: eqx.nn.WeightNorm(eqx.nn.Linear(5, 3, key=key)))
    _eqx_layer("GRUCell", "step", ["3", "4"], lambda key: eqx.nn.GRUCell(3, 4, key=key))
    _layer("eqx.nn.LSTMCell", "step", ["3", "4", "4"], _equinox_lstm)
    _eqx_layer(
        "MultiheadAttention", "two_heads", ["54", "64", "64"], lambda key: eqx.nn.MultiheadAttention(2, 4, key=key)
    )
    _eqx_layer("RotaryPositionalEmbedding", "matrix", ["54"], lambda _: eqx.nn.RotaryPositionalEmbedding(4))
    for label in ("MaxPool2d", "AvgPool2d"):
        name = {"M": "max_pool", "A": "avg_pool"}[label[0]]
        _eqx_layer(name, "valid", ["278"], _pools(label, (3, 2), 2))
        _eqx_layer(name, "padded", ["278"], _pools(label, 3, 2, 1))
        _eqx_layer(name, "ceil", ["278"], _pools(label, 3, 2, 0, use_ceil=True))
    _eqx_layer("adaptive_pool", "average", ["278"], lambda _: eqx.nn.AdaptiveAvgPool2d((3, 2)))
    _eqx_layer("adaptive_pool", "maximum", ["278"], lambda _: eqx.nn.AdaptiveMaxPool2d((3, 2)))


def _equinox_lstm(dtype: Any) -> Callable[..., Any]:  # noqa: ANN401 - of numpy
    made = _eqx(lambda key: eqx.nn.LSTMCell(3, 4, key=key), dtype)
    return lambda x, h, c: made(x, (h, c))


for _fill in (_elementwise, _of_pairs, _reductions, _shapes, _algebra, _control_flow):
    _fill()
for _fill in (_layers_of_linen, _layers_of_nnx, _layers_of_equinox):
    _fill()


# --- The export ---


@functools.cache
def _supported() -> frozenset[str]:
    """Return the functions that jax2onnx declares to support, in small letters and without underscores."""
    found = set()
    for plugin in plugin_system.PLUGIN_REGISTRY.values():
        described = getattr(plugin, "metadata", None) or {}
        context = described.get("context", "")
        if context.startswith("primitives."):
            page = (described.get("jax_doc") or "").rsplit("/", 1)[-1].removesuffix(".html")
            found.add(page.removeprefix("jax.").replace("numpy.", "jnp."))
            module = {"primitives.eqx": "eqx.nn"}.get(context, context.removeprefix("primitives."))
            found.add(f"{module}.{described.get('component')}")
    return frozenset(map(_plain, found))


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def programs(globs: Sequence[str]) -> list[str]:
    """Return the names of the programs of all functions that jax2onnx declares to support."""
    del globs  # Nothing is exported to list them.
    supported = _supported()
    return [name for name in PROGRAMS if _plain(name.split("/", 1)[0]) in supported]


def produce(program: str, opset: int, dynamic: bool) -> dict[str, Any]:  # noqa: FBT001 - of every producer
    """Return a program as a model, and its results in JAX."""
    chosen = PROGRAMS[program]
    inputs = [_inputs(chosen, sizes) for sizes in SIZES]
    function = chosen.callable(np.float32)
    results = _results(function, inputs[0])
    shapes = [_declared(spec, item, dynamic=dynamic) for spec, item in zip(chosen.inputs, inputs[0], strict=True)]
    types = [item.dtype for item in inputs[0]]
    if dynamic:
        _trace(function, shapes, types)
    model = jax2onnx.to_onnx(
        function,
        list(map(jax.ShapeDtypeStruct, shapes, types)),
        opset=opset,
        input_names=[f"x{place}" for place in range(len(shapes))],
    )
    runs = [_run(model, chosen, inputs[0], results)]
    if dynamic and [item.shape for item in inputs[0]] != [item.shape for item in inputs[1]]:
        runs.append(_run(model, chosen, inputs[1], _results(function, inputs[1])))
    return {"model": model.SerializeToString(), "runs": runs}


def _inputs(program: Program, sizes: Mapping[str, int]) -> list[Array]:
    return [_drawn(spec, place, sizes) for place, spec in enumerate(program.inputs)]


def _declared(spec: str, array: Array, *, dynamic: bool) -> tuple[Any, ...]:
    """Return the shape of an input, with names for the axes that stay open."""
    axes = spec.partition(" ")[0]
    return tuple(axes[axis] if dynamic and axes[axis] in SIZES[0] else size for axis, size in enumerate(array.shape))


def _trace(function: Callable[..., Any], shapes: Sequence[tuple[Any, ...]], types: Sequence[Any]) -> None:
    """Trace a program with dynamic shapes in JAX itself.

    Raises:
        NotAProgramError: JAX cannot do it.
    """
    scope = jax.export.SymbolicScope()
    try:
        sizes = [jax.export.symbolic_shape(", ".join(map(str, shape)), scope=scope) for shape in shapes]
        with _functions_of_jax():
            jax.eval_shape(function, *map(jax.ShapeDtypeStruct, sizes, types))
    except Exception as error:  # noqa: BLE001 - JAX raises several
        raise NotAProgramError(f"with dynamic shapes: {type(error).__name__}: {error}") from None


def _results(function: Callable[..., Any], inputs: Sequence[Array]) -> list[Array]:
    """Return the results of a program, in the order of the outputs of its model.

    Raises:
        NotAProgramError: JAX raises an error.
    """
    try:
        with _functions_of_jax():
            return [_value(leaf) for leaf in jax.tree.leaves(function(*map(jnp.asarray, inputs)))]
    except Exception as error:  # noqa: BLE001 - JAX may raise any
        raise NotAProgramError(f"{type(error).__name__}: {error}") from None


@contextlib.contextmanager
def _functions_of_jax() -> Iterator[None]:
    """Put back the functions of JAX that jax2onnx replaces when it is imported, such as jax.numpy.cumsum."""
    replaced = {
        place: vars(place[0])[place[1]] for place, own in OWN.items() if vars(place[0]).get(place[1]) is not own
    }
    try:
        for module, name in replaced:
            setattr(module, name, OWN[module, name])
        yield
    finally:
        for (module, name), function in replaced.items():
            setattr(module, name, function)


def _value(leaf: Any) -> Array:  # noqa: ANN401 - an array of JAX, or a number
    found = np.ascontiguousarray(leaf).reshape(np.shape(leaf))
    if found.dtype.kind == "c":  # jax2onnx represents a complex number by two real ones, along one more axis.
        return np.stack([found.real, found.imag], -1)
    return found


def _run(model: onnx.ModelProto, program: Program, inputs: Sequence[Array], results: Sequence[Array]) -> dict[str, Any]:
    """Return one run of a program. A model lacks the inputs that its result does not depend on."""
    names = {item.name for item in model.graph.input}
    named = {f"x{place}": item for place, item in enumerate(inputs) if f"x{place}" in names}
    return {"inputs": named, "outputs": list(results), "reference": _reference(program, inputs, results)}


def _reference(program: Program, inputs: Sequence[Array], results: Sequence[Array]) -> list[Array] | None:
    """Return the results of a program in double precision; None if it has none that are more precise."""
    if not any(item.dtype.kind in "fV" for item in results):
        return None
    wide = [item.astype(np.float64) if item.dtype == np.float32 else item for item in inputs]
    with jax.enable_x64(new_val=True):
        try:
            return _results(program.callable(np.float64), wide)
        except NotAProgramError:
            return None


plugin_system.import_all_plugins()  # When the process starts, because it takes longer than most exports.
