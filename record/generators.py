"""Calls made from the plans. Arguments, dtypes, layouts, out dtypes and special values are varied one at a time."""

import math
import random as choice
from itertools import islice, permutations, product

import torch

from call import make_call
from operators import type_name
from plans import FEW_SCALARS, plans_of, shape_plans_of
from shapes import Derived, Shape
from tensors import CHANNELS_LAST, DTYPE_NUMBERS, DTYPES, dim_order_of, store
from values import grid_values, random_special, special

RANDOM_COMBINATIONS = 250
# Integer division by zero and negative integer powers.
REFUSES_BY_VALUE = {"div", "floor_divide", "fmod", "remainder", "pow"}
FRACTIONS = [d for d in DTYPE_NUMBERS if d.is_floating_point or d.is_complex]
INDEX_DTYPES = [torch.int32, torch.int64, torch.uint8, torch.int8, torch.int16, torch.bool, torch.float32]
OUT_DTYPE_INPUTS = [
    torch.float32,
    torch.int64,
    torch.bool,
    torch.float16,
    torch.int32,
    torch.uint8,
    torch.float64,
    torch.bfloat16,
]


class Generators:
    """All generators of one operator. Their random choices depend only on the operator, the seed and the dtypes. Where
    the dtype does not matter, all data have the first of `dtypes`."""

    def __init__(self, operator, seed, dtypes=DTYPES):
        self.operator = operator
        self.all_dtypes = dtypes
        self.plain = dtypes[0]
        self.plans = plans_of(operator)
        self.values = torch.Generator().manual_seed(seed)
        self.choice = choice.Random(seed)

    def calls(self):
        for generate in (self.arguments, self.combinations, self.dtypes, self.layouts, self.special):
            for plan in self.plans:
                yield from generate(plan)
        for generate in (self.dtype_pairs, self.scalars, self.out_dtypes):
            yield from generate(self.plans[0])
        for generate in (self.arguments, self.layouts):
            for plan in shape_plans_of(self.operator):
                yield from generate(plan)

    # -- from candidates to a call ------------------------------------------------------------------------------

    def _call(self, chosen, origin, dtypes=None, orders=None, fill=None, **outs):
        """`dtypes`, `orders`: by argument name, for its data tensors; `fill(sizes, dtype)` replaces random values."""
        keywords = {}
        for name, candidate in chosen.items():
            resolved = candidate(chosen) if callable(candidate) else candidate
            keywords[name] = self._resolve(resolved, (dtypes or {}).get(name, self.plain), (orders or {}).get(name), fill)
        return make_call(self.operator, keywords, origin, **outs)

    def _resolve(self, candidate, dtype, order, fill):
        if isinstance(candidate, Shape):
            return self._tensor(candidate, dtype, order, fill)
        if isinstance(candidate, list) and any(isinstance(c, Shape) for c in candidate):
            cycle = dtype if isinstance(dtype, tuple) else (dtype,)
            return [self._resolve(c, cycle[i % len(cycle)], order, fill) for i, c in enumerate(candidate)]
        return candidate

    def _tensor(self, shape, dtype, order, fill):
        dtype = dtype[0] if isinstance(dtype, tuple) else dtype
        replaced = fill is not None and shape.dtype is None
        tensor = fill(shape.sizes, dtype) if replaced else shape.make(dtype, self.values)
        fitting = order is not None and len(order) == tensor.dim()
        return store(tensor, order if fitting else dim_order_of(tensor))

    def _share(self):
        """Random calls, each from one of several plans."""
        return max(RANDOM_COMBINATIONS // len(self.plans), 60)

    def _base(self, plan):
        return {name: candidates[0] for name, candidates in plan.items()}

    def _data(self, plan):
        """Names of the arguments whose dtype a plan leaves open."""
        return [n for n, candidates in plan.items() if any(_is_data(c) for c in candidates)]

    # -- the generators -----------------------------------------------------------------------------------------

    def arguments(self, plan):
        """The base, and each argument at each of its candidates while all other arguments keep their base."""
        yield self._call(self._base(plan), "arguments")
        for name, candidates in plan.items():
            for candidate in candidates[1:]:
                yield self._call(self._base(plan) | {name: candidate}, "arguments")
        for name in self._data(plan):
            for candidate in (c for c in plan[name] if _is_data(c)):
                yield from self._dims_of(plan, name, candidate)

    def _dims_of(self, plan, name, candidate):
        """Every dim of every shape, with the operator's flags."""
        if name != "self" or "dim" not in plan:
            return
        flags = [n for n in ("keepdim", "half_to_float") if n in plan]
        for dim in plan["dim"]:
            base = self._base(plan) | {name: candidate, "dim": dim}
            yield self._call(base | {n: self.choice.choice(plan[n]) for n in flags}, "arguments")

    def combinations(self, plan):
        """Random combinations; an argument stays at its base every other time."""
        size = math.prod(len(c) for c in plan.values())
        for _ in range(min(self._share(), size)):
            chosen = {n: c[0] if self.choice.random() < 0.5 else self.choice.choice(c) for n, c in plan.items()}
            dtype = self.plain if self.choice.random() < 0.5 else self.choice.choice(self.all_dtypes[:10])
            yield self._call(chosen, "combinations", dict.fromkeys(plan, dtype))

    def dtypes(self, plan):
        """Every dtype of the data, of the indices and, if the operator chooses its result's dtype, of the out."""
        data, base = self._data(plan), self._base(plan)
        for dtype in self.all_dtypes if data else ():
            yield self._call(base, "dtypes", dict.fromkeys(data, dtype))
            for name in plan:
                for candidate in islice(plan[name], 1, 4):
                    yield self._call(base | {name: candidate}, "dtypes", dict.fromkeys(data, dtype))
        yield from self._index_dtypes(plan, base)
        if self.operator.makes_dtype:
            yield from self._made_dtypes(plan)

    def dtype_pairs(self, plan):
        """Every pair of dtypes, for two tensors with dimensions and for one with and one without."""
        data, base = self._data(plan), self._base(plan)
        lists = [n for n in data if isinstance(base[n], list)]
        for a, b in product(self.all_dtypes, self.all_dtypes):
            if lists:
                yield self._call(base, "dtypes", {lists[0]: (a, b)})
            for name in data[1:]:
                for candidate in _ranks(plan[name]):
                    pair = dict.fromkeys(data, a) | {name: b}
                    yield self._call(base | {name: candidate, data[0]: _small(plan[data[0]])}, "dtypes", pair)
            for name in data[1:2]:
                zero_dim = [c for c in plan[data[0]] if _is_data(c) and c.sizes == ()]
                for candidate in zero_dim:
                    pair = dict.fromkeys(data, b) | {data[0]: a}
                    yield self._call(base | {data[0]: candidate}, "dtypes", pair)

    def scalars(self, plan):
        """Every dtype with every scalar and every dtype argument."""
        data, base = self._data(plan), self._base(plan)
        names = [
            a.name for a in self.operator.inputs if type_name(a).startswith("Scalar") and "Type" not in type_name(a)
        ]
        names += [a.name for a in self.operator.inputs if type_name(a).startswith("ScalarType")]
        for name in names:
            candidates = plan[name] if len(names) == 1 or "dtype" in name else FEW_SCALARS
            candidates = candidates + [d for d in self.all_dtypes if d.is_complex] if "dtype" in name else candidates
            for dtype, value in product(self.all_dtypes, candidates):
                small = {n: _small(plan[n]) for n in data[:1]} if len(data) == 1 else {}
                yield self._call(base | small | {name: value}, "dtypes", dict.fromkeys(data, dtype))

    def _index_dtypes(self, plan, base):
        for name in plan:
            if isinstance(base[name], Shape) and base[name].dtype in (torch.int64, torch.bool):
                for dtype in INDEX_DTYPES:
                    shape = base[name]
                    yield self._call(base | {name: Shape(shape.sizes, dtype, shape.low, shape.high)}, "dtypes")

    def _made_dtypes(self, plan):
        """Operators whose result has the out's dtype: every out dtype with every candidate."""
        base = self._base(plan)
        for dtype, name in product(self.all_dtypes, plan):
            for candidate in plan[name]:
                for own in (dtype, self.plain, torch.int64) if self._data(plan) else (self.plain,):
                    dtypes = dict.fromkeys(self._data(plan), own)
                    yield self._call(base | {name: candidate}, "dtypes", dtypes, out_dtypes=(dtype,))

    def layouts(self, plan):
        """Inputs in every kind of dim_order, outs in the same and in others."""
        data = [n for n in plan if isinstance(plan[n][0], Shape)]
        for name in data or list(plan)[:1]:
            for candidate in plan[name]:
                if not isinstance(candidate, Shape) and data:
                    continue
                base = self._base(plan) | {name: candidate}
                yield from self._orders(base, name, data)
        yield from self._list_orders(plan)

    def _orders(self, base, name, data):
        rank = len(base[name].sizes) if isinstance(base[name], Shape) else 0
        for order in _dim_orders(rank, self.choice):
            yield self._call(base, "layouts", orders={name: order})
            yield self._call(base, "layouts", orders=dict.fromkeys(data, order))
        outs = len(self.operator.outs)
        for out_rank in sorted({rank, max(rank - 1, 0), rank + 1}) if rank else range(2, 5):
            for out_order in _dim_orders(out_rank, self.choice):
                for order in [None, *islice(_dim_orders(rank, self.choice), 2)]:
                    dtype = self.choice.choice(self.all_dtypes[:8])
                    dtypes = dict.fromkeys(data, dtype)
                    orders = dict.fromkeys(data, order)
                    yield self._call(base, "layouts", dtypes, orders, out_dim_orders=(out_order,) * outs)

    def _list_orders(self, plan):
        for name in plan:
            for candidate in plan[name]:
                ranks = [len(c.sizes) for c in candidate if isinstance(c, Shape)] if isinstance(candidate, list) else []
                if ranks:
                    base = self._base(plan) | {name: candidate}
                    for order in _dim_orders(max(ranks), self.choice):
                        yield self._call(base, "layouts", orders={name: order})
                        yield self._call(base, "layouts", orders={name: order}, out_dim_orders=(order,))

    def out_dtypes(self, plan):
        """Outs of every dtype, one out at a time, for results of many dtypes."""
        if self.operator.out is None or self.operator.makes_dtype:
            return
        data, outs = self._data(plan), len(self.operator.outs)
        for dtype, position, out_dtype in product(_out_dtype_inputs(self.all_dtypes), range(outs), self.all_dtypes):
            wish = tuple(out_dtype if i == position else None for i in range(outs))
            yield self._call(
                self._base(plan), "out dtype", dict.fromkeys(data, dtype), fill=self._wide, out_dtypes=wish
            )

    def _wide(self, sizes, dtype):
        """Values that do not fit narrower types."""
        if dtype == torch.bool or dtype == torch.uint8:
            return torch.randint(0, 2 if dtype == torch.bool else 256, sizes, generator=self.values).to(dtype)
        wide = torch.complex128 if dtype.is_complex else torch.float64
        return (torch.randn(sizes, generator=self.values, dtype=wide) * 200).to(dtype)

    def special(self, plan):
        """Special values: all of them in a row where shapes are free, a grid for pairs, drawn ones elsewhere."""
        data = self._data(plan)
        if not data:
            return
        drawn = lambda sizes, dtype: random_special(sizes, dtype, self.values)  # noqa: E731
        for dtype in self.all_dtypes:
            yield from self._rows(plan, data, dtype)
            for name in data:
                for candidate in (c for c in plan[name] if _is_data(c) or isinstance(c, list)):
                    base = self._base(plan) | {name: candidate}
                    yield self._call(base, "special values", dict.fromkeys(data, dtype), fill=drawn)
        for _ in range(self._share() // 2):
            dtype = self.choice.choice(self.all_dtypes[:10])
            chosen = {n: c[0] if self.choice.random() < 0.7 else self.choice.choice(c) for n, c in plan.items()}
            yield self._call(chosen, "special values", dict.fromkeys(data, dtype), fill=drawn)

    def _rows(self, plan, data, dtype):
        shapes = {n: Shape((1,)) for n in data}
        free = all(Shape((1,)) in plan[n] for n in data) and not any("mask" == n or "condition" == n for n in plan)
        if not free or len(data) > 2:
            return
        base = self._base(plan) | shapes
        scalars = [a.name for a in self.operator.inputs if type_name(a).startswith("Scalar") and len(plan[a.name]) > 20]
        dims = {n: [0] if isinstance(plan[n][0], list) else 0 for n in ("dim", "dims") if n in plan}
        base |= dims
        if len(data) == 1:
            row = special(dtype)
            for name in scalars or [None]:
                for value in FEW_SCALARS if name else [None]:
                    change = {name: value} if name else {}
                    yield self._explicit(base | change, {data[0]: row}, dtype)
            return
        for left, right in _grids(self.operator, dtype):
            yield self._explicit(base, {data[0]: left, data[1]: right}, dtype)

    def _explicit(self, chosen, tensors, dtype):
        keywords = {n: c(chosen) if callable(c) else c for n, c in chosen.items()}
        keywords = {n: self._resolve(c, dtype, None, None) for n, c in keywords.items()} | tensors
        return make_call(self.operator, keywords, "special rows")


def _out_dtype_inputs(dtypes):
    """OUT_DTYPE_INPUTS, and before them the complex ones."""
    return [d for d in dtypes if d.is_complex] + OUT_DTYPE_INPUTS


def _is_data(candidate):
    if isinstance(candidate, list):
        return any(_is_data(c) for c in candidate)
    return isinstance(candidate, Derived) or isinstance(candidate, Shape) and candidate.dtype is None


def _ranks(candidates):
    """One candidate with dimensions and one without: promotion depends on nothing else."""
    shapes = [c for c in candidates if _is_data(c)]
    return [_small(candidates)] + [c for c in shapes if isinstance(c, Shape) and c.sizes == ()][:1]


def _small(candidates):
    """The row (4,) where a plan offers it, else its base."""
    return Shape((4,)) if Shape((4,)) in candidates else candidates[0]


def _dim_orders(rank, chooser):
    """Every order up to rank 3; channels last, reversed and two more above."""
    if rank < 2:
        return
    if rank <= 3:
        yield from islice(permutations(range(rank)), 1, None)
        return
    wanted = [CHANNELS_LAST.get(rank), tuple(reversed(range(rank)))]
    wanted += [tuple(chooser.sample(range(rank), rank)) for _ in range(2)]
    yield from (o for o in dict.fromkeys(wanted) if o is not None)


def _grids(operator, dtype):
    """A column and a row of special values, all pairs; for integers also without the values that make PyTorch refuse
    the whole call."""
    column = grid_values(dtype)
    rows = [column]
    if operator.base_name in REFUSES_BY_VALUE and dtype not in (torch.bool, *FRACTIONS):
        rows += [[v for v in column if v not in (0, -1)], [v for v in column if v >= 0]]
    for row in rows:
        yield torch.tensor(column, dtype=dtype).reshape(-1, 1), torch.tensor(row, dtype=dtype)
