"""What goes in and out of methods: numbers, strings, lists, None, constants, the same value twice; several methods."""

import torch
from torch import nn

from .program import Call, Function, Method, Program, forward, program


@program
def constant_outputs():
    """Outputs that do not depend on the input: a weight, numbers, None."""

    class Constants(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(2, 3))

        def forward(self, x):
            return x + 1, self.weight, 42, 2.5, True, None

    return forward(Constants(), (torch.randn(2),))


@program
def duplicate_outputs():
    """One value returned three times, and its view."""

    def twice(x):
        y = x * 2
        return y, y, y.view(-1), y

    return forward(Function(twice), (torch.randn(2, 3),))


@program
def input_as_output():
    """An input returned as it came, beside a computed value."""
    return forward(Function(lambda x, y: (x, x + y, y)), (torch.randn(2, 3), torch.randn(3)))


@program
def identity():
    """A method without instructions."""
    return forward(Function(lambda x: x), (torch.randn(4),))


@program
def no_inputs():
    """A method without inputs."""

    class Constant(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(3))

        def forward(self):
            return self.weight * 2 + torch.arange(3)

    return forward(Constant(), (), ())


@program
def structures():
    """Outputs in dictionaries, tuples and lists, inputs in a list and a dictionary; all flat in the program."""

    def compute(pair, named):
        a, b = pair
        return {"sum": a + b, "rest": (a - b, [a * named["scale"], named["offset"] + 1])}

    inputs = [torch.randn(2), torch.randn(2)], {"scale": torch.randn(2), "offset": torch.randn(())}
    return forward(Function(compute), inputs)


@program
def scalar_inputs():
    """Numbers, a bool and None among the inputs: the program holds the values it was traced with."""

    def compute(x, n, factor, negate, nothing):
        y = x * factor + n
        return -y if negate else y, nothing, n

    return forward(Function(compute), (torch.randn(3), 3, 1.5, True, None))


@program
def string_input():
    """A string among the inputs: the exporter leaves None in its place."""

    def compute(x, mode):
        return x.cos() if mode == "cosine" else x

    return forward(Function(compute), (torch.randn(3), "cosine"))


@program
def unused_input():
    """An input that nothing reads."""
    return forward(Function(lambda x, y: x.exp()), (torch.randn(2, 2), torch.randn(5)))


@program
def methods():
    """Three methods over shared weights: encoder, decoder, and both."""

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(6, 4)

        def forward(self, x):
            return self.layer(x).tanh()

    class Decoder(Encoder):
        def forward(self, z):
            return z @ self.layer.weight

    class Both(nn.Module):
        def __init__(self, encoder, decoder):
            super().__init__()
            self.encoder, self.decoder = encoder, decoder

        def forward(self, x):
            return self.decoder(self.encoder(x)) - x

    encoder, decoder = Encoder(), Decoder()
    decoder.layer = encoder.layer
    x, z = torch.randn(2, 6), torch.randn(2, 4)
    made = {
        "encode": Method(encoder, (x,)),
        "decode": Method(decoder, (z,)),
        "both": Method(Both(encoder, decoder), (x,)),
    }
    return Program(made, [Call("encode", (x,)), Call("decode", (z,)), Call("both", (x,)), Call("encode", (x + 1,))], bundled=True)


@program
def constant_methods():
    """Methods that return a number, a bool or a tensor beside forward, as language models carry their settings."""
    constants = {"get_max_seq_len": 128, "get_scale": 0.125, "use_kv_cache": True, "get_table": torch.arange(5.0)}
    x = torch.randn(2)
    made = {"forward": Method(Function(lambda x: x * 0.125), (x,))}
    return Program(made, [Call("forward", (x,)), *(Call(n, ()) for n in constants)], constants=constants)
