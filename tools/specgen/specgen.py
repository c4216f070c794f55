#!/usr/bin/env python3
"""Writes the operators' declarations, checked wrappers and table from spec/operators/*.yaml, what operators do to their
arguments from there and spec/format/handles.yaml, the outcomes from spec/faults.yaml, the dtypes from spec/dtypes.yaml,
the table of format rules from spec/format/rules.yaml and the tables' fields from spec/format/*.fbs.

    specgen.py SPEC OUT     writes OUT/operators/<file>.gen.h, OUT/operators/<file>.gen.cpp, OUT/operators.gen.cpp,
                            OUT/operator_roles.gen.h, OUT/outcome.gen.h, OUT/dtype.gen.h, OUT/format_rules.gen.h,
                            OUT/format_reasons.gen.h, OUT/format_tables.gen.h; leaves alone what would not change
    specgen.py --files SPEC lists the files it would write, for the build
"""
import argparse
import pathlib
import sys

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from entry import SpecError, defined_words, entries  # noqa: E402
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


def table(all_wrappers):
    lines = ["#include <array>", '#include "reference/operator.h"', "", "namespace assay {", "namespace wrappers {",
             *(f"void call_{w.entry.symbol}(Call& call);" for w in all_wrappers), "}  // namespace wrappers", "namespace {", "using std::string_view;", ""]
    rows = []
    for w in sorted(all_wrappers, key=lambda w: w.entry.name):
        e, s = w.entry, w.entry.symbol
        lines.append(f"constexpr SchemaArgument arguments_{s}[] = {{")
        lines += [f"    {{{cpp_string(a.name)}, {cpp_string(a.type)}, {cpp_string(a.default)}, {str(a.out).lower()}, {a.length}, {str(a.mutated).lower()}}}," for a in e.arguments] + ["};"]
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
        texts = [e.name, e.id, e.data["schema"], e.file, e.data["math"], e.data.get("choice", "")]
        rows.append(f"    {{{', '.join(map(cpp_string, texts))}, arguments_{s}, {f'rules_{s}' if e.rules else '{}'}, accuracy_{s}, wrappers::call_{s}}},")
    return lines + ["constexpr Operator table[] = {", *rows, "};", "", "}  // namespace", "", "std::span<const Operator> operator_table() { return table; }", "", "}  // namespace assay"]


def outcome_header(faults):
    names = list(faults)
    return ["#pragma once", "", "#include <cstdint>", "#include <string_view>", "", "namespace assay {", "",
            *(f"// {name}: {row['meaning']}" for name, row in faults.items()),
            f"enum class Outcome : std::uint8_t {{ {', '.join(names)} }};", "",
            f"inline constexpr std::string_view outcome_names[] = {{{', '.join(map(cpp_string, names))}}};",
            f"inline constexpr int exit_codes[] = {{{', '.join(str(row['exit']) for row in faults.values())}}};",
            "constexpr std::string_view name(Outcome o) { return outcome_names[static_cast<int>(o)]; }",
            "constexpr int exit_code(Outcome o) { return exit_codes[static_cast<int>(o)]; }", "", "}  // namespace assay"]


def dtype_header(dtypes):
    enumerators = {name: "boolean" if name == "bool" else name for name in dtypes}
    kinds = ["boolean", "integer", "floating", "complex", "opaque"]
    parts = {name: d.get("part", name) for name, d in dtypes.items()}
    rows = {name: [f"DType::{enumerators[name]}", cpp_string(name), cpp_string(d["alias"]), d["bytes"], f'Kind::{d["kind"]}', f"DType::{enumerators[parts[name]]}",
                   *(dtypes[parts[name]].get(key, 0) for key in ("precision", "least_exponent"))]
            for name, d in dtypes.items()}
    numbers = [d["number"] for d in dtypes.values()]
    return ["#pragma once", "", "#include <cstdint>", "#include <string_view>", "", "namespace assay {", "",
            "// Values are those of the .pte format's ScalarType.", "enum class DType : std::uint8_t {", *(f"  {enumerators[name]} = {d['number']}," for name, d in dtypes.items()), "};", "",
            "// What an element can be read as: `opaque` elements are moved, never read.", f"enum class Kind : std::uint8_t {{ {', '.join(kinds)} }};", "",
            "// A row of spec/dtypes.yaml.", "struct DTypeFacts {", "  DType dtype;", '  std::string_view name;   // torch\'s, "float32"', '  std::string_view alias;  // short, "f32"', "  int bytes;               // of one element", "  Kind kind;", "  DType part;          // complex: the dtype of its real and of its imaginary part; else the dtype itself",
            "  int precision;       // of a floating part: bits of the significand, the hidden one included", "  int least_exponent;  // of a floating part: of its smallest normal number, 2^least_exponent", "};", "",
            "inline constexpr DTypeFacts dtype_facts[] = {", *(f"    {{{', '.join(map(str, row))}}}," for row in rows.values()), "};",
            "// The row of each number, -1 where there is none.", f"inline constexpr std::int8_t dtype_rows[] = {{{', '.join(str(numbers.index(n) if n in numbers else -1) for n in range(max(numbers) + 1))}}};", "",
            "constexpr const DTypeFacts* find_dtype(std::int64_t number) {", f"  const bool known = number >= 0 && number <= {max(numbers)} && dtype_rows[number] >= 0;",
            "  return known ? &dtype_facts[dtype_rows[number]] : nullptr;", "}", "", "}  // namespace assay"]


