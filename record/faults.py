"""Records into golden/faults eager PyTorch's answers to calls that notice mutants of entries.

golden/operators and golden/boundaries do not notice these mutants. `ninja mutation_entries` builds the program that
finds the calls. One call is kept for each mutant: the first whose answer by eager agrees with the entry, or the first
call if there is none.
"""

import json
import subprocess
from collections import defaultdict

import record_calls
import worker
from request import call_of


def main():
    options = record_calls.options_with_program(__doc__, "build/release/proof/mutation/entries", "faults").parse_args()
    told = told_by(options.program)
    made = lambda operator: [c for r in told[operator.name] if (c := call_of(operator, r)) is not None]  # noqa: E731
    record_calls.run(options, lambda operator: worker.record_given(operator, made(operator), one_for_each_mutant), lambda operator: {})


def told_by(program):
    """The requests that the program makes, by operator."""
    golden = record_calls.ROOT / "golden"
    command = [program, "--calls", golden / "operators", golden / "boundaries" / "operators"]
    requests = defaultdict(list)
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        request = json.loads(line)
        requests[request["operator"]].append(request)
    return requests


def one_for_each_mutant(made, answered):
    """The answered calls to keep. `made` are all calls that were made; a call may belong to several mutants."""
    answers, mutants, kept = {c.key(): (c, a) for c, a in answered}, defaultdict(list), {}
    for call in made:
        mutant, _, expected = call.origin.rpartition("; ")
        if call.key() in answers:
            agrees = (answers[call.key()][1].refusal is not None) == (expected == "refused")
            mutants[mutant].append((not agrees, call.key()))
    for told in mutants.values():
        disagrees, first = min(told, key=lambda t: t[0])
        if disagrees or not any(key in kept for wrong, key in told if not wrong):
            kept[first] = answers[first]
    return list(kept.values())
