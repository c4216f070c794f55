"""Records eager PyTorch's answers to the calls by which tools/plant, which the release builds, tells entries from faulty
ones where those of golden/operators and golden/boundaries do not, into golden/faults."""

import json
import subprocess
from collections import defaultdict

import calls
import worker
from boundaries import call_of


def main():
    options = calls.options_with_program(__doc__, "build/release/tools/plant/plant", "faults")
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
