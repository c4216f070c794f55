"""Programs as bytes, written table by table, so that they can break what an exporter keeps: what is shared, is once."""
import struct


class Scalar:
    def __init__(self, code, value):
        self.code, self.value, self.size = code, value, struct.calcsize("<" + code)


def i8(n):
    return Scalar("b", n)


def i32(n):
    return Scalar("i", n)


def u32(n):
    return Scalar("I", n)


def i64(n):
    return Scalar("q", n)


class Table:
    """Fields in the order of the schema; None is absent. A union takes two."""

    def __init__(self, *fields):
        self.fields = fields
        self.places, at = [], 4
        for f in fields:
            size = 0 if f is None else f.size if isinstance(f, Scalar) else 4
            at += -at % (size or 1)
            self.places.append(at if size else 0)
            at += size
        self.vtable = struct.pack(f"<HH{len(fields)}H", 4 + 2 * len(fields), at, *self.places)
        self.size, self.lead, self.alignment = len(self.vtable) + at, len(self.vtable), 8

    def children(self):
        return [f for f in self.fields if f is not None and not isinstance(f, Scalar)]

    def write(self, out, at, place_of):
        out[at - self.lead : at] = self.vtable
        struct.pack_into("<i", out, at, self.lead)
        for f, place in zip(self.fields, self.places, strict=True):
            if isinstance(f, Scalar):
                struct.pack_into("<" + f.code, out, at + place, f.value)
            elif f is not None:
                struct.pack_into("<I", out, at + place, place_of(f) - at - place)


class Bytes:
    """A vector of scalars, or a string: a count and what it counts."""

    def __init__(self, count, content, width):
        self.count, self.content, self.size, self.lead, self.alignment = count, content, 4 + len(content), 0, width

    def children(self):
        return []

    def write(self, out, at, _):
        struct.pack_into("<I", out, at, self.count)
        out[at + 4 : at + 4 + len(self.content)] = self.content


def text(s):
    s = s.encode() if isinstance(s, str) else s
    return Bytes(len(s), s + b"\0", 4)


def numbers(code, items):
    return Bytes(len(items), struct.pack(f"<{len(items)}{code}", *items), struct.calcsize("<" + code))


def data(content, alignment=16):
    return Bytes(len(content), content, alignment)


class List:
    """A vector of tables or strings; the same one may be in it any number of times."""

    def __init__(self, items):
        self.items, self.size, self.lead, self.alignment = list(items), 4 + 4 * len(items), 0, 4

    def children(self):
        return dict.fromkeys(self.items)

    def write(self, out, at, place_of):
        offsets = [place_of(item) - at - 4 - 4 * i for i, item in enumerate(self.items)]
        struct.pack_into(f"<I{len(offsets)}I", out, at, len(offsets), *offsets)


