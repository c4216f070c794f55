"""Exports programs and records eager PyTorch's answers to their calls into golden/programs."""

import argparse
import fnmatch
import hashlib
import importlib
import importlib.metadata
import json
import pickle
import sys
import time
import traceback
import warnings
from pathlib import Path

import environment
import manifest
from child import in_child

from . import SUBJECTS, bundle, export, folder, official
from .program import PROGRAMS, SEED, answers

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "golden" / "programs"
PACKAGES = (*manifest.PACKAGES, "torchao")


def parse_arguments():
    parser = argparse.ArgumentParser(prog="record programs", description=__doc__)
    parser.add_argument("--only", nargs="+", default=["*"], metavar="PATTERN", help="names, such as 'kv_*'")
    parser.add_argument("--check", action="store_true", help="record in memory and compare with the output folder")
    parser.add_argument("--out", type=Path, default=GOLDEN, help="folder of MANIFEST.json and of a folder per program")
    return parser.parse_args()


def main():
    options = parse_arguments()
    warnings.simplefilter("ignore")  # the exporter's
    for subject in SUBJECTS:
        importlib.import_module(f"{__package__}.{subject}")
    names = chosen(options.only)
    if not names:
        sys.exit(f"wanted programs matching {' or '.join(options.only)}, found none of {len(PROGRAMS)}")
    demanded = [n for n in names if PROGRAMS[n].on_demand]
    if demanded and options.out.resolve() == GOLDEN:
        sys.exit(f"wanted --out with {', '.join(demanded)}: too large for {GOLDEN.relative_to(ROOT)}")
    failures, entries = [], {}
    for name in names:
        files, entry = record(name)
        if files is None:
            failures.append(f"{name}: {entry}")
            continue
        entries[name] = entry
        if not options.check:
            write(options.out / name, files)
    if options.check:
        failures += [f"{n}: recording again gives other bytes for {f}" for n, f in differences(options.out, entries)]
    else:
        write_manifest(options.out, entries)
    sys.exit("\n".join(failures) or None)


def chosen(patterns):
    """The names that match, in alphabetical order; programs on demand must be named in full."""
    return sorted(
        name
        for name, entry in PROGRAMS.items()
        if any(name == p or (not entry.on_demand and fnmatch.fnmatchcase(name, p)) for p in patterns)
    )


def record(name):
    """The files of a program and its lines in the manifest; None and the reason when the export fails.

    Each program is made in a child process of its own, so that torch's state after one does not affect the next.
    """
    start = time.monotonic()
    told, status = in_child(lambda: [pickle.dumps(_record(name))])
    files, entry = pickle.loads(told[0]) if told else (None, f"ends with {status}")
    if files is None:
        print(f"{name}: FAILED: {entry}", flush=True)
        return None, entry
    size = sum(len(data) for data in files.values())
    print(f"{name}: {size} bytes, {time.monotonic() - start:.1f} s, official {entry['official']}", flush=True)
    return files, entry


def _record(name):
    try:
        made = PROGRAMS[name].build()
        files, mutated = export.export(made)
        results = answers(made, mutated)
        check_outputs(files, made, results)
    except Exception as error:
        traceback.print_exc()
        lines = str(error).strip().splitlines() or [""]
        return None, f"{type(error).__name__}: {lines[0]}"
    data = [f for f in sorted(files) if f.endswith(".ptd")]
    entry = {"description": made.description, "official": official.verdict(made, files, data, results)}
    if made.bundled:
        files[bundle.BUNDLE] = bundle.bundle(files[export.PROGRAM], made, results)
    files = dict(sorted((files | folder.write(made, data, results)).items()))
    return files, entry | {"files": {n: hashlib.sha256(d).hexdigest() for n, d in files.items()}}


def check_outputs(files, made, results):
    """Eager's answers must be as many as the method's outputs: a mutated input, say, is an output."""
    plans = export.plans(files[export.PROGRAM])
    for call, outputs in zip(made.calls, results):
        wanted = len(plans[call.method].outputs)
        if wanted != len(outputs):
            raise ValueError(f"{made.name}: wanted {wanted} outputs of {call.method}, found {len(outputs)}")


def write(target, files):
    """Writes the files of a program and removes all other files of its folder."""
    target.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        manifest.write_atomically(target / name, data)
    for path in target.iterdir():
        if path.name not in files:
            path.unlink()


def write_manifest(target, entries):
    """The manifest of `entries`; programs recorded earlier with the same versions and settings keep their lines."""
    versions = {p: importlib.metadata.version(p) for p in PACKAGES}
    head = {"versions": versions, "settings": {"seed": SEED, "environment": environment.VARIABLES}}
    previous = _read(target)
    kept = previous["programs"] if all(previous.get(k) == v for k, v in head.items()) else {}
    programs = {n: e for n, e in (kept | entries).items() if (target / n).is_dir()}
    text = json.dumps(head | {"programs": dict(sorted(programs.items()))}, indent=1) + "\n"
    manifest.write_atomically(target / manifest.NAME, text.encode())
    for path in sorted(p for p in target.iterdir() if p.is_dir() and p.name not in programs):
        print(f"{path.name}: not in the manifest; a program or settings that are gone")


def differences(target, entries):
    """Programs with the files whose bytes differ from the recorded ones."""
    programs = _read(target)["programs"]
    for name, entry in entries.items():
        recorded = programs.get(name, {}).get("files", {})
        found = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in (target / name).glob("*")}
        wrong = sorted(
            f for f in entry["files"] | recorded | found if not entry["files"].get(f) == recorded.get(f) == found.get(f)
        )
        if wrong:
            yield name, ", ".join(wrong)


def _read(target):
    path = target / manifest.NAME
    return json.loads(path.read_text()) if path.exists() else {"programs": {}}
