"""Records one operator; calls that kill the process are noted and left out."""

import pickle
import time
from collections import Counter
from dataclasses import dataclass, field

import opinfo
import traps
from call import MAX_RESULT_ELEMENTS, answer, elements_of
from child import in_child
from container import Container
from generators import Generators
from selection import ordered


@dataclass
class Recording:
    """One file's bytes and what the manifest says about it."""

    name: str
    file: bytes
    calls: int
    refusals: int
    candidates: int
    crashed: list = field(default_factory=list)
    findings: dict = field(default_factory=dict)
    seconds: float = 0.0


def record(operator, seed, cap_bytes):
    """The recording of one operator; the same seed gives the same bytes."""
    start = time.monotonic()
    calls, status = in_child(lambda: all_calls(operator, seed))
    findings = Counter()
    if status:
        findings[f"the generators ended with {status}"] += 1
    calls = _distinct(pickle.loads(c) for c in calls)
    pairs, crashed = _answers(operator, calls)
    findings.update(a.finding for _, a in pairs if a.finding)
    usable = [(c, a) for c, a in pairs if a.refusal is not None or a.results is not None]
    container = Container(operator)
    kept = []
    for index, call, told in ordered(usable, seed):
        if container.size() > cap_bytes:
            break
        container.add(index, call, told)
        kept.append(told)
    return Recording(
        name=operator.name,
        file=container.finish(),
        calls=len(kept),
        refusals=sum(told.refusal is not None for told in kept),
        candidates=len(usable),
        crashed=crashed,
        findings=dict(sorted(findings.items())),
        seconds=time.monotonic() - start,
    )


def all_calls(operator, seed):
    """Every call of every source, small ones only."""
    for source in (traps.calls(operator), Generators(operator, seed).calls(), opinfo.calls(operator, seed % 2**31)):
        for call in source:
            if elements_of(call) <= MAX_RESULT_ELEMENTS:
                yield pickle.dumps(call)


def _distinct(calls):
    return list({c.key(): c for c in reversed(list(calls))}.values())[::-1]


def _answers(operator, calls):
    pairs, crashed, start = [], [], 0
    while start < len(calls):
        told, status = in_child(lambda: (pickle.dumps(answer(operator, c)) for c in calls[start:]))
        pairs += [(c, pickle.loads(a)) for c, a in zip(calls[start:], told)]
        start += len(told)
        if status is None:
            break
        crashed.append(f"{status}: {describe(calls[start])}")
        start += 1
    return [(c, a) for c, a in pairs if a is not None], crashed


def describe(call):
    """A call in one line."""
    return f"{call.origin}({', '.join(_describe(a) for a in call.arguments)})"


def _describe(argument):
    if isinstance(argument, tuple):
        return "[" + ", ".join(_describe(a) for a in argument) + "]"
    if hasattr(argument, "layout"):
        return f"{str(argument.layout.dtype).removeprefix('torch.')}{list(argument.layout.sizes)}"
    return repr(argument)
