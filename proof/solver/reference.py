"""The answers of the reference to calls, by `assay call --jsonl`."""
import base64
import json
import subprocess

from dtypes import BYTES, COMPLEX, NAMES, OPAQUE
from formulas import product
from values import BOOL, DOUBLE, FINITE, INFINITE, NAN, Scalar, Tensor, tensors_in

MOST_ELEMENTS = 1024


def small(call):
    """Whether the tensors of a call are small enough to make their data."""
    return all(product(t.sizes) <= MOST_ELEMENTS and max(t.sizes, default=0) < 2**62 for v in call.values() for t in tensors_in(v))


def json_of_tensor(tensor):
    shape = {"dtype": NAMES[tensor.dtype], "sizes": tensor.sizes, "dim_order": list(tensor.order)}
    n = product(tensor.sizes)
    if tensor.dtype in OPAQUE:
        return shape | {"data": base64.b64encode(bytes(n * BYTES[tensor.dtype])).decode()}
    values = [tensor.first] * min(n, 1) + [tensor.rest] * (n - 1)
    return shape | {"values": [[v, 0] for v in values] if tensor.dtype in COMPLEX else values}


def json_of_scalar(scalar):
    if scalar.special != FINITE:
        return {"double": {NAN: "nan", INFINITE: "inf"}.get(scalar.special, "-inf")}
    return scalar.twice == 2 if scalar.kind == BOOL else scalar.twice // 2 if scalar.kind != DOUBLE else {"double": scalar.twice / 2}


def json_of(value, kind):
    kind = kind.removesuffix("?")
    if value is None:
        return None
    if isinstance(value, Tensor):
        return json_of_tensor(value)
    if isinstance(value, Scalar):
        return json_of_scalar(value)
    if kind in ("Tensor[]", "Tensor?[]"):
        return {"tensors": [None if t is None else json_of_tensor(t) for t in value]}
    if kind == "float[]":
        return {"doubles": [double(v) for v in value]}
    if kind == "int[]":
        return {"ints": value}
    if kind == "bool[]":
        return {"bools": value}
    if kind == "bool" and not isinstance(value, bool):
        return value != 0
    return {"string": value} if kind == "str" else value


def double(scalar):
    text = json_of_scalar(scalar)
    return text["double"]


def request(meaning, call, number):
    entry = meaning.entry
    outs = [None if call.get(o.name) is None else {"dtype": NAMES[call[o.name].dtype]} for o in entry.outs]
    return {"id": number, "operator": entry.name, "args": [json_of(call[a.name], a.type) for a in entry.inputs], "out": outs}


def answers(program, requests):
    """The answers, one for each request."""
    lines = "".join(json.dumps(r) + "\n" for r in requests)
    done = subprocess.run([program, "call", "--jsonl"], input=lines, capture_output=True, text=True, check=False)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    if len(found) != len(requests):
        raise RuntimeError(f"{program} call --jsonl answered {len(found)} of {len(requests)} requests: {done.stderr[-500:]}")
    return found


def difference(meaning, call, expected, answer):
    """A sentence about where the reference differs from the formulas; None where they agree."""
    if answer["outcome"] == "exhausted":
        return None if expected is None else f"{answer['rule']} instead of {expected}"
    said = answer.get("rule")
    if said != expected:
        return f"the reference says {said or 'ok'}, the solver's meaning {expected or 'ok'}: {answer.get('message', '')}"
    if expected is not None or meaning.is_number:
        return None
    wanted, got = meaning.results(call | meaning.constants), answer["outputs"]
    if len(wanted) != len(got):
        return f"{len(got)} results, not {len(wanted)}"
    outs = [o for o in meaning.entry.outs]
    for k, (result, output) in enumerate(zip(wanted, got)):
        out = call.get(outs[k].name) if len(outs) == len(wanted) else None
        dtype = NAMES[result.dtype if out is None else out.dtype]
        if output["dtype"] != dtype or output["sizes"] != result.sizes:
            return f"result {k} is {output['dtype']} {output['sizes']}, not {dtype} {result.sizes}"
        if out is None and output["dim_order"] != list(result.layout()):
            return f"result {k} of sizes {result.sizes} has dim order {output['dim_order']}, not {list(result.layout())}"
    return None
