#!/usr/bin/env python3
"""Tries a mutant of fuzz.yaml, for the program `fuzz` of this folder: `fuzz.py NAME`. `fuzz.py --list` lists all
mutants, and fails where one has no place in its file.

The mutated source is compiled and linked before the library that has the original. The fuzzer must name the oracle
within SECONDS; the exit status is 0 where it does. Needs the fuzzers (tools/fuzz 1), and for the official runtime the
preset `dev`."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import yaml

SECONDS = 120
ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "fuzz" / "mutants"


def commands(build: pathlib.Path, program: str) -> list[str]:
    """The commands that make a program, the last of which links it."""
    return subprocess.check_output(["ninja", "-C", build, "-t", "commands", program], text=True).splitlines()[1:]


def run(command: str, build: pathlib.Path) -> None:
    subprocess.run(command, shell=True, check=True, cwd=build)


def mutated_text(mutant: dict) -> str:
    text = (ROOT / mutant["file"]).read_text()
    if text.count(mutant["find"]) != 1:
        raise SystemExit(f"{mutant['name']}: {mutant['file']} has its text {text.count(mutant['find'])} times, but must have it once")
    return text.replace(mutant["find"], mutant["replace"])


def mutated_source(mutant: dict) -> pathlib.Path:
    source = WORK / (mutant["name"] + ".cpp")
    source.write_text(mutated_text(mutant))
    return source


def unit_of(original: str, all_commands: list[str], build: pathlib.Path) -> tuple[str, str]:
    """The command that compiles the original, alone or included in the source of a unity build, and the source that it compiles."""
    for command in all_commands:
        source = re.search(r" -c (\S+)", command)
        if source and (source[1] == original or "/Unity/" in source[1] and f'"{original}"' in (build / source[1]).read_text()):
            return command, source[1]
    raise SystemExit(f"no command compiles {original}")


def mutated_program(mutant: dict, build: pathlib.Path, program: str) -> pathlib.Path:
    all_commands = commands(build, program)
    original = str(ROOT / mutant["file"])
    compile_command, unit = unit_of(original, all_commands, build)
    source = mutated_source(mutant)
    if unit != original:
        text, mutated = (build / unit).read_text(), source
        source = WORK / (mutant["name"] + "_unity.cpp")
        source.write_text(text.replace(original, str(mutated)))
    made = re.search(r"-o (\S+\.o)", compile_command).group(1)
    compiled, result = WORK / (mutant["name"] + ".o"), build / f"{program}_{mutant['name']}"  # beside its libraries
    run(compile_command.replace(f"-c {unit}", f"-c {source}").replace(made, str(compiled)), build)
    run(re.sub(rf"-o {program}\b", f"{compiled} -o {result}", all_commands[-1]), build)
    return result


def attack(mutant: dict) -> tuple[bool, str]:
    """Whether the oracle found the mutant, and the line that shows it."""
    official = mutant["oracle"] == "official"
    build = ROOT / "build" / ("dev" if official else "fuzz")
    program = mutated_program(mutant, build, "fuzz_official" if official else "fuzzer")
    if official:
        programs = sorted((ROOT / "golden" / "programs").glob("*/program.pte"))
        command = [program, "0", WORK / "official", *programs]
        environment = {}
    else:
        target = mutant["target"]
        learnt = WORK / "learnt"
        shutil.rmtree(learnt, ignore_errors=True)
        learnt.mkdir()
        folders = [learnt, ROOT / "build" / "fuzz" / "seeds" / target, ROOT / "fuzz" / "corpus" / target]
        command = [program, f"-max_total_time={SECONDS}", "-max_len=65536", "-timeout=60", f"-artifact_prefix={WORK}/", *folders]
        environment = {"ASSAY_FUZZ_TARGET": target}
    said = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, errors="replace", cwd=build)
    program.unlink()
    wanted = {"sanitizer": "ERROR: AddressSanitizer|runtime error", "official": "DIFFERENT"}.get(mutant["oracle"], f"oracle {mutant['oracle']}:")
    lines = (said.stderr + said.stdout).splitlines()
    named = [line for line in lines if re.search(wanted, line)]
    other = [line for line in lines if re.search("^oracle|ERROR:|^Done", line)]
    return (True, named[0]) if named else (False, "NOT FOUND, but: " + " ".join(other[:1]))


def main() -> None:
    mutants = {m["name"]: m for m in yaml.safe_load(pathlib.Path(__file__).with_suffix(".yaml").read_text())}
    if sys.argv[1:] == ["--list"]:
        for name, mutant in mutants.items():
            mutated_text(mutant)
            print(mutant["file"], mutant["oracle"], mutant.get("target", "programs"), name)
        return
    if len(sys.argv) != 2 or sys.argv[1] not in mutants:
        raise SystemExit("usage: fuzz.py --list|NAME")
    mutant, start = mutants[sys.argv[1]], time.monotonic()
    WORK.mkdir(parents=True, exist_ok=True)
    is_found, line = attack(mutant)
    print(f"{mutant['oracle']:10} {mutant['name']:28} {time.monotonic() - start:5.0f} s  {line[:120]}", flush=True)
    raise SystemExit(not is_found)


if __name__ == "__main__":
    main()
