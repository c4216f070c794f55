"""assay::reference, assay::runtime and assay::optimized as their users meet them: installed and found, and as a subdirectory. Quiet in both. The command, installed;
all of it from the Debian package, where nobody has the sources. The interfaces in C, held to those that are known."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

from blind import MOUNTING, shell
from page import follow_in_time
from source import SOURCE

BUILD, INSTALLED = pathlib.Path(os.environ["ASSAY_BUILD"]), pathlib.Path(os.environ["ASSAY_INSTALLED"])
PACKAGE = os.environ.get("ASSAY_EXECUTORCH", "")


def run(*command, folder=None, code=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Package(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def use(self, *options, build):
        said = run("cmake", "-G", "Ninja", "-S", SOURCE / "tests/product/consumer", "-B", build, "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", *options)
        said += run("cmake", "--build", build)
        self.assertNotIn("warning", said.lower())
        self.assertRegex(run(build / "consumer"), r"^ok, \d+ operators\n$")

    def test_installed_and_found(self):
        build = self.scratch / "consumer"
        examples = SOURCE / "doc/examples/headers"
        options = [f"-DCMAKE_PREFIX_PATH={INSTALLED}", f"-DHEADER_EXAMPLES={examples}"]
        if sanitizers := os.environ.get("ASSAY_SANITIZE"):
            options += [f"-DCMAKE_CXX_FLAGS=-fsanitize={sanitizers}"]
        self.use(*options, build=build)
        self.assertEqual(run(build / "runtime_consumer"), "H1\n")
        self.assertEqual(run(build / "deployed_consumer"), "1 H2\n")
        with self.subTest("each header has an example"):
            include = INSTALLED / "include/assay"
            installed = {str(h.relative_to(include).with_suffix("")) for h in include.rglob("*.h") if not re.search("_generated.h|[.]gen[.]h", h.name)}
            self.assertEqual({str(e.relative_to(examples).with_suffix("")).removeprefix("conformance/api/") for e in examples.rglob("*.c*")}, installed)
        for example in (build / "headers").iterdir():
            with self.subTest(example.name):
                run(example, SOURCE / "golden/programs/mlp/program.pte")

    def test_the_installed_command_judges_a_library(self):
        prefix = INSTALLED
        self.assertNotIn(os.fsencode(SOURCE), (prefix / "bin" / "assay").read_bytes())
        shutil.copy(SOURCE / "doc/examples/kernel_library/kernels.c", self.scratch)
        run("cc", "-std=c11", "-shared", "-fPIC", "-I", prefix / "include/assay", self.scratch / "kernels.c", "-o", self.scratch / "libkernels.so")
        judged = prefix / "bin" / "assay", "kernels", "./libkernels.so", "--operators", "relu,mm"
        self.assertIn("\nNo defects.\n", run(*judged, folder=self.scratch))
        shutil.copy(SOURCE / "doc/examples/kernel_library/contract.yaml", self.scratch)
        self.assertIn("\nNo defects.\n", run(*judged, "--contract", "contract.yaml", folder=self.scratch))
        said = run(*judged, "--contract", "executorch", folder=self.scratch, code=1)
        self.assertIn("2 operators refuse valid calls whenever self is not float32", said)

    def test_as_a_subdirectory(self):
        """In one and the same folder each time, so that ccache knows the reference's objects again."""
        build = BUILD / "subdirectory"
        shutil.rmtree(build, ignore_errors=True)
        self.use(f"-DASSAY_SOURCE={SOURCE}", "-DCMAKE_UNITY_BUILD=ON", build=build)


