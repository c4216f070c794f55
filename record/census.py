"""Finds the operators that programs need and that have no entry in spec.

Exports one sample of each entry of torch's own databases of operators and modules by the official exporter with its
default checks, and lists the operators that remain. With --unchecked the exporter does not refuse programs with
operators outside of Core ATen. Where torchvision, timm or transformers is installed, the models of models.yaml are
samples, too.

    tools/python record-venv record/requirements.txt record/census.py build/census.jsonl [--only '*pool*'] [--most N]

Each exported sample adds a line to the file. A sample that already has a line is not exported again."""

import argparse
import json
import signal
import sys
from collections import Counter, defaultdict
from fnmatch import fnmatch
from pathlib import Path

import torch
import yaml
from executorch.exir import EdgeCompileConfig, to_edge
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db
from torch.utils import _pytree as pytree

from child import in_child
from models import models

SPEC = Path(__file__).resolve().parents[1] / "spec"
SECONDS = 120  # processor time for one sample
SECONDS_OF_MODEL = 600


class Sample(torch.nn.Module):
    """A call whose tensors are the inputs of the program, and whose other arguments are constants."""

    def __init__(self, function, args, kwargs):
        super().__init__()
        self.function = function
        self.leaves, self.tree = pytree.tree_flatten((args, kwargs))
        self.tensors = tuple(leaf for leaf in self.leaves if isinstance(leaf, torch.Tensor))

    def forward(self, *tensors):
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self.leaves]
        args, kwargs = pytree.tree_unflatten(leaves, self.tree)
        return self.function(*args, **kwargs)


def sample_of_operator(info):
    dtypes = info.supported_dtypes("cpu")
    dtype = torch.float32 if torch.float32 in dtypes else sorted(dtypes, key=str)[0]
    sample = next(iter(info.sample_inputs("cpu", dtype, requires_grad=False)))
    return Sample(info.op, (sample.input, *sample.args), sample.kwargs)


def sample_of_module(info):
    made = info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=False)[0]
    module = info.module_cls(*made.constructor_input.args, **made.constructor_input.kwargs).eval()
    return Sample(module, made.forward_input.args, made.forward_input.kwargs)


def samples():
    """{name: function that makes the module and its inputs}"""
    made = {f"op {i.full_name}": lambda i=i: of(sample_of_operator(i)) for i in op_db}
    return made | {f"module {i.name}": lambda i=i: of(sample_of_module(i)) for i in module_db} | models()


def of(sample):
    return sample, sample.tensors


def emitted(config, module, inputs):
    """The operators of the exported program."""
    program = to_edge(torch.export.export(module, inputs), compile_config=config).to_executorch().executorch_program
    return sorted({f"{op.name}.{op.overload}" if op.overload else op.name for plan in program.execution_plan for op in plan.operators})


def exported(make, config, seconds):
    """The line of one sample: the emitted operators, or the first line of the exporter's error."""
    def work():
        signal.setitimer(signal.ITIMER_PROF, seconds)  # ends the child
        torch.manual_seed(0)
        try:
            yield json.dumps({"emitted": emitted(config, *make())}).encode()
        except Exception as error:
            yield json.dumps({"failed": f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"}).encode()

    lines, death = in_child(work)
    return json.loads(lines[0]) if lines else {"failed": f"the exporter ended with {death}"}


def specified():
    """The operators with an entry, and those on handles."""
    files = [*(SPEC / "operators").glob("*.yaml"), SPEC / "format" / "handles.yaml"]
    return {item["schema"].partition("(")[0] for file in files for item in yaml.safe_load(file.read_text()) if "schema" in item}


def print_summary(lines):
    known, needed = specified(), defaultdict(list)
    for name, line in lines.items():
        for operator in line.get("emitted", []):
            needed[operator].append(name)
    missing = {operator: names for operator, names in needed.items() if operator not in known}
    exported_samples = [line for line in lines.values() if "emitted" in line]
    print(f"{len(lines)} samples, of which {len(exported_samples)} are exported; {len(needed)} operators are emitted, "
          f"{len(missing)} of them without an entry; {sum(set(line['emitted']) <= known for line in exported_samples)} programs need no other")
    for operator, names in sorted(missing.items(), key=lambda row: (-len(row[1]), row[0])):
        print(f"{len(names):4} {operator}  ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})")
    print("not exported:")
    for why, count in Counter(line["failed"][:90] for line in lines.values() if "failed" in line).most_common():
        print(f"{count:4} {why}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="*", help="a pattern of names such as 'op nn.functional.*' or 'module *'")
    parser.add_argument("--most", type=int, default=sys.maxsize, help="how many to export now")
    parser.add_argument("--unchecked", action="store_true", help="export operators outside of Core ATen, too")
    options = parser.parse_args()
    config = EdgeCompileConfig(_check_ir_validity=not options.unchecked)
    lines = {line.pop("sample"): line for line in map(json.loads, options.file.read_text().splitlines())} if options.file.exists() else {}
    wanted = [(name, make) for name, make in samples().items() if fnmatch(name, options.only) and name not in lines]
    with options.file.open("a") as out:
        for name, make in wanted[:options.most]:
            lines[name] = exported(make, config, SECONDS if name.startswith(("op ", "module ")) else SECONDS_OF_MODEL)
            out.write(json.dumps({"sample": name, **lines[name]}) + "\n")
            out.flush()
    print_summary(lines)


if __name__ == "__main__":
    main()
