"""executorch.runtime, which does what FAULT names wrong with one program, that of the file PROGRAM: for executorch_python.py."""
import os
import pathlib
import time

from executorch_runtime import Loaded, name

FAULT, PROGRAM = os.environ["FAULT"], pathlib.Path(os.environ["PROGRAM"]).read_bytes()


def second(outputs, runs):
    """Its second execution gives another output."""
    return [outputs[0] + 1, *outputs[1:]] if runs == 2 else outputs


def ends(outputs, runs):
    os._exit(3)


def hang(outputs, runs):
    time.sleep(1000)


class Faulty(Loaded):
    def __init__(self, program, data):
        super().__init__(program, data)
        self.is_faulty, self.runs = program == PROGRAM, 0

    def __call__(self, name, inputs):
        outputs = super().__call__(name, inputs)
        self.runs += 1
        return globals()[FAULT](outputs, self.runs) if self.is_faulty else outputs


load = Faulty