def format_rules_header(rules):
    return ["#pragma once", "", "#include <string_view>", "", '#include "outcome.gen.h"', "", "namespace assay {", "",
            "// A rule of spec/format/rules.yaml.", "struct FormatRule {", "  enum class Checked : std::uint8_t { decode, validate, runtime, construction, later };", "", "  std::string_view id;", "  Outcome outcome;", "  Checked checked;", "};", "",
            "inline constexpr FormatRule format_rules[] = {",
            *(f'    {{"{i}", Outcome::{row["class"]}, FormatRule::Checked::{row["checked"]}}},' for i, row in rules.items()), "};", "",
            "constexpr const FormatRule* find_format_rule(std::string_view id) {", "  for (const FormatRule& r : format_rules)", "    if (r.id == id) return &r;", "  return nullptr;", "}", "", "}  // namespace assay"]


def format_reasons_header(rules):
    return ["#pragma once", "", "#include <string_view>", "", "namespace assay {", "",
            "// By rule, in the order of format_rules, why it is checked by construction or later; else empty.", "inline constexpr std::string_view format_reasons[] = {",
            *(f"    {cpp_string(row.get('why', ''))},  // {i}" for i, row in rules.items()), "};", "", "}  // namespace assay"]


def lines_of_entries(text):
    """{operator: the line on which its entry begins, from 1}"""
    return {value.value.partition("(")[0]: entry.start_mark.line + 1
            for entry in yaml.compose(text).value for key, value in entry.value if key.value == "schema"}


def lines_header(lines):
    return ["#pragma once", "", "#include <string_view>", "", "namespace assay {", "", "// Where the entry of an operator begins in its file, from line 1.",
            "struct EntryLine {", "  std::string_view operator_name;", "  int line;", "};", "inline constexpr EntryLine entry_lines[] = {",
            *(f"    {{{cpp_string(name)}, {line}}}," for name, line in sorted(lines.items())), "};", "", "}  // namespace assay"]


def spec_files(spec):
    return sorted((spec / "operators").glob("*.yaml"))


def generate(spec):
    """{relative path: lines}"""
    written, everything, lines, words = {}, [], {}, defined_words(spec / "rules.md")
    for path in spec_files(spec):
        text = path.read_text()
        if "<<: [" in text:  # versions of PyYAML differ in which of them wins
            raise SpecError(f"{path.name}: an item takes over one template, not several")
        try:
            wrappers = [Wrapper(e, words) for e in entries(path, yaml.safe_load(text))]
            written[f"operators/{path.stem}.gen.h"] = header(wrappers)
            written[f"operators/{path.stem}.gen.cpp"] = source(path.stem, wrappers)
            everything += wrappers
            lines |= lines_of_entries(text)
        except yaml.YAMLError as error:
            raise SpecError(f"{path.name}: {error}") from None
    written["operators.gen.cpp"] = table(everything)
    written["operator_lines.gen.h"] = lines_header(lines)
    written["operator_roles.gen.h"] = roles.header(everything, yaml.safe_load((spec / "format" / "handles.yaml").read_text()))
    written["outcome.gen.h"] = outcome_header(yaml.safe_load((spec / "faults.yaml").read_text()))
    written["dtype.gen.h"] = dtype_header(yaml.safe_load((spec / "dtypes.yaml").read_text()))
    rules = yaml.safe_load((spec / "format" / "rules.yaml").read_text())
    written["format_rules.gen.h"] = format_rules_header(rules)
    written["format_reasons.gen.h"] = format_reasons_header(rules)
    written["format_tables.gen.h"] = tables_header(sorted((spec / "format").glob("*.fbs")), list(rules))
    return written


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="only list what would be written")
    parser.add_argument("spec", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    options = parser.parse_args()
    if options.files:
        names = [f"operators/{p.stem}.gen.{end}" for p in spec_files(options.spec) for end in ("h", "cpp")]
        print(";".join([*names, "operators.gen.cpp", "operator_lines.gen.h", "operator_roles.gen.h", "outcome.gen.h", "dtype.gen.h", "format_rules.gen.h", "format_reasons.gen.h", "format_tables.gen.h"]), end="")
        return
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
