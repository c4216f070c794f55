"""The facts of spec/dtypes.yaml about a dtype, which is its number. An open dtype is a vector of bits, since the solver need
not count with it."""
import math
import pathlib
import sys
from collections import Counter

import z3

from formulas import all_of, any_of, choose, known, no

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools" / "specgen"))
import dtype_facts  # noqa: E402

FACTS = dtype_facts.DTYPES
NUMBERS = {name: facts["number"] for name, facts in FACTS.items()}
NAMES = {number: name for name, number in NUMBERS.items()}
BY_NUMBER = {facts["number"]: facts for facts in FACTS.values()}
BITS = 5
KINDS = ("boolean", "integer", "floating", "complex", "opaque")
ALL = frozenset(BY_NUMBER)


def numbers(*names):
    return frozenset(NUMBERS[n] for n in names)


def of_kind(kind):
    return frozenset(d for d, facts in BY_NUMBER.items() if facts["kind"] == kind)


WIDE_UNSIGNED = numbers(*dtype_facts.SETS["wide_unsigned"])
UNSIGNED = WIDE_UNSIGNED | numbers("uint8")
HALF = numbers(*dtype_facts.SETS["half"])
INTEGER = of_kind("integer")  # wide unsigned ones, too
FLOATING, COMPLEX, OPAQUE = of_kind("floating"), of_kind("complex"), of_kind("opaque")
BOOL = NUMBERS["bool"]

# The sets that rules name.
SETS = {name: numbers(*dtypes) for name, dtypes in dtype_facts.SETS.items()} | {name: numbers(name) for name in NUMBERS}


def member(dtype, dtypes):
    if known(dtype):
        return dtype in dtypes
    if len(dtypes) > len(ALL) // 2:
        return no(any_of(*(dtype == d for d in sorted(ALL - dtypes))))
    return any_of(*(dtype == d for d in sorted(dtypes)))


def choose_dtype(condition, then, otherwise):
    if known(condition):
        return then if condition else otherwise
    return choose(condition, *(z3.BitVecVal(d, BITS) if known(d) else d for d in (then, otherwise)))


def mapped_dtype(dtype, dtypes):
    """dtypes[dtype], which is a dtype."""
    if known(dtype):
        return dtypes[dtype]
    found = dtype
    for value in sorted({v for d, v in dtypes.items() if v != d}):
        found = choose_dtype(member(dtype, {d for d, v in dtypes.items() if v == value}), value, found)
    return found


def fact(dtype, values):
    """values[dtype], which is a number."""
    if known(dtype):
        return values[dtype]
    (found, _), *others = Counter(values.values()).most_common()
    for value, _ in others:
        found = choose(member(dtype, {d for d, v in values.items() if v == value}), value, found)
    return found


LEVELS = {d: KINDS.index(facts["kind"]) for d, facts in BY_NUMBER.items()}
BYTES = {d: facts["bytes"] for d, facts in BY_NUMBER.items()}
PARTS = {d: NUMBERS[facts.get("part", NAMES[d])] for d, facts in BY_NUMBER.items()}
PRECISIONS = {d: BY_NUMBER[PARTS[d]].get("precision", 0) for d in BY_NUMBER}
COMPUTE = {d: d for d in BY_NUMBER} | {d: NUMBERS["float32"] for d in HALF} | {NUMBERS["complex32"]: NUMBERS["complex64"]}
COMPLEX_OF = {d: NUMBERS["complex64"] for d in BY_NUMBER} | {NUMBERS["float16"]: NUMBERS["complex32"], NUMBERS["float64"]: NUMBERS["complex128"]}


def of_higher_kind(a, b):
    """Whether a's kind is above b's: bool < integer < floating < complex."""
    kinds = [{d for d, n in LEVELS.items() if n == k} for k in range(len(KINDS))]
    return any_of(*(all_of(member(a, kinds[k]), member(b, set().union(*kinds[:k]))) for k in range(1, len(KINDS))))


def is_floating(dtype):
    return member(dtype, FLOATING)


def is_complex(dtype):
    return member(dtype, COMPLEX)


def least_integer(d):
    return 0 if d in UNSIGNED else -2 ** (8 * BYTES[d] - 1)


def largest_integer(d):
    """The largest integer of an integer dtype, rounded to a double."""
    return int(float(2 ** (8 * BYTES[d] - (d not in UNSIGNED)) - 1))


def largest(d):
    """The largest finite number of a floating or complex dtype."""
    facts = BY_NUMBER[PARTS[d]]
    return int(math.ldexp(2 - math.ldexp(1, 1 - facts["precision"]), 1 - facts["least_exponent"]))


def integer_limits(dtype, holds):
    """Whether the dtype is an integer dtype d for which holds(d)."""
    return any_of(*(all_of(dtype == d, holds(d)) for d in sorted(INTEGER)))
