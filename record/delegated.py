"""Exports programs whose work is delegated to XNNPACK into golden/delegated/<name>/program.pte.

The programs are small and have no recorded results: they are cases of the tests of payloads. Exports with the same
versions give the same bytes.
"""

import argparse
import importlib.metadata
import json
import sys
import warnings
from pathlib import Path

import manifest
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
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


def lower(module, inputs, dynamic=None):
    exported = export(module.eval(), inputs, dynamic_shapes=dynamic, strict=True)
    return to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch().buffer


def quantized(module, inputs, dynamic=False, per_channel=True):
    """The module as PT2E with the XNNPACK quantizer makes it, calibrated with the inputs."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    config = get_symmetric_quantization_config(is_per_channel=per_channel, is_dynamic=dynamic)
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
    return lower(module, inputs)


def four_bits():
    from torchao.quantization import Int8DynamicActivationIntxWeightConfig
    from torchao.quantization.granularity import PerGroup

    config = Int8DynamicActivationIntxWeightConfig(weight_dtype=torch.int4, weight_granularity=PerGroup(32))
    return weights_quantized(nn.Sequential(nn.Linear(64, 8)), (torch.randn(2, 64),), config)


def weights_only():
    from torchao.quantization import IntxWeightOnlyConfig

    config = IntxWeightOnlyConfig(weight_dtype=torch.int8)
    return weights_quantized(nn.Sequential(nn.Linear(32, 16)), (torch.randn(2, 32),), config)


def linear():
    return nn.Sequential(nn.Linear(8, 4), nn.GELU())


def batch():
    return ({0: Dim("batch", min=1, max=16)},)


PROGRAMS = {
    "f32_conv": lambda: lower(Image(), (torch.randn(1, 2, 6, 6),)),
    "f32_linear": lambda: lower(linear(), (torch.randn(3, 8),)),
    "f32_add": lambda: lower(Sum(), (torch.randn(2, 3), torch.randn(2, 3))),
    "f32_glue": lambda: lower(Glue(), (torch.randn(2, 3, 4),)),
    "f16_linear": lambda: lower(nn.Sequential(nn.Linear(8, 4)).half(), (torch.randn(3, 8).half(),)),
    "dynamic_batch": lambda: lower(linear(), (torch.randn(3, 8),), batch()),
    "static_int8_conv": lambda: lower_quantized(Image(), (torch.randn(1, 2, 6, 6),)),
    "static_int8_linear": lambda: lower_quantized(linear(), (torch.randn(3, 8),), per_channel=False),
    "dynamic_int8_linear": lambda: lower_quantized(linear(), (torch.randn(3, 8),), dynamic=True),
    "8da4w_linear": four_bits,
    "int8_weights_only": weights_only,
}


def main():
    parser = argparse.ArgumentParser(prog="record delegated", description=__doc__)
    parser.add_argument("--out", type=Path, default=GOLDEN, help="folder of a folder per program")
    out = parser.parse_args().out
    warnings.simplefilter("ignore")  # the exporter's
    for name, make in PROGRAMS.items():
        torch.manual_seed(0)
        (out / name).mkdir(parents=True, exist_ok=True)
        manifest.write_atomically(out / name / PROGRAM, make())
    versions = {p: importlib.metadata.version(p) for p in ("executorch", "torch", "torchao")}
    manifest.write_atomically(out / manifest.NAME, (json.dumps({"versions": versions}, indent=1) + "\n").encode())


if __name__ == "__main__":
    sys.exit(main())
