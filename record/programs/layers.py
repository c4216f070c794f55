"""Layers of networks and the functions between them, on static shapes."""

import torch
from executorch.exir import EdgeCompileConfig
from torch import nn
from torch.nn import Sequential
from torch.nn import functional as F

from .program import Function, forward, program


@program
def mlp():
    """Linear layers and ReLU."""
    return forward(
        Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4)),
        (torch.randn(3, 16),),
        (torch.randn(3, 16),),
    )


@program
def cnn():
    """Convolutions with stride, padding and dilation, max pooling, a linear layer at the end."""
    net = Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 12, 3, stride=2, dilation=2, padding=2),
        nn.ReLU6(), nn.Flatten(), nn.Linear(12 * 4 * 4, 10),
    )  # fmt: skip
    return forward(net, (torch.randn(2, 3, 16, 16),))


@program
def depthwise_block():
    """An inverted residual: pointwise, depthwise and pointwise convolution, batch norm, hardswish, and the sum."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = Sequential(
                nn.Conv2d(8, 24, 1, bias=False), nn.BatchNorm2d(24), nn.Hardswish(),
                nn.Conv2d(24, 24, 3, padding=1, groups=24, bias=False), nn.BatchNorm2d(24), nn.Hardswish(),
                nn.Conv2d(24, 8, 1, bias=False), nn.BatchNorm2d(8),
            )  # fmt: skip

        def forward(self, x):
            return x + self.body(x)

    block = Block()
    for layer in block.body:
        if isinstance(layer, nn.BatchNorm2d):
            nn.init.uniform_(layer.running_mean, -1, 1)
            nn.init.uniform_(layer.running_var, 0.5, 2)
    return forward(block.eval(), (torch.randn(1, 8, 9, 7),))


@program
def convolutions_1d():
    """1-D convolutions: grouped, strided, dilated; and a transposed one."""
    net = Sequential(
        nn.Conv1d(4, 8, 5, padding=2, groups=2), nn.SiLU(), nn.Conv1d(8, 6, 3, stride=2, dilation=2), nn.GELU(),
        nn.ConvTranspose1d(6, 5, 4, stride=3, padding=1, output_padding=1),
    )  # fmt: skip
    return forward(net, (torch.randn(2, 4, 21),))


@program
def convolution_transposed():
    """2-D transposed convolutions: stride, output padding, groups, dilation."""
    net = Sequential(
        nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1), nn.LeakyReLU(0.1),
        nn.ConvTranspose2d(6, 4, (2, 3), groups=2, dilation=(1, 2)),
    )  # fmt: skip
    return forward(net, (torch.randn(2, 4, 5, 6),))


@program
def convolution_3d():
    """A 3-D convolution and a 3-D average."""
    net = Sequential(nn.Conv3d(2, 4, (2, 3, 3), stride=(1, 2, 1), padding=1), nn.ReLU())
    return forward(net, (torch.randn(1, 2, 4, 6, 5),))


@program
def lstm():
    """A two-layer LSTM, unrolled over a static sequence, with its final states."""
    return forward(nn.LSTM(6, 8, num_layers=2, batch_first=True), (torch.randn(2, 5, 6),))


@program
def gru():
    """A bidirectional GRU with an initial state."""
    return forward(nn.GRU(5, 7, bidirectional=True), (torch.randn(4, 2, 5), torch.randn(2, 2, 7)))


@program
def norms():
    """Layer, group, instance and root-mean-square norms one after the other."""
    net = Sequential(
        nn.GroupNorm(2, 6), nn.InstanceNorm2d(6, affine=True), nn.LayerNorm((4, 5)), nn.RMSNorm(5), nn.BatchNorm2d(6)
    ).eval()
    for parameter in net.parameters():
        nn.init.uniform_(parameter, -1, 1)
    return forward(net, (torch.randn(2, 6, 4, 5) * 3 + 1,))


@program
def attention():
    """A transformer block: layer norm, multi-head attention over a causal mask, GELU network, residuals."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(24), nn.LayerNorm(24)
            self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
            self.net = Sequential(nn.Linear(24, 48), nn.GELU(), nn.Dropout(0.1), nn.Linear(48, 24))

        def forward(self, x):
            batch, length, width = x.shape
            q, k, v = (
                t.view(batch, length, 3, width // 3).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, dim=-1)
            )
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
            return x + self.net(self.norm2(x))

    return forward(Block().eval(), (torch.randn(2, 7, 24),))


@program
def tied_weights():
    """A language model whose embedding is also its last layer: one constant with two uses."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.middle, self.head = nn.Embedding(13, 8), nn.Linear(8, 8), nn.Linear(8, 13, bias=False)
            self.head.weight = self.embed.weight

        def forward(self, tokens):
            return self.head(self.middle(self.embed(tokens)).tanh())

    return forward(Model(), (torch.tensor([[1, 12, 0], [5, 5, 7]]),))


@program
def squeeze_excite():
    """A residual block with squeeze and excitation: global average, gates that are broadcast over the image."""

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(6, 6, 3, padding=1, padding_mode="replicate")
            self.gate = Sequential(
                nn.AdaptiveAvgPool2d(1), nn.Conv2d(6, 2, 1), nn.ReLU(), nn.Conv2d(2, 6, 1), nn.Hardsigmoid()
            )

        def forward(self, x):
            y = self.conv(x)
            return F.relu(x + y * self.gate(y))

    return forward(Block(), (torch.randn(2, 6, 5, 8),))


@program
def encoder():
    """PyTorch's own transformer encoder layer over a padded batch."""
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu", norm_first=True).eval()

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x, padding):
            return self.layer(x, src_key_padding_mask=padding)

    padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    return forward(Encoder(), (torch.randn(2, 5, 16), padding))


