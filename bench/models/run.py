"""The table of who is fastest: makes the programs (make.py) and times engines on them.

    run.py [--models MODEL...] [--formats FORMAT...] [--engines ENGINE...] [--threads N...] [--seconds SECONDS]

An engine runs the file that ENGINES states. A program that was made before is not made again. `assay bench` prints the times of each program, and writes them to
<out>/<threads>.json and .html. The last table has the medians of the runs in bursts. It names each engine that did not
run a program, and why."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
ENGINES = {  # the first is the one under test
    "assay": "optimized",
    "assay_xnnpack": "optimized=xnnpack.pte",
    "executorch": "executorch",
    "xnnpack": "executorch=xnnpack.pte",
    "onnxruntime": "onnxruntime=model.onnx",
    "openvino": "python:ends.openvino=model.onnx",
    "eager": "python:ends.eager=model.pt2",
}


def cell(engine):
    return None if "fails" in engine else f"{1e3 * (engine['bursts']['median'] or engine['first']):.3g}" + ("" if agree(engine) else "*")


def agree(engine):
    return all(o["agrees"] for o in engine["outputs"])


def why(engine, missing):
    """Why an engine did not run: its file is missing, or it refuses it."""
    file = engine["engine"].rpartition("=")[2]
    return f"{file} could not be made: {missing[file]}" if file in missing else engine["fails"]["message"]


def program_in(folder):
    """The program that all engines run that name no other file: the delegated one if there is no other; None without
    both."""
    return next((folder / name for name in ("program.pte", "xnnpack.pte") if (folder / name).exists()), None)


def table(results, missing):
    """The medians of the runs in bursts in milliseconds, as text. `missing`: {folder: {file: why it was not made}}."""
    engines = [e["engine"] for e in results["programs"][0]["engines"]]
    rows = [["ms", *(name_of(e) for e in engines)]]
    notes = []
    for program in results["programs"]:
        folder = Path(program["program"]).parent.name
        cells = list(map(cell, program["engines"]))
        rows.append([folder, *(c or "-" for c in cells)])
        notes += [f"{folder}, {name_of(e['engine'])}: {why(e, missing.get(folder, {}))}" for e, c in zip(program["engines"], cells) if c is None]
        notes += [f"* {folder}, {name_of(e['engine'])}: {next(o['message'] for o in e['outputs'] if not o['agrees'])}"
                  for e, c in zip(program["engines"], cells) if c and c.endswith("*")]
    notes += [f"{folder}: program.pte could not be made: {files['program.pte']}" for folder, files in missing.items() if "program.pte" in files]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip() for row in rows]
    return "\n".join([*lines, "", *notes])


def name_of(contender):
    return next((name for name, words in ENGINES.items() if words == contender), contender)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=[], metavar="MODEL", help="default: all of make.py")
    parser.add_argument("--formats", nargs="+", default=[], metavar="FORMAT", help="default: all of formats.py")
    parser.add_argument("--optimized", default="optimized", metavar="TESTEE", help="runs this in place of optimized, such as optimized:avx2")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES), metavar="ENGINE", help=", ".join(ENGINES))
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--assay", default="assay")
    parser.add_argument("--out", type=Path, default=BENCH.parent / "build/bench")
    options = parser.parse_args()
    chosen = [word for option in ("models", "formats") if getattr(options, option) for word in (f"--{option}", *getattr(options, option))]
    subprocess.run([sys.executable, BENCH / "models/make.py", "--out", options.out / "models", *chosen], check=True, stdout=sys.stderr)
    folders = [f for f in sorted((options.out / "models").iterdir()) if (f / "missing.json").exists() and wanted(f.name, options)]
    programs = [p for p in map(program_in, folders) if p]
    if not programs:
        sys.exit("run.py: there is no program of these models and formats")
    missing = {f.name: json.loads((f / "missing.json").read_text()) for f in folders}
    first, *others = (ENGINES[name].replace("optimized", options.optimized) for name in ENGINES if name in options.engines)
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(BENCH)}
    for threads in options.threads:
        results = options.out / f"{threads}.json"
        results.unlink(missing_ok=True)
        done = subprocess.run([options.assay, "bench", *programs, "--threads", str(threads), "--seconds", str(options.seconds), "--with", first,
                               *(word for other in others for word in ("--against", other)), "-o", results, "--html", results.with_suffix(".html")], env=environment, check=False)
        if not results.exists():
            sys.exit(f"run.py: assay bench ended with code {done.returncode} and without results")
        print(f"\nMedians in bursts, {threads} thread{'s' * (threads > 1)}; * outputs differ\n")
        print(table(json.loads(results.read_text()), missing), flush=True)


def wanted(folder, options):
    """Whether the folder is of a wanted model and of a wanted format."""
    return (not options.models or any(folder.startswith(f"{m}_") for m in options.models)) and (not options.formats or any(folder.endswith(f"_{f}") for f in options.formats))


if __name__ == "__main__":
    main()
