"""A toy runtime of four operators, behind the interface that ONNX runtimes have: onnx.backend.base.Backend."""

import numpy as np
from onnx import helper, numpy_helper
from onnx.backend.base import Backend, BackendRep


def split(x, split=None, *, axis=0, num_outputs=None, n=1):
    n = num_outputs or n
    if split is None:
        return np.array_split(x, n, axis)
    return np.split(x, np.cumsum(split)[:-1], axis)


OPERATORS = {"Add": lambda a, b: [a + b], "Neg": lambda x: [-x], "Relu": lambda x: [np.maximum(x, 0)], "Split": split}


class Model(BackendRep):
    def __init__(self, graph):
        self.graph = graph

    def run(self, inputs):
        values = {x.name: numpy_helper.to_array(x) for x in self.graph.initializer}
        values |= zip((x.name for x in self.graph.input if x.name not in values), inputs)
        for node in self.graph.node:
            if node.op_type not in OPERATORS:
                raise NotImplementedError(node.op_type)  # An opt-out: it counts as `unsupported`.
            given = {x.name: helper.get_attribute_value(x) for x in node.attribute}
            given |= {"n": len(node.output)} if node.op_type == "Split" else {}
            outputs = OPERATORS[node.op_type](*(values.get(name) for name in node.input), **given)
            values |= zip(node.output, outputs, strict=True)
        return [values[x.name] for x in self.graph.output]


class Toy(Backend):
    @classmethod
    def is_compatible(cls, model, device="CPU", **kwargs):
        return all(x.domain == "" and x.version >= 13 for x in model.opset_import)

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        return Model(model.graph)
