"""The operator sweep without torch: its list, the census that makes one, and the page of its results."""
import json
import math
import os
import pathlib
import subprocess
import sys
import unittest

import yaml
from folder import WithFolder
from source import PROGRAMS, SOURCE

ASSAY = os.environ["ASSAY"]
SWEEP = SOURCE / "bench" / "sweep"
sys.path[:0] = [str(SWEEP), str(SOURCE / "bench")]

import calls
import table
from ends import overloads

EMPTY = {"operator": "aten::add.out", "arguments": ["float32[0]", "float32[0]", 1]}


class List(WithFolder):
    def read(self, *items):
        return calls.read(self.write("calls.yaml", {"empty": EMPTY, "calls": list(items)}))

    def refused(self, words, **item):
        with self.assertRaisesRegex(ValueError, words):
            self.read({"operator": "aten::add.out", "arguments": ["float32[2]"], **item})

    def test_the_list_of_the_repository(self):
        empty, others = calls.read(SWEEP / "calls.yaml")
        self.assertEqual([t.count() for t in empty.tensors()], [0, 0])
        self.assertTrue(150 <= len(others) <= 250, len(others))
        for call in others:
            self.assertEqual(calls.call(call.written()), call)

    def test_a_call(self):
        _, [call] = self.read({"operator": "aten::index.Tensor_out", "count": 3,
                               "arguments": ["float32[1,8,4,4](0,2,3,1)", [None, "int64[2] < 8", "const bool[]"], 1.5, "tanh", [2, -1], True]})
        x, (none, indices, constant), *others = call.arguments
        self.assertEqual((x.dtype, x.sizes, x.order, x.constant, x.below, x.count()), ("float32", (1, 8, 4, 4), (0, 2, 3, 1), False, None, 128))
        self.assertEqual((none, indices.below, constant.constant, constant.sizes, constant.count()), (None, 8, True, (), 1))
        self.assertEqual(others, [1.5, "tanh", (2, -1), True])
        self.assertEqual(str(call), "index.Tensor_out(float32[1,8,4,4](0,2,3,1), [none,int64[2] < 8,const bool[]], 1.5, tanh, [2,-1], true)")
        self.assertEqual(call.written()["arguments"][1], [None, "int64[2] < 8", "const bool[]"])

    def test_wrong_lists(self):
        self.refused("not the full name of an out variant", operator="add")
        self.refused("needs the keys operator and arguments", shape=3)
        self.refused("is not a tensor", arguments=["float32[2;3]"])
        self.refused("does not have each of 2 dimensions once", arguments=["float32[2,3](0,0)"])
        self.refused("has no input", arguments=["const float32[2]", 1])
        with self.assertRaisesRegex(ValueError, "is in the list twice"):
            self.read(*[{"operator": "aten::relu.out", "arguments": ["float32[2]"], "count": n} for n in (1, 2)])


class Census(WithFolder):
    def run_census(self, *arguments):
        return subprocess.run([sys.executable, SWEEP / "census.py", "--assay", ASSAY, *arguments], capture_output=True, text=True, check=False)

    def census(self, *options):
        done = self.run_census(*options, *(PROGRAMS / name / "program.pte" for name in ("mlp", "cnn", "where_gather_scatter")))
        self.assertEqual(done.returncode, 0, done.stderr)
        return yaml.safe_load(done.stdout), calls.read(self.write("calls.yaml", done.stdout.encode()))[1]

    def test_calls_of_recorded_programs(self):
        lists, all_calls = self.census()
        self.assertEqual(lists["counted"]["different"], len(all_calls))
        self.assertEqual(lists["counted"]["calls"], sum(call.count for call in all_calls))
        self.assertIn("addmm(const float32[32], float32[3,16], const float32[16,32], 1, 1)", map(str, all_calls))
        _, few = self.census("--most", "1")
        self.assertEqual({call.operator for call in few}, {call.operator for call in all_calls})  # of each operator one, at least

    def test_a_file_that_is_no_program(self):
        done = self.run_census(self.write("program.pte", b"no program"))
        self.assertEqual((done.returncode, "program.pte: " in done.stderr), (1, True), done.stderr)


