#!/usr/bin/env python3
"""The book: what its pages state is what the sources do, every link leads somewhere, and a reader can read and search it."""
import collections
import html
import html.parser
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

from browser import DESK, PHONE, Browser
from source import SOURCE

ASSAY = os.environ["ASSAY"]
BOOK = SOURCE / "tools" / "specgen" / "book" / "book.py"
RUN = SOURCE / "tests" / "conformance" / "runs" / "old.jsonl"
sys.path.insert(0, str(BOOK.parent))
from formula import formula  # noqa: E402


class Read(html.parser.HTMLParser):
    """A page's links and ids, and its text by the id of the heading above it."""

    def __init__(self, file):
        super().__init__()
        self.links, self.ids, self.text, self.section = [], [], collections.defaultdict(str), ""
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.links += [found[key] for key in ("href", "src") if key in found]
        self.ids += [found["id"]] if "id" in found else []
        if tag == "h2":
            self.section = found.get("id", "")

    def handle_data(self, data):
        self.text[self.section] += data

    @property
    def whole(self):
        return re.sub(r"\s+", " ", "".join(self.text.values()))


def asked(*arguments):
    return subprocess.run([ASSAY, *map(str, arguments)], capture_output=True, text=True, check=False)


def write(*arguments):
    return subprocess.run([BOOK, "--assay", ASSAY, *map(str, arguments)], capture_output=True, text=True, check=False)


def longest_word(file):
    return max(map(len, re.split(r"[ <>/]", file.read_text(encoding="utf-8"))))


class Book:
    """Written once, from all operators and one run."""

    def __init__(self, scratch):
        self.folder = pathlib.Path(scratch).resolve() / "book"
        cases = pathlib.Path(scratch) / "cases.jsonl"
        cases.write_text(asked("cases", "--json").stdout)
        done = write("-o", self.folder, "--cases", cases, RUN)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        self.pages = {file: Read(file) for file in sorted(self.folder.rglob("*.html"))}
        self.coverage = {line["operator"]: line for line in map(json.loads, cases.read_text().splitlines())}

    def file(self, name):
        return self.folder / "operators" / f"{name.replace('::', '.')}.html"

    def operator(self, name):
        return self.pages[self.file(name)]


def setUpModule():
    global book
    scratch = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(scratch.cleanup)
    book = Book(scratch.name)


class Links(unittest.TestCase):
    def test_every_link_leads_to_a_place_in_the_book(self):
        checked = 0
        for file, page in book.pages.items():
            for link in page.links:
                if link.startswith("data:"):
                    continue
                path, _, anchor = link.partition("#")
                target = (file.parent / path).resolve() if path else file
                self.assertTrue(target.is_relative_to(book.folder.resolve()), f"{file}: {link}")
                self.assertTrue(target.is_file(), f"{file}: {link}")
                if anchor:
                    self.assertIn(anchor, book.pages[book.folder / target.relative_to(book.folder.resolve())].ids, f"{file}: {link}")
                checked += 1
        self.assertGreater(checked, 10_000)

    def test_no_id_stands_twice_on_a_page(self):
        for file, page in book.pages.items():
            self.assertEqual([i for i, n in collections.Counter(page.ids).items() if n > 1], [], file)

    def test_every_page_is_led_to(self):
        led_to = {(file.parent / link.partition("#")[0]).resolve() for file, page in book.pages.items() for link in page.links if not link.startswith(("#", "data:"))}
        self.assertEqual([file for file in book.pages if file.resolve() not in led_to], [])


