"""Eager PyTorch. The file is a program that torch.export.save wrote (.pt2).

A program of a single call becomes the out overload of its operator, such as torch.ops.aten.add.out. Each run calls it
directly, with outs that are made once. Of any other program, each run calls the module of the exported program."""

import functools
import importlib
import io

import torch
from torch.utils import _pytree as pytree
from torch_kernels import given, taken

from ends import THREADS, expect_forward
from ends.overloads import out_overload

name = "eager PyTorch"
facts = {"torch": torch.__version__, "threads": str(THREADS), "instruction set": torch.backends.cpu.get_cpu_capability()}

torch.set_num_threads(THREADS)
torch.set_grad_enabled(False)
importlib.import_module("torch.ao.quantization.fx._decomposed")  # registers operators that quantized programs call
importlib.import_module("torch.export.pt2_archive._package")  # else the first program that is loaded waits for it


class Runs:
    def __init__(self, function):
        self.function = function

    def run(self):
        self.results = self.function()

    def outputs(self):
        return [given(leaf) for leaf in pytree.tree_leaves(self.results)]


class Loaded:
    def __init__(self, program, data):
        self.exported = torch.export.load(io.BytesIO(program))

    def prepared(self, method, inputs):
        expect_forward(method)
        tensors = [v.clone() if isinstance(v, torch.Tensor) else v for v in map(taken, inputs)]  # in memory of torch, which is aligned
        calls = [node for node in self.exported.graph.nodes if node.op == "call_function"]
        if len(calls) == 1:
            return Runs(directly(self.exported, calls[0], tensors))
        args, kwargs = pytree.tree_unflatten(tensors, self.exported.call_spec.in_spec)
        return Runs(functools.partial(self.exported.module(), *args, **kwargs))


def directly(exported, node, tensors):
    """The function that makes the call `node` with outs."""
    given_inputs = iter(tensors)
    constants = exported.graph_signature.inputs_to_buffers | exported.graph_signature.inputs_to_parameters
    known = {n: exported.state_dict[constants[n.name]] if n.name in constants else next(given_inputs)
             for n in exported.graph.nodes if n.op == "placeholder"}
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), known.get)
    operator = out_overload(node.target)
    names = [a.name for a in operator._schema.arguments if a.is_out]
    made = pytree.tree_map(torch.empty_like, node.target(*args, **kwargs))
    outs = dict(zip(names, made if len(names) > 1 else [made], strict=True))
    return functools.partial(operator, *args, **kwargs, **outs)


load = Loaded
