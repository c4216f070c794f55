"""Overloads of operators of torch: which of them have outs, and which differ in nothing else."""


def inputs_of(overload):
    """The names and the types of its arguments, without its outs."""
    return [(a.name, str(a.type)) for a in overload._schema.arguments if not a.is_out]


def has_outs(overload):
    return any(a.is_out for a in overload._schema.arguments)


def counterpart(overload, with_outs):
    """The overload of the same operator with the same arguments, but with outs or without."""
    packet = overload.overloadpacket
    for name in packet.overloads():
        other = getattr(packet, name)
        if has_outs(other) == with_outs and inputs_of(other) == inputs_of(overload):
            return other
    raise NotImplementedError(f"torch has no overload of {overload} {'with' if with_outs else 'without'} outs")


def out_overload(functional):
    return counterpart(functional, True)


def functional_overload(out):
    return counterpart(out, False)
