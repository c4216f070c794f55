"""Functions of tensors without parameters, on static shapes."""

import torch
from torch.nn import functional as F

from .program import UNCHECKED, Function, forward, program


@program
def activations():
    """Functions between layers: relu, gelu (both forms), silu, hardswish, softmax, log_softmax and others."""

    def activate(x):
        return (
            F.relu(x), F.leaky_relu(x, 0.2), F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.hardswish(x),
            F.hardsigmoid(x), F.hardtanh(x, -0.5, 2), F.elu(x, 0.7), F.softplus(x), x.sigmoid(), x.tanh(), F.glu(x, 1),
            F.softmax(x, 1), F.log_softmax(x, 0), F.mish(x), F.softmin(x, 1),
        )  # fmt: skip

    return forward(Function(activate), (torch.randn(3, 6) * 4,))


@program
def pooling():
    """Maximum and average pools of 1, 2 and 3 dimensions, with padding and ceiling, adaptive ones, and the indices."""

    def pool(line, image):
        return (
            F.max_pool1d(line, 3, 2, 1), F.avg_pool1d(line, 4, 3, 2), F.avg_pool2d(image, 3, 2, 1, ceil_mode=True),
            F.avg_pool2d(image, (2, 3), count_include_pad=False, padding=1), F.adaptive_avg_pool2d(image, 1),
            F.adaptive_avg_pool2d(image, (3, 2)), F.max_pool2d(image, 2, ceil_mode=True),
            *F.max_pool2d(image, 3, 2, 1, return_indices=True),
        )  # fmt: skip

    return forward(Function(pool), (torch.randn(2, 3, 11), torch.randn(2, 3, 7, 5)))


@program
def resampling():
    """Images made larger and smaller: nearest, bilinear with and without aligned corners, and by factors."""

    def resample(x):
        return (
            F.interpolate(x, scale_factor=2), F.interpolate(x, size=(3, 9)),
            F.interpolate(x, size=(9, 7), mode="bilinear", align_corners=True),
            F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=False),
        )  # fmt: skip

    return forward(Function(resample), (torch.randn(2, 2, 5, 6),))


@program
def pixels():
    """pixel_shuffle, pixel_unshuffle and padding: constant, reflected, replicated."""

    def move(x):
        y = F.pixel_shuffle(x, 2)
        padded = (
            F.pad(y, (1, 2, 0, 1), value=-1.0),
            F.pad(y, (1, 2, 3, 0), "reflect"),
            F.pad(y, (2, 0, 1, 1), "replicate"),
        )
        return y, F.pixel_unshuffle(y * 2, 2), *padded

    return forward(Function(move), (torch.randn(1, 8, 3, 4),))


@program
def contractions():
    """Matrix products: mm, bmm, matmul over batches, einsum, addmm with factors, an outer product."""

    def contract(a, b, c):
        return (
            a @ b, torch.einsum("ij,jk->ki", a, b), torch.einsum("bij,bkj->bik", c, c), torch.matmul(c, b),
            torch.addmm(b.sum(0), a, b, beta=0.5, alpha=2), torch.outer(a[0], b[0]), torch.mv(a, b[:, 0]),
            torch.einsum("bij,jk,bil->bkl", c, b, c),
        )  # fmt: skip

    return forward(Function(contract), (torch.randn(3, 4), torch.randn(4, 5), torch.randn(2, 3, 4)))


@program
def reductions():
    """Sums, means, extremes, variances, norms, any and all, over all, one and several dimensions."""

    def reduce(x):
        return (
            x.sum(), x.sum((0, 2)), x.mean(1, keepdim=True), x.amax((0, 1)), x.amin(2), x.argmax(), x.argmax(1),
            x.argmin(2), *x.max(1), *x.min(0), x.var(2), x.std((0, 1), correction=0), x.prod(2), (x > 1).any(1),
            (x > -3).all(), x.norm(dim=1), torch.logsumexp(x, 2), x.cumsum(1), torch.var_mean(x, 1)[1],
        )  # fmt: skip

    return forward(Function(reduce), (torch.randn(2, 3, 4),), edge=UNCHECKED)


@program
def elementwise():
    """Functions of one and two operands with broadcasting, clamping, powers, rounding and remainders."""

    def compute(x, y):
        p = x.abs() + 0.5
        return (
            x + y, x - 2 * y, x * y, x / (y.abs() + 1), x.clamp(-1, 1), x.clamp(min=0.5), torch.clamp(x, max=y),
            p.pow(2.5), p.pow(y), x.square(), p.sqrt(), p.rsqrt(), p.log(), p.log1p(), x.exp(), x.expm1(), x.erf(),
            x.sin(), x.cos(), x.tan(), x.atan(), x.sign(), x.floor(), x.ceil(), x.round(), x.trunc(), x.fmod(0.7),
            x.remainder(0.7), torch.floor_divide(x, 0.3), torch.maximum(x, y), torch.minimum(x, y), p.reciprocal(),
            torch.atan2(x, y), x.sinh(), x.cosh(), p.log2(), p.log10(), torch.addcmul(x, x, y, value=0.5), 3 - x,
            2**x,
        )  # fmt: skip

    return forward(Function(compute), (torch.randn(3, 4), torch.randn(4)))


