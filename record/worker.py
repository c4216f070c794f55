"""Records one operator. Calls that crash the process are listed and not recorded."""

import math
import pickle
import signal
import time
from collections import Counter
from dataclasses import dataclass, field

import opinfo
from call import MAX_RESULT_ELEMENTS, answer, elements_of, fresh_layouts, is_complex
from child import in_child
from container import Container
from generators import Generators
from selection import ordered
from tensors import COMPLEX_DTYPES, DTYPES

MOST_SECONDS = 60


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


def record(operator, seed, cap_bytes, complex_bytes, traps=()):
    """The recording of one operator; the same seed and traps give the same bytes. Complex calls come last and add at most
    `complex_bytes`, so that they do not change the other calls. An operator without complex dtypes has none."""
    start = time.monotonic()
    measured, kept, candidates = Container(operator), [], 0
    crashed, findings = [], Counter()
    for make, cap in ((real_calls, cap_bytes), (complex_calls, complex_bytes)):
        usable, crashes, found = _usable(operator, lambda: make(operator, seed, traps))
        if make is complex_calls and not any(_computes(told) for _, told in usable):
            break
        crashed += crashes
        findings.update(found)
        begin = measured.size()
        for index, call, told in ordered(usable, seed):
            if measured.size() - begin > cap:
                break
            measured.add(call, told)
            kept.append((candidates + index, call, told))
        candidates += len(usable)
    kept = [(call, told) for _, call, told in sorted(kept, key=lambda k: k[0])]
    return _recording(operator, kept, candidates, crashed, findings, start)


def record_given(operator, calls, chosen=lambda calls, answered: answered):
    """The recording of these calls of an operator: all that eager answers, or a selection of them."""
    start = time.monotonic()
    usable, crashed, findings = _usable(operator, lambda: map(pickle.dumps, calls))
    return _recording(operator, chosen(calls, usable), len(calls), crashed, findings, start)


def _recording(operator, answered, candidates, crashed, findings, start):
    return Recording(
        name=operator.name,
        file=file_of(operator, answered),
        calls=len(answered),
        refusals=sum(told.refusal is not None for _, told in answered),
        candidates=candidates,
        crashed=crashed,
        findings=dict(sorted(findings.items())),
        seconds=time.monotonic() - start,
    )


def file_of(operator, answered):
    """The file of calls and eager's answers, with the layouts of eager's results without outs."""
    made, _ = in_child(lambda: (pickle.dumps(fresh_layouts(operator, c)) for c, _ in answered))
    container = Container(operator)
    for (call, told), fresh in zip(answered, made, strict=True):
        container.add(call, told, pickle.loads(fresh))
    return container.finish()


def _computes(told):
    """Whether eager answered with elements: kernels without complex numbers may answer with none."""
    return told.results is not None and any(math.prod(out.sizes) > 0 for out in told.outs)


def _usable(operator, make):
    """The answered calls that `make()` yields, the calls that crashed, and the findings."""
    calls, status = in_child(make)
    findings = Counter([f"the generators ended with {status}"] if status else [])
    pairs, crashed = _answers(operator, _distinct(pickle.loads(c) for c in calls))
    findings.update(a.finding for _, a in pairs if a.finding)
    return [(c, a) for c, a in pairs if a.refusal is not None or a.results is not None], crashed, findings


def real_calls(operator, seed, traps):
    """Every call of every source without a complex dtype."""
    sources = traps, Generators(operator, seed).calls(), opinfo.calls(operator, seed % 2**31, DTYPES)
    return _small(c for source in sources for c in source if not is_complex(c))


def complex_calls(operator, seed, traps):
    """Every call of every source with a complex dtype."""
    dtypes = COMPLEX_DTYPES + DTYPES
    sources = traps, Generators(operator, seed, dtypes).calls(), opinfo.calls(operator, seed % 2**31, COMPLEX_DTYPES)
    return _small(c for source in sources for c in source if is_complex(c))


def _small(calls):
    return (pickle.dumps(c) for c in calls if elements_of(c) <= MAX_RESULT_ELEMENTS)


def _distinct(calls):
    return list({c.key(): c for c in reversed(list(calls))}.values())[::-1]


def _answers(operator, calls):
    pairs, crashed, start = [], [], 0
    while start < len(calls):
        told, status = in_child(lambda: (pickle.dumps(_in_time(operator, c)) for c in calls[start:]))
        pairs += [(c, pickle.loads(a)) for c, a in zip(calls[start:], told)]
        start += len(told)
        if status is None:
            break
        crashed.append(f"{status}: {describe(calls[start])}")
        start += 1
    return [(c, a) for c, a in pairs if a is not None], crashed


def _in_time(operator, call):
    """Eager's answer. A call that exceeds the time limit ends the process."""
    signal.alarm(MOST_SECONDS)
    return answer(operator, call)


def describe(call):
    """A call in one line."""
    return f"{call.origin}({', '.join(_describe(a) for a in call.arguments)})"


def _describe(argument):
    if isinstance(argument, tuple):
        return "[" + ", ".join(_describe(a) for a in argument) + "]"
    if hasattr(argument, "layout"):
        return f"{str(argument.layout.dtype).removeprefix('torch.')}{list(argument.layout.sizes)}"
    return repr(argument)
