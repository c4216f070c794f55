#!/usr/bin/env python3
"""What assay report and assay compare write, read by those who did not write it: parsers of XML, JSON and Markdown's rules."""
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from source import SOURCE

SANITIZED = bool(os.environ.get("ASSAY_SANITIZE"))  # a sanitizer takes terabytes of address space
RUNS = SOURCE / "tests/conformance/runs"
SPEC = SOURCE / "spec/verdicts.md"

# Each is the end or the beginning of something somewhere.
HOSTILE = "]]> | `` ``` \\ <b>&lt; @all \"'\x00\x1b[2J\x7f\ufffe\uffff\u202e größe\r\n# heading\n| a | b |"


def assay(*arguments, code=0):
    run = subprocess.run([os.environ["ASSAY"], *map(str, arguments)], capture_output=True, encoding="utf-8")
    if run.returncode != code:
        raise AssertionError(f"exit code {run.returncode}, not {code}: {run.stderr}{run.stdout}")
    return run


def lines_of(file):
    return [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]


def defects_of(file):
    return [line["defect"] for line in lines_of(file) if "defect" in line]


def cases_of(file):
    return [line for line in lines_of(file) if "case" in line]


def is_failure(case):
    return case["verdict"] in ("fail", "crash", "timeout")


def counts(defect):
    return is_failure(defect) and defect["promised_cases"] > 0 and not defect.get("known")


def documented(section):
    text = SPEC.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", text, re.M)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def written(self, form, *runs):
        file = self.folder / form
        assay("report", *runs, f"--{form}", file)
        return file.read_text(encoding="utf-8")

    def changed(self, change, run=RUNS / "old.jsonl"):
        """A copy of a run, each of whose lines was given to `change`, which may return None to leave it out."""
        lines = [line for line in map(change, lines_of(run)) if line is not None]
        file = self.folder / "changed.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return file

    def hostile(self):
        def change(line):
            if "header" in line:
                line["header"]["assay"] = HOSTILE
            for record in [line] if "case" in line else [line["defect"], line["defect"]["smallest"]] if "defect" in line else []:
                record["testee"] = HOSTILE
                for key in ("message", "rule", "expected", "got", "bound", "sentence", "id"):
                    if key in record:
                        record[key] += HOSTILE
                for given in record.get("inputs", []) + record.get("outs", []):
                    given["text"] += HOSTILE
                    given["name"] += HOSTILE
            return line
        return self.changed(change)


