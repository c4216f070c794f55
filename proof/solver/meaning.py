"""An entry as formulas over the arguments of a call, in the order in which the reference checks them."""
import functools
import pathlib
import re
import sys
from dataclasses import dataclass

import yaml

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools" / "specgen"))
from entry import SpecError, defined_words, entries, parse_word  # noqa: E402
from expression import Vocabulary  # noqa: E402
from wrapper import Wrapper  # noqa: E402

import expressions  # noqa: E402
import indexing  # noqa: E402
import layouts  # noqa: E402
import promotion  # noqa: E402
import shapes  # noqa: E402
import windows  # noqa: E402
from dtypes import NUMBERS, OPAQUE, SETS, is_complex, is_floating, member, of_higher_kind  # noqa: E402
from formulas import Meaningless, all_of, any_of, ask, no  # noqa: E402
from values import number  # noqa: E402
from words import windows as window_rules  # noqa: E402
from words import conditions, data, dtypes, lists, orders, sizes  # noqa: E402

# By section of spec/rules.md: the modules with the words that are computations.
MODULES = {"Rules": (dtypes, sizes, lists, orders, window_rules, data), "Conditions": (conditions,), "Dtypes": (promotion,),
           "Sizes": (shapes, indexing, windows), "Dim orders": (layouts,)}
VOCABULARY = Vocabulary(ROOT / "spec" / "rules.md")


@dataclass
class Step:
    """A check: its id, the names of the arguments that it reads, its formula, and whether it is a rule of the entry."""
    id: str
    names: frozenset
    condition: object  # a function of the arguments by name
    is_rule: bool = False
    text: str = ""


@dataclass
class Result:
    dtype: object
    sizes: list
    layout: object  # a function that gives its dim order where all is known


