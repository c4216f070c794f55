"""Exports programs whose work is delegated to XNNPACK into golden/delegated/<name>, and records their results.

The results are those of the official runtime, because eager PyTorch has no such operators. Exports with the same
versions give the same bytes. The results depend on the instruction set, which MANIFEST.json states. The quantized
programs have 8-bit arithmetic that is defined exactly, and must be reproduced bit for bit.
"""

import argparse
import importlib.metadata
import json
import sys
import warnings
from pathlib import Path

import manifest
import torch
import torch.nn.functional as F
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from programs.folder import write as calls_of
from programs.program import Call, Program
from torch import nn
from torch.export import Dim, export

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "golden" / "delegated"
PROGRAM = "program.pte"


class Image(nn.Module):
    """A convolution, a depthwise convolution with relu, and a pool."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.depthwise = nn.Conv2d(4, 4, 3, groups=4)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return self.pool(torch.relu(self.depthwise(self.conv(x))))


class Glue(nn.Module):
    """Nodes that move elements, and elementwise nodes."""

    def forward(self, x):
        y = torch.cat([x, x * 2, x - 1], 1)[:, 1:5]
        y = torch.nn.functional.pad(y.permute(1, 0, 2).reshape(4, -1), (1, 2), value=3.0)
        return torch.sqrt(torch.abs(y)).exp().clamp(0, 3), torch.sigmoid(y), torch.tanh(y)


class Sum(nn.Module):
    def forward(self, x, y):
        return torch.softmax(x + y * x, -1)


class Unary(nn.Module):
    """Nodes of one input. `x` is positive, `y` has both signs."""

    def __init__(self, names):
        super().__init__()
        self.names = names

    def forward(self, x, y):
        return tuple(UNARY[n](x if n in POSITIVE else y) for n in self.names)


POSITIVE = {"log", "rsqrt", "sqrt"}
UNARY = {
    "abs": torch.abs,
    "ceil": torch.ceil,
    "clamp": lambda v: torch.clamp(v, -1.5, 2.25),
    "cos": torch.cos,
    "exp": torch.exp,
    "floor": torch.floor,
    "gelu": F.gelu,
    "hardswish": F.hardswish,
    "leaky_relu": lambda v: F.leaky_relu(v, 0.125),
    "log": torch.log,
    "neg": torch.neg,
    "relu6": F.relu6,
    "rsqrt": torch.rsqrt,
    "sigmoid": torch.sigmoid,
    "sin": torch.sin,
    "sqrt": torch.sqrt,
    "square": lambda v: torch.pow(v, 2),
    "tanh": torch.tanh,
}


class Binary(nn.Module):
    def forward(self, x, y):
        lines = y[:, :1]
        return x + lines, x - y, x * lines, x / (y * y + 1), torch.maximum(x, y), torch.minimum(x, lines), F.relu(x + y)


class Images(nn.Module):
    """Convolutions with strides, dilations, groups and uneven padding, and what moves images."""

    def __init__(self):
        super().__init__()
        self.grouped = nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2), groups=2)
        self.depthwise = nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=4, bias=False)
        self.transposed = nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2)
        self.norm = nn.BatchNorm2d(4)
        self.prelu = nn.PReLU(4)

    def forward(self, x):
        y = self.prelu(self.norm(x))
        return self.grouped(F.pad(x, (1, 0, 0, 2))), self.depthwise(y).clamp(-0.5, 0.25), F.relu(self.transposed(x))


class Pools(nn.Module):
    def forward(self, x):
        return (
            F.max_pool2d(x, 3, stride=2, padding=1, ceil_mode=True),
            F.max_pool2d(x, 2, stride=1, dilation=2),
            F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False),
            F.avg_pool2d(x, (2, 3)),
            x.mean((2, 3), keepdim=True),
            F.interpolate(x, size=(9, 4), mode="bilinear", align_corners=False),
            F.interpolate(x, size=(3, 11), mode="bilinear", align_corners=True),
        )


class Moves(nn.Module):
    def forward(self, x, y):
        three = torch.cat([x, y, x], 0)
        four, five = torch.cat([x, y, y, x], 1), torch.cat([x, y, x, y, x], 2)
        return three[1:5, :, 1:], four.transpose(0, 2), five.reshape(-1, 6), F.pad(x, (0, 2, 1, 0), value=-1.5)


class Products(nn.Module):
    """Products of matrices, of vectors and of batches, one of which is broadcast."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3, bias=False)

    def forward(self, x, y, z):
        return torch.bmm(x, y), torch.matmul(z, y), torch.mm(x[0], y[0]), self.linear(z), torch.softmax(z, -1)


