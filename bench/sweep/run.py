"""Times the programs of the operator sweep beside eager PyTorch, and writes the page of their results:

    run.py --programs FOLDER --assay COMMAND -o PAGE [-- OPTION_OF_ASSAY_BENCH...]

One server of eager PyTorch serves all programs, because torch takes seconds to import. It runs on the processor on which
`assay bench` times engines of one thread, the first that this process may use."""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys

import table

BENCH = pathlib.Path(__file__).resolve().parents[1]
END = BENCH.parent / "conformance/wire/python/end.py"


@contextlib.contextmanager
def eager():
    """The address of a server of eager PyTorch."""
    first = {min(os.sched_getaffinity(0))}
    with subprocess.Popen([sys.executable, END, "ends.eager", "--listen", "0"], stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(BENCH)},
                          preexec_fn=lambda: os.sched_setaffinity(0, first)) as server:
        try:
            words = server.stdout.readline().split()
            if not words:
                sys.exit("run.py: the server of eager PyTorch does not start")
            yield f"tcp:{words[-1]}"
        finally:
            server.terminate()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=pathlib.Path, default=BENCH / "sweep/calls.yaml")
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--assay", default="assay")
    parser.add_argument("--command", default="bench/sweep/run.py", help="the command that the page states")
    parser.add_argument("-o", type=pathlib.Path, required=True, dest="page")
    parser.add_argument("options", nargs="*", help="further options of assay bench, after --")
    options = parser.parse_args()
    results = options.programs / "results.json"
    results.unlink(missing_ok=True)
    programs = sorted(options.programs.glob("*/program.pte"))
    with eager() as address, (options.programs / "results.txt").open("w") as out:
        done = subprocess.run([options.assay, "bench", *programs, *options.options, "--against", f"{address}=model.pt2", "-o", results], stdout=out, check=False)
    if not results.exists():
        sys.exit(f"run.py: assay bench ended with code {done.returncode} and without results")
    refused = json.loads((options.programs / "refused.json").read_text())
    options.page.write_text(table.page(options.list, json.loads(results.read_text()), refused, options.command))


if __name__ == "__main__":
    main()
