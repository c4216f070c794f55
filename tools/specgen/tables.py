"""The fields of spec/format/*.fbs with their places and rules, in C++, for the walk over the tables of a file."""
import re

from entry import SpecError

scalar_bytes = {"bool": 1, "byte": 1, "ubyte": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4, "long": 8, "ulong": 8, "double": 8}


class Schema:
    """A schema. `tables` is {name: [(field, type, rule)]}, `choices` is {name: [value]} of its enums and {name: [table]} of its unions.
    `names` is {name: [name of value]}: a member of a union may have another name than its table."""

    def __init__(self, path):
        text = re.sub(r"//.*", "", path.read_text())
        self.stem, self.tables, self.choices, self.unions, self.names = path.stem, {}, {}, set(), {}
        for kind, name, body in re.findall(r"\b(table|enum|union)\s+(\w+)(?:: byte)?\s*\{([^}=]*)\}", text):
            if kind == "table":
                self.tables[name] = [field(path, f) for f in re.findall(r"[^;]+(?=;)", body)]
            else:
                self.choices[name] = re.findall(r"(?:\w+\s*:\s*)?(\w+)", body)
                self.names[name] = re.findall(r"(\w+)(?:\s*:\s*\w+)?", body)
                self.unions |= {name} if kind == "union" else set()
        self.root = re.search(r"\broot_type\s+(\w+)", text)[1]
        self.identifier, self.extension = (re.search(rf'\bfile_{word}\s+"(\w+)"', text)[1] for word in ("identifier", "extension"))

    def index(self, name):
        return list(self.tables if name in self.tables else self.choices).index(name)

    def described(self, name, type_name):
        """The kind of a field, and its detail: the index of the table, enum or union, or the bytes of an element."""
        element = type_name.strip("[]")
        vector = element != type_name
        if element in self.tables:
            return "tables" if vector else "table", self.index(element)
        if element in self.choices and not vector:
            return "alternative" if element in self.unions else "enumeration", self.index(element)
        if type_name == "string":
            return type_name, 1
        if element in scalar_bytes:
            return ("flags" if element == "bool" else "vector") if vector else "scalar", scalar_bytes[element]
        raise SpecError(f"{self.stem}.fbs: {name} is of type {type_name}, which the walk does not support")

    def rows(self, fields, rules):
        at = 4  # after the sizes of the table and of its vtable
        for name, type_name, rule in fields:
            kind, detail = self.described(name, type_name)
            at += 2 if kind == "alternative" else 0  # its tag comes first
            if not rule and kind in ("enumeration", "alternative", "flags"):
                raise SpecError(f"{self.stem}.fbs: {name} does not name the rule that requires a known value")
            if rule and rule not in rules:
                raise SpecError(f"{self.stem}.fbs: {name} names rule {rule}, which spec/format/rules.yaml does not have")
            yield f'{{"{name}", {kind}, {at}, {detail}, {rules.index(rule) if rule else -1}}}'
            at += 2

    def lines(self, rules):
        s = self.stem
        yield f"namespace {s} {{"
        yield "using enum FieldKind;"
        for name, fields in self.tables.items():
            if fields:
                yield f"inline constexpr Field {name}[] = {{{', '.join(self.rows(fields, rules))}}};"
        yield f"inline constexpr std::span<const Field> fields[] = {{{', '.join(n if f else '{}' for n, f in self.tables.items())}}};"
        for name in sorted(self.unions):
            yield f"inline constexpr std::uint8_t {name}[] = {{{', '.join(str(self.index(n)) for n in self.choices[name])}}};"
        rows = (f'{{"{n}", {len(v)}, {n if n in self.unions else "{}"}}}' for n, v in self.choices.items())
        yield f"inline constexpr std::array<Choice, {len(self.choices)}> choices{{{{{', '.join(rows)}}}}};"
        yield f'inline constexpr Schema schema{{fields, choices, {self.index(self.root)}, "{self.identifier}", "{self.extension}"}};'
        yield f"}}  // namespace {s}"


def field(path, text):
    match = re.fullmatch(r"\s*(\w+):\s*(\[?\w+\]?)\s*(?:\((.*)\))?\s*", text, re.DOTALL)
    if not match:
        raise SpecError(f"{path.name}: {text.strip()} is not a field that the walk supports")
    rule = re.search(r'rule:\s*"(\w+)"', match[3] or "")
    return match[1], match[2], rule and rule[1]


def tables_header(paths, rules):
    return ["#pragma once", "", "#include <array>", "", '#include "format/schema.h"', "", "namespace assay::format {", "",
            *(line for path in paths for line in [*Schema(path).lines(rules), ""]), "}  // namespace assay::format"]