class Sequence(nn.Module):
    """A convolution of one dimension, a residual and a product of dynamic sizes."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(3, 3, 3, padding=1)

    def forward(self, x):
        y = F.relu(self.conv(x)) + x
        return torch.bmm(y, y.transpose(1, 2)), y[:, 1:]


class Residual(nn.Module):
    """Quantized sums and products, a concatenation, pools and moves."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 1)
        self.depthwise = nn.Conv2d(4, 4, 3, stride=2, padding=1, groups=4)
        self.linear = nn.Linear(8, 5)

    def forward(self, x):
        y = F.relu(self.first(x))
        z = F.relu(self.second(y) + y)
        z = torch.cat([F.max_pool2d(z, 2), self.depthwise(z)], 1)
        return self.linear(F.adaptive_avg_pool2d(z, 1).flatten(1)), z[:, 1:5].permute(0, 2, 3, 1)


class Product(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 4), nn.Linear(6, 4)

    def forward(self, x):
        return self.a(x) * self.b(x) + self.a(x)


class Clamps(nn.Module):
    """Bounds that the quantizer does not annotate: XNNPACK folds them into the convolutions."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 6, 3, padding=1, stride=2), nn.Conv2d(6, 4, 1)

    def forward(self, x):
        return self.second(F.relu6(self.first(x)))


class Activations(nn.Module):
    """Chains from 8 bits to 8 bits, which XNNPACK computes by tables."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(6, 8), nn.Linear(8, 3)

    def forward(self, x):
        y = self.first(x)
        return self.second(y * torch.sigmoid(y)), self.second(F.hardswish(y))


class Transposed(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1)

    def forward(self, x):
        return F.relu(self.up(x))


def pixels():
    """Convolutions of single pixels: of all channels, of groups, and with a stride."""
    return nn.Sequential(nn.Conv2d(6, 8, 1), nn.Conv2d(8, 4, 1, groups=2), nn.Conv2d(4, 5, 1, stride=2))


def lower(module, inputs, dynamic=None):
    exported = export(module.eval(), inputs, dynamic_shapes=dynamic, strict=True)
    return to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch().buffer


def quantized(module, inputs, dynamic=False, per_channel=True, **weights):
    """The module as PT2E with the XNNPACK quantizer makes it, calibrated with the inputs."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    config = get_symmetric_quantization_config(is_per_channel=per_channel, is_dynamic=dynamic, **weights)
    prepared = prepare_pt2e(export(module.eval(), inputs, strict=True).module(), XNNPACKQuantizer().set_global(config))
    prepared(*inputs)
    return convert_pt2e(prepared)


def lower_quantized(module, inputs, **options):
    model = quantized(module, inputs, **options)
    exported = export(model, inputs, strict=True)
    return to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch().buffer


def weights_quantized(module, inputs, config):
    """The module after torchao's quantize_ with this configuration."""
    from torchao.quantization import quantize_

    quantize_(module.eval(), config)
    return lower(module, inputs())


def four_bits(inputs):
    from torchao.quantization import Int8DynamicActivationIntxWeightConfig
    from torchao.quantization.granularity import PerGroup

    config = Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(32))
    return weights_quantized(nn.Sequential(nn.Linear(64, 8)), inputs, config)


def weights_only(inputs):
    from torchao.quantization import IntxWeightOnlyConfig

    config = IntxWeightOnlyConfig(weight_dtype=torch.int8)
    return weights_quantized(nn.Sequential(nn.Linear(32, 16)), inputs, config)


def linear():
    return nn.Sequential(nn.Linear(8, 4), nn.GELU())


def batch():
    return ({0: Dim("batch", min=1, max=16)},)


def randoms(*sizes):
    """A function that makes a random tensor of each of these sizes."""
    return lambda: tuple(torch.randn(s) for s in sizes)


def halves(inputs):
    return lambda: tuple(v.half() for v in inputs())


def numbers():
    """Inputs of Unary: the first has no number below 1/8."""
    return torch.rand(5, 7) * 4 + 0.125, torch.randn(5, 7) * 3


def sequence(inputs):
    return lower(Sequence(), inputs(), ({2: Dim("steps", min=4, max=16)},))


def picture(inputs):
    return lower(Image(), inputs(), ({2: Dim("height", min=4, max=12), 3: Dim("width", min=4, max=16)},))


