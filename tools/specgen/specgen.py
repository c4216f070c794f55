#!/usr/bin/env python3
"""Writes what is generated from spec/: the declarations, checked wrappers and tables of operators, what they do to their
arguments, dtypes, outcomes, the numbers of the wire protocol, the rules of formats and the fields of their tables.

    specgen.py SPEC OUT     writes OUT/*.gen.h, OUT/*.gen.cpp, OUT/operators/*.gen.h, OUT/operators/*.gen.cpp; leaves a
                            file alone whose text would not change
    specgen.py --files SPEC lists the files it would write, for the build
"""
import argparse
import functools
import pathlib
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from entry import SpecError, defined_words, entries  # noqa: E402
import dtypes_cpp  # noqa: E402
from expression import Vocabulary, words_header, words_source  # noqa: E402
import functional  # noqa: E402
import in_place  # noqa: E402
import protocol  # noqa: E402
import roles  # noqa: E402
from tables import tables_header  # noqa: E402
from wrapper import Wrapper, accuracy_row, cpp_string  # noqa: E402


def header(wrappers):
    includes = ["<optional>", "<span>", "<string_view>", "<utility>", '"reference/words/indexing.h"', '"reference/value.h"']
    declared = dict.fromkeys(line for w in wrappers for line in w.declarations())
    return ["#pragma once", "", *(f"#include {i}" for i in includes), "", "namespace assay::operators {", "", *declared, "", "}  // namespace assay::operators"]


def source(file, wrappers):
    includes = [f"operators/{file}.gen.h", "reference/families.h", "reference/words/layouts.h", "reference/words/rules.h", "reference/words/shapes.h", "reference/words/terms.h", "reference/words/dtypes.h"]
    lines = [f'#include "{i}"' for i in includes] + ["", "namespace assay::wrappers {", ""]
    for w in wrappers:
        lines += [f"void call_{w.entry.symbol}(Call& call);", *w.definition(), ""]
    return lines + ["}  // namespace assay::wrappers"]


def arguments(entry):
    rows = (f"    {{{cpp_string(a.name)}, {cpp_string(a.type)}, {cpp_string(a.default)}, {str(a.out).lower()}, {a.length}, {str(a.mutated).lower()}}}," for a in entry.arguments)
    return [f"constexpr SchemaArgument arguments_{entry.symbol}[] = {{", *rows, "};"]


def row(form, entry):
    """The row of an operator; of its in-place form, which has the rules, the accuracy and the wrapper of the entry."""
    texts, s = [form.name, entry.id, form.data["schema"], entry.file, entry.data["math"], entry.data.get("choice", "")], entry.symbol
    return f"    {{{', '.join(map(cpp_string, texts))}, arguments_{form.symbol}, {f'rules_{s}' if entry.rules else '{}'}, accuracy_{s}, wrappers::call_{s}, {str(form is not entry).lower()}}},"


def table(all_wrappers):
    lines = ["#include <array>", '#include "reference/functional.h"', "", "namespace assay {", "namespace wrappers {",
             *(f"void call_{w.entry.symbol}(Call& call);" for w in all_wrappers), "}  // namespace wrappers", "namespace {", "using std::string_view;", ""]
    rows = []
    for w in sorted(all_wrappers, key=lambda w: w.entry.name):
        e, s = w.entry, w.entry.symbol
        lines += arguments(e)
        for r in e.rules:
            if r.word.arguments:
                lines.append(f"constexpr string_view words_{s}_{r.number}[] = {{{', '.join(map(cpp_string, r.word.arguments))}}};")
        if e.rules:
            lines.append(f"constexpr Rule rules_{s}[] = {{")
            for r in e.rules:
                words = f"words_{s}_{r.number}" if r.word.arguments else "{}"
                lines.append(f'    {{"{e.id}.{r.number}", {cpp_string(str(r))}, "{r.word.name}", {words}, Outcome::{r.outcome}}},')
            lines.append("};")
        lines.append(f"constexpr AccuracyRow accuracy_{s}[] = {{")
        lines += [f"    {accuracy_row(*row)}," for row in e.accuracy_rows] + ["};", ""]
        rows.append(row(e, e))
    forms = [(form.entry, w.entry) for form, w in in_place.forms(all_wrappers)]
    return lines + ["constexpr Operator table[] = {", *rows, "};", "",
                    *functional.lines([w.entry for w in all_wrappers]), "",
                    *(line for form, _ in forms for line in arguments(form)),
                    "constexpr Operator in_place_forms[] = {", *(row(form, entry) for form, entry in forms), "};", "",
                    "}  // namespace", "", "std::span<const Operator> operator_table() { return table; }",
                    "std::span<const Operator> in_place_table() { return in_place_forms; }",
                    "std::span<const FunctionalForm> functional_table() { return functional_forms; }", "", "}  // namespace assay"]


