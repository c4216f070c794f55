"""The example of a command that runs one call, with a fault: faulty_runner.py FAULT --model_path=..."""
import os
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "doc/examples/protocol"))
import runner  # noqa: E402

FAULTS = {
    "none": lambda outputs: outputs,
    "wrong": lambda outputs: [data[::-1] for data in outputs],
    "silent": lambda outputs: [],
    "crash": lambda outputs: os.kill(os.getpid(), signal.SIGSEGV),
}

if __name__ == "__main__":
    right = runner.run
    runner.run = lambda *call: FAULTS[sys.argv[1]](right(*call))
    sys.exit(runner.main(sys.argv[2:]))