class Statements(unittest.TestCase):
    def test_every_operator_has_a_page_with_its_schema_and_nothing_else_has(self):
        schemas = asked("operators").stdout.splitlines()
        names = {schema.partition("(")[0] for schema in schemas}
        self.assertEqual({file.stem for file in book.pages if file.parent.name == "operators"}, {n.replace("::", ".") for n in names})
        for schema in schemas:
            self.assertIn(schema, book.operator(schema.partition("(")[0]).whole)

    def test_every_section_of_an_operator_says_something(self):
        for name in book.coverage:
            page = book.operator(name)
            for section in ("arguments", "results", "rules", "accuracy", "examples", "cases", "conformance", "source"):
                self.assertGreater(len(page.text[section].strip()), 20, f"{name}, {section}")

    def test_every_rule_that_the_command_names_has_its_place_and_words(self):
        for line in book.coverage.values():
            page = book.operator(line["operator"])
            for rule, count in line["rules"].items():
                if not rule.startswith("limits."):
                    self.assertIn(rule, page.ids)
                    self.assertIn(f"{count} recorded refusal", page.text["rules"], rule)

    def test_every_chapter_is_there(self):
        for chapter in [*(SOURCE / "spec").rglob("*.md"), SOURCE / "CONTRIBUTING.md"]:
            page = book.pages[book.folder / chapter.relative_to(SOURCE).with_suffix(".html")]
            words = re.findall(r"[A-Za-z]{4,}", re.sub("```[a-z]*|<!--.*?-->", "", chapter.read_text(), flags=re.DOTALL))
            self.assertEqual([w for w in dict.fromkeys(words) if w not in page.whole and not any(w in link for link in page.links)], [], chapter)

    def test_every_header_that_is_installed_has_a_page_with_a_program(self):
        examples = SOURCE / "doc/examples/headers"
        for example in examples.rglob("*.c*"):
            page = book.pages[book.folder / f"{example.relative_to(examples).with_suffix('')}.h.html"]
            self.assertIn(re.sub(r"\s+", "", example.read_text()), re.sub(r"\s+", "", page.whole))

    def test_chapters_show_what_their_fences_name(self):
        page = book.pages[book.folder / "spec" / "language.html"]
        for text in ("common: floating(self)", "std::sinh(x)", 'call.rule("sinh.R1"', "assay call aten::sinh.out"):
            self.assertTrue(text in page.whole, text)

    def test_formulas_keep_their_words(self):
        """Whatever a formula becomes, its letters and digits stay, in order."""
        signs = {"π": "pi", "Φ": "Phi", "Γ": "gamma", "∑": "sum", "√": "sqrt", "⌊": "floor", "⌈": "ceil"}
        formulas = [json.loads(text) for path in (SOURCE / "spec/operators").glob("*.yaml") for text in re.findall(r'^  math: (".*")$', path.read_text(), re.M)]
        self.assertGreater(len(formulas), 200)
        for text in formulas:
            shown = html.unescape(re.sub(r"<[^>]+>", "", formula(text, ["self", "out"])))
            self.assertEqual(re.sub(r"\W|_", "", "".join(signs.get(c, c) for c in shown)), re.sub(r"\W|_", "", text))

    def test_formulas_as_a_reader_expects_them(self):
        for text, expected in {
            "e^(-2 pi i jk / n)": "<var>e</var><sup>−2 π <var>i</var> jk / <var>n</var></sup>",
            "sum_{c,k} x_j": "∑<sub><var>c</var>,<var>k</var></sub> <var>x</var><sub><var>j</var></sub>",
            "sqrt(var + eps) * min_val": '√<span class="root">var + eps</span> · <var>min_val</var>',
            "floor(a / b), row-major": "⌊<var>a</var> / <var>b</var>⌋, row-major",
            "a bag of a x <= 2^-23": "a bag of <var>a</var> <var>x</var> ≤ 2<sup>−23</sup>",
        }.items():
            self.assertEqual(formula(text, ["min_val"]), expected)

    def test_how_much_is_recorded_is_what_the_recorder_wrote_down(self):
        manifest = json.loads((SOURCE / "golden" / "MANIFEST.json").read_text())["files"]
        alike = 0
        for file, row in manifest.items():
            name = file.removesuffix(".calls").replace(".", "::", 1)
            seen = book.coverage[name]
            alike += (seen["calls"], seen["refused"]) == (row["calls"], row["refusals"])
            self.assertLessEqual(seen["calls"], row["calls"], name)  # a call that was recorded twice counts once
            self.assertLessEqual(seen["refused"], row["refusals"], name)
            self.assertLessEqual(sum(seen["rules"].values()), seen["refused"])
            self.assertIn(f"recordedcalls{seen['calls']}answered", re.sub(r"\s+", "", book.operator(name).text["cases"]))
        self.assertGreater(alike, len(manifest) / 2)

    def test_examples_ask_the_reference_for_what_eager_answered(self):
        for name in ("aten::add.out", "aten::sort.values", "quantized_decomposed::quantize_per_channel.out", "aten::native_layer_norm.out"):
            commands = re.findall(r"\$ (assay call .*)", book.operator(name).text["examples"])
            for command, example in zip(commands, book.coverage[name]["examples"], strict=True):
                done = asked(*shlex.split(command)[1:])
                if example["outcome"] == "ok":
                    self.assertEqual(done.returncode, 0, command)
                    self.assertEqual(len(done.stdout.splitlines()), len(example["results"]), command)
                else:
                    self.assertIn(f"{example['outcome']}, {example['rule']}", done.stderr, command)

    def test_who_conforms_is_what_the_run_says(self):
        lines = [json.loads(line) for line in RUN.read_text().splitlines()]
        for name in {line["operator"] for line in lines if "case" in line}:
            verdicts = collections.Counter(line["verdict"] for line in lines if line.get("operator") == name and line["promised"])
            for verdict, count in verdicts.items():
                self.assertIn(f"{count} {verdict}", book.operator(name).text["conformance"])
        self.assertIn("No run judged it.", book.operator("aten::sinh.out").text["conformance"])

    def test_a_folder_that_is_no_book_stays_as_it_is(self):
        with tempfile.TemporaryDirectory() as mine:
            letter = pathlib.Path(mine) / "letter"
            letter.write_text("dear")
            done = write("-o", mine)
            self.assertEqual((done.returncode, letter.read_text()), (1, "dear"))
            self.assertIn("does not contain a book", done.stderr)


