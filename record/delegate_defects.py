"""Exports programs that the official tools delegate to XNNPACK wrongly, into golden/delegate_defects/<name>.

The results are those of eager PyTorch. Beside program.pte is plain.pte, the same program without a delegate, if the
official tools can write it.
"""

import sys

import delegated
import executorch.kernels.quantized  # noqa: F401, the out variants of quantized_decomposed
import torch
import torch.nn.functional as F
from delegated import PROGRAM, ROOT, lower, lower_quantized, quantized
from executorch.exir import to_edge_transform_and_lower
from programs.folder import write as calls_of
from programs.program import Call, Program
from torch import nn
from torch.export import export


class Rescaled(nn.Module):
    """A node between 8-bit values of different scales."""

    def __init__(self, node):
        super().__init__()
        self.node = node

    def forward(self, x):
        return in_steps(self.node(in_steps(x, 0.05)), 0.03)


def in_steps(x, scale):
    codes = torch.ops.quantized_decomposed
    step = (scale, 0, -128, 127, torch.int8)
    return codes.dequantize_per_tensor(codes.quantize_per_tensor(x, *step), *step)


class Gelu(nn.Module):
    def forward(self, x):
        return F.gelu(x, approximate="tanh")


def plain(module, inputs):
    return to_edge_transform_and_lower(export(module.eval(), inputs, strict=True)).to_executorch().buffer


def delegated_and_plain(module, inputs):
    return lower(module, inputs), plain(module, inputs), module, inputs


def rescaled(node):
    return delegated_and_plain(Rescaled(node), (torch.randn(1, 4, 6, 6),))


def one_channel():
    conv = nn.Conv2d(1, 3, 3).to(memory_format=torch.channels_last)
    return delegated_and_plain(conv, (torch.randn(1, 1, 6, 6).to(memory_format=torch.channels_last),))


def weights_only(dtype, **config):
    """The plain program has the weights that torchao dequantizes: its operator has no out variant."""
    from torchao.quantization import IntxWeightOnlyConfig, quantize_

    module, same, inputs = nn.Linear(64, 8), nn.Linear(64, 8), (torch.randn(2, 64),)
    quantize_(module, IntxWeightOnlyConfig(weight_dtype=dtype, **config))
    same.weight, same.bias = nn.Parameter(module.weight.dequantize()), module.bias
    return lower(module, inputs), plain(same, inputs), module, inputs


def groups():
    from torchao.quantization.granularity import PerGroup

    return weights_only(torch.int4, granularity=PerGroup(32))


def odd():
    """Without a plain program: its operators have no out variants."""
    module, inputs = nn.Sequential(nn.Linear(11, 8)), (torch.randn(3, 11),)
    options = delegated.INT4
    return lower_quantized(module, inputs, **options), None, quantized(module, inputs, **options), inputs


class SharedImages(nn.Module):
    """Two convolutions that read the same images, which are quantized when they run. One pixel is large."""

    def __init__(self):
        super().__init__()
        self.pixels, self.windows = nn.Conv2d(4, 6, 1), nn.Conv2d(4, 6, 3, padding=1)

    def forward(self, x):
        return self.pixels(x), self.windows(x)


def shared_images():
    """Without a plain program: what the payload states differs from eager PyTorch by more than the results' bounds."""
    module, inputs = SharedImages(), (torch.randn(1, 4, 5, 6),)
    inputs[0][0, :, 2, 3] *= 20
    return lower_quantized(module, inputs, dynamic=True), None, quantized(module, inputs, dynamic=True), inputs


def sigmoid():
    """Without a plain program: the payload states the sigmoid."""
    module, inputs = nn.Sigmoid(), (torch.tensor([-2.7352991104125977]),)
    return lower(module, inputs), None, module, inputs


# By name: what is wrong, and a function that makes the delegated program, the plain program, the module and its inputs.
DEFECTS = {
    "int4_weights_only": ("The scales of the 4-bit weights of torchao's IntxWeightOnlyConfig are dropped.", groups),
    "int8_weights_only": (
        "The scales of the 8-bit weights of torchao's IntxWeightOnlyConfig are dropped.",
        lambda: weights_only(torch.int8),
    ),
    "odd_int4_linear": ("A linear with 4-bit weights and an odd number of input features reads wrong weights.", odd),
    "one_channel": ("A convolution of one input channel in the channels-last layout fails.", one_channel),
    "rescaled_max_pool": (
        "A max pool from 8-bit values to 8-bit values of another scale stops the whole method.",
        lambda: rescaled(lambda v: F.max_pool2d(v, 2)),
    ),
    "rescaled_permute": (
        "A permutation from 8-bit values to 8-bit values of another scale stops the whole method.",
        lambda: rescaled(lambda v: v.permute(0, 2, 3, 1)),
    ),
    "rescaled_view": (
        "A view from 8-bit values to 8-bit values of another scale stops the whole method.",
        lambda: rescaled(lambda v: v.reshape(4, 36)),
    ),
    "shared_images": (
        "A convolution that shares its quantized images with a convolution of single pixels takes the scale of the"
        " first pixel for all.",
        shared_images,
    ),
    "sigmoid": ("The sigmoid of -2.7353 has an error of 3.8 units in the last place.", sigmoid),
    "tanh_gelu": (
        "GELU with approximate='tanh' runs as GELU without an approximation.",
        lambda: delegated_and_plain(Gelu(), (torch.linspace(-4, 4, 64).reshape(4, 16),)),
    ),
}


def files_of(name):
    description, make = DEFECTS[name]
    torch.manual_seed(0)
    program, undelegated, module, inputs = make()
    call = Call("forward", inputs, (2e-5, 2e-6))
    results = module(*inputs)
    outputs = [r.detach() for r in (results if isinstance(results, tuple) else [results])]
    files = calls_of(Program({}, [call], description=description), [], [outputs])
    return {PROGRAM: program} | files | ({"plain.pte": undelegated} if undelegated else {})


def main():
    delegated.record("record delegate_defects", __doc__, ROOT / "golden" / "delegate_defects", DEFECTS, files_of)


if __name__ == "__main__":
    sys.exit(main())