class Debian(unittest.TestCase):
    """The .deb, unpacked where nothing else is, by somebody who does not see the sources."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        # Who needs which library cpack finds by a process for each of 1,700 files.
        quick = "-D", "CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=zstd"
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-G", "DEB", *quick, "-B", cls.scratch)
        package, = cls.scratch.glob("assay_*.deb")
        cls.root = cls.scratch / "root"
        run("dpkg", "-x", package, cls.root)
        cls.usr = cls.root / "usr"
        cls.data = cls.usr / "share" / "assay"

    def blind(self, *command, before="true", code=0):
        """Runs a command in the scratch folder, with the sources out of sight."""
        return run(*shell(before), "exec " + shlex.join(map(str, command)), folder=self.scratch, code=code)

    def assay(self, *words, **how):
        return self.blind(self.usr / "bin" / "assay", *words, **how)

    def test_the_package_has_the_expected_files(self):
        for file in ("share/man/man1/assay.1", "share/bash-completion/completions/assay", "share/zsh/vendor-completions/_assay", "share/doc/assay/copyright",
                     "share/doc/assay/test_your_kernel.md", "share/doc/assay/examples/kernel_library/kernels.c", "include/assay/kernel_library.h", "lib/libassay.so"):
            self.assertTrue((self.usr / file).exists(), file)
        for file in self.usr.rglob("*"):
            if file.is_file():
                self.assertNotIn(os.fsencode(SOURCE), file.read_bytes(), file)

    def test_its_headers_need_no_others(self):
        headers = sorted(h.relative_to(self.usr / "include") for h in (self.usr / "include").rglob("*.h"))
        self.assertGreater(len(headers), 30)
        (self.scratch / "all.cpp").write_text("".join(f"#include <{header}>\n" for header in headers))
        self.blind("c++", "-std=c++20", "-fsyntax-only", "-I", self.usr / "include", "-I", self.usr / "include/assay", "all.cpp")

    def test_each_command(self):
        program = self.data / "golden/programs/mlp/program.pte"
        self.assertIn("valid", self.assay("check", program))
        self.assertIn("aten::addmm.out", self.assay("inspect", program))
        self.assertIn("no difference", self.assay("run", program, "--calls", program.with_name("calls.json")))
        self.assertEqual(self.assay("call", "aten::add.out", "[1,2]:f32", "[10]:f32"), "[11,12]:f32\n")
        self.assertIn("No defects.", self.assay("kernels", "reference", "--operators", "relu"))
        self.assertIn("pass", self.assay("case", "aten::relu.out#459c2a23", "--testee", "reference"))
        self.assertIn("contract:", self.assay("contract", "reference", "--operators", "relu", "--mutations", "0"))
        self.assertIn("No defects.", self.assay("runtime", "optimized", "--programs", "recorded/mlp"))

    def test_a_library_by_its_cmake_config(self):
        examples, build = self.usr / "share/doc/assay/examples/kernel_library", self.scratch / "build"
        self.blind("cmake", "-G", "Ninja", "-S", examples, "-B", build, f"-DCMAKE_PREFIX_PATH={self.usr}")
        self.blind("cmake", "--build", build)
        self.assertIn("No defects.", self.assay("kernels", build / "libkernels_c.so", "--operators", "relu,mm"))

    def test_the_guide(self):
        follow_in_time(self, self.usr, self.scratch, path=f"/usr/bin:{os.environ['PATH']}", shell=shell())

    @unittest.skipUnless(PACKAGE, "built without the official runtime")
    def test_kernels_of_executorch(self):
        """What stands before the registry is compiled on first use, of what is installed."""
        package = self.scratch / "executorch"
        for part in "include", "lib", "version.py":
            (shutil.copytree if (pathlib.Path(PACKAGE) / part).is_dir() else shutil.copy)(pathlib.Path(PACKAGE) / part, package / part)
        judged = self.usr / "bin/assay", "kernels", f"executorch:{package}/lib/libexecutorch_kernels_optimized.so", "--operators", "relu", "--mutations", "0"
        self.assertIn("No defects.", self.blind("env", f"XDG_CACHE_HOME={self.scratch}", *judged))

    @unittest.skipUnless(MOUNTING, "nothing can be mounted here")
    def test_a_copy_finds_what_is_installed(self):
        copy = self.scratch / "elsewhere"
        copy.mkdir()
        shutil.copy(self.usr / "bin" / "assay", copy)
        judge = copy / "assay", "kernels", "reference", "--operators", "relu", "--mutations", "0"
        said = self.blind(*judge, code=3)
        for place in "contract.file", str(copy), str(self.scratch), "/usr/local/share/assay", "/usr/share/assay":
            self.assertIn(place, said)
        self.assertIn("No defects.", self.blind(*judge, before=f"mount --bind {self.usr / 'share'} /usr/local/share"))

    def test_shells_complete_it(self):
        completions = self.usr / "share/bash-completion/completions/assay"
        complete = "source {}; COMP_WORDS=({}); COMP_CWORD={}; _assay; echo ${{COMPREPLY[*]}}"
        self.assertEqual(run("bash", "-c", complete.format(completions, "assay ker", 1)), "kernels\n")
        self.assertEqual(run("bash", "-c", complete.format(completions, "assay merge --te", 2)), "--testee\n")


class Interfaces(unittest.TestCase):
    """The interfaces in C, by functions and the layouts of what these are given, are those of tests/product/interfaces.abi. To change one is to change
    the version; `abidw`, called as here, then writes the file anew."""

    HEADERS = "optimized/api/assay.h", "conformance/api/kernel_library.h", "conformance/api/loader.h"

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.headers = {name: (SOURCE / name).read_text() for name in self.HEADERS}

    def functions(self, header):
        return re.findall(r"^(?:(?!typedef)[\w ]+[ *]+)?(assay_\w+)\(", self.headers[header], re.MULTILINE)

    def described(self):
        """What abidw says of pointers to all functions and of all enums, behind which are all types."""
        source, library, described = (self.scratch / name for name in ("interfaces.c", "interfaces.so", "interfaces.abi"))
        pointers = "".join(f"__typeof__({f})* pointer_to_{f};\n" for header in self.HEADERS for f in self.functions(header))
        text = "".join(self.headers.values())
        enums = "".join(f"enum {e} of_{e};\n" for e in re.findall(r"^enum (\w+) \{", text, re.MULTILINE))
        source.write_text(text + pointers + enums)
        run("cc", "-std=c11", "-g", "-shared", "-fPIC", source, "-o", library)
        run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--out-file", described, library)
        return described

    def test_the_interfaces_are_the_recorded_ones(self):
        run("abidiff", SOURCE / "tests/product/interfaces.abi", self.described())

    def test_a_change_is_found(self):
        known = shutil.copy(self.described(), self.scratch / "known.abi")
        for header, before, after in (
            (self.HEADERS[0], "  size_t rank;\n", "  size_t rank;\n  size_t elements;\n"),
            (self.HEADERS[0], "bool assay_running(const assay_method* method)", "int assay_running(const assay_method* method)"),
            (self.HEADERS[1], "  ASSAY_KERNEL_DOUBLE = 3,\n", "  ASSAY_KERNEL_DOUBLE = 10,\n"),
        ):
            with self.subTest(after):
                self.assertIn(before, self.headers[header])
                text, self.headers[header] = self.headers[header], self.headers[header].replace(before, after, 1)
                run("abidiff", known, self.described(), code=4)
                self.headers[header] = text

    def test_the_library_exports_exactly_the_c_interface(self):
        library = BUILD / "optimized" / "libassay.so"
        dynamic = run("objdump", "-p", library)
        version = re.search(r"project\(assay VERSION (\d+\.\d+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertIn(f"libassay.so.{version}\n", re.search(r"SONAME.*\n", dynamic)[0])
        declared = self.functions("optimized/api/assay.h")
        self.assertGreater(len(declared), 10)
        exported = [line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()]
        self.assertEqual(sorted(exported), sorted(declared))


if __name__ == "__main__":
    unittest.main()
