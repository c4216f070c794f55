"""The expressions of spec/rules.md, which defines their language: parsed, and as C++. The solver (proof/solver) makes formulas
of the same trees."""
import ast
import re
from dataclasses import dataclass

import dtype_facts
from entry import SpecError, definitions

# type of a parameter: (its type in C++, the kind of its value, the value)
ARGUMENTS = {
    "Tensor": ("TensorArgument", "tensor", "{a}"),
    "Tensor[]": ("Argument<const Tensors*>", "tensors", "*{a}.value"),
    "int": ("Argument<Int>", "int", "{a}.value"),
    "int?": ("Argument<std::optional<Int>>", "int", "*{a}.value"),
    "int[]": ("Argument<const Ints*>", "ints", "*{a}.value"),
    "float": ("Argument<double>", "double", "{a}.value"),
    "float[]": ("Argument<const Doubles*>", "doubles", "*{a}.value"),
    "bool": ("Argument<bool>", "bool", "{a}.value"),
    "bool?": ("Argument<std::optional<Int>>", "int", "*{a}.value"),
    "bool[]": ("Argument<const Bools*>", "bools", "*{a}.value"),
    "str": ("Argument<std::string_view>", "str", "{a}.value"),
    "str?": ("Argument<std::optional<std::string_view>>", "str", "*{a}.value"),
    "Scalar": ("Argument<Scalar>", "real", "real({a}.value)"),
    "Scalar?": ("Argument<std::optional<Scalar>>", "real", "real(*{a}.value)"),
}
ARGUMENTS |= {f"{name}?": ARGUMENTS[name] for name in ("Tensor", "int[]", "float[]", "bool[]")}
LITERALS = {"literal": ("Int", "int"), "flag": ("bool", "bool"), "dtype": ("DType", "dtype"), "dtypes": ("DTypeSet", "dtypes"),
            "strings": ("std::initializer_list<std::string_view>", "strings")}
RESULTS = {"Rules": "void", "Conditions": "bool", "Dtypes": "DType", "Sizes": "Dims"}
NAMESPACES = {"Rules": "rules", "Conditions": "conditions", "Dtypes": "types", "Sizes": "shapes"}
KINDS = {"Conditions": "bool", "Dtypes": "dtype", "Sizes": "ints"}  # of what a word of a section gives

# attribute of a tensor: (kind, C++)
ATTRIBUTES = {"rank": ("int", "{0}->rank()"), "sizes": ("ints", "{0}->sizes"), "count": ("int", "{0}->count()"), "dtype": ("dtype", "{0}->dtype"),
              "order": ("ints", "{0}->dim_order")}
# function: (kind, C++ of its arguments' values)
FUNCTIONS = {
    "len": ("int", "std::ssize({0})"),
    "size": ("int", "terms::size({0}, {1})"),
    "wrap": ("int", "wrap_dim({0}, {1})"),
    "entry": ("int", "entry({0}, {1})"),
    "count": ("int", "words::elements({0})"),
    "expands": ("bool", "shapes::expands({0}, {1})"),
    "compute": ("dtype", "compute_dtype({0})"),
    "lowest": ("real", "least_integer({0})"),
    "largest": ("real", "largest_integer({0})"),
    "kind": ("kind", "info({0}).kind"),
    "fits": ("bool", "fits({0:scalar}, {1})"),
    "negated": ("scalar", "negated({0:scalar})"),
    "truncated": ("int", "exact<Int>({0:scalar})"),
    "is_bool": ("bool", "is_bool({0:scalar})"),
    "is_floating": ("bool", "is_floating({0:scalar})"),
    "is_finite": ("bool", "std::isfinite({0})"),
    "is_nan": ("bool", "std::isnan({0})"),
    "by_products": ("bool", "by_products({0}->sizes, {1}->sizes, {2}, {3:argument}.value)"),
    "given": ("bool", "words::given({0:argument})"),
}
COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
ARITHMETIC = {ast.Add: ("+", 7), ast.Sub: ("-", 7), ast.Mult: ("*", 8), ast.FloorDiv: ("/", 8), ast.Mod: ("%", 8)}
ATOM, UNARY, ORDER, EQUALITY, AND, OR, CHOICE = 10, 9, 6, 5, 4, 3, 2  # how strongly C++ binds


