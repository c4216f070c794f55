"""The expressions of spec/rules.md as formulas: what tools/specgen/expression.py makes C++ of, here of known and open numbers."""
import ast
import operator

import dtypes
import indexing
import promotion
import shapes
import windows
from dtypes import COMPUTE, LEVELS, NUMBERS, SETS, choose_dtype, fact, mapped_dtype, member
from formulas import (Meaningless, all_of, any_of, ask, choose, equal, known, maximum, minimum, no, pick, product, quotient,
                      remainder, require, unguarded)
from values import BOOL, Scalar, wrap
from words import conditions
import scalars

SIZES = (shapes, indexing, windows)
ATTRIBUTES = ("rank", "sizes", "count", "dtype", "order")
FUNCTIONS = {
    "len": len,
    "size": lambda tensor, dim: tensor.along(dim),
    "wrap": wrap,
    "entry": windows.entry,
    "count": product,
    "expands": shapes.expands,
    "compute": lambda dtype: mapped_dtype(dtype, COMPUTE),
    "lowest": lambda dtype: fact(dtype, {d: dtypes.least_integer(d) for d in dtypes.ALL}),
    "largest": lambda dtype: fact(dtype, {d: dtypes.largest_integer(d) for d in dtypes.ALL}),
    "kind": lambda dtype: fact(dtype, LEVELS),
    "fits": scalars.fits,
    "negated": scalars.negated,
    "truncated": Scalar.truncated,
    "is_bool": lambda scalar: scalar.kind == BOOL,
    "is_floating": lambda scalar: scalar.floating,
    "is_finite": lambda scalar: scalar.finite,
    "is_nan": lambda scalar: scalar.nan,
    "by_products": conditions.by_products,
    "given": lambda argument: argument is not None,
}
COMPARISONS = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
REVERSED = {ast.Eq: ast.Eq, ast.NotEq: ast.NotEq, ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: quotient, ast.Pow: pow,
              ast.Mod: lambda a, b: remainder(a, b if known(b) else choose(b != 0, b, 1))}


def meaning(expression, vocabulary):
    """The word as a function of the values of its arguments."""
    def word(*arguments):
        values = dict(zip(expression.types, arguments))
        formula = Formula(expression, vocabulary, values)
        for name, part in expression.where:
            values[name] = formula.of(part)
        return formula.of(expression.body)
    return word


def where(condition, word):
    """The value of a word that is asked only where a condition holds; what it requires need hold only there."""
    holds, value, numbers = ask(word)
    if holds is None:
        raise Meaningless
    require(any_of(no(condition), holds))
    for n in numbers:
        unguarded(n)
    return value


