# SPDX-License-Identifier: Apache-2.0
"""Classical models, and their export by skl2onnx and onnxmltools: `python -m tools.usage.sklearn_models FOLDER`."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lightgbm
import numpy as np
import onnxmltools
import xgboost
from onnxmltools.convert.common.data_types import FloatTensorType as BoostedFloats
from skl2onnx import convert_sklearn
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
from sklearn import (
    cluster,
    compose,
    decomposition,
    ensemble,
    feature_extraction,
    feature_selection,
    gaussian_process,
    impute,
    linear_model,
    naive_bayes,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

RANDOM = np.random.RandomState(0)
X = RANDOM.rand(60, 4).astype(np.float32)
LABELS = (X[:, 0] * 3).astype(np.int64)
PAIR = (X[:, 1] > np.float32(0.5)).astype(np.int64)
TEXTS = np.array(["low", "middle", "high"])[LABELS]
Y = (X @ np.array([1, -2, 3, 0.5], np.float32)).astype(np.float32)
WORDS = np.array([["a small text"], ["another text of words"], ["words and more words"], ["the small end"]])
COLOURS = np.array([["red"], ["blue"], ["green"], ["red"]])

CLASSIFIERS: dict[str, Any] = {
    "tree": tree.DecisionTreeClassifier(max_depth=3),
    "forest": ensemble.RandomForestClassifier(5, max_depth=3),
    "extra_trees": ensemble.ExtraTreesClassifier(5, max_depth=3),
    "boosting": ensemble.GradientBoostingClassifier(n_estimators=5),
    "logistic": linear_model.LogisticRegression(),
    "sgd": linear_model.SGDClassifier(),
    "svm": svm.SVC(probability=False),
    "linear_svm": svm.LinearSVC(),
    "nu_svm": svm.NuSVC(nu=0.1, kernel="poly"),
    "bayes": naive_bayes.GaussianNB(),
    "multinomial_bayes": naive_bayes.MultinomialNB(),
    "neighbours": neighbors.KNeighborsClassifier(3),
    "perceptron": neural_network.MLPClassifier((8,), max_iter=20),
    "voting": ensemble.VotingClassifier(
        [("tree", tree.DecisionTreeClassifier(max_depth=2)), ("logistic", linear_model.LogisticRegression())],
        voting="soft",
        flatten_transform=False,
    ),
    "scaled_logistic": pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
}
REGRESSORS: dict[str, Any] = {
    "tree": tree.DecisionTreeRegressor(max_depth=3),
    "forest": ensemble.RandomForestRegressor(5, max_depth=3),
    "boosting": ensemble.GradientBoostingRegressor(n_estimators=5),
    "ridge": linear_model.Ridge(),
    "svm": svm.SVR(),
    "linear_svm": svm.LinearSVR(),
    "neighbours": neighbors.KNeighborsRegressor(3),
    "perceptron": neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=20),
    "gaussian_process": gaussian_process.GaussianProcessRegressor(),
}
TRANSFORMERS: dict[str, Any] = {
    "standard": preprocessing.StandardScaler(),
    "min_max": preprocessing.MinMaxScaler(clip=True),
    "robust": preprocessing.RobustScaler(),
    "normalizer": preprocessing.Normalizer(),
    "binarizer": preprocessing.Binarizer(threshold=0.5),
    "polynomial": preprocessing.PolynomialFeatures(2),
    "bins": preprocessing.KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf"),
    "power": preprocessing.PowerTransformer(),
    "quantiles": preprocessing.QuantileTransformer(n_quantiles=10),
    "principal_components": decomposition.PCA(2),
    "singular_values": decomposition.TruncatedSVD(2),
    "means": cluster.KMeans(3),
    "imputer": impute.SimpleImputer(),
    "best": feature_selection.SelectKBest(k=2),
    "isolation": ensemble.IsolationForest(n_estimators=5),
}


def models() -> Iterator[tuple[str, Any]]:
    """Yield the name of each export, and a function that makes it."""
    floats = [("X", FloatTensorType([None, 4]))]
    texts = [("X", StringTensorType([None, 1]))]
    zipped: dict[str, Any] = {"zipmap": False}
    for name, model in CLASSIFIERS.items():
        yield f"classifier_{name}", lambda model=model: convert_sklearn(model.fit(X, LABELS), initial_types=floats)
        if name in {"forest", "logistic", "svm"}:
            options = {"options": {id(model): zipped}}
            yield (
                f"text_classifier_{name}",
                lambda model=model: convert_sklearn(model.fit(X, TEXTS), initial_types=floats),
            )
            yield (
                f"binary_classifier_{name}",
                lambda model=model, options=options: convert_sklearn(
                    model.fit(X, PAIR), initial_types=floats, **options
                ),
            )
    for name, model in REGRESSORS.items():
        yield f"regressor_{name}", lambda model=model: convert_sklearn(model.fit(X, Y), initial_types=floats)
    for name, model in TRANSFORMERS.items():
        yield (
            f"transformer_{name}",
            lambda model=model: convert_sklearn(
                model.fit(X, LABELS), initial_types=floats, target_opset={"": 18, "ai.onnx.ml": 3}
            ),
        )
    vectors = {
        "tfidf": feature_extraction.text.TfidfVectorizer(),
        "counts": feature_extraction.text.CountVectorizer(ngram_range=(1, 2)),
        "characters": feature_extraction.text.TfidfVectorizer(analyzer="char", ngram_range=(1, 2)),
    }
    for name, vectorizer in vectors.items():
        yield (f"vectorizer_{name}", lambda v=vectorizer: convert_sklearn(v.fit(WORDS.ravel()), initial_types=texts))
    spam = pipeline.make_pipeline(feature_extraction.text.TfidfVectorizer(), linear_model.LogisticRegression())
    yield "text_pipeline", lambda: convert_sklearn(spam.fit(WORDS.ravel(), [0, 1, 0, 1]), initial_types=texts)
    for name, encoder in {
        "one_hot": preprocessing.OneHotEncoder(handle_unknown="ignore"),
        "ordinal": preprocessing.OrdinalEncoder(),
    }.items():
        yield f"encoder_{name}", lambda e=encoder: convert_sklearn(e.fit(COLOURS), initial_types=texts)
    labels = preprocessing.LabelEncoder()
    yield (
        "encoder_labels",
        lambda: convert_sklearn(labels.fit(COLOURS.ravel()), initial_types=[("X", StringTensorType([None]))]),
    )
    yield "columns", _columns
    boosted = [("X", BoostedFloats([None, 4]))]
    yield (
        "xgboost_classifier",
        lambda: onnxmltools.convert_xgboost(
            xgboost.XGBClassifier(n_estimators=5).fit(X, LABELS), initial_types=boosted
        ),
    )
    yield (
        "xgboost_regressor",
        lambda: onnxmltools.convert_xgboost(xgboost.XGBRegressor(n_estimators=5).fit(X, Y), initial_types=boosted),
    )
    yield (
        "lightgbm_classifier",
        lambda: onnxmltools.convert_lightgbm(
            lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(X, PAIR), initial_types=boosted
        ),
    )
    yield (
        "lightgbm_regressor",
        lambda: onnxmltools.convert_lightgbm(
            lightgbm.LGBMRegressor(n_estimators=5, verbose=-1).fit(X, Y), initial_types=boosted
        ),
    )


def _columns() -> Any:
    """Return a pipeline over columns of numbers, integers and texts, as of a table."""
    steps = compose.ColumnTransformer(
        [
            ("numbers", preprocessing.StandardScaler(), [0, 1]),
            ("integers", preprocessing.MinMaxScaler(), [2]),
            ("texts", preprocessing.OneHotEncoder(handle_unknown="ignore"), [3]),
        ]
    )
    rows = np.array([[0.5, 1.5, 1, "red"], [1.5, 0.5, 2, "blue"], [1.0, 1.0, 3, "red"]], dtype=object)
    fitted = pipeline.make_pipeline(steps, linear_model.LogisticRegression()).fit(rows, [0, 1, 0])
    types = [
        ("numbers", FloatTensorType([None, 2])),
        ("integers", Int64TensorType([None, 1])),
        ("texts", StringTensorType([None, 1])),
    ]
    return convert_sklearn(fitted, initial_types=types)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name_, make in models():
        try:
            (Path(sys.argv[1]) / f"sklearn.{name_}.onnx").write_bytes(make().SerializeToString())
        except Exception as error:  # noqa: BLE001 - a converter may lack a model of a newer scikit-learn
            sys.stderr.write(f"sklearn.{name_}: {type(error).__name__}: {str(error).strip().splitlines()[0][:150]}\n")
