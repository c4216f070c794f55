"""Plants each fault of tests/support/faulty_backend.cpp, and prints whether assay delegate finds it and names the node: for tools/test all."""
import ctypes
import os
import pathlib
import re
import subprocess
import sys

from source import SOURCE

ASSAY = pathlib.Path(os.environ["ASSAY"])
BACKEND = ASSAY.parent / "libfaulty_backend.so"
# Faults that are not found, or whose node is not named, with the reason. A fault of this list that is found and named is an error.
KNOWN = {}


def planted_faults():
    say = ctypes.CDLL(str(BACKEND)).planted_faults
    say.restype = ctypes.c_char_p
    return [line.split("\t") for line in say().decode().splitlines()]


def judge(fault, program, found_in):
    """The output of the run, for the program of the fault, or for the broken payloads."""
    what = ["--cases", "broken/*"] if found_in == "broken" else [SOURCE / "golden/delegated" / program / "program.pte"]
    command = [ASSAY, "delegate", f"backend:{BACKEND}=PlantedBackend", *what, "--timeout", "2"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, env=os.environ | {"ASSAY_PLANTED": fault})
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done


def is_named(output, kind, found_in):
    first = re.search(r"^first wrong: ([^\n:]*): ([^\n]*)", output, re.MULTILINE)
    if not first:
        return False
    case, description = first.groups()
    if found_in:
        return case.endswith("/" + found_in) or case.startswith(found_in + "/")
    return re.search(rf"\b{kind}: ", description) is not None


def main():
    assert judge("", "f32_glue", "").returncode == 0, "the backend without a fault fails"
    found = named = 0
    surprises = []
    faults = planted_faults()
    for fault, program, kind, found_in in faults:
        done = judge(fault, program, found_in)
        output = done.stdout
        is_found = done.returncode == 1 or (found_in == "reads" and "memory 8 bytes behind" in output)
        named_rightly = is_found and is_named(output, kind, found_in)
        found, named = found + is_found, named + named_rightly
        verdict = "named" if named_rightly else "found" if is_found else "NOT FOUND"
        print(f"{verdict:9} {fault} ({kind or 'any node'}{', ' + found_in if found_in else ''} in {program or 'broken payloads'})", flush=True)
        if (fault in KNOWN) == named_rightly:
            surprises.append(fault)
            print(output)
    print(f"{len(faults)} faults: {found} found, {named} named rightly")
    sys.exit(f"not as listed: {', '.join(surprises)}" if surprises else 0)


main()
