"""Recorded calls as the command reports them, and the verdicts of runs."""
import json
import shlex
import subprocess
from collections import Counter, defaultdict


def asked(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def coverages(lines):
    """{operator: a line of `assay cases --json`}"""
    return {line["operator"]: line for line in map(json.loads, lines.splitlines())}


def implemented(schemas):
    """The operators that the reference has, from `assay operators`."""
    return {schema.partition("(")[0] for schema in schemas.splitlines()}


def asking(operator, example):
    """The command that makes a recorded call on the reference."""
    words = ["assay", "call", operator, *(given["text"] for given in example["inputs"])]
    return shlex.join(words + [word for out in example.get("outs", []) for word in ("--out", out["text"])])


class Runs:
    """The run files by operator: {operator: {testee: Counter of verdicts of promised cases}}, and their defects."""

    def __init__(self, paths):
        self.headers, self.verdicts = [], defaultdict(lambda: defaultdict(Counter))
        self.defects = defaultdict(list)
        for path in paths:
            for line in path.read_text(encoding="utf-8").splitlines():
                self.add(json.loads(line))

    def add(self, line):
        if "header" in line:
            self.headers.append(line["header"])
        elif "defect" in line:
            for operator in line["defect"]["operators"]:
                self.defects[operator].append(line["defect"])
        elif line.get("promised"):
            self.verdicts[line["operator"]][line["testee"]][line["verdict"]] += 1