class Formula:
    def __init__(self, expression, vocabulary, values):
        self.expression, self.vocabulary, self.values = expression, vocabulary, values

    def of(self, node):
        return getattr(self, f"visit_{type(node).__name__}")(node)

    def visit_Constant(self, node):
        return node.value

    def visit_Name(self, node):
        return self.values[node.id] if node.id in self.values else NUMBERS[node.id]

    def visit_Attribute(self, node):
        assert node.attr in ATTRIBUTES
        return getattr(self.of(node.value), node.attr)

    def visit_List(self, node):
        return [self.of(n) for n in node.elts]

    def dtypes(self, node):
        if isinstance(node, ast.BinOp):
            return self.dtypes(node.left) | self.dtypes(node.right)
        return self.values[node.id] if node.id in self.values else SETS[node.id]

    def visit_Subscript(self, node):
        values = self.of(node.value)
        if not isinstance(node.slice, ast.Slice):
            return pick(values, self.of(node.slice))
        first, last = (self.of(bound) if bound else None for bound in (node.slice.lower, node.slice.upper))
        if any(bound is not None and not -len(values) <= bound <= len(values) for bound in (first, last)):
            raise Meaningless
        return values[first:last]

    def visit_UnaryOp(self, node):
        value = self.of(node.operand)
        return no(value) if isinstance(node.op, ast.Not) else -value

    def visit_BinOp(self, node):
        return ARITHMETIC[type(node.op)](self.of(node.left), self.of(node.right))

    def visit_BoolOp(self, node):
        """What stands behind a condition that decides is not asked."""
        is_and = isinstance(node.op, ast.And)
        join, decisive = (all_of, False) if is_and else (any_of, True)
        found = not decisive
        for value in node.values:
            if found is decisive:
                return found
            more = self.of(value) if known(found) else where(found if is_and else no(found), lambda value=value: self.of(value))
            found = join(found, False if more is None else more)
        return found

    def visit_IfExp(self, node):
        test = self.of(node.test)
        if known(test):
            return self.of(node.body if test else node.orelse)
        then, other = where(test, lambda: self.of(node.body)), where(no(test), lambda: self.of(node.orelse))
        return (choose_dtype if self.is_dtype(node.body) else choose)(test, then, other)

    def is_dtype(self, node):
        if isinstance(node, ast.IfExp):
            return self.is_dtype(node.body)
        if isinstance(node, ast.Name):
            return node.id in NUMBERS if node.id not in self.values else self.expression.types.get(node.id) == "dtype"
        if isinstance(node, ast.Call):
            return ("Dtypes", node.func.id) in self.vocabulary or node.func.id == "compute"
        return isinstance(node, ast.Attribute) and node.attr == "dtype"

    def visit_Compare(self, node):
        sides = [node.left, *node.comparators]
        return all_of(*(self.compared(*pair) for pair in zip(sides, node.ops, sides[1:])))

    def compared(self, left, op, right):
        if isinstance(op, (ast.In, ast.NotIn)):
            value, holder = self.of(left), self.values.get(getattr(right, "id", None))
            within = value in holder if isinstance(holder, tuple) else member(value, self.dtypes(right))
            return within if isinstance(op, ast.In) else no(within)
        return compared(self.of(left), type(op), self.of(right))

    def visit_Call(self, node):
        name = node.func.id
        if name in ("all", "any"):
            join = all_of if name == "all" else any_of
            return join(*self.each(node.args[0].generators, node.args[0].elt, name == "any"))
        arguments = [self.of(n) for n in node.args]
        if name in ("max", "min"):
            found, *more = arguments
            for n in more:
                found = (maximum if name == "max" else minimum)(found, n)
            return found
        if name in FUNCTIONS:
            return FUNCTIONS[name](*arguments)
        types = [self.type(n) for n in node.args]
        sections = [s for s in dict.fromkeys((self.expression.section, *MODULES)) if s in MODULES and (s, name) in self.vocabulary]
        return given_meaning(self.vocabulary, sections, name, types)(*arguments)

    def type(self, node):
        """As which type of parameter a part is handed to a word."""
        if isinstance(node, ast.Name) and node.id in self.expression.types:
            return self.expression.types[node.id]
        return "dtype" if self.is_dtype(node) else "literal"

    def each(self, generators, condition, decisive):
        """The condition for each of what generators go through, up to one that decides."""
        (generator, *more), name = generators, generators[0].target.id
        for value in self.through(generator.iter):
            if value is None:
                continue
            self.values[name] = value
            found = list(self.each(more, condition, decisive)) if more else [self.of(condition)]
            yield from found
            if decisive in found:
                break
        self.values.pop(name, None)

    def through(self, node):
        if isinstance(node, ast.Call) and node.func.id == "range":
            return range(*(self.of(n) for n in node.args))
        return self.of(node)


def compared(a, op, b):
    if isinstance(b, Scalar) and not isinstance(a, Scalar):
        return compared(b, REVERSED[op], a)
    holds = COMPARISONS[op]
    if isinstance(a, Scalar):
        if op is ast.NotEq:
            return no(compared(a, ast.Eq, b))
        return a.compares(lambda twice: holds(twice, 2 * b)) if not isinstance(b, Scalar) else all_of(no(a.nan), no(b.nan), holds(a.order, b.order))
    if isinstance(a, (list, tuple)):
        return equal(a, b) if op is ast.Eq else no(equal(a, b))
    return holds(a, b)


MODULES = {"Conditions": (conditions,), "Sizes": SIZES, "Dtypes": (promotion,)}


def given_meaning(vocabulary, sections, name, types):
    """The function of a word of one of the sections that gives something: of its expression, or one written for the solver."""
    for section in sections:
        if expression := vocabulary.find(section, name, types):
            return meaning(expression, vocabulary)
    return next(f for section in sections for m in MODULES[section] if (f := getattr(m, name, None)))
