"""The table of `tools/bench engines` without torch: which programs and engines it has, and what it names."""
import importlib.util
import pathlib
import tempfile
import types
import unittest

from source import SOURCE

RUN = SOURCE / "bench" / "models" / "run.py"
spec = importlib.util.spec_from_file_location("models_run", RUN)
run = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)


def ran(engine, seconds, agrees=True):
    outputs = [{"agrees": agrees} | ({} if agrees else {"message": "output 0 is off by 1"})]
    return {"engine": engine, "bursts": {"median": seconds}, "first": 9, "outputs": outputs}


def failed(engine, message):
    return {"engine": engine, "fails": {"message": message}}


class Table(unittest.TestCase):
    def test_every_engine_has_a_time_or_a_reason(self):
        engines = [run.ENGINES[name] for name in ("assay", "onnxruntime", "openvino")]
        programs = [{"program": "models/net_f32/program.pte", "engines": [ran(engines[0], 1.25e-3), ran(engines[1], 0.1, agrees=False), failed(engines[2], "no such layer")]},
                    {"program": "models/net_8da4w/program.pte", "engines": [ran(engines[0], 0), failed(engines[1], "no file"), failed(engines[2], "no file")]}]
        text = run.table({"programs": programs}, {"net_8da4w": {"model.onnx": "ValueError: x"}, "net_bf16": {"program.pte": "y"}})
        rows, _, notes = text.partition("\n\n")
        self.assertEqual([line.split() for line in rows.splitlines()],
                         [["ms", "assay", "onnxruntime", "openvino"], ["net_f32", "1.25", "100*", "-"], ["net_8da4w", "9e+03", "-", "-"]])
        self.assertEqual(notes.splitlines(), [
            "net_f32, openvino: no such layer", "* net_f32, onnxruntime: output 0 is off by 1",
            "net_8da4w, onnxruntime: model.onnx could not be made: ValueError: x", "net_8da4w, openvino: model.onnx could not be made: ValueError: x",
            "net_bf16: program.pte could not be made: y"])

    def test_a_delegated_program_takes_the_place_of_a_plain_one(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for wanted, file in (None, "model.onnx"), ("xnnpack.pte", "xnnpack.pte"), ("program.pte", "program.pte"):
                (folder / file).touch()
                self.assertEqual(run.program_in(folder), wanted and folder / wanted)

    def test_models_and_formats_are_chosen_by_whole_names(self):
        def chosen(models, formats):
            options = types.SimpleNamespace(models=models, formats=formats)
            return [name for name in ("a_f16", "a_bf16", "a_int8", "a_int8_dynamic", "ab_f16") if run.wanted(name, options)]
        self.assertEqual(chosen([], ["f16"]), ["a_f16", "ab_f16"])
        self.assertEqual(chosen(["a"], ["int8"]), ["a_int8"])
        self.assertEqual(chosen(["ab"], []), ["ab_f16"])


if __name__ == "__main__":
    unittest.main()
