"""Findings of earlier attacks, each as the smallest file of its kind: refused by its rule, or within its limits."""
import re
import unittest

import flat_programs as flat
from hostile import MIB, Hostile
from source import PROGRAMS, SOURCE

BOUNDED, UNBOUNDED = 1, 2

# Value 0 is the input, value 1 the output, of 24 bytes each, one behind the other; values 2 and 3 are 1 and 0,
# value 4 is a list of the number 1. The values of a case begin with value 5, its memory with byte 64.
VALUES = [flat.tensor([2, 3], 1, 0), flat.tensor([2, 3], 1, 32), flat.integer(1), flat.integer(0), flat.items(flat.INT_LIST, [2], "q")]
X, OUT, ONE, ZERO, LIST, FIRST, SECOND = range(7)


def at(offset, sizes=(2, 3), memory=1, **more):
    return flat.tensor(list(sizes), memory, offset, **more)


def own(sizes=(2, 3), dynamism=UNBOUNDED, **more):
    return flat.tensor(list(sizes), dynamism=dynamism, **more)


def relu(source, to, *results):
    return "aten::relu.out", [source, to, *(results or [to])]


def method(calls, values=(), inputs=(X,), outputs=(OUT,), operators=(), **more):
    """A program of calls, of which an operator's is its name and arguments."""
    operators = dict.fromkeys([*operators, *(call[0] for call in calls if isinstance(call, tuple))])
    index = {name: i for i, name in enumerate(operators)}
    instructions = [flat.kernel(index[call[0]], call[1]) if isinstance(call, tuple) else call for call in calls]
    named = [flat.operator(*name.split(".")) for name in operators]
    return flat.program([flat.plan("forward", [*VALUES, *values], instructions, inputs, outputs, named, sizes=[0, 4096, 4096], **more.pop("plan", {}))], **more)


VIEW, COPY_ROW, ADD = "executorch_prim::et_view.default", "executorch_prim::et_copy_index.tensor", "executorch_prim::add.Scalar"
CONSTANT = {"segments": [bytes(24)], "constants": [0, 0]}

REFUSED = {
    "a number written into a tensor that is also an input": ("I10", method([(ADD, [ONE, ONE, X]), relu(X, OUT)])),
    "a row copied from a view of what it grows": ("I12", method([(COPY_ROW, [FIRST, X, ZERO]), (VIEW, [FIRST, LIST, SECOND]), (COPY_ROW, [FIRST, SECOND, ZERO]), relu(X, OUT)], [at(64, [1, 2, 3], dynamism=BOUNDED), own(dynamism=BOUNDED)])),
    "a result argument that names another value": ("I9", method([relu(X, OUT, FIRST)], [at(64)])),
    "one state name in two memories": ("T26", method([relu(FIRST, OUT)], [at(64, name="state"), at(64, memory=2, name="state")])),
    "a constant as an out": ("T15", method([relu(X, FIRST), relu(X, OUT)], [flat.tensor([2, 3], constant=1)], **CONSTANT)),
    "a tensor that nothing wrote": ("T16", method([relu(FIRST, OUT)], [at(64)])),
    "an output that nothing wrote": ("T16", method([relu(X, FIRST)], [at(64)])),
    "an output written on one path": ("T16", method([flat.jump(FIRST, 2), relu(X, OUT)], [at(64, [], dtype=11)], inputs=[X, FIRST])),
    "a call without its result argument": ("I9", method([("aten::relu.out", [X, OUT]), relu(X, OUT)])),
    "memory freed that is not the method's": ("I19", method([relu(X, OUT), flat.free(X)])),
    "memory read after it was freed": ("I19", method([relu(X, FIRST), flat.free(FIRST), relu(FIRST, OUT)], [own()])),
    "an out over an input that is still read": ("T13", method([relu(X, OUT), relu(OUT, FIRST), relu(X, OUT)], [at(0)])),
    "an out that overlaps what its call reads": ("I12", method([relu(X, FIRST), relu(FIRST, OUT)], [at(4)])),
    "a view with two arguments": ("I9", method([(VIEW, [X, LIST]), relu(X, OUT)])),
    "a view planned elsewhere": ("T27", method([(VIEW, [X, LIST, FIRST]), relu(X, OUT)], [at(64)])),
    "an input that is named twice": ("M12", method([relu(X, OUT)], inputs=[X, X])),
    "an intermediate without memory": ("T25", method([relu(X, FIRST), relu(FIRST, OUT)], [own(dynamism=BOUNDED)])),
    "a jump on what is no condition": ("I15", method([flat.jump(ONE, 1), relu(X, OUT)])),
    "a loop without end": ("I21", method([relu(X, OUT), flat.jump(FIRST, 0)], [flat.value(flat.BOOL, flat.Table(flat.i8(0)))])),
    "sizes of buffers whose sum overflows": ("M4", flat.program([flat.plan("forward", VALUES, [], [X], [X], sizes=[0, 4096, (1 << 63) - 1])])),
    "an operator of many dtypes called with the wrong one": ("I10", method([("aten::relu.out", [ONE, OUT, OUT])])),
}

