"""Runs a recorded program in the official runtime: compares its results with eager's."""

import os
import re

import torch
from torch.utils import _pytree as pytree
from child import in_child

from .export import PROGRAM
from .program import tolerance_of


def verdict(made, files, data, results):
    """One line that states whether the runtime agrees. It runs in a child process, so that a crash ends only the
    child."""
    if len(data) > 1:
        return "not run: the Python runtime takes one data file"
    told, status = in_child(lambda: (line.encode() for line in _run(made, files, data, results)))
    if told:
        return told[0].decode()
    return f"crashes: {status}"


def _run(made, files, data, results):
    from executorch.extension.pybindings import portable_lib

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the runtime's log
    try:
        if data:
            loaded = portable_lib._load_for_executorch_from_buffer(files[PROGRAM], files[data[0]])
        else:
            loaded = _Methods(portable_lib._load_program_from_buffer(files[PROGRAM]))
        for index, (call, wanted) in enumerate(zip(made.calls, results)):
            inputs = pytree.tree_leaves(call.inputs, is_leaf=lambda v: v is None)
            tolerance = call.tolerance or tolerance_of(inputs + wanted)
            found = loaded.run_method(call.method, tuple(inputs))
            if difference := first_difference(found, wanted, tolerance):
                yield f"differs: call {index}: {difference}"
                return
    except Exception as error:
        yield f"fails: {_one_line(error)}"
        return
    yield "agrees"


class _Methods:
    """The methods of a program, which share their memory, each loaded once."""

    def __init__(self, loaded):
        self.loaded, self.methods = loaded, {}

    def run_method(self, name, inputs):
        if name not in self.methods:
            self.methods[name] = self.loaded.load_method(name)
        return self.methods[name](inputs)


def first_difference(found, wanted, tolerance):
    """A sentence on the first output that differs from the expected one; None if all agree."""
    if len(found) != len(wanted):
        return f"{len(found)} outputs, not {len(wanted)}"
    for index, (f, w) in enumerate(zip(found, wanted)):
        if difference := _difference(f, w, *tolerance):
            return f"output {index}: {difference}"
    return None


def _difference(found, wanted, relative, absolute):
    if not isinstance(wanted, torch.Tensor):
        return None if found == wanted else f"{found}, not {wanted}"
    if not isinstance(found, torch.Tensor):
        return f"{found}, not a tensor"
    if (found.dtype, found.shape) != (wanted.dtype, wanted.shape):
        return f"{_type(found)}, not {_type(wanted)}"
    if torch.allclose(found.double(), wanted.double(), relative, absolute, equal_nan=True):
        return None
    return f"off by {(found.double() - wanted.double()).abs().max():.3g}"


def _type(tensor):
    return f"{str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)}"


def _one_line(error):
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return re.sub(r"\s+", " ", text)
