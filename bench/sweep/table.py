"""The page of the operator sweep, from what `assay bench -o` wrote.

A row is a call: how many times as long as assay eager PyTorch takes, by the median times in bursts. The worst rows come
first. A call that assay answers without a step, for instance by a view, counts in no mean."""

import json
import math
import pathlib
import textwrap

import calls

LEAST, MEAN = 0.95, 2.0  # a row should have at least this ratio, and all rows this geometric mean
INSTRUCTION_SETS = ("sse4_2", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512_vnni", "avx512_bf16", "avx512_fp16",
                    "amx_tile", "amx_int8", "amx_bf16", "asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2")


def instruction_sets(cpuinfo):
    """Those of INSTRUCTION_SETS that the machine has, by the text of /proc/cpuinfo."""
    flags = next((line.partition(":")[2].split() for line in cpuinfo.splitlines() if line.startswith(("flags", "Features"))), [])
    return [name for name in INSTRUCTION_SETS if name in flags]


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


class Row:
    def __init__(self, call, program):
        self.call, (self.assay, self.eager) = call, program["engines"]
        self.failures = [f"{e['engine'].split(':')[0]} fails: {e['fails']['message']}" for e in program["engines"] if "fails" in e]
        if not self.failures:
            self.ours, self.theirs = (e["bursts"]["median"] for e in (self.assay, self.eager))
            self.ratio, self.steps = self.theirs / self.ours, self.assay["steps"]

    def notes(self):
        wrong = [o["message"] for o in self.assay["outputs"] if not o["agrees"]]
        return [f"differs: {wrong[0]}"] if wrong else []

    def cells(self):
        kernels = ", ".join(dict.fromkeys(s["kernel"] for s in self.steps))
        return [f"{self.ratio:.2f}", micro(self.ours), micro(self.theirs), f"`{self.call}`", kernels, "; ".join(self.notes())]


def micro(seconds):
    return f"{1e6 * seconds:.3g}" if seconds < 1e-3 else f"{1e6 * seconds:.0f}"


def table(heads, rows):
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, ["---"] * len(heads), *rows])


def paragraph(words):
    return textwrap.fill(" ".join(words.split()), 120, break_long_words=False, break_on_hyphens=False)


def flat_list(empty_and_others):
    empty, others = empty_and_others
    return [empty, *others]


def number_of(folder):
    return int(folder[:3])


HEADS = ["times as long", "assay, µs", "eager, µs", "call", "kernel", ""]


def page(listed, results, refused, command):
    """The page, as Markdown. `listed`: the file of calls. `results`: those of `assay bench`, whose programs lie in folders
    that begin with the number of a call. `refused`: {folder: why there is no program}."""
    by_number = dict(enumerate(flat_list(calls.read(listed))))
    numbered = {number_of(pathlib.Path(p["program"]).parent.name): p for p in results["programs"]}
    empty, *rows = [Row(by_number[number], p) for number, p in sorted(numbered.items())]
    failing = [(str(by_number[number_of(name)]), why) for name, why in refused.items()]
    torch = results["programs"][0]["engines"][1].get("binaries", {}).get("torch", "")
    sets = instruction_sets(pathlib.Path("/proc/cpuinfo").read_text())
    measured = sorted((r for r in rows if not r.failures), key=lambda r: r.ratio)
    computed, idle = [r for r in measured if r.steps], [r for r in measured if not r.steps]
    ratios = [r.ratio for r in computed]
    below = sum(ratio < LEAST for ratio in ratios)
    failing += [(str(r.call), text) for r in rows for text in r.failures]
    parts = ["# Operators beside eager PyTorch", paragraph(f"""
        `{command}` wrote this page on {results['date']}, on one processor of {results['processor']} with
        {', '.join(sets)}. It times assay's optimized runtime with one thread beside eager PyTorch
        {torch} with one thread. Each row is a program of one call, whose shapes come from a census of models
        ([calls.yaml](../bench/sweep/calls.yaml)). A tensor with `const` is a constant of the program, such as a weight;
        both sides read all other tensors from memory of the caller. Eager PyTorch is called directly by the out
        overload, such as `torch.ops.aten.add.out(a, b, out=o)`, with outs that are made once."""), paragraph(f"""
        The times are medians of runs in bursts, in which one side runs again and again. Bursts of both sides alternate.
        The loop that calls eager PyTorch is in Python. An empty call, `{empty.call}`, takes
        {micro(empty.theirs)} µs there and {micro(empty.ours)} µs in assay. These times are part of each row."""), paragraph(f"""
        {len(computed)} calls: eager PyTorch takes {geometric_mean(ratios):.2f} times as long as assay in the geometric
        mean (the aim is {MEAN:g}). In {below} calls it takes less than {LEAST} times as long (the aim is 0)."""),
        table(HEADS, [r.cells() for r in computed])]
    if idle:
        parts += ["## Calls without a step", "assay's answer is a view of the input, so that nothing is computed. These calls count in no mean.",
                  table(HEADS, [r.cells() for r in idle])]
    if failing:
        parts += ["## Calls that were not timed", table(["call", "reason"], [[f"`{call}`", why.replace("|", "\\|")] for call, why in failing])]
    return "\n\n".join(parts) + "\n"