@dataclass
class Parameter:
    type: str
    name: str


@dataclass
class Term:
    """A part of an expression in C++."""
    kind: str
    text: str
    binds: int = ATOM

    def inside(self, binds):
        return f"({self.text})" if self.binds < binds else self.text


def parsed(text):
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise SpecError(f"`{text}` is not an expression:  {error.msg}") from None


class Expression:
    """The definition of a word: its parameters, the expression, the parts that `where` names, and the sentence of a refusal."""

    def __init__(self, section, signature, text, where, sentence):
        match = re.fullmatch(r"(\w+)(?:\((.*)\))?", signature)
        self.section, self.name, self.text, self.sentence = section, match[1], text, sentence
        self.parameters = [Parameter(*part.split(" ")) for part in match[2].split(", ")] if match[2] else []
        self.types = {p.name: p.type for p in self.parameters}
        self.where = [(name, parsed(value)) for name, value in (w.split(" = ", 1) for w in where)]
        self.body = parsed(text)
        for p in self.parameters:
            if p.type not in ARGUMENTS and p.type not in LITERALS:
                raise SpecError(f"{signature}: {p.type} is not the type of a parameter")
        if (section == "Rules") != bool(sentence):
            raise SpecError(f"{signature}: a word of a rule must have a sentence, and other words must not have one")

    def takes(self, types):
        """Whether the word applies to arguments of these types."""
        return len(types) == len(self.parameters) and all(self.accepts(p.type, t) for p, t in zip(self.parameters, types))

    @staticmethod
    def accepts(parameter, given):
        if parameter in LITERALS:
            return given == parameter or (parameter, given) in (("dtypes", "dtype"), ("dtype", "dtypes"))
        return given in ARGUMENTS and ARGUMENTS[parameter][0] == ARGUMENTS[given][0]

    def loop(self):
        """(variable, list, condition) of a rule `all(condition for variable in list)` whose sentence has the variable; else None."""
        call = self.body
        if isinstance(call, ast.Call) and call.func.id == "all" and len(call.args[0].generators) == 1:
            generator = call.args[0].generators[0]
            if re.search(rf"\{{{generator.target.id}\b", self.sentence):
                return generator.target.id, generator.iter, call.args[0].elt
        return None


class Vocabulary:
    """The words of spec/rules.md: `sections` are the (section, name) of all words, `expressions` those of the defined ones."""

    def __init__(self, rules):
        self.sections, self.expressions = set(), []
        self.dtypes = set(dtype_facts.DTYPES)
        for definition in definitions(rules):
            self.sections |= {(definition.kind, word) for word in definition.words}
            match = re.fullmatch(r"`([^`]+)`(?: where (`[^`]+`(?:, `[^`]+`)*))?.*?(?:; else \"(.*)\")?", definition.sentence)
            if match:
                where = re.findall(r"`([^`]+)`", match[2] or "")
                self.expressions.append(Expression(definition.kind, definition.signatures[0], match[1], where, match[3]))
        self.by_name = {}
        for e in self.expressions:
            self.by_name.setdefault((e.section, e.name), []).append(e)

    def __contains__(self, word):
        return word in self.sections

    def find(self, section, name, types):
        """The expression of a word of a section for arguments of these types; None where it has none."""
        return next((e for e in self.by_name.get((section, name), ()) if e.takes(types)), None)


