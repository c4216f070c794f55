"""Records eager PyTorch's answers to the calls by which tools/plant, which the release builds, tells entries from faulty
ones where those of golden/operators and golden/boundaries do not, into golden/faults."""

import argparse
import json
import subprocess
from collections import defaultdict
from pathlib import Path

import calls
import worker
from boundaries import call_of


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, default=calls.ROOT / "build/release/tools/plant/plant", help="makes the calls")
    calls.add_options(parser, calls.ROOT / "golden" / "faults")
    return parser.parse_args()


def main():
    options = parse_arguments()
    requests = told_by(options.program)
    made = lambda operator: [c for r in requests[operator.name] if (c := call_of(operator, r)) is not None]  # noqa: E731
    calls.run(options, lambda operator: worker.record_given(operator, made(operator)), lambda operator: {})


def told_by(program):
    """The requests that the program makes, by operator."""
    golden = calls.ROOT / "golden"
    command = [program, "calls", golden / "operators", golden / "boundaries" / "operators"]
    requests = defaultdict(list)
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        request = json.loads(line)
        requests[request["operator"]].append(request)
    return requests
