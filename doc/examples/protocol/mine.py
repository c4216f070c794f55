"""Kernels as Python functions on numpy arrays: assay kernels --operators relu python:mine"""
import numpy


def relu(x):
    if x.dtype.kind == "V":
        raise NotImplementedError("numpy has no such numbers")
    if x.dtype.str in ("|b1", "<u2", "<u4", "<u8"):
        raise TypeError(f"relu takes no {x.dtype}")
    return numpy.where(x < 0, numpy.zeros((), x.dtype), x)


kernels = {"aten::relu.out": relu}
broken = {"aten::relu.out": lambda x: relu(x)[..., :1] if x.ndim else relu(x)}