class JUnit(Folder):
    def suites(self, *runs):
        return ElementTree.fromstring(self.written("junit", *runs).encode())

    def assert_shape(self, root):
        """What the schema of JUnit asks for: order of elements, needed attributes, counts that are right."""
        self.assertEqual(root.tag, "testsuites")
        for suite in root:
            self.assertEqual(suite.tag, "testsuite")
            tags = [child.tag for child in suite]
            self.assertEqual(sorted(tags), tags)  # properties stand before test cases
            self.assertLessEqual(set(tags), {"properties", "testcase"})
            for name in ("failure", "error", "skipped"):
                field = {"failure": "failures", "error": "errors"}.get(name, name)
                self.assertEqual(int(suite.get(field)), len(suite.findall(f"testcase/{name}")))
            cases = suite.findall("testcase")
            self.assertEqual(int(suite.get("tests")), len(cases))
            self.assertEqual(len({case.get("name") for case in cases}), len(cases))
            for case in cases:
                self.assertTrue(case.get("name") and case.get("classname"))
                self.assertLessEqual(len(case), 1)
                for outcome in case:
                    self.assertIn(outcome.tag, ("failure", "error", "skipped"))
                    self.assertTrue(outcome.get("message"))
            for one in suite.findall("properties/property"):
                self.assertEqual(sorted(one.keys()), ["name", "value"])

    def test_each_operator_is_a_suite_and_each_of_its_defects_a_case(self):
        root = self.suites(RUNS / "old.jsonl")
        self.assert_shape(root)
        found = defects_of(RUNS / "old.jsonl")
        operators = {line["operator"] for line in lines_of(RUNS / "old.jsonl") if "operator" in line}
        self.assertEqual({suite.get("name") for suite in root},
                         {"executorch"} | {f"executorch.{name}" for name in operators})
        for operator in operators:
            [suite] = [suite for suite in root if suite.get("name") == f"executorch.{operator}"]
            mine = {f"{one['id']}: {one['sentence']}": one for one in found if operator in one["operators"]}
            self.assertEqual({case.get("name") for case in suite.findall("testcase")[:-1]}, set(mine))
            for case in suite.findall("testcase")[:-1]:
                defect = mine[case.get("name")]
                wanted = ("failure" if defect["verdict"] == "fail" else "error") if counts(defect) else "skipped"
                self.assertEqual([outcome.tag for outcome in case], [wanted])
                if counts(defect):
                    self.assertIn("assay case", case[0].text)
                    self.assertIn(defect["smallest"]["case"], case[0].text)
            self.assertRegex(suite.findall("testcase")[-1].get("name"), r"^\d+ of \d+ cases pass$")

    def test_hostile_texts_are_texts(self):
        root = self.suites(self.hostile())
        self.assert_shape(root)
        [failure] = [one for one in root.iter("error") if "arithmetic" in one.get("message")]
        self.assertIn("]]> | `` ``` \\ <b>&lt; @all \"'\\x00\\x1b[2J\\x7f", failure.text)
        self.assertIn("größe", failure.text)

    def test_a_run_that_did_not_come_to_its_defects_is_not_green(self):
        root = self.suites(self.changed(lambda line: None if "defect" in line or "footer" in line else line))
        self.assert_shape(root)
        failing = {case["operator"] for case in cases_of(RUNS / "old.jsonl") if is_failure(case) and not case.get("known")}
        self.assertEqual({suite.get("name") for suite in root if suite.find("testcase/failure") is not None},
                         {f"executorch.{name}" for name in failing})

    def test_a_listed_failure_that_passes_fails(self):
        def change(line):
            return line | {"known": True} if line.get("case") == "aten::add.out#0" else line
        [failure] = self.suites(self.changed(change))[0].findall("testcase[failure]")
        self.assertEqual(failure.get("name"), "aten::add.out#0")


class Sarif(Folder):
    def log(self, *runs):
        return json.loads(self.written("sarif", *runs))

    def assert_shape(self, log):
        """What the schema of SARIF 2.1.0 asks for, and what its prose does."""
        self.assertEqual(log["version"], "2.1.0")
        self.assertTrue(log["$schema"].endswith("sarif-2.1.0.json"))
        for run in log["runs"]:
            rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
            self.assertEqual(run["tool"]["driver"]["name"], "assay")
            self.assertEqual(len(set(rules)), len(rules))
            self.assertEqual({result["ruleId"] for result in run["results"]}, set(rules))
            for rule in run["tool"]["driver"]["rules"]:
                self.assertTrue(rule["shortDescription"]["text"])
            for invocation in run["invocations"]:
                self.assertIsInstance(invocation["executionSuccessful"], bool)
                for note in invocation["toolExecutionNotifications"]:
                    self.assertTrue(note["message"]["text"])
            for result in run["results"]:
                self.assertTrue(result["message"]["text"])
                self.assertIn(result["level"], ("error", "warning", "note"))
                self.assertGreaterEqual(result["occurrenceCount"], 1)
                for value in result["partialFingerprints"].values():
                    self.assertIsInstance(value, str)
                for suppression in result.get("suppressions", []):
                    self.assertIn(suppression["kind"], ("inSource", "external"))
                for location in result["locations"]:
                    [logical] = location["logicalLocations"]
                    self.assert_is_entry(location["physicalLocation"], logical["fullyQualifiedName"])

    def assert_is_entry(self, place, operator):
        """A file of this repository, by its relative path, and the line on which the operator's entry begins there."""
        lines = (SOURCE / place["artifactLocation"]["uri"]).read_text(encoding="utf-8").splitlines()
        entry = lines[place["region"]["startLine"] - 1:]
        self.assertTrue(entry[0].startswith("- "), entry[0])
        end = next((i for i, line in enumerate(entry[1:], 1) if line.startswith("- ")), len(entry))
        self.assertIn(f'schema: "{operator}(', "\n".join(entry[:end]))

    def test_each_defect_is_a_result_at_its_operators(self):
        log = self.log(RUNS / "old.jsonl")
        self.assert_shape(log)
        [run] = log["runs"]
        results = {result["partialFingerprints"]["defect/v1"]: result for result in run["results"]}
        found = defects_of(RUNS / "old.jsonl")
        self.assertEqual(set(results), {defect["id"] for defect in found})
        for defect in found:
            result = results[defect["id"]]
            self.assertEqual(result["ruleId"], defect["class"] or defect["verdict"])
            self.assertEqual([one["logicalLocations"][0]["fullyQualifiedName"] for one in result["locations"]], defect["operators"])
            self.assertIn(defect["sentence"], result["message"]["text"])
            self.assertIn(result["properties"]["command"], result["message"]["text"])
            self.assertEqual("suppressions" in result, bool(defect.get("known")))
        levels = {result["properties"]["tier"]: result["level"] for result in run["results"]}
        self.assertEqual(levels, {
            "damage": "error", "wrong-exported": "error", "wrong-special": "error", "refused": "error", "invalid-damage": "error",
            "invalid-accepted": "warning", "invalid-aborted": "warning", "not-promised": "note", "quality": "note"})
        self.assertTrue(run["invocations"][0]["executionSuccessful"])

    def test_each_testee_is_a_run(self):
        log = self.log(RUNS / "old.jsonl", RUNS / "new.jsonl")
        self.assert_shape(log)
        self.assertEqual([run["automationDetails"]["id"] for run in log["runs"]],
                         sorted(f"executorch ({RUNS / name})/" for name in ("old.jsonl", "new.jsonl")))

    def test_hostile_texts_are_texts(self):
        log = self.log(self.hostile())
        self.assert_shape(log)
        self.assertTrue(all(HOSTILE in result["message"]["text"] for result in log["runs"][0]["results"]))

    def test_a_run_that_did_not_come_to_its_defects_is_no_success(self):
        log = self.log(self.changed(lambda line: None if "defect" in line else line))
        self.assert_shape(log)
        self.assertFalse(log["runs"][0]["invocations"][0]["executionSuccessful"])


