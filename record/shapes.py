"""The tensors of a plan: sizes, and the distribution of their random elements."""

from dataclasses import dataclass

import torch

from values import random


@dataclass(frozen=True)
class Shape:
    """A random tensor; without a dtype it is one of the call's data tensors, whose dtype the generators choose."""

    sizes: tuple
    dtype: torch.dtype | None = None
    low: float | None = None
    high: float | None = None

    def make(self, dtype, generator):
        return random(self.sizes, self.dtype or dtype, generator, self.low, self.high)


@dataclass(frozen=True)
class Ascending(Shape):
    """The same in ascending order along the last dimension."""

    def make(self, dtype, generator):
        tensor = super().make(dtype, generator)
        return tensor if tensor.dtype.is_complex or tensor.dim() == 0 else tensor.sort(-1).values


@dataclass(frozen=True)
class Runs(Shape):
    """Zeros and ones, so that elements and slices repeat."""

    def make(self, dtype, generator):
        return random(self.sizes, torch.bool, generator).to(dtype)


@dataclass(frozen=True)
class Given(Shape):
    """These elements."""

    elements: tuple = ()

    def make(self, dtype, generator):
        return torch.tensor(self.elements, dtype=torch.float64).to(self.dtype or dtype).reshape(self.sizes)


@dataclass(frozen=True)
class Derived:
    """A data tensor whose sizes follow from the other arguments: `shape(chosen)`."""

    shape: object
    sizes = None

    def __call__(self, chosen):
        return self.shape(chosen)


def S(*sizes, low=None, high=None):
    return Shape(sizes, None, low, high)


def V(*elements, sizes=None, dtype=None):
    """These elements, in a row where no sizes are given."""
    return Given(sizes or (len(elements),), dtype, elements=elements)


def I(*sizes, below=3, low=0, dtype=torch.int64):  # noqa: E743
    """Indices in [low, below)."""
    return Shape(sizes, dtype, low, below)


def M(*sizes):
    """A mask."""
    return Shape(sizes, torch.bool)


def Q(*sizes):
    """Quantized values of an int8 tensor."""
    return Shape(sizes, torch.int8, -128, 128)


def F32(*sizes, low=None, high=None):
    return Shape(sizes, torch.float32, low, high)
