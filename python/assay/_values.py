"""Values of Python as the JSON of spec/call.md, and back."""
import base64
import io
import os
import pathlib
from typing import Any

import numpy

from assay._fault import Fault

# By the name of a dtype, what numpy calls it; raw bytes where numpy has none.
# begin generated numpy_dtypes from spec/dtypes.yaml, by tools/specgen/blocks.py
CODES = {
    "uint8": "u1", "int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "float16": "f2", "float32": "f4",
    "float64": "f8", "complex32": "V4", "complex64": "c8", "complex128": "c16", "bool": "b1", "qint8": "V1",
    "quint8": "V1", "qint32": "V4", "bfloat16": "V2", "quint4x2": "V1", "quint2x4": "V1", "bits16": "V2",
    "float8_e5m2": "V1", "float8_e4m3fn": "V1", "float8_e5m2fnuz": "V1", "float8_e4m3fnuz": "V1", "uint16": "u2",
    "uint32": "u4", "uint64": "u8",
}
# end generated numpy_dtypes
NAMES = {numpy.dtype(code): name for name, code in CODES.items() if not code.startswith("V")}


def program_bytes(program: Any) -> bytes:
    """Returns the bytes of a program that is given as bytes, as a path, or as an object of torch's exporter."""
    if isinstance(program, (bytes, bytearray, memoryview)):
        return bytes(program)
    if isinstance(program, (str, os.PathLike)):
        try:
            return pathlib.Path(program).read_bytes()
        except OSError as error:
            raise Fault("malformed", "file", str(program), error.strerror) from error
    if hasattr(program, "buffer"):
        return bytes(program.buffer)
    if hasattr(program, "write_to_file"):
        file = io.BytesIO()
        program.write_to_file(file)
        return file.getvalue()
    raise Fault("malformed", "file", "", f"{type(program).__name__} is not a program: pass bytes, a path, or an object with buffer or write_to_file")


def array_of(tensor: Any) -> numpy.ndarray:
    """Returns an array or a tensor of any library as a numpy array, by __array__ or dlpack."""
    if isinstance(tensor, (numpy.ndarray, numpy.generic)):
        return numpy.asarray(tensor)
    if hasattr(tensor, "detach"):
        tensor = tensor.detach()
    if hasattr(tensor, "__dlpack__"):
        try:
            return numpy.from_dlpack(tensor)
        except (BufferError, RuntimeError, TypeError):  # not in this memory, or of a dtype that dlpack lacks
            pass
    return numpy.asarray(tensor)


def is_tensor(value: Any) -> bool:
    return isinstance(value, (numpy.ndarray, numpy.generic)) or hasattr(value, "__dlpack__") or hasattr(value, "__array__")


def tensor_json(tensor: Any) -> dict:
    try:
        array = array_of(tensor)
    except Exception as error:
        raise Fault("malformed", "call.tensor", "", f"a {type(tensor).__name__} cannot be converted to a numpy array:  {error}") from error
    if array.dtype not in NAMES:
        raise Fault("malformed", "call.tensor", "", f"assay has no dtype {array.dtype}")
    data = numpy.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    return {"dtype": NAMES[array.dtype], "sizes": list(array.shape), "data": base64.b64encode(data).decode()}


def json_of(value: Any) -> Any:
    if is_tensor(value):
        return tensor_json(value)
    if isinstance(value, (list, tuple)) and any(is_tensor(v) or v is None for v in value):
        return {"tensors": [None if v is None else tensor_json(v) for v in value]}
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, str):
        return {"string": value}
    if isinstance(value, float):
        return {"double": value if numpy.isfinite(value) else str(value)}
    return value


def value_of(json: Any) -> Any:
    if not isinstance(json, dict):
        return json
    if "dtype" not in json:
        (kind, value), = json.items()
        return float(value) if kind == "double" else [value_of(v) for v in value] if kind == "tensors" else value
    flat = numpy.frombuffer(bytearray(base64.b64decode(json["data"])), CODES[json["dtype"]])
    order = json.get("dim_order") or list(range(len(json["sizes"])))
    return flat.reshape([json["sizes"][d] for d in order]).transpose(numpy.argsort(order).tolist())