class Meaning:
    def __init__(self, entry, words):
        self.entry, self.wrapper = entry, Wrapper(entry, words)
        self.arguments = entry.inputs + [o for o in entry.outs if o.type == "Tensor"]
        self.constants = {a.name: number(int(a.default)) for a in entry.constants}
        self.is_number = entry.family == "number"
        self.roundings = [] if self.is_number else entry.roundings
        rules = [Step(f"{entry.id}.{r.number}", self.names(r.word, r.unless), lambda values, r=r: self.rule(r, values), True, str(r)) for r in entry.rules]
        if self.is_number:
            self.steps = self.stated = rules
            return
        self.common_names = self.names_in([self.wrapper.common, *self.roundings])
        shaped = self.names_in([s for s in self.wrapper.shapes if s] + ([self.wrapper.reduced_dims] if entry.family == "reduce" else []))
        everything = frozenset(a.name for a in self.arguments)
        self.steps = [Step(f"{entry.id}.dtype", self.common_names, self.common_exists), *rules, Step(f"{entry.id}.shape", shaped, self.shape_exists),
                      Step(f"{entry.id}.out", everything, self.holds_results), Step(f"{entry.id}.dtype", everything, self.reads)]
        self.stated = self.steps[:-2]  # that there is a common dtype, the rules, that results have sizes

    # -- words ----------------------------------------------------------------------------------------------------------

    def names(self, *words):
        found = set()
        for word in words:
            for text in word.arguments if word else ():
                found |= {text.rstrip("?")} if self.entry.argument(text.rstrip("?")) else set()
                found |= self.names_in([self.wrapper.common]) if text == "common" else set()
                found |= self.names_in([self.wrapper.reduced_dims]) if text == "dims" else set()
        return frozenset(found - set(self.constants))

    def names_in(self, texts):
        return frozenset().union(*(self.names(parse_word(t)) for t in texts))

    def term(self, text, values):
        name = text.rstrip("?")
        if name in values:
            return values[name]
        if re.fullmatch(r"-?\d+", text):
            return int(text)
        if text in ("true", "false"):
            return text == "true"
        if text.startswith('"'):
            return text.strip('"')
        if text == "common":
            return self.common(values)
        if text == "dims":
            return self.word("Sizes", self.wrapper.reduced_dims, values)
        if text.startswith("dtype "):
            return NUMBERS[text.removeprefix("dtype ")]
        return frozenset().union(*(SETS[s.strip()] for s in text.split("+")))

    def type(self, text):
        """The type of parameter for which an argument is handed to a word."""
        argument = self.entry.argument(text.rstrip("?"))
        if argument:
            type_ = argument.type.replace("ScalarType", "int").replace("MemoryFormat", "int").replace("Tensor?[]", "Tensor[]")
            return type_ if text.endswith("?") or type_.startswith("Tensor") or "[]" in type_ else type_.rstrip("?")
        literals = {r"-?\d+": "literal", r"true|false": "flag", r'".*"': "strings", r"common|dtype .*": "dtype", "dims": "dims"}
        return next((type_ for form, type_ in literals.items() if re.fullmatch(form, text)), "dtypes")

    def asked(self, section, word, values):
        """The value of a word of a section of spec/rules.md."""
        arguments, types = [self.term(a, values) for a in word.arguments], [self.type(a) for a in word.arguments]
        if "strings" in types:
            first = types.index("strings")
            arguments[first:], types[first:] = [tuple(arguments[first:])], ["strings"]
        return meaning_of(section, word.name, tuple(types))(*arguments)

    def word(self, section, text, values):
        return self.asked(section, parse_word(text), values)

    def dtype(self, text, values):
        return self.common(values) if text == "common" else NUMBERS[text] if text in NUMBERS else self.word("Dtypes", text, values)

    def common(self, values):
        return self.dtype(self.wrapper.common, values)

    # -- what is checked ----------------------------------------------------------------------------------------------------

    def rule(self, rule, values):
        """Whether the rule holds; None where it is meaningless."""
        def asked(word, section):
            return ask(lambda: self.asked(section, word, values))[:2]

        optional = [a for a in rule.word.arguments if (found := self.entry.argument(a)) and (found.optional or found.out)]
        if any(values[a] is None for a in optional):
            return True
        excepted = False
        if rule.unless:
            fine, excepted = asked(rule.unless, "Conditions")
            if fine is None or fine is False:
                return fine
            if excepted is True:
                return fine
        holds, value = asked(rule.word, "Rules")
        if holds is None:
            return None
        stated = all_of(holds, value) if holds is not False else False
        return any_of(excepted, stated) if not rule.unless else all_of(fine, any_of(excepted, stated))

    def common_exists(self, values):
        return ask(lambda: [self.common(values), *(self.dtype(r, values) for r in self.roundings)])[0]

    def sizes(self, values):
        """The sizes of each out, or for an out that is a list of tensors a list of sizes."""
        return [self.word("Sizes", shape, values) for shape in self.wrapper.shapes]

    def shape_exists(self, values):
        return ask(self.sizes, values)[0]

    def numbers_of_results(self, values):
        """(the sizes of results, the numbers that C++ computes for them in 64 bits without a check)"""
        holds, made, unguarded = ask(self.sizes, values)
        if made is None:
            return [], []
        flat = [n for size, out in zip(made, self.entry.outs) for one in (size if out.type == "Tensor[]" else [size]) for n in one]
        return flat, unguarded

    def results(self, values):
        """The results of a call that keeps every rule."""
        return ask(self.made, values)[1]

    def made(self, values):
        made = []
        stated = zip(self.sizes(values), self.entry.per_out("dtype", "common"), self.wrapper.layouts, self.entry.outs, strict=True)
        for size, text, layout, out in stated:
            for one in size if out.type == "Tensor[]" else [size]:
                made.append(Result(self.dtype(text, values), one, lambda one=one, layout=layout: self.order(layout, one, values)))
        return made

    def order(self, layout, one, values):
        if not layout:
            return layouts.contiguous(one)
        word = parse_word(layout)
        return tuple(meaning_of("Dim orders", word.name)(one, *(self.term(a, values) for a in word.arguments)))

    def holds_results(self, values):
        def stored():
            for out, text, how in zip(self.entry.outs, self.entry.per_out("dtype", "common"), self.entry.per_out("out", "same"), strict=True):
                result = self.dtype(text, values)
                kind, _, allowed = how.partition(" to ")
                given = values.get(out.name)
                if given is None:
                    continue
                opaque = any_of(member(result, OPAQUE), member(given.dtype, OPAQUE))
                raised = kind != "same" and all_of(no(opaque), kind == "any" or no(of_higher_kind(result, given.dtype)))
                yield all_of(any_of(result == given.dtype, raised), not allowed or member(given.dtype, self.term(allowed, values)))
        holds, value, _ = ask(lambda: all_of(*stored()))
        return all_of(holds, value) if holds else holds

    def reads(self, values):
        """Whether the function can read its arguments and write its results."""
        def readable(argument, dtype, own, T):
            opaque = any_of(member(own, OPAQUE), member(dtype, OPAQUE))
            if T == "bits":
                return any_of(own == dtype, no(opaque))
            return all_of(no(opaque), is_complex(dtype) if T == "complex" else no(is_complex(dtype)))

        def read(argument, T, common):
            how, _ = self.wrapper.how(argument)
            value = values.get(argument.name)
            if value is None or not argument.type.startswith("Tensor") or how == "indexing":
                return True
            if isinstance(value, list):
                return all_of(*(readable(argument, common, t.dtype, how or T) for t in value))
            if how == "operand":
                return readable(argument, meaning_of("Dtypes", "operand", (argument.type, "dtype"))(value, common), value.dtype, T)
            if how == "exact" and T == "complex":
                return no(member(value.dtype, OPAQUE))
            if how in ("", "storage"):
                return readable(argument, common, value.dtype, T)
            return readable(argument, value.dtype, value.dtype, how if how in ("real", "int", "complex", "bits") else T)

        def possible(compute, common):
            written = zip(compute.writes, (r for r in self.entry.per_out("dtype", "common")))
            return all_of(*(read(a, compute.reads, common) for a in self.wrapper.passed),
                          *(no(member(self.dtype(d, values), OPAQUE)) for w, d in written if w != "bits"))

        def dispatched():
            common, computes = self.common(values), self.entry.computes
            by_type = {c.reads: c for c in computes}
            if len(computes) == 1:
                return possible(computes[0], common)
            last = by_type.pop("int" if "int" in by_type else "real")
            tests = {"real": is_floating(common), "complex": is_complex(common)}
            cases = [all_of(tests[t], possible(c, common)) for t, c in by_type.items()]
            return any_of(*cases, all_of(*(no(tests[t]) for t in by_type), possible(last, common)))

        holds, value, _ = ask(dispatched)
        return all_of(holds, value) if holds else holds

    def verdict(self, values):
        """The first rule that a known call breaks; None where it keeps all."""
        values = values | self.constants
        for step in self.steps:
            holds = step.condition(values)
            if holds is None:
                raise Meaningless(f"{step.id} has no meaning")
            if not holds:
                return step.id
        return None


@functools.cache
def meaning_of(section, word, types=()):
    """The function of a word of a section for arguments of these types: its expression, or the function written for the solver."""
    if expression := VOCABULARY.find(section, word, types):
        return expressions.meaning(expression, VOCABULARY)
    function = next((f for m in MODULES[section] if (f := getattr(m, word, None))), None)
    if not function:
        raise SpecError(f"the word {word} has no meaning for the solver: no expression of arguments {', '.join(types)} in spec/rules.md, no function here")
    return function


@functools.cache
def meanings():
    """{name: the meaning of its entry}"""
    words = defined_words(ROOT / "spec" / "rules.md")
    files = sorted((ROOT / "spec" / "operators").glob("*.yaml"))
    return {entry.name: Meaning(entry, words) for path in files for entry in entries(path, yaml.load(path.read_text(), yaml.CSafeLoader))}