class Reading(unittest.TestCase):
    """What a reader sees and can do, in a browser."""

    @classmethod
    def setUpClass(cls):
        cls.profile = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.profile.cleanup)
        cls.browser = Browser(cls.profile.name)
        cls.addClassCleanup(cls.browser.close)

    def open(self, file, size=DESK, scheme="light"):
        self.browser.open(file.as_uri(), size, scheme)

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual([u for u in self.browser.requests() if not u.startswith(("data:", "about:", book.folder.as_uri()))], [])

    def type(self, text):
        self.browser.run("document.getElementById('search').focus()")
        self.browser.run(f"""new Promise(done => {{
            new MutationObserver(done).observe(document.getElementById("found"), {{ childList: true }});
            const field = document.getElementById("search");
            field.value = {json.dumps(text)}; field.dispatchEvent(new Event("input")); }})""")
        return self.browser.run("[...document.querySelectorAll('#found span')].map(node => node.textContent)")

    def test_nothing_is_wider_than_the_window(self):
        operators = sorted((file for file in book.pages if file.parent.name == "operators"), key=longest_word)
        largest = sorted(book.pages, key=lambda file: file.stat().st_size)[-3:]
        others = [file for file in book.pages if file.parent.name != "operators"]
        for file in dict.fromkeys([*others, *operators[-3:], *largest]):
            for size in (PHONE, DESK) if file in largest else (PHONE,):
                self.open(file, size, "dark")
                self.assertEqual(self.browser.wider_than_the_window(), [], file)
                self.assertEqual(self.browser.run("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0, file)
                self.assertEqual(self.browser.complaints(), [], file)

    def test_search_finds_operators_by_name_and_chapters_by_words(self):
        self.open(book.file("aten::add.out"))
        for text, first in (("sinh", "aten::sinh.out"), ("aten::mm.out", "aten::mm.out"), ("log_softmax", "aten::_log_softmax.out"), ("Accuracy rows", "Accuracy rows")):
            self.assertEqual(self.type(text)[0], first)
        self.assertEqual(self.type("nosuchword"), [])
        self.assertIn("Nothing", self.browser.run("document.getElementById('found').textContent"))

    def test_enter_opens_the_first_that_was_found(self):
        self.open(book.folder / "index.html")
        self.type("sinh")
        self.browser.events.clear()
        self.browser.press("Enter")
        self.browser.wait_for("Page.loadEventFired")
        self.assertEqual(self.browser.run("location.href"), book.file("aten::sinh.out").as_uri())

    def test_the_scheme_is_the_systems_until_the_reader_chooses(self):
        colour = "getComputedStyle(document.body).backgroundColor"
        seen = {}
        for scheme in ("light", "dark"):
            self.open(book.folder / "index.html", scheme=scheme)
            seen[scheme] = self.browser.run(colour)
        self.assertNotEqual(seen["light"], seen["dark"])
        self.browser.run("document.getElementById('scheme').click()")
        self.assertEqual(self.browser.run(colour), seen["light"])
        self.open(book.folder / "operators.html", scheme="dark")
        self.assertEqual(self.browser.run(colour), seen["light"])
        self.browser.run("document.getElementById('scheme').click()")
        self.assertEqual(self.browser.run(colour), seen["dark"])

    def test_on_paper_only_the_page_is_left(self):
        self.open(book.file("aten::add.out"))
        self.browser.send("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(self.browser.run("['.top', 'nav'].map(one => getComputedStyle(document.querySelector(one)).display)"), ["none", "none"])
        self.browser.send("Emulation.setEmulatedMedia", media="")


if __name__ == "__main__":
    unittest.main()
