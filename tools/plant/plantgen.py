#!/usr/bin/env python3
"""Writes the wrappers of spec/operators with faults planted in what their entries state, each switched on by its number.

    plantgen.py SPEC OUT     writes OUT/planted/<file>.cpp and OUT/planted/faults.cpp, the table of what is planted
    plantgen.py --files SPEC lists the files it would write, for the build
"""
import argparse
import collections
import pathlib
import re
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "specgen"))
from dtype_facts import ORDERS  # noqa: E402
from entry import defined_words, entries, parse_word  # noqa: E402
from specgen import source, spec_files  # noqa: E402
from wrapper import Wrapper, cpp_string  # noqa: E402

OTHER_DTYPES = ["float32", "int64"]


class PlantedWrapper(Wrapper):
    """A wrapper whose checks and promises have switches; `faults` grows by what they plant."""

    def __init__(self, entry, words, faults):
        super().__init__(entry, words)
        self.faults = faults
        self.said = collections.Counter()

    def plant(self, kind, place, *changes):
        """The number of the first of the faults, which follow one another. What stands twice in a place says which."""
        first = len(self.faults)
        for change in changes:
            fault = self.entry.name, kind, place, change
            self.said[fault] += 1
            self.faults.append((*fault[:3], change + ("" if self.said[fault] == 1 else f", number {self.said[fault]}")))
        return first

    def check(self, rule):
        place = f"{rule.number}: {rule}"
        asked = f"{self.present(rule.word)}if (!planted({self.plant('rule', place, 'removed')})) "
        if rule.unless:
            condition = self.call("conditions", rule.unless)
            asked += f"if (planted({self.plant('condition', place, 'always asked')}) || !{condition}) "
        return asked + self.moved(self.call("rules", rule.word), place)

    def moved(self, text, place):
        """The check with its limits and sets of dtypes open to change."""
        limit = lambda m: f"{m[0]} + planted_step({self.plant('limit', place, f'{m[1]} is one more', f'{m[1]} is one less')})"  # noqa: E731
        text = re.sub(r"Int\{(-?\d+)\}", limit, text)
        changed = lambda m: f"planted_set({self.plant('dtypes', place, *(f'{d} in or out' for d in ORDERS['recorded']))}, {m[0]})"  # noqa: E731
        return re.sub(r"sets::\w+(?: \| sets::\w+)*", changed, text)

    def result_dtype(self, text):
        choice = super().result_dtype(text)
        for other in OTHER_DTYPES:
            choice = f"planted({self.plant('dtype', f'dtype: {text}', other)}) ? DType::{other} : {choice}"
        return choice

    def layout(self, text, sizes):
        """In place of an entry's layout the other of `contiguous` and that of the operands."""
        operands = ", ".join(f"{a.name}?" for a in self.entry.inputs if a.type in ("Tensor", "Tensor?"))
        choice = super().layout(text, sizes)
        for other in ("contiguous", f"like({operands})") if text and operands else ():
            if other.replace("?", "") != text.replace("?", ""):
                word = self.call("layouts", parse_word(other), [sizes])
                choice = f"planted({self.plant('layout', f'layout: {text}', other)}) ? {word} : {choice}"
        return choice


def table(faults):
    rows = [f"    {{{', '.join(map(cpp_string, fault))}}}," for fault in faults]
    return ['#include "tools/plant/planted.h"', "", "namespace assay {", "", "constexpr plant::Planted faults[] = {", *rows, "};",
            "std::span<const plant::Planted> planted_faults() { return faults; }", "", "}  // namespace assay"]


def generate(spec):
    """{relative path: lines}"""
    written, faults, words = {}, [], defined_words(spec / "rules.md")
    for path in spec_files(spec):
        wrappers = [PlantedWrapper(e, words, faults) for e in entries(path, yaml.safe_load(path.read_text()))]
        written[f"planted/{path.stem}.cpp"] = ['#include "tools/plant/planted.h"', *source(path.stem, wrappers)]
    return written | {"planted/faults.cpp": table(faults)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="only list what would be written")
    parser.add_argument("spec", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    options = parser.parse_args()
    if options.files:
        print(";".join(f"planted/{name}.cpp" for name in [*(p.stem for p in spec_files(options.spec)), "faults"]), end="")
        return
    for name, lines in generate(options.spec).items():
        (options.out / name).parent.mkdir(parents=True, exist_ok=True)
        (options.out / name).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
