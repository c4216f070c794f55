"""The wrappers of spec/operators with a switch at each statement of their entries. They end where `Mode::rules` does."""
import pathlib
import re
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "specgen"))
from dtype_facts import ORDERS  # noqa: E402
from entry import defined_words, entries, parse_word  # noqa: E402
from specgen import source  # noqa: E402
from wrapper import Wrapper  # noqa: E402

FILES, SWITCHES = "operators/*.yaml", "entry_switches.h"
OTHER_DTYPES = ["float32", "int64"]
END = "if (call.rules_only()) return;"  # of a wrapper in `Mode::rules`


class MutatedWrapper(Wrapper):
    def __init__(self, entry, words, mutants):
        super().__init__(entry, words)
        self.add = lambda kind, place, *changes: mutants.add(entry.name, kind, place, *changes)

    def check(self, rule):
        place = f"{rule.number}: {rule}"
        asked = f"{self.present(rule.word)}if (!on({self.add('rule', place, 'removed')})) "
        if rule.unless:
            asked += f"if (on({self.add('condition', place, 'always asked')}) || !{self.call('conditions', rule.unless)}) "
        return asked + self.moved(self.call("rules", rule.word), place)

    def moved(self, text, place):
        """The check with switches at its limits and sets of dtypes."""
        limit = lambda m: f"{m[0]} + off_by({self.add('limit', place, f'{m[1]} is one more', f'{m[1]} is one less')})"  # noqa: E731
        changed = lambda m: f"changed_set({self.add('dtypes', place, *(f'{d} in or out' for d in ORDERS['recorded']))}, {m[0]})"  # noqa: E731
        return re.sub(r"sets::\w+(?: \| sets::\w+)*", changed, re.sub(r"Int\{(-?\d+)\}", limit, text))

    def result_dtype(self, text):
        choice = super().result_dtype(text)
        for other in OTHER_DTYPES:
            choice = f"on({self.add('dtype', f'dtype: {text}', other)}) ? DType::{other} : {choice}"
        return choice

    def layout(self, text, sizes):
        """In place of an entry's layout the other of `contiguous` and that of the operands."""
        operands = ", ".join(f"{a.name}?" for a in self.entry.inputs if a.type in ("Tensor", "Tensor?"))
        choice = super().layout(text, sizes)
        for other in ("contiguous", f"like({operands})") if text and operands else ():
            if other.replace("?", "") != text.replace("?", ""):
                word = self.call("layouts", parse_word(other), [sizes])
                choice = f"on({self.add('layout', f'layout: {text}', other)}) ? {word} : {choice}"
        return choice

    def compute_block(self, compute):
        lines = list(super().compute_block(compute))
        return lines[: lines.index(END)]

    def number(self):
        return ()


def generator(spec, mutants):
    words = defined_words(spec / "rules.md")
    wrappers = lambda path: [MutatedWrapper(e, words, mutants) for e in entries(path, yaml.safe_load(path.read_text()))]  # noqa: E731
    return lambda path: "\n".join(source(path.stem, wrappers(path))) + "\n"
