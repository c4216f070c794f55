"""Calls from PyTorch's own operator tests, intercepted at an overload's functional form."""

from itertools import islice

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode

from call import elements_of, make_call
from operators import TENSOR_OPTIONS

MAX_ELEMENTS = 600
SAMPLES = 60
REFERENCE_DTYPES = (torch.float32, torch.int64, torch.bfloat16, torch.complex64)

# Tests that call an operator of another name; "nn.functional." is tried for every name.
SOURCES = {
    "convolution": ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"],
    "addmm": ["linear"],
    "mm": ["matmul", "__rmatmul__"],
    "bmm": ["matmul"],
    "max_pool2d_with_indices": ["max_pool2d"],
    "max_pool3d_with_indices": ["max_pool3d"],
    "_embedding_bag": ["embedding_bag"],
    "native_layer_norm": ["layer_norm"],
    "native_group_norm": ["group_norm"],
    "constant_pad_nd": ["pad"],
    "_fft_r2c": ["fft.rfft", "fft.rfft2", "fft.rfftn", "fft.ihfft", "fft.fft", "stft"],
    "_fft_c2r": ["fft.irfft", "fft.irfft2", "fft.irfftn", "fft.hfft", "istft"],
    "_fft_c2c": ["fft.fft", "fft.ifft", "fft.fft2", "fft.ifftn"],
    "_conj_copy": ["conj"],
    "index": ["__getitem__"],
    "slice_copy": ["__getitem__", "narrow"],
    "select_copy": ["__getitem__", "select"],
    "expand_copy": ["broadcast_to", "expand_as"],
    "view_copy": ["view", "reshape", "view_as"],
    "split_copy": ["chunk"],
    "transpose_copy": ["swapaxes"],
    "permute_copy": ["movedim"],
    "unbind_copy": ["unbind"],
    "var": ["var_unbiased"],
    "var_mean": ["var_mean_unbiased"],
    "rsub": ["__rsub__"],
    "pow": ["__rpow__", "float_power"],
    "div": ["true_divide"],
    "_cdist_forward": ["cdist"],
    "_pdist_forward": ["pdist"],
    "_upsample_bilinear2d_aa": ["interpolate"],
    "grid_sampler_2d": ["grid_sample"],
    "scatter": ["scatter_reduce"],
    "repeat": ["tile"],
}


def sources_of(operator):
    """The tests whose calls can reach the operator, in the test database's order."""
    plain = operator.base_name.removesuffix("_copy").removeprefix("_").removeprefix("native_")
    names = [operator.base_name, plain] + SOURCES.get(operator.base_name, [])
    wanted = set(names) | {f"nn.functional.{n}" for n in names}
    return [info for info in op_db if info.name in wanted] if operator.namespace == "aten" else []


class Capture(TorchDispatchMode):
    """Collects as calls of `operator` the calls of its functional form, or of the view that the operator copies."""

    def __init__(self, operator, origin, dtypes):
        super().__init__()
        self.operator = operator
        self.dtypes = dtypes
        self.origin = origin
        self.calls = []
        view = operator.base_name.removesuffix("_copy")
        overload = operator.reached._overloadname
        self.wanted = {operator.reached, getattr(getattr(torch.ops.aten, view, None), overload, None)}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function in self.wanted:
            self._collect(function, args, kwargs or {})
        return function(*args, **(kwargs or {}))

    def _collect(self, function, args, kwargs):
        keywords = dict(zip((a.name for a in function._schema.arguments), args)) | kwargs
        dtype = keywords.get("dtype") if self.operator.makes_dtype else None
        known = {a.name for a in self.operator.inputs}
        if set(keywords) - known - set(TENSOR_OPTIONS):
            return
        keywords = {k: v for k, v in keywords.items() if k in known}
        try:
            call = make_call(self.operator, keywords, self.origin, (dtype,) if dtype in self.dtypes else ())
        except (TypeError, KeyError, RuntimeError):
            return  # the format lacks complex numbers outside of tensors, and sparse and quantized tensors
        if elements_of(call) <= MAX_ELEMENTS:
            self.calls.append(call)


def calls(operator, seed, dtypes):
    """Calls of the operator made by its tests' samples of these dtypes, including refused samples."""
    for info in sources_of(operator):
        supported = info.supported_dtypes("cpu")
        for dtype in (d for d in dtypes if d in supported):
            yield from _of_inputs(operator, info, dtype, seed, dtypes)
        yield from _of_errors(operator, info, seed, dtypes)


def _of_inputs(operator, info, dtype, seed, dtypes):
    sources = [info.sample_inputs]
    if dtype in REFERENCE_DTYPES:
        sources.append(info.reference_inputs)
    for source in sources:
        torch.manual_seed(seed)
        for sample in islice(source("cpu", dtype), SAMPLES):
            if _size(sample) <= 4 * MAX_ELEMENTS:
                yield from _run(operator, info, sample, "opinfo", dtypes)


def _of_errors(operator, info, seed, dtypes):
    if info.error_inputs_func is None:
        return
    torch.manual_seed(seed)
    for error in islice(info.error_inputs("cpu"), SAMPLES):
        yield from _run(operator, info, error.sample_input, "opinfo refusal", dtypes)


def _size(sample):
    values = [sample.input, *sample.args, *sample.kwargs.values()]
    values = [v for a in values for v in (a if isinstance(a, (tuple, list)) else (a,))]
    return sum(v.numel() for v in values if isinstance(v, torch.Tensor))


def _run(operator, info, sample, origin, dtypes):
    capture = Capture(operator, origin, dtypes)
    try:
        with torch.no_grad(), capture:
            info.op(sample.input, *sample.args, **sample.kwargs)
    except Exception:
        pass  # a refusal is recorded when the call itself is asked
    return capture.calls
