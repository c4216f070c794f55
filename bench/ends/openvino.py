"""OpenVINO on the processor. The file is an ONNX model. It is computed in the dtype of its first floating input, and
codes in int8 where the model quantizes and dequantizes. Inputs beyond those of a run are state, and zeros."""

import numpy
import openvino

from ends import THREADS, expect_forward

name = "OpenVINO"
facts = {"openvino": openvino.__version__, "threads": str(THREADS)}
FLOATING = {openvino.Type.f32, openvino.Type.f16, openvino.Type.bf16}


def precision(model):
    return next((i.element_type for i in model.inputs if i.element_type in FLOATING), openvino.Type.f32)


class Loaded:
    def __init__(self, program, data):
        core = openvino.Core()
        model = core.read_model(program)
        settings = {"INFERENCE_NUM_THREADS": THREADS, "INFERENCE_PRECISION_HINT": precision(model), "PERFORMANCE_HINT": "LATENCY"}
        self.model = core.compile_model(model, "CPU", settings)

    def prepared(self, method, inputs):
        expect_forward(method)
        return Runs(self.model.create_infer_request(), self.model.inputs, inputs)


class Runs:
    def __init__(self, request, wanted, inputs):
        self.request, self.run = request, request.infer
        if len(inputs) > len(wanted):
            raise ValueError(f"the model has {len(wanted)} inputs, but {len(inputs)} came")
        for i, port in enumerate(wanted):
            request.set_input_tensor(i, tensor(port, inputs[i] if i < len(inputs) else None))

    def outputs(self):
        return [self.request.get_output_tensor(i).data.copy() for i in range(len(self.request.model_outputs))]


def tensor(port, value):
    """A tensor of OpenVINO with the bytes of the array, or with zeros."""
    made = openvino.Tensor(port.element_type, port.shape)
    made.data[...] = 0 if value is None else numpy.asarray(value)
    return made


load = Loaded
