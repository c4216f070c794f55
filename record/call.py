"""A call of an operator overload, and eager PyTorch's answer."""

import math
import warnings
from dataclasses import dataclass, replace

import torch

from operators import Operator, type_name
from tensors import MARGIN, Layout, Stored, dim_order_of, layout_of, load, margins_hold, store

# Larger results are not recorded; they test nothing that a small result does not.
MAX_RESULT_ELEMENTS = 2000
MAX_RANK = 16  # limit of the format
MAX_SIZE = 2**31 - 1  # limit of the format; tensors without elements have larger sizes
# Fill bytes around the inputs, and in and around the outs, of the first and the second run. A result that depends on
# them, or an out element that keeps them, shows the error.
FILLS = (0x01, 0x00)
# Messages about an error of the recorder or about the machine, rather than about the operator.
NOT_A_REFUSAL = ("Expected a value of type", "can't allocate memory", "bad_alloc", "expected at most", "missing value for argument")


@dataclass(frozen=True)
class Call:
    """Arguments without the outs in schema order; a tensor is a `Stored`, a list a tuple.

    `out_dtypes` and `out_dim_orders` have an entry for each out, None where eager chooses.
    """

    arguments: tuple
    origin: str
    out_dtypes: tuple = ()
    out_dim_orders: tuple = ()

    def key(self):
        """Equal for calls that are equal bit for bit, for any origin."""
        return tuple(_bits(a) for a in self.arguments), self.out_dtypes, self.out_dim_orders

    def with_outs(self, outs, chosen):
        """This call with outs of these layouts, named where eager has `chosen` another dtype or dim order."""
        pairs = list(zip(outs, chosen))
        dtypes = tuple(o.dtype if o.dtype != c.dtype else None for o, c in pairs)
        orders = tuple(o.dim_order if o.dim_order != c.dim_order else None for o, c in pairs)
        return replace(self, out_dtypes=dtypes if any(dtypes) else (), out_dim_orders=orders if any(orders) else ())


@dataclass(frozen=True)
class Answer:
    """Layouts of the outs, and either a `Stored` for each or eager's refusal; `finding` notes a contradiction."""

    outs: tuple
    results: tuple | None
    refusal: str | None = None
    finding: str | None = None


def _bits(value):
    # repr tells True from 1, 0.0 from -0.0, and makes NaN equal to itself.
    if isinstance(value, tuple):
        return tuple(_bits(v) for v in value)
    return value if isinstance(value, Stored) else repr(value)


def tensors_of(arguments):
    """Every `Stored` among the arguments, those inside lists included."""
    flat = (v for a in arguments for v in (a if isinstance(a, tuple) else (a,)))
    return [v for v in flat if isinstance(v, Stored)]


def answer(operator: Operator, call: Call):
    """Eager's answer; None if the call shows nothing about the operator: it is too large, exceeds the format's ranks,
    sizes or integers, or has an error of the recorder."""
    if not all(_is_of_format(t.layout.sizes) for t in tensors_of(call.arguments)):
        return None
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        try:
            functional = _run_functional(operator, call)
        except Unrepresentable:
            return None
        except Exception as error:
            return _refused(operator, call, error)
        if sum(t.numel() for t in functional) > MAX_RESULT_ELEMENTS or not all(_is_of_format(t.shape) for t in functional):
            return None
        outs = _out_layouts(operator, call, functional)
        if any(size < 0 for out in outs for size in out.sizes):
            return Answer(outs, None, finding="left out: eager makes a result of a negative size")
        if operator.out is None:
            return _answer_without_out(operator, functional, outs)
        try:
            runs = [_run_out(operator, call, outs, fill) for fill in FILLS]
        except OutOfBounds as error:
            return _functional_answer(operator, call, functional, outs, str(error))
        except Exception as error:
            return _refusal(outs, error)
        if defect := _defect(operator, functional, outs, *runs):
            return _functional_answer(operator, call, functional, outs, defect)
        return Answer(outs, _all_stored(operator, runs[0], outs))


def _is_of_format(sizes):
    return len(sizes) <= MAX_RANK and all(size <= MAX_SIZE for size in sizes)


def _live(arguments, fill):
    return [
        [load(v, fill) if isinstance(v, Stored) else v for v in a]
        if isinstance(a, tuple)
        else load(a, fill)
        if isinstance(a, Stored)
        else a
        for a in arguments
    ]


def _keywords(operator, call, fill=FILLS[0]):
    return dict(zip((a.name for a in operator.inputs), _live(call.arguments, fill)))


