"""Eager PyTorch, live, for end.py: every operator of ATen with outs, of the torch that this Python imports."""
import numpy
import torch

name = "torch"
facts = {"torch": torch.__version__}
MISSING = "not implemented for", "not supported for", "is not supported", "not implemented", "Unsupported dtype"


def tensor(array):
    """A tensor that shares the array's memory. Raw bits of 2 bytes are bfloat16; no other raw dtype is supported."""
    if array.dtype == "V2":
        return torch.from_numpy(array.view("u2")).view(torch.bfloat16)
    if array.dtype.kind == "V":
        raise NotImplementedError("there is no such dtype here")
    return torch.from_numpy(array)


def taken(value):
    return tensor(value) if isinstance(value, numpy.ndarray) else [taken(v) for v in value] if isinstance(value, list) else value


def given(value):
    if isinstance(value, (list, tuple)):
        return [given(v) for v in value]
    if not isinstance(value, torch.Tensor):
        return value
    return value.view(torch.uint16).numpy().view("V2") if value.dtype == torch.bfloat16 else value.numpy()


def kernel(schema):
    namespace, _, operator_name = schema.name.partition("::")
    operator = getattr(getattr(getattr(torch.ops, namespace), operator_name), schema.overload_name)
    inputs = [a for a in schema.arguments if not a.is_out]
    names = [a.name for a in schema.arguments if a.is_out]
    in_place = [a.name for a in inputs if a.alias_info and a.alias_info.is_write]  # each has an out of its own, after those of the schema

    def call(*values, out):
        outs = taken(out if len(names + in_place) > 1 else [out])
        values = dict(zip((a.name for a in inputs), map(taken, values), strict=True))
        for name, result in zip(in_place, outs[len(names):], strict=True):
            values[name] = result.copy_(values[name])
        try:
            operator(*(values[a.name] for a in inputs if not a.kwarg_only), **{a.name: values[a.name] for a in inputs if a.kwarg_only}, **dict(zip(names, outs)))
        except RuntimeError as error:
            if any(words in str(error) for words in MISSING):
                raise NotImplementedError(str(error)) from error
            raise
        return given(outs) if len(outs) > 1 else given(outs[0])

    return call


def kernels_of(namespace):
    """The operators with outs that torch has in the namespace."""
    return {f"{s.name}.{s.overload_name}": kernel(s) for s in torch._C._jit_get_all_schemas()
            if s.name.startswith(f"{namespace}::") and any(a.is_out for a in s.arguments)}


kernels = kernels_of("aten")
