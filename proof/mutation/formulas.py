"""The formulas of reference/operators with a switch at each operator, constant, function and condition.

A binary operator `a < b` becomes `a < Switch<...>{n} < b`, so that precedence finds its operands: clang-format writes spaces around
each. Constant expressions stay as they are."""
import re

from mutants import Source, begin_of, end_of

FILES, SWITCHES = "*.cpp", "formula_switches.h"
# What may replace an operator: another operator, or its first operand alone.
FUNCTORS = {"<": "std::less<>", "<=": "std::less_equal<>", ">": "std::greater<>", ">=": "std::greater_equal<>", "==": "std::equal_to<>", "!=": "std::not_equal_to<>",
            "+": "std::plus<>", "-": "std::minus<>", "*": "std::multiplies<>", "/": "std::divides<>", "%": "std::modulus<>",
            "&": "std::bit_and<>", "|": "std::bit_or<>", "^": "std::bit_xor<>", "dropped": "First",
            "<<": "decltype([](auto a, auto n) { return a << n; })", ">>": "decltype([](auto a, auto n) { return a >> n; })",
            **{op: f"decltype([](auto a, const auto& b) requires requires {{ a {op} b; }} {{ return a {op} b, a; }})" for op in ("+=", "-=", "*=", "/=", "&=", "|=")}}
# operator: (kind of its mutants, an operator of the same precedence, what replaces it)
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


class Formulas(Source):
    def __init__(self, path, mutants):
        super().__init__(path, mutants)
        self.code = CONSTANT.sub(lambda m: " " * len(m[0]), self.code).replace("\n", " ")

    def add(self, kind, at, *changes):
        line = self.text[self.text.rfind("\n", 0, at) + 1 : self.text.find("\n", at)].partition("  //")[0].strip()
        return self.mutants.add(self.name, kind, line, *changes)

    def binary(self):
        for m in BINARY.finditer(self.code):
            op = m[0]
            kind, precedence, others = OPERATORS.get(op) or ("assignment", "+=", (INVERSE[op], "dropped"))
            changes = [f"{op} {'and what follows dropped' if other == 'dropped' else f'is {other}'}" for other in others]
            functors = ", ".join(FUNCTORS[o] for o in (op, *others))
            self.replace(m, f"{precedence} Switch<{functors}>{{{self.add(kind, m.start(), *changes)}}} {precedence}")

    def unary(self):
        for m in MINUS.finditer(self.code):
            self.replace(m, f"negated({self.add('operator', m.start(), '- dropped')}) - ")
        for m in NUMBER.finditer(self.code):
            whole = re.fullmatch(r"(?:0x[0-9a-f]+|\d+)u?", m[0])
            changes = ("one more", "one less") if whole else ("twice", "half")
            self.replace(m, f"constant({self.add('constant', m.start(), *(f'{m[0]} is {c}' for c in changes))}, {m[0]})")

    def calls(self):
        as_lambda = lambda f: f"[](const auto&... v) {{ return {f}(v...); }}"  # noqa: E731
        for m in FUNCTION.finditer(self.code):
            self.replace(m, f"called({self.add('call', m.start(), f'{m[0]} dropped')}, {as_lambda(m[0])})")
        for m in EXTREME.finditer(self.code):
            other = f"std::{SWAPPED[m[1]]}{m[2] or ''}"
            self.replace(m, f"swapped({self.add('call', m.start(), f'{m[0]} is {other}')}, {as_lambda(m[0])}, {as_lambda(other)})")
        for m in WRAPPED.finditer(self.code):
            other = WRAPPING[m[1]]
            self.replace(m, f"swapped({self.add('call', m.start(), f'{m[0]} is {other}')}, {as_lambda(m[0])}, {as_lambda(other)})")

    def logic(self):
        seen = set()
        for m in LOGIC.finditer(self.code):
            stops = r"&&|\|\|" if m[0] == "&&" else r"\|\|"
            end = end_of(self.code, m.end(), rf"{stops}|[,;?]|(?<!:):(?!:)")
            before = ("&&", "||") if m[0] == "&&" else ("||",)
            begin = begin_of(self.code, m.start(), (*before, ",", ";", "?", " : ", " = ", "return ", "&= ", "|= "))
            for operand in ((begin, m.start()), (m.end(), end)):
                if operand not in seen:
                    seen.add(operand)
                    n = self.add("logic", operand[0] + 1, f"{' '.join(self.text[slice(*operand)].split())} dropped")
                    self.wrap(*operand, f" (mutated({n}) || (" if m[0] == "&&" else f" (!mutated({n}) && (", "))")

    def conditions(self):
        decided = re.compile(r"\s(?:[<>=!]=|[<>]|&&|\|\|)\s|[;=]")
        for m in CONDITION.finditer(self.code):
            self.negate(m.end(), end_of(self.code, m.end(), r"(?!)"), decided)
        for m in CHOICE.finditer(self.code):
            stops = (",", ";", "?", " : ", " = ", "return ", "&= ", "|= ", "+= ", "} ", "-> ")
            self.negate(begin_of(self.code, m.start(), stops), m.start(), decided)

    def negate(self, begin, end, decided):
        if not decided.search(self.code[begin:end]):
            n = self.add("logic", begin, f"{' '.join(self.text[begin:end].split())} negated")
            self.wrap(begin, end, f" (mutated({n}) != static_cast<bool>(", "))")

    def mutated(self):
        for find in (self.binary, self.unary, self.calls, self.logic, self.conditions):
            find()
        return self.edited().replace("namespace assay {\n", "namespace assay {\nusing namespace mutation;\n", 1)


def generator(folder, mutants):
    return lambda path: Formulas(path, mutants).mutated()
