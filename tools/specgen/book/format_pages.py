"""The chapters of files: rules of spec/format/rules.yaml, tables of the .fbs, and plain tables of YAML."""
import re
from functools import cached_property

import yaml

from tables import Schema


class Comment:
    """The comment at the top of a file: paragraphs, then names with what they mean, in two columns."""

    def __init__(self, lines):
        end = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
        self.length, self.paragraphs, self.names = end, [""], []
        for line in (line[2:] for line in lines[:end]):
            if named := re.match(r"(\S(?: ?\S)*)  +(\S.*)", line):
                self.names.append(named.groups())
            elif line.startswith("  ") and self.names:
                name, meaning = self.names[-1]
                self.names[-1] = name, f"{meaning} {line.strip()}"
            elif line:
                self.paragraphs[-1] += f" {line}"
            else:
                self.paragraphs.append("")
        self.paragraphs = [p.strip() for p in self.paragraphs if p]


class Table:
    """A file of YAML that maps names to rows, or that holds such a table under a key beside tables of lists."""

    def __init__(self, path, key=None):
        self.path, lines = path, path.read_text().splitlines()
        self.about = Comment(lines)
        all_tables = yaml.load("\n".join(lines), yaml.CSafeLoader)
        self.rows = all_tables.pop(key) if key else all_tables
        self.lists = all_tables if key else {}
        self.columns = list(dict.fromkeys(key for row in self.rows.values() for key in row))


class FormatRules(Table):
    """The rules of files, in the sections that comments begin."""

    def __init__(self, path, root):
        super().__init__(path)
        self.root = root

    @property
    def sections(self):
        """[(title, rest of the comment, [(id, row)])]"""
        sections, comment = [], []
        for line in self.path.read_text().splitlines()[self.about.length:]:
            if line.startswith("# "):
                comment.append(line[2:])
            elif rule := re.match(r"(\w+):", line):
                if comment:
                    title, _, rest = " ".join(comment).partition(". " if len(comment) == 1 else ", ")
                    sections.append((title, rest, []))
                comment = []
                sections[-1][2].append((rule[1], self.rows[rule[1]]))
        return sections

    @cached_property
    def places(self):
        """{rule: the files that name it}"""
        found = {}
        for folder in ("format", "reference", "optimized"):
            for path in sorted((self.root / folder).rglob("*.cpp")):
                for rule in set(re.findall(r'"([A-Z]\d+)"', path.read_text())) & set(self.rows):
                    found.setdefault(rule, []).append(str(path.relative_to(self.root)))
        return found


class FormatTables:
    """A .fbs file: its tables, enums and unions, each with the comment above it."""

    def __init__(self, path):
        self.path, self.schema = path, Schema(path)
        text = path.read_text()
        self.about = " ".join(line[3:] for line in re.match(r"(?://.*\n)*", text)[0].splitlines())
        self.comments = {name: " ".join(line.strip("/ ") for line in comment.splitlines())
                         for comment, name in re.findall(r"((?://.*\n)+)(?:table|enum|union) (\w+)", text)}

    @property
    def tables(self):
        for name, fields in self.schema.tables.items():
            yield name, self.comments.get(name, ""), [(field, kind, kind.strip("[]"), rule) for field, kind, rule in fields]

    @property
    def choices(self):
        for name, values in self.schema.names.items():
            yield name, "union" if name in self.schema.unions else "enum", self.comments.get(name, ""), values
