"""Proves these statements about each entry of the spec:

    there is a call that keeps every rule;
    no rule follows from the others: there is a call that breaks it and keeps the others;
    no result has a size that is negative or beyond int64, unless a rule refuses the call;
    the reference agrees with the formulas: for each of these calls, and for calls near them, it names the same first broken
    rule, or gives results of the same dtypes, sizes and dim orders.

It prints a line for each statement that is false, and then the counts. undecided.txt lists the rules that are undecided or
follow, each with the reason; a line there that is no longer true is an error, too."""
import argparse
import fnmatch
import functools
import json
import multiprocessing
import pathlib
import random
import subprocess
import sys
import zlib
from collections import Counter
from dataclasses import dataclass, field

import meaning
import reference
import search
from formulas import Meaningless
from sampling import Sampler
from values import FINITE

KNOWN = pathlib.Path(__file__).parent / "undecided.txt"


@dataclass
class Findings:
    """The findings about one entry."""
    lines: list = field(default_factory=list)  # statements that are false
    table: list = field(default_factory=list)  # a line for each rule
    rules: dict = field(default_factory=dict)  # {rule that is not independent: verdict}
    counts: Counter = field(default_factory=Counter)


def examine(name, options):
    entry = meaning.meanings()[name]
    found, question = Findings(), search.Question(entry, options.effort)
    calls = models(entry, question, found)
    overflows(question, found, options.forms)
    compare(entry, question, calls, found, options)
    if options.all:
        sides = boundary_calls(options.assay, name)
        for step in entry.steps:
            if step.is_rule:
                inside, outside = (sides[f"{step.id} {side}"] for side in ("inside", "outside"))
                found.counts += Counter({"with calls just inside": inside > 0, "with calls just outside": outside > 0})
                found.table.append(f"{step.id}: {found.rules.get(step.id, 'independent')}, calls just inside {inside}, just outside {outside} | {step.text}")
    return found


def models(entry, question, found):
    """[(the rule that the call breaks or None, the call)] of the calls that the solver finds."""
    calls = []
    for step in [None, *(s for s in question.steps if s.is_rule)]:
        verdict = question.find(step)
        if verdict.call:
            calls.append((step and step.id, verdict.call))
        found.counts["rules"] += step is not None
        if step is None:
            found.counts["satisfiable" if verdict.call else "not shown satisfiable"] += 1
            if not verdict.call:
                found.rules[entry.entry.id] = "unsatisfiable" if verdict.word == "follows" else verdict.word
            continue
        found.counts[verdict.word] += 1
        if verdict.word != "independent":
            found.rules[step.id] = verdict.word
    return calls


def overflows(question, found, forms):
    if question.meaning.is_number:
        return
    call, decided, undecided = question.results_overflow(forms)
    found.counts += Counter({"forms with sizes": decided, "forms with undecided sizes": undecided})
    if call:
        found.lines.append(f"{question.meaning.entry.name}: a result's size is negative or beyond int64: {described(call)}")


def compare(entry, question, calls, found, options):
    """Compares the reference with the formulas on the calls of the solver and on calls near them, most near a call that keeps
    every rule."""
    rng = random.Random(zlib.crc32(entry.entry.name.encode()) + options.seed)
    sampler, asked, valid = Sampler(question.maker, rng), [], []

    def ask(call, rule=""):
        if not reference.small(call):
            return
        try:
            said = entry.verdict(call)
        except Meaningless as reason:
            found.lines.append(f"{entry.entry.name}: {reason}: {described(call)}")
            return
        if rule and said != rule:
            found.lines.append(f"{rule}: the solver finds that the call breaks this rule; with its numbers the formulas give {said or 'ok'}: {described(call)}")
        asked.append((call, said))
        if said is None:
            valid.append(call)

    for rule, call in calls:
        ask(call, rule)
    for call in question.varied(options.varied):
        ask(call)
    found.counts["models"] += len(asked)
    models = [call for call, _ in asked]
    for _ in range(options.samples if models else 0):
        call = sampler.near(rng.choice(valid if valid and rng.random() < 0.85 else models))
        ask(call if rng.random() < 0.7 else sampler.near(call))
    answers = reference.answers(options.assay, [reference.request(entry, call, k) for k, (call, _) in enumerate(asked)])
    for (call, said), answer in zip(asked, answers, strict=True):
        found.counts["calls compared"] += 1
        found.counts["valid calls compared"] += said is None
        wrong = reference.difference(entry, call, said, answer)
        if wrong:
            found.lines.append(f"{entry.entry.name}: {wrong}: {described(call)}")


