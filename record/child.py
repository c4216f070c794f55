"""Runs a function in a child process, which may die."""

import os
import resource
import signal
import traceback

import torch

MOST_BYTES = 8 << 30  # limit of address space: a larger request fails instead of killing the process


def in_child(make):
    """The byte strings that `make()` yields in a forked child, and why the child died (None if it did not)."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _serve(make, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        items = list(_read(stream))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return items, signal.Signals(os.WTERMSIG(status)).name
    return items, None if status == 0 else f"exit code {os.WEXITSTATUS(status)}"


def _serve(make, writer):
    code = 1
    try:
        # A fork does not copy torch's thread pool. The first use creates it again, and aborts if two threads do so at
        # once.
        torch.set_num_threads(1)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        with os.fdopen(writer, "wb") as stream:
            for item in make():
                stream.write(len(item).to_bytes(8, "little") + item)
                stream.flush()
        code = 0
    except BaseException:
        traceback.print_exc()
    os._exit(code)


def _read(stream):
    while len(length := stream.read(8)) == 8:
        item = stream.read(int.from_bytes(length, "little"))
        yield item