def fresh_layouts(operator, call):
    """The layouts of eager's results without outs and without a dtype for them; empty if eager refuses that call or a
    result is not dense."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        try:
            made = _run_functional(operator, replace(call, out_dtypes=()))
        except Exception:
            return ()
    is_told = all(dim_order_of(t) is not None and _is_of_format(t.shape) for t in made)
    return tuple(layout_of(t) for t in made) if is_told else ()


class Unrepresentable(Exception):
    pass


def _as_tuple(returned):
    several = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
    return tuple(v if isinstance(v, torch.Tensor) or v is None else _tensor_of(v) for v in several)


def _tensor_of(number):
    """A number as a tensor without dimensions. The format has bounded integers and no complex numbers, unlike
    Python."""
    dtype = {bool: torch.bool, int: torch.int64, float: torch.float64}.get(type(number))
    if dtype is None or dtype == torch.int64 and not -(2**63) <= number < 2**63:
        raise Unrepresentable
    return torch.tensor(number, dtype=dtype)


def _run_functional(operator, call, fill=FILLS[0]):
    torch.manual_seed(0)  # random operators give the same numbers in every run
    keywords = _keywords(operator, call, fill)
    if operator.makes_dtype and call.out_dtypes:
        keywords["dtype"] = call.out_dtypes[0]
    results = _as_tuple(operator.functional(**keywords))
    return results if all(t is not None for t in results) else _completed(operator, keywords, results)


def _completed(operator, keywords, results):
    """Replaces None, an omitted result, by a tensor of sizes (0) of the dtype that the result has otherwise."""
    try:
        asked = _as_tuple(operator.functional(**keywords | {"output_mask": [True] * len(results)}))
    except RuntimeError:
        asked = [keywords[operator.inputs[0].name]] * len(results)
    return tuple(torch.empty(0, dtype=a.dtype) if r is None else r for r, a in zip(results, asked))


class OutOfBounds(Exception):
    pass


def _run_out(operator, call, outs, fill):
    """What the out overload wrote into outs that held `fill`."""
    allocated = [layout.allocate(fill) for layout in outs]
    tensors = [t for t, _ in allocated]
    destination = (
        {operator.outs[0].name: tensors}
        if operator.has_list_out
        else {a.name: t for a, t in zip(operator.outs, tensors)}
    )
    torch.manual_seed(0)
    operator.out(**_keywords(operator, call, fill), **destination)
    if not all(margins_hold(buffer, fill) for _, buffer in allocated if len(buffer) > 2 * MARGIN):
        raise OutOfBounds("eager writes outside of the out")
    return tensors


def _out_layouts(operator, call, functional):
    wanted_dtypes = () if operator.makes_dtype else call.out_dtypes
    layouts = []
    for i, tensor in enumerate(functional):
        layout = layout_of(tensor)
        # All entries of a list out get the same requested layout.
        k = 0 if operator.has_list_out else i
        if k < len(wanted_dtypes) and wanted_dtypes[k] is not None:
            layout = replace(layout, dtype=wanted_dtypes[k])
        if k < len(call.out_dim_orders) and call.out_dim_orders[k] is not None:
            if len(call.out_dim_orders[k]) == len(layout.sizes):
                layout = replace(layout, dim_order=call.out_dim_orders[k])
        layouts.append(layout)
    return tuple(layouts)


def _has_values(operator):
    return operator.base_name not in ("empty", "empty_permuted", "empty_strided", "_empty_dim_order")


def _stored(operator, tensor, layout):
    return store(tensor, layout.dim_order) if _has_values(operator) else Stored(layout, None)


def _answer_without_out(operator, functional, outs):
    if tuple(layout_of(t) for t in functional) != outs:
        return None
    return Answer(outs, _all_stored(operator, functional, outs))


def _defect(operator, functional, outs, written, again):
    """The error in the out overload's two answers, if there is one; rounding may differ between overloads."""
    if any(tuple(w.shape) != o.sizes for w, o in zip(written, outs)):
        return "the out overload resizes an out of the functional result's size"
    if _all_stored(operator, written, outs) != _all_stored(operator, again, outs):
        return "what the out overload leaves depends on what was there before, or on bytes outside of its inputs"
    pairs = [(f, w) for f, w in zip(functional, written) if f.dtype == w.dtype]
    if _has_values(operator) and not all(_close(f, w) for f, w in pairs):
        return "the out overload and the functional overload disagree"
    return None


def _functional_answer(operator, call, functional, outs, defect):
    """The functional overload's answer where the out overload is defective, unless it is not one itself."""
    again = _run_functional(operator, call, FILLS[1])
    same_dtypes = all(f.dtype == o.dtype for f, o in zip(functional, outs))
    results = _all_stored(operator, functional, outs)
    if not same_dtypes or results != _all_stored(operator, again, outs):
        return Answer(outs, None, finding=f"left out: {defect}")
    return Answer(outs, results, finding=f"the functional result is recorded: {defect}")


