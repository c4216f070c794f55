"""Calls and their answers in the format of the FlatBuffers schema golden/calls.fbs."""

import importlib
import subprocess
import sys
from pathlib import Path

import flatbuffers
import numpy
import torch

from call import Call, plausible_outs
from operators import type_name
from tensors import DTYPE_NUMBERS, DTYPE_OF_NUMBER, MEMORY_FORMAT_NUMBERS, MEMORY_FORMAT_OF_NUMBER, Layout, Stored

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


def calls_in(operator, file):
    """The calls of a recorded file; none if there is no such file. A call names the dtype and the dim order of an out
    where eager, without an out, chooses others."""
    if not file.exists():
        return []
    recorded = _module("Calls").Calls.GetRootAs(file.read_bytes())
    return [_call(operator, recorded.Calls(i)) for i in range(recorded.CallsLength())]


def _call(operator, recorded):
    values = [recorded.Arguments(i) for i in range(recorded.ArgumentsLength())]
    arguments = tuple(_read(v, type_name(a)) for v, a in zip(values, operator.inputs))
    outs = [_read(v, "Tensor") for v in values[len(operator.inputs) :]]
    outs = [o.layout for o in (outs[0][:1] if operator.has_list_out else outs)]  # one wish for all entries of a list
    fresh = [_layout(recorded.Fresh(i)) for i in range(recorded.FreshLength())]
    call = Call(arguments, recorded.Origin().decode())
    return call.with_outs(outs, fresh or plausible_outs(operator, call))


def _read(argument, kind):
    """The value of an argument of the kind."""
    name = {n: t for t, n in vars(_module("Value").Value).items()}[argument.ValueType()]
    if name == "NONE":
        return None
    table = getattr(_module(name), name)()
    table.Init(argument.Value().Bytes, argument.Value().Pos)
    if name == "Tensor":
        return _stored(table)
    if name == "Tensors":
        entries = [table.Entries(i).Tensor() for i in range(table.EntriesLength())]
        return tuple(None if e is None else _stored(e) for e in entries)
    if name.endswith("s"):
        return tuple(table.Values(i) for i in range(table.ValuesLength()))
    if name == "String":
        return table.Value().decode()
    numbered = {"ScalarType": DTYPE_OF_NUMBER, "MemoryFormat": MEMORY_FORMAT_OF_NUMBER}.get(kind.removesuffix("?"))
    return numbered[table.Value()] if numbered else table.Value()


def _layout(table):
    sizes = tuple(table.Sizes(i) for i in range(table.SizesLength()))
    return Layout(DTYPE_OF_NUMBER[table.Dtype()], sizes, tuple(table.DimOrder(i) for i in range(table.DimOrderLength())))


def _stored(table):
    data = None if table.DataIsNone() else bytes(table.Data(i) for i in range(table.DataLength()))
    return Stored(_layout(table), data)
