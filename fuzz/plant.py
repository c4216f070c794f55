#!/usr/bin/env python3
"""Plants faults and sees them found: `fuzz/plant.py [NAME...]`, all of fuzz/plants.yaml unless named.

Each is a change of one source file, which is compiled and linked before the library that has it; the fuzzer must say the oracle's
name within SECONDS. Needs the fuzzers to be built (tools/fuzz 1), and for the official runtime the preset `dev`."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import yaml

SECONDS = 120
ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "fuzz" / "planted"


def commands(build: pathlib.Path, program: str) -> list[str]:
    """The commands that make a program, the last of which links it."""
    return subprocess.check_output(["ninja", "-C", build, "-t", "commands", program], text=True).splitlines()[1:]


def run(command: str, build: pathlib.Path) -> None:
    subprocess.run(command, shell=True, check=True, cwd=build)


def planted_source(plant: dict) -> pathlib.Path:
    text = (ROOT / plant["file"]).read_text()
    if text.count(plant["find"]) != 1:
        raise SystemExit(f"{plant['name']}: {plant['file']} has its line {text.count(plant['find'])} times, but must have it once")
    source = WORK / (plant["name"] + ".cpp")
    source.write_text(text.replace(plant["find"], plant["plant"]))
    return source


def planted_program(plant: dict, build: pathlib.Path, program: str) -> pathlib.Path:
    all_commands = commands(build, program)
    original = str(ROOT / plant["file"])
    compile_command = next(c for c in all_commands if f"-c {original}" in c)
    made = re.search(r"-o (\S+\.o)", compile_command).group(1)
    planted, result = WORK / (plant["name"] + ".o"), build / f"{program}_{plant['name']}"  # beside its libraries
    run(compile_command.replace(f"-c {original}", f"-c {planted_source(plant)}").replace(made, str(planted)), build)
    run(re.sub(rf"-o {program}\b", f"{planted} -o {result}", all_commands[-1]), build)
    return result


def attack(plant: dict) -> tuple[bool, str]:
    """Whether the oracle found it, and what was said."""
    official = plant["oracle"] == "official"
    build = ROOT / "build" / ("dev" if official else "fuzz")
    program = planted_program(plant, build, "fuzz_official" if official else "fuzzer")
    if official:
        programs = sorted((ROOT / "golden" / "programs").glob("*/program.pte"))
        command = [program, "0", WORK / "official", *programs]
        environment = {}
    else:
        target = plant["target"]
        learnt = WORK / "learnt"
        shutil.rmtree(learnt, ignore_errors=True)
        learnt.mkdir()
        folders = [learnt, ROOT / "build" / "fuzz" / "seeds" / target, ROOT / "fuzz" / "corpus" / target]
        command = [program, f"-max_total_time={SECONDS}", "-max_len=65536", "-timeout=60", f"-artifact_prefix={WORK}/", *folders]
        environment = {"ASSAY_FUZZ_TARGET": target}
    said = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, errors="replace", cwd=build)
    program.unlink()
    wanted = {"sanitizer": "ERROR: AddressSanitizer|runtime error", "official": "DIFFERENT"}.get(plant["oracle"], f"oracle {plant['oracle']}:")
    lines = (said.stderr + said.stdout).splitlines()
    named = [line for line in lines if re.search(wanted, line)]
    other = [line for line in lines if re.search("^oracle|ERROR:|^Done", line)]
    return (True, named[0]) if named else (False, "NOT FOUND, but: " + " ".join(other[:1]))


def main() -> None:
    WORK.mkdir(parents=True, exist_ok=True)
    plants = yaml.safe_load((ROOT / "fuzz" / "plants.yaml").read_text())
    chosen = [p for p in plants if len(sys.argv) == 1 or p["name"] in sys.argv[1:]]
    missed = []
    for plant in chosen:
        start = time.monotonic()
        is_found, said = attack(plant)
        print(f"{plant['oracle']:10} {plant['name']:28} {time.monotonic() - start:5.0f} s  {said[:120]}", flush=True)
        if not is_found:
            missed.append(plant["name"])
    if missed or not chosen:
        raise SystemExit(f"not found: {', '.join(missed) or 'anything to plant'}")


if __name__ == "__main__":
    main()