@program
def comparisons():
    """Comparisons, logic, tests for NaN and infinity, and selection by them; NaN and infinite inputs."""

    def compare(x, y):
        less, same = x < y, x == y
        return (
            less, same, x >= y, x <= 0, x > 1.5, x != y, less & same, less | same, less ^ same, ~less,
            torch.logical_and(x, y), torch.logical_not(x), x.isnan(), x.isinf(), torch.where(less, x, y),
            torch.where(x.isnan(), 0.0, x),
        )  # fmt: skip

    special = [[float("nan"), float("inf"), -float("inf"), 0.0], [1.0, -1.0, 2.0, -0.0]]
    return forward(Function(compare), (torch.tensor(special), torch.tensor([1.0, float("inf"), 2.0, 0.0])))


@program
def movement():
    """Rearrangement: flip, roll, repeat, expand, permute, triangles, slices with steps, diagonals, unfold."""

    def move(x):
        return (
            x.flip(0), x.flip((1, 2)), x.roll(1, 2), x.roll((1, -1), (0, 1)), x.repeat(2, 1, 1),
            x[:, :1].expand(2, 5, 4), x.permute(2, 0, 1), x.transpose(0, 2), x.tril(), x.triu(1), x[:, 1:, ::2],
            x[1], x[:, -1], x.diagonal(0, 1, 2), x.unfold(2, 2, 1), x.repeat_interleave(2, 1),
            x.select_scatter(x[0] * 2, 0, 1), x.slice_scatter(x[:, :1] * 3, 1, 2, 3), x.unsqueeze(1).squeeze(),
            torch.tile(x, (1, 2, 1)), x.rot90(1, (1, 2)),
        )  # fmt: skip

    return forward(Function(move), (torch.arange(24.0).reshape(2, 3, 4),), edge=UNCHECKED)


@program
def tensor_lists():
    """Lists of tensors: split, chunk, unbind, stack, cat, and pieces of unequal sizes."""

    def divide(x):
        a, b, c = x.split([1, 2, 3], 1)
        d, e = x.chunk(2, 0)
        rows = x.unbind(0)
        stacked = torch.stack([rows[0], rows[3] * 2], 1)
        return torch.cat([c, a, b], 1), d + e, stacked, torch.cat([x, x[:1]], 0), *x.split(2, 1), *x.tensor_split(3, 1)

    return forward(Function(divide), (torch.randn(4, 6),))


@program
def sorting():
    """topk of largest and smallest, sort in both directions, argsort, of values without ties."""

    def order(x):
        return *x.topk(3), *x.topk(2, 0, largest=False), *x.sort(1), *x.sort(0, descending=True), x.argsort(1)

    return forward(Function(order), (torch.randperm(20).float().reshape(4, 5),))


@program
def creation():
    """Tensors made by the program: full, zeros, ones, arange, linspace-like grids, triangles, eye, like an input."""

    def make(x):
        n = torch.arange(4)
        return (
            torch.full((2, 3), 2.5), torch.zeros(3), torch.ones(2, 2, dtype=torch.int32), torch.arange(1, 2, 0.25),
            torch.full_like(x, 7), torch.zeros_like(x), torch.ones_like(x, dtype=torch.float64), n.view(4, 1) - n,
            torch.eye(3), torch.tensor([1, 2, 3]) + x.sum(), x.new_full((2,), -1), torch.scalar_tensor(4.5) * x,
        )  # fmt: skip

    return forward(Function(make), (torch.randn(2, 3),))


@program
def scattering():
    """scatter with sums and products, index_put with and without accumulation, index_add, index_copy, masked writes."""

    def scatter(x, index, rows):
        y = x.clone()
        y[rows] = y[rows] * 2
        y[:, 0] = -1.0
        return (
            x.scatter_reduce(0, index, x, "sum"), x.scatter_reduce(1, index, x, "amax", include_self=False), y,
            x.index_put((rows,), torch.ones(4), accumulate=True), x.index_add(0, rows, x[:2]),
            x.index_copy(0, rows, x[:2] + 1), x.masked_scatter(x > 0, x.flip(0)), x.index_fill(1, rows, 3.0),
        )  # fmt: skip

    index = torch.tensor([[0, 1, 2, 0], [2, 2, 1, 0], [1, 0, 0, 2]])
    return forward(Function(scatter), (torch.randn(3, 4), index, torch.tensor([2, 0])))


@program
def distances():
    """cdist, pairwise distances, grid sampling, bilinear antialiased resampling."""

    def measure(a, b, image, grid):
        sampled = F.grid_sample(image, grid, align_corners=False)
        smaller = F.interpolate(image, size=(3, 3), mode="bilinear", antialias=True)
        return torch.cdist(a, b), F.pairwise_distance(a, b), F.cosine_similarity(a, b), sampled, smaller

    inputs = torch.randn(4, 3), torch.randn(4, 3), torch.randn(1, 2, 6, 6), torch.rand(1, 4, 5, 2) * 2.2 - 1.1
    return forward(Function(measure), inputs)
