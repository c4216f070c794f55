"""assay bench, as somebody at a shell meets it. Nothing here depends on how long anything takes."""
import json
import os
import shlex
import shutil
import struct
import subprocess
import sys
import unittest
from unittest import mock

from browser import DESK, PHONE, Browser
from folder import WithFolder
from source import PROGRAMS, SOURCE

ASSAY = os.environ["ASSAY"]
OFFICIAL = os.environ.get("ASSAY_EXECUTORCH")
MLP = PROGRAMS / "mlp" / "program.pte"
WIRE = SOURCE / "conformance" / "wire" / "python"


def bench(*arguments):
    """Exit code, output and complaints; as few runs as there can be."""
    with_reference = [] if "--with" in arguments else ["--with", "reference"]
    command = [ASSAY, "bench", "--seconds", "0", *with_reference, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


class Bench(WithFolder):
    def copy(self, *without):
        """The program with its calls, to be changed."""
        folder = self.folder / "mlp"
        shutil.copytree(MLP.parent, folder, ignore=lambda *_: without)
        return folder / "program.pte"

    def results(self, *arguments, code=0):
        got, out, err = bench("--json", *arguments)
        self.assertEqual((got, err), (code, ""))
        return json.loads(out)

    def refused(self, code, *words, by):
        got, out, err = bench(*by)
        self.assertEqual((got, out), (code, ""), err)
        for word in words:
            self.assertIn(word, err)


class Command(Bench):
    def test_the_optimized_runtime_beside_the_reference(self):
        [result] = self.results(MLP, "--with", "optimized", "--against", "reference")["programs"]
        self.assertEqual([e["engine"] for e in result["engines"]], ["optimized", "reference"])
        for engine in result["engines"]:
            self.assertEqual([o["agrees"] for o in engine["outputs"]], [True])
        ours, reference = result["engines"]
        self.assertEqual((reference["steps"], reference["operators"]), ([], []))
        self.assertEqual(sorted(step["instruction"] for step in ours["steps"]), [step["instruction"] for step in ours["steps"]])
        self.assertEqual(sum(o["steps"] for o in ours["operators"]), len(ours["steps"]))
        self.assertAlmostEqual(sum(o["seconds"] for o in ours["operators"]), sum(step["seconds"] for step in ours["steps"]))
        self.assertIn(("aten::addmm.out", "matmul_f32"), [(o["operator"], o["kernel"]) for o in ours["operators"]])
        _, out, _ = bench(MLP, "--with", "optimized")
        self.assertRegex(out, r"(?m)^optimized, step by step: .*\n  aten::addmm.out +matmul_f32 +\d")

    def test_an_engine_beside_itself(self):
        results = self.results(MLP, "--against", "reference")
        self.assertEqual((results["threads"], len(results["processors"])), (1, 1))
        [program] = results["programs"]
        self.assertEqual(program["inputs"], f"inputs of {MLP.parent / 'calls.json'}")
        for engine in program["engines"]:
            self.assertEqual([o["agrees"] for o in engine["outputs"]], [True])
            self.assertGreaterEqual(len(engine["alternating"]["runs"]), 5)
            self.assertGreaterEqual(len(engine["bursts"]["runs"]), 15)
            for time in (engine["load"], engine["first"], *engine["alternating"]["runs"]):
                self.assertGreater(time, 0)
            self.assertRegex(engine["binaries"]["executable"], "^[0-9a-f]{16}$")
        ours, other = (engine["alternating"]["runs"] for engine in program["engines"])
        self.assertEqual(len(ours), len(other))
        [race] = results["races"]
        self.assertEqual(race["other"], "reference")

    def test_the_table(self):
        code, out, err = bench(MLP, PROGRAMS / "channels_last" / "program.pte", "--against", "reference")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out.count("agree, off by at most"), 4)
        self.assertIn("1 thread on processor", out)
        self.assertIn("geometric mean and least of 2 programs", out)

    def test_files(self):
        json_file, page = self.folder / "bench.json", self.folder / "bench.html"
        self.assertEqual(bench(MLP, "-o", json_file, "--html", page)[0], 0)
        self.assertEqual(json.loads(json_file.read_text())["programs"][0]["program"], str(MLP))
        self.assertIn(str(MLP), page.read_text())
        self.refused(7, "output", by=[MLP, "-o", self.folder / "nowhere" / "bench.json"])

    def test_without_calls_inputs_are_random_and_the_first_engine_is_right(self):
        program = self.copy("calls.json")
        [result] = self.results(program, "--against", "reference")["programs"]
        self.assertEqual(result["inputs"], "random inputs")
        self.assertEqual([e["outputs"] for e in result["engines"]], [[{"agrees": True, "distance": 0.0}]] * 2)

    def test_a_planted_difference_is_found(self):
        program = self.copy()
        expected = program.parent / "call0_output0.npy"
        data = bytearray(expected.read_bytes())
        [value] = struct.unpack_from("<f", data, len(data) - 4)
        struct.pack_into("<f", data, len(data) - 4, value + 0.5)
        expected.write_bytes(data)
        [result] = self.results(program, code=1)["programs"]
        [output] = result["engines"][0]["outputs"]
        self.assertFalse(output["agrees"])
        self.assertAlmostEqual(output["distance"], 0.5, 4)
        code, out, _ = bench(program)
        self.assertEqual(code, 1)
        self.assertIn("DIFFER: ", out)
        self.assertEqual(bench(program, "--atol", "1")[0], 0)

    def test_a_peer_that_differs_is_found(self):
        program = self.copy("calls.json")
        data = bytearray(program.read_bytes())
        weight = data.rindex(next(w for w in self.weights(data) if w))
        data[weight + 3] ^= 0x80
        other = self.write("other.pte", data)
        [result] = self.results(program, "--against", f"reference={other}", code=1)["programs"]
        self.assertEqual([e["outputs"][0]["agrees"] for e in result["engines"]], [True, False])

    @staticmethod
    def weights(data):
        """Float32 values near the end of a program, where its constants are."""
        for at in range(len(data) - 4 & ~3, 0, -4):
            [value] = struct.unpack_from("<f", data, at)
            if 0.01 < abs(value) < 1:
                yield bytes(data[at:at + 4])

    def test_an_engine_that_fails_is_reported_and_the_others_run(self):
        broken = self.write("broken.pte", MLP.read_bytes()[:100])
        other = PROGRAMS / "activations" / "program.pte"  # which wants other inputs
        [result] = self.results(MLP, "--against", f"reference={broken}", "--against", f"reference={other}", code=3)["programs"]
        ours, truncated, unlike = result["engines"]
        self.assertGreaterEqual(len(ours["alternating"]["runs"]), 5)
        self.assertEqual((truncated["fails"]["outcome"], unlike["fails"]["outcome"]), ("malformed", "invalid"))
        code, out, _ = bench(MLP, "--against", f"reference={other}")
        self.assertEqual(code, 4)
        self.assertRegex(out, r"(?m)^reference=.* FAILS: invalid, ")
        self.assertEqual(bench(MLP, "--with", f"reference={other}", "--against", "reference")[0], 4)

    def test_files_of_engines_are_looked_for_beside_the_program(self):
        shutil.copy(self.copy(), self.folder / "mlp" / "other.pte")
        [result] = self.results(self.folder / "mlp" / "program.pte", "--against", "reference=other.pte")["programs"]
        self.assertEqual([e["engine"] for e in result["engines"]], ["reference", "reference=other.pte"])

    def test_invalid_requests_are_refused(self):
        self.refused(2, "PROGRAM", by=[])
        self.refused(4, "testee", "fast", by=[MLP, "--with", "fast"])
        self.refused(5, "bench.threads", "100000 threads", by=[MLP, "--threads", 100000])
        self.refused(2, "--threads", by=[MLP, "--threads", 0])
        self.refused(3, "nowhere.pte", by=[self.folder / "nowhere.pte"])
        self.refused(3, "nowhere.jsonl", by=[MLP, "--conformance", self.folder / "nowhere.jsonl"])
        lone = self.folder / "assay"
        shutil.copy(ASSAY, lone)
        done = subprocess.run([lone, "bench", MLP, "--with", "onnxruntime"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, "libonnxruntime.so, which is missing" in done.stderr), (5, True), done.stderr)


