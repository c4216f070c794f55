"""Exports the recorded programs again with another version of the exporter, into golden/exporters/<version>.

The files of every exporter must be accepted, and must give the results in golden/programs/<name>/calls.json. Only
programs whose bytes differ from the recorded ones are kept: of 1.5.0 none, of 1.4.1 five. Run by a Python that has that version of executorch:
`RECORD_PYTHON=.../bin/python record/record exporters`.
"""

import argparse
import importlib
import importlib.metadata
import pickle
import warnings
from pathlib import Path

import manifest
from child import in_child

from . import SUBJECTS, export
from .program import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "golden"


def main():
    parser = argparse.ArgumentParser(prog="record exporters", description=__doc__)
    parser.add_argument("--out", type=Path, default=GOLDEN / "exporters", help="folder of a folder per version")
    target = parser.parse_args().out / importlib.metadata.version("executorch")
    warnings.simplefilter("ignore")  # the exporter's
    for subject in SUBJECTS:
        try:
            importlib.import_module(f"{__package__}.{subject}")
        except ImportError as error:
            print(f"{subject}: this exporter lacks {error.name}")
    for name in sorted(n for n, entry in PROGRAMS.items() if not entry.on_demand):
        told, status = in_child(lambda name=name: [pickle.dumps(files_of(name))])
        files = pickle.loads(told[0]) if told else f"ends with {status}"
        if isinstance(files, str):
            print(f"{name}: this exporter cannot: {files}", flush=True)
        elif files != recorded(name):
            for file, data in files.items():
                (target / name).mkdir(parents=True, exist_ok=True)
                manifest.write_atomically(target / name / file, data)


def files_of(name):
    try:
        return export.export(PROGRAMS[name].build())[0]
    except Exception as error:
        return f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}"


def recorded(name):
    folder = GOLDEN / "programs" / name
    return {p.name: p.read_bytes() for end in ("pte", "ptd") for p in folder.glob(f"*.{end}")}
