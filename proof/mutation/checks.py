"""The sources of format/ with a switch at each check, which leaves the check out.

A check is the condition that `Findings::check` or `readable` is given, each operand of its `&&`, and each call of `check_index`."""
import re

from mutants import Source, end_of

FILES, SWITCHES = "**/*.cpp", "check_switches.h"
SITE = re.compile(r"\b(?:f_?|findings_?)(?:\.|->)(?:check|readable)\(|\b\w+\.check_index\(")


class Checks(Source):
    def __init__(self, path, folder, mutants):
        super().__init__(path, mutants)
        parent = path.relative_to(folder).parent
        self.folder = "" if parent.name == "" else f"{parent}/"

    def leave_out(self, begin, end, rule=""):
        condition = " ".join(self.text[begin:end].split())
        place = f"{condition} for {rule}" if condition == "false" else condition
        number = self.mutants.add(f"format/{self.folder}{self.name}", "check", place, "left out")
        blanks = len(self.text[begin:end]) - len(self.text[begin:end].lstrip())
        self.wrap(begin + blanks, end, f"(is_left_out({number}) || held({number}, ", "))")

    def mutated(self):
        for site in SITE.finditer(self.code):
            end = end_of(self.code, site.end(), r"(?!)" if "check_index" in site[0] else ",")
            if "check_index" in site[0]:
                self.leave_out(site.start(), end + 1)
                continue
            rule = self.text[end + 1 : end_of(self.code, end + 1, ",")].strip()
            begin = site.end()
            while begin < end:
                stop = min(end, end_of(self.code, begin, "&&"))
                self.leave_out(begin, stop, rule)
                begin = stop + len("&&")
        return self.edited()


def generator(folder, mutants):
    return lambda path: Checks(path, folder, mutants).mutated()
