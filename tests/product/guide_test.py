"""The guide in doc/, followed: each command of a page is run, and what stands below it is said. Pages of other tests are those on kernels, runtimes, loaders and boards."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import yaml
from folder import WithFolder
from page import DOC, follow
from source import SOURCE

ASSAY = pathlib.Path(os.environ["ASSAY"]).resolve()
API = SOURCE / "conformance" / "api"


class Guide(WithFolder):
    def setUp(self):
        super().setUp()
        self.environment = os.environ | {"PATH": f"{ASSAY.parent}:{os.environ['PATH']}", "INCLUDE": str(API), "PROGRAMS": str(SOURCE / "golden/programs")}
        shutil.copytree(DOC / "examples/kernel_library", self.folder, dirs_exist_ok=True)

    def test_pages(self):
        for page in "ask_the_oracle.md", "in_continuous_integration.md", "report_what_you_found.md":
            follow(self, page, self.folder, self.environment)

    def test_the_readme(self):
        follow(self, "../README.md", self.folder, self.environment, at=SOURCE, wanted=lambda section: section.startswith("I have"))

    def test_the_workflow(self):
        """Its commands, but that installs; headers are where the sources have them."""
        steps = yaml.safe_load((DOC / "examples/ci/kernels.yml").read_text())["jobs"]["judge"]["steps"]
        commands = {step["name"]: step["run"].replace("/usr/include/assay", str(API)) for step in steps if "run" in step}
        self.assertEqual(list(commands), ["install", "build", "judge", "say"])
        summary = self.folder / "summary"
        self.write("known.txt", b"")
        for name in "build", "judge", "say":
            done = subprocess.run(["sh", "-ec", commands[name]], capture_output=True, text=True, check=False, cwd=self.folder, env=self.environment | {"GITHUB_STEP_SUMMARY": str(summary)})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("example in C", summary.read_text())
        for step in steps:
            for file in (step.get("with", {}).get("path", "") or step.get("with", {}).get("sarif_file", "")).split():
                self.assertTrue((self.folder / file).is_file(), file)


class Texts(unittest.TestCase):
    """All Markdown files of the repository."""

    FILES = [file for file in SOURCE.rglob("*.md") if "build" not in file.relative_to(SOURCE).parts]

    def test_links_lead_to_files(self):
        for file in self.FILES:
            for link in re.findall(r"\]\(([^)#:,\s]+)(?:#[^)]*)?\)", file.read_text()):
                self.assertTrue((file.parent / link).exists(), f"{file}: {link}")

    def test_paths_of_the_house_exist(self):
        """Those with a slash, in CONTRIBUTING and doc/architecture.md; `{a,b}` stands for both."""
        for file in SOURCE / "CONTRIBUTING.md", DOC / "architecture.md":
            for path in re.findall(r"`(\w+/[\w./{},]*)`", file.read_text()):
                for one in expanded(path):
                    self.assertTrue((SOURCE / one).exists() or one.startswith("build/"), f"{file}: {one}")


def expanded(path):
    """"a/{b,c}/" as "a/b/" and "a/c/"."""
    before, *braces = re.split(r"[{}]", path)
    return [before + one + braces[1] for one in braces[0].split(",")] if braces else [path]


class Operator(WithFolder):
    """CONTRIBUTING.md, "Adding an operator": the entry that it shows asks for the functions that it shows, and without it nobody does."""

    def wanted(self):
        """The functions sinh that the generator asks for."""
        subprocess.run([sys.executable, SOURCE / "tools/specgen/specgen.py", self.folder / "spec", self.folder / "gen"], check=True, capture_output=True)
        return re.findall(r"^(\w+) sinh\((\w+)\);", (self.folder / "gen/operators/unary.gen.h").read_text(), re.MULTILINE)

    def test_an_entry_and_its_functions(self):
        diff = re.search(r"```diff\n(.*?)```", (SOURCE / "CONTRIBUTING.md").read_text(), re.DOTALL)[1]
        entry, functions = ("".join(re.findall(r"^\+(?!\+\+)(.*\n)", file, re.MULTILINE)) for file in diff.split("--- a/")[1:])
        shutil.copytree(SOURCE / "spec", self.folder / "spec")
        spec = self.folder / "spec/operators/unary.yaml"
        entries = re.split(r"^(?=- )", spec.read_text(), flags=re.MULTILINE)
        spec.write_text("".join(text for text in entries if "aten::sinh.out(" not in text))
        self.assertEqual(self.wanted(), [])
        spec.write_text(spec.read_text() + "\n" + entry)
        self.assertEqual(self.wanted(), re.findall(r"^(\w+) operators::sinh\((\w+) x\)", functions, re.MULTILINE))
        self.assertIn(functions, (SOURCE / "reference/operators/unary.cpp").read_text())


if __name__ == "__main__":
    unittest.main()
