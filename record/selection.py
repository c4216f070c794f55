"""Selects the answered calls that a file keeps."""

import random
import re
from collections import Counter
from itertools import zip_longest

from call import tensors_of
from tensors import Stored

# One refusal for every three answers, until the answers run out.
ANSWERS_PER_REFUSAL = 3


def ordered(pairs, seed):
    """`pairs` of (call, answer) as (index, call, answer), the most informative first; every fourth is a refusal."""
    numbered = [(i, call, answer) for i, (call, answer) in enumerate(pairs)]
    answers = _by_coverage([n for n in numbered if n[2].refusal is None], seed)
    refusals = _by_coverage([n for n in numbered if n[2].refusal is not None], seed)
    if not answers:
        return refusals
    rows = zip_longest(_chunks(answers, ANSWERS_PER_REFUSAL), refusals[: len(answers) // ANSWERS_PER_REFUSAL + 1])
    return [n for chunk, refusal in rows for n in (*(chunk or ()), *((refusal,) if refusal else ()))]


def _chunks(items, size):
    return [items[i : i + size] for i in range(0, len(items), size)]


def _by_coverage(numbered, seed):
    """Traps first, then the other origins in turn. Within an origin, the rarest calls come first."""
    traps = [n for n in numbered if n[1].origin.startswith("trap")]
    origins = sorted({n[1].origin for n in numbered if not n[1].origin.startswith("trap")})
    queues = [_rarest_first([n for n in numbered if n[1].origin == o], seed) for o in origins]
    return traps + [n for row in zip_longest(*queues) for n in row if n is not None]


def _rarest_first(numbered, seed):
    """A call with a trait not seen before comes before one whose traits have all been seen once, and so on."""
    shuffled = numbered[:]
    random.Random(seed).shuffle(shuffled)
    shuffled.sort(key=lambda n: _bytes(n[1]) // 1024)
    seen = Counter()
    ranked = []
    for n in shuffled:
        traits = _traits(n[1], n[2])
        ranked.append((min(seen[t] for t in traits), len(ranked), n))
        seen.update(traits)
    return [r[2] for r in sorted(ranked, key=lambda r: r[:2])]


def _traits(call, answer):
    """The features of a call besides its values: dtypes, ranks, dim_orders, the form of the other arguments."""
    tensors = [t.layout for t in tensors_of(call.arguments)]
    traits = {
        "dtypes": tuple(str(t.dtype) for t in tensors) + tuple(str(o.dtype) for o in answer.outs),
        "ranks": tuple((len(t.sizes), 0 in t.sizes, 1 in t.sizes) for t in tensors),
        "dim orders": tuple(t.dim_order for t in tensors) + tuple(o.dim_order for o in answer.outs),
        "form": tuple(_form(a) for a in call.arguments),
    }
    if answer.refusal:
        traits = {"refusal": re.sub(r"-?\d+(\.\d+)?", "#", answer.refusal), "dtypes": traits["dtypes"]}
    return list(traits.items())


def _form(argument):
    if isinstance(argument, tuple):
        return tuple("tensor" if isinstance(v, Stored) else repr(v) for v in argument)
    return "tensor" if isinstance(argument, Stored) else repr(argument)


def _bytes(call):
    return sum(len(t.data or b"") for t in tensors_of(call.arguments))
