"""assay corrupt and assay loader: files, what loaders of all kinds do with them, and the page that tells of them."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from folder import WithFolder
from source import PROGRAMS, SOURCE

ASSAY = os.environ["ASSAY"]
EXAMPLE = SOURCE / "doc" / "examples" / "loader"
MLP = PROGRAMS / "mlp" / "program.pte"
EXTERNAL = PROGRAMS / "external_constants"


def assay(*arguments, **options):
    done = subprocess.run([ASSAY, *(str(a) for a in arguments)], capture_output=True, text=True, check=False, timeout=300, **options)
    return done.returncode, done.stdout, done.stderr


class Corrupt(WithFolder):
    def test_a_file_that_breaks_a_rule_is_made(self):
        file = self.folder / "broken.pte"
        for source in ([MLP], []):
            for rule in ("H12", "T11", "T16", "I8", "G9"):
                code, out, err = assay("corrupt", *source, "--rule", rule, "-o", file)
                self.assertEqual((code, err), (0, ""))
                self.assertTrue(out.startswith("n_ "), out)
                code, out, _ = assay("check", file, "--json")
                self.assertIn(rule, {f["rule"] for f in json.loads(out)["faults"]})

    def test_a_rule_that_no_change_breaks_is_reported(self):
        code, out, err = assay("corrupt", MLP, "--rule", "D3", "-o", self.folder / "x")
        self.assertEqual((code, out), (5, ""))
        self.assertIn("no change of one place of", err)
        self.assertEqual(assay("corrupt", MLP, "--rule", "D99", "-o", self.folder / "x")[0], 2)
        self.assertEqual(assay("corrupt", MLP, "--name", "nothing", "-o", self.folder / "x")[0], 4)

    def test_all_files_are_made(self):
        code, out, err = assay("corrupt", EXTERNAL / "program.pte", "--data", EXTERNAL / "_default_external_constant.ptd", "--places", "1", "--all", "-o", self.folder)
        self.assertEqual((code, err), (0, ""))
        lines = [json.loads(line) for line in (self.folder / "manifest.jsonl").read_text().splitlines()]
        self.assertEqual(out, f"{len(lines)} files in {self.folder}\n")
        self.assertGreater(len(lines), 500)
        self.assertEqual({line["expected"] for line in lines}, {"n_", "y_", "i_"})
        for line in lines[::100]:
            code, _, _ = assay("check", self.folder / line["file"], "--data", line["data"][0])
            self.assertEqual(code == 0, "rules" not in line, line)
            name = line["file"][2:].removesuffix(".pte")
            assay("corrupt", EXTERNAL / "program.pte", "--data", line["data"][0], "--name", name, "-o", self.folder / "again")
            self.assertEqual((self.folder / "again").read_bytes(), (self.folder / line["file"]).read_bytes())


class Judging(WithFolder):
    def judged(self, testee, *options):
        """The exit code, the report, and the lines of cases."""
        file = self.folder / "run.jsonl"
        front, back = (testee, ()) if isinstance(testee, str) else (None, ("--", *testee))
        code, out, err = assay("loader", *([front] if front else []), "-o", file, "--places", "1", *options, *back)
        self.assertNotIn("testee", err)
        self.header, *lines, footer = [json.loads(line) for line in file.read_text().splitlines()]
        cases = [line for line in lines if "case" in line]
        self.assertEqual((self.header["header"]["cases"], footer["footer"]["cases"]), (len(cases), len(cases)))
        self.assertEqual(assay("report", file)[0], 0)
        return code, out, cases


class Loaders(Judging):
    def library(self, *options, text=None):
        source = EXAMPLE / "loader.c"
        if text:
            source = self.folder / "loader.c"
            source.write_text(text)
        library = self.folder / "libmine.so"
        subprocess.run(["cc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC", "-I", SOURCE / "conformance" / "api", *options, source, "-o", library], check=True)
        return str(library)

    def ends(self, lines):
        return {line["got"] for line in lines}

    def test_assays_loaders_pass(self):
        for testee in ("reference", "optimized"):
            code, out, lines = self.judged(testee, "--program", MLP)
            self.assertEqual(code, 0, out)
            self.assertEqual({line["verdict"] for line in lines}, {"pass", "unsupported"})
            self.assertEqual({line["verdict"] for line in lines if line["case"].startswith(f"{MLP}:")}, {"pass"})

    # Files that just meet a rule and that the reference does not run (rule X46), by the end of its sentence.
    NOT_RUN = {
        "an output has a lower external id than an input": ("X6.0", "X10.1", "X25.1"),
        "external value 2 does not exist": ("X26.0",),
    }

    def test_payloads(self):
        for testee, not_run in ("reference", self.NOT_RUN), ("optimized", {}):
            _, _, lines = self.judged(testee, "--payloads")
            self.assertGreater(len(lines), 300)
            refused = {}
            for line in lines:
                rule, case, end = re.fullmatch(r"rules:((X\d+)[.]\d+)-(meets|breaks)", line["case"]).group(2, 1, 3)
                if end == "breaks":
                    self.assertNotEqual(line["got"], "accepted", line)
                    self.assertRegex(line["message"], rf"^\w+, {rule}: ", testee)
                elif line["got"] != "accepted":
                    self.assertRegex(line["message"], "^unsupported, X46: ")
                    refused.setdefault(line["message"].split(": ")[-1], []).append(case)
            self.assertEqual({reason: tuple(cases) for reason, cases in refused.items()}, not_run)
        self.assertEqual(assay("loader", "optimized", "--payloads", "--programs-only")[0], 2)

    @unittest.skipUnless(os.environ.get("ASSAY_EXECUTORCH"), "needs the official runtime")
    def test_payloads_of_the_official_loader(self):
        table = self.folder / "table.md"
        _, _, lines = self.judged("executorch+xnnpack", "--payloads", "--table", table)
        ends = {line["case"]: line["got"] for line in lines}
        self.assertEqual((ends["rules:X6.0-meets"], ends["rules:X6.0-breaks"]), ("accepted", "refused"))
        self.assertEqual((ends["rules:X12.0-meets"], ends["rules:X12.0-breaks"]), ("accepted", "refused"))
        broken, met = table.read_text().split("Files that just meet a rule:")
        for part, counts in (broken, "1 | 0 | 0 | 0 | 0 | 0"), (met, "0 | 1 | 0 | 0 | 0 | 0"):
            self.assertIn(f"| X6 | {counts} |", part)

    def test_a_crash_fails_only_its_file(self):
        code, out, lines = self.judged(self.library() + ":careless", "--program", MLP)
        self.assertEqual(code, 1)
        crashed = [line for line in lines if line["got"] == "crashed"]
        self.assertGreater(len(crashed), 3)
        self.assertEqual({(line["verdict"], line["class"]) for line in crashed}, {("crash", "segmentation-fault")})
        self.assertIn(f"{MLP}:root:offset=huge", {line["case"] for line in crashed})
        self.assertIn(f"assay corrupt {MLP} --name ", out)

    def test_a_run_file_is_accepted_by_report_and_compare(self):
        _, out, lines = self.judged(self.library(), "--program", MLP, "--programs-only")
        header, run = self.header["header"], self.folder / "run.jsonl"
        self.assertEqual((header["suite"], header["places"]), ("loader", "1"))
        for digest in "digest", "libmine.so", str(MLP):
            self.assertRegex(header[digest], "^[0-9a-f]{16}$")
        self.assertIn(os.uname().machine, header["machine"])
        failing = [line["case"] for line in lines if line["verdict"] == "fail"]
        known = self.folder / "known.txt"
        known.write_text("".join(f"{case} it is no loader of all\n" for case in failing))
        judged = "loader", self.library(), "--program", MLP, "--programs-only", "--places", "1"
        self.assertEqual(assay(*judged, "--known", known)[0], 0)
        self.assertEqual(assay(*judged, "--baseline", run)[0], 0)
        self.assertIn("accepts files that break", assay("report", run)[1])
        run.write_text(run.read_text().replace('"verdict":"fail"', '"verdict":"pass"', 1).replace('"class":"accepted-though-invalid"', '"class":""', 1))
        code, _, err = assay("report", run)
        self.assertEqual((code, "run.counts" in err), (3, True), err)

    def planted(self, line):
        text = (EXAMPLE / "loader.c").read_text()
        return self.library("-w", text=text.replace("  program p;\n", "  program p;\n" + line))

    def test_each_fault_of_a_loader_is_found(self):
        wrong = r'f->size > 8 && memcmp(f->bytes + 4, "\1\0\0", 4) == 0'
        for line, verdict, failure in (
            (f"if ({wrong}) abort();", "crash", "abort"),
            (f"if ({wrong}) for (;;) ;", "timeout", ""),
            (f"if ({wrong}) ((char*)malloc(8))[8] = 1;", "crash", "heap-damage"),
            (f"if ({wrong}) free(malloc(8) + 8);", "crash", "heap-damage"),
            (f"if ({wrong}) *(char*)f->bytes = 1;", "crash", "segmentation-fault"),
            (f"if ({wrong}) raise(8);", "crash", "arithmetic-trap"),
        ):
            with self.subTest(line):
                code, _, lines = self.judged(self.planted("extern int raise(int); " + line), "--program", MLP, "--timeout", "1", "--programs-only")
                self.assertEqual(code, 1)
                found = {(line["verdict"], line["class"]) for line in lines if line["case"].endswith(":identifier=one")}
                self.assertEqual(found, {(verdict, failure)})
                self.assertEqual(sum(line["verdict"] in ("crash", "timeout") for line in lines), 1)

    def test_a_sentence_names_the_rule_and_what_the_files_share(self):
        loader = self.planted(r'if (f->size > 8 && memcmp(f->bytes + 4, "\1\0\0", 4) == 0) for (;;) ;')
        out = self.judged(loader, "--program", MLP, "--timeout", "1", "--programs-only")[1]
        self.assertIn('the loader does not end with a file that breaks H2 (a program\'s file has the identifier "ET12" at byte 4); identifier is one', out)

    def test_addresses_are_the_same_in_every_run(self):
        loader = self.planted(r'if (memcmp(f->bytes + 4, "\1\0\0", 4) == 0 && ((size_t)&p >> 12 & 1)) abort();')
        ends = {tuple((line["case"], line["verdict"]) for line in self.judged(loader, "--program", MLP, "--programs-only")[2]) for _ in range(8)}
        self.assertEqual(len(ends), 1)

    def test_a_command_is_judged_as_a_loader(self):
        script = self.folder / "take.sh"
        script.write_text('test "$(head -c 8 "$1" | tail -c 4)" = ET12 || kill -SEGV $$\n')
        code, _, lines = self.judged(["sh", script, "{}"], "--program", MLP, "--programs-only")
        self.assertEqual(code, 1)
        self.assertEqual(self.ends(lines), {"accepted", "crashed"})
        for line in lines:
            self.assertEqual(line["got"] == "crashed", line.get("rule") == "H2" or line["elements"] < 8, line)

    def test_a_bad_command_is_refused(self):
        self.assertEqual(assay("loader", "--", "true")[0], 4)
        code, _, err = assay("loader", "--", "./no_such_command", "{}")
        self.assertEqual(code, 4)
        self.assertIn("cannot be started", err)

    def test_a_bad_library_is_refused(self):
        for testee in ("./no.so", "nothing", self.library() + ":strict"):
            self.assertEqual(assay("loader", testee)[0], 4, testee)


@unittest.skipUnless(os.environ.get("ASSAY_EXECUTORCH"), "needs the official runtime")
class Official(Judging):
    def test_plain_programs_are_never_unsupported(self):
        for testee in ("executorch", "executorch:minimal"):
            _, _, lines = self.judged(testee, "--program", MLP)
            self.assertGreater(len(lines), 2000)
            plain = [line for line in lines if line["case"].startswith(("sample:plain:", f"{MLP}:"))]
            self.assertNotIn("unsupported", {line["verdict"] for line in plain})
            self.assertEqual({line["got"] for line in plain if line["operator"] == "H2"}, {"refused"})


class Page(unittest.TestCase):
    """doc/attack_your_loader.md: its commands are run, and what stands below one is said by it."""

    def test_the_guide_has_the_stated_output(self):
        page = (SOURCE / "doc" / "attack_your_loader.md").read_text()
        here = os.environ | {"PATH": str(pathlib.Path(ASSAY).parent) + ":" + os.environ["PATH"]}
        blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
        commands = [(text, said if below == "" else "") for (kind, text), (below, said) in zip(blocks, blocks[1:] + [("", "")]) if kind == "sh" and "build/" not in text]
        self.assertGreater(len(commands), 5)
        for command, said in commands:
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=120, env=here, cwd=EXAMPLE)
            self.assertIn(done.returncode, (0, 1) if said else (0,), done.stderr)
            for line in said.splitlines():
                self.assertIn(line, done.stdout, done.stderr)


if __name__ == "__main__":
    unittest.main()
