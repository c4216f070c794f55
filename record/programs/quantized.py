"""Quantised graphs kept as operators: PT2E with the XNNPACK quantizer, quantised embeddings.

Eager and a runtime may round an activation that lies half way between two quantised values to different sides, after
float32 sums in another order; a program whose answers depend on that rounding has the step of its output as tolerance.
"""

import torch
from executorch.exir import ExecutorchBackendConfig
from torch import nn
from torch.nn import Sequential

from .program import UNCHECKED, Function, forward, program


def quantized(module, example, training=False, dynamic=False, per_channel=True):
    """The module with quantize and dequantize operators, calibrated with the example."""
    import executorch.kernels.quantized  # noqa: F401  registers the out variants
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

    config = get_symmetric_quantization_config(is_per_channel=per_channel, is_dynamic=dynamic, is_qat=training)
    quantizer = XNNPACKQuantizer().set_global(config)
    module = module.requires_grad_(False)
    captured = torch.export.export(module if training else module.eval(), example, strict=False).module()
    prepared = (prepare_qat_pt2e if training else prepare_pt2e)(captured, quantizer)
    for _ in range(2):
        prepared(*example)
    return convert_pt2e(prepared)


@program
def quantized_linear():
    """Static int8 linear layers, weights per channel."""
    x = (torch.randn(4, 16),)
    net = quantized(Sequential(nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 5)), x)
    return forward(net, x, edge=UNCHECKED)


@program
def quantized_conv():
    """Static int8 convolutions with batch norm folded into them, a residual sum, an average; weights per tensor."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU())
            self.second, self.out = nn.Conv2d(6, 6, 3, padding=1), nn.Linear(6, 4)

        def forward(self, x):
            y = self.first(x)
            return self.out((y + self.second(y)).mean((2, 3)))

    x = (torch.randn(1, 3, 6, 6),)
    return forward(quantized(Net(), x, per_channel=False), x, edge=UNCHECKED)


@program
def quantized_squeeze_excite():
    """A static int8 convolution with hardswish, gates that are broadcast over the image, and an average pool."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.Hardswish())
            self.gate = Sequential(
                nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 4, 1), nn.ReLU(), nn.Conv2d(4, 8, 1), nn.Hardsigmoid()
            )
            self.last, self.pool = nn.Conv2d(8, 4, 1), nn.AvgPool2d(2)

        def forward(self, x):
            y = self.first(x)
            return self.pool(self.last(y * self.gate(y)))

    x = (torch.randn(1, 3, 6, 6),)
    return forward(quantized(Net(), x), x, edge=UNCHECKED)


@program
def quantized_dynamic():
    """Linear layers whose activations are quantised with ranges taken from each input."""
    x = (torch.randn(3, 16),)
    net = quantized(Sequential(nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 5)), x, dynamic=True)
    return forward(net, x, (torch.randn(3, 16) * 10,), edge=UNCHECKED)


@program
def quantized_training():
    """Int8 convolution, batch norm and linear layer after quantisation-aware training, weights per channel."""
    net = Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 9, 3))
    x = (torch.randn(2, 2, 5, 5),)
    net = quantized(net, x, training=True)
    return forward(net, x, edge=UNCHECKED)


@program
def quantized_folded():
    """An int8 linear layer and a residual sum whose quantised weights were computed at export."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(8, 8)

        def forward(self, x):
            return self.linear(x) + x

    x = (torch.randn(2, 8),)
    backend = ExecutorchBackendConfig(do_quant_fusion_and_const_prop=True)
    return forward(quantized(Net(), x, per_channel=False), x, edge=UNCHECKED, backend=backend)


@program
def quantized_add():
    """The sum of two quantised tensors, made one operator by the exporter; no sum lies half way between steps."""
    import executorch.kernels.quantized  # noqa: F401
    import torch.ao.quantization.fx._decomposed  # noqa: F401

    def add(x, y):
        ops = torch.ops.quantized_decomposed
        a, b = (
            ops.dequantize_per_tensor(
                ops.quantize_per_tensor(v, s, z, -128, 127, torch.int8), s, z, -128, 127, torch.int8
            )
            for v, s, z in ((x, 0.0513, 3), (y, 0.0207, -7))
        )
        total = ops.quantize_per_tensor(a + b, 0.0629, 1, -128, 127, torch.int8)
        return ops.dequantize_per_tensor(total, 0.0629, 1, -128, 127, torch.int8)

    backend = ExecutorchBackendConfig(do_quant_fusion_and_const_prop=True)
    return forward(Function(add), (torch.randn(3, 5), torch.randn(3, 5)), edge=UNCHECKED, backend=backend)


@program
def embedding_byte():
    """An int8 embedding with a scale per row, one with zero points too, and one with two groups per row in float16."""
    import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401  registers the embeddings
    import executorch.kernels.quantized  # noqa: F401

    class Embedding(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", torch.randint(-128, 128, (10, 8), dtype=torch.int8))
            self.register_buffer("scales", torch.rand(10) + 0.1)
            self.register_buffer("points", torch.randint(-9, 9, (10,)).float())
            self.register_buffer("groups", (torch.rand(10, 2) + 0.1).half())

        def forward(self, indices):
            embed = torch.ops.quantized_decomposed.embedding_byte
            return (
                embed(self.weight, self.scales, None, -128, 127, indices),
                embed(self.weight, self.scales, self.points, -128, 127, indices),
                embed.dtype(self.weight, self.groups, None, -128, 127, indices, dtype=torch.float16),
            )

    return forward(Embedding(), (torch.tensor([3, 0, 9, 3]),), edge=UNCHECKED)


@program
def embedding_4bit():
    """An embedding of two 4-bit values per byte: a scale per row, and two groups per row."""
    import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401
    import executorch.kernels.quantized  # noqa: F401

    class Embedding(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", torch.randint(0, 256, (12, 16), dtype=torch.uint8))
            self.register_buffer("scales", torch.rand(12) + 0.1)
            self.register_buffer("groups", torch.rand(12, 2) + 0.1)

        def forward(self, indices):
            embed = torch.ops.quantized_decomposed.embedding_4bit
            return (
                embed(self.weight, self.scales, None, -8, 7, indices),
                embed(self.weight, self.groups, None, -8, 7, indices),
            )

    return forward(Embedding(), (torch.tensor([[3, 0], [11, 3]]),), edge=UNCHECKED)


@program
def quantize_operators():
    """quantize and dequantize by themselves: per tensor, per channel, to uint8, int8 and int16, with clamped values."""
    import executorch.kernels.quantized  # noqa: F401

    class Quantize(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scales", torch.tensor([0.1, 0.25, 0.03]))
            self.register_buffer("points", torch.tensor([0, 3, -5]))

        def forward(self, x):
            ops = torch.ops.quantized_decomposed
            bytes_ = ops.quantize_per_tensor(x, 0.05, 10, 0, 255, torch.uint8)
            rows = ops.quantize_per_channel(x, self.scales, self.points, 0, -128, 127, torch.int8)
            words = ops.quantize_per_tensor(x, 0.001, 0, -32768, 32767, torch.int16)
            return (
                bytes_, rows, words, ops.dequantize_per_tensor(bytes_, 0.05, 10, 0, 255, torch.uint8),
                ops.dequantize_per_channel(rows, self.scales, self.points, 0, -128, 127, torch.int8),
            )  # fmt: skip

    return forward(Quantize(), (torch.randn(3, 6) * 8,), edge=UNCHECKED)
