"""The forms that an argument can have. A form fixes some facts (None or not, the rank, the number of entries, the dim order)
and leaves the rest open. A question is asked about one form of each argument, the smallest first."""
import re
from dataclasses import dataclass

import z3

from dtypes import BITS, BOOL, OPAQUE, UNSIGNED, member
from formulas import all_of, any_of, no
from indexing import MASKS
from layouts import channels_last, counting
from promotion import is_dtype
from values import DOUBLE, FINITE, INT, Scalar, Tensor, items
import values

RANKS = range(6)
GREAT = (2**65, 2**131, 2**200)  # twice a double beyond the range of int64, of float16 and of float32
SCALAR_END = 2**53  # below this bound twice a double is any integer

# The words that look at elements, and at dim orders.
OF_DATA = {"indices_within", "places_within", "no_zero", "bags_cover", "nonzero", "none_negative", "sum_is", "source_suffices", "selects_nothing", "names_no_row"}
OF_ORDERS = {"same_order", "is_contiguous", "reinterprets", "has_pairs", "has_memory_format", "not_channels_last", "keeps_innermost", "bag_of_each"}


@dataclass(frozen=True)
class Form:
    cost: int
    value: object
    domain: tuple = ()  # conditions that every value of this form keeps


class Maker:
    """Makes the forms of an entry's arguments."""

    def __init__(self, meaning):
        self.meaning = meaning
        words = [w for r in meaning.entry.rules for w in (r.word, r.unless) if w]
        self.read = {a for w in words if w.name in OF_DATA for a in w.arguments}
        self.laid = {a for w in words if w.name in OF_ORDERS for a in w.arguments}
        self.literals = [a.strip('"') for w in words for a in w.arguments if a.startswith('"')]
        self.dims = {a for w in words if w.name in ("is_dim", "are_dims") for a in w.arguments}
        self.looked_at = frozenset().union(*(s.names for s in meaning.stated))

    def of(self, argument):
        if argument.out:
            mentioned = any(argument.name in s.names for s in self.meaning.steps if s.is_rule) or not self.meaning.is_number and argument.name in self.meaning.common_names
            return [Form(0, None), Form(1, *self.tensor(argument.name, 0, ()))] if mentioned else [Form(0, None)]
        kind, optional = argument.type.removesuffix("?"), argument.optional
        if argument.name not in self.looked_at and optional:
            return [Form(0, None)]
        given = sorted(self.given(argument.name, kind, argument.length), key=lambda form: form.cost)
        return ([Form(0, None)] if optional else []) + [Form(f.cost + optional, f.value, f.domain) for f in given]

    def given(self, name, kind, length):
        if kind == "Tensor":
            for rank in RANKS:
                for extra, order in enumerate(self.orders(name, rank)):
                    yield Form(rank + 2 * extra, *self.tensor(name, rank, order))
        elif kind == "Tensor[]":
            for ranks in ((), (0,), (1,), (2,), (1, 1), (2, 2), (1, 2), (2, 1), (0, 0), (3, 3), (2, 2, 2)):
                yield self.listed(ranks, [self.tensor(f"{name}.{k}", rank, counting(rank)) for k, rank in enumerate(ranks)])
        elif kind == "Tensor?[]":
            for elements in ((), (None,), (0,), (1,), (2,), ("m0",), ("m1",), ("m2",), (1, 1), (None, 1), (1, None), (1, 2), ("m1", 1), ("m1", "m1"), (None, "m1"), (1, None, 1)):
                yield self.listed([1 if e is None else 1 + int(str(e).strip("m")) for e in elements], [self.index(f"{name}.{k}", e) for k, e in enumerate(elements)])
        elif kind.endswith("[]"):
            lengths = [length] if kind == "bool[]" else range(7)
            for n in lengths:
                entries = [self.number(f"{name}.{k}", kind.removesuffix("[]")) for k in range(n)]
                yield Form(n if kind != "bool[]" else 0, [v for v, _ in entries], tuple(d for _, domain in entries for d in domain))
        elif kind == "str":
            yield from (Form(k, word) for k, word in enumerate(dict.fromkeys([*self.literals, "other"])))
        else:
            yield Form(0, *self.number(name, kind))

    @staticmethod
    def listed(costs, made):
        return Form(sum(costs) + len(costs), [value for value, _ in made], tuple(d for _, domain in made for d in domain))

    def orders(self, name, rank):
        orders = [counting(rank)]
        if name in self.laid and rank > 1:
            orders += [counting(rank)[::-1]] + ([channels_last(rank)] if rank > 2 else [])
        return orders

    def tensor(self, name, rank, order):
        dtype, sizes = z3.BitVec(f"{name}.dtype", BITS), [z3.Int(f"{name}.size{d}") for d in range(rank)]
        is_read = name.partition(".")[0] in self.read
        first, rest = (z3.Int(f"{name}.{part}") if is_read else 0 for part in ("first", "rest"))
        within = [is_dtype(dtype), *(n >= 0 for n in sizes)]
        for value in (first, rest) if is_read else ():
            within += [value >= -100, value <= 100, any_of(no(member(dtype, UNSIGNED | {BOOL})), value >= 0), any_of(dtype != BOOL, value <= 1), any_of(no(member(dtype, OPAQUE)), value == 0)]
        return Tensor(dtype, sizes, order, first, rest), tuple(within)

    def index(self, name, element):
        if element is None:
            return None, ()
        marks = str(element).startswith("m")
        rank = int(str(element).strip("m"))
        tensor, domain = self.tensor(name, rank, counting(rank))
        masks = member(tensor.dtype, MASKS)
        return Tensor(tensor.dtype, tensor.sizes, tensor.order, tensor.first, tensor.rest, marks), (*domain, masks if marks else no(masks))

    @staticmethod
    def number(name, kind):
        if kind == "bool":
            return z3.Bool(name), ()
        if kind == "ScalarType":
            return z3.BitVec(name, BITS), ()
        if kind in ("int", "MemoryFormat"):
            n = z3.Int(name)
            return n, (n >= -2**63, n < 2**63)
        scalar = Scalar(z3.BitVec(f"{name}.kind", 2) if kind == "Scalar" else DOUBLE, z3.Int(f"{name}.twice"), z3.BitVec(f"{name}.special", 2))
        twice, whole = scalar.twice, scalar.twice % 2 == 0
        double = all_of(scalar.kind == DOUBLE, any_of(all_of(twice > -SCALAR_END, twice < SCALAR_END), *(twice == s * n for n in GREAT for s in (1, -1))))
        integer = all_of(scalar.kind == INT, scalar.special == FINITE, whole, any_of(all_of(twice > -SCALAR_END, twice < SCALAR_END), twice == -2**64))
        truth = all_of(scalar.kind == values.BOOL, scalar.special == FINITE, any_of(twice == 0, twice == 2))
        return scalar, (any_of(double, integer, truth),)


def bounds(value, size, integer):
    """The conditions that open sizes of a value are at most `size`, and open integers within -`integer` and `integer`."""
    for n in items(value):
        if isinstance(n, z3.ArithRef):
            name = str(n)
            if re.search(r"\.size\d$", name):
                yield n <= size
            elif not name.endswith(".twice"):
                yield z3.And(n >= -integer, n <= integer)
