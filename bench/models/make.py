"""Makes the programs that are timed: official exporters, random weights, a call with its answer for each.

    <out>/<model>/program.pte   undelegated, with the exporter's defaults
    <out>/<model>/xnnpack.pte   lowered to XNNPACK
    <out>/<model>/model.onnx    what the program keeps in buffers is further inputs and outputs
    <out>/<model>/calls.json    as `assay run --calls` reads it, and the tensors of the call
"""

import argparse
import copy
import functools
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "record"))

import environment

environment.enforce()

import manifest
import torch
from decoder import LONGEST, VOCABULARY, Decoder, stateless
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from programs import folder
from programs.program import SEED, forward
from vision import IMAGE, vision

LAST = "model.onnx"  # to be written: all is there where it is

# Caches begin as zeros, instead of as what the memory holds.
BACKEND = ExecutorchBackendConfig(passes=[InitializedMutableBufferPass(["cached"])])


def picture(name):
    return vision(name), (torch.randn(1, *IMAGE),)


def decoder(tokens, start):
    return Decoder(), (torch.randint(VOCABULARY, (1, tokens)), torch.tensor([start]))


MODELS = {
    name: functools.partial(picture, name)
    for name in ("mobilenet_v3_small", "mobilenet_v2", "resnet18", "resnet50", "vit_b_16")
} | {
    "decoder_prefill_8": functools.partial(decoder, 8, 0),
    "decoder_prefill_128": functools.partial(decoder, 128, 0),
    "decoder_token": functools.partial(decoder, 1, LONGEST // 2),
}


def make(name, target):
    torch.manual_seed(SEED)
    module, inputs = MODELS[name]()
    module.requires_grad_(False)
    wanted = exact(module, inputs)
    made = forward(module, inputs, tolerance=tolerance(module, inputs, wanted))
    made.description = f"{name} with random weights"
    exported = made.methods["forward"].exported()
    programs = {
        "program.pte": to_edge(exported),
        "xnnpack.pte": to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]),
    }
    files = {file: edge.to_executorch(BACKEND).buffer for file, edge in programs.items()}
    files |= folder.write(made, [], [[wanted]])
    files[LAST] = onnx(module, inputs)
    target.mkdir(parents=True, exist_ok=True)
    for file, data in files.items():
        manifest.write_atomically(target / file, data)


def tolerance(module, inputs, wanted):
    """How far rounding takes an answer depends on the weights: an engine may be four times as far off as eager is."""
    distance = (copy.deepcopy(module)(*inputs) - wanted).abs().max().item()
    return 1e-4, max(1e-5, 4 * distance)


def exact(module, inputs):
    """Eager's answer in double precision, rounded."""
    doubles = (x.double() if x.is_floating_point() else x for x in inputs)
    return copy.deepcopy(module).double()(*doubles).float()


def onnx(module, inputs):
    if isinstance(module, Decoder):
        module, state = stateless(module)
        inputs = inputs, state
    return torch.onnx.export(module, inputs, dynamo=True, optimize=True, verbose=False).model_proto.SerializeToString()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=MODELS, default=MODELS, metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench/models")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the exporters'
    for name in options.only:
        if not (options.out / name / LAST).exists():
            make(name, options.out / name)
            print(options.out / name, flush=True)


if __name__ == "__main__":
    main()
