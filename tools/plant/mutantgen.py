#!/usr/bin/env python3
"""Writes the sources of reference/operators with faults in their formulas, each switched on by its number.

    mutantgen.py OPERATORS OUT     writes OUT/formulas/<file>.cpp and OUT/formulas/mutants.cpp, the table of what is planted
    mutantgen.py --files OPERATORS lists the files it would write, for the build

A binary operator `a < b` becomes `a < Switch<...>{n} < b`, so that precedence finds its operands; clang-format has put spaces
around each. What a constant expression needs stays as it is.
"""
import argparse
import pathlib
import re
from collections import Counter

from checkgen import cpp_string, masked

# What else may stand in place of an operator: another, or its first operand alone.
FUNCTORS = {"<": "std::less<>", "<=": "std::less_equal<>", ">": "std::greater<>", ">=": "std::greater_equal<>", "==": "std::equal_to<>", "!=": "std::not_equal_to<>",
            "+": "std::plus<>", "-": "std::minus<>", "*": "std::multiplies<>", "/": "std::divides<>", "%": "std::modulus<>",
            "&": "std::bit_and<>", "|": "std::bit_or<>", "^": "std::bit_xor<>", "dropped": "First",
            "<<": "decltype([](auto a, auto n) { return a << n; })", ">>": "decltype([](auto a, auto n) { return a >> n; })",
            **{op: f"decltype([](auto a, const auto& b) requires requires {{ a {op} b; }} {{ return a {op} b, a; }})" for op in ("+=", "-=", "*=", "/=", "&=", "|=")}}