class Markdown(Folder):
    def rows(self, text):
        """The cells of the first table, as GitHub cuts them: at bars that are not escaped."""
        lines = re.search(r"(^\|.*\n)+", text, re.M)[0].splitlines()
        self.assertRegex(lines[1], r"^(\|[-:]+)+\|$")
        return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[:1] + lines[2:]]

    def test_headline_and_defects_most_serious_first(self):
        text = self.written("markdown", RUNS / "old.jsonl")
        self.assertRegex(text, r"^### executorch: 35 of 47 promised calls pass \(74\.47 %\); 9 defects\n")
        header, *rows = self.rows(text)
        self.assertEqual(header, ["tier", "defect", "cases", "how far off", "smallest call"])
        tiers = documented("Tiers")
        wanted = sorted(filter(counts, defects_of(RUNS / "old.jsonl")),
                        key=lambda defect: (tiers.index(defect["tier"]), -defect["cases"], defect["sentence"]))
        self.assertEqual([row[0] for row in rows], [defect["tier"] for defect in wanted])
        self.assertEqual([row[2] for row in rows], [str(defect["cases"]) for defect in wanted])
        for row, defect in zip(rows, wanted):
            self.assertIn(defect["smallest"]["case"], row[4])
        self.assertIn("- 1 defect: outside of the contract\n", text)
        self.assertIn("- 1 defect: listed as an expected failure\n", text)

    def test_answers_are_counted_by_feature(self):
        text = self.written("markdown", RUNS / "old.jsonl")
        self.assertRegex(text, r"right refusals pass; by dtype: float32: \d+")
        self.assertIn("| rank | 0: 0, 1: 1, 2: 1, 3: 0, 4: 0, more: 0 |\n", text)
        self.assertNotIn("| keepdim |", text)

    def test_hostile_texts_are_texts(self):
        text = self.written("markdown", self.hostile())
        rows = self.rows(text)
        self.assertEqual({len(row) for row in rows}, {5})
        self.assertEqual(len(rows), 1 + sum(map(counts, defects_of(RUNS / "old.jsonl"))))
        for row in rows[1:]:
            self.assertNotRegex(row[1], r"[`<>@\\*_\[\]|]")
        self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f\u202e]")
        self.assertEqual(len(re.findall(r"^#", text, re.M)), 1)

    def test_what_is_not_in_the_table_is_counted(self):
        def change(line):
            return None if "defect" in line else line | {"known": True} if line.get("case") == "aten::add.out#0" else line
        text = self.written("markdown", self.changed(change))
        failing = {case["operator"] for case in cases_of(RUNS / "old.jsonl") if is_failure(case) and not case.get("known")}
        self.assertIn(f"- {len(failing)} operators fail; the run did not come to their defects\n", text)
        self.assertIn("- 1 case is listed as an expected failure, but passes\n", text)

    def test_code_ends_where_it_should(self):
        def change(line):
            if line.get("defect"):
                line["defect"]["smallest"]["case"] = "aten::add.out#`a``b` | c"
            return line
        for row in self.rows(self.written("markdown", self.changed(change)))[1:]:
            self.assertEqual(row[4], "``` assay case 'aten::add.out#`a``b` \\| c' ```")

    def test_a_comment_has_no_more_than_65536_characters(self):
        found = defects_of(RUNS / "old.jsonl")[0] | {"sentence": "x" * 3000}

        def change(line):
            return None if "defect" in line else line
        file = self.changed(change)
        with file.open("a", encoding="utf-8") as out:
            for number in range(500):
                out.write(json.dumps({"defect": found | {"id": str(number)}}) + "\n")
        text = self.written("markdown", file)
        self.assertLess(len(text), 65536)
        self.assertIn("… and 450 more.", text)