@program
def convolution_shapes():
    """2-D convolutions with unequal kernels, strides and paddings, same padding, groups, and an input without batch."""
    net = Sequential(
        nn.Conv2d(4, 8, (1, 5), stride=(2, 1), padding=(0, 2), groups=4), nn.ELU(),
        nn.Conv2d(8, 6, (3, 2), padding="same"), nn.CELU(), nn.Conv2d(6, 4, 2, dilation=(2, 1), bias=False),
    )  # fmt: skip
    return forward(net, (torch.randn(4, 9, 8),))


@program
def text_classifier():
    """Embedding with a padding index, mean over the tokens that are not padding, a linear layer."""

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.out = nn.Embedding(20, 12, padding_idx=0), nn.Linear(12, 3)

        def forward(self, tokens):
            mask = (tokens != 0).unsqueeze(-1)
            mean = (self.embed(tokens) * mask).sum(1) / mask.sum(1).clamp(min=1)
            return F.log_softmax(self.out(mean), -1)

    return forward(Classifier(), (torch.tensor([[3, 7, 19, 0, 0], [1, 0, 0, 0, 0], [0] * 5]),))


@program
def embedding_bags():
    """Bags of embeddings of which the sum, weighed or without padding, the mean and the maximum are taken."""

    class Bags(nn.Module):
        def __init__(self):
            super().__init__()
            self.weighed = nn.EmbeddingBag(10, 4, mode="sum", include_last_offset=True)
            self.padded = nn.EmbeddingBag(10, 4, mode="sum", padding_idx=0)
            self.mean, self.largest = nn.EmbeddingBag(10, 4, mode="mean"), nn.EmbeddingBag(10, 4, mode="max")

        def forward(self, indices, offsets, weights):
            ends = torch.cat([offsets, torch.tensor([7])])
            weighed = self.weighed(indices, ends, weights)
            return weighed, *(bags(indices, offsets) for bags in (self.padded, self.mean, self.largest))

    indices, offsets = torch.tensor([3, 0, 9, 9, 1, 0, 5]), torch.tensor([0, 3, 3])
    export = lambda module, example: torch.export.export(module, example, strict=False)  # noqa: E731  of what is trained
    return forward(Bags(), (indices, offsets, torch.randn(7)), export=export)


@program
def rotary_decoder():
    """Two decoder layers: rotary positions, grouped key and value heads, RMS norm, gated SiLU network."""

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.kv, self.o = nn.Linear(32, 32, bias=False), nn.Linear(32, 32, bias=False), nn.Linear(32, 32)
            self.norm1, self.norm2 = nn.RMSNorm(32), nn.RMSNorm(32)
            self.up, self.gate, self.down = nn.Linear(32, 64), nn.Linear(32, 64), nn.Linear(64, 32)

        def forward(self, x, cos, sin):
            batch, length, _ = x.shape
            y = self.norm1(x)
            q = self.q(y).view(batch, length, 4, 8).transpose(1, 2)
            k, v = (t.view(batch, length, 2, 8).transpose(1, 2) for t in self.kv(y).split(16, -1))
            q, k = (t * cos + torch.cat([-t[..., 4:], t[..., :4]], -1) * sin for t in (q, k))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            x = x + self.o(y.transpose(1, 2).flatten(2))
            y = self.norm2(x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([Layer(), Layer()])

        def forward(self, x):
            angles = torch.arange(x.shape[1]).unsqueeze(1) / 100 ** (torch.arange(4) / 4)
            angles = torch.cat([angles, angles], -1)
            for layer in self.layers:
                x = layer(x, angles.cos(), angles.sin())
            return x

    return forward(Decoder(), (torch.randn(1, 6, 32),))


@program
def mobile_net():
    """A network of the MobileNet kind on a 32 by 32 image: stem, four inverted residuals, global average, classes."""

    def block(inside, outside, stride, factor=4):
        wide = inside * factor
        return Sequential(
            nn.Conv2d(inside, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, outside, 1, bias=False), nn.BatchNorm2d(outside),
        )  # fmt: skip

    net = Sequential(
        nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6(), block(16, 24, 2), block(24, 24, 1),
        block(24, 40, 2), block(40, 64, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.2), nn.Linear(64, 100),
    )  # fmt: skip
    return forward(net.eval(), (torch.randn(1, 3, 32, 32),))


@program
def pools_3d():
    """Maximum, average and adaptive pools of three dimensions: padded, with ceiling, and the indices."""

    def pool(volume):
        largest, places = F.max_pool3d(volume, (2, 3, 2), 2, 1, ceil_mode=True, return_indices=True)
        average = F.avg_pool3d(volume, 3, (1, 2, 2), 1, count_include_pad=False)
        return largest, places, average, F.adaptive_avg_pool3d(average, (2, 1, 3))

    return forward(Function(pool), (torch.randn(2, 3, 4, 6, 5),))


@program
def pools_1d():
    """Average pools of one dimension that the exporter is told to keep as they are."""
    kept = [torch.ops.aten.avg_pool1d.default, torch.ops.aten.adaptive_avg_pool1d.default]
    net = Sequential(nn.AvgPool1d(3, 2, 1, ceil_mode=True), nn.AdaptiveAvgPool1d(4))
    edge = EdgeCompileConfig(_check_ir_validity=False, preserve_ops=kept)
    return forward(net, (torch.randn(2, 3, 14),), edge=edge)
