"""Makes the programs that are timed: official exporters, random weights, a call with its answer for each.

    <out>/<model>_<format>/program.pte   undelegated, with the exporter's defaults
    <out>/<model>_<format>/xnnpack.pte   lowered to XNNPACK
    <out>/<model>_<format>/model.pt2     the exported program, for eager PyTorch
    <out>/<model>_<format>/model.onnx    what the program keeps in buffers is further inputs and outputs
    <out>/<model>_<format>/calls.json    as `assay run --calls` reads it, and the tensors of the call
    <out>/<model>_<format>/missing.json  {file: why an exporter did not make it}

formats.py has the formats."""

import argparse
import copy
import functools
import io
import json
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
from formats import FORMATS
from programs.program import SEED, UNCHECKED, forward
from vision import IMAGE, vision

LAST = "missing.json"  # to be written: all is there where it is

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


def make(name, format, target):
    torch.manual_seed(SEED)
    module, inputs = MODELS[name]()
    module.requires_grad_(False)
    changed, given, precise = format.change(module, inputs)
    results = copy.deepcopy(changed)(*given)
    wanted = exact(precise, given).to(results.dtype)
    made = forward(changed, given, tolerance=tolerance(results, wanted))
    made.description = f"{target.name} with random weights"
    exported = made.methods["forward"].exported()
    makers = {
        "model.pt2": lambda: saved(exported),
        "program.pte": lambda: to_edge(copy.deepcopy(exported), compile_config=UNCHECKED).to_executorch(BACKEND).buffer,
        "xnnpack.pte": lambda: to_edge_transform_and_lower(copy.deepcopy(exported), partitioner=format.partitioners()).to_executorch(BACKEND).buffer,
        "model.onnx": lambda: format.onnx(onnx, module, inputs),
    }
    files, missing = folder.write(made, [], [[wanted]]), {}
    for file, maker in makers.items():
        try:
            files[file] = maker()
        except Exception as error:  # of an exporter: the table shows it
            missing[file] = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:300]}"
    files[LAST] = json.dumps(missing, indent=1).encode()
    target.mkdir(parents=True, exist_ok=True)
    for file, data in files.items():
        manifest.write_atomically(target / file, data)


def tolerance(results, wanted):
    """How far rounding takes an answer depends on the weights: an engine may be four times as far off as eager is."""
    return 1e-4, max(1e-5, 4 * (results.float() - wanted.float()).abs().max().item())


def exact(module, inputs):
    """Eager's answer in double precision."""
    doubles = (x.double() if x.is_floating_point() else x for x in inputs)
    return copy.deepcopy(module).double()(*doubles)


def saved(exported):
    stream = io.BytesIO()
    torch.export.save(exported, stream)
    return stream.getvalue()


def onnx(module, inputs):
    """The model of ONNX."""
    if isinstance(module, Decoder):
        module, state = stateless(module)
        inputs = inputs, state
    return torch.onnx.export(module, inputs, dynamo=True, optimize=True, verbose=False).model_proto


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS, metavar="MODEL", help=", ".join(MODELS))
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    parser.add_argument("--out", type=Path, default=ROOT / "build/bench/models")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the exporters'
    for name in options.models:
        for format in options.formats:
            target = options.out / f"{name}_{format}"
            if FORMATS[format].suits(name) and not (target / LAST).exists():
                make(name, FORMATS[format], target)
                print(target, flush=True)


if __name__ == "__main__":
    main()
