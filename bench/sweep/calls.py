"""The calls of the operator sweep: how calls.yaml writes them, and how it is read.

    empty: the call whose time is that of a call alone
    calls:
      - {operator: 'aten::add.out', arguments: ['float32[1,12,64]', 'const float32[64]', 1], count: 14}

`arguments` are those of the schema without the outs. A tensor is its dtype and its sizes; `const` before them makes it a
constant of the program in place of an input; a dim order that is not the contiguous one follows in parentheses; `< 99`
at the end limits the random elements of an integer tensor, which are indices. A list of tensors is a list of these
texts. Any other argument is what YAML says. `count` is how often the census found the call."""

import re
from dataclasses import dataclass

import yaml

TENSOR = re.compile(r"(?P<const>const )?(?P<dtype>[a-z]+[0-9]*)\[(?P<sizes>[0-9,]*)\](?P<order>\([0-9,]*\))?( < (?P<below>[0-9]+))?")
OPERATOR = re.compile(r"\w+::\w+\.\w+")


@dataclass(frozen=True)
class Tensor:
    dtype: str
    sizes: tuple
    order: tuple  # the dim order
    constant: bool = False
    below: int | None = None  # each element is less

    def __str__(self):
        order = "" if self.order == tuple(range(len(self.sizes))) else f"({','.join(map(str, self.order))})"
        below = "" if self.below is None else f" < {self.below}"
        return f"{'const ' if self.constant else ''}{self.dtype}[{','.join(map(str, self.sizes))}]{order}{below}"

    def count(self):
        product = 1
        for size in self.sizes:
            product *= size
        return product


@dataclass(frozen=True)
class Call:
    operator: str
    arguments: tuple
    count: int = 0

    def tensors(self):
        return [v for v in flat(self.arguments) if isinstance(v, Tensor)]

    def written(self):
        """As an item of calls.yaml, before YAML."""
        return {"operator": self.operator, "arguments": [written(v) for v in self.arguments], "count": self.count}

    def __str__(self):
        return f"{self.operator.removeprefix('aten::').removesuffix('.out')}({', '.join(map(text, self.arguments))})"


def flat(values):
    return [item for v in values for item in (flat(v) if isinstance(v, tuple) else [v])]


def written(v):
    return [written(item) for item in v] if isinstance(v, tuple) else str(v) if isinstance(v, Tensor) else v


def text(v):
    if isinstance(v, tuple):
        return f"[{','.join(map(text, v))}]"
    return "none" if v is None else str(v).lower() if isinstance(v, bool) else str(v)


def numbers(words):
    return tuple(int(word) for word in words.split(",") if word)


def tensor(words):
    """The tensor that a text means; None if the text means itself."""
    found = TENSOR.fullmatch(words)
    if not found:
        return None
    sizes = numbers(found["sizes"])
    order = numbers(found["order"][1:-1]) if found["order"] else tuple(range(len(sizes)))
    if sorted(order) != list(range(len(sizes))):
        raise ValueError(f"{words}: the dim order does not have each of {len(sizes)} dimensions once")
    return Tensor(found["dtype"], sizes, order, bool(found["const"]), int(found["below"]) if found["below"] else None)


def argument(v):
    if isinstance(v, list):
        return tuple(argument(item) for item in v)
    if isinstance(v, str) and "[" in v and tensor(v) is None:
        raise ValueError(f"{v} is not a tensor: write its dtype and its sizes, such as float32[2,3]")
    return (tensor(v) or v) if isinstance(v, str) else v


def call(item):
    if not isinstance(item, dict) or not {"operator", "arguments"} <= item.keys() <= {"operator", "arguments", "count"}:
        raise ValueError(f"{item} needs the keys operator and arguments, and may have count")
    if not OPERATOR.fullmatch(item["operator"]):
        raise ValueError(f"{item['operator']} is not the full name of an out variant, such as aten::add.out")
    made = Call(item["operator"], argument(item["arguments"]), item.get("count", 0))
    if all(t.constant for t in made.tensors()):
        raise ValueError(f"{made} has no input: a runtime computes it before it runs")
    return made


def read(file):
    """(the empty call, all others)"""
    lists = yaml.safe_load(file.read_text())
    calls = [call(item) for item in lists["calls"]]
    known = set()
    for c in calls:
        if (c.operator, c.arguments) in known:
            raise ValueError(f"{c} is in the list twice")
        known.add((c.operator, c.arguments))
    return call(lists["empty"]), calls