# What only an execution meets, or what only other rooms have: where its test stands.
ELSEWHERE = {
    "a refused call that has resized a constant": "RuntimeResults.ARefusedCallDoesNotChangeAConstant",
    "a delegate's result of another dtype, or a number over a tensor": "RuntimeResults.ADelegateMustGiveTheDeclaredTypes",
    "fmod and remainder of an empty tensor with huge other sizes, reductions of nothing": "EmptyCalls.TakeNoTime",
    "buffers of rows that nobody charged": "ChargedCalls.AllocatedMemoryIsCharged",
    "results that depend on the fill of planned memory": "RuntimeMemory.NoResultDependsOnTheFirstContentsOfMemory",
    "a list of many references to one tensor": "RuntimeBudget.AListThatRepeatsATensorIsChargedForEachItem",
    "a loop of products that nobody charged": "RuntimeBudget.ALoopRunsOutOfWork",
    "instructions of delegates": "RuntimeBudget.InstructionsOfDelegatesCountTowardsTheLimit",
    "memory of delegates": "Runtime.DelegatesShareTheLimitOfMemory",
    "an operator that is listed but never called": "RuntimeResults.OnlyCalledOperatorsMustExist",
    "payloads nested without end": "Payloads.test_payloads_are_checked_to_a_depth",
    "payloads that nobody checked": "Payloads.test_a_fault_in_a_payload_is_reported_with_its_place",
    "a size of 2^63 - 1 in inspect": "Budgets.test_sizes_that_no_integer_holds",
    "one bad list that many values share": "Budgets.test_hostile_shared_lists_are_harmless",
    "keys of JSON compared in pairs": "Requests.test_json_that_nests_deeply_or_has_many_keys_is_refused",
    "a file read whole before its kind is known": "Files.test_a_sparse_file_of_the_wrong_kind_is_not_read",
    "a stream without end": "Files.test_a_stream_of_the_wrong_kind_is_read_no_further_than_its_head",
    "names that forge lines of a verdict": "Names.test_no_text_of_a_file_forges_a_line",
    "rules that check does not ask without saying so": "Check.test_states_what_was_checked_and_what_was_not",
    "limits that a request raises": "Budgets.test_a_request_cannot_raise_its_limits",
}


def tests_here():
    """Class.test of Python, Suite.Test of googletest."""
    for path in (SOURCE / "tests").rglob("*_test.py"):
        for part in re.split(r"^class ", path.read_text(), flags=re.M)[1:]:
            yield from (part.partition("(")[0] + "." + name for name in re.findall(r"def (test_\w+)", part))
    for path in (SOURCE / "tests").rglob("*_test.cpp"):
        yield from map(".".join, re.findall(r"^TEST(?:_P|_F)?\((\w+), (\w+)\)", path.read_text(), flags=re.M))


class Seen(Hostile):
    def test_programs_without_meaning_are_refused(self):
        x = PROGRAMS / "mlp" / "call0_input0.npy"
        for kind, (rule, content) in REFUSED.items():
            with self.subTest(kind):
                path = self.write("seen.pte", content)
                done = self.harmless("check", path, code=4, rule=f"invalid, {rule}: ", memory=64 * MIB)
                self.assertEqual(len(re.findall(rb"^ *invalid, ", done.out, flags=re.M)), 1, done.out)
                self.harmless("inspect", path, memory=64 * MIB)
                self.harmless("run", path, "--input", x, code=4, rule=rule, memory=64 * MIB)

    def test_calls_keep_to_their_limits(self):
        huge = 2**31 - 1
        for code, call in {
            (0, ("aten::sum.IntList_out", f"zeros(0,{huge}):f32", "[1]", "true", "--max-bytes", 10**6)),
            (0, ("aten::amax.out", f"zeros(0,{huge}):f32", "[1]", "false", "--max-bytes", 10**6)),
            (0, ("aten::glu.out", f"zeros({huge - 1},{2**20},0):f32", "0", "--max-work", 10**6)),
            (0, ("aten::fmod.Tensor_out", f"zeros(0,{huge}):f32", "[3]:f32", "--max-work", 10**6)),
            (0, ("aten::remainder.Scalar_out", f"zeros({huge},0,65536):i64", "3", "--max-work", 10**6)),
            (7, ("aten::mm.out", "zeros(512,512):f32", "zeros(512,512):f32", "--max-work", 512**2)),
            (7, ("aten::_cdist_forward.out", "ones(1000,500):f32", "ones(1000,500):f32", "3.3", "none", "--max-work", 10**9)),
            (7, ("aten::cat.out", "{" + ",".join(["zeros(1048576):f32"] * 40) + "}", "--max-bytes", 100 * MIB)),
        }:
            with self.subTest(call[0]):
                self.harmless("call", *call, code=code, memory=160 * MIB)

    def test_a_bundle_loads_its_program_once(self):
        once = flat.case([flat.bundled([2, 3], [1.0] * 6)], [flat.bundled([2, 3], [2.0] * 6)])
        values = [flat.tensor([2, 3], 1, 0), flat.tensor([2, 3], 1, 32), flat.integer(1)] + [flat.tensor([2, 3], constant=1) for _ in range(5000)]
        plan = flat.plan("forward", values, [flat.kernel(0, [0, 0, 2, 1, 1])], [0], [1], [flat.operator("aten::add", "out")], sizes=[0, 64])
        path = self.write("cases.bpte", flat.bundle(flat.program([plan], segments=[bytes(24)], constants=[0, 0]), [flat.suite("forward", [once] * 100)]))
        self.harmless("check", path, code=0, memory=64 * MIB)
        self.assertEqual(self.harmless("run", path, code=0, memory=256 * MIB).out.count(b"pass"), 100)

    def test_similar_programs_that_keep_the_rules_are_accepted(self):
        self.harmless("check", self.write("good.pte", method([relu(X, FIRST), relu(FIRST, OUT)], [at(64)])), code=0)

    def test_each_kind_has_its_test(self):
        self.assertEqual(set(ELSEWHERE.values()) - set(tests_here()), set())

    def test_an_operator_that_is_never_called(self):
        path = self.write("listed.pte", method([relu(X, OUT)], operators=["other::unknown.out"]))
        self.harmless("check", path, code=0)


if __name__ == "__main__":
    unittest.main()
