#!/usr/bin/env python3
"""Opens HTML reports in headless Chromium and checks what a reader sees and can do."""
import argparse
import itertools
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from browser import DESK, PHONE, Browser
from source import SOURCE

RUNS = SOURCE / "tests/conformance/runs"


def words_of(section):
    """The words that a table of spec/verdicts.md explains, in order."""
    text = (SOURCE / "spec/verdicts.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `([^`]+)` \|", text.split(f"\n## {section}\n")[1].split("\n## ")[0], re.M)


VERDICTS = words_of("Verdicts")
TIERS = words_of("Tiers")


def lines_of(run):
    return [json.loads(line) for line in (RUNS / run).read_text(encoding="utf-8").splitlines()]


def defects_of(run):
    return [line["defect"] for line in lines_of(run) if "defect" in line]


def cases_of(run):
    return [line for line in lines_of(run) if "case" in line]


def in_contract(defect):
    outside = defect["promised_cases"] == 0 and defect["verdict"] in ("fail", "crash", "timeout")
    return not outside and not defect.get("known")


class Page(unittest.TestCase):
    runs = ()

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        page = Path(folder.name) / "report.html"
        subprocess.run([os.environ["ASSAY"], "report", *cls.runs, "--html", page], check=True, cwd=RUNS)
        cls.address = page.as_uri()
        cls.browser = Browser(Path(folder.name) / "profile")
        cls.addClassCleanup(cls.browser.close)

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def texts(self, selector):
        return self.browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(node => node.textContent)")

    def defects(self):
        return self.browser.run("[...document.querySelectorAll('.defect:not([hidden])')].map(node => node.dataset.id)")

    def operators(self):
        return self.texts("#operators tbody:not([hidden]) .name")

    def assert_shown(self, wanted):
        self.assertEqual(sorted(self.defects()), sorted(wanted))

    def choose(self, select, value):
        self.browser.run(f"""{{ const node = document.getElementById({json.dumps(select)});
            node.value = {json.dumps(value)}; node.dispatchEvent(new Event("input")); }}""")

    def assert_nothing_wider_than_the_window(self, width):
        self.assertEqual(self.browser.run("innerWidth"), width)
        self.assertEqual(self.browser.wider_than_the_window(), [])
        self.assertEqual(self.browser.run("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)

    def assert_nothing_overflows(self):
        keys = self.browser.run("[...defectRows, ...operatorRows].map(row => row.key)")
        for size in (PHONE, (768, 1024), DESK):
            with self.subTest(width=size[0]):
                self.browser.open(self.address + "#scope=all&open=" + ",".join(keys), size)
                self.assertEqual(self.browser.run("document.querySelectorAll('.panel:not(:empty)').length"), len(keys))
                self.assert_nothing_wider_than_the_window(size[0])


class OneRun(Page):
    runs = ("old.jsonl",)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cases = cases_of("old.jsonl")
        cls.found = defects_of("old.jsonl")

    def ids(self, wanted):
        return [defect["id"] for defect in self.found if wanted(defect)]

    def panel_of(self, defect):
        self.browser.open(f"{self.address}#scope=all&open={defect['id']}")
        return self.texts(f".defect[data-id='{defect['id']}'] .panel")[0]

    def test_nothing_is_loaded_from_elsewhere(self):
        self.browser.open(self.address)
        self.assertEqual([url for url in self.browser.requests() if not url.startswith("data:")], [self.address])

    def test_the_headline_is_that_of_the_contract(self):
        self.browser.open(self.address)
        promised = [case["verdict"] for case in self.cases if case["promised"] and case["verdict"] != "unsupported"]
        passed = sum(verdict in ("pass", "quality") for verdict in promised)
        text, passes, *_ = self.texts(".testee p")
        self.assertIn(f"{passed} of {len(promised)} promised calls pass; {len(self.ids(in_contract))} defects", text)
        refused = sum(case["promised"] and not case["valid"] and case["verdict"] == "pass" for case in self.cases)
        self.assertIn(f"{passed - refused} answers and {refused} right refusals pass; by dtype: float32: ", passes)

    def test_answers_are_counted_by_feature(self):
        self.browser.open(self.address)
        self.browser.run("document.querySelector('.testee details').open = true")
        self.assertIn("0: 0, 1: 1, 2: 1, 3: 0, 4: 0, more: 0", self.texts(".testee dl dd"))

    def test_promises_that_no_answered_call_tried_are_named(self):
        self.browser.open(self.address)
        [untried] = [footer["footer"]["untried"] for footer in lines_of(*self.runs) if "untried" in footer.get("footer", {})]
        self.assertEqual(self.texts(".testee .warning"), [
            "promised, but not answered in any call: " + ", ".join(f"{u['name']} ({u['text']})" for u in untried)])

    def test_defects_of_the_contract_stand_first_most_serious_first(self):
        self.browser.open(self.address)
        self.assert_shown(self.ids(in_contract))
        serious = sorted((defect for defect in self.found if in_contract(defect)),
                         key=lambda defect: (TIERS.index(defect["tier"]), -defect["cases"], defect["sentence"]))
        self.assertEqual(self.defects(), [defect["id"] for defect in serious])
        self.assertTrue(self.browser.run(
            "byId('defects').getBoundingClientRect().top < byId('operators').getBoundingClientRect().top"))

    def test_a_line_says_tier_sentence_cases_distance_and_trust(self):
        self.browser.open(self.address)
        for defect in filter(in_contract, self.found):
            [line] = self.texts(f".defect[data-id='{defect['id']}'] .fold")
            for text in (defect["tier"], defect["sentence"], f"{defect['cases']} case",
                         "explained" if defect["explained"] else "nearly"):
                self.assertIn(text, line)
        self.assertIn("times the bound", self.texts(".defect[data-id='%s'] .fold" % next(
            defect["id"] for defect in self.found if defect["tier"] == "quality"))[0])

    def test_a_defect_unfolds_to_its_smallest_call(self):
        for defect in self.found:
            text = self.panel_of(defect)
            smallest = defect["smallest"]
            for key in ("message", "got", "expected", "rule", "case"):
                self.assertIn(smallest.get(key, ""), text)
            for given in smallest.get("inputs", []) + smallest.get("outs", []):
                self.assertIn(given["text"], text)
            self.assertIn(f"{defect['alike']} of {defect['drawn']} drawn calls fail alike", text)
            for operator in defect["operators"]:
                self.assertIn(operator, text)

    def test_every_operator_has_its_counts(self):
        self.browser.open(self.address)
        self.assertEqual(sorted(self.operators()), sorted({case["operator"] for case in self.cases}))
        shown = dict(zip(self.operators(), self.texts("#operators .testee-counts")))
        for operator, text in shown.items():
            mine = [case["verdict"] for case in self.cases if case["operator"] == operator]
            self.assertEqual(text, "".join(f"{mine.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in mine))

    def test_search_from_the_address(self):
        self.browser.open(self.address + "#filter=softmax")
        self.assert_shown(self.ids(lambda defect: "aten::_softmax.out" in defect["operators"]))
        self.assertEqual(sorted(self.operators()), ["aten::_log_softmax.out", "aten::_softmax.out"])
        self.assertEqual(self.browser.run("byId('filter').value"), "softmax")

    def test_chips_filter_and_are_kept_in_the_address(self):
        for group, key, value in (("tiers", "tier", "damage"), ("classes", "class", "value")):
            self.browser.open(self.address)
            self.browser.run(f"document.querySelector('#{group} [data-name={value}]').click()")
            self.assert_shown(self.ids(lambda defect: defect[key] == value))
            self.assertEqual(self.browser.run("location.hash"), f"#{key}={value}")

    def test_scope_shows_what_is_outside_of_the_contract_or_listed(self):
        self.browser.open(self.address)
        self.choose("scope", "outside")
        self.assert_shown(self.ids(lambda defect: defect["promised_cases"] == 0))
        self.assertEqual(self.texts("#tiers .chip:not([hidden])"), ["not-promised1"])
        self.choose("scope", "listed")
        self.assert_shown(self.ids(lambda defect: defect.get("known")))
        self.assertIn("as listed", self.texts(".defect:not([hidden]) .badge")[0])
        self.choose("scope", "all")
        self.assert_shown(self.ids(lambda defect: True))

    def test_operator_filters_both_lists(self):
        self.browser.open(self.address)
        self.choose("operator", "aten::index.Tensor_out")
        self.assert_shown(self.ids(lambda defect: "aten::index.Tensor_out" in defect["operators"]))
        self.assertEqual(self.operators(), ["aten::index.Tensor_out"])

    def test_search_without_match_says_so_and_escape_clears_it(self):
        self.browser.open(self.address + "#filter=nosuchoperator")
        self.assertEqual((self.defects(), self.operators()), ([], []))
        self.assertFalse(self.browser.run("byId('no-defects').hidden"))
        self.browser.press("Escape")
        self.assert_shown(self.ids(in_contract))

    def test_sort_by_column_and_back(self):
        self.browser.open(self.address)
        click = "document.querySelector('#columns [data-key=operator] button').click()"
        self.browser.run(click)
        first = self.operators()
        self.browser.run(click)
        self.assertEqual(first, sorted(first))
        self.assertEqual(first, self.operators()[::-1])
        self.assertEqual(self.browser.run("document.querySelector('[data-key=operator]').getAttribute('aria-sort')"), "descending")

    def test_keyboard_goes_through_the_defects(self):
        self.browser.open(self.address)
        focused = "document.activeElement.closest('.defect')?.dataset.id"
        for key, at in (("j", 0), ("j", 1), ("k", 0)):
            self.browser.press(key)
            self.assertEqual(self.browser.run(focused), self.defects()[at])
        self.browser.press("Enter")
        self.assertEqual(self.browser.run("document.activeElement.getAttribute('aria-expanded')"), "true")
        self.browser.press("/")
        self.assertEqual(self.browser.run("document.activeElement.id"), "filter")

    def test_an_operator_leads_to_its_defects(self):
        self.browser.open(self.address + "#open=aten::var.correction_out")
        self.browser.run("document.querySelector('#operators .panel .link').click()")
        defect = next(defect for defect in self.found if defect.get("known"))
        self.assert_shown([defect["id"]])
        self.assertEqual(self.browser.run("document.activeElement.closest('.defect').dataset.id"), defect["id"])

    def test_repro_line_is_copied(self):
        defect = next(defect for defect in self.found if defect["class"] == "arithmetic-trap")
        self.panel_of(defect)
        self.browser.run("""
            Object.defineProperty(navigator, "clipboard",
              { value: { writeText: async text => { window.copied = text; } } });
            document.querySelector(".repro button").click()""")
        self.assertEqual(self.browser.run("window.copied"), "assay case " + defect["smallest"]["case"])
        self.assertEqual(self.texts(".repro button"), ["Copied"])

    def test_infinite_distance_is_said(self):
        self.assertIn("infinite", self.panel_of(next(defect for defect in self.found if defect["distance"] == "inf")))

    def test_differing_elements_are_marked(self):
        self.panel_of(next(defect for defect in self.found if defect["class"] == "nan"))
        self.assertEqual(self.texts(".defect mark"), ["0"])

    def test_nothing_overflows_with_everything_open(self):
        self.assert_nothing_overflows()

    def test_dark_scheme_is_dark(self):
        for scheme, dark in (("light", False), ("dark", True)):
            self.browser.open(self.address, scheme=scheme)
            red = self.browser.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
            self.assertEqual(int(red) < 128, dark)


class TwoVersions(Page):
    runs = ("old.jsonl", "new.jsonl")
    names = ["executorch (new.jsonl)", "executorch (old.jsonl)"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.old, cls.new = ({defect["id"] for defect in defects_of(run) if in_contract(defect)} for run in cls.runs)

    def test_each_has_its_headline_and_column(self):
        self.browser.open(self.address)
        self.assertEqual(self.texts(".testee h3"), self.names)
        self.assertEqual(self.texts("#columns th")[1:-1], self.names)
        for name, run in zip(self.names, ("new.jsonl", "old.jsonl")):
            mine = [case["verdict"] for case in cases_of(run) if case["operator"] == "aten::convolution.out"]
            cell = self.browser.run(f"""operatorRows.find(row => row.key === "aten::convolution.out")
                .body.querySelector('[data-label="{name}"]').textContent""")
            self.assertEqual(cell, "".join(f"{mine.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in mine))

    def test_a_defect_stands_once_and_is_marked_where_it_is(self):
        self.browser.open(self.address)
        self.assert_shown(self.old | self.new)
        for name, ids in zip(self.names, (self.new, self.old)):
            for identity in self.old | self.new:
                lacks = self.browser.run(f"""[...document.querySelectorAll(".defect[data-id='{identity}'] .marks span")]
                    .find(mark => mark.textContent === {json.dumps(name)}).hasAttribute("data-lacks")""")
                self.assertEqual(lacks, identity not in ids)

    def test_a_chosen_testee_shows_its_own_defects(self):
        self.browser.open(self.address)
        self.choose("testee", "=" + self.names[0])
        self.assert_shown(self.new - self.old)
        self.assertTrue(self.new - self.old)
        self.choose("testee", self.names[1])
        self.assert_shown(self.old)

    def test_facts_that_differ_are_said_of_each(self):
        self.browser.open(self.address)
        facts = dict(zip(self.texts("#facts dt"), self.texts("#facts dd")))
        self.assertEqual((facts["executorch (old.jsonl)"], facts["executorch (new.jsonl)"]), ("1.5.0", "1.5.1"))
        self.assertEqual(facts["contract"], "executorch")

    def test_nothing_overflows_with_everything_open(self):
        self.assert_nothing_overflows()

    def test_facts_are_folded_on_a_phone(self):
        for size, is_open in (PHONE, False), (DESK, True):
            self.browser.open(self.address, size)
            self.assertEqual(self.browser.run("byId('about').open"), is_open)
            self.assertEqual(self.browser.run("byId('facts').checkVisibility()"), is_open)


class NotJudged(Page):
    """A run and the same run without the cases of one operator."""
    operator = "aten::maximum.out"

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        few = Path(folder.name) / "few.jsonl"
        lines = [line for line in lines_of("old.jsonl") if line.get("operator") != cls.operator and "defect" not in line and "footer" not in line]
        few.write_text("".join(json.dumps(line) + "\n" for line in lines))
        cls.runs = ("old.jsonl", str(few))
        super().setUpClass()

    def test_a_testee_that_was_not_judged_is_not_shown_as_clean(self):
        self.browser.open(self.address + "#scope=all")
        for defect in defects_of("old.jsonl"):
            marks = self.browser.run(f"""[...document.querySelectorAll(".defect[data-id='{defect['id']}'] .marks span")]
                .filter(mark => mark.textContent.includes("few.jsonl"))
                .map(mark => [mark.textContent.endsWith(": not judged"), mark.hasAttribute("data-lacks")])""")
            judged = defect["operators"] != [self.operator]
            self.assertEqual(marks, [[not judged, judged]], defect["id"])


def take_screenshots(folder):
    """Reports at desk and phone width, light and dark, folded and with a defect open."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for test in (OneRun, TwoVersions):
        test.setUpClass()
        for (name, size), scheme in itertools.product((("desk", DESK), ("phone", PHONE)), ("light", "dark")):
            file = Path(folder) / f"{test.__name__}-{name}-{scheme}"
            test.browser.open(test.address, size, scheme)
            test.browser.screenshot(f"{file}.png")
            first = test.browser.run("defectRows[1].key")
            test.browser.open(f"{test.address}#open={first},aten::index.Tensor_out", size, scheme)
            test.browser.screenshot(f"{file}-open.png", whole_page=True)
        test.doClassCleanups()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--screenshots", metavar="FOLDER", help="take pictures instead of testing")
    given = parser.parse_args()
    if given.screenshots:
        take_screenshots(given.screenshots)
    else:
        unittest.main(argv=["report_browser_test.py"], verbosity=2)


main()