def described(call):
    def text(v):
        if hasattr(v, "sizes"):
            order = "" if v.order == tuple(range(len(v.sizes))) else f" {v.order}"
            data = f" [{v.first},{v.rest}...]" if (v.first, v.rest) != (0, 0) else ""
            return f"{reference.NAMES.get(v.dtype, v.dtype)}{v.sizes}{order}{data}"
        if hasattr(v, "twice"):
            return ("bool ", "", "double ")[v.kind] + (str(v.twice / 2) if v.special == FINITE else ("", "nan", "inf", "-inf")[v.special])
        return "[" + ", ".join(map(text, v)) + "]" if isinstance(v, list) else str(v)
    return ", ".join(f"{name}={text(v)}" for name, v in call.items())


def boundary_calls(assay, name):
    """{rule and side: number of calls} that tests/boundary_calls.cpp makes just inside and just outside of each rule."""
    program = pathlib.Path(assay).parent / "tests" / "boundary_calls"
    made = subprocess.run([program, meaning.ROOT / "golden" / "operators", name], capture_output=True, text=True, check=True).stdout
    return Counter(json.loads(line)["id"] for line in made.splitlines())


def expected():
    """{rule: verdict} of undecided.txt."""
    lines = [line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
    return {rule.strip(): verdict.strip() for rule, verdict, _ in (line.split("|", 2) for line in lines)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operators", nargs="?", default="*", help="a pattern of names, such as 'aten::add*'")
    parser.add_argument("--assay", default=str(meaning.ROOT / "build" / "release" / "assay"), help="the reference's command")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--samples", type=int, default=100, help="calls near models, for each entry")
    parser.add_argument("--varied", type=int, default=2, help="number of forms of arguments that get a model without a size of 0, for each entry")
    parser.add_argument("--forms", type=int, default=8, help="number of forms of arguments for which the sizes of results are proved, for each entry")
    parser.add_argument("--effort", type=int, default=3_000_000, help="steps of the solver for each question")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", default="1/1", help="the part of the operators to prove, such as 3/8 for the third of eight equal parts")
    parser.add_argument("--all", action="store_true", help="print every rule, with the number of calls that the release's boundary_calls makes at its boundary")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    names = fnmatch.filter(meaning.meanings(), options.operators)[part - 1::parts]
    if not names:
        sys.exit(f"prove: no operator matches {options.operators}")
    totals, verdicts, failed = Counter(), {}, False
    counted = ["with calls just inside", "with calls just outside"] * options.all
    counted += ["rules", "independent", "follows", "undecided", "satisfiable", "not shown satisfiable", "forms with sizes",
               "forms with undecided sizes", "models", "calls compared", "valid calls compared"]
    with multiprocessing.Pool(options.jobs) as pool:
        for found in pool.imap(functools.partial(examine, options=options), names):
            totals += found.counts
            verdicts |= found.rules
            print(*found.lines, *(found.table if options.all else []), sep="\n", end="\n" * bool(found.lines or options.all))
            failed = failed or bool(found.lines)
    listed = expected()
    for rule, verdict in verdicts.items():
        if listed.get(rule) != verdict:
            failed = True
            print(f"{rule}: {verdict}")
    if options.operators == "*" and parts == 1:
        for rule in sorted(set(listed) - set(verdicts)):
            failed = True
            print(f"{rule}: this rule is no longer {listed[rule]}; remove its line from {KNOWN.name}")
    print(json.dumps({"entries": len(names)} | {name: totals[name] for name in counted}))
    sys.exit(failed)


if __name__ == "__main__":
    try:
        main()
    except meaning.SpecError as error:
        sys.exit(f"prove: {error}")
