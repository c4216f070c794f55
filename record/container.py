"""Calls and their answers in the format of the FlatBuffers schema golden/calls.fbs."""

import importlib
import subprocess
import sys
from pathlib import Path

import flatbuffers
import numpy
import torch

from operators import type_name
from tensors import DTYPE_NUMBERS, MEMORY_FORMAT_NUMBERS, Stored

FILE_IDENTIFIER = b"AGC1"
LISTS = {"int": ("Ints", numpy.int64), "float": ("Doubles", numpy.float64), "bool": ("Bools", numpy.bool_)}


def generate_classes(schema: Path, folder: Path):
    """Python classes of the container's schema, generated into `folder` and made importable."""
    subprocess.run(["flatc", "--python", "-o", str(folder), str(schema)], check=True)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()


def _module(table):
    return importlib.import_module(f"assay.golden.{table}")


class Container:
    """A FlatBuffers builder that stores equal parts once."""

    def __init__(self, operator):
        self.operator = operator
        self.builder = flatbuffers.Builder(1 << 16)
        self.builder.ForceDefaults(True)  # a default is dropped by ==, and -0.0 == 0.0
        self.parts = {}
        self.calls = []

    def size(self):
        return self.builder.Offset()

    def add(self, call, answer, fresh=()):
        """Appends a call; `fresh` has the layouts of eager's results without outs."""
        outs = [Stored(layout, None) for layout in answer.outs]
        arguments = [self._argument(v, type_name(a)) for v, a in zip(call.arguments, self.operator.inputs)]
        if self.operator.has_list_out:
            arguments.append(self._argument(tuple(outs), "Tensor[]"))
        else:
            arguments += [self._argument(o, "Tensor") for o in outs]
        fields = {"Arguments": self._offsets(arguments), "Origin": self._string(call.origin)}
        if answer.refusal is None:
            fields["Results"] = self._offsets([self._tensor(r) for r in answer.results])
        else:
            fields["Refusal"] = self._string(answer.refusal)
        if fresh:
            fields["Fresh"] = self._offsets([self._tensor(Stored(layout, None)) for layout in fresh])
        self.calls.append(self._table("Call", fields))

    def finish(self):
        """The file's bytes."""
        calls = {"Schema": self._string(self.operator.schema_text), "Calls": self._offsets(self.calls)}
        root = self._table("Calls", calls)
        self.builder.Finish(root, file_identifier=FILE_IDENTIFIER)
        return bytes(self.builder.Output())

    def _once(self, key, make):
        if key not in self.parts:
            self.parts[key] = make()
        return self.parts[key]

    def _table(self, table, fields):
        """`fields` are offsets by name. Equal tables are stored once."""

        def make():
            module = _module(table)
            getattr(module, f"{table}Start")(self.builder)
            for name, value in fields.items():
                getattr(module, f"{table}Add{name}")(self.builder, value)
            return getattr(module, f"{table}End")(self.builder)

        key = (table, tuple((k, repr(v)) for k, v in fields.items()))
        return self._once(key, make)

    def _string(self, text):
        return self._once(("string", text), lambda: self.builder.CreateString(text))

    def _vector(self, values, dtype):
        array = numpy.array(values, dtype=dtype)
        key = ("vector", array.dtype.str, array.tobytes())
        return self._once(key, lambda: self.builder.CreateNumpyVector(array))

    def _bytes(self, data):
        return self._once(("bytes", data), lambda: self.builder.CreateByteVector(data))

    def _offsets(self, offsets):
        def make():
            self.builder.StartVector(4, len(offsets), 4)
            for offset in reversed(offsets):
                self.builder.PrependUOffsetTRelative(offset)
            return self.builder.EndVector()

        return self._once(("offsets", tuple(offsets)), make)

    def _tensor(self, stored):
        layout = stored.layout
        fields = {
            "Sizes": self._vector(layout.sizes, numpy.int32),
            "DimOrder": self._vector(layout.dim_order, numpy.uint8),
            "Dtype": DTYPE_NUMBERS[layout.dtype],
        }
        if stored.data is not None:
            fields["Data"] = self._bytes(stored.data)
        return self._table("Tensor", fields)

    def _argument(self, value, kind):
        if value is None:
            return self._table("Argument", {})
        table, offset = self._value(value, kind.removesuffix("?"))
        number = getattr(_module("Value").Value, table)
        return self._table("Argument", {"ValueType": number, "Value": offset})

    def _value(self, value, kind):
        if isinstance(value, Stored):
            return "Tensor", self._tensor(value)
        if isinstance(value, tuple):
            return self._list(value, kind.removesuffix("[]").removesuffix("?"))
        if isinstance(value, bool):
            return "Bool", self._table("Bool", {"Value": value})
        if isinstance(value, torch.dtype):
            value = DTYPE_NUMBERS[value]
        if isinstance(value, torch.memory_format):
            value = MEMORY_FORMAT_NUMBERS[value]
        if isinstance(value, int):
            return "Int", self._table("Int", {"Value": value})
        if isinstance(value, float):
            return "Double", self._table("Double", {"Value": value})
        return "String", self._table("String", {"Value": self._string(value)})

    def _list(self, values, kind):
        if kind == "Tensor":
            entries = [self._table("Entry", {} if v is None else {"Tensor": self._tensor(v)}) for v in values]
            return "Tensors", self._table("Tensors", {"Entries": self._offsets(entries)})
        table, dtype = LISTS[kind]
        return table, self._table(table, {"Values": self._vector(values, dtype)})