def outcome_header(faults):
    names = list(faults)
    return ["#pragma once", "", "#include <cstdint>", "#include <string_view>", "", "namespace assay {", "",
            "// The outcomes of spec/faults.yaml:", *(f"// - {name}: {row['meaning']}" for name, row in faults.items()),
            f"enum class Outcome : std::uint8_t {{ {', '.join(names)} }};", "",
            f"inline constexpr std::string_view outcome_names[] = {{{', '.join(map(cpp_string, names))}}};",
            f"inline constexpr int exit_codes[] = {{{', '.join(str(row['exit']) for row in faults.values())}}};",
            "constexpr std::string_view name(Outcome o) { return outcome_names[static_cast<int>(o)]; }",
            "constexpr int exit_code(Outcome o) { return exit_codes[static_cast<int>(o)]; }", "", "}  // namespace assay"]


PLACES = "decode", "validate", "runtime", "lint", "construction", "later"  # the places that spec/format/rules.yaml defines


def format_rules_header(rules):
    return ["#pragma once", "", "#include <string_view>", "", '#include "outcome.gen.h"', "", "namespace assay {", "",
            "// A rule of spec/format/rules.yaml. `checked` tells where the rule is checked; rules.yaml defines the places.", "struct FormatRule {", f"  enum class Checked : std::uint8_t {{ {', '.join(PLACES)} }};", "", "  std::string_view id;", "  Outcome outcome;", "  Checked checked;", "};", "",
            "constexpr std::string_view name(FormatRule::Checked c) {",
            f"  constexpr std::string_view names[] = {{{', '.join(f'{chr(34)}{p}{chr(34)}' for p in PLACES)}}};",
            "  return names[static_cast<int>(c)];", "}", "",
            "inline constexpr FormatRule format_rules[] = {",
            *(f'    {{"{i}", Outcome::{row["class"]}, FormatRule::Checked::{row["checked"]}}},' for i, row in rules.items()), "};", "",
            "constexpr const FormatRule* find_format_rule(std::string_view id) {", "  for (const FormatRule& r : format_rules)", "    if (r.id == id) return &r;", "  return nullptr;", "}", "", "}  // namespace assay"]


def format_reasons_header(rules):
    return ["#pragma once", "", "#include <string_view>", "", "namespace assay {", "",
            "// For each rule of format_rules, the reason why it is checked by construction or later, or an empty text.", "inline constexpr std::string_view format_reasons[] = {",
            *(f"    {cpp_string(row.get('why', ''))},  // {i}" for i, row in rules.items()), "};", "",
            "// For each rule of format_rules, its text.", "inline constexpr std::string_view format_texts[] = {",
            *(f"    {cpp_string(row['text'])},  // {i}" for i, row in rules.items()), "};", "", "}  // namespace assay"]


def lines_of_entries(text):
    """{operator: the line on which its entry begins, from 1}"""
    return {value.value.partition("(")[0]: entry.start_mark.line + 1
            for entry in yaml.compose(text).value for key, value in entry.value if key.value == "schema"}


