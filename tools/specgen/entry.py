"""Entries of spec/operators, parsed: the schema, the rules, and the names in them."""
import re
from dataclasses import dataclass, field

from dtype_facts import of_kind

OUTCOMES = {"R": "invalid", "D": "fault", "U": "unsupported"}  # by the first letter of a rule's number
NUMBERS = ("Scalar", "int", "bool")  # the types that an operator of family number returns
KEYS = {"schema", "family", "math", "function", "common", "dtype", "out", "shape", "layout", "compute", "rules", "read",
        "dims", "unused", "rounding", "accuracy", "terms", "work", "magnitude", "choice", "notes", "fill", "with", "functional", "options", "in_place"}


class SpecError(Exception):
    """A sentence that names the entry and its error."""


@dataclass
class Argument:
    name: str
    type: str  # ATen's, without list length and SymInt
    default: str
    out: bool
    length: int = 0  # of an int[2]: 2; 0: any
    mutated: bool = False

    @property
    def optional(self):
        return self.type.endswith("?")


@dataclass
class Word:
    """`word(argument, ...)`. An argument is a name of the schema, a literal, or a sum of dtype sets."""
    name: str
    arguments: list

    def __str__(self):
        return f"{self.name}({', '.join(self.arguments)})"


@dataclass
class Rule:
    """`word(...)`, or `word(...) unless condition(...)`: the rule is checked only where the condition does not hold."""
    number: str
    word: Word
    unless: Word | None

    def __str__(self):
        return f"{self.word} unless {self.unless}" if self.unless else str(self.word)

    @property
    def outcome(self):
        return OUTCOMES[self.number[0]]


@dataclass
class Compute:
    """`real -> real int`: arguments are read as `reads`; results are written as `writes`, one for each out."""
    reads: str
    writes: list


@dataclass
class Definition:
    """An item of a list of spec/rules.md: words, with their arguments, and what they mean. `kind` is the title of its section."""
    kind: str
    signatures: list
    sentence: str

    @property
    def words(self):
        return [re.match(r"\w+", s)[0] for s in self.signatures]


def definitions(rules):
    for section in rules.read_text().split("\n## ")[1:]:
        kind = section.partition("\n")[0]
        for item in re.findall(r"^- (`.*(?:\n  .*)*)", section, re.M):
            signatures, sentence = re.fullmatch(r"((?:`[^`]+`(?:, )?)+)(?:: (.*))?", re.sub(r"\s+", " ", item)).groups()
            yield Definition(kind, re.findall(r"`([^`]+)`", signatures), sentence or "")


def defined_words(rules):
    """The words that spec/rules.md defines."""
    return {word for definition in definitions(rules) for word in definition.words}


def parse_word(text):
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", str(text))
    if not match:
        raise SpecError(f"'{text}' is not of the form word(argument, ...)")
    name, inside = match.groups()
    return Word(name, [a.strip() for a in inside.split(",")] if inside and inside.strip() else [])


def parse_rule(number, text):
    word, _, unless = str(text).partition(" unless ")
    return Rule(number, parse_word(word), parse_word(unless) if unless else None)


def parse_schema(text):
    """(name, arguments): those of the schema, then an out for each argument that the operator mutates, and one for a number
    that it returns."""
    match = re.fullmatch(r"([\w]+::[\w.]+)\((.*)\) -> (.*)", text)
    if not match:
        raise SpecError(f"'{text}' is not an ATen schema")
    positional, _, by_name = match.group(2).partition("*")
    arguments = [parse_argument(part, out=False) for part in positional.split(", ") if part]
    arguments += [parse_argument(part, out="!" in part) for part in by_name.split(", ") if part]
    arguments += [Argument(f"{a.name}_out", a.type, "", True) for a in arguments if a.mutated]
    returned = match.group(3).replace("SymInt", "int")
    return match.group(1), arguments + ([Argument("result", returned, "", True)] if returned in NUMBERS else [])


def parse_argument(text, out):
    kind, name = text.rsplit(" ", 1)
    name, _, default = name.partition("=")
    kind = kind.replace("SymInt", "int")
    mutated = "!" in kind and not out
    kind = re.sub(r"\(\w!\)", "", kind)
    length = re.search(r"\[(\d+)\]", kind)
    kind = re.sub(r"\[\d+\]", "[]", kind)
    return Argument(name, kind, default, out, int(length[1]) if length else 0, mutated)


