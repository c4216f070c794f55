"""The page of one operator, from its entry, the words of its entry, its function and its recorded calls."""
import re

from formula import formula
from recorded import asking
from sources import highlighted
from dtype_facts import ALIASES
from wrapper import CONSUMED

SHOWN = {"schema", "math", "common", "dtype", "out", "shape", "layout", "dims", "rules", "accuracy", "notes", "terms",
         "magnitude", "choice", "function"}  # keys that have a part of the page of their own


class OperatorPage:
    def __init__(self, book, group, item, wrapper):
        self.book, self.group, self.wrapper, self.entry = book, group, wrapper, wrapper.entry
        self.chain = group.chain(item)
        self.name, self.id = self.entry.name, self.entry.id
        self.path = f"operators/{self.name.replace('::', '.')}.html"
        self.root = "../"

    @property
    def formula(self):
        return formula(self.entry.data["math"], [a.name for a in self.entry.arguments])

    def word(self, kind, text):
        return self.book.words.explained(kind, text, self.entry, self.root)

    # -- arguments and results -----------------------------------------------------------------------------------

    @property
    def arguments(self):
        for a in self.entry.inputs:
            rules = [r.number for r in self.entry.rules if any(re.fullmatch(rf"{a.name}\??", word) for word in r.word.arguments)]
            yield {"name": a.name, "type": f"{a.type.replace('[]', f'[{a.length or str()}]')}", "default": a.default, "rules": rules,
                   "mutated": a.mutated, "seen": a in self.wrapper.passed or a.name == self.entry.data.get("fill"),
                   "consumed": a.name in CONSUMED.get(self.entry.family, ()) and a.name not in self.entry.data.get("unused", []),
                   "read": self.entry.data.get("read", {}).get(a.name)}

    @property
    def common(self):
        return None if self.entry.family == "number" else self.word("dtype", self.wrapper.common)

    @property
    def results(self):
        if self.entry.family == "number":
            return
        entry = self.entry
        columns = entry.per_out("dtype", "common"), self.wrapper.shapes, self.wrapper.layouts, entry.per_out("out", "same")
        for out, dtype, shape, layout, stored in zip(entry.outs, *columns):
            yield {"name": out.name, "type": out.type, "dtype": self.word("dtype", dtype), "shape": self.word("shape", shape),
                   "layout": self.word("layout", layout or "contiguous"), "stored": stored, "stored_means": self.book.outs.get(re.sub(r"(?<=cast to) .*", "", stored), "")}

    @property
    def reduced_dims(self):
        return self.word("shape", self.wrapper.reduced_dims) if self.entry.family == "reduce" else None

    @property
    def other_keys(self):
        """The other keys of the entry, unchanged."""
        return [(key, plain(value)) for key, value in self.entry.data.items() if key not in SHOWN]

    # -- rules and accuracy --------------------------------------------------------------------------------------

    @property
    def rules(self):
        for rule in self.entry.rules:
            yield {"number": rule.number, "outcome": rule.outcome, "word": self.word("rule", str(rule.word)),
                   "unless": self.word("condition", str(rule.unless)) if rule.unless else None, "recorded": self.recorded_refusals(rule.number)}

    @property
    def general_rules(self):
        for name, meaning in self.book.general_rules:
            yield {"number": name, "meaning": meaning, "recorded": self.recorded_refusals(name)}

    def recorded_refusals(self, number):
        return self.coverage["rules"].get(f"{self.id}.{number}", 0)

    @property
    def accuracy(self):
        names = [a.name for a in self.entry.outs]
        for output, dtype, text in self.entry.accuracy_rows:
            yield {"out": names[output] if output >= 0 else "", "dtype": "any other" if dtype == "all" else ALIASES.get(dtype, dtype), "row": text}

    @property
    def measures(self):
        return self.book.numerics.explained(text for _, _, text in self.entry.accuracy_rows)

    @property
    def accuracy_comments(self):
        """The comments beside the name and above the key `accuracy`, of the item that states the accuracy."""
        for item in reversed(self.chain):
            lines = self.group.item(item)[0].splitlines()
            at = next((i for i, line in enumerate(lines) if line.startswith("  accuracy:")), None)
            if at is not None:
                first = at
                while first > 0 and lines[first - 1].startswith("  #"):
                    first -= 1
                beside = re.search(r"#\s*(.*)", lines[0])
                return [beside[1] if beside else "", " ".join(line.strip(" #") for line in lines[first:at])]
        return []

    @property
    def terms(self):
        return [self.word("terms", t) for t in self.wrapper.terms] if self.entry.family != "number" else []

    @property
    def magnitudes(self):
        """[(word, source)]"""
        words = dict.fromkeys(str(m) for c in self.entry.data.get("compute") and self.entry.computes or [] if (m := self.entry.magnitude(c.reads)))
        return [(word, self.source(word.partition("(")[0])) for word in words]

    # -- sources ------------------------------------------------------------------------------------------------

    def source(self, function):
        return {"html": highlighted(self.book.functions.text(function), "cpp"), "place": "{}:{}".format(*self.book.place(function))}

    @property
    def function(self):
        return self.source(self.entry.function)

    @property
    def standing(self):
        """The source of the entry, after the items that it merges."""
        for item in self.chain:
            text, line = self.group.item(item)
            yield {"html": highlighted(text, "yaml"), "place": f"spec/operators/{self.group.path.name}:{line}"}

    # -- recorded calls and verdicts ----------------------------------------------------------------------------

    @property
    def coverage(self):
        return self.book.coverages.get(self.name, {"calls": 0, "refused": 0, "dtypes": [], "layouts": [], "largest_result": 0, "rules": {}, "examples": []})

    @property
    def examples(self):
        for e in self.coverage["examples"]:
            yield {**e, "command": asking(self.name, e)}

    @property
    def dim_orders(self):
        """The dim orders with names, and the number of others."""
        named = [order for order in self.coverage["layouts"] if not order.startswith("(")]
        others = len(self.coverage["layouts"]) - len(named)
        return ", ".join(named + [f"{others} other{'s' if others > 1 else ''}"] * bool(others)) or "none"

    @property
    def rules_never_refused(self):
        return [r.number for r in self.entry.rules if not self.recorded_refusals(r.number)]

    @property
    def verdicts(self):
        return self.book.runs.verdicts.get(self.name, {})

    @property
    def defects(self):
        return self.book.runs.defects.get(self.name, [])

    @property
    def kernels(self):
        return self.book.kernels.get(self.name, [])

    @property
    def is_bounded(self):
        return all("unspecified" not in str(text) for _, _, text in self.entry.accuracy_rows)

    @property
    def searched(self):
        words = [str(r) for r in self.entry.rules] + [a.name for a in self.entry.arguments]
        return f"{self.entry.data['math']} {' '.join(words)} {self.entry.data.get('notes', '')}"


def plain(value):
    if isinstance(value, dict):
        return ", ".join(f"{k}: {plain(v)}" for k, v in value.items())
    return ", ".join(map(plain, value)) if isinstance(value, list) else str(value)
