"""Records into golden/traps eager PyTorch's answers to calls that reimplementations commonly get wrong.

Asks eager again for every call of golden/traps. With a call, asks for that operator alone and adds the call:

    record/record traps --says "half types are summed in float32" aten::sum.IntList_out '[60000,60000]:f16' none
"""

import argparse
import json
import subprocess

import container
import record_calls
import worker
from request import call_of


def main():
    parser = record_calls.options_with_program(__doc__, "build/release/tests/trap_call", "traps")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--says", metavar="SENTENCE", help="what the added call shows, as a sentence")
    parser.add_argument("--out", metavar="DTYPE", help="dtype of the first out argument of the added call")
    parser.add_argument("call", nargs="...", metavar="OPERATOR ARG", help="the call to add, as `assay call` takes it")
    options = parser.parse_args()
    added = [request_of(options, parser)] if options.call else []
    options.operators = [r["operator"] for r in added] or options.operators
    record_calls.run(options, lambda operator: record(operator, options, added), lambda operator: {})


def request_of(options, parser):
    """The added call. Its id is the sentence and the rule of the entry that the call breaks."""
    if not options.says:
        parser.error("--says is required for an added call")
    out = [f"--out={options.out}"] if options.out else []
    command = [options.program, f"trap: {options.says}", *out, *options.call]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def record(operator, options, added):
    made = container.calls_in(operator, record_calls.recorded_file(operator, options))
    made += [call_of(operator, r) for r in added if r["operator"] == operator.name]
    return worker.record_given(operator, made, all_answered)


def all_answered(made, answered):
    """All answered calls. Throws if eager did not answer a call: no trap is lost."""
    keys = {c.key() for c, _ in answered}
    lost = [worker.describe(c) if c else "a call with a dtype that eager lacks" for c in made if c is None or c.key() not in keys]
    if lost:
        raise ValueError(f"eager gives no answer that can be recorded to {'; '.join(lost)}")
    return answered
