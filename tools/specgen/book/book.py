#!/usr/bin/python3
"""Writes the book: the spec as a folder of web pages that need no network. The page of an operator explains its entry by
spec/rules.md and spec/numerics.md, and has recorded calls of eager PyTorch and the verdicts of given runs.

    tools/book                          build/book/index.html
    tools/book -o DIR run.jsonl...      runs are files of `assay kernels ... -o run.jsonl`
"""
import argparse
import pathlib
import re
import sys
from functools import cached_property

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
try:
    import jinja2, markdown, pygments  # noqa: E401, F401
except ImportError as error:
    sys.exit(f"book: the Debian package of {error.name} is missing; run tools/setup book")
from entry import SpecError, defined_words, entries  # noqa: E402
from wrapper import Wrapper  # noqa: E402
import chapters  # noqa: E402
from format_pages import FormatRules, FormatTables, Table  # noqa: E402
from numerics import Rows  # noqa: E402
from operator_page import OperatorPage  # noqa: E402
from recorded import Runs, asked, coverages, implemented  # noqa: E402
from site_writer import Site, refuse_what_is_no_book  # noqa: E402
from sources import EntryFile, Functions, highlighted  # noqa: E402
from words import Words  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
# The first chapters in reading order; the other chapters follow by name.
FIRST = ("language", "rules", "numerics", "verdicts", "contracts", "call", "program_calls", "kernel_library", "runtime_protocol")
BESIDE = ("CONTRIBUTING.md", "doc/glossary.md", "doc/architecture.md", "doc/test_your_kernel.md", "doc/test_your_runtime.md",
          "doc/operator_times.md")  # chapters outside of spec/


class Book:
    def __init__(self, assay, cases, runs):
        spec = ROOT / "spec"
        self.words = Words(spec / "rules.md")
        self.numerics = Rows((spec / "numerics.md").read_text())
        self.functions = Functions(ROOT / "reference" / "operators")
        kernels = yaml.load((ROOT / "optimized/selection/kernels.yaml").read_text(), yaml.CSafeLoader)
        fast = [kernels["pointwise"], kernels["others"]]
        self.kernels = {op: [kernel for family in fast for kernel in family.get(op, [])] for op in set().union(*fast)}
        self.coverages = coverages(cases.read_text() if cases else asked(assay, "cases", "--json", "--golden", ROOT / "golden" / "operators"))
        self.implemented = implemented(asked(assay, "operators"))
        self.runs = Runs(runs)
        self.files = [EntryFile(path) for path in sorted((spec / "operators").glob("*.yaml"))]
        self.groups = [(file, list(self.pages_of(file))) for file in self.files]
        self.pages = sorted((page for _, pages in self.groups for page in pages), key=lambda page: page.name)
        self.by_name = {page.name: page for page in self.pages}

    def pages_of(self, file):
        words = defined_words(ROOT / "spec" / "rules.md")
        items = [i for i, item in enumerate(file.data) if "schema" in item]
        for i, entry in zip(items, entries(file.path, file.data)):
            yield OperatorPage(self, file, i, Wrapper(entry, words))

    def place(self, function):
        path, line = self.functions.place(function)
        return path.relative_to(ROOT), line

    @cached_property
    def outs(self):
        """What CONTRIBUTING states about each value of an entry's key `out`."""
        item, = re.findall(r"^- `out`:(.*?)\.\n- `", (ROOT / "CONTRIBUTING.md").read_text(), re.M | re.S)
        return {value: re.sub(r"\s+", " ", meaning) for value, meaning in re.findall(r"`([\w ]+)`[^:;]*:\s+([^;]+)", item)}

    @cached_property
    def general_rules(self):
        """[(name, meaning)] of the rules that every operator has."""
        text = re.sub(r"\s+", " ", (ROOT / "spec" / "rules.md").read_text())
        return re.findall(r"`operator\.(\w+)` \(([^)]*)\)", text)

    @property
    def rows(self):
        """A row for every operator that the spec, the reference, the recordings or the kernels know, with its state."""
        for name in sorted({*self.by_name, *self.implemented, *self.coverages, *self.kernels}):
            page = self.by_name.get(name)
            yield {"name": name, "page": page, "implemented": name in self.implemented, "kernels": self.kernels.get(name, []),
                   "calls": self.coverages.get(name, {}).get("calls", 0), "bounded": page is not None and page.is_bounded}

    @property
    def counts(self):
        """For each column of the table, the number of rows that have it."""
        rows = list(self.rows)
        for name, has in (("specified", "page"), ("implemented", "implemented"), ("recorded", "calls"), ("bounded", "bounded"), ("optimized", "kernels")):
            yield name, sum(bool(row[has]) for row in rows)

    @property
    def rule_count(self):
        return sum(len(page.entry.rules) for page in self.pages)

    @property
    def call_count(self):
        return sum(c["calls"] for c in self.coverages.values())

    @property
    def refused_count(self):
        return sum(c["refused"] for c in self.coverages.values())

    # -- the fences of a chapter ----------------------------------------------------------------------------------

    def fence(self, match):
        kind, name = match.groups()
        if name not in self.by_name:
            raise SpecError(f"a chapter shows {name}, which has no entry")
        page = self.by_name[name]
        if kind == "calls":
            return "".join(f"    {e['command']}\n    {shown_answer(e)}\n\n" for e in page.examples)
        shown = {"entry": ("yaml", lambda: "\n".join(page.group.item(i)[0] for i in page.chain)),
                 "wrapper": ("cpp", lambda: "\n".join(page.wrapper.definition())),
                 "function": ("cpp", lambda: self.functions.text(page.entry.function))}
        language, text = shown[kind]
        return f"```{language}\n{text()}\n```\n\n[{name}](operators/{page.path.removeprefix('operators/').removesuffix('.html')})\n"