class Page(WithFolder):
    def engine(self, name, seconds, steps=("add_f32",), agrees=True):
        outputs = [{"agrees": agrees, "distance": 0} | ({} if agrees else {"message": "off by 1"})]
        return {"engine": name, "bursts": {"median": seconds}, "steps": [{"kernel": k} for k in steps], "outputs": outputs, "binaries": {"torch": "2.0"}}

    def page(self, *rows):
        """The page of an empty call and of rows: (time of assay, time of eager, settings of assay)."""
        items = [{"operator": "aten::relu.out", "arguments": [f"float32[{i}]"]} for i in range(1, len(rows) + 2)]
        programs = [{"program": f"sweep/{i:03}_x/program.pte", "engines": [self.engine("optimized", ours, **settings), self.engine("tcp:x", theirs)]}
                    for i, (ours, theirs, settings) in enumerate([(1e-6, 2e-6, {}), *rows])]
        listed = self.write("calls.yaml", {"empty": EMPTY, "calls": items})
        results = {"programs": programs, "date": "today", "processor": "a processor"}
        return table.page(listed, results, {f"{len(items):03}_relu_out": "no such | program"}, "the command")

    def test_the_worst_rows_come_first_and_idle_calls_count_in_no_mean(self):
        page = self.page((2e-6, 16e-6, {}), (2e-6, 1e-6, {"agrees": False}), (1e-6, 99e-6, {"steps": ()}))
        rows = [line.split(" | ")[0] for line in page.splitlines() if line.startswith(("| 0", "| 8", "| 99"))]
        self.assertEqual(rows, ["| 0.50", "| 8.00", "| 99.00"])
        words = " ".join(page.split())
        self.assertIn(f"2 calls: eager PyTorch takes {math.sqrt(4):.2f} times as long", words)
        self.assertIn("In 1 calls it takes less than 0.95 times as long", words)
        self.assertIn("takes 2 µs there and 1 µs in assay", words)
        self.assertIn("| differs: off by 1 |", page)
        self.assertLess(page.index("8.00"), page.index("Calls without a step"))
        self.assertIn("| `relu(float32[4])` | no such \\| program |", page)

    def test_an_engine_that_fails_is_a_row_of_its_own(self):
        failing = self.engine("optimized", 0) | {"fails": {"message": "unsupported"}}
        row = table.Row(calls.call({"operator": "aten::relu.out", "arguments": ["float32[1]"]}), {"engines": [failing, self.engine("tcp:x", 1)]})
        self.assertEqual(row.failures, ["optimized fails: unsupported"])

    def test_instruction_sets(self):
        self.assertEqual(table.instruction_sets("model name : x\nflags\t\t: fpu avx2 amx_tile sse4_2\n"), ["sse4_2", "avx2", "amx_tile"])


class Overloads(unittest.TestCase):
    """torch in a few words: overloads have schemas, and a packet has overloads."""

    class Packet:
        def __init__(self, **schemas):
            for name, arguments in schemas.items():
                schema = type("Schema", (), {"arguments": [type("Argument", (), {"name": n, "type": t, "is_out": n == "out"}) for n, t in arguments]})
                setattr(self, name, type("Overload", (), {"_schema": schema, "overloadpacket": self}))
            self.overloads = lambda: list(schemas)

    def test_counterparts(self):
        x, y, number, out = ("self", "Tensor"), ("other", "Tensor"), ("other", "Scalar"), ("out", "Tensor")
        add = self.Packet(Scalar=[x, number], Tensor=[x, y], Scalar_out=[x, number, out], out=[x, y, out])
        self.assertIs(overloads.out_overload(add.Tensor), add.out)
        self.assertIs(overloads.out_overload(add.Scalar), add.Scalar_out)
        self.assertIs(overloads.functional_overload(add.Scalar_out), add.Scalar)
        with self.assertRaises(NotImplementedError):
            overloads.out_overload(self.Packet(Tensor=[x, y]).Tensor)


if __name__ == "__main__":
    unittest.main()
