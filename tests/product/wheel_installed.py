"""The wheel that tools/wheel/build made, in a fresh environment with numpy alone, by somebody who does not see the sources. For tools/test all."""
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from blind import shell
from page import follow_in_time
from source import SOURCE

KERNELS = '''
import numpy


def relu(x):
    if x.dtype.kind == "V":
        raise NotImplementedError("numpy has no such numbers")
    if x.dtype.kind in "bc" or x.dtype.str in ("<u2", "<u4", "<u8"):
        raise TypeError(f"relu takes no {x.dtype}")
    return numpy.where(x < 0, numpy.zeros((), x.dtype), x)


def wrong(x):
    return numpy.where(x < -1, x, relu(x)) if x.dtype.kind == "f" else relu(x)
'''
USE = '''
import io
import sys

import numpy
import assay
from mine import relu, wrong

DATA, LIBRARY = sys.argv[1:]
ADD = f"{DATA}/golden/programs/mlp/program.pte"

# the oracle
assert assay.call("aten::add.out", numpy.float32([[1, 2], [3, 4]]), numpy.float32([10, 20])).tolist() == [[11, 22], [13, 24]]
assert assay.call("aten::add.out", numpy.int32([1]), numpy.int32([2]), 1, out=["float64"]).dtype == numpy.float64
values, indices = assay.call("aten::max.dim_max", numpy.float32([3, 9, 4]), 0, False)
assert (values, indices, indices.dtype) == (9, 1, numpy.int64)


class Tensor:  # what another library has
    def __init__(self, array):
        self.array = array

    def detach(self):
        return self

    def __dlpack__(self, **named):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Foreign:
    def __array__(self, dtype=None, copy=None):
        return numpy.float32([-1, 2])


assert assay.call("aten::relu.out", Tensor(numpy.float32([-1, 2]))).tolist() == [0, 2]
assert assay.call("aten::relu.out", Foreign()).tolist() == [0, 2]
for wanted, arguments in ("mm", ("aten::mm.out", numpy.ones((1, 2)), numpy.ones((1, 2)))), ("call.operator", ("aten::nothing", 1)), ("call.tensor", ("aten::relu.out", numpy.array(["text"]))):
    try:
        assay.call(*arguments)
        raise SystemExit(f"{arguments} is answered")
    except assay.Fault as fault:
        assert fault.rule.startswith(wanted) and fault.message and fault.outcome in str(fault), fault

# programs
class Manager:  # as torch's exporter gives it
    buffer = open(ADD, "rb").read()


class Writer:
    def write_to_file(self, file):
        file.write(Manager.buffer)


for program in ADD, Manager.buffer, Manager(), Writer():
    assert assay.check(program)["valid"]
planned = assay.inspect(Manager())["methods"][0]
sizes = planned["values"][planned["inputs"][0]]["sizes"]
x = numpy.linspace(-1, 1, numpy.prod(sizes), dtype=numpy.float32).reshape(sizes)
here, = assay.run(Manager(), x)
there, = assay.run(ADD, x, runner="optimized")
numpy.testing.assert_allclose(here, there, rtol=1e-5)
assert not assay.check(Manager.buffer[:100])["valid"]
for program in Manager.buffer[:100], "nothing.pte", 3:
    try:
        assay.run(program, x)
        raise SystemExit("it ran")
    except assay.Fault as fault:
        assert fault.rule and fault.message, fault

# judging
right = assay.kernels(relu, "aten::relu.out", mutations=10)
assert right.passed and not right.defects and right.counts["pass"] > 400, str(right)
broken = assay.kernels({"aten::relu.out": wrong}, mutations=10)
defect, = broken.defects
assert not broken.passed and "aten::relu.out gives wrong values" in defect["sentence"], broken.failure()
assert "verdict    fail" in assay.case(defect["smallest"]["case"], wrong)
assert "verdict    pass" in assay.case(defect["smallest"]["case"], relu)
assert broken._repr_html_().startswith("<iframe") and "aten::relu.out" in broken.html() and "aten::relu.out" in str(broken)
assert assay.kernels(LIBRARY, "relu,mm", mutations=0).passed
assert assay.runtime([f"{sys.prefix}/bin/assay", "serve", "optimized"], "recorded/mlp").passed
assert assay.runtime("optimized", "recorded/mlp").passed
try:
    assay.kernels("./nothing.so")
except assay.Fault as fault:
    assert fault.rule == "testee", fault
assert "torch" not in sys.modules and "executorch" not in sys.modules
print("all is well")
'''
TESTS = '''
import assay
import mine

test_right = assay.conforms("aten::relu.out", mutations=0)(mine.relu)
test_library = assay.conforms("aten::relu.out,aten::mm.out", "./libmine.so", mutations=0)


@assay.conforms("aten::relu.out", mutations=0)
def test_wrong(x):
    return mine.wrong(x)
'''


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        wheel, = (SOURCE / "build/dist").glob("assay-*.whl")
        shutil.copy(wheel, cls.folder)
        shutil.copy(SOURCE / "doc/examples/kernel_library/kernels.c", cls.folder)
        subprocess.run([sys.executable, "-m", "venv", cls.folder / "venv"], check=True)
        cls.python = cls.folder / "venv/bin/python"
        subprocess.run([cls.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", cls.folder / wheel.name, "pytest"], check=True)
        for name, text in ("mine.py", KERNELS), ("use.py", USE), ("test_mine.py", TESTS):
            (cls.folder / name).write_text(text)
        cls.package = pathlib.Path(cls.blind(cls.python, "-c", "import assay; print(assay.__path__[0])").stdout.strip())
        include = cls.blind(cls.python, "-c", "import assay; print(assay.get_include())").stdout.strip()
        cls.blind("cc", "-std=c11", "-shared", "-fPIC", "-I", include, "kernels.c", "-o", "libmine.so")

    @classmethod
    def blind(cls, *command, code=0):
        done = subprocess.run([*shell(), "exec " + shlex.join(map(str, command))], capture_output=True, text=True, check=False, cwd=cls.folder, timeout=300)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def test_everything_once(self):
        self.assertIn("all is well", self.blind(self.python, "use.py", self.package / "share/assay", "./libmine.so").stdout)

    def test_the_command(self):
        self.assertIn("[11,12]:f32", self.blind(self.folder / "venv/bin/assay", "call", "aten::add.out", "[1,2]:f32", "[10]:f32").stdout)
        self.assertIn("No defects.", self.blind(self.folder / "venv/bin/assay", "kernels", "./libmine.so", "--operators", "relu", "--mutations", "0").stdout)

    def test_the_plugin(self):
        said = self.blind(self.python, "-m", "pytest", "-q", "test_mine.py", code=1).stdout
        self.assertIn("1 failed, 3 passed", said)
        for words in "test_wrong[aten::relu.out]", "aten::relu.out gives wrong values", "again: assay.case('aten::relu.out#", "expected: ":
            self.assertIn(words, said)

    def test_the_guide(self):
        follow_in_time(self, self.package, self.folder, path=f"{self.python.parent}:{os.environ['PATH']}", shell=shell())

    def test_stubs(self):
        self.assertTrue((self.package / "py.typed").exists())
        self.assertTrue((self.package / "_reference.pyi").exists())


if __name__ == "__main__":
    unittest.main()