# (operators, those that have the precedence of which the first is, what stands instead)
OPERATORS = {
    **{op: ("comparison", "<", others) for op, others in {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<")}.items()},
    **{op: ("comparison", "==", others) for op, others in {"==": ("!=",), "!=": ("==",)}.items()},
    **{op: ("operator", "+", (other, "dropped")) for op, other in {"+": "-", "-": "+"}.items()},
    **{op: ("operator", "*", (other, "dropped")) for op, other in {"*": "/", "/": "*", "%": "/"}.items()},
    **{op: ("operator", "<<", (other, "dropped")) for op, other in {"<<": ">>", ">>": "<<"}.items()},
    **{op: ("operator", op, (other, "dropped")) for op, other in {"&": "|", "|": "&", "^": "|"}.items()},
}
INVERSE = {"+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "&=": "|=", "|=": "&="}
SWAPPED = {"max": "min", "min": "max", "fmax": "fmin", "fmin": "fmax"}
WRAPPING = {"wrapping_add": "wrapping_subtract", "wrapping_subtract": "wrapping_add", "wrapping_multiply": "wrapping_add"}

BINARY = re.compile(r"(?<=\s)(<=|>=|==|!=|<<|>>|[-+*/&|]=|[-+*/%<>&|^])(?=\s)")
MINUS = re.compile(r"(?:(?<=[({\[])|(?<=\breturn )|(?<=[,=?:] ))-(?=[\w(])")
NUMBER = re.compile(r"(?<![\w.<])(?:0x[0-9a-f]+(?:p[-+]?\d+)?|\d+(?:\.\d+)?(?:e[-+]?\d+)?)u?(?![\w.>])")
FUNCTION = re.compile(r"std::(?:fabs|abs|floor|ceil|trunc|nearbyint|sqrt|cbrt|exp|exp2|expm1|log|log2|log10|log1p|a?(?:sin|cos|tan)h?|erfc?|[tl]gamma|"
                      r"isnan|isinf|isfinite|signbit|hypot|pow|fmod|remainder|copysign|atan2|ldexp|conj|norm|arg|polar)(?=\()")
EXTREME = re.compile(r"std::(max|min|fmax|fmin)(<\w+>)?(?=\((?!\{))")
WRAPPED = re.compile(r"\b(wrapping_(?:add|subtract|multiply))(?=\()")
LOGIC = re.compile(r"(?<=\s)(&&|\|\|)(?=\s)")
CONDITION = re.compile(r"(?:\bif |\bwhile )\(")
CHOICE = re.compile(r" \? ")
CONSTANT = re.compile(r"\bconstexpr\b(?! \()[^;]*;|^#.*$|\bcase [^:]*:|^(?:const|enum)\b[^;]*;|\busing\b[^;]*;|\btemplate <[^>]*>", re.M)


def end_of(text, at, stops):
    """Where an expression that begins there ends: at the bracket that closes around it, or before a stop in it."""
    depth = 0
    while at < len(text):
        if depth == 0 and stops.match(text, at):
            return at
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth < 0:
            return at
        at += 1
    return at


def begin_of(text, at, stops):
    """Where an expression that ends there begins; `stops` may end in front of it."""
    depth = 0
    while at > 0:
        if depth == 0 and any(text.endswith(stop, 0, at) for stop in stops):
            return at
        depth += (text[at - 1] in ")]}") - (text[at - 1] in "([{")
        if depth < 0:
            return at
        at -= 1
    return at


class Source:
    """A file with faults; `mutants` grows by them."""

    def __init__(self, path, mutants):
        self.name, self.text, self.mutants = path.name, path.read_text(), mutants
        self.code = CONSTANT.sub(lambda m: " " * len(m[0]), masked(self.text)).replace("\n", " ")
        self.alike = Counter()
        self.edits = []  # (begin, end, what stands before, what in place, what behind)

    def plant(self, kind, at, *changes):
        """The number of the first of the faults, which follow one another. Of those that read alike the later ones are numbered."""
        first, line = len(self.mutants), self.text[self.text.rfind("\n", 0, at) + 1 : self.text.find("\n", at)].strip()
        for change in changes:
            self.alike[line, change] += 1
            again = self.alike[line, change]
            self.mutants.append((self.name, kind, line, f"{change} ({again})" if again > 1 else change, first))
        return first

    def replace(self, match, text):
        self.edits.append((match.start(), match.end(), "", text, ""))

    def wrap(self, begin, end, before, after):
        self.edits.append((begin, end, before, None, after))

    def binary(self):
        for m in BINARY.finditer(self.code):
            op = m[0]
            kind, precedence, others = OPERATORS.get(op) or ("assignment", "+=", (INVERSE[op], "dropped"))
            said = [f"{op} {'and what follows dropped' if other == 'dropped' else f'is {other}'}" for other in others]
            functors = ", ".join(FUNCTORS[o] for o in (op, *others))
            self.replace(m, f"{precedence} Switch<{functors}>{{{self.plant(kind, m.start(), *said)}}} {precedence}")

    def unary(self):
        for m in MINUS.finditer(self.code):
            self.replace(m, f"negated({self.plant('operator', m.start(), '- dropped')}) - ")
        for m in NUMBER.finditer(self.code):
            whole = re.fullmatch(r"(?:0x[0-9a-f]+|\d+)u?", m[0])
            said = ("one more", "one less") if whole else ("twice", "half")
            self.replace(m, f"constant({self.plant('constant', m.start(), *(f'{m[0]} is {s}' for s in said))}, {m[0]})")

    def calls(self):
        as_lambda = lambda f: f"[](const auto&... v) {{ return {f}(v...); }}"  # noqa: E731
        for m in FUNCTION.finditer(self.code):
            self.replace(m, f"called({self.plant('call', m.start(), f'{m[0]} dropped')}, {as_lambda(m[0])})")
        for m in EXTREME.finditer(self.code):
            other = f"std::{SWAPPED[m[1]]}{m[2] or ''}"
            self.replace(m, f"swapped({self.plant('call', m.start(), f'{m[0]} is {other}')}, {as_lambda(m[0])}, {as_lambda(other)})")
        for m in WRAPPED.finditer(self.code):
            other = WRAPPING[m[1]]
            self.replace(m, f"swapped({self.plant('call', m.start(), f'{m[0]} is {other}')}, {as_lambda(m[0])}, {as_lambda(other)})")

    def logic(self):
        seen = set()
        for m in LOGIC.finditer(self.code):
            stops = r"&&|\|\|" if m[0] == "&&" else r"\|\|"
            end = end_of(self.code, m.end(), re.compile(rf"{stops}|[,;?]|(?<!:):(?!:)"))
            before = ["&&", "||"] if m[0] == "&&" else ["||"]
            begin = begin_of(self.code, m.start(), [*before, ",", ";", "?", " : ", " = ", "return ", "&= ", "|= "])
            for operand in ((begin, m.start()), (m.end(), end)):
                if operand not in seen:
                    seen.add(operand)
                    n = self.plant("logic", operand[0] + 1, f"{' '.join(self.text[slice(*operand)].split())} dropped")
                    self.wrap(*operand, f" (planted({n}) || (" if m[0] == "&&" else f" (!planted({n}) && (", "))")

    def conditions(self):
        decided = re.compile(r"\s(?:[<>=!]=|[<>]|&&|\|\|)\s|[;=]")
        for m in CONDITION.finditer(self.code):
            self.negate(m.end(), end_of(self.code, m.end(), re.compile(r"(?!)")), decided)
        for m in CHOICE.finditer(self.code):
            stops = [",", ";", "?", " : ", " = ", "return ", "&= ", "|= ", "+= ", "} ", "-> "]
            self.negate(begin_of(self.code, m.start(), stops), m.start(), decided)

    def negate(self, begin, end, decided):
        if not decided.search(self.code[begin:end]):
            n = self.plant("logic", begin, f"{' '.join(self.text[begin:end].split())} negated")
            self.wrap(begin, end, f" (planted({n}) != static_cast<bool>(", "))")

    def planted(self):
        for find in (self.binary, self.unary, self.calls, self.logic, self.conditions):
            find()
        # Edits that begin or end together are nested, the longer around the shorter.
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


def table(mutants):
    rows = [f"    {{{', '.join(map(cpp_string, words))}}}," for *words, _ in mutants]
    places = [f"    {first}," for *_, first in mutants]
    return "\n".join(['#include "tools/plant/mutants.h"', "", "namespace assay::mutants {", "", "constexpr plant::Planted table[] = {", *rows, "};",
                      "constexpr int firsts[] = {", *places, "};", "std::span<const plant::Planted> all() { return table; }",
                      "int first_of_place(std::size_t mutant) { return firsts[mutant]; }", "", "}  // namespace assay::mutants", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="only list what would be written")
    parser.add_argument("operators", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    options = parser.parse_args()
    sources, mutants = sorted(options.operators.glob("*.cpp")), []
    if options.files:
        print(";".join(f"formulas/{name}.cpp" for name in [*(s.stem for s in sources), "mutants"]), end="")
        return
    (options.out / "formulas").mkdir(parents=True, exist_ok=True)
    for path in sources:
        text = Source(path, mutants).planted()
        text = text.replace("namespace assay {\n", "namespace assay {\nusing namespace mutants;\n", 1)
        (options.out / "formulas" / path.name).write_text('#include "tools/plant/mutants.h"\n' + text)
    (options.out / "formulas" / "mutants.cpp").write_text(table(mutants))


if __name__ == "__main__":
    main()
