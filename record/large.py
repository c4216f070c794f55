"""Records into golden/large_calls.json what eager PyTorch answers to a few large calls.

The recorded calls of golden/operators are small, because they hold all elements. The inputs of large calls are generated
by a formula, and their results are held as digests: for results that must be equal bit by bit, the CRC-32 of the bytes;
for other results, some drawn elements, the sum of all elements and the largest absolute value.
"""

import argparse
import json
import zlib

import numpy
import torch

import record_calls

DRAWN = 24  # elements of a result
FILE = record_calls.ROOT / "golden" / "large_calls.json"


def f32(*sizes):
    return {"dtype": "float32", "sizes": list(sizes)}


def i64(below, *sizes):
    return {"dtype": "int64", "sizes": list(sizes), "below": below}


EXACT, ROUNDED = True, False
# The rows of sort and the largest elements of topk have no equal numbers, whose order eager PyTorch does not define.
# The operator, whether its results are equal bit by bit, the dtypes of its results, and its arguments.
CALLS = [
    ("aten::add.out", EXACT, ["float32"], [f32(65537), f32(65537), 2]),
    ("aten::mul.out", EXACT, ["float32"], [f32(257, 1, 129), f32(65, 129)]),
    ("aten::where.self_out", EXACT, ["float32"], [{"dtype": "bool", "sizes": [65537], "below": 2}, f32(65537), f32(1)]),
    ("aten::exp.out", ROUNDED, ["float32"], [f32(65537)]),
    ("aten::gelu.out", ROUNDED, ["float32"], [f32(257, 257), "none"]),
    ("aten::mm.out", ROUNDED, ["float32"], [f32(129, 257), f32(257, 65)]),
    ("aten::bmm.out", ROUNDED, ["float32"], [f32(5, 33, 257), f32(5, 257, 17)]),
    ("aten::addmm.out", ROUNDED, ["float32"], [f32(65), f32(65, 513), f32(513, 65), 1, 1]),
    ("aten::convolution.out", ROUNDED, ["float32"],
     [f32(2, 9, 33, 65), f32(17, 9, 3, 2), f32(17), [2, 1], [1, 0], [1, 2], False, [0, 0], 1]),
    ("aten::convolution.out", ROUNDED, ["float32"],
     [f32(2, 33, 33, 35), f32(33, 1, 3, 5), f32(33), [1, 1], [1, 2], [1, 1], False, [0, 0], 33]),
    ("aten::_softmax.out", ROUNDED, ["float32"], [f32(65, 1025), -1, False]),
    ("aten::_log_softmax.out", ROUNDED, ["float32"], [f32(129, 513), 0, False]),
    ("aten::sum.IntList_out", ROUNDED, ["float32"], [f32(65, 1025), [1], False, None]),
    ("aten::mean.out", ROUNDED, ["float32"], [f32(1025, 65), [0], True, None]),
    ("aten::native_layer_norm.out", ROUNDED, ["float32"] * 3, [f32(65, 1025), [1025], f32(1025), f32(1025), 1e-5]),
    ("aten::cumsum.out", EXACT, ["int64"], [i64(1000, 65, 1025), 1, None]),
    ("aten::cat.out", EXACT, ["float32"], [[f32(129, 33), f32(129, 1), f32(129, 257)], -1]),
    ("aten::gather.out", EXACT, ["float32"], [f32(257, 129), 0, i64(257, 513, 65), False]),
    ("aten::index_select.out", EXACT, ["float32"], [f32(257, 129), 1, i64(129, 513)]),
    ("aten::sort.values", EXACT, ["float32", "int64"], [f32(5, 513), -1, False]),
    ("aten::topk.values", EXACT, ["float32", "int64"], [f32(65, 1025), 33, -1, True, True]),
    ("aten::max_pool2d_with_indices.out", EXACT, ["float32", "int64"],
     [f32(2, 9, 65, 67), [3, 2], [2, 1], [1, 0], [1, 2], True]),
    ("aten::avg_pool2d.out", ROUNDED, ["float32"], [f32(2, 9, 65, 67), [3, 5], [1, 2], [1, 2], False, False, None]),
    ("aten::permute_copy.out", EXACT, ["float32"], [f32(17, 65, 33, 3), [2, 0, 3, 1]]),
]


def mixed(words):
    """A hash of 32 bits of each number (the finalizer of MurmurHash3)."""
    words = words.astype(numpy.uint32)
    words ^= words >> numpy.uint32(16)
    words *= numpy.uint32(0x85EBCA6B)
    words ^= words >> numpy.uint32(13)
    words *= numpy.uint32(0xC2B2AE35)
    return words ^ words >> numpy.uint32(16)


def generated(tensor, seed):
    """The tensor that the test generates, too: floating elements in [-1, 1), others from 0 to below `below`."""
    count = int(numpy.prod(tensor["sizes"]))
    words = mixed(numpy.arange(count, dtype=numpy.uint64) + numpy.uint64(seed << 20))
    if "below" in tensor:
        values = torch.from_numpy((words % numpy.uint32(tensor["below"])).astype(numpy.int64))
    else:
        values = torch.from_numpy((words >> numpy.uint32(8)).astype(numpy.float64) / 2**23 - 1)
    return values.to(getattr(torch, tensor["dtype"])).reshape(tensor["sizes"])


def answer(operator, dtypes, arguments):
    name, overload = operator.removeprefix("aten::").split(".")
    op = getattr(getattr(torch.ops.aten, name), overload)
    schema = op._schema.arguments
    outs = [a for a in schema if a.is_out]
    given, seed = {}, 0
    for a, value in zip([a for a in schema if not a.is_out], arguments, strict=True):
        tensors = value if isinstance(value, list) and value and isinstance(value[0], dict) else [value]
        if isinstance(tensors[0], dict):
            made = []
            for tensor in tensors:
                made.append(generated(tensor, seed))
                seed += 1
            given[a.name] = made if tensors is value else made[0]
        else:
            given[a.name] = value
    results = {a.name: torch.empty(0, dtype=getattr(torch, d)) for a, d in zip(outs, dtypes, strict=True)}
    op(**given, **results)
    return list(results.values())


def digest(result, exact, number):
    recorded = {"dtype": str(result.dtype).removeprefix("torch."), "sizes": list(result.shape)}
    flat = result.contiguous().flatten()
    if exact:
        return recorded | {"crc32": zlib.crc32(flat.numpy().tobytes())}
    places = numpy.arange(1 << 10, dtype=numpy.uint64) + numpy.uint64(number << 10)
    drawn = {0, flat.numel() - 1, *(int(p) % flat.numel() for p in mixed(places)[:DRAWN])}
    wide = flat.double()
    return recorded | {"elements": [[k, flat[k].item()] for k in sorted(drawn)], "sum": wide.sum().item(), "largest": wide.abs().max().item()}


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    calls = []
    for number, (operator, exact, dtypes, arguments) in enumerate(CALLS):
        results = [digest(r, exact, number) for r in answer(operator, dtypes, arguments)]
        calls.append(json.dumps({"operator": operator, "arguments": arguments, "results": results}))
    FILE.write_text('{"torch": "%s", "calls": [\n%s\n]}\n' % (torch.__version__.split("+")[0], ",\n".join(calls)))