def _parents_first(root):
    order, state, stack = [], {}, [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif node not in state:
            state[node] = True
            stack.append((node, True))
            stack.extend((child, False) for child in node.children() if child not in state)
    return order[::-1]


def build(root, identifier, header_bytes=0):
    """A flatbuffer, with room for a header behind its identifier."""
    places, end = {}, 8 + header_bytes
    for node in _parents_first(root):
        start = end + node.lead
        # A count of 4 bytes stands before the elements, which are aligned.
        before = 4 if isinstance(node, Bytes) else 0
        start += -(start + before) % node.alignment
        places[node], end = start, start + node.size - node.lead
    out = bytearray(end)
    struct.pack_into("<I4s", out, 0, places[root], identifier)
    for node, at in places.items():
        node.write(out, at, places.__getitem__)
    return out


# -- programs ----------------------------------------------------------------------------------------------------------

NULL, INT, BOOL, DOUBLE, TENSOR, STRING, INT_LIST, DOUBLE_LIST, BOOL_LIST, TENSOR_LIST, OPTIONAL_TENSOR_LIST = range(1, 12)
KERNEL, DELEGATE, MOVE, JUMP, FREE = range(1, 6)


def value(kind, table=None):
    return Table(i8(kind), table or Table())


def integer(n):
    return value(INT, Table(i64(n)))


def tensor(sizes, memory=None, offset=0, dtype=6, constant=0, name=None, dim_order=None, dynamism=0):
    plan = memory and Table(u32(memory), u32(offset & 0xFFFFFFFF), u32(offset >> 32))
    info = name and Table(None, text(name))
    order = range(len(sizes)) if dim_order is None else dim_order
    return value(TENSOR, Table(i8(dtype), None, numbers("i", sizes), numbers("B", list(order)), None, constant and u32(constant) or None, plan, None, i8(dynamism), info))


def items(kind, values, code="i"):
    return value(kind, Table(numbers(code, values)))


def kernel(op, args):
    args = args if isinstance(args, Bytes) else numbers("i", args)
    return Table(i8(KERNEL), Table(i32(op), args))


def delegate_call(index, args):
    return Table(i8(DELEGATE), Table(i32(index), numbers("i", args)))


def jump(condition, to):
    return Table(i8(JUMP), Table(i32(condition), i32(to)))


def move(source, to):
    return Table(i8(MOVE), Table(i32(source), i32(to)))


def free(index):
    return Table(i8(FREE), Table(i32(index)))


def operator(name, overload=None):
    return Table(text(name), overload and text(overload))


def delegate(backend, payload, specs=(), inline=True):
    return Table(text(backend), Table(i8(0 if inline else 1), u32(payload)), List([Table(text(k), data(v, 4)) for k, v in specs]))


def plan(name, values, instructions, inputs=(), outputs=(), operators=(), delegates=(), sizes=(0,)):
    chain = Table(None, None, instructions if isinstance(instructions, List) else List(instructions))
    return Table(
        text(name), None, values if isinstance(values, List) else List(values), numbers("i", inputs), numbers("i", outputs), List([chain]),
        operators if isinstance(operators, List) else List(operators), List(delegates) if delegates else None, numbers("q", sizes))


def program(plans, payloads=(), segments=None, named=(), constants=()):
    """A .pte file: with segments, lists of bytes, it has a header. `constants` are offsets in segment 0."""
    tables, base, at = [], 0, 0
    for segment in segments or []:
        tables.append(Table(Scalar("Q", at), Scalar("Q", len(segment))))
        at += len(segment) + -len(segment) % 16
    root = Table(
        None, List(plans), None, List([Table(data(p)) for p in payloads]) if payloads else None, List(tables) if tables else None,
        Table(u32(0), numbers("Q", constants)) if constants else None, None, List([Table(text(k), u32(s)) for k, s in named]) if named else None)
    out = build(root, b"ET12", 32 if segments is not None else 0)
    if segments is None:
        return bytes(out + bytes(max(0, 64 - len(out))))
    end = len(out)
    base = end + -end % 16
    out += bytes(base - end)
    struct.pack_into("<4sIQQQ", out, 8, b"eh00", 32, end, base, at)
    for segment in segments:
        out += segment + bytes(-len(segment) % 16)
    return bytes(out)


def adder(count=1, name="forward"):
    """x + x, `count` times over, in memory of its own."""
    x, y = tensor([2, 3], 1, 0), tensor([2, 3], 1, 32)
    add = kernel(0, [0, 0, 2, 1, 1])
    return plan(name, [x, y, integer(1)], List([add] * count), [0], [1], [operator("aten::add", "out")], sizes=[0, 64])


def bundled(sizes, content, dtype=6):
    return Table(i8(1), Table(i8(dtype), numbers("i", sizes), data(struct.pack(f"<{len(content)}f", *content)), numbers("B", range(len(sizes)))))


def case(inputs, outputs):
    return Table(List(inputs), List(outputs))


def suite(method, cases):
    return Table(text(method), List(cases))


def bundle(program, suites):
    """A .bpte file."""
    return bytes(build(Table(u32(0), List(suites), data(program, 32)), b"BP08"))


def data_file(named, segments, body=b"", space=None):
    """A .ptd file. Named data are keys with a segment and a layout, its dtype, sizes and dim order, or None."""

    def layout(dtype, sizes, order):
        return Table(i8(dtype), numbers("i", sizes), numbers("B", order))

    if not isinstance(named, List):
        named = List([Table(text(key), u32(segment), of and layout(*of)) for key, segment, of in named])
    root = Table(u32(0), List([Table(Scalar("Q", at), Scalar("Q", size)) for at, size in segments]), named)
    out = build(root, b"FT01", 40)
    end = len(out)
    out += bytes(-end % 16)
    struct.pack_into("<4sIQQQQ", out, 8, b"FH01", 40, 48, end - 48, len(out), len(body) if space is None else space)
    return bytes(out + body)