def lines_header(lines):
    return ["#pragma once", "", "#include <string_view>", "", "namespace assay {", "", "// The line at which the entry of an operator begins in its file. Lines count from 1.",
            "struct EntryLine {", "  std::string_view operator_name;", "  int line;", "};", "inline constexpr EntryLine entry_lines[] = {",
            *(f"    {{{cpp_string(name)}, {line}}}," for name, line in sorted(lines.items())), "};", "", "}  // namespace assay"]


class Spec:
    """The folder spec, read: its tables by name, and the wrappers of its entries by file."""

    def __init__(self, folder):
        self.folder, words = folder, defined_words(folder / "rules.md")
        self.wrappers, self.lines = {}, {}
        for path in spec_files(folder):
            text = path.read_text()
            if "<<: [" in text:  # versions of PyYAML differ in which of them wins
                raise SpecError(f"{path.name}: an item may inherit from only one template")
            try:
                self.wrappers[path.stem] = [Wrapper(e, words) for e in entries(path, yaml.safe_load(text))]
                self.lines |= lines_of_entries(text)
            except yaml.YAMLError as error:
                raise SpecError(f"{path.name}: {error}") from None

    def table(self, name):
        return yaml.safe_load((self.folder / name).read_text())

    @functools.cached_property
    def vocabulary(self):
        return Vocabulary(self.folder / "rules.md")

    @property
    def all_wrappers(self):
        return [w for of_file in self.wrappers.values() for w in of_file]


# Beside the files of operators: each file with the function that gives its lines.
FILES = {
    "operators.gen.cpp": lambda spec: table(spec.all_wrappers),
    "operator_lines.gen.h": lambda spec: lines_header(spec.lines),
    "operator_roles.gen.h": lambda spec: roles.header(spec.all_wrappers, in_place.forms(spec.all_wrappers), spec.table("format/handles.yaml")),
    "words.gen.h": lambda spec: words_header(spec.vocabulary),
    "words.gen.cpp": lambda spec: words_source(spec.vocabulary),
    "outcome.gen.h": lambda spec: outcome_header(spec.table("faults.yaml")),
    "dtype.gen.h": lambda _: dtypes_cpp.header(),
    "dtype_sets.gen.h": lambda _: dtypes_cpp.sets_header(),
    "dtype_lists.gen.h": lambda _: dtypes_cpp.lists_header(),
    "protocol.gen.h": lambda spec: protocol.header(spec.table("protocol.yaml"), spec.table("faults.yaml")),
    "format_rules.gen.h": lambda spec: format_rules_header(spec.table("format/rules.yaml")),
    "format_reasons.gen.h": lambda spec: format_reasons_header(spec.table("format/rules.yaml")),
    "format_tables.gen.h": lambda spec: tables_header(sorted((spec.folder / "format").glob("*.fbs")), list(spec.table("format/rules.yaml"))),
}


def spec_files(folder):
    return sorted((folder / "operators").glob("*.yaml"))


def files(folder):
    return [*(f"operators/{path.stem}.gen.{end}" for path in spec_files(folder) for end in ("h", "cpp")), *FILES]


def generate(folder):
    """{relative path: lines}"""
    spec, written = Spec(folder), {}
    for file, wrappers in spec.wrappers.items():
        written[f"operators/{file}.gen.h"] = header(wrappers)
        written[f"operators/{file}.gen.cpp"] = source(file, wrappers)
    return written | {file: lines(spec) for file, lines in FILES.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="only list what would be written")
    parser.add_argument("spec", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    options = parser.parse_args()
    if options.files:
        return print(";".join(files(options.spec)), end="")
    try:
        written = generate(options.spec)
    except SpecError as error:
        sys.exit(f"specgen: {error}")
    for name, lines in written.items():
        path, content = options.out / name, "\n".join(lines) + "\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != content:
            path.write_text(content)


if __name__ == "__main__":
    main()
