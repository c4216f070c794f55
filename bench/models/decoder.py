"""A decoder of 15 M parameters in the architecture of Llama (Touvron et al., 2023), of the sizes of "stories15M"."""

import torch
from torch import nn
from torch.nn import functional as F

DIM, LAYERS, HEADS, HIDDEN, VOCABULARY, LONGEST = 288, 6, 6, 768, 32000, 256
HEAD = DIM // HEADS


def rotated(x, cosine, sine):
    """Rotary position embedding: pairs of neighbours as complex numbers, turned."""
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(-2)


class Attention(nn.Module):
    """Attention to all that was seen so far, which stays in two buffers."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(DIM, DIM, bias=False) for _ in range(4))
        self.register_buffer("cached_keys", torch.zeros(1, HEADS, LONGEST, HEAD))
        self.register_buffer("cached_values", torch.zeros(1, HEADS, LONGEST, HEAD))

    def forward(self, x, positions, turn, mask):
        query, key, value = (
            linear(x).unflatten(-1, (HEADS, HEAD)).transpose(1, 2) for linear in (self.query, self.key, self.value)
        )
        self.cached_keys.index_copy_(2, positions, rotated(key, *turn))
        self.cached_values.index_copy_(2, positions, value)
        seen = F.scaled_dot_product_attention(rotated(query, *turn), self.cached_keys, self.cached_values, mask)
        return self.output(seen.transpose(1, 2).flatten(-2))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up = (nn.Linear(DIM, HIDDEN, bias=False) for _ in range(2))
        self.down = nn.Linear(HIDDEN, DIM, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.feed_forward = Attention(), FeedForward()
        self.before_attention, self.before_feed_forward = nn.RMSNorm(DIM, 1e-5), nn.RMSNorm(DIM, 1e-5)

    def forward(self, x, *places):
        x = x + self.attention(self.before_attention(x), *places)
        return x + self.feed_forward(self.before_feed_forward(x))


class Decoder(nn.Module):
    """From tokens [1, n] and the position [1] of the first of them to the logits of what follows the last."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, DIM)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(DIM, 1e-5)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=weight.shape[1] ** -0.5)
        angles = torch.outer(torch.arange(LONGEST), 10000.0 ** (-torch.arange(0, HEAD, 2) / HEAD))
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def forward(self, tokens, start):
        positions = start + torch.arange(tokens.shape[1])
        turn = self.cosine[positions], self.sine[positions]
        mask = torch.arange(LONGEST) <= positions[:, None]
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, positions, turn, mask)
        return F.linear(self.norm(x[:, -1]), self.embedding.weight)


class Stateless(nn.Module):
    """A module whose buffers of these names are further inputs, and what becomes of them further outputs."""

    def __init__(self, module, names):
        super().__init__()
        self.module, self.names = module, names

    def forward(self, inputs, state):
        state = {name: value.clone() for name, value in zip(self.names, state)}
        return torch.func.functional_call(self.module, state, inputs), *state.values()


def stateless(decoder):
    """The decoder for exporters that know no state, and the state to begin with."""
    caches = {name: cache for name, cache in decoder.named_buffers() if "cached" in name}
    return Stateless(decoder, list(caches)), list(caches.values())
