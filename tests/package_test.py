"""assay::reference, assay::runtime and assay::optimized as their users meet them: installed and found, and as a subdirectory. Quiet in both. The command, installed."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BUILD = os.environ["ASSAY_BUILD"]


def run(*command, folder=None, code=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != code:
        raise AssertionError(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


class Package(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def use(self, *options):
        build = self.scratch / "consumer"
        said = run("cmake", "-G", "Ninja", "-S", SOURCE / "tests/consumer", "-B", build, "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", *options)
        said += run("cmake", "--build", build)
        self.assertNotIn("warning", said.lower())
        self.assertRegex(run(build / "consumer"), r"^ok, \d+ operators\n$")

    def install(self):
        run("cmake", "--install", BUILD, "--prefix", self.scratch / "prefix", "--component", "Unspecified")

    def test_installed_and_found(self):
        self.install()
        options = [f"-DCMAKE_PREFIX_PATH={self.scratch / 'prefix'}"]
        if sanitizers := os.environ.get("ASSAY_SANITIZE"):
            options += [f"-DCMAKE_CXX_FLAGS=-fsanitize={sanitizers}"]
        self.use(*options)
        self.assertEqual(run(self.scratch / "consumer" / "runtime_consumer"), "H1\n")
        self.assertEqual(run(self.scratch / "consumer" / "deployed_consumer"), "1 H2\n")

    def test_the_installed_command_judges_a_library(self):
        self.install()
        prefix = self.scratch / "prefix"
        self.assertNotIn(os.fsencode(SOURCE), (prefix / "bin" / "assay").read_bytes())
        shutil.copy(SOURCE / "doc/examples/kernel_library/kernels.c", self.scratch)
        run("cc", "-std=c11", "-shared", "-fPIC", "-I", prefix / "include/assay", self.scratch / "kernels.c", "-o", self.scratch / "libkernels.so")
        judged = prefix / "bin" / "assay", "kernels", "./libkernels.so", "--operators", "relu,mm"
        self.assertIn("\nNo defects.\n", run(*judged, folder=self.scratch))
        shutil.copy(SOURCE / "doc/examples/kernel_library/contract.yaml", self.scratch)
        self.assertIn("\nNo defects.\n", run(*judged, "--contract", "contract.yaml", folder=self.scratch))
        said = run(*judged, "--contract", "executorch", folder=self.scratch, code=1)
        self.assertIn("2 operators refuse valid calls whenever no tensor is float32", said)

    def test_as_a_subdirectory(self):
        self.use(f"-DASSAY_SOURCE={SOURCE}", "-DCMAKE_BUILD_TYPE=Release")


if __name__ == "__main__":
    unittest.main()
