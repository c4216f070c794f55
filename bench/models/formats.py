"""The formats of the models: how numbers are stored and computed.

- f32, f16, bf16: all floats in this dtype.
- int8: PT2E with the quantizer of XNNPACK, static, weights per channel. The ONNX model has QuantizeLinear and
  DequantizeLinear by onnxruntime's static quantization, which onnxruntime and OpenVINO both run. Both are calibrated
  with the inputs of the call alone.
- int8_dynamic: PT2E with the quantizer of XNNPACK, activations of linear layers quantized at run time; in ONNX,
  onnxruntime's dynamic quantization.
- 8da4w: torchao, linear layers with 4-bit weights in groups of 32 and 8-bit dynamic activations; in ONNX, MatMulNBits
  with activations of 8 bits (accuracy level 4).

Decoders have no static format: the range of a cache is that of all tokens before."""

import copy
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackDynamicallyQuantizedPartitioner, XnnpackPartitioner
from programs.quantized import quantized

GROUP = 32


@dataclass(frozen=True)
class Format:
    # (module, inputs) -> the module of the format, its inputs, and a module whose results in double precision are right
    change: Callable
    onnx: Callable  # (exporter, module, inputs) -> the bytes of the ONNX model
    partitioners: Callable
    suits: Callable = lambda name: True  # whether the model of this name has the format


def all_floats(dtype):
    def changed(module, inputs):
        module = module.to(dtype)
        return module, tuple(x.to(dtype) if x.is_floating_point() else x for x in inputs), module

    def onnx(export, module, inputs):
        module, inputs, _ = changed(module, inputs)
        return export(module, inputs).SerializeToString()

    return Format(changed, onnx, lambda: [XnnpackPartitioner()])


def by_quantizer(dynamic):
    return lambda module, inputs: (quantized(module, inputs, dynamic=dynamic), inputs, module)


def four_bits(module, inputs):
    from torchao.quantization import Int8DynamicActivationIntxWeightConfig, quantize_
    from torchao.quantization.granularity import PerGroup
    from torchao.utils import unwrap_tensor_subclass

    changed = copy.deepcopy(module)
    quantize_(changed, Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(GROUP)))
    return unwrap_tensor_subclass(changed), inputs, module


class Given:
    """The calibration data of onnxruntime: the inputs, once."""

    def __init__(self, names, inputs):
        self.rest = [dict(zip(names, inputs))]

    def get_next(self):
        return self.rest.pop() if self.rest else None


def from_file(write):
    """The bytes that `write` writes to a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.onnx"
        write(str(file))
        return file.read_bytes()


def static_onnx(export, module, inputs):
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    model = export(module, inputs)
    data = Given([i.name for i in model.graph.input], [x.numpy() for x in inputs])
    return from_file(lambda file: quantize_static(model, file, data, QuantFormat.QDQ, per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8))


def dynamic_onnx(export, module, inputs):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    return from_file(lambda file: quantize_dynamic(export(module, inputs), file, per_channel=True, weight_type=QuantType.QInt8))


def four_bits_onnx(export, module, inputs):
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    quantizer = MatMulNBitsQuantizer(export(module, inputs), bits=4, block_size=GROUP, is_symmetric=True, accuracy_level=4)
    quantizer.process()
    return quantizer.model.model.SerializeToString()


def is_picture(name):
    return not name.startswith("decoder")


def has_linears(name):
    return name.startswith(("decoder", "vit"))


def dynamic_partitioners():
    return [XnnpackDynamicallyQuantizedPartitioner(), XnnpackPartitioner()]


FORMATS = {
    "f32": all_floats(torch.float32),
    "f16": all_floats(torch.float16),
    "bf16": all_floats(torch.bfloat16),
    "int8": Format(by_quantizer(False), static_onnx, lambda: [XnnpackPartitioner()], is_picture),
    "int8_dynamic": Format(by_quantizer(True), dynamic_onnx, dynamic_partitioners, has_linears),
    "8da4w": Format(four_bits, four_bits_onnx, dynamic_partitioners, has_linears),
}