class Translation:
    """An expression in C++."""

    def __init__(self, expression, vocabulary):
        self.expression, self.vocabulary = expression, vocabulary
        self.terms = {}
        for p in expression.parameters:
            if p.type in LITERALS:
                self.terms[p.name] = Term(LITERALS[p.type][1], p.name)
            else:
                _, kind, value = ARGUMENTS[p.type]
                self.terms[p.name] = Term(kind, value.format(a=p.name), UNARY if value.startswith("*") else ATOM)

    # -- declarations -----------------------------------------------------------------------------------------------------

    @property
    def signature(self):
        e = self.expression
        types = [(ARGUMENTS.get(p.type) or LITERALS[p.type])[0] for p in e.parameters]
        return f"{RESULTS[e.section]} {e.name}({', '.join(f'{t} {p.name}' for t, p in zip(types, e.parameters))})"

    def definition(self):
        e = self.expression
        parts = " ".join([e.text, e.sentence or "", *(ast.unparse(value) for _, value in e.where)])
        unused = [p.name for p in e.parameters if not re.search(rf"\b{p.name}\b", parts)]
        yield re.sub(rf" ({'|'.join(unused)})(?=[,)])", "", self.signature) + " {" if unused else f"{self.signature} {{"
        for name, value in self.expression.where:
            term = self.term(value)
            yield f"  const auto {name} = {term.text};"
            self.terms[name] = Term(term.kind, name)
        yield from (f"  {line}" for line in self.statements())
        yield "}"

    def statements(self):
        e = self.expression
        if e.section != "Rules":
            term = self.term(e.body)
            yield f"return {f'Dims({term.text})' if term.text.startswith('words::slice') else term.text};"
            return
        loop = e.loop()
        if loop:
            name, values, condition = loop
            variable, listed = self.bound(name, values)
            yield f"for (const auto& {variable} : {listed})"
            skipped = f"!{variable} || " if self.terms[name].kind == "tensor" else ""
            yield f"  if (!({skipped}{self.term(condition).text})) throw Broken{{{self.refusal()}}};"
            return
        yield f"if ({self.term(e.body).text}) return;"
        yield f"throw Broken{{{self.refusal()}}};"

    # -- sentences ----------------------------------------------------------------------------------------------------------

    def refusal(self):
        parts = []
        for text, inside in re.findall(r"([^{]+)|\{([^}]*)\}", self.expression.sentence):
            parts += [cpp_string(text)] if text else self.spoken(inside)
        return f"text({', '.join(parts)})"

    def spoken(self, inside):
        """The parts of a sentence for `{inside}`: the name of an argument, its `.value`, a number `: noun`, any other expression."""
        inside, _, noun = inside.partition(":")
        if self.expression.types.get(inside) in ARGUMENTS:
            return [f"{inside}.name"]
        name, is_value, _ = inside.partition(".value")
        term = self.terms[name] if is_value else self.term(parsed(inside))
        if noun:
            return [term.text, f'({term.inside(EQUALITY)} == 1 ? {cpp_string(f" {noun}")} : {cpp_string(f" {plural(noun)}")})']
        spoken = {"bool": '({0} ? "true" : "false")', "dtypes": "words::names({0})", "strings": "words::names({0})", "real": f"{name}.value" if is_value else "{0}"}
        return [spoken.get(term.kind, "{0}").format(term.inside(CHOICE + 1))]

    # -- expressions --------------------------------------------------------------------------------------------------------

    def term(self, node):
        translate = getattr(self, f"visit_{type(node).__name__}", None)
        if not translate:
            raise self.error(node, f"an expression must not contain {type(node).__name__}")
        return translate(node)

    def error(self, node, reason):
        return SpecError(f"{self.expression.name}: `{ast.unparse(node)}`: {reason}")

    def visit_Constant(self, node):
        if isinstance(node.value, bool):
            return Term("bool", str(node.value).lower())
        return Term("str", cpp_string(node.value)) if isinstance(node.value, str) else Term("int", f"{node.value}")

    def visit_Name(self, node):
        if node.id in self.terms:
            return self.terms[node.id]
        if node.id not in self.vocabulary.dtypes:
            raise self.error(node, "this name is neither a parameter nor a dtype")
        return Term("dtype", f"DType::{dtype_facts.ENUMERATORS[node.id]}")

    def visit_Attribute(self, node):
        if node.attr not in ATTRIBUTES:
            raise self.error(node, f"an expression may only use the attributes {', '.join(ATTRIBUTES)}")
        kind, text = ATTRIBUTES[node.attr]
        return Term(kind, text.format(self.term(node.value).inside(ATOM)))

    def visit_List(self, node):
        return Term("ints", f"Dims{{{', '.join(self.term(n).text for n in node.elts)}}}")

    def dtypes(self, node):
        """A set of dtypes, in C++."""
        if isinstance(node, ast.BinOp):
            return f"{self.dtypes(node.left)} | {self.dtypes(node.right)}"
        return self.terms[node.id].text if node.id in self.terms else f"sets::{dtype_facts.ENUMERATORS.get(node.id, node.id)}"

    def visit_Subscript(self, node):
        of = self.term(node.value)
        if isinstance(node.slice, ast.Slice):
            first, last = (self.term(bound).text if bound else default for bound, default in ((node.slice.lower, "0"), (node.slice.upper, f"std::ssize({of.text})")))
            return Term("ints", f"words::slice({of.text}, {first}, {last})")
        kind = {"ints": "int", "bools": "bool", "doubles": "double", "tensors": "tensor"}[of.kind]
        return Term(kind, f"words::at({of.text}, {self.term(node.slice).text})")

    def visit_UnaryOp(self, node):
        value = self.term(node.operand)
        return Term(value.kind, f"{'!' if isinstance(node.op, ast.Not) else '-'}{value.inside(UNARY)}", UNARY)

    def visit_BinOp(self, node):
        if isinstance(node.op, ast.Pow):
            return Term("int", f"{float(ast.literal_eval(node.left) ** ast.literal_eval(node.right)).hex()}")
        sign, binds = ARITHMETIC[type(node.op)]
        return Term("int", f"{self.term(node.left).inside(binds)} {sign} {self.term(node.right).inside(binds + 1)}", binds)

    def visit_BoolOp(self, node):
        sign, binds = ("&&", AND) if isinstance(node.op, ast.And) else ("||", OR)
        return Term("bool", f" {sign} ".join(self.term(v).inside(EQUALITY) for v in node.values), binds)

    def visit_IfExp(self, node):
        test, then, other = (self.term(n) for n in (node.test, node.body, node.orelse))
        return Term(then.kind, f"{test.inside(CHOICE + 1)} ? {then.inside(CHOICE + 1)} : {other.inside(CHOICE)}", CHOICE)

    def visit_Compare(self, node):
        sides = [node.left, *node.comparators]
        parts = [self.compared(a, op, b) for a, op, b in zip(sides, node.ops, sides[1:])]
        return parts[0] if len(parts) == 1 else Term("bool", " && ".join(p.inside(EQUALITY) for p in parts), AND)

    def compared(self, left, op, right):
        a = self.term(left)
        if isinstance(op, (ast.In, ast.NotIn)):
            is_not = "!" * isinstance(op, ast.NotIn)
            if a.kind == "dtype":
                return Term("bool", f"{is_not}sets::has({self.dtypes(right)}, {a.text})", UNARY if is_not else ATOM)
            return Term("bool", f"{is_not}words::contains({self.term(right).text}, {a.text})", UNARY if is_not else ATOM)
        b, sign = self.term(right), COMPARISONS[type(op)]
        if "ints" in (a.kind, b.kind):
            return Term("bool", f"{'!' * (sign == '!=')}std::ranges::equal({a.text}, {b.text})", UNARY)
        a, b = converted(a, b.kind), converted(b, a.kind)
        binds = EQUALITY if sign in ("==", "!=") else ORDER
        return Term("bool", f"{a.inside(binds + 1)} {sign} {b.inside(binds + 1)}", binds)

    def visit_Call(self, node):
        name = ast.unparse(node.func)
        if name in ("all", "any"):
            return self.quantified(name, node.args[0].generators, node.args[0].elt)
        if name in ("max", "min"):
            values = ", ".join(self.term(n).text for n in node.args)
            return Term("int", f"std::{name}<Int>({values if len(node.args) == 2 else f'{{{values}}}'})")
        if name in FUNCTIONS:
            kind, text = FUNCTIONS[name]
            return Term(kind, text.format(*(Handed(self, n) for n in node.args)))
        section = next((s for s in (self.expression.section, *KINDS) if s in KINDS and (s, name) in self.vocabulary), None)
        if not section:
            raise self.error(node, f"{name} is neither a function nor a word with a value")
        return Term(KINDS[section], f"{NAMESPACES[section]}::{name}({', '.join(Handed(self, n).argument for n in node.args)})")

    def bound(self, name, values):
        """(the variable, the list that it goes through) of a loop."""
        if isinstance(values, ast.Call) and values.func.id == "range":
            self.terms[name] = Term("int", name)
            first, last = [self.term(n).text for n in values.args] if len(values.args) == 2 else ["0", self.term(values.args[0]).text]
            return name, f"words::Numbers{{{first}, {last}}}"
        listed = self.term(values)
        self.terms[name] = Term({"ints": "int", "tensors": "tensor"}[listed.kind], name)
        return name, listed.text

    def quantified(self, name, generators, condition):
        generator, *more = generators
        before = dict(self.terms)
        variable, listed = self.bound(generator.target.id, generator.iter)
        inner = self.quantified(name, more, condition) if more else self.term(condition)
        is_tensor = self.terms[variable].kind == "tensor"
        text = inner.text if not is_tensor else f"!{variable} || {inner.inside(EQUALITY)}" if name == "all" else f"{variable} && {inner.inside(EQUALITY)}"
        self.terms = before
        return Term("bool", f"words::{name}({listed}, [&](const auto& {variable}) {{ return {text}; }})")