class Servers(Bench):
    """Engines outside of the process, which speak the wire protocol."""

    COMMAND = f"-- {shlex.quote(ASSAY)} serve reference"

    def test_one_table_of_engines_and_servers(self):
        server = subprocess.Popen([ASSAY, "serve", "reference", "--listen", "0"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        tcp = f"tcp:127.0.0.1:{server.stdout.readline().rpartition(':')[2].strip()}"
        run, page = self.folder / "run.jsonl", self.folder / "bench.html"
        subprocess.run([ASSAY, "runtime", tcp, "--programs", "recorded/mlp", "-o", run], capture_output=True, check=True, timeout=120)
        [result] = self.results(MLP, "--against", tcp, "--against", self.COMMAND, "--conformance", run, "--html", page)["programs"]
        here, there, command = result["engines"]
        self.assertEqual([there["engine"], command["engine"]], [tcp, self.COMMAND])
        self.assertNotIn("clock", here)
        for engine in there, command:
            self.assertEqual(engine["clock"], "its own clock")
            self.assertGreaterEqual(len(engine["bursts"]["runs"]), 15)
            self.assertEqual([o["agrees"] for o in engine["outputs"]], [True])
            self.assertEqual(engine["binaries"]["executable"], here["binaries"]["executable"])
            self.assertGreater(engine["memory"], 1 << 20)
            self.assertGreater(engine["ratio"]["median"], 0)
        self.assertTrue(there["conformance"]["passes"] and there["conformance"]["verdicts"], there["conformance"])
        self.assertEqual(command["conformance"]["sentence"], "was never judged, for one file assay")
        self.assertIn("clock: its own clock", bench(MLP, "--against", "--", ASSAY, "serve", "reference")[1])
        self.assertIn(tcp, page.read_text())

    def server(self, does="return outputs", facts=(), ticks="said"):
        """A server that gives the recorded outputs; `ticks` is the expression of a reply's bytes before they are sent."""
        output = MLP.parent / "call0_output0.npy"
        python = "/usr/bin/python3"  # the Python of Debian, for which tools/setup installs numpy
        return f"-- {python} " + str(self.write("server.py", f"""
import os, sys
import numpy
sys.path.insert(0, {str(WIRE)!r})
import end
outputs = [numpy.load({str(output)!r})]
def run(method, inputs):
    {does}
class Server(end.Server):
    def reply(self, kind, body):
        said = super().reply(kind, body)
        return {ticks}
end.serve(Server("recorded", {{}}, lambda program, data: run, facts={dict(facts)!r}), sys.stdin.buffer, sys.stdout.buffer)
""".encode()))

    def test_a_server_without_a_clock_is_timed_by_this_machine(self):
        [result] = self.results(MLP, "--against", self.server(ticks="said[:1] + bytes(8) + said[9:]"))["programs"]
        engine = result["engines"][1]
        self.assertRegex(engine["clock"], "^the clock of this machine")
        self.assertTrue(all(run > 0 for run in engine["alternating"]["runs"] + engine["bursts"]["runs"]))
        self.assertIsNone(engine["memory"])

    def test_a_coarse_clock_gets_repetitions(self):
        """A run of 30 ticks is repeated four times, so that a request takes at least 100 ticks."""
        times = self.folder / "times"
        count = f"kind == end.EXECUTE and open({str(times)!r}, 'a').write(f'{{int.from_bytes(body[4:8], \"little\")}} ')"
        ticks = f"({count}) and said[:1] + (30 * int.from_bytes(body[4:8], 'little')).to_bytes(8, 'little') + said[9:] or said"
        [result] = self.results(MLP, "--against", self.server(ticks=ticks))["programs"]
        first, *others = map(int, times.read_text().split())
        self.assertEqual((first, min(others)), (1, 4))
        self.assertEqual({round(run / 30e-9, 6) for run in result["engines"][1]["alternating"]["runs"]}, {1})

    def test_counted_instructions_are_no_time(self):
        [result] = (results := self.results(MLP, "--against", self.server(facts={"clock": "instructions"})))["programs"]
        self.assertEqual(result["engines"][1]["clock"], "instructions")
        self.assertNotIn("ratio", result["engines"][1])
        self.assertEqual(results["races"][0]["alternating"]["programs"], [])

    def test_wrong_outputs_refusals_and_crashes_are_reported(self):
        [result] = self.results(MLP, "--against", self.server("return [outputs[0] + 1]"), code=1)["programs"]
        self.assertEqual([o["agrees"] for o in result["engines"][1]["outputs"]], [False])
        for does, words in ("raise MemoryError('no room')", "no room"), ("os._exit(3)", "exited with status 3"):
            got, out, _ = bench("--json", MLP, "--against", self.server(does))
            ours, failing = json.loads(out)["programs"][0]["engines"]
            self.assertIn(words, failing["fails"]["message"])
            self.assertNotEqual(got, 0)
            self.assertGreaterEqual(len(ours["alternating"]["runs"]), 5)
        self.refused(4, "testee", "exited", by=[MLP, "--against", "-- false"])
        self.refused(4, "runs no programs", by=[MLP, "--against", f"-- {shlex.quote(ASSAY)} serve recorded"])


class Ends(Bench):
    """Programs in Python that are timed: assay's end.py serves them."""

    FAKES = SOURCE / "tests" / "support" / "fake_peers"

    def of_module(self, module, code=0, **environment):
        paths = os.pathsep.join(map(str, (self.folder, self.FAKES, SOURCE / "bench")))
        with mock.patch.dict(os.environ, {"PATH": "/usr/bin:" + os.environ["PATH"], "PYTHONPATH": paths, **environment}):  # the Python with numpy
            [result] = self.results(MLP, "--against", f"python:{module}", code=code)["programs"]
        return result["engines"][1]

    def test_a_prepared_program_is_timed_without_its_preparation(self):
        """On a clock that only the module moves: 1 s for the preparation and for the outputs, and 3 µs for a run."""
        events = self.folder / "events"
        self.write("prepared.py", f"""
import time, numpy
now = 0
time.perf_counter_ns = lambda: now
def pass_by(nanoseconds, event):
    global now
    now += nanoseconds
    open({str(events)!r}, "a").write(event + "\\n")
class Runs:
    def __init__(self, method, inputs):
        pass_by(10**9, f"prepared {{method}} {{len(inputs)}}")
    def run(self):
        pass_by(3000, "run")
    def outputs(self):
        pass_by(10**9, "outputs")
        return [numpy.load({str(MLP.parent / "call0_output0.npy")!r})]
class Loaded:
    prepared = Runs
    def __init__(self, program, data): pass
load = Loaded
""".encode())
        engine = self.of_module("prepared")
        self.assertEqual([o["agrees"] for o in engine["outputs"]], [True])
        times = {round(run, 12) for run in [engine["first"], *engine["alternating"]["runs"], *engine["bursts"]["runs"]]}
        self.assertEqual(times, {3e-6})
        lines = events.read_text().splitlines()
        self.assertEqual((lines[0], lines.count(lines[0])), ("prepared forward 1", 1))
        self.assertGreater(lines.count("run"), lines.count("outputs"))  # a request repeats the run

    def test_a_program_is_prepared_again_for_other_inputs(self):
        program = """
import struct, sys
sys.path.insert(0, sys.argv[1])
import end
class Runs:
    def __init__(self, method, inputs): self.method, self.inputs = method, inputs
    def run(self): pass
    def outputs(self): return [self.method, *self.inputs]
class Loaded:
    prepared = Runs
server = end.Server("", {}, lambda program, data: Loaded())
def asked(kind, *body):
    return server.answer(kind, end.Body(b"".join(body)))
def number(n):
    return struct.pack("<I", n)
def outputs(method, value):
    if method: asked(end.METHOD, number(1), end.texts(method))
    if value: asked(end.SET_INPUT, number(1), number(0), end.value(value))
    [count] = struct.unpack("<I", asked(end.EXECUTE, number(1), number(2)))
    return [asked(end.GET_OUTPUT, number(1), number(i)) for i in range(count)]
asked(end.LOAD, end.sized(b""), number(0), bytes(1))
for method, value, wanted in ("forward", 3, ["forward", 3]), (None, 4, ["forward", 4]), ("other", None, ["other"]):
    assert outputs(method, value) == [end.value(v) for v in wanted], (method, value)
"""
        subprocess.run(["/usr/bin/python3", "-c", program, str(WIRE)], check=True)

    def test_openvino_gets_inputs_state_threads_and_precision(self):
        """With a module in place of OpenVINO, which records what it is asked and gives the recorded outputs."""
        log = self.folder / "log.json"
        engine = self.of_module("ends.openvino", FAKE_LOG=str(log), FAKE_OUTPUT=str(MLP.parent / "call0_output0.npy"))
        self.assertEqual([o["agrees"] for o in engine["outputs"]], [True])
        self.assertEqual((engine["version"], engine["binaries"]["openvino"]), ("OpenVINO", "fake"))
        said = json.loads(log.read_text())
        self.assertEqual(said["bytes"], len(MLP.read_bytes()))
        self.assertEqual(said["settings"], {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f16", "PERFORMANCE_HINT": "LATENCY"})
        given = (MLP.parent / "call0_input0.npy").read_bytes()[-4 * 3 * 16:]
        self.assertEqual(said["inputs"], [list(struct.unpack("<48f", given)), [0, 0, 0]])


class Conformance(Bench):
    def run_of_reference(self, verdict, **changes):
        """A run of one case that judged this executable, but for the changes."""
        [engine] = self.results(MLP)["programs"][0]["engines"]
        case = {"testee": "reference", "operator": "aten::add.out", "case": "aten::add.out#1", "dtypes": ["float32"], "layouts": ["contiguous"],
                "valid": True, "slices": [], "promised": True, "verdict": verdict, "class": "value" if verdict == "fail" else "", "distance": 0,
                "seconds": 0}
        header = {"header": {"testee": "reference", "cases": 1} | engine["binaries"] | changes}
        return self.write("run.jsonl", "\n".join(map(json.dumps, (header, case))).encode() + b"\n")

    def said(self, run):
        [result] = self.results(MLP, "--conformance", run)["programs"]
        judged = result["engines"][0]["conformance"]
        code, out, _ = bench(MLP, "--conformance", run)
        self.assertEqual((code, "NOTE: reference " in out), (0, not judged["passes"]), out)
        self.assertIn(judged["sentence"], out)
        return judged["passes"], judged["sentence"]

    def test_the_binary_that_was_judged(self):
        passes, sentence = self.said(self.run_of_reference("pass"))
        self.assertEqual((passes, sentence.startswith("keeps its contract: ")), (True, True), sentence)
        self.assertNotEqual(sentence.split("; verdicts ")[1], self.said(self.run_of_reference("quality"))[1].split("; verdicts ")[1])

    def test_a_failed_judgement_is_shown(self):
        passes, sentence = self.said(self.run_of_reference("fail"))
        self.assertEqual((passes, sentence.startswith("does not keep its contract: ")), (False, True), sentence)

    def test_another_binary_than_was_judged(self):
        self.assertEqual(self.said(self.run_of_reference("pass", executable="0123456789abcdef")), (False, "was never judged, for one executable"))


@unittest.skipUnless(OFFICIAL, "built without ASSAY_EXECUTORCH")
class Official(Bench):
    def test_the_official_runtime(self):
        [result] = self.results(MLP, "--against", "executorch")["programs"]
        official = result["engines"][1]
        self.assertEqual([o["agrees"] for o in official["outputs"]], [True])
        self.assertIn("libexecutorch_kernels_optimized.so", official["binaries"])
        self.assertNotIn("libexecutorch_backend_xnnpack.so", official["binaries"])

    def test_a_program_that_it_refuses(self):
        broken = self.write("broken.pte", MLP.read_bytes()[:100])
        code, out, _ = bench(MLP, "--against", f"executorch={broken}")
        self.assertNotEqual(code, 0)
        self.assertRegex(out, r"(?m)^executorch=.* FAILS: ")


class Page(Bench):
    def test_at_desk_and_phone_width(self):
        page = self.folder / "bench.html"
        self.assertEqual(bench(MLP, PROGRAMS / "activations" / "program.pte", "--against", "reference", "--html", page)[0], 0)
        browser = Browser(self.folder / "profile")
        self.addCleanup(browser.close)
        for size in DESK, PHONE:
            with self.subTest(width=size[0]):
                browser.open(page.as_uri(), size)
                self.assertEqual(browser.complaints(), [])
                self.assertEqual([u for u in browser.requests() if not u.startswith("data:")], [page.as_uri()])
                self.assertEqual(browser.wider_than_the_window(), [])
                texts = "[...document.querySelectorAll('h2')].map(node => node.textContent)"
                self.assertEqual(browser.run(texts)[1:], ["mlp/program.pte", "activations/program.pte"])
                self.assertEqual(browser.run("document.querySelectorAll('#programs tbody tr').length"), 4)
                # Of each plot some of the pixels are of a colour.
                drawn = "[...document.querySelectorAll('canvas')].map(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data.some(v => v))"
                self.assertEqual(browser.run(drawn), [True] * 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
