# SPDX-License-Identifier: Apache-2.0
"""skl2onnx: the estimators of scikit-learn that it supports, each fitted on small data.

The programs are NAME/TASK/TYPE: an estimator, the data that it is fitted on, and the element type of its inputs. Their
results are labels with probabilities or scores, predictions, or transformed data.
"""

from __future__ import annotations

import contextlib
import functools
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import skl2onnx
import sklearn.base
from skl2onnx import _supported_operators
from skl2onnx.common import data_types
from sklearn.feature_selection import SelectorMixin, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Array = np.ndarray[Any, Any]
TYPES = ("float32", "float64")
ROWS, COLUMNS, TESTED = 48, 4, 10
"""The size of the data, and the number of rows that a program computes."""
ML_OPSET = 3
"""The newest opset of ai.onnx.ml that all converters support."""
OPT_OUTS = (
    ("NotAProgramError", r"", "scikit-learn does not fit or evaluate the program"),
    ("MissingConverter", r"", "no converter"),
    ("MissingShapeCalculator", r"", "no converter"),
    ("NotImplementedError", r"", "not implemented"),
)

LINEAR, TREE = {"estimator": LogisticRegression()}, {"estimator": LinearRegression()}
TWO_CLASSIFIERS = [("linear", LogisticRegression()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
TWO_REGRESSORS = [("linear", Ridge()), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "CastRegressor": {"estimator": LinearRegression()},
    "ColumnTransformer": {"transformers": [("scaled", StandardScaler(), [0, 2])], "remainder": "passthrough"},
    "FeatureUnion": {"transformer_list": [("first", StandardScaler()), ("second", StandardScaler(with_mean=False))]},
    "GaussianRandomProjection": {"n_components": 2},
    "GenericUnivariateSelect": {"param": 0.1, "mode": "fpr"},
    "GridSearchCV": {"estimator": LogisticRegression(), "param_grid": {"C": [0.1, 1.0]}},
    "IsolationForest": {"contamination": 0.1},
    "KBinsDiscretizer": {"n_bins": 3, "encode": "onehot-dense"},
    "LocalOutlierFactor": {"novelty": True},
    "MultiOutputClassifier": {"estimator": DecisionTreeClassifier(max_depth=3)},
    "MultiOutputRegressor": TREE,
    "NearestNeighbors": {"radius": None},
    "NuSVC": {"nu": 0.2},
    "OneVsOneClassifier": LINEAR,
    "OneVsRestClassifier": LINEAR,
    "OrthogonalMatchingPursuitCV": {"max_iter": 3},
    "Pipeline": {"steps": [("scaled", StandardScaler()), ("linear", LogisticRegression())]},
    "QuantileTransformer": {"n_quantiles": 10},
    "RANSACRegressor": {"random_state": 0},
    "RFE": LINEAR,
    "RFECV": LINEAR,
    "RadiusNeighborsClassifier": {"radius": 2.0},
    "RadiusNeighborsRegressor": {"radius": 2.0},
    "RandomTreesEmbedding": {"sparse_output": False},
    "SelectFdr": {"score_func": f_regression},
    "SelectFromModel": LINEAR,
    "SelectKBest": {"k": 2},
    "StackingClassifier": {"estimators": TWO_CLASSIFIERS},
    "StackingRegressor": {"estimators": TWO_REGRESSORS},
    "TunedThresholdClassifierCV": LINEAR,
    "VotingClassifier": {"estimators": TWO_CLASSIFIERS, "voting": "soft", "flatten_transform": False},
    "VotingRegressor": {"estimators": TWO_REGRESSORS},
}
"""The arguments of estimators that cannot be made without, or whose defaults need more data."""
SMALL = {"n_estimators": 5, "max_iter": 300, "random_state": 0}
"""Arguments of every estimator that has them: few trees make a small model, and a seed makes the fit reproducible."""
TASKS: Mapping[str, tuple[str, ...]] = {
    "CategoricalNB": ("categories",),
    "CountVectorizer": ("texts",),
    "KernelCenterer": ("kernel",),
    "LabelBinarizer": ("labels",),
    "LabelEncoder": ("labels",),
    "MultiOutputClassifier": ("two_labels",),
    "OneHotEncoder": ("categories",),
    "OrdinalEncoder": ("categories",),
    "SelectFdr": ("targets",),
    "TfidfTransformer": ("categories",),
    "TfidfVectorizer": ("texts",),
    "TunedThresholdClassifierCV": ("binary",),
}
"""The data of estimators that the kind of the estimator does not determine."""
NOT_TESTED = {"DictVectorizer", "FeatureHasher", "_ConstantPredictor"}
"""Estimators of dicts and of hashed texts, whose inputs are no tensors of numbers, and one that users cannot make."""
WORDS = ("red green", "blue green", "red red blue", "white", "green white red", "blue")
REGRESSIONS, CLASSIFICATIONS = ("targets", "two_targets"), ("binary", "classes")


class NotAProgramError(Exception):
    """scikit-learn raises an error for a program."""


def info() -> dict[str, Any]:
    """Return the fields of the hello message."""
    opset = int(skl2onnx.__max_supported_opset__)
    return {"runtime": "skl2onnx", "version": skl2onnx.__version__, "onnx": onnx.__version__, "opset": opset}


@functools.cache
def _estimators() -> dict[str, Any]:
    """Return the classes of the supported estimators by name."""
    listed = (item for item in _supported_operators.sklearn_operator_name_map if isinstance(item, type))
    return {item.__name__: item for item in listed if item.__name__ not in NOT_TESTED}


def programs(globs: Sequence[str]) -> list[str]:
    """Return the names of the programs of all estimators."""
    del globs  # Nothing is fitted to list them.
    return [f"{name}/{task}/{type_}" for name in _estimators() for task in _tasks(name) for type_ in _types(task)]


def _types(task: str) -> tuple[str, ...]:
    return ("string",) if task == "texts" else ("int64",) if task == "labels" else TYPES


def _tasks(name: str) -> tuple[str, ...]:
    """Return the data that an estimator is fitted on."""
    if name in TASKS:
        return TASKS[name]
    if name.startswith("MultiTask") or name == "MultiOutputRegressor":
        return REGRESSIONS[1:]
    made = _made(name)
    if sklearn.base.is_regressor(made):
        return REGRESSIONS[:1]
    return CLASSIFICATIONS if sklearn.base.is_classifier(made) else CLASSIFICATIONS[1:]


def _made(name: str) -> Any:  # noqa: ANN401 - an estimator
    """Return an estimator that is not fitted."""
    made = _estimators()[name](**ARGUMENTS.get(name, {}))
    own = made.get_params(deep=False) if hasattr(made, "get_params") else {}
    chosen = {key: value for key, value in SMALL.items() if key in own and key not in ARGUMENTS.get(name, {})}
    return made.set_params(**chosen) if chosen else made


def _data(task: str) -> tuple[Any, Any]:
    """Return the inputs and targets of a task; None without targets."""
    draw = np.random.default_rng(0)
    numbers = draw.uniform(0.1, 4, (ROWS, COLUMNS)).astype(np.float32).astype(np.float64)
    score = numbers[:, 0] + 0.5 * numbers[:, 1] + 0.2 * draw.standard_normal(ROWS)
    classes = np.digitize(score, np.quantile(score, [1 / 3, 2 / 3]))
    made: dict[str, Callable[[], tuple[Any, Any]]] = {
        "binary": lambda: (numbers, (classes > 0).astype(np.int64)),
        "classes": lambda: (numbers, classes),
        "targets": lambda: (numbers, score + 1),
        "two_targets": lambda: (numbers, np.stack([score, numbers[:, 2] - numbers[:, 3]], 1)),
        "two_labels": lambda: (numbers, np.stack([classes, classes[::-1]], 1)),
        "categories": lambda: (np.floor(numbers), classes),
        "kernel": lambda: (numbers @ numbers.T, None),
        "labels": lambda: (classes, None),
        "texts": lambda: (np.array([WORDS[place % len(WORDS)] for place in range(ROWS)], dtype=object), None),
    }
    return made[task]()


@functools.lru_cache(maxsize=1)
def _fitted(name: str, task: str, type_: str) -> Any:  # noqa: ANN401 - an estimator
    """Return an estimator that is fitted on data of a type.

    Raises:
        NotAProgramError: scikit-learn does not fit it.
    """
    inputs, targets = _typed_inputs(task, type_), _data(task)[1]
    try:
        made = _made(name)
        return made.fit(inputs) if targets is None else made.fit(inputs, targets)
    except Exception as error:  # noqa: BLE001 - an estimator may raise any
        raise NotAProgramError(f"{type(error).__name__}: {error}") from None


def _typed_inputs(task: str, type_: str) -> Array:
    inputs = np.asarray(_data(task)[0])
    return inputs if type_ == "string" else inputs.astype(type_)


def produce(program: str, opset: int, dynamic: bool) -> dict[str, Any]:  # noqa: FBT001 - of every producer
    """Return a fitted estimator as a model, and its results in scikit-learn."""
    name, task, type_ = program.split("/")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = _fitted(name, task, type_)
        inputs = _typed_inputs(task, type_)
        tested = [inputs[:TESTED], inputs[: TESTED + 1]] if dynamic else [inputs[:TESTED]]
        results = [_results(estimator, item) for item in tested]
        model = _exported(estimator, tested[0], opset, dynamic=dynamic)
        runs = [_run(model, estimator, *pair) for pair in zip(tested, results, strict=True)]
    return {"model": model.SerializeToString(), "runs": runs}


def _exported(estimator: Any, inputs: Array, opset: int, *, dynamic: bool) -> onnx.ModelProto:  # noqa: ANN401
    """Return the model of an estimator."""
    shape = [None if dynamic else inputs.shape[0], *inputs.shape[1:]]
    kinds = {
        "float32": data_types.FloatTensorType,
        "float64": data_types.DoubleTensorType,
        "int64": data_types.Int64TensorType,
        "object": data_types.StringTensorType,
    }
    declared = [("X", kinds[str(inputs.dtype)](shape))]
    opsets = {"": opset, "ai.onnx.ml": ML_OPSET}
    # A tensor of probabilities can be compared; the default is a sequence of maps.
    options = {id(estimator): {"zipmap": False}} if sklearn.base.is_classifier(estimator) else None
    try:
        made = skl2onnx.convert_sklearn(estimator, initial_types=declared, target_opset=opsets, options=options)
    except NameError as error:  # Some classifiers have no such option.
        if "zipmap" not in str(error):
            raise
        made = skl2onnx.convert_sklearn(estimator, initial_types=declared, target_opset=opsets)
    model: onnx.ModelProto = made
    return model


def _run(model: onnx.ModelProto, estimator: Any, inputs: Array, results: Sequence[Array]) -> dict[str, Any]:  # noqa: ANN401
    """Return one run of a program; floating-point results have the type of its inputs, as those of the model have."""
    ranks = [len(item.type.tensor_type.shape.dim) for item in model.graph.output]
    typed = [_typed(item, inputs.dtype) for item in results]
    wide = None
    if inputs.dtype == np.float32:
        with contextlib.suppress(NotAProgramError):  # Some estimators take only the type that they were fitted on.
            wide = _shaped(_results(estimator, inputs.astype(np.float64)), ranks)
    return {"inputs": {"X": inputs}, "outputs": _shaped(typed, ranks), "reference": wide}


def _typed(result: Array, dtype: np.dtype[Any]) -> Array:
    """Return a result in the type that the model is expected to have: most of scikit-learn computes in float64."""
    if result.dtype == np.float64:
        return result.astype(dtype if dtype.kind == "f" else np.float32)
    return result.astype(np.int64) if result.dtype.kind in "iub" else result


def _shaped(results: Sequence[Array], ranks: Sequence[int]) -> list[Array]:
    """Return results with the ranks of the model's outputs: it has a column for a vector of scikit-learn."""
    found = []
    for place, result in enumerate(results):
        column = place < len(ranks) and ranks[place] == result.ndim + 1
        found.append(np.ascontiguousarray(result[..., None] if column else result))
    return found


def _results(estimator: Any, inputs: Array) -> list[Array]:  # noqa: ANN401 - an estimator
    """Return the results of a fitted estimator, in the order of the outputs of its model.

    Raises:
        NotAProgramError: scikit-learn raises an error.
    """
    names = next(names for has, names in METHODS if has(estimator))
    try:
        results = [result for name in names for result in _each(getattr(estimator, name)(inputs))]
    except Exception as error:  # noqa: BLE001 - an estimator may raise any
        raise NotAProgramError(f"{type(error).__name__}: {error}") from None
    return [np.asarray(item.toarray() if hasattr(item, "toarray") else item) for item in results]


def _each(result: Any) -> list[Any]:  # noqa: ANN401 - an array, or several
    """Return the results of a method: neighbours are distances and indices, which the model has in the other order."""
    if isinstance(result, tuple):
        return list(reversed(result))
    return [np.stack(result)] if isinstance(result, list) else [result]


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda estimator: all(hasattr(estimator, name) for name in names)


METHODS: Sequence[tuple[Callable[[Any], bool], tuple[str, ...]]] = (
    (lambda it: isinstance(it, SelectorMixin), ("transform",)),
    (_has("predict", "predict_proba"), ("predict", "predict_proba")),
    (lambda it: sklearn.base.is_classifier(it) and hasattr(it, "decision_function"), ("predict", "decision_function")),
    (sklearn.base.is_classifier, ("predict",)),
    (sklearn.base.is_regressor, ("predict",)),
    (_has("predict", "decision_function"), ("predict", "decision_function")),
    (_has("predict", "transform"), ("predict", "transform")),
    (_has("transform"), ("transform",)),
    (_has("kneighbors"), ("kneighbors",)),
    (_has("predict"), ("predict",)),
)
"""The methods whose results a model has, of the first kind that an estimator is of."""
