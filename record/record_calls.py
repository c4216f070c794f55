"""Records eager PyTorch's answers to calls of ExecuTorch's operators into golden/operators."""

import argparse
import fnmatch
import hashlib
import multiprocessing
import sys
import tempfile
from pathlib import Path

import yaml

import container
import environment
import manifest
import worker
from operators import Operator

ROOT = Path(__file__).resolve().parents[1]
SEED = 20260101
CAP_BYTES = 140_000
COMPLEX_BYTES = 10_000


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, ROOT / "golden")
    parser.add_argument("--cap-bytes", type=int, help="record until the file of an operator has this many bytes; default: the number in MANIFEST.json, else %d" % CAP_BYTES)
    parser.add_argument("--complex-bytes", type=int, help="record complex calls of at most this many more bytes; default: the number in MANIFEST.json, else %d" % COMPLEX_BYTES)
    return parser.parse_args()


def add_options(parser, output):
    parser.add_argument("--operators", nargs="+", default=["*"], metavar="PATTERN", help="names, such as 'aten::add*'")
    parser.add_argument("--output", type=Path, default=output, help="folder of MANIFEST.json and operators/")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="record elsewhere and compare with the output folder")


def options_with_program(about, program, golden):
    """The options of a recorder that writes to a folder of golden/ and gets its calls from a program of the build."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--program", type=Path, default=ROOT / program, help="makes the calls")
    add_options(parser, ROOT / "golden" / golden)
    return parser


def main():
    options = parse_arguments()
    record = lambda o: worker.record(o, seed_of(o, options), **caps(o, options), traps=traps(o, options))  # noqa: E731
    run(options, record, lambda o: caps(o, options))


def traps(operator, options):
    """The traps of the previous recording: each recording keeps them, whatever its seed."""
    return [c for c in container.calls_in(operator, recorded_file(operator, options)) if c.origin.startswith("trap")]


def recorded_file(operator, options):
    return options.output / "operators" / operator.file_name()


def run(options, record, caps):
    """Records the chosen operators; `record(operator)` makes a recording, `caps(operator)` is what bounds it."""
    operators = [Operator(s) for s in schemas()]
    chosen = [o for o in operators if any(fnmatch.fnmatchcase(o.name, p) for p in options.operators)]
    if not chosen:
        sys.exit(f"wanted operators matching {' or '.join(options.operators)}, found none of {len(operators)}")
    with tempfile.TemporaryDirectory() as folder:
        container.generate_classes(ROOT / "golden" / "calls.fbs", Path(folder))
        target = Path(folder) if options.check else options.output
        recordings = record_all(chosen, target / "operators", options.jobs, record)
    entries = {o.file_name(): manifest.entry(r, caps(o)) for o, r in zip(chosen, recordings)}
    if options.check:
        sys.exit(manifest.difference(options.output, entries))
    settings = {"seed": options.seed, "environment": environment.VARIABLES}
    manifest.write(options.output, entries, settings)
    for file in manifest.strangers(options.output):
        print(f"{file}: not in the manifest; recorded from an operator or with settings that are gone")


def seed_of(operator, options):
    return int.from_bytes(hashlib.sha256(f"{options.seed} {operator.name}".encode()).digest()[:7], "little")


def caps(operator, options):
    """The size limit of the operator's file, and the bytes that complex calls may add to it: the values requested, the
    values of the previous recording, or the defaults."""
    before = manifest.lines(options.output, operator.file_name())
    usual = {"cap_bytes": CAP_BYTES, "complex_bytes": COMPLEX_BYTES}
    return {name: getattr(options, name) or before.get(name) or bytes for name, bytes in usual.items()}


def schemas():
    """The schemas of every operator of the spec, in alphabetical order."""
    files = sorted((ROOT / "spec" / "operators").glob("*.yaml"))
    entries = [entry for file in files for entry in yaml.safe_load(file.read_text()) or []]
    return sorted(entry["schema"] for entry in entries if "schema" in entry)


def record_all(operators, folder, jobs, record):
    """Yields recordings in the order of the operators. Writes each file as soon as it is recorded; a recording without
    calls has no file."""
    folder.mkdir(parents=True, exist_ok=True)
    recordings = []
    # Operators hold functions that cannot be pickled: the workers inherit them by forking.
    record_one.of = lambda index: record(operators[index])
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        for operator, recording in zip(operators, pool.imap(record_one, range(len(operators)), chunksize=1)):
            if recording.calls > 0:
                manifest.write_atomically(folder / operator.file_name(), recording.file)
            else:
                (folder / operator.file_name()).unlink(missing_ok=True)
            print(report(recording), flush=True)
            recordings.append(recording)
    return recordings


def record_one(index):
    return record_one.of(index)


def report(recording):
    lines = [
        f"{recording.name}: {recording.calls} calls, {recording.refusals} refused, {len(recording.file)} bytes, "
        f"{recording.candidates} candidates, {recording.seconds:.0f} s"
    ]
    lines += [f"  {count} times: {finding}" for finding, count in recording.findings.items()]
    lines += [f"  crashed: {crash}" for crash in recording.crashed]
    return "\n".join(lines)