IMAGE, ROWS, PAIR = randoms((1, 2, 6, 6)), randoms((3, 8)), randoms((2, 3, 4), (2, 3, 4))
INT4 = {"dynamic": True, "weight_qmin": -8, "weight_qmax": 7}  # PT2E's, with a scale for each row
HALF_UNARY = ["abs", "clamp", "exp", "floor", "hardswish", "sigmoid", "tanh"]
# By name: what makes a program from a function that makes inputs; this function; and, for dynamic sizes, the function
# that makes the inputs of calls.
PROGRAMS = {
    "f32_conv": (lambda i: lower(Image(), i()), IMAGE),
    "f32_linear": (lambda i: lower(linear(), i()), ROWS),
    "f32_add": (lambda i: lower(Sum(), i()), randoms((2, 3), (2, 3))),
    "f32_glue": (lambda i: lower(Glue(), i()), randoms((2, 3, 4))),
    "f16_linear": (lambda i: lower(nn.Sequential(nn.Linear(8, 4)).half(), i()), halves(ROWS)),
    "dynamic_batch": (lambda i: lower(linear(), i(), batch()), ROWS, randoms((11, 8))),
    "static_int8_conv": (lambda i: lower_quantized(Image(), i()), IMAGE),
    "static_int8_linear": (lambda i: lower_quantized(linear(), i(), per_channel=False), ROWS),
    "dynamic_int8_linear": (lambda i: lower_quantized(linear(), i(), dynamic=True), ROWS),
    "8da4w_linear": (four_bits, randoms((2, 64))),
    "int8_weights_only": (weights_only, randoms((2, 32))),
    "f32_unary": (lambda i: lower(Unary(sorted(UNARY)), i()), numbers),
    "f32_binary": (lambda i: lower(Binary(), i()), PAIR),
    "f32_images": (lambda i: lower(Images(), i()), randoms((2, 4, 7, 6))),
    "f32_pools": (lambda i: lower(Pools(), i()), randoms((1, 3, 6, 7))),
    "f32_moves": (lambda i: lower(Moves(), i()), PAIR),
    "f32_products": (lambda i: lower(Products(), i()), randoms((2, 3, 4), (2, 4, 5), (6, 2, 3, 4))),
    "f16_unary": (lambda i: lower(Unary(HALF_UNARY), i()), halves(numbers)),
    "f16_conv": (lambda i: lower(Image().half(), i()), halves(IMAGE)),
    "dynamic_sequence": (sequence, randoms((2, 3, 9)), randoms((2, 3, 5))),
    "dynamic_image": (picture, IMAGE, randoms((1, 2, 11, 5))),
    "static_int8_residual": (lambda i: lower_quantized(Residual(), i()), randoms((1, 3, 8, 8))),
    "static_int8_product": (lambda i: lower_quantized(Product(), i()), randoms((5, 6))),
    "static_int8_clamps": (lambda i: lower_quantized(Clamps(), i()), randoms((1, 3, 9, 9))),
    "static_int8_activations": (lambda i: lower_quantized(Activations(), i()), randoms((16, 6))),
    "static_int8_transposed": (lambda i: lower_quantized(Transposed(), i()), randoms((1, 3, 5, 5))),
    "dynamic_int8_conv": (lambda i: lower_quantized(Image(), i(), dynamic=True), IMAGE),
    "dynamic_int8_pixels": (lambda i: lower_quantized(pixels(), i(), dynamic=True), randoms((2, 6, 4, 5))),
    "dynamic_int4_linear": (lambda i: lower_quantized(nn.Sequential(nn.Linear(12, 8)), i(), **INT4), randoms((3, 12))),
}
# Programs whose results are compared bit for bit: their arithmetic is that of integers with a stated rounding.
EXACT = {"f32_moves"} | {f"static_int8_{n}" for n in ("conv", "residual", "product", "clamps", "transposed")}


def results(program, inputs):
    """The outputs of the official runtime."""
    from executorch.extension.pybindings import portable_lib

    outputs = portable_lib._load_for_executorch_from_buffer(program).forward(inputs)
    return [o.clone() for o in outputs]


def tolerance(name, inputs):
    """Relative and absolute: for half types, and for float32, whose sums have any order and functions a few ulp."""
    if name in EXACT:
        return 0.0, 0.0
    return (4e-3, 4e-3) if any(v.dtype == torch.float16 for v in inputs) else (2e-5, 2e-6)


def files_of(name):
    make, *makers = PROGRAMS[name]
    torch.manual_seed(0)
    program = make(makers[0])
    calls = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        inputs = makers[-1]()
        calls.append((Call("forward", inputs, tolerance(name, inputs)), results(program, inputs)))
    described = Program({}, [c for c, _ in calls], description=f"{name}, with the results of the official runtime.")
    return {PROGRAM: program} | calls_of(described, [], [r for _, r in calls])


def instruction_set():
    """The vector instructions of this machine that XNNPACK chooses between."""
    return sorted(
        {"avx2", "fma", "avx512f", "avx512_vnni", "avx512_fp16"} & set(Path("/proc/cpuinfo").read_text().split())
    )


def record(prog, description, folder, names, files):
    """Writes a folder of `files(name)` for each of the names that the command line selects, and the manifest."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("--out", type=Path, default=folder, help="folder of a folder per program")
    parser.add_argument("--only", nargs="+", choices=names, default=list(names), metavar="NAME")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the exporter's
    for name in options.only:
        (options.out / name).mkdir(parents=True, exist_ok=True)
        for file, data in files(name).items():
            manifest.write_atomically(options.out / name / file, data)
    versions = {p: importlib.metadata.version(p) for p in ("executorch", "torch", "torchao")}
    head = {"versions": versions, "instruction_set": instruction_set()}
    manifest.write_atomically(options.out / manifest.NAME, (json.dumps(head, indent=1) + "\n").encode())


def main():
    record("record delegated", __doc__, GOLDEN, PROGRAMS, files_of)


if __name__ == "__main__":
    sys.exit(main())
