"""Makes the programs of the operator sweep: a program for each call of calls.yaml.

    <out>/<number>_<operator>/program.pte   the call; the constants of the call are constants of the program
    <out>/<number>_<operator>/model.pt2     the same, as torch.export.save writes it, for the end of eager PyTorch
    <out>/<number>_<operator>/calls.json    random inputs with the outputs of eager PyTorch in double precision
    <out>/refused.json                      the calls of which the exporter made no program of one call: {folder: reason}

The number is the place of the call in the list; 000 is the empty call."""

import argparse
import copy
import io
import json
import sys
import warnings
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCH), str(BENCH.parent / "record")]

import manifest
import torch
from executorch.exir import to_edge
from executorch.exir.schema import ScalarType
from executorch.exir.tensor import get_scalar_type
from ends.overloads import functional_overload
from programs import folder
from programs.program import SEED, UNCHECKED, forward
from torch.utils import _pytree as pytree

import calls
from calls import Tensor

POSITIVE = {"_native_batch_norm_legit_no_training", "log", "log1p", "pow", "rsqrt", "sqrt"}  # of other numbers they are NaN


def elements(t, positive):
    """Random elements: normally distributed floats, indices below their limit, otherwise integers from 1 to 9."""
    dtype = getattr(torch, t.dtype)
    if dtype.is_floating_point or dtype.is_complex:
        values = torch.randn(t.sizes, dtype=dtype)
        values = values.abs() + 0.1 if positive else values
    else:
        values = torch.randint(0, t.below, t.sizes) if t.below else torch.randint(1, 10, t.sizes)
        values = (values > 5 if dtype == torch.bool else values).to(dtype)
    order = list(t.order)
    return values.permute(order).contiguous().permute([order.index(d) for d in range(len(order))])


def converted(value, type):
    """The number of a dtype, as programs have it, as a dtype of torch."""
    return get_scalar_type(ScalarType(value)) if "ScalarType" in type and value is not None else value


class OneCall(torch.nn.Module):
    """A call whose constants are buffers and whose other tensors are inputs."""

    def __init__(self, call):
        super().__init__()
        namespace, _, rest = call.operator.partition("::")
        name, _, overload = rest.partition(".")
        self.function = functional_overload(getattr(getattr(getattr(torch.ops, namespace), name), overload))
        self.arguments, self.inputs = call.arguments, []
        for i, t in enumerate(call.tensors()):
            values = elements(t, name in POSITIVE)
            self.register_buffer(f"constant{i}", values) if t.constant else self.inputs.append(values)

    def forward(self, *inputs):
        given, constants = iter(inputs), iter(self.buffers())

        def value(v):
            if isinstance(v, tuple):
                return [value(item) for item in v]
            return next(constants if v.constant else given) if isinstance(v, Tensor) else v

        values = {a: converted(value(v), str(a.real_type)) for a, v in zip(self.function._schema.arguments, self.arguments, strict=True)}
        args = [v for a, v in values.items() if not a.kwarg_only]
        return self.function(*args, **{a.name: v for a, v in values.items() if a.kwarg_only})


WIDER = {torch.float32: torch.float64, torch.complex64: torch.complex128}


def wider(v):
    return v.to(WIDER.get(v.dtype, v.dtype))


def exact(module, inputs):
    """Eager's results in double precision, rounded, and how far its results are from them. A tolerance is four times as
    much, because other orders of summation are as right as that of eager."""
    results = pytree.tree_leaves(module(*inputs))
    wide = copy.deepcopy(module)
    for name, buffer in wide.named_buffers():
        setattr(wide, name, wider(buffer))
    wanted = [w.to(r.dtype) for w, r in zip(pytree.tree_leaves(wide(*map(wider, inputs))), results)]
    off = [(r - w).abs() for w, r in zip(wanted, results) if r.dtype in WIDER]
    return wanted, max((d[d.isfinite()].max().item() for d in off if d.isfinite().any()), default=0.0)


CLONE = "dim_order_ops::_clone_dim_order.out"  # the exporter copies results that are a list


def expect_one(operator, plan):
    called = [plan.operators[i.instr_args.op_index] for chain in plan.chains for i in chain.instructions]
    called = [f"{o.name}.{o.overload}" for o in called]
    if [name for name in called if name != CLONE] != [operator]:
        raise NotImplementedError(f"the exporter makes other calls of it: {', '.join(called)}")


def make(call, target):
    torch.manual_seed(SEED)
    module = OneCall(call)
    inputs = tuple(module.inputs)
    wanted, distance = exact(module, inputs)
    made = forward(module, inputs, tolerance=(1e-4, max(1e-5, 4 * distance)))
    exported = made.methods["forward"].exported()
    program = to_edge(exported, compile_config=UNCHECKED).to_executorch()
    expect_one(call.operator, program.executorch_program.execution_plan[0])
    saved = io.BytesIO()
    torch.export.save(exported, saved)
    files = folder.write(made, [], [wanted]) | {"model.pt2": saved.getvalue(), "program.pte": program.buffer}
    target.mkdir(parents=True, exist_ok=True)
    for file, data in files.items():
        manifest.write_atomically(target / file, data)


def name_of(number, call):
    return f"{number:03}_{call.operator.partition('::')[2].replace('.', '_')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, default=BENCH / "sweep" / "calls.yaml")
    parser.add_argument("--out", type=Path, default=BENCH.parent / "build/bench/sweep")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # the exporter's
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    empty, others = calls.read(options.list)
    refused = {}
    for number, call in enumerate([empty, *others]):
        target = options.out / name_of(number, call)
        try:
            make(call, target)
        except Exception as error:  # of the exporter: the table shows it
            refused[target.name] = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"
    manifest.write_atomically(options.out / "refused.json", json.dumps(refused, indent=1).encode())
    print(f"{len(others) + 1 - len(refused)} programs in {options.out}; {len(refused)} refused")


if __name__ == "__main__":
    main()
