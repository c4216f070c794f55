"""Runs of the command that judge a testee."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from assay import _command
from assay._fault import Fault
from assay._report import Report
from assay._served import served

Testee = str | os.PathLike | Sequence[str] | Mapping[str, Callable] | Callable


def _options(given: dict[str, Any]) -> list[str]:
    """Returns options as words. The command decides about those that are None."""
    return [word for name, value in given.items() if value is not None for word in ("--" + name, str(value))]


@contextlib.contextmanager
def _addressed(testee: Testee, operators: str | None) -> Iterator[tuple[list[str], list[str]]]:
    """Returns the words for a testee: those before the options, and those behind them."""
    if callable(testee):
        if operators is None:
            raise Fault("usage", "testee", "", "name the operator that the function computes, such as aten::relu.out")
        testee = {name: testee for name in operators.split(",")}
    if isinstance(testee, Mapping):
        with served(testee) as address:
            yield [address], []
    elif isinstance(testee, (str, os.PathLike)):
        path = os.fspath(testee)
        yield [f"./{path}" if os.path.exists(path) and "/" not in path else path], []
    else:
        yield [], ["--", *testee]


def _judged(command: str, testee: Testee, operators: str | None, options: list[str], progress: bool | None) -> Report:
    with tempfile.TemporaryDirectory() as folder, _addressed(testee, operators) as (front, behind):
        lines, said, table = (pathlib.Path(folder) / name for name in ("run.jsonl", "said", "table"))
        with said.open("w") as errors, table.open("w") as out:
            words = [command, *front, *options, "-o", str(lines), *behind]
            process = _command.start(*words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
            try:
                _follow(process, lines.with_name("run.jsonl.part"), progress)
            except BaseException:
                process.terminate()
                process.wait()
                raise
        _command.refuse(process.returncode, said.read_text())
        return Report(lines.read_text(), table.read_text(), process.returncode == 0)


def _follow(process, part: pathlib.Path, progress: bool | None) -> None:
    """Waits for a run, and shows the number of judged cases."""
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    judged = 0
    while process.poll() is None:
        time.sleep(0.05)
        if progress and part.exists():
            before, judged = judged, part.read_bytes().count(b"\n")
            if judged != before:
                print(f"\r{judged} cases and defects", end="", file=sys.stderr, flush=True)
    if progress and judged:
        print("\r" + " " * 50 + "\r", end="", file=sys.stderr, flush=True)


def kernels(testee: Testee, operators: str | None = None, *, contract: str | None = None, seed: int | None = None, mutations: int | None = None,
            timeout: int | None = None, workers: int | None = None, golden: str | None = None, progress: bool | None = None) -> Report:
    """Judges kernels by the reference.

    `testee` is a function over numpy arrays, whose operator `operators` names; a dict of such functions by operator; the path of a
    library; a list of the words of a command that is a server of the protocol; or any other testee of `assay kernels`. A function
    takes the arguments of the schema except the out arguments, and returns an array, a number or a tuple of them. It raises
    NotImplementedError for an unsupported call, and another exception for a call that it refuses. It is called in copies of this
    process. Raises Fault if nothing was judged.
    """
    if isinstance(testee, Mapping) and operators is None:
        operators = ",".join(testee)
    options = _options({"operators": operators, "contract": contract, "seed": seed, "mutations": mutations, "timeout": timeout, "workers": workers, "golden": golden})
    report = _judged("kernels", testee, operators, options, progress)
    if callable(testee) or isinstance(testee, Mapping):
        for defect in report.defects:
            defect["command"] = f"assay.case({defect['smallest']['case']!r}, kernel)"
    return report


def runtime(testee: str | os.PathLike | Sequence[str], programs: str | None = None, *, timeout: int | None = None, workers: int | None = None, progress: bool | None = None) -> Report:
    """Judges a runtime by programs and what is done with them.

    `testee` is a testee of `assay runtime`, or a list of the words of a command that is a server of the protocol. Raises Fault if
    nothing was judged.
    """
    return _judged("runtime", testee, None, _options({"programs": programs, "timeout": timeout, "workers": workers}), progress)


def case(case_id: str, testee: Testee = "reference") -> str:
    """Runs one case again and returns it in full words. A function is a kernel of the case's operator."""
    with _addressed(testee, case_id.partition("#")[0]) as (front, behind):
        return _command.run("case", case_id, "--testee", *front, *behind, differ=True)
