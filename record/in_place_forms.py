"""Records into golden/in_place eager PyTorch's answers to calls of in-place forms, such as aten::relu_.

The specification derives each form from an operator with an out, whose recorded calls test the formula. A few drawn calls
of each form are enough: they test what the form refuses, and in which dtype and dim order it stores its result.
"""

import argparse
import random
import sys

import yaml

import record_calls
import worker
from generators import Generators

sys.path.insert(0, str(record_calls.ROOT / "tools" / "specgen"))
from entry import entries  # noqa: E402
from in_place import in_place_name, schema  # noqa: E402

CALLS = 60  # of each form


def schemas():
    """The schemas of the in-place forms, in alphabetical order."""
    files = sorted((record_calls.ROOT / "spec" / "operators").glob("*.yaml"))
    return sorted(schema(e) for file in files for e in entries(file, yaml.safe_load(file.read_text())) if in_place_name(e))


def drawn(operator, seed):
    made = list(Generators(operator, seed).calls())
    return random.Random(seed).sample(made, min(len(made), CALLS))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    record_calls.add_options(parser, record_calls.ROOT / "golden" / "in_place")
    options = parser.parse_args()
    record_calls.run(options, lambda o: worker.record_given(o, drawn(o, record_calls.seed_of(o, options))), lambda o: {}, schemas())