def _all_stored(operator, tensors, outs):
    return tuple(_stored(operator, t, o) for t, o in zip(tensors, outs))


def _close(a, b):
    """Equal up to rounding, measured against the largest value: sums of terms may cancel."""
    if a.dtype.is_complex:
        a, b = torch.view_as_real(a), torch.view_as_real(b)
    if not a.dtype.is_floating_point:
        return store(a, range(a.dim())) == store(b, range(b.dim()))
    a, b, unit = a.double(), b.double(), 8 * torch.finfo(a.dtype).eps
    finite = a[a.isfinite()].abs()
    largest = finite.max().item() if finite.numel() else 0.0
    return torch.allclose(a, b, rtol=unit, atol=unit * largest, equal_nan=True)


def _refusal(outs, error):
    message = str(error).strip().split("\n")[0]
    if any(text in message for text in NOT_A_REFUSAL):
        return Answer(outs, None, finding=f"recorder's error: {message}")
    return Answer(outs, None, refusal=message or type(error).__name__)


def _refused(operator, call, error):
    """Handles a refusal by the functional overload: the out overload must refuse, too, when it gets plausible outs."""
    outs = plausible_outs(operator, call)
    refused = _refusal(outs, error)
    if operator.out is None or refused.refusal is None:
        return refused
    try:
        # Empty outs, which eager resizes without a warning.
        _run_out(operator, call, [Layout(o.dtype, (0,), (0,)) for o in outs], FILLS[0])
    except Exception:
        return refused
    return replace(refused, finding="the functional overload refuses, the out overload does not: " + refused.refusal)


def plausible_outs(operator, call):
    """The outs of a call that eager refuses, in the dtypes and dim orders that the call names."""
    tensors = tensors_of(call.arguments)
    like = tensors[0].layout if tensors else Layout(torch.float32, (), ())
    outs = []
    for i, argument in enumerate(operator.outs):
        dtype = torch.int64 if "indices" in argument.name or argument.name == "max_values" else like.dtype
        if i < len(call.out_dtypes) and call.out_dtypes[i] is not None:
            dtype = call.out_dtypes[i]
        order = like.dim_order
        if i < len(call.out_dim_orders) and call.out_dim_orders[i] is not None:
            order = call.out_dim_orders[i] if len(call.out_dim_orders[i]) == len(like.sizes) else order
        outs.append(Layout(dtype, like.sizes, order))
    return tuple(outs)


def convert(value, argument):
    """A Python or torch value as an argument of the schema's type; raises TypeError if it cannot be converted."""
    kind = type_name(argument)
    if value is None:
        if not kind.endswith("?"):
            raise TypeError(f"wanted {kind} for {argument.name}, got None")
        return None
    kind = kind.removesuffix("?")
    if kind.endswith("[]"):
        return _convert_list(value, kind.removesuffix("[]"), argument)
    return _convert_one(value, kind)


def _convert_list(value, kind, argument):
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = [value] * (argument.N or 1)
    return tuple(None if v is None else _convert_one(v, kind.removesuffix("?")) for v in value)


def _convert_one(value, kind):
    if kind == "Tensor":
        if isinstance(value, Stored):
            return value
        return _convert_tensor(value)
    if kind == "Scalar":
        if not isinstance(value, (bool, int, float)):
            raise TypeError(f"wanted a real scalar, got {type(value).__name__}")
        return value
    if kind in ("int", "float", "bool"):
        return {"int": int, "float": float, "bool": bool}[kind](value)
    return value


def _convert_tensor(value):
    if isinstance(value, (bool, int, float)):
        value = torch.tensor(value)
    if value.layout != torch.strided or value.is_quantized or value.device.type != "cpu":
        raise TypeError("wanted a strided tensor of numbers on the CPU")
    return store(value if dim_order_of(value) else value.contiguous())


def make_call(operator, keywords, origin, out_dtypes=(), out_dim_orders=()):
    """A call from arguments by name; missing ones take the schema's default."""
    arguments = []
    for argument in operator.inputs:
        if argument.name not in keywords and not argument.has_default_value():
            raise TypeError(f"{operator.name}: no value for {argument.name}")
        value = keywords.get(argument.name, argument.default_value if argument.has_default_value() else None)
        arguments.append(convert(value, argument))
    return Call(tuple(arguments), origin, tuple(out_dtypes), tuple(out_dim_orders))


def is_complex(call):
    """Whether a tensor, an out or an argument is of a complex dtype."""
    named = [a for a in call.arguments if isinstance(a, torch.dtype)]
    dtypes = [t.layout.dtype for t in tensors_of(call.arguments)] + [d for d in call.out_dtypes if d] + named
    return any(d.is_complex for d in dtypes)


def elements_of(call):
    return sum(math.prod(t.layout.sizes) for t in tensors_of(call.arguments))
