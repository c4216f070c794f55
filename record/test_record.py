"""Tests of the recorder. They need the packages of requirements.txt: python3 record/test_record.py"""

import environment

environment.enforce()

import importlib
import os
import struct
import tempfile
import unittest
from pathlib import Path

import torch

import child
import container
import manifest
import worker
from call import answer, fresh_layouts, make_call
from operators import Operator
from tensors import Layout, load, store

SCHEMA = Path(__file__).resolve().parents[1] / "golden" / "calls.fbs"
NEG = "aten::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
FMOD = "aten::fmod.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)"
MEAN = (
    "aten::mean.out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out)"
    " -> Tensor(a!)"
)


def setUpModule():
    folder = tempfile.mkdtemp()
    container.generate_classes(SCHEMA, Path(folder))


def read(data):
    module = importlib.import_module("assay.golden.Calls")
    return module.Calls.GetRootAs(data)


class Recording(unittest.TestCase):
    def test_the_same_seed_gives_the_same_bytes(self):
        first, second = (worker.record(Operator(NEG), 7, 20_000, 5_000) for _ in range(2))
        self.assertEqual(first.file, second.file)
        self.assertGreater(first.calls, 30)

    def test_another_seed_gives_other_calls(self):
        self.assertNotEqual(worker.record(Operator(NEG), 7, 9_000, 0).file, worker.record(Operator(NEG), 8, 9_000, 0).file)

    def test_at_most_a_quarter_refuses(self):
        recording = worker.record(Operator(MEAN), 7, 30_000, 0)
        self.assertGreater(recording.refusals, 0)
        self.assertLessEqual(recording.refusals, recording.calls / 4 + 1)

    def test_a_crash_is_noted_and_the_rest_recorded(self):
        def crash_at_two():
            for i in range(4):
                if i == 2:
                    os.abort()
                yield bytes([i])

        items, status = child.in_child(crash_at_two)
        self.assertEqual((items, status), ([b"\0", b"\1"], "SIGABRT"))


class Manifest(unittest.TestCase):
    def test_a_changed_file_is_named(self):
        recording = worker.record(Operator(NEG), 7, 5_000, 0)
        folder = Path(tempfile.mkdtemp())
        (folder / "operators").mkdir()
        (folder / "operators" / "neg.calls").write_bytes(recording.file)
        entries = {"neg.calls": manifest.entry(recording, {"cap_bytes": 5_000})}
        manifest.write(folder, entries, {"seed": 7})
        self.assertIsNone(manifest.difference(folder, entries))
        (folder / "operators" / "neg.calls").write_bytes(recording.file[:-1] + b"!")
        self.assertIn("neg.calls", manifest.difference(folder, entries))


class Answers(unittest.TestCase):
    def test_a_result_is_laid_out_in_the_outs_dim_order(self):
        operator = Operator(NEG)
        value = torch.arange(6.0).reshape(2, 3)
        told = answer(operator, make_call(operator, {"self": value}, "test", out_dim_orders=((1, 0),)))
        self.assertEqual(told.results[0].layout.dim_order, (1, 0))
        self.assertEqual(struct.unpack("<6f", told.results[0].data), (-0.0, -3.0, -1.0, -4.0, -2.0, -5.0))

    def test_a_result_without_an_out_has_its_own_layout(self):
        operator = Operator(NEG)
        value = torch.arange(6.0).reshape(2, 3).t()
        call = make_call(operator, {"self": value}, "test", out_dtypes=(torch.float64,), out_dim_orders=((0, 1),))
        self.assertEqual(fresh_layouts(operator, call), (Layout(torch.float32, (3, 2), (1, 0)),))

    def test_a_refusal_has_the_message_of_eager(self):
        operator = Operator(MEAN)
        told = answer(operator, make_call(operator, {"self": torch.arange(3), "dim": [0]}, "test"))
        self.assertIsNone(told.results)
        self.assertIn("mean()", told.refusal)

    def test_an_out_of_lower_kind_is_refused(self):
        operator = Operator(NEG)
        told = answer(operator, make_call(operator, {"self": torch.ones(2)}, "test", out_dtypes=(torch.int32,)))
        self.assertIn("Int", told.refusal)


class Reading(unittest.TestCase):
    def test_calls_are_read_as_they_were_made(self):
        value = torch.arange(6.0).reshape(2, 3).t()
        for schema, arguments, outs in (
            (NEG, {"self": value}, {}),
            (NEG, {"self": value}, {"out_dtypes": (torch.float64,), "out_dim_orders": ((0, 1),)}),
            (FMOD, {"self": torch.ones(1), "other": -0.0}, {}),
            (MEAN, {"self": value, "dim": [0], "dtype": torch.float64}, {}),
            (MEAN, {"self": torch.arange(3), "dim": None}, {}),
        ):
            operator = Operator(schema)
            call = make_call(operator, arguments, "test", **outs)
            path = Path(tempfile.mkdtemp()) / "a.calls"
            path.write_bytes(worker.file_of(operator, [(call, answer(operator, call))]))
            self.assertEqual([c.key() for c in container.calls_in(operator, path)], [call.key()])


class Storing(unittest.TestCase):
    def test_every_dense_layout_is_kept(self):
        for tensor in (
            torch.tensor(3.0),
            torch.empty(2, 0, 3),
            torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
            torch.arange(24).reshape(1, 3, 2, 4).to(memory_format=torch.channels_last),
            torch.tensor([True, False]),
            torch.tensor([1.5, float("nan")], dtype=torch.bfloat16),
        ):
            stored = store(tensor)
            self.assertEqual(store(load(stored)), stored)
            self.assertEqual(load(stored).tolist().__repr__(), tensor.tolist().__repr__())

    def test_scalars_keep_the_sign_of_zero(self):
        operator = Operator(FMOD)
        call = make_call(operator, {"self": torch.ones(1), "other": -0.0}, "test")
        file = container.Container(operator)
        file.add(call, answer(operator, call))
        other = read(file.finish()).Calls(0).Arguments(1).Value()
        double = importlib.import_module("assay.golden.Double").Double()
        double.Init(other.Bytes, other.Pos)
        self.assertEqual(struct.pack("<d", double.Value()), struct.pack("<d", -0.0))

    def test_equal_tensors_are_one(self):
        operator = Operator(NEG)
        sizes = []
        for count in (1, 2):
            file = container.Container(operator)
            for index in range(count):
                call = make_call(operator, {"self": torch.arange(500.0)}, f"test {index}")
                file.add(call, answer(operator, call))
            sizes.append(len(file.finish()))
        self.assertLess(sizes[1] - sizes[0], 200)


if __name__ == "__main__":
    unittest.main()
