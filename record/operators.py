"""An operator overload to record: its schema and eager PyTorch's functions for it."""

from types import SimpleNamespace

import torch
import executorch.exir.passes._device_copy_ops_registry  # noqa: F401  registers et_copy
import executorch.exir.passes.dim_order_ops_registry  # noqa: F401  registers dim_order_ops
import executorch.exir.passes._quant_patterns_and_replacements  # noqa: F401  registers the quantized embeddings
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from executorch.exir.passes.executorch_prim_ops_registry import _PYTHON_SYM_OPS_TO_EXECUTORCH_SYM_OPS

import definitions  # noqa: F401  defines what has no kernel

# Arguments of a functional overload that an out argument replaces.
TENSOR_OPTIONS = ("dtype", "layout", "device", "pin_memory")
# For operators on numbers, by name: the function that eager PyTorch calls instead.
NUMBER_FUNCTIONS = {op._schema.name: f for f, op in _PYTHON_SYM_OPS_TO_EXECUTORCH_SYM_OPS.items()}


class Operator:
    """One overload of the spec.

    `functional` is the overload without outs, `out` the overload with them, or None where only ExecuTorch has it.
    An overload whose schema has no out gives its result as the single out. `reached` is PyTorch's functional
    overload, which does not return the arguments that it changes in place.
    """

    def __init__(self, schema_text):
        self.schema_text = schema_text
        self.schema = torch._C.parse_schema(schema_text)
        self.name = schema_text.split("(")[0]
        self.namespace, self.overload_name = self.name.split("::")
        self.base_name, _, self.overload = self.overload_name.partition(".")
        self.inputs = [a for a in self.schema.arguments if not a.is_out]
        self.changed = [a.name for a in self.inputs if a.alias_info and a.alias_info.is_write]
        self.outs = [a for a in self.schema.arguments if a.is_out] or [SimpleNamespace(name="result", type="Tensor")]
        self.makes_dtype = False
        self.out = None
        if self.schema.name in NUMBER_FUNCTIONS:
            self.functional = lambda **arguments: NUMBER_FUNCTIONS[self.schema.name](*arguments.values())
        else:
            self._find_overloads()
        self.has_list_out = any("[]" in str(a.type) or "List" in str(a.type) for a in self.outs)

    def _find_overloads(self):
        packet = getattr(getattr(torch.ops, self.namespace), self.base_name)
        overload = getattr(packet, self.overload or "default", None)
        if not any(a.is_out for a in self.schema.arguments):
            self.functional = self.reached = overload
            return
        self.functional = self.reached = definitions.CHECKED.get(self.schema.name) or self._find_functional(packet)
        # Eager's own out overloads cannot omit a result.
        masked = any(a.name == "output_mask" for a in self.inputs)
        self.out = overload if self.namespace == "aten" and not masked and not self.changed else None
        arguments = getattr(self.functional, "_schema", self.schema).arguments
        self.makes_dtype = "dtype" in {a.name for a in arguments} - {a.name for a in self.inputs}
        if self.changed:
            self._return_new_values()

    def _return_new_values(self):
        """Returns the arguments that a call changes in place after its results, as the spec does."""
        function, names = self.functional, self.changed
        self.outs = self.outs + [SimpleNamespace(name=f"{name}_out", type="Tensor") for name in names]

        def functional(**arguments):
            results = function(**arguments)
            return (*(results if isinstance(results, tuple) else (results,)), *(arguments[n] for n in names))

        self.functional = functional

    def _find_functional(self, packet):
        wanted = [(a.name, str(a.type)) for a in self.inputs]
        names = {a.name for a in self.inputs}
        for overload in sorted(packet.overloads()):
            candidate = getattr(packet, overload)
            if candidate._schema.is_mutable and not self.changed:
                continue
            kept = [
                (a.name, str(a.type))
                for a in candidate._schema.arguments
                if a.name in names or a.name not in TENSOR_OPTIONS
            ]
            if kept == wanted:
                return candidate
        raise LookupError(f"{self.name}: wanted a functional overload of the same arguments, found none")

    def file_name(self):
        return f"{self.namespace}.{self.overload_name}.calls"


def type_name(argument):
    """The ATen spelling of an argument's type without its fixed length: "Tensor?[]", "int[]?", "Scalar"."""
    return _spelling(argument.real_type)


def _spelling(jit_type):
    kind = jit_type.kind()
    if kind == "OptionalType":
        return _spelling(jit_type.getElementType()) + "?"
    if kind == "ListType":
        return _spelling(jit_type.getElementType()) + "[]"
    return _NAMES.get(kind, kind)


_NAMES = {
    "TensorType": "Tensor",
    "IntType": "int",
    "SymIntType": "int",
    "FloatType": "float",
    "BoolType": "bool",
    "StringType": "str",
    "NumberType": "Scalar",
    "ScalarTypeType": "ScalarType",
    "MemoryFormatType": "MemoryFormat",
}
