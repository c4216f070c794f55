"""Calls near a model: one or two arguments are changed."""
from dataclasses import replace

from dtypes import ALL, BOOL, NUMBERS, OPAQUE, UNSIGNED
from values import DOUBLE, FINITE, INT, Scalar, Tensor
import values

COMMON_DTYPES = [NUMBERS[n] for n in ("float32", "float32", "int64", "int64", "int32", "uint8", "int8", "bool", "float16", "bfloat16", "float64", "complex64")]
INTEGERS = (0, 1, -1, 2, 3, 4, 5, 6, -2, -3, 7, 26, 127, 128, 255, 256, -128, -129, 2**31 - 1, 2**31, -2**31, -2**31 - 1)
DOUBLES = (0, 1, 2, 3, -1, -2, 4, 5, 254, 256, 510, 2 * 65504, 2 * 65505, 2**32, 2**64, -2**64, 2**65, 2**131, -2**200)  # twice


class Sampler:
    def __init__(self, maker, random):
        self.arguments = {a.name: a for a in maker.meaning.arguments}
        self.random, self.words, self.read = random, maker.literals, maker.read

    def near(self, call):
        changed = dict(call)
        for name in self.random.sample(sorted(changed), min(len(changed), self.random.choice((1, 1, 2)))):
            argument = self.arguments[name]
            changed[name] = self.changed(changed[name], argument.type, argument)
        return changed

    def changed(self, value, kind, argument):
        r = self.random
        if argument.out:
            return None if r.random() < 0.5 else Tensor(self.dtype(), [], ())
        if kind.endswith("?") and r.random() < 0.2:
            return self.drawn(kind.removesuffix("?")) if value is None else None
        if value is None:
            return None
        kind = kind.removesuffix("?")
        if isinstance(value, Tensor):
            return self.filled(value) if argument.name in self.read and r.random() < 0.35 else self.tensor(value)
        if isinstance(value, list):
            if argument.name in self.read and value and r.random() < 0.35:
                return [self.filled(t) if t is not None and r.random() < 0.7 else t for t in value]
            return self.listed(value, kind.removesuffix("[]"))
        if kind == "int" and r.random() < 0.6:
            return max(min(value + r.choice((-2, -1, 1, 2)), 2**63 - 1), -2**63)
        return self.drawn(kind)

    def listed(self, entries, kind):
        r, entries = self.random, list(entries)
        fixed = kind == "bool"
        what = r.random()
        if entries and (what < 0.6 or fixed):
            k = r.randrange(len(entries))
            if kind == "Tensor?" and r.random() < 0.2:
                entries[k] = self.drawn("Tensor") if entries[k] is None else None
            elif isinstance(entries[k], Tensor):
                entries[k] = self.tensor(entries[k])
            elif kind == "int" and r.random() < 0.6:
                entries[k] += r.choice((-1, 1))
            else:
                entries[k] = self.drawn(kind.removesuffix("?"))
        elif entries and what < 0.8:
            del entries[r.randrange(len(entries))]
        else:
            entries.insert(r.randrange(len(entries) + 1), r.choice(entries) if entries and r.random() < 0.7 else self.drawn(kind.removesuffix("?")))
        return entries[:6]

    def drawn(self, kind):
        r = self.random
        if kind == "Tensor":
            return self.tensor(Tensor(self.dtype(), [r.choice((1, 2, 3)) for _ in range(r.choice((0, 1, 1, 2, 2, 3, 4)))], ()), fresh=True)
        if kind.endswith("[]"):
            return [self.drawn(kind.removesuffix("[]").removesuffix("?")) for _ in range(r.randrange(4))]
        if kind == "bool":
            return r.random() < 0.5
        if kind in ("int", "MemoryFormat"):
            return r.choice(INTEGERS[:9]) if r.random() < 0.7 else r.choice(INTEGERS)
        if kind == "ScalarType":
            return self.dtype() if r.random() < 0.9 else r.choice((-1, 18, 30))
        if kind == "str":
            return r.choice([*self.words, "other"])
        scalar_kind = DOUBLE if kind == "float" else r.randrange(3)
        if scalar_kind == values.BOOL:
            return Scalar(scalar_kind, r.choice((0, 2)))
        if scalar_kind == INT:
            return Scalar(INT, 2 * r.choice((*INTEGERS, -2**63)))
        special = r.choice((FINITE,) * 5 + (1, 2, 3))
        return Scalar(DOUBLE, r.choice(DOUBLES) if special == FINITE else 0, special)

    def dtype(self):
        return self.random.choice(COMMON_DTYPES) if self.random.random() < 0.8 else self.random.choice(sorted(ALL))

    def filled(self, tensor):
        """The tensor with other elements."""
        first, rest = (element(tensor.dtype, self.random.choice((0, 0, 1, 1, 2, 3, -1, -2, -3))) for _ in range(2))
        return replace(tensor, first=first, rest=rest)

    def tensor(self, tensor, fresh=False):
        r, dtype, sizes, first, rest = self.random, tensor.dtype, list(tensor.sizes), tensor.first, tensor.rest
        order, what = tensor.order, r.random()
        if fresh:
            order = range(len(sizes))
        elif what < 0.25:
            dtype = self.dtype()
        elif what < 0.55 and sizes:
            k = r.randrange(len(sizes))
            sizes[k] = r.choice((0, 1, 1, 2, 3, 4, 5, max(sizes[k] - 1, 0), sizes[k] + 1))
        elif what < 0.65 and len(sizes) < 6:
            sizes.insert(r.randrange(len(sizes) + 1), r.choice((0, 1, 1, 2, 3)))
            order = range(len(sizes))
        elif what < 0.75 and sizes:
            del sizes[r.randrange(len(sizes))]
            order = range(len(sizes))
        elif what < 0.9 and len(sizes) > 1:
            order = r.sample(range(len(sizes)), len(sizes)) if r.random() < 0.6 else (0, *range(2, len(sizes)), 1)
        else:
            return self.filled(tensor)
        return replace(tensor, dtype=dtype, sizes=sizes, order=tuple(order), first=element(dtype, first), rest=element(dtype, rest), marks=None)


def element(dtype, n):
    """The nearest number that the dtype has."""
    return 0 if dtype in OPAQUE else min(max(n, 0), 1) if dtype == BOOL else max(n, 0) if dtype in UNSIGNED else n
