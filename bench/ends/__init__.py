"""Peers of the optimized runtime as programs in Python: `assay bench PROGRAM --against python:ends.eager=FILE`, where
PYTHONPATH has the folder bench/. assay's end.py serves them, and gives an end the bytes of FILE.

`assay bench` lets an engine run on as many processors as it gives it threads. A server that it starts, and therefore an
end, inherits these processors."""

import os

THREADS = len(os.sched_getaffinity(0))


def expect_forward(method):
    if method != "forward":
        raise ValueError(f"the file has the method forward, not {method}")
