"""Records into golden/boundaries eager PyTorch's answers to calls on both sides of the boundary of each rule.

The program boundary_calls of tests/operators, which the preset release builds, makes the calls from those in
golden/operators.
"""

import json
import subprocess

import record_calls
import worker
from request import call_of


def main():
    options = record_calls.options_with_program(__doc__, "build/release/tests/boundary_calls", "boundaries").parse_args()
    record_calls.run(options, lambda operator: worker.record_given(operator, made_by(options.program, operator)), lambda operator: {})


def made_by(program, operator):
    """The boundary calls of an operator that eager can run; it has no tensors of quantized dtypes, for example."""
    command = [program, record_calls.ROOT / "golden" / "operators", operator.name]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    made = (call_of(operator, json.loads(line)) for line in lines)
    return [c for c in made if c is not None]
