"""Arguments of a call, known or open. Every formula is about integers: a Scalar is held as twice its number. All elements of a
tensor but the first are equal."""
from dataclasses import dataclass, fields, is_dataclass, replace

from formulas import all_of, any_of, choose, known, no, pick, product

BOOL, INT, DOUBLE = range(3)  # kinds of a Scalar
FINITE, NAN, INFINITE, MINUS_INFINITE = range(4)
BEYOND = 2**2000  # twice any double


@dataclass(frozen=True, eq=False)
class Tensor:
    dtype: object
    sizes: list
    order: tuple  # dim order, always known
    first: object = 0
    rest: object = 0
    marks: object = None  # for an open dtype in a list of indices: whether the tensor is a mask

    @property
    def rank(self):
        return len(self.sizes)

    @property
    def count(self):
        return product(self.sizes)

    @property
    def empty(self):
        return any_of(*(n == 0 for n in self.sizes))

    def along(self, dim):
        """The size along a dimension; a scalar tensor has 1."""
        return pick(self.sizes, dim) if self.sizes else 1

    def each(self, holds):
        """Whether a condition holds for each element."""
        more_than_one = all_of(no(self.empty), any_of(*(n != 1 for n in self.sizes)))
        return all_of(any_of(self.empty, holds(self.first)), any_of(no(more_than_one), holds(self.rest)))

    def set(self):
        """How many elements are not zero."""
        return choose(self.empty, 0, choose(self.first != 0, 1, 0) + choose(self.rest != 0, self.count - 1, 0))

    def sum(self):
        return choose(self.empty, 0, self.first + (self.count - 1) * self.rest)


@dataclass(frozen=True, eq=False)
class Scalar:
    kind: object
    twice: object  # twice the number where it is finite
    special: object = FINITE

    @property
    def floating(self):
        return self.kind == DOUBLE

    @property
    def nan(self):
        return self.special == NAN

    @property
    def finite(self):
        return self.special == FINITE

    @property
    def order(self):
        """Twice the number, with infinities beyond all finite numbers. NaN has no order."""
        return choose(self.finite, self.twice, choose(self.special == INFINITE, BEYOND, -BEYOND))

    def compares(self, holds):
        """holds(twice the number); false for NaN."""
        return all_of(no(self.nan), holds(self.order))

    def equals(self, n):
        return self.compares(lambda twice: twice == 2 * n)

    def truncated(self):
        """The number truncated to int64, as a C++ conversion on x86 does it."""
        whole = choose(self.twice >= 0, half(self.twice), -half(-self.twice))
        inside = all_of(self.finite, self.twice >= -2**64, self.twice < 2**64)
        return choose(inside, whole, -2**63)


def half(n):
    return n // 2 if known(n) else n / 2


def number(n):
    """An integer of the spec as a Scalar."""
    return Scalar(INT, 2 * n)


def wrap(dim, rank):
    """The dimension counted from 0."""
    return choose(dim < 0, dim + max(rank, 1), dim)


def tensors_in(value):
    return [value] if isinstance(value, Tensor) else [t for t in value if isinstance(t, Tensor)] if isinstance(value, list) else []


def items(value):
    """The numbers and conditions in a value."""
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from items(v)
    elif is_dataclass(value):
        for f in fields(value):
            yield from items(getattr(value, f.name))
    elif value is not None:
        yield value


def mapped(value, function):
    """The value with function(number) in place of each open number."""
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(v, function) for v in value)
    if is_dataclass(value):
        return replace(value, **{f.name: mapped(getattr(value, f.name), function) for f in fields(value)})
    return value if known(value) else function(value)