class Handed:
    """An argument of a function: its value, as `argument` a parameter with its name, as `scalar` a Scalar."""

    def __init__(self, translation, node):
        self.translation, self.node = translation, node

    def __format__(self, how):
        return getattr(self, how) if how else self.translation.term(self.node).text

    @property
    def argument(self):
        if isinstance(self.node, ast.Name) and self.node.id in self.translation.expression.types:
            return self.node.id
        text = self.translation.term(self.node).text
        return f'{{"", {text}}}' if isinstance(self.node, ast.Constant) else text

    @property
    def scalar(self):
        if isinstance(self.node, ast.Name):
            optional = self.translation.expression.types[self.node.id].endswith("?")
            return f"{'*' * optional}{self.node.id}.value"
        return self.translation.term(self.node).text


def converted(term, kind):
    """A number to be compared with one of another kind."""
    types = {"real": "Real", "double": "double"}
    return Term(kind, f"static_cast<{types[kind]}>({term.text})") if term.kind == "int" and kind in types else term


def plural(noun):
    return noun.removesuffix("y") + "ies" if noun.endswith("y") else noun + "s"


def cpp_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


# -- what specgen writes --------------------------------------------------------------------------------------------------


def in_namespaces(vocabulary, lines_of):
    for section, namespace in NAMESPACES.items():
        of_section = [Translation(e, vocabulary) for e in vocabulary.expressions if e.section == section]
        if of_section:
            yield from [f"namespace {namespace} {{", "", *(line for t in of_section for line in lines_of(t)), "", f"}}  // namespace {namespace}", ""]


def words_header(vocabulary):
    return ["#pragma once", "", '#include "reference/call.h"', "", "namespace assay {", "",
            *in_namespaces(vocabulary, lambda t: [f"{t.signature};"]), "}  // namespace assay"]


def words_source(vocabulary):
    includes = ["<algorithm>", "<cmath>", '"reference/numerics/distance.h"',
                *(f'"reference/words/{h}.h"' for h in ("dtypes", "rules", "rules/expression", "shapes", "terms", "window"))]
    return [*(f"#include {i}" for i in includes), "", "namespace assay {", "", *in_namespaces(vocabulary, lambda t: [*t.definition(), ""]), "}  // namespace assay"]