class Report(Folder):
    def test_what_cannot_be_read_is_said(self):
        self.assertIn("cannot be read", assay("report", "nosuchfile.jsonl", code=3).stderr)
        bad = self.changed(lambda line: line | {"verdict": "fine"} if "verdict" in line else line)
        self.assertRegex(assay("report", bad, code=3).stderr, r'changed\.jsonl, line 2: record: field "verdict" must be one of')

    def test_without_files_the_table_is_printed(self):
        self.assertIn("9 defects", assay("report", RUNS / "old.jsonl").stdout)


class Compare(Folder):
    def test_what_is_new_and_mended(self):
        text = assay("compare", RUNS / "old.jsonl", RUNS / "new.jsonl", code=1).stdout
        self.assertIn("executorch: 1.5.1, was 1.5.0\n", text)
        self.assertIn("  aten::relu.out#1: fail (shape), was pass\n", text)
        self.assertIn("  aten::maximum.out#3: pass, was fail (nan)\n", text)
        self.assertTrue(text.endswith("1 new, 3 mended, 0 no longer supported; 1 only before, 0 only after\n"))

    def test_exit_code_is_that_of_what_is_new_and_promised(self):
        assay("compare", RUNS / "old.jsonl", RUNS / "old.jsonl")
        def forgive(line):
            return line | {"promised": False} if line.get("case") == "aten::relu.out#1" else line
        text = assay("compare", RUNS / "old.jsonl", self.changed(forgive, RUNS / "new.jsonl")).stdout
        self.assertIn("aten::relu.out#1: fail (shape), was pass, outside of the contract\n", text)

    def test_json_says_the_same(self):
        found = json.loads(assay("compare", RUNS / "old.jsonl", RUNS / "new.jsonl", "--json", code=1).stdout)
        self.assertEqual([change["case"] for change in found["new"]], ["aten::relu.out#1"])
        self.assertEqual([defect["tier"] for defect in found["mended_defects"]], ["damage", "wrong-special"])
        self.assertEqual(found["only_before"], ["aten::add.out#0"])

    def test_a_run_that_was_killed_is_said(self):
        text = (RUNS / "new.jsonl").read_text(encoding="utf-8")
        file = self.folder / "killed.jsonl"
        file.write_text(text[:len(text) // 2], encoding="utf-8")
        self.assertIn("the run after did not end\n", assay("compare", RUNS / "new.jsonl", file).stdout)


class Words(Folder):
    def test_bad_headers_and_footers_are_refused(self):
        file = self.folder / "run.jsonl"
        assay("kernels", "reference", "--operators", "aten::abs.out", "--mutations", "0", "--shuffle", "1", "--thorough",
              "--shard", "1/1", "-o", file)
        header, *_, footer = lines_of(file)
        self.assertRegex(header["header"].pop("executable"), "^[0-9a-f]{16}$")  # a word of the testee's own
        self.assertEqual(list(header["header"]), [word for word in documented("Header") if word != "isolation"])
        verdicts = [verdict for verdict in documented("Verdicts") if verdict != "undecided"]  # counted only if there are some
        self.assertEqual(sorted([*footer["footer"], "untried"]), sorted(documented("Footer") + verdicts))  # a part has no "untried"


class Stranger(Folder):
    """Files that somebody else sends: they control no terminal, end no process, and take little memory and time."""

    BAD_LINES = {
        '{"header":[]}': 'field "header" must be an object, got \\[\\]',
        '{"header":5}': 'field "header" must be an object, got 5',
        '{"footer":{"complete":5}}': 'field "complete" must be true or false, got 5',
        '{"footer":[]}': 'field "footer" must be an object',
        '{"defect":[]}': 'wanted an object',
        "[" * 100_000: "nest deeper",
        json.dumps({"header": {f"key {i}": 1 for i in range(40_000)}}): "more than 64 keys",
        '{"a":[' + "[]," * 1_000_000 + "1]}": "JSON",
    }

    def every_reader(self, file, code):
        """What each command that reads a run writes on standard error about the file."""
        model = SOURCE / "golden/programs/mlp/program.pte"
        good = RUNS / "old.jsonl"
        kernels = ["kernels", "reference", "--operators", "aten::abs.out", "--mutations", "0"]
        for command in (["report", file], ["compare", file, good], ["compare", good, file], ["merge", file, "--testee", "reference", "-o", self.folder / "out"],
                        ["bench", model, "--conformance", file], kernels + ["--baseline", file], kernels + ["--resume", "-o", file]):
            yield command[0], assay(*command, code=code)

    def test_a_bad_line_is_refused_by_name(self):
        file = self.folder / "bad.jsonl"
        for line, sentence in self.BAD_LINES.items():
            file.write_text(line + "\n")
            for command, run in self.every_reader(file, 3) if len(line) < 100 else [("report", assay("report", file, code=3))]:
                with self.subTest(line=line[:40], command=command):
                    self.assertRegex(run.stderr, f"malformed, run.line: .*bad.jsonl, line 1: .*{sentence}")
                    self.assertEqual((run.stdout, run.stderr.count("\n")), ("", 1))

    def test_a_wrong_footer_is_refused(self):
        for footer in ({"verdicts": 5}, {"verdicts": "0"}, {"cases": []}, {"pass": {}}, {"unknown": 3}):
            file = self.changed(lambda line: {"footer": footer} if "footer" in line else line)
            with self.subTest(footer=footer):
                self.assertIn("malformed, run.counts: ", assay("report", file, code=3).stderr)

    def test_a_file_without_a_run_is_no_success(self):
        empty = self.folder / "empty.jsonl"
        empty.touch()
        for command, run in self.every_reader(empty, 3):
            self.assertIn("malformed, run.empty: ", run.stderr, command)
        self.assertIn("cannot be read", assay("report", self.folder, code=3).stderr)

    def test_runs_without_a_common_case_are_not_compared(self):
        def others(line):
            return line | {"case": line["case"] + "1"} if "case" in line else line if "header" in line else None
        run = assay("compare", self.changed(others), RUNS / "old.jsonl", code=1)  # its failures are new
        self.assertIn("only after", run.stdout)
        passes = self.changed(lambda line: line if "header" in line or line.get("verdict") == "pass" else None)
        other = self.folder / "other.jsonl"
        other.write_text(passes.read_text().replace('"case": "', '"case": "other::'))
        self.assertIn("invalid, compare.cases: ", assay("compare", other, passes, code=4).stderr)

    def limited(self, megabytes, *arguments, code, **how):
        def limit():
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        run = subprocess.run([os.environ["ASSAY"], *map(str, arguments)], capture_output=True, encoding="utf-8", preexec_fn=limit, **how)
        self.assertEqual((run.returncode, run.stdout), (code, ""), run.stderr[:500])
        return run.stderr

    def test_an_endless_line_is_refused_by_its_length(self):
        for file in ("/dev/zero", "/dev/stdin"):
            with subprocess.Popen(["yes", "x" * 1000 + "\\"], stdout=subprocess.PIPE) as endless:
                without_lines = subprocess.Popen(["tr", "-d", "\\n"], stdin=endless.stdout, stdout=subprocess.PIPE)
                said = self.limited(1024, "report", file, code=3, stdin=without_lines.stdout)
                endless.kill(), without_lines.kill(), without_lines.stdout.close(), without_lines.wait()
            self.assertRegex(said, "line 1: it is longer than 16777216 bytes")
        self.assertIn("longer than", self.limited(1024, "kernels", "reference", "--operators", "aten::abs.out", "--known", "/dev/zero", code=3))

    @unittest.skipIf(SANITIZED, "the limit of memory is the test")
    def test_a_line_takes_a_few_times_its_size(self):
        file = self.folder / "long.jsonl"
        for item in ("0,", "[],", "{},", '"",', '{"a":0},'):
            size = 16_000_000
            file.write_text('{"a":[' + item * (size // len(item)) + "0]}\n")
            with self.subTest(item=item):
                # The program itself takes about 300 MB of address space.
                self.assertIn("run.line", self.limited(700, "report", file, code=3))

    CONTROLS = "\n\r\x1b[2J\x1b]0;title\x07\x7f\u0085\u009b31m\u202e\u2066\u200f\u2028"

    def test_no_text_of_a_run_controls_the_terminal(self):
        def hostile(value):
            if isinstance(value, dict):
                return {key: kept(key, item) for key, item in value.items()}
            if isinstance(value, list):
                return [hostile(item) for item in value]
            return value + self.CONTROLS + "$ rm" if isinstance(value, str) else value

        def kept(key, item):
            words = ("verdict", "class", "tier", "verdicts", "cases", "complete", "distance", "features")
            return item if key in words else hostile(item)
        old, new = self.changed(lambda line: hostile(line) if "footer" not in line else None), self.folder / "new.jsonl"
        text = old.read_text()
        self.assertIn("\\u202e", text)
        old.rename(self.folder / "old.jsonl")
        new.write_text(self.changed(lambda line: hostile(line) if "footer" not in line else None, RUNS / "new.jsonl").read_text())
        old = self.folder / "old.jsonl"
        forbidden = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028\u202a-\u202e\u2066-\u2069]"
        for command, code in ((["report", old], 0), (["compare", old, new], 1), (["compare", old, new, "--json"], 1)):
            with self.subTest(command=command):
                run = assay(*command, code=code)
                self.assertNotRegex(run.stdout + run.stderr, forbidden)
                self.assertFalse([line for line in run.stdout.splitlines() if line.startswith("$ rm")])
        for form in ("html", "junit", "markdown", "sarif"):
            with self.subTest(form=form):
                self.assertNotRegex(self.written(form, old), forbidden)


class FullDisk(Folder):
    def test_what_cannot_be_written_is_an_error_and_leaves_nothing(self):
        run = RUNS / "old.jsonl"
        kernels = ["kernels", "reference", "--operators", "aten::abs.out", "--mutations", "0"]
        for command in (["report", run], ["compare", run, run], ["operators"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([os.environ["ASSAY"], *map(str, command)], stdout=full, stderr=subprocess.PIPE, encoding="utf-8")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (7, 1), command)
        for command in (["report", run, "--html"], ["report", run, "--junit"], kernels + ["-o"], kernels + ["--html"]):
            self.assertIn("exhausted, output: ", assay(*command, "/dev/full", code=7).stderr)
            self.assertFalse(Path("/dev/full.part").exists())

    def test_a_file_too_large_leaves_no_part(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
        run = RUNS / "old.jsonl"
        kernels = ["kernels", "reference", "--operators", "aten::abs.out", "--mutations", "0"]
        for command in (["report", run, "--html"], kernels + ["-o"], ["case", "aten::add.out#4321b778", "--as", "cpp", "-o"]):
            done = subprocess.run([os.environ["ASSAY"], *map(str, command), self.folder / "out"], capture_output=True, encoding="utf-8", preexec_fn=limit)
            self.assertEqual(done.returncode, 7, (command, done.stderr))
            self.assertEqual(list(self.folder.iterdir()), [], command)


unittest.main(verbosity=2)
