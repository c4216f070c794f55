"""What the generators of mutants share: the table of mutants, and C++ text that gets switches."""
import collections
import re

LITERAL = r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'"


def masked(text):
    """The text with blanks for the contents of literals and comments."""
    quoted = lambda m: m[0][0] + " " * (len(m[0]) - 2) + m[0][0] if m[0][0] in "\"'" else " " * len(m[0])  # noqa: E731
    return re.sub(rf"{LITERAL}|//.*", quoted, text)


def cpp_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def end_of(code, at, stops):
    """Where an expression that begins at `at` ends: at the bracket that closes around it, or before a match of `stops`."""
    depth = 0
    while at < len(code):
        if depth == 0 and re.compile(stops).match(code, at):
            return at
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if depth < 0:
            return at
        at += 1
    return at


def begin_of(code, at, stops):
    """Where an expression that ends at `at` begins: behind the bracket that opens around it, or behind one of the texts `stops`."""
    depth = 0
    while at > 0:
        if depth == 0 and code.endswith(stops, 0, at):
            return at
        depth += (code[at - 1] in ")]}") - (code[at - 1] in "([{")
        if depth < 0:
            return at
        at -= 1
    return at


class Mutants:
    """The table of all mutants of a program. The number of a mutant is its row."""

    def __init__(self):
        self.rows, self.alike = [], collections.Counter()

    def add(self, of, kind, place, *changes):
        """Adds the mutants of one place, and gives the number of the first. Equal texts are told apart by a number behind them."""
        first = len(self.rows)
        for change in changes:
            self.alike[of, kind, place, change] += 1
            again = self.alike[of, kind, place, change]
            self.rows.append((of, kind, place, f"{change} ({again})" if again > 1 else change, first))
        return first

    def table(self):
        rows = [f"    {{{', '.join(map(cpp_string, texts))}, {first}}}," for *texts, first in self.rows]
        return "\n".join(['#include "proof/mutation/mutant.h"', "", "constexpr assay::mutation::Mutant rows[] = {", *rows, "};",
                          "std::span<const assay::mutation::Mutant> assay::mutation::generated_mutants() { return rows; }", ""])


class Source:
    """A C++ file whose places get switches. `code` is its text without the contents of literals and comments."""

    def __init__(self, path, mutants):
        self.name, self.text, self.mutants = path.name, path.read_text(), mutants
        self.code = masked(self.text)
        self.edits = []  # (begin, end, text before, text in place or None, text behind)

    def replace(self, match, text):
        self.edits.append((match.start(), match.end(), "", text, ""))

    def wrap(self, begin, end, before, after):
        self.edits.append((begin, end, before, None, after))

    def edited(self):
        """The text after all edits. Of edits that begin or end together the longer is around the shorter."""
        pieces = []
        for begin, end, before, inside, after in self.edits:
            if inside is not None:
                pieces.append((begin, 1, 0, inside, end))
            else:
                pieces += [(begin, 0, -end, before, begin), (end, -1, -begin, after, end)]
        out, at = [], 0
        for position, _, _, text, end in sorted(pieces):
            out += [self.text[at:position], text]
            at = end
        return "".join(out) + self.text[at:]
