"""Calls PyTorch's on-device operators by the reference, and judges kernels and runtimes by it.

A program is bytes, a path, or an object that torch's exporter made. A tensor is a numpy array, or any object with __array__
or __dlpack__. A refusal raises Fault.
"""
import contextlib
import json
import pathlib
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from assay import _command, _reference
from assay._conforms import Conformance, conforms
from assay._fault import Fault, answer
from assay._judge import case, kernels, runtime
from assay._report import Report
from assay._values import array_of, is_tensor, json_of, program_bytes, value_of

__all__ = ["Conformance", "Fault", "Report", "call", "case", "check", "conforms", "get_include", "inspect", "kernels", "run", "runtime"]


def call(operator: str, *arguments: Any, out: Sequence[str | None] | None = None) -> Any:
    """Returns the result of an operator, such as "aten::add.out", by the reference in this process.

    Arguments are those of the schema without its out arguments; trailing arguments with a default may be left out. `out` names
    the dtype of each out argument. The result is an array, or a tuple of several arrays.
    """
    request: dict = {"operator": operator, "args": [json_of(a) for a in arguments]}
    if out is not None:
        request["out"] = [{"dtype": dtype} if dtype else None for dtype in out]
    outputs = [value_of(v) for v in answer(json.loads(_reference.call(json.dumps(request))))["outputs"]]
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def run(program: Any, *inputs: Any, method: str | None = None, data: Sequence[Any] = (), runner: str | Sequence[str] = "reference") -> list:
    """Returns the outputs of a method of a program: by default `forward`, or the only method.

    The reference runs the program in this process. `runner` is another testee of `assay run --with`, or a list of the words of a
    command.
    `data` are data files (.ptd) that the program is loaded with.
    """
    if runner != "reference":
        return _run_elsewhere(program, inputs, method, data, runner)
    files = [program_bytes(d) for d in data]
    done = _reference.run(program_bytes(program), files, method, json.dumps([json_of(i) for i in inputs]))
    return [value_of(v) for v in answer(json.loads(done))["outputs"]]


def _run_elsewhere(program: Any, inputs: Sequence[Any], method: str | None, data: Sequence[Any], runner: str | Sequence[str]) -> list:
    with tempfile.TemporaryDirectory() as folder, _files(program, data) as words:
        for i, value in enumerate(inputs):
            file = pathlib.Path(folder) / f"input{i}.npy"
            if is_tensor(value):
                numpy.save(file, array_of(value))
            words += ["--input", file if is_tensor(value) else f'"{value}"' if isinstance(value, str) else str(value).lower()]
        words += ["--method", method] if method else []
        with_ = ["--with", runner] if isinstance(runner, str) else ["--with", "--", *runner]
        said = json.loads(_command.run("run", *words, "--json", "--output-dir", folder, *with_))
        return [numpy.load(v["file"]) if isinstance(v, dict) and "file" in v else value_of(v) for v in said["outputs"]]


@contextlib.contextmanager
def _files(program: Any, data: Sequence[Any]) -> Iterator[list]:
    """Writes a program and its data files, and returns the words of a command line that name them."""
    with tempfile.TemporaryDirectory() as folder:
        words: list = []
        for i, content in enumerate([program, *data]):
            file = pathlib.Path(folder) / (f"data{i}.ptd" if i else "program.pte")
            file.write_bytes(program_bytes(content))
            words += ["--data", file] if i else [file]
        yield words


def get_include() -> str:
    """Returns the folder of the header kernel_library.h, with which kernel libraries are compiled."""
    return str(pathlib.Path(__file__).resolve().parent / "include" / "assay")


def check(program: Any, data: Sequence[Any] = ()) -> dict:
    """Returns what `assay check --json` prints: whether a program keeps the rules of its format, and `faults` if it does not."""
    with _files(program, data) as words:
        return _said("check", *words)


def inspect(program: Any, data: Sequence[Any] = ()) -> dict:
    """Returns what `assay inspect --json` prints: the methods of a program with their values, memory and instructions."""
    with _files(program, data) as words:
        return _said("inspect", *words)


def _said(*words: Any) -> dict:
    process = _command.start(*words, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate()
    if not out:
        _command.refuse(process.returncode, err)
    said = json.loads(out)
    return answer(said) if "rule" in said else said
