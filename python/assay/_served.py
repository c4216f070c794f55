"""Functions of this process as a testee. Each connection has a copy of the process, so that a crash or hang harms only that."""
import contextlib
import importlib.util
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping

from assay._command import PYTHON_END


def _end():
    spec = importlib.util.spec_from_file_location("assay_end", PYTHON_END / "end.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _listen(listener: socket.socket, wanted: int, kernels: Mapping[str, Callable]) -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in 0, 1, 2:
        os.dup2(nothing, stream)
    sys.stdout = sys.stderr = open(os.devnull, "w")
    end = _end()
    end.listen(end.Server("python", kernels), listener, wanted)


@contextlib.contextmanager
def served(kernels: Mapping[str, Callable]) -> Iterator[str]:
    """Serves functions by operator at an address, during the lifetime of the context and of this process."""
    wanted, want = os.pipe()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listening = os.fork()
        if listening == 0:
            try:
                os.close(want)
                _listen(listener, wanted, kernels)
            finally:
                os._exit(0)
        port = listener.getsockname()[1]
    os.close(wanted)
    try:
        yield f"tcp:127.0.0.1:{port}"
    finally:
        os.close(want)
        os.waitpid(listening, 0)
