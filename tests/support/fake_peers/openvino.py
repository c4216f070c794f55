"""In place of OpenVINO: a model with an input of float16 and a state, whose output is the file $FAKE_OUTPUT. It writes
what it is asked to the file $FAKE_LOG."""
import json
import os

import numpy

__version__ = "fake"
said = {}


class Type:
    f32, f16, bf16 = "f32", "f16", "bf16"


class Port:
    def __init__(self, element_type, shape):
        self.element_type, self.shape = element_type, shape


class Tensor:
    def __init__(self, element_type, shape):
        self.data = numpy.full(shape, 9.0, "f4")


class Request:
    def __init__(self):
        self.inputs, self.model_outputs = {}, [None]

    def set_input_tensor(self, i, tensor):
        self.inputs[i] = tensor.data.ravel().tolist()

    def infer(self):
        said["inputs"] = [self.inputs[i] for i in sorted(self.inputs)]
        with open(os.environ["FAKE_LOG"], "w") as log:
            json.dump(said, log)

    def get_output_tensor(self, i):
        output = Tensor(Type.f32, ())
        output.data = numpy.load(os.environ["FAKE_OUTPUT"])
        return output


class Model:
    def __init__(self, shape):
        self.inputs = [Port(Type.f16, shape), Port(Type.f32, [1, 3])]

    def create_infer_request(self):
        return Request()


class Core:
    def read_model(self, program):
        said["bytes"] = len(program)
        return Model(SHAPE)

    def compile_model(self, model, device, settings):
        said["settings"] = settings
        return model


SHAPE = [3, 16]