@dataclass
class Entry:
    file: str
    data: dict
    name: str = ""
    arguments: list = field(default_factory=list)

    def __post_init__(self):
        unknown = set(self.data) - KEYS
        self.name, self.arguments = parse_schema(self.data["schema"])
        if unknown:
            raise SpecError(f"{self.name}: unknown key {', '.join(sorted(unknown))}")
        for key in ("family", "math", "compute", "accuracy"):
            if key not in self.data and (key, self.data.get("family")) != ("compute", "number"):
                raise SpecError(f"{self.name}: key {key} is missing")
        for name in self.named():
            if not self.argument(name):
                raise SpecError(f"{self.name}: {name} is not an argument of the schema")

    def named(self):
        yield from self.data.get("unused", [])
        yield from self.data.get("read", {})
        yield from [fill] if isinstance(fill := self.data.get("fill"), str) else []

    @property
    def id(self):
        """The prefix of its rule ids: add, add.Scalar, quantized_decomposed::quantize_per_tensor."""
        namespace, rest = self.name.split("::")
        base = re.sub(r"[._]out$", "", rest)
        return base if namespace == "aten" else f"{namespace}::{base}"

    @property
    def symbol(self):
        return re.sub(r"\W+", "_", self.name)

    @property
    def function(self):
        return self.data.get("function", self.name.split("::")[1].split(".")[0].strip("_"))

    @property
    def family(self):
        return self.data["family"]

    @property
    def inputs(self):
        return [a for a in self.arguments if not a.out]

    @property
    def outs(self):
        return [a for a in self.arguments if a.out]

    @property
    def constants(self):
        """Arguments that the schema lacks, with their values, which make the operator a case of a more general one."""
        return [Argument(name, "Scalar", repr(value), False) for name, value in self.data.get("with", {}).items()]

    def argument(self, name):
        return next((a for a in self.arguments + self.constants if a.name == name), None)

    @property
    def rules(self):
        return [parse_rule(n, text) for n, text in self.data.get("rules", {}).items()]

    @property
    def computes(self):
        found = []
        for text in as_list(self.data["compute"]):
            reads, _, writes = text.partition("->")
            writes = writes.split() or [reads.strip()]
            found.append(Compute(reads.strip(), writes * (len(self.outs) // len(writes))))
        return found

    def magnitude(self, reads):
        """The magnitude function of a computation that reads this type, as a word. Its argument, if any, is the arithmetic of partial results."""
        given = self.data.get("magnitude", {})
        by_type = given if isinstance(given, dict) else {"real": given, "int": given}
        return parse_word(by_type[reads]) if reads in by_type else None

    def per_out(self, key, default):
        value = self.data.get(key, default)
        return value if isinstance(value, list) else [value] * len(self.outs)

    @property
    def roundings(self):
        """Words for the dtypes to which the function rounds between its steps; empty for a function that rounds once."""
        return as_list(self.data.get("rounding", []))

    @property
    def accuracy_rows(self):
        """(output or -1, dtype or "all", text)"""
        value = self.data["accuracy"]
        for output, part in enumerate(value) if isinstance(value, list) else [(-1, value)]:
            rows = dict(part) if isinstance(part, dict) else {"all": part}
            if "complex" in rows:
                text = rows.pop("complex")
                rows |= {dtype: rows.get(dtype, text) for dtype in of_kind("complex")}
            for dtype, text in sorted(rows.items(), key=lambda row: row[0] == "all"):
                yield output, dtype, text

    @property
    def half_partials(self):
        """Whether partial results of a half type may be stored in that type."""
        return any("half partials" in str(text) for _, _, text in self.accuracy_rows)


def as_list(value):
    return value if isinstance(value, list) else [value]


def entries(path, data):
    """The entries of one file, a list of mappings. Mappings without a schema are templates for YAML's merge keys."""
    for item in data or []:
        if "schema" in item:
            try:
                yield Entry(path.stem, item)
            except SpecError as error:
                raise SpecError(f"{path.name}: {error}") from None
