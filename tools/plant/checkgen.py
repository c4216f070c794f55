#!/usr/bin/env python3
"""Writes the sources of format/ with a switch at each of their checks, which takes it out by its number.

    checkgen.py FORMAT OUT     writes OUT/checks/<file>.cpp and OUT/checks/planted.cpp, the table of what can be taken out
    checkgen.py --files FORMAT lists the files it would write, for the build

A check is what `Findings::check` and `readable` are asked, each part of it that `&&` joins to others, and each `check_index`.
"""
import argparse
import pathlib
import re

SITE = re.compile(r"\b(?:f_?|findings_?)(?:\.|->)(?:check|readable)\(|\b\w+\.check_index\(")


LITERAL = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'")


def masked(text):
    """The text with blanks for what literals and comments hold."""
    return re.sub(rf"{LITERAL.pattern}|//.*", lambda m: m[0][0] + " " * (len(m[0]) - 2) + m[0][0] if m[0][0] in "\"'" else " " * len(m[0]), text)


def cpp_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def split(text, separator):
    """The parts of an expression that are separated outside of brackets and literals; of arguments the last ends with their bracket."""
    parts, begin, depth, at = [], 0, 0, 0
    while at < len(text):
        literal = LITERAL.match(text, at)
        if literal:
            at = literal.end()
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth < 0:
            break
        if depth == 0 and text.startswith(separator, at):
            parts.append(text[begin:at])
            begin = at + len(separator)
        at += 1
    return parts + [text[begin:at]]


class Source:
    """A file with switches; `checks` grows by what they take out."""

    def __init__(self, path, checks):
        self.name, self.text, self.checks = f"format/{path.name}", path.read_text(), checks

    def asked(self, at, condition, rule=""):
        said = condition + (f" for {rule.strip()}" if condition == "false" else "")
        self.checks.append((f"{self.name}:{self.text.count(chr(10), 0, at) + 1}", " ".join(said.split())))
        number = len(self.checks) - 1
        return f"(removed_check == {number} || asked({number}, {condition}))"

    def planted(self):
        out, end = [], 0
        for site in SITE.finditer(self.text):
            out.append(self.text[end:site.start()])
            argument = split(self.text[site.end():], ",")
            if "check_index" in site[0]:
                end = site.end() + len(",".join(argument)) + 1
                out.append(self.asked(site.start(), self.text[site.start():end]))
            else:
                end = site.end() + len(argument[0])
                out.append(site[0] + " && ".join(self.asked(site.start(), part, argument[1]) for part in split(argument[0], "&&")))
        return "".join(out) + self.text[end:]


def table(checks):
    rows = [f"    {{{cpp_string(place)}, {cpp_string(condition)}}}," for place, condition in checks]
    return "\n".join(['#include "tools/plant/checks.h"', "", "namespace assay::format {", "", "constexpr PlantedCheck checks[] = {", *rows, "};",
                      "std::span<const PlantedCheck> planted_checks() { return checks; }", "", "}  // namespace assay::format", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="only list what would be written")
    parser.add_argument("format", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    options = parser.parse_args()
    sources, checks = sorted(options.format.glob("*.cpp")), []
    if options.files:
        print(";".join(f"checks/{name}.cpp" for name in [*(s.stem for s in sources), "planted"]), end="")
        return
    (options.out / "checks").mkdir(parents=True, exist_ok=True)
    for path in sources:
        (options.out / "checks" / path.name).write_text('#include "tools/plant/checks.h"\n' + Source(path, checks).planted())
    (options.out / "checks" / "planted.cpp").write_text(table(checks))


if __name__ == "__main__":
    main()
