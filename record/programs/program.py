"""The programs to record, and the table of all of them."""

import copy
import hashlib
import inspect
from dataclasses import dataclass, field
from typing import Any, Callable

import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig
from torch.utils import _pytree as pytree

# The distance that a runtime may have from eager, by other orders of summation and rounding of intermediate results.
TOLERANCES = {
    torch.float64: (1e-10, 1e-10),
    torch.float32: (1e-4, 1e-5),
    torch.float16: (2e-3, 2e-3),
    torch.bfloat16: (1.6e-2, 1.6e-2),
}
SEED = 20260101
# For operators that runtimes have and the core set does not.
UNCHECKED = EdgeCompileConfig(_check_ir_validity=False)


@dataclass
class Method:
    """A module to export with example arguments.

    `export` replaces torch.export.export; `eager(module, *inputs)` returns the outputs of the method if the
    module does not return all of them.
    """

    module: torch.nn.Module
    example: tuple
    dynamic: Any = None
    export: Callable | None = None
    eager: Callable | None = None

    def exported(self):
        module, example = copy.deepcopy((self.module, tuple(self.example)))
        if self.export:
            return self.export(module, example)
        return torch.export.export(module.requires_grad_(False), example, dynamic_shapes=self.dynamic, strict=False)


@dataclass
class Call:
    """A call of a method; `tolerance` (relative, absolute) replaces the tolerance of the dtypes."""

    method: str
    inputs: tuple
    tolerance: tuple | None = None


@dataclass
class Program:
    """Methods, settings of the exporter, and calls in order on one loaded program.

    `passes` are run on the edge program; `constants` become methods without inputs; `added` are the answers of methods
    that the exporter adds by itself; a `bundled` program is also written as a .bpte file with its calls.
    """

    methods: dict
    calls: list
    passes: list = field(default_factory=list)
    partitioner: Any = None
    constants: dict = field(default_factory=dict)
    added: dict = field(default_factory=dict)
    edge: EdgeCompileConfig = field(default_factory=EdgeCompileConfig)
    backend: ExecutorchBackendConfig = field(default_factory=ExecutorchBackendConfig)
    bundled: bool = False
    name: str = ""
    description: str = ""


def forward(module, *inputs, dynamic=None, tolerance=None, export=None, eager=None, **settings):
    """A program of one method `forward`, exported with the first of `inputs` and called with each."""
    method = Method(module, tuple(inputs[0]), dynamic, export, eager)
    calls = [Call("forward", tuple(i), tolerance) for i in inputs]
    return Program({"forward": method}, calls, **settings)


class Function(torch.nn.Module):
    """A module without parameters that computes a function."""

    def __init__(self, function):
        super().__init__()
        self.forward = function


PROGRAMS = {}


@dataclass(frozen=True)
class Entry:
    """A line of the table; a program `on_demand` is recorded only if its name is given."""

    build: Callable
    on_demand: bool


def program(build=None, *, on_demand=False):
    """Puts a function that returns a Program into the table; each program is built from a seed of its own."""
    if build is None:
        return lambda function: program(function, on_demand=on_demand)
    name = build.__name__
    if name in PROGRAMS:
        raise ValueError(f"wanted one program of each name, found two named {name}")

    def named():
        digest = hashlib.sha256(f"{SEED} {name}".encode()).digest()
        torch.manual_seed(int.from_bytes(digest[:7], "little"))
        made = build()
        made.name, made.description = name, " ".join(inspect.getdoc(build).split())
        return made

    PROGRAMS[name] = Entry(named, on_demand)
    return build


def tolerance_of(leaves):
    """Relative and absolute tolerance of a call with these values: those of the coarsest dtype."""
    dtypes = {v.dtype for v in leaves if isinstance(v, torch.Tensor)}
    dtypes |= {torch.float64 for v in leaves if isinstance(v, float)}
    return max((TOLERANCES[d] for d in dtypes if d in TOLERANCES), default=(0.0, 0.0))


def answers(made, mutated):
    """Eager's outputs of every call, in the order of the outputs of the method.

    mutated: for each method the positions of the flat inputs that it changes; they are its first outputs.
    """
    modules = copy.deepcopy({name: method.module for name, method in made.methods.items()})
    known = made.constants | made.added
    results = []
    for call in made.calls:
        if call.method in known:
            results.append(pytree.tree_leaves(known[call.method]))
            continue
        inputs = copy.deepcopy(call.inputs)
        eager = made.methods[call.method].eager or torch.nn.Module.__call__
        outputs = eager(modules[call.method], *inputs)
        changed = [pytree.tree_leaves(inputs)[i] for i in mutated[call.method]]
        results.append([copy.deepcopy(_detached(v)) for v in changed + pytree.tree_leaves(outputs)])
    return results


def _detached(value):
    return value.detach() if isinstance(value, torch.Tensor) else value
