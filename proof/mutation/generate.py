#!/usr/bin/env python3
"""Writes sources with a switch at each place that has mutants, and the table of these mutants.

    generate.py KIND FOLDER OUT      writes OUT/<file>.cpp for each file of FOLDER, and OUT/mutants.cpp, the table
    generate.py KIND FOLDER --files  lists the files that it would write, for the build

KIND is `entries` (FOLDER is spec), `formulas` (reference/operators) or `checks` (format)."""
import argparse
import pathlib

import checks
import entries
import formulas
from mutants import Mutants

KINDS = {"entries": entries, "formulas": formulas, "checks": checks}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="only list the files")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    options = parser.parse_args()
    kind, mutants = KINDS[options.kind], Mutants()
    sources = sorted(options.folder.glob(kind.FILES))
    # A source of a folder within FOLDER, such as xnnpack/open.cpp, is written as xnnpack_open.cpp.
    names = ["_".join(path.relative_to(options.folder).with_suffix("").parts) for path in sources]
    if options.files:
        print(";".join(f"{name}.cpp" for name in [*names, "mutants"]), end="")
        return
    options.out.mkdir(parents=True, exist_ok=True)
    mutated = kind.generator(options.folder, mutants)
    for name, path in zip(names, sources):
        (options.out / f"{name}.cpp").write_text(f'#include "proof/mutation/{kind.SWITCHES}"\n{mutated(path)}')
    (options.out / "mutants.cpp").write_text(mutants.table())


if __name__ == "__main__":
    main()