def shown_answer(example):
    if example["outcome"] != "ok":
        return f"{example['outcome']}, {example['rule']}: {example['message']}"
    return "  ".join(result["text"] for result in example["results"])


def order(path):
    return (FIRST.index(path.stem) if path.stem in FIRST else len(FIRST), path.stem)


def write(book, site):
    spec = ROOT / "spec"
    for path in sorted(spec.glob("*.md"), key=order):
        site.add_chapter(path, "The spec")
    site.add_table(Table(spec / "dtypes.yaml", "dtypes"), "The spec")
    site.add_table(Table(spec / "faults.yaml"), "The spec")
    site.add_format_rules(FormatRules(spec / "format" / "rules.yaml", ROOT), "Files")
    for path in sorted((spec / "format").glob("*.fbs")):
        site.add_format_tables(FormatTables(path), "Files")
    for path in sorted((spec / "format").glob("*.md")):
        site.add_chapter(path, "Files")
    site.add_source(spec / "format" / "handles.yaml", "Files")
    for name in BESIDE:
        site.add_chapter(ROOT / name, "Practice")
    examples = ROOT / "doc" / "examples" / "headers"
    for example in sorted(examples.rglob("*.c*")):
        site.add_header((ROOT / example.relative_to(examples)).with_suffix(".h"), example, "Headers")
    site.write()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=pathlib.Path, metavar="RUN.jsonl")
    parser.add_argument("-o", dest="out", type=pathlib.Path, default=ROOT / "build" / "book", metavar="DIR")
    parser.add_argument("--assay", default=ROOT / "build" / "release" / "assay", help="the command [%(default)s]")
    parser.add_argument("--cases", type=pathlib.Path, metavar="FILE", help="the output of `assay cases --json` [default: run the command]")
    options = parser.parse_args()
    try:
        refuse_what_is_no_book(options.out)
        book = Book(options.assay, options.cases, options.runs)
        write(book, Site(book, ROOT, options.out))
    except (SpecError, RuntimeError, OSError) as error:
        sys.exit(f"book: {error}")
    print(options.out / "index.html")


if __name__ == "__main__":
    main()
