"""Questions to the solver about an entry: is there a call that keeps every rule; for each rule, a call that breaks it and keeps
the others; a call that keeps every rule and has a result whose size is negative or beyond int64."""
import itertools
from dataclasses import dataclass

import z3

from formulas import any_of, in_int64, known, no
from forms import Maker, bounds
from values import mapped, tensors_in

# Upper bounds of (sizes, integers). A model within small bounds is looked for first; where there is none, the largest bounds
# settle whether there is any.
SMALL, SMALLER, LARGE, LARGEST = (4, 300), (2, 8), (64, 2**31), (2**31, 2**63)
WHOLE = (2**63 - 1, 2**63)  # the bounds of int64


@dataclass
class Verdict:
    word: str  # independent, follows, undecided
    call: dict | None = None


class Question:
    def __init__(self, meaning, effort, most_forms=400):
        """effort: steps of the solver for one question; most_forms: forms that are tried before a rule is undecided."""
        self.meaning, self.effort, self.most_forms = meaning, effort, most_forms
        self.maker = maker = Maker(meaning)
        self.names = [a.name for a in meaning.arguments]
        self.forms = {a.name: maker.of(a) for a in meaning.arguments}
        self.steps = meaning.stated
        looked_at = frozenset().union(*(s.names for s in self.steps))
        self.forms = {n: forms if n in looked_at else forms[:1] for n, forms in self.forms.items()}
        self.asked = {}
        self.good = []  # combinations of forms that had a model

    # -- forms --------------------------------------------------------------------------------------------------------------

    def formula(self, step, chosen):
        """The formula of a step for the chosen forms, {name: number of the form}."""
        key = (step.id, step.text, *(chosen[n] for n in self.names if n in step.names))
        if key not in self.asked:
            self.asked[key] = step.condition({n: self.forms[n][k].value for n, k in chosen.items()} | self.meaning.constants)
        return self.asked[key]

    def possible(self, step, chosen, broken):
        """Whether the forms alone leave open that there is a model."""
        holds = self.formula(step, chosen)
        if step is broken:
            return holds is not True and holds is not None
        if holds is None and broken is not None:
            return self.steps.index(step) > self.steps.index(broken)
        return holds is not False and holds is not None

    def choices(self, broken):
        """Combinations of forms of all arguments, the cheapest first, without those that settle the question."""
        costs = [[f.cost for f in self.forms[n]] for n in self.names]
        last = {s.id + s.text: max((self.names.index(n) for n in s.names), default=-1) for s in self.steps}
        ready = [[s for s in self.steps if last[s.id + s.text] == i] for i in range(len(self.names))]

        def extend(chosen, i, left):
            if i == len(self.names):
                if left == 0:
                    yield dict(chosen)
                return
            for k, cost in enumerate(costs[i]):
                if cost > left or left - cost > most[i + 1]:
                    continue
                chosen[self.names[i]] = k
                if all(self.possible(s, chosen, broken) for s in ready[i]):
                    yield from extend(chosen, i + 1, left - cost)
                del chosen[self.names[i]]

        most = [*itertools.accumulate(reversed([max(c) for c in costs]))][::-1] + [0]
        if not all(self.possible(s, {}, broken) for s in self.steps if not s.names):
            return
        for whole in range(most[0] + 1):
            yield from extend({}, 0, whole)

    # -- the solver -----------------------------------------------------------------------------------------------------------

    def model(self, chosen, conditions):
        """The smallest known call of these forms that is found; None where there is none; 'unknown' where that is undecided."""
        small = self.within(chosen, conditions, SMALL)
        if isinstance(small, dict):
            smaller = self.within(chosen, conditions, SMALLER)
            return smaller if isinstance(smaller, dict) else small
        largest = self.within(chosen, conditions, LARGEST)
        if not isinstance(largest, dict):
            return largest
        large = self.within(chosen, conditions, LARGE)
        return large if isinstance(large, dict) else largest

    def within(self, chosen, conditions, bound):
        values = {n: self.forms[n][k].value for n, k in chosen.items()}
        solver = z3.SimpleSolver()  # without tactics, which take longer than the questions
        solver.set("rlimit", self.effort)
        solver.add(*(c for c in conditions if c is not True), *(c for n, k in chosen.items() for c in self.forms[n][k].domain if c is not True),
                   *(b for v in values.values() for b in bounds(v, *bound)))
        answer = solver.check()
        if answer == z3.sat:
            model = solver.model()
            return {n: mapped(v, lambda n: value_of(model, n)) for n, v in values.items()}
        return "unknown" if answer == z3.unknown else None

    def conditions(self, chosen, broken=None):
        held = [self.formula(s, chosen) for s in self.steps if s is not broken]
        stated = [h for h in held if h is not None]
        if any(h is False for h in stated):
            return None
        return stated + ([no(self.formula(broken, chosen))] if broken else [])

    def find(self, broken=None):
        """A call that breaks the rule `broken` and keeps all other rules."""
        undecided, tried = False, []
        useful = [c for c in self.good if all(self.possible(s, c, broken) for s in self.steps)][:3]
        for chosen in itertools.chain(useful, self.choices(broken)):
            if chosen in tried:
                continue
            conditions = self.conditions(chosen, broken)
            if conditions is None:
                continue
            call = self.model(chosen, conditions)
            if isinstance(call, dict):
                if chosen not in self.good:
                    self.good.append(dict(chosen))
                return Verdict("independent", call)
            undecided = undecided or call == "unknown"
            tried.append(dict(chosen))
            if len(tried) == self.most_forms:
                return Verdict("undecided")
        return Verdict("undecided" if undecided else "follows")

    def varied(self, most_forms):
        """More calls that keep every rule: first with no size of 0, then with sizes of 2 and more."""
        for chosen in itertools.islice(self.choices(None), most_forms):
            tensors = [t for n, k in chosen.items() for t in tensors_in(self.forms[n][k].value)]
            for least in (1, 2):
                wanted = [n >= least for t in tensors for n in t.sizes if not known(n)] + [t.first != 0 for t in tensors if not known(t.first)]
                call = self.within(chosen, [*self.conditions(chosen), *wanted], SMALL)
                if isinstance(call, dict):
                    yield call

    def results_overflow(self, most_forms):
        """(a call that keeps every rule and has a result whose size is negative or beyond int64; the number of forms for which there
        is none; the number of forms for which that is undecided)"""
        decided = undecided = 0
        for chosen in itertools.islice(self.choices(None), most_forms):
            conditions = self.conditions(chosen)
            values = {n: self.forms[n][k].value for n, k in chosen.items()} | self.meaning.constants
            sizes, unguarded = self.meaning.numbers_of_results(values)
            wrong = any_of(*(n < 0 for n in sizes), *(no(in_int64(n)) for n in sizes + unguarded))
            if conditions is None:
                continue
            call = None
            if wrong is not False and self.within(chosen, [self.formula(self.steps[-1], chosen), wrong], WHOLE) is not None:  # and the rules do not refuse it
                call = self.within(chosen, [*conditions, wrong], WHOLE)
            if isinstance(call, dict):
                return call, decided, undecided
            decided, undecided = decided + (call is None), undecided + (call == "unknown")
        return None, decided, undecided


def value_of(model, expression):
    value = model.eval(expression, model_completion=True)
    return z3.is_true(value) if z3.is_bool(value) else value.as_long()
