"""Calls that reimplementations commonly get wrong. Each is named after the rule that it tests."""

import math

import torch

from call import make_call

INF, NAN = math.inf, math.nan
B1, U8, I8, I16, I32, I64 = torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64
U16, U32, U64 = torch.uint16, torch.uint32, torch.uint64
F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
C32, C64, C128 = torch.complex32, torch.complex64, torch.complex128
I32_MIN, I32_MAX, I64_MIN, I64_MAX = -(2**31), 2**31 - 1, -(2**63), 2**63 - 1


def t(values, dtype=F32):
    return torch.tensor(values, dtype=dtype)


def ramp(*sizes, dtype=F32):
    """0, 1, 2 … in the given sizes."""
    return torch.arange(math.prod(sizes)).reshape(sizes).to(dtype)


def codes(size, factor):
    """A row of uint8 below 251, in no order."""
    i = torch.arange(size)
    return ((i * i * factor + i) % 251).reshape(1, 1, 1, size).to(U8)


def ones(size, dtype=F32):
    return torch.ones(size, dtype=dtype)


def along_x(*places):
    """A grid of one row through the middle of an image."""
    return t([[[[x, 0.0] for x in places]]])


def heads(positions, keys, heads=1, key_heads=1, dtype=F32, batch=1):
    """Query, key and value of heads of size 2."""
    query = ramp(batch, positions, heads, 2, dtype=dtype) / 4
    key = ramp(batch, keys, key_heads, 2, dtype=dtype) / 8
    return query, key, 1 - key


def calls(operator):
    """The traps of one operator. An entry is its name, the arguments in schema order and, maybe, the outs' dtypes."""
    for name, arguments, *out_dtypes in TRAPS.get(operator.name.removeprefix("aten::"), []):
        keywords = {a.name: v for a, v in zip(operator.inputs, arguments)}
        yield make_call(operator, keywords, f"trap: {name}", *out_dtypes)


def _each(names, entries):
    return {n: list(entries) for n in names}


def _merge(*tables):
    merged = {}
    for table in tables:
        for name, entries in table.items():
            merged.setdefault(name, []).extend(entries)
    return merged


PROMOTION = [
    ("a dim tensor keeps its dtype against a 0-dim of its kind", (t([1, 200], U8), t(7, I64))),
    ("a 0-dim of higher kind wins", (t([1, 2], I64), t(0.5, F16))),
    ("f16 dim against f64 0-dim stays f16", (t([1.0, 2.0], F16), t(0.1, F64))),
    ("bool dim against u8 0-dim is u8", (t([True, False]), t(3, U8))),
    ("f16 and bf16 meet in f32", (t([1.0, 2.0], F16), t([3.0, 4.0], BF16))),
    ("u8 and i8 meet in i16", (t([200, 255], U8), t([-1, 100], I8))),
    ("u16 and i32 have no common type", (t([1, 2], U16), t([3, 4], I32))),
    ("u16 with u16", (t([1, 65535], U16), t([3, 4], U16))),
    ("u32 with a float", (t([1, 2], U32), t([0.5, 4.0]))),
    ("two 0-dim promote as two dim", (t(1, I32), t(0.5, F64))),
]
FAR = along_x(NAN, INF, -INF, 1.1, -1.3, 2.0, 3.75, 1e10, -1e10, 1e38)
COMPARISONS = [
    ("compared in the common dtype f32", (t([2**24 + 1], I64), t([16777216.0]))),
    ("compared in the common dtype f64", (t([2**53 + 1], I64), t([2.0**53], F64))),
    ("0.1 in f32 against 0.1 in f64, both dim", (t([0.1]), t([0.1], F64))),
    ("0.1 in f32 against a 0-dim f64", (t([0.1]), t(0.1, F64))),
    ("NaN compares unequal", (t([NAN, NAN, 1.0]), t([NAN, 1.0, NAN]))),
    ("zeros of both signs are equal", (t([0.0, -0.0]), t([-0.0, 0.0]))),
]
SCALAR_COMPARISONS = [
    ("scalar 256 wraps to 0 in u8", (t([0, 1, 255], U8), 256)),
    ("scalar -1 wraps to 255 in u8", (t([5, 255], U8), -1)),
    ("scalar 2^32 wraps to 0 in i32", (t([0, 1], I32), 2**32)),
    ("scalar is cast to f16 before comparing", (t([1.0], F16), 1.0002)),
    ("scalar 1e6 is inf in f16", (t([INF, 65504.0], F16), 1e6)),
    ("scalar 0.1 is cast to f32", (t([0.1]), 0.1)),
    ("a float scalar against integers", (t([1, 2], I64), 1.5)),
    ("an int scalar against bool", (t([True, False]), 1)),
]
DIVISION = [
    ("floor rounds to -inf", (t([7, -7, 7, -7], I32), t([2, 2, -2, -2], I32))),
    ("integer division by zero refused", (t([1, 2], I32), t([1, 0], I32))),
    ("i64 minimum by 2", (t([I64_MIN, I64_MAX], I64), t([2, -2], I64))),
    ("bool by bool", (t([True, True]), t([True, True]))),
    ("a float by zero", (t([1.0, -1.0, 0.0, -0.0, NAN]), t([0.0, 0.0, 0.0, 0.0, 0.0]))),
    ("a float by -0", (t([1.0, -1.0, 0.0]), t([-0.0, -0.0, -0.0]))),
    ("infinite dividend", (t([INF, -INF, INF]), t([2.0, 2.0, INF]))),
    ("infinite divisor", (t([1.0, -1.0, 5.0, -5.0, 0.0]), t([INF, INF, INF, INF, INF]))),
    ("1 by 0.1 and 6 by 0.1", (t([1.0, 6.0]), t([0.1, 0.1]))),
    ("a tiny negative dividend", (t([-1e-20, -0.0]), t([1.0, 3.0]))),
    ("-5 by inf", (t([-5.0, 5.0]), t([INF, -INF]))),
    ("i32 minimum by -1", (t([I32_MIN, I32_MAX], I32), t([-1, -1], I32))),
    ("i64 minimum by -1", (t([I64_MIN, I64_MAX], I64), t([-1, -1], I64))),
    ("i8 minimum by -1", (t([-128, 127], I8), t([-1, -1], I8))),
    ("half computed in f32", (t([10.0, 65504.0, 1.0], F16), t([0.1, 0.3, 3.0], F16))),
]
MODED = [(f"{n} ({m})", (*a, m)) for m in ("floor", "trunc") for n, a in DIVISION]
FILL = [
    ("300 does not fit u8", (300,), U8),
    ("-1 wraps in u8", (-1,), U8),
    ("-129 does not fit i8", (-129,), I8),
    ("65520 in f16", (65520.0,), F16),
    ("70000 in f16", (70000,), F16),
    ("1e6 in f16", (1e6,), F16),
    ("-1e9 in f16", (-1e9,), F16),
    ("-inf in f16", (-INF,), F16),
    ("1e40 in f32", (1e40,), F32),
    ("NaN in i32", (NAN,), I32),
    ("2.7 in i64", (2.7,), I64),
    ("0.5 in bool", (0.5,), B1),
    ("2 in bool", (2,), B1),
    ("-0.0 in f32", (-0.0,), F32),
]


def _filled(make):
    return [(name, make(values[0], dtype)) for name, values, dtype in FILL]


HALF_ONES = [("5000 ones do not stall in f16", F16), ("5000 ones do not stall in bf16", BF16)]
NAN_ROW, TIES = t([1.0, NAN, 3.0, NAN]), t([2.0, 1.0, 2.0, 1.0, 2.0])
EMPTY_COLUMNS, EMPTY_ROWS = torch.empty(2, 0), torch.empty(0, 3)
CASTS = [
    ("float to u8 keeps low bits", t([300.0, -1.0, -300.0, 256.5, NAN, INF, -INF]), U8),
    ("f64 above 2^31 to u8", t([3000000001.0, 2.0**32 + 5, -3e9], F64), U8),
    ("float to i8 goes through i32", t([300.0, -300.0, NAN, INF, 3e9, -3e9]), I8),
    ("float to i16 goes through i32", t([70000.0, -70000.0, NAN, INF, 3e9]), I16),
    ("float to u16 goes through i32", t([70000.0, -1.0, NAN, INF, 3e9]), U16),
    ("float out of range to i32", t([NAN, INF, -INF, 3e9, -3e9, 2147483648.0, 1.9]), I32),
    ("float out of range to i64", t([NAN, INF, -INF, 1e19, -1e19, 9.3e18, -1.9]), I64),
    ("float out of range to u32", t([NAN, INF, -1.0, 5e9, 4294967296.0]), U32),
    ("float out of range to u64", t([NAN, INF, -1.0, 2e19, 1e19], F64), U64),
    ("NaN and -0 to bool", t([NAN, 1e-45, -0.0, 0.0, 0.3]), B1),
    ("integers keep low bits", t([300, -129, 2**40 + 7], I64), I8),
    ("f32 to f16 at the overflow edge", t([65519.0, 65520.0, 2.98e-8, 5.97e-8, -65520.0]), F16),
    ("f64 to f16 rounds twice", t([1 + 2.0**-11 + 2.0**-30, 2049.0, 65519.9999], F64), F16),
    ("f64 to bf16 rounds twice", t([1 + 2.0**-8 + 2.0**-40, 3e38], F64), BF16),
    ("i64 to f32 rounds to even", t([2**24 + 1, 2**24 + 3, 2**63 - 1], I64), F32),
    ("i64 to f16", t([2049, 65519, 65520, -65520], I64), F16),
    ("i64 to bf16 goes through f32", t([257, 2**24 + 2**16 + 1, 2**40 + 1], I64), BF16),
    ("i64 to f64 rounds to even", t([2**53 + 1, 2**53 + 3, I64_MAX], I64), F64),
]

COMPLEX = [
    1 + 2j, -3 + 0.5j, -1j, 0j, complex(-0.0, 0.0), -4 + 0j, complex(-4, -0.0), complex(INF, 0), complex(-INF, 1), complex(1, INF), complex(NAN, 1),
    complex(0, NAN), 1e30 + 1e30j, 1e-30 - 1e-30j, 3e38 + 0j,
]  # fmt: skip
FLOAT_EDGES = t([0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, -0.3, 0.3, NAN, INF, -INF, 1.0, -1.0, -2.0])
UNARY = [
    "abs", "ceil", "cos", "digamma", "erf", "erfc", "exp", "expm1", "floor", "gelu", "isinf", "isnan", "lgamma", "log",
    "log1p", "neg", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sign", "sin", "sqrt", "tan", "tanh", "trunc",
    "leaky_relu", "hardtanh", "logical_not",
]

TRAPS = _merge(
    _each(
        [
            "add.out", "sub.out", "mul.out", "div.out", "maximum.out", "minimum.out", "pow.Tensor_Tensor_out",
            "fmod.Tensor_out", "remainder.Tensor_out", "floor_divide.out", "bitwise_and.Tensor_out", "logical_and.out",
            "copysign.out",
        ],
        PROMOTION,
    ),
    _each([f"{c}.Tensor_out" for c in ("eq", "ne", "lt", "le", "gt", "ge")], COMPARISONS + PROMOTION[:6]),
    _each([f"{c}.Scalar_out" for c in ("eq", "ne", "lt", "le", "gt", "ge")], SCALAR_COMPARISONS),
    _each(["div.out", "floor_divide.out", "fmod.Tensor_out", "remainder.Tensor_out"], DIVISION),
    {"div.out_mode": MODED},
    _each(
        ["fmod.Scalar_out", "remainder.Scalar_out"],
        [
            ("by integer zero", (t([1, 2], I32), 0)),
            ("integers by 0.0", (t([1, 2], I32), 0.0)),
            ("floats by 0", (t([5.0, -5.0, NAN]), 0)),
            ("5 by inf", (t([5.0, -5.0]), INF)),
            ("signs", (t([-7, 7], I32), 2)),
            ("signs of the divisor", (t([-7, 7], I32), -2)),
            ("-1e-20 by 1", (t([-1e-20]), 1)),
            ("bool by 2", (t([True]), 2)),
            ("i8 by 200", (t([100, -100], I8), 200)),
            ("i32 minimum by -1", (t([I32_MIN, I32_MAX], I32), -1)),
            ("i64 minimum by -1", (t([I64_MIN, I64_MAX], I64), -1)),
        ],
    ),
    _each(
        [f"{u}.out" for u in UNARY],
        [
            ("float edges", (FLOAT_EDGES,)),
            ("float edges in f16", (FLOAT_EDGES.to(F16),)),
            ("float edges in f64", (FLOAT_EDGES.to(F64),)),
            ("bool operand", (t([True, False]),)),
            ("u8 operand", (t([0, 1, 200], U8),)),
            ("i64 operand", (t([-3, 0, 5], I64),)),
            ("u16 operand", (t([3, 65535], U16),)),
            ("size 1 takes the scalar path", (t([-0.7], BF16),)),
            ("40 elements take the vector path", (torch.linspace(-4, 4, 40),)),
        ],
    ),
    {
        "abs.out": [
            ("minimum of i8 stays", (t([-128, 5], I8),)),
            ("minimum of i64 stays", (t([I64_MIN], I64),)),
            *((f"{a} into {b}", (t([3 + 4j], a),), (b,)) for a in (C32, C64, C128) for b in (F16, F64, C32, C64, C128)),
        ],
        "angle.out": [("complex numbers come out contiguous", (ramp(3, 4, 2, dtype=C64).permute(2, 1, 0) - 5,)), ("real ones as they lie", (ramp(3, 4, 2).permute(2, 1, 0) - 5,))],
        "neg.out": [
            ("u8 wraps", (t([1, 0, 255], U8),)),
            ("i32 minimum stays", (t([I32_MIN], I32),)),
            ("zeros change sign", (t([0.0, -0.0]),)),
        ],
        "add.out": [
            ("i32 wraps", (t([I32_MAX], I32), t([1], I32))),
            ("u8 wraps", (t([255], U8), t([1], U8))),
            ("bool plus bool is or", (t([True, True, False]), t([True, False, False]))),
            ("float alpha with integers refused", (t([1], I64), t([2], I64), 1.5)),
            ("bool alpha needs a bool result", (t([1], I64), t([2], I64), True)),
            ("bool with alpha 2", (t([False, True]), t([True, True]), 2)),
            ("alpha is rounded to half", (t([0.0], F16), t([60000.0], F16), 1e-5)),
            ("alpha is rounded to bfloat16", (t([0.0], BF16), t([3.0], BF16), 1.00390625)),
            ("one rounding after alpha", (t([1.0, 3.0], BF16), t([1.003, 0.777], BF16), 0.333)),
            ("i8 out takes the low bits of i64", (t([300], I64), t([0], I64)), (I8,)),
            ("f32 result does not go into i32", (t([1.5]), t([1.0])), (I32,)),
            ("i64 result does not go into bool", (t([1], I64), t([1], I64)), (B1,)),
            ("f32 result into f16", (t([70000.0, 1.0001]), t([0.0, 0.0])), (F16,)),
            ("alpha out of range of u8 wraps", (t([1], U8), t([1], U8), 300)),
            ("subnormals are kept", (t([1e-45, 3e-39]), t([1e-45, -1e-39]))),
        ],
        "add.Scalar_out": [
            ("300 wraps in u8", (t([1], U8), 300)),
            ("-1 wraps in u8", (t([1], U8), -1)),
            ("200 wraps in i8", (t([1], I8), 200)),
            ("2^40 wraps in i32", (t([1], I32), 2**40)),
            ("i64 plus 1.0 is f32", (t([1], I64), 1.0)),
            ("bool plus 1 is i64", (t([True]), 1)),
            ("bool plus True stays bool", (t([True]), True)),
            ("scalar stays wide for half", (t([60000.0], F16), 1e-5)),
            ("f16 plus 1e6", (t([1.0], F16), 1e6)),
            ("u8 plus 1.5 is f32", (t([255], U8), 1.5)),
        ],
        "sub.out": [
            ("bool minus bool refused", (t([True]), t([False]))),
            ("bool minus i64 ", (t([True]), t([3], I64))),
            ("u8 wraps below zero", (t([0], U8), t([1], U8))),
            ("an integer alpha of 0 has no sign", (t([-0.0]), t([0.0]), 0)),
            ("a float alpha of 0 has one", (t([-0.0]), t([0.0]), 0.0)),
        ],
        "sub.Scalar_out": [("bool minus scalar refused", (t([True]), True)), ("u8 minus 300", (t([0], U8), 300))],
        "rsub.Scalar_out": [
            ("bool refused", (t([True]), 1)),
            ("wraps", (t([3], U8), 1)),
            ("float from int", (t([3], I64), 0.5)),
            ("alpha times self", (t([1.0, 2.0], F16), 1, 3)),
            ("an integer alpha of 0 has no sign", (t([0.0, -1.0]), -0.0, 0)),
            ("a float alpha of 0 has one", (t([0.0, -1.0]), -0.0, 0.0)),
        ],
        "mul.out": [
            ("bool times bool is and", (t([True, True, False]), t([True, False, False]))),
            ("i8 wraps", (t([100], I8), t([2], I8))),
            ("half 0-dim is already rounded", (t([3.0], BF16), t(1.00390625, BF16))),
            ("half times half 0-dim", (t([60000.0], F16), t(1e-5, F16))),
            ("inf times 0", (t([INF]), t([0.0]))),
        ],
        "mul.Scalar_out": [
            ("scalar stays wide for bfloat16", (t([3.0], BF16), 1.00390625)),
            ("scalar stays wide for f16", (t([60000.0], F16), 1e-5)),
            ("u16 times 2", (t([40000], U16), 2)),
            ("bool times 2.5", (t([True]), 2.5)),
        ],
        "div.out": [
            ("i64 by i64 is f32", (t([2**24 + 1, 7], I64), t([1, 2], I64))),
            ("integers by zero", (t([0, 1, -1], I64), t([0, 0, 0], I64))),
        ],
        "div.Scalar_out": [
            ("integers by zero", (t([0, 1, -1], I64), 0)),
            ("u8 by 300", (t([200], U8), 300)),
            ("bool by 2", (t([True]), 2)),
        ],
        "div.Scalar_mode_out": [
            (f"{n} ({m})", (*a, m))
            for m in ("floor", "trunc")
            for n, a in [
                ("integers by zero", (t([1], I32), 0)),
                ("1.0 by 0.1", (t([1.0, 6.0]), 0.1)),
                ("floats by zero", (t([1.0, 0.0, -0.0, NAN]), 0)),
                ("inf by 2", (t([INF, -INF]), 2)),
                ("-7 by 2", (t([-7, 7], I64), 2)),
                ("1 by inf", (t([1.0, -1.0]), INF)),
                ("bool by 2", (t([True]), 2)),
            ]
        ],
        "erfc.out": [("close to 0 and 2", (t([9.0, 9.5, 10.0, 11.0, -4.0, -9.0]),)), ("close to 0 in f64", (t([26.0, 26.5, 27.0, 28.0], F64),))],
        "lgamma.out": [
            ("poles", (t([0.0, -0.0, -1.0, -2.0, -1e8]),)),
            ("roots", (t([1.0, 2.0, 1.0001, 1.9999, -2.4570248, -2.7476826, -3.1435809]),)),
            ("roots in f64", (t([1.0, 2.0, -2.4570247382208005, -2.7476827, -3.1435808883499796], F64),)),
            ("large and small", (t([1e36, 4.1e36, 1e38, 1e-38, 1e-45, -1e-38, -1e-45]),)),
        ],
        "digamma.out": [
            ("poles", (t([0.0, -0.0, -1.0, -2.0, -1e8]),)),
            ("roots", (t([1.4616321, 1.4616322, -0.50408300, -1.5734985, -2.6107209]),)),
            ("roots in f64", (t([1.4616321449683622, -0.5040830082644554, -1.5734984731623904], F64),)),
            ("roots in f16", (t([1.4619140625, -0.50390625, -1.57421875], F16),)),
            ("beside poles", (t([-1.0001, -0.9999, -3.00001, 1e-30, -1e-30]),)),
            ("beside poles in f64", (t([-1.0000000001, -0.9999999999, -3.00000001, 1e-300, -1e-300], F64),)),
            ("ten by steps and ten", (t([0.0001, 9.0, 9.5, 10.0, 10.5, 1e10, 1e38]),)),
        ],
        "copysign.out": [
            ("zeros have signs", (t([1.0, -1.0, 0.0, -0.0]), t([-0.0, 0.0, -1.0, 1.0]))),
            ("NaN has a sign", (t([1.0, 1.0, NAN]), t([NAN, -NAN, -1.0]))),
            ("NaN of f16 has a sign", (t([1.0, 1.0], F16), t([NAN, -NAN], F16))),
            ("infinities", (t([INF, -INF, 2.0]), t([-1.0, 1.0, -INF]))),
            ("integers become f32", (t([3, -3], I64), t([-1, 1], I64))),
            ("a sign that vanishes in f16", (t([1.0, 2.0], F16), t(-1e-10, F64))),
        ],
        "copysign.Scalar_out": [
            ("-0.0", (t([1.0, -1.0, 0.0]), -0.0)),
            ("NaN", (t([1.0, -1.0, 0.0]), NAN)),
            ("-NaN", (t([1.0, -1.0, 0.0]), -NAN)),
            ("-1e-300 in f16", (t([1.0, -1.0, 0.0], F16), -1e-300)),
            ("integers", (t([3, -3, 0], I64), -1)),
            ("bool", (t([True, False]), -2.5)),
        ],
        "pow.Tensor_Tensor_out": [
            ("1 to NaN and NaN to 0", (t([1.0, NAN, -1.0]), t([NAN, 0.0, INF]))),
            ("zero to -1", (t([0.0, -0.0]), t([-1.0, -1.0]))),
            ("a cube root of -8", (t([-8.0]), t([1 / 3]))),
            ("tensor exponent 0.5 is not sqrt", (t([-0.0, -INF, 4.0]), t([0.5, 0.5, 0.5]))),
            ("integer powers wrap", (t([10, 2], I64), t([20, 63], I64))),
            ("u8 powers wrap", (t([2, 3], U8), t([8, 5], U8))),
            ("negative integer exponents", (t([1, -1, -1, 2, 0], I64), t([-1, -1, -2, -1, -1], I64))),
            ("bool refused", (t([True]), t([True]))),
        ],
        "pow.Tensor_Scalar_out": [
            ("exponent 0.5 is sqrt", (t([-0.0, -INF, 4.0, 2.0]), 0.5)),
            ("exponent -0.5 is rsqrt", (t([-0.0, INF, 4.0, 2.0]), -0.5)),
            ("negative integer exponent refused", (t([2, 3], I64), -1)),
            ("int to 2.0 is f32", (t([2, 3], I64), 2.0)),
            ("bool to 2 is i64", (t([True, False]), 2)),
            ("u8 wraps", (t([16], U8), 2)),
            ("exponent 3", (t([1e20, -2.0, NAN]), 3)),
            ("exponent 0 of NaN", (t([NAN, 0.0]), 0)),
            ("exponent 2 in f16 overflows", (t([300.0], F16), 2)),
            ("i8 to 300", (t([3], I8), 300)),
            ("f16 to 1e-3", (t([10.0], F16), 1e-3)),
            ("bf16 to 3 by a rounded square", (t([2.15625, 1.7, 3.3, 5.1], BF16), 3)),
            ("bf16 to -2 by a rounded square", (t([2.15625, 1.7, 3.3, 5.1], BF16), -2)),
            *(
                (f"exponent {e} of {n} numbers", (t([-1.0, -0.0, -INF, INF, 0.0, -2.0, 1.0, NAN] * n)[:n], e))
                for e in (2**31 - 1, -(2**31) + 1, 2**24 + 0.5)
                for n in (8, 40)
            ),
            ("exponent 0.5 of f16 is no sqrt", (t([-0.0, -INF], F16), 0.5)),
            ("exponent -0.5 of f16 is no rsqrt", (t([-0.0, -INF], F16), -0.5)),
            *(
                (f"complex to {e}", (t(COMPLEX, dtype), e))
                for e in (0, 1, 2, 3, -2, 0.5, -0.5, -1, 2.5, 4, -3, 0.25, -0.25)
                for dtype in (C64, C128)
            ),
        ],
        "pow.Scalar_out": [
            ("2.5 to i64 is f32", (2.5, t([1, 2], I64))),
            ("2 to negative integers", (2, t([-1, 0, 3], I64))),
            ("1 to NaN", (1, t([NAN, 3.0]))),
            *((f"1 to complex numbers into {d}", (1, t([1 + 2j, 3j], C64)), (d,)) for d in (B1, I8, F32, C64, C128)),
            ("2 to u8", (2, t([7, 8, 9], U8))),
            ("0 to negative floats", (0, t([-1.0, 0.0]))),
        ],
        "sign.out": [("NaN has no sign", (t([NAN, -0.0, -INF]),))],
        "maximum.out": [
            ("the first of equal zeros", (t([-0.0, 0.0]), t([0.0, -0.0]))),
            ("NaN wins from either side", (t([NAN, 1.0]), t([1.0, NAN]))),
        ],
        "minimum.out": [
            ("the first of equal zeros", (t([-0.0, 0.0]), t([0.0, -0.0]))),
            ("NaN wins from either side", (t([NAN, 1.0]), t([1.0, NAN]))),
        ],
        "clamp.out": [
            ("NaN stays", (t([NAN, 5.0]), 0, 1)),
            ("NaN bound", (t([0.0, 5.0]), NAN, 1.0)),
            ("min above max gives max", (t([0.0, 5.0]), 3, 1)),
            ("u8 min -5 wraps", (t([1, 200], U8), -5, 100)),
            ("u8 max 300 refused", (t([1], U8), None, 300)),
            ("f16 max 1e9 refused", (t([1.0], F16), None, 1e9)),
            ("f16 max 1e9 beside NaN", (t([1.0], F16), NAN, 1e9)),
            ("f16 min -1e9 beside NaN", (t([1.0], F16), -1e9, NAN)),
            ("no bound refused", (t([1.0]), None, None)),
            ("bool refused", (t([True]), 0, 1)),
            ("integers with float bounds", (t([1, 5], I64), 1.5, 2.5)),
            ("bounds of zeros", (t([-0.0, 0.0]), 0.0, None)),
            ("i32 with 2^40", (t([1], I32), None, 2**40)),
        ],
        "clamp.Tensor_out": [
            ("NaN bound gives NaN", (t([1.0, 2.0]), t([NAN, 0.0]), None)),
            ("min above max gives max", (t([1.0]), t([5.0]), t([3.0]))),
            ("bounds promote", (t([1, 5], I64), t([1.5, 1.5]), None)),
            ("no bound refused", (t([1.0]), None, None)),
        ],
        "hardtanh.out": [
            ("NaN stays", (t([NAN, 3.0]), -1, 1)),
            ("min above max gives max", (t([0.0, 5.0]), 3, 1)),
            ("u8 from 0 to 100", (t([1, 200], U8), 0, 100)),
            ("u8 min -1", (t([1, 200], U8), -1, 100)),
            ("integers", (t([-5, 5], I64), -1, 1)),
        ],
        "relu.out": [("NaN and -0 stay", (t([NAN, -0.0, -1.0]),))],
        "gelu.out": [
            ("vector path at infinities", (t([-INF, INF, 3e38, -3e38] * 10), "none")),
            ("scalar path at inf", (t([INF]), "none")),
            ("scalar path at -inf", (t([-INF]), "none")),
            ("tanh form at infinities", (t([-INF, INF, 1.0]), "tanh")),
            ("f64 at infinities", (t([-INF, INF], F64), "none")),
            ("other forms refused", (t([1.0]), "erf")),
        ],
        "leaky_relu.out": [
            ("slope 0 at -1 and -inf", (t([-1.0, -INF, NAN]), 0)),
            ("negative slope", (t([-1.0, 1.0]), -0.5)),
            ("slope for half", (t([-3.0, -60000.0], F16), 1e-5)),
        ],
        "sigmoid.out": [("underflow", (t([-INF, -89.0, -88.0, -104.0, 89.0]),))],
        "rsqrt.out": [
            ("half size 1 rounds twice", (t([0.3], F16),)),
            ("bfloat16 size 1 rounds twice", (t([0.7], BF16),)),
            ("half vector rounds once", (torch.linspace(0.01, 3, 40).to(F16),)),
            ("zeros", (t([0.0, -0.0, -1.0]),)),
        ],
        "sin.out": [
            ("full range reduction", (t([1e10, 1e30, 3e38, INF]),)),
            ("full range reduction in f64", (t([1e22, 1e300], F64),)),
        ],
        "cos.out": [("full range reduction", (t([1e10, 1e30, 3e38, INF]),))],
        "tan.out": [("at pi/2", (t([math.pi / 2, 1e10]),))],
        "expm1.out": [("small and -inf", (t([1e-10, -1e-10, -INF, -0.0, 1e-45]),))],
        "log1p.out": [
            ("around -1", (t([-1.0, -2.0, -0.99999994, 1e-10, -0.0]),)),
            ("complex, of an absolute value of 1", (t([complex(-(2.0**-31) - 2.0**-63, 2.0**-15), complex(-0.0, 1e-200)], C128),)),
            ("complex zeros and small numbers", (t([0j, complex(-0.0, 0.0), complex(0.0, -0.0), 1e-30 + 0j, 1e-20j], C64),)),
        ],
        "log.out": [
            ("zeros and negatives", (t([0.0, -0.0, -1.0, 1e-45]),)),
            ("complex, large and around 1", (t([1e200 + 1e200j, 1e300j, 0.6 + 0.8j, 1 + 1e-9j, 0.5 + 0.5j, 1.5 - 1.5j], C128),)),
        ],
        "bitwise_not.out": [
            ("bool is logical not", (t([True, False]),)),
            ("u8", (t([1, 0], U8),)),
            ("float refused", (t([1.0]),)),
        ],
        "bitwise_and.Tensor_out": [
            ("bool with i64", (t([True, False]), t([3, 3], I64))),
            ("float refused", (t([1.0]), t([1.0]))),
        ],
        "bitwise_and.Scalar_out": [
            ("u8 with 300", (t([255], U8), 300)),
            ("bool with 2", (t([True]), 2)),
            ("float scalar refused", (t([3], I64), 1.5)),
        ],
        "bitwise_or.Scalar_out": [("i8 with 200", (t([1], I8), 200)), ("bool with True", (t([False]), True))],
        "bitwise_xor.Scalar_out": [("i8 with -1", (t([1], I8), -1)), ("bool with 1", (t([False]), 1))],
        "logical_and.out": [("NaN is true", (t([NAN, 0.0, -0.0]), t([1.0, 1.0, 1.0])))],
        "logical_or.out": [("NaN is true", (t([NAN, 0.0, -0.0]), t([0.0, 0.0, 0.0])))],
        "logical_xor.out": [("NaN is true", (t([NAN, 0.0]), t([1, 1], U8)))],
        "isinf.out": [("integers are finite", (t([1, 2], I64),))],
        "where.self_out": [
            ("promotes i64 with f32", (t([True, False]), t([1, 2], I64), t([0.5, 0.5]))),
            ("a 0-dim f32 keeps f16", (t([True, False]), t([1.0, 2.0], F16), t(-1e9))),
            ("u8 condition", (t([1, 0], U8), t([1.0, 2.0]), t([3.0, 4.0]))),
            ("u8 condition of 2", (t([2, 0], U8), t([1.0, 2.0]), t([3.0, 4.0]))),
            ("float condition refused", (t([1.0, 0.0]), t([1.0, 2.0]), t([3.0, 4.0]))),
            ("bits of NaN move", (t([True, False]), t([NAN, 1.0]), t([0.0, -0.0]))),
        ],
        "masked_fill.Scalar_out": _filled(lambda v, d: (ones(2, d), t([True, False]), v))
        + [("u8 mask", (t([1.0, 2.0]), t([1, 0], U8), 3)), ("mask broadcasts self", (t([1.0]), t([True, False]), 3))],
        "full.out": [(n, ([2], v[0]), (d,)) for n, v, d in FILL]
        + [("int infers i64", ([2], 3)), ("bool infers bool", ([2], True)), ("float infers f32", ([2], 0.1))],
        "full_like.out": _filled(lambda v, d: (ones(2, d), v)),
        "fill.Scalar_out": _filled(lambda v, d: (ones(2, d), v)),
        "fill.Tensor_out": [
            ("NaN into i32", (ones(2, I32), t(NAN))),
            ("1-d value refused", (ones(2), t([1.0]))),
            ("300 into u8", (ones(2, U8), t(300, I64))),
            ("1e6 into f16", (ones(2, F16), t(1e6))),
        ],
        "scalar_tensor.out": [
            ("never infers", (1,)),
            ("True is 1.0", (True,)),
            ("300 into u8", (300,), (U8,)),
            ("2.7 into i64", (2.7,), (I64,)),
            ("1e6 into f16", (1e6,), (F16,)),
        ],
        "constant_pad_nd.out": [(n, (ones(2, d), [1, 0], v[0])) for n, v, d in FILL]
        + [
            ("negative pad crops", (ramp(2, 5), [-1, -2, 1, 0], 9)),
            ("odd length refused", (ramp(2, 3), [1])),
            ("starts from the last dim", (ramp(2, 3), [1, 0, 0, 1])),
            ("crops to nothing", (ramp(3), [-1, -2])),
            ("crops below nothing refused", (ramp(3), [-2, -2])),
        ],
        "scatter.value_out": [(n, (ones(2, d), 0, t([1], I64), v[0])) for n, v, d in FILL],
        "scatter.src_out": [
            ("last duplicate wins", (t([0.0, 0.0]), 0, t([0, 0, 0], I64), t([1.0, 2.0, 3.0]))),
            ("negative index refused", (t([0.0, 0.0]), 0, t([-1], I64), t([1.0]))),
            ("dtypes must agree", (t([0.0]), 0, t([0], I64), t([1.0], F64))),
            ("i32 index", (t([0.0, 0.0]), 0, t([1], I32), t([1.0]))),
        ],
        "scatter_add.out": [
            (n, (torch.zeros(1, dtype=d), 0, torch.zeros(600, dtype=I64), ones(600, d) * 8))
            for n, d in [("f16 accumulates wide", F16), ("bf16 accumulates wide", BF16)]
        ]
        + [
            ("u8 wraps", (t([250], U8), 0, t([0, 0], I64), t([3, 5], U8))),
            ("bool", (t([False]), 0, t([0], I64), t([True]))),
        ],
        "index_put.out": [
            ("last duplicate wins", (t([0.0]), [t([0, 0, 0], I64)], t([1.0, 2.0, 3.0]), False)),
            ("accumulates in order", (t([0.0]), [t([0, 0], I64)], t([1e8, 1.0]), True)),
            ("f16 stalls", (t([2047.0], F16), [t([0] * 4, I64)], ones(4, F16), True)),
            ("bf16 stalls", (t([255.0], BF16), [t([0] * 4, I64)], ones(4, BF16), True)),
            ("u8 wraps", (t([250], U8), [t([0, 0], I64)], t([3, 5], U8), True)),
            ("dtypes must agree", (t([0.0]), [t([0], I64)], t([1.0], F64), False)),
        ],
        "index.Tensor_out": [
            ("indices split by None go in front", (ramp(2, 3, 4), [t([0, 1], I64), None, t([1, 3], I64)])),
            ("adjacent indices stay in place", (ramp(2, 3, 4), [None, t([0, 1], I64), t([1, 3], I64)])),
            ("u8 is a mask", (ramp(3, 2), [t([1, 0, 1], U8)])),
            ("i8 refused", (ramp(3, 2), [t([1, 0], I8)])),
            ("mask must fit", (ramp(3, 2), [t([True, False])])),
            ("0-dim mask", (ramp(3, 2), [t(True)])),
            ("negative indices", (ramp(3), [t([-1, -3], I64)])),
            ("mask of nothing", (ramp(3), [t([False, False, False])])),
        ],
        "index_select.out": [
            ("negative index refused", (ramp(3), 0, t([-1], I64))),
            ("i32 index", (ramp(3), 0, t([2, 0], I32))),
            ("0-dim self", (t(5.0), 0, t([0, 0], I64))),
        ],
        "gather.out": [
            ("negative index refused", (ramp(3), 0, t([-1], I64))),
            ("i32 index", (ramp(3), 0, t([2], I32))),
            ("index may be shorter than self", (ramp(3, 4), 1, t([[3, 0]], I64))),
        ],
        "embedding.out": [
            ("padding_idx changes nothing", (ramp(3, 2), t([0, 1], I64), 0)),
            ("negative index refused", (ramp(3, 2), t([-1], I64))),
            ("i32 indices", (ramp(3, 2), t([2], I32))),
            ("f16", (ramp(3, 2, dtype=F16), t([2], I64))),
        ],
        "slice_copy.Tensor_out": [
            ("ends clamp", (ramp(5), 0, -100, I64_MAX)),
            ("end before start is empty", (ramp(5), 0, 3, 1)),
            ("step 0 refused", (ramp(5), 0, 0, 3, 0)),
            ("step 2^62", (ramp(5), 0, 0, 5, 2**62)),
            ("0-dim refused", (t(1.0), 0)),
        ],
        "slice_scatter.out": [
            ("casts src", (ramp(3, dtype=I64), t([1.7]), 0, 0, 1)),
            ("src must fit", (ramp(3), t([1.0, 2.0]), 0, 0, 1)),
        ],
        "select_copy.int_out": [
            ("negative index", (ramp(3, 2), 0, -1)),
            ("past the end refused", (ramp(3, 2), 0, 3)),
            ("0-dim refused", (t(1.0), 0, 0)),
        ],
        "cat.out": [
            ("u8 with i8 is i16", ([t([200], U8), t([-1], I8)],)),
            ("f16 with bf16 is f32", ([t([1.0], F16), t([2.0], BF16)],)),
            ("an empty f64 still promotes", ([t([1.0]), t([], F64)],)),
            ("(0,) is skipped whatever the rank", ([torch.empty(0), ramp(2, 3)], 1)),
            ("(0,2) is not skipped", ([torch.empty(0, 2), ramp(2, 3)], 0)),
            ("0-dim refused", ([t(1.0), t(2.0)],)),
            ("channels last stays", ([ramp(1, 2, 2, 2).to(memory_format=torch.channels_last)] * 2, 1)),
            ("nothing refused", ([],)),
            ("f32 into i64 out refused", ([t([1.5])],), (I64,)),
            ("a 0-dim does not yield", ([t([1], I64), t([2.0])],)),
        ],
        "stack.out": [
            ("promotes", ([t([1], I64), t([2.5])],)),
            ("sizes must agree", ([ramp(2), ramp(3)],)),
            ("0-dim", ([t(1.0), t(2.0)],)),
        ],
        "split_copy.Tensor_out": [
            ("size 0 refused", (ramp(3), 0)),
            ("size 0 of an empty dim", (torch.empty(0), 0)),
            ("an empty dim gives one piece", (torch.empty(0, 2), 3)),
            ("a last short piece", (ramp(5), 2)),
        ],
        "split_with_sizes_copy.out": [("sum must fit", (ramp(4), [1, 2])), ("zero pieces", (ramp(3), [0, 3, 0]))],
        "unbind_copy.int_out": [("a dim of 0 gives nothing", (torch.empty(0, 2),)), ("0-dim refused", (t(1.0),))],
        "view_copy.out": [
            ("-1 beside 0 refused", (torch.empty(0, 2), [-1, 0])),
            ("-1 of nothing", (torch.empty(0, 2), [3, -1])),
            ("materialises a permuted input", (ramp(2, 3).t().contiguous().t(), [6])),
            ("to 0-dim", (ramp(1), [])),
        ],
        "expand_copy.out": [
            ("-1 on a new dim refused", (ramp(3), [-1, 3])),
            ("-1 keeps", (ramp(1, 3), [2, -1])),
            ("to zero", (ramp(1), [0])),
        ],
        "squeeze_copy.dim_out": [("a dim not 1 is kept", (ramp(2, 3), 0)), ("0-dim", (t(1.0), 0))],
        "squeeze_copy.dims_out": [
            ("dims not 1 are kept", (ramp(2, 1, 3), [0, 1])),
            ("duplicates refused", (ramp(1, 2), [0, 0])),
            ("no dims", (ramp(1, 2), [])),
        ],
        "repeat.out": [
            ("too few repeats refused", (ramp(2, 3), [2])),
            ("zero repeats", (ramp(2), [0])),
            ("new dims in front", (ramp(2), [2, 3])),
        ],
        "roll.out": [
            ("flat without dims", (ramp(2, 3), [1])),
            ("per dim", (ramp(2, 3), [1, -1], [0, 1])),
            ("lengths must agree", (ramp(2, 3), [1], [0, 1])),
            ("by the largest integer", (ramp(2, 3), [I64_MAX], [1])),
        ],
        "flip.out": [
            ("duplicates refused", (ramp(2, 3), [0, -2])),
            ("0-dim", (t(1.0), [0])),
            ("no dims", (ramp(2), [])),
        ],
        "diagonal_copy.out": [
            ("of the outer dims", (ramp(2, 3, 4), 0, 0, 2)),
            ("of the outer dims, from behind and below", (ramp(3, 2, 4), -1, -1, 0)),
        ],
        "permute_copy.out": [("duplicates refused", (ramp(2, 3), [0, 0])), ("0-dim", (t(1.0), []))],
        "pixel_shuffle.out": [
            ("order of channels", (ramp(1, 8, 2, 3), 2)),
            ("channels must divide", (ramp(1, 6, 2, 2), 2)),
        ],
        "tril.out": [
            ("zeros over NaN", (t([[NAN, NAN], [1.0, NAN]]),)),
            ("1-d refused", (ramp(3),)),
            ("far diagonal", (ramp(2, 2), -9)),
        ],
        "t_copy.out": [("1-d stays", (ramp(3),)), ("3-d refused", (ramp(2, 2, 2),))],
        "copy.out": [("broadcasts and casts", (ones((2, 2), I64), t([1.7, -1.7])))]
        + [(n, (ones(len(v), d), v)) for n, v, d in CASTS],
        "dim_order_ops::_to_dim_order_copy.out": [(n, (v,), (d,)) for n, v, d in CASTS],
        "sum.IntList_out": [
            ("no dims means all", (ramp(2, 3), [])),
            ("None means all", (ramp(2, 3), None)),
            ("dims twice refused", (ramp(2, 3), [0, -2])),
            ("-0 is lost", (t([-0.0, -0.0]), [0])),
            ("bool counts in i64", (t([True, True]), [0])),
            ("cast before adding, to i64", (t([0.6, 0.6]), [0], False, I64)),
            ("cast before adding, to i8", (t([100, 100], I32), [0], False, I8)),
            ("over nothing is 0", (EMPTY_COLUMNS, [1])),
            ("of nothing", (EMPTY_ROWS, [1])),
            ("f16 overflow comes back", (t([60000.0, 60000.0, -60000.0], F16), [0])),
            ("a small after a large f32", (t([2.0**24, 1.0, 1.0, 1.0]), [0])),
            ("f64 of f32", (t([2.0**24, 1.0, 1.0, 1.0]), [0], False, F64)),
            ("0-dim accepts 0 and -1", (t(2.0), [-1])),
            ("0-dim with dim 1 refused", (t(2.0), [1])),
            ("inf and -inf", (t([INF, -INF]), [0])),
            ("u8 in i64", (t([200, 200], U8), None)),
        ]
        + [(n, (ones(1900, d), None)) for n, d in HALF_ONES]
        + [("f16 above 2048", (ones(1900, F16) * 1.5, None))],
        "mean.out": [
            ("integers refused", (ramp(3, dtype=I64), [0])),
            ("integers with a dtype", (ramp(4, dtype=I64), [0], False, F32)),
            ("of nothing is NaN", (EMPTY_COLUMNS, [1])),
            ("f16 does not overflow", (ones(4, F16) * 60000, [0])),
            ("no dims means all", (ramp(2, 3), [])),
            ("None means all", (ramp(2, 3), None)),
            ("integer dtype refused", (ramp(3), [0], False, I64)),
        ],
        "mean.dtype_out": [
            ("integers refused", (ramp(3, dtype=I64),)),
            ("integers with a dtype", (ramp(4, dtype=I64), F64)),
            ("of nothing is NaN", (torch.empty(0),)),
        ],
        "prod.out": [
            ("half steps in half", (ones(300, F16) * 1.01,)),
            ("f16 overflows on the way", (t([60000.0, 60000.0, 1e-4, 1e-4], F16),)),
            ("integers wrap in i64", (t([2**40, 2**40], I64),)),
            ("of nothing is 1", (torch.empty(0),)),
            ("bool is i64", (t([True, True]),)),
            ("u8 is i64", (t([200, 200], U8),)),
        ],
        "prod.int_out": [
            ("half steps in half", (ones((2, 300), BF16) * 1.01, 1)),
            ("over nothing is 1", (EMPTY_COLUMNS, 1)),
            ("-0 times", (t([-0.0, -0.0]), 0)),
            ("as i8", (t([100, 100], I32), 0, False, I8)),
        ],
        "amax.out": [
            ("first of equal zeros", (t([-0.0, 0.0]), [0])),
            ("NaN", (NAN_ROW, [0])),
            ("no dims means all", (ramp(2, 3), [])),
            ("over nothing refused", (EMPTY_COLUMNS, [1])),
            ("all of nothing refused", (EMPTY_COLUMNS, [])),
            ("beside nothing", (EMPTY_ROWS, [1])),
            ("bool", (t([False, True]), [0])),
            ("0-dim", (t(3.0), [0])),
        ],
        "amin.out": [
            ("first of equal zeros", (t([0.0, -0.0]), [0])),
            ("NaN", (NAN_ROW, [0])),
            ("over nothing refused", (EMPTY_COLUMNS, [1])),
        ],
        "max.unary_out": [
            ("zeros of both signs", (t([-0.0, 0.0]),)),
            ("NaN", (NAN_ROW,)),
            ("of nothing refused", (torch.empty(0),)),
            ("bool", (t([False, True]),)),
        ],
        "min.unary_out": [
            ("zeros of both signs", (t([0.0, -0.0]),)),
            ("NaN", (NAN_ROW,)),
            ("of nothing refused", (torch.empty(0),)),
        ],
        "max.dim_max": [
            ("first of ties", (TIES, 0)),
            ("first NaN", (NAN_ROW, 0)),
            ("over nothing refused", (EMPTY_COLUMNS, 1)),
            ("beside nothing", (EMPTY_ROWS, 1)),
            ("0-dim", (t(3.0), -1)),
            ("zeros", (t([-0.0, 0.0]), 0)),
        ],
        "min.dim_min": [
            ("first of ties", (TIES, 0)),
            ("first NaN", (NAN_ROW, 0)),
            ("over nothing refused", (EMPTY_COLUMNS, 1)),
            ("0-dim", (t(3.0), 0)),
            ("zeros", (t([0.0, -0.0]), 0)),
        ],
        "argmax.out": [
            ("first of ties", (TIES,)),
            ("first NaN", (NAN_ROW,)),
            ("bool refused", (t([True]),)),
            ("flat index", (ramp(2, 3),)),
            ("keepdim without dim", (ramp(2, 3), None, True)),
            ("of nothing refused", (torch.empty(0),)),
            ("u16 along one element", (t([[1], [2]], U16), 1)),
            ("u16 refused along more", (t([[1], [2]], U16), 0)),
            ("over nothing refused", (EMPTY_COLUMNS, 1)),
            ("0-dim", (t(2.0), 0)),
        ],
        "argmin.out": [
            ("first of ties", (TIES,)),
            ("first NaN", (NAN_ROW,)),
            ("keepdim without dim", (ramp(2, 3), None, True)),
            ("of nothing refused", (torch.empty(0),)),
        ],
        "any.all_out": [
            ("NaN is true, -0 is not", (t([NAN, -0.0]),)),
            ("u8 gives u8", (t([0, 3], U8),)),
            ("of nothing", (torch.empty(0),)),
            ("u8 into bool out", (t([0, 3], U8),), (B1,)),
        ],
        "any.out": [
            ("u8 gives u8", (t([[0, 3]], U8), 1)),
            ("over nothing", (EMPTY_COLUMNS, 1)),
            ("-0 is false", (t([-0.0]), 0)),
        ],
        "any.dims_out": [
            ("no dims reduces nothing", (t([[0.0, 1.0]]), [])),
            ("None reduces all", (t([[0.0, 1.0]]), None)),
            ("u8", (t([[0, 3]], U8), [0, 1])),
            ("dims twice refused", (ramp(2, 3), [0, 0])),
        ],
        "var.correction_out": [
            ("one element is NaN", (t([3.0]), [0])),
            ("one element without correction", (t([3.0]), [0], 0)),
            ("correction equal to n", (t([0.0, 1.0]), [0], 2)),
            ("correction above n", (t([0.0, 1.0]), [0], 3)),
            ("fractional correction", (ramp(3), [0], 0.5)),
            ("negative correction", (ramp(3), [0], -1)),
            ("inf inside", (t([INF, 1.0]), [0])),
            ("f16 overflows at the end", (t([0.0, 500.0], F16), [0])),
            ("integers refused", (ramp(3, dtype=I64), [0])),
            ("no dims means all", (ramp(2, 3), [])),
            ("of nothing", (torch.empty(0), [0])),
            ("large mean", (t([1e8, 1e8 + 8, 1e8 + 16]), [0])),
        ],
        "var.out": [
            ("large mean", (t([1e8, 1e8 + 8, 1e8 + 16]), [0])),
            ("biased", (ramp(4), [0], False)),
            ("one element", (t([3.0]), [0])),
        ],
        "var_mean.correction_out": [
            ("large mean", (t([1e8, 1e8 + 8, 1e8 + 16]), [0])),
            ("correction above n", (t([0.0, 1.0]), [0], 3)),
            ("f16", (t([0.0, 500.0], F16), [0])),
            ("of nothing", (EMPTY_COLUMNS, [1])),
        ],
        "cumsum.out": [
            ("bf16 runs wide", (t([256.0, 1.0, 1.0, 1.0], BF16), 0)),
            ("f32 runs in double", (t([2.0**24, 1.0, 1.0, 1.0]), 0)),
            ("many tenths", (ones(1500) * 0.1, 0)),
            ("bool is i64", (t([True, True]), 0)),
            ("0-dim", (t(3.0), -1)),
            ("u8 as u8 wraps", (t([200, 200], U8), 0, U8)),
            ("f32 as i64 casts first", (t([0.6, 0.6]), 0, I64)),
            ("-0 is lost", (t([-0.0]), 0)),
            ("inf then -inf", (t([INF, -INF, 1.0]), 0)),
        ],
        "cumprod.out": [
            ("f32 runs in double", (t([1e30, 1e30, 1e-30, 1e-30]), 0)),
            ("f16 runs in f32", (t([1000.0, 1000.0, 0.001, 0.5], F16), 0)),
            ("0 then inf", (t([0.0, INF, 1.0]), 0)),
            ("signs of zero", (t([-0.0, 2.0, -1.0]), 0)),
            ("bool is i64", (t([True, True, False]), 0)),
            ("0-dim", (t(3.0), -1)),
            ("0-dim bool", (t(True), 0, B1)),
            ("u8 as u8 wraps", (t([200, 200], U8), 0, U8)),
            ("f32 as i64 casts first", (t([1.6, 1.6, -1.6]), 0, I64)),
            ("i64 wraps", (t([I64_MIN, 3, -1], I64), 0)),
            ("many", (ones(1500) * 1.001, 0)),
        ],
        "sort.values": [
            ("u64 beyond i64", (t([2**63 + 1, 1, 2**64 - 1, 2**63], U64), 0, False)),
            ("u64 beyond i64, descending", (t([2**63 + 1, 1, 2**64 - 1, 2**63], U64), 0, True)),
        ],
        "sort.values_stable": [
            ("u64 beyond i64", (t([2**63 + 1, 1, 2**64 - 1, 2**63], U64), True)),
            ("ties in order", (t([2.0, 1.0, 2.0, 1.0, 2.0]), True)),
            ("ties in order, descending", (t([2.0, 1.0, 2.0, 1.0, 2.0]), True, 0, True)),
            ("zeros tie", (t([0.0, -0.0, 0.0, -0.0]), True)),
            ("NaN tie", (t([NAN, 1.0, NAN, -INF]), True)),
            ("NaN tie, descending", (t([NAN, 1.0, NAN, INF]), True, 0, True)),
            ("many ties", (ramp(100) % 3, True)),
            ("bool", (t([True, False, True, False]), True)),
            ("0-dim", (t(3.0), True)),
            ("None", (t([2.0, 1.0, 2.0]), None)),
        ],
        "_softmax.out": [
            ("all -inf is NaN", (t([-INF, -INF]), 0, False)),
            ("inf is NaN", (t([INF, 0.0]), 0, False)),
            ("NaN spreads", (t([NAN, 0.0]), 0, False)),
            ("-inf is 0", (t([-INF, 0.0]), 0, False)),
            ("half_to_float refused", (t([1.0], F16), 0, True)),
            ("integers refused", (t([1], I64), 0, False)),
            ("0-dim", (t(3.0), 0, False)),
            ("large values", (t([1000.0, 999.0]), 0, False)),
        ],
        "_log_softmax.out": [
            ("-inf stays", (t([-INF, 0.0]), 0, False)),
            ("all -inf is NaN", (t([-INF, -INF]), 0, False)),
            ("inf is NaN", (t([INF, 0.0]), 0, False)),
            ("half_to_float refused", (t([1.0], F16), 0, True)),
            ("integers refused", (t([1], I64), 0, False)),
            ("0-dim", (t(3.0), -1, False)),
        ],
        "median.out": [
            ("the lower of two", (t([4.0, 1.0, 3.0, 2.0]),)),
            ("NaN", (NAN_ROW,)),
            ("of nothing", (torch.empty(0),)),
            ("of no complex numbers", (t([], C64),)),
            ("of complex numbers refused", (t([1j], C64),)),
            ("of no integers", (t([], I64),)),
            ("of no u8", (t([], U8),)),
            ("of no bool", (t([], B1),)),
            ("i64 beyond float64", (t([2**53 + 1, 2**53 + 2, 2**53], I64),)),
            ("0-dim", (t(3.0),)),
        ],
        "median.dim_values": [
            ("the lower of two", (t([4.0, 1.0, 3.0, 2.0]), 0)),
            ("the first NaN", (NAN_ROW, 0)),
            ("many ties", (ramp(40) % 2, 0)),
            ("0-dim", (t(3.0), 0)),
            ("along nothing", (torch.empty(2, 0), 1)),
            ("of no rows", (torch.empty(2, 0), 0, True)),
        ],
        "view_copy.dtype_out": [
            ("NaN keeps its bits", (t([0x7FC00001, -1], I32), F32)),
            ("u8 2 as bool", (t([0, 1, 2], U8), B1)),
            ("f32 as two i16", (t([[1.0, -2.5]]), I16)),
            ("eight bytes as f64", (t([0, 0, 0, 0, 0, 0, 240, 63], U8), F64)),
            ("channels last as wide", (ramp(1, 2, 3, 2).to(memory_format=torch.channels_last), I32)),
            ("channels last refused", (ramp(1, 2, 3, 2).to(memory_format=torch.channels_last), I16)),
            ("three as half as many refused", (ramp(2, 3), F64)),
            ("0-dim as wide", (t(1.0), I32)),
            ("0-dim refused", (t(1.0), I16)),
        ],
        "topk.values": [
            ("ties are not in index order", (TIES, 3)),
            ("NaN is largest", (NAN_ROW, 2)),
            ("NaN is last of the smallest", (NAN_ROW, 3, 0, False)),
            ("k 0", (ramp(3), 0)),
            ("k above n refused", (ramp(3), 4)),
            ("0-dim", (t(3.0), 1)),
            ("zeros of 100", (torch.zeros(100), 3)),
            ("bool", (t([True, False]), 1)),
            ("unsorted", (ramp(9), 4, 0, True, False)),
        ],
        "nonzero.out": [
            ("row major", (t([[0.0, 1.0], [2.0, 0.0]]),)),
            ("0-dim", (t(3.0),)),
            ("0-dim zero", (t(0.0),)),
            ("NaN is nonzero, -0 is not", (t([NAN, -0.0, 1e-45]),)),
            ("of nothing", (torch.empty(0, 2),)),
        ],
        "arange.out": [
            ("of f32", (37,), (F32,)),
            ("fraction into i64", (5.5,), (I64,)),
            ("negative refused", (-1,)),
            ("i64 inferred", (5,)),
            ("u8 wraps", (260,), (U8,)),
            ("f16", (20.0,), (F16,)),
            ("bool", (1,), (B1,)),
        ],
        "arange.start_out": [
            ("length in double", (0, 1, 0.1)),
            ("length of 1 to 1.3", (1, 1.3, 0.1)),
            ("integers truncate first", (0, 5.5, 2.5), (I64,)),
            ("f32 in blocks of 16", (0.0, 10.0, 0.1), (F32,)),
            ("f32 backwards", (10.0, 0.0, -0.3), (F32,)),
            ("wrong sign refused", (0, 5, -1)),
            ("step 0 refused", (0, 5, 0)),
            ("f16 wide", (0.0, 5.0, 0.1), (F16,)),
            ("bf16 wide", (0.0, 5.0, 0.1), (BF16,)),
            ("empty", (3, 3, 1)),
            ("large i64", (2**53 + 1, 2**53 + 5, 1), (I64,)),
            ("i32 past its range", (2**31 - 2, 2**31 + 1, 1), (I32,)),
        ],
        "mm.out": [
            ("i8 wraps", (t([[10, 10]], I8), t([[10], [10]], I8))),
            ("bool refused", (t([[True]]), t([[True]]))),
            ("f16 accumulates wide", (ones((1, 600), F16) * 4, ones((600, 1), F16))),
            ("bf16 accumulates wide", (ones((1, 600), BF16), ones((600, 1), BF16))),
            ("dtypes must agree", (ones((1, 1)), ones((1, 1), F64))),
            ("no inner dim gives zeros", (torch.empty(2, 0), torch.empty(0, 3))),
            ("inf times 0", (t([[INF, 1.0]]), t([[0.0], [1.0]]))),
        ],
        "bmm.out": [
            ("i8 wraps", (t([[[10, 10]]], I8), t([[[10], [10]]], I8))),
            ("bf16 accumulates wide", (ones((1, 1, 600), BF16), ones((1, 600, 1), BF16))),
            ("f16 accumulates wide", (ones((1, 1, 600), F16) * 4, ones((1, 600, 1), F16))),
            ("no inner dim gives zeros", (torch.empty(1, 2, 0), torch.empty(1, 0, 3))),
        ],
        "addmm.out": [
            ("beta 0 ignores NaN", (t([[NAN]]), t([[2.0]]), t([[3.0]]), 0)),
            ("alpha 0 and inf", (t([[1.0]]), t([[INF]]), t([[3.0]]), 1, 0)),
            ("integers truncate alpha", (t([[1]], I64), t([[2]], I64), t([[3]], I64), 1, 1.5)),
            ("bias before the one rounding", (t([1.0], BF16), t([[256.0, 1.0]], BF16), t([[1.0], [1.0]], BF16))),
            ("f16 bias before the one rounding", (t([1.0], F16), t([[2048.0]], F16), t([[1.0]], F16))),
            ("beta is rounded where there is no inner dim", (t([0.5], F16), torch.empty(1, 0, dtype=F16), torch.empty(0, 1, dtype=F16), 65535)),
            ("no inner dim gives beta self", (t([[2.0, 3.0]]), torch.empty(1, 0), torch.empty(0, 2), 2)),
            ("self broadcasts", (t([5.0, 6.0]), ramp(2, 2), ramp(2, 2))),
            ("beta is not rounded beside one product", (t([0.5], F16), t([[3.0]], F16), t([[0.0]], F16), 65535)),
            ("an infinite alpha without inner dim", (t([[-0.0, 2.0]]), torch.empty(1, 0), torch.empty(0, 2), 1, INF)),
            ("complex, an infinite alpha without inner dim", (t([[1 + 2j]], C64), torch.empty(1, 0, dtype=C64), torch.empty(0, 1, dtype=C64), 1, INF)),
            ("complex alpha and one product", (t([[1 + 2j]], C64), t([[2j]], C64), t([[3 + 1j]], C64), 2, 3)),
        ],
        "convolution.out": [
            ("correlation, not convolution", (ramp(1, 1, 4), t([[[1.0, 10.0]]]), None, [1], [0], [1], False, [0], 1)),
            ("inf times padding is NaN", (t([[[INF]]]), t([[[1.0, 0.0, 1.0]]]), None, [1], [1], [1], False, [0], 1)),
            (
                "padding times inf weight is NaN",
                (t([[[1.0]]]), t([[[INF, 1.0, 1.0]]]), None, [1], [1], [1], False, [0], 1),
            ),
            ("kernel above input refused", (ramp(1, 1, 2), ramp(1, 1, 3), None, [1], [0], [1], False, [0], 1)),
            (
                "a single stride is for all dims",
                (ramp(1, 1, 4, 4), ramp(1, 1, 2, 2), None, [2], [0], [1], False, [0], 1),
            ),
            (
                "bias of other dtype refused",
                (ramp(1, 1, 3), ramp(1, 1, 2), t([1.0], F64), [1], [0], [1], False, [0], 1),
            ),
            ("integers", (ramp(1, 1, 4, dtype=I64), ramp(1, 1, 2, dtype=I64), None, [1], [0], [1], False, [0], 1)),
            (
                "transposed with output padding",
                (t([[[1.0, 2.0]]]), t([[[1.0, 10.0, 100.0]]]), None, [2], [1], [1], True, [1], 1),
            ),
            (
                "output padding must be below stride or dilation",
                (t([[[1.0, 2.0]]]), t([[[1.0, 10.0, 100.0]]]), None, [1], [0], [1], True, [1], 1),
            ),
            ("no batch", (torch.empty(0, 1, 4), ramp(1, 1, 2), None, [1], [0], [1], False, [0], 1)),
            (
                "f16 bias before the one rounding",
                (t([[[2048.0]]], F16), t([[[1.0]]], F16), t([1.0], F16), [1], [0], [1], False, [0], 1),
            ),
            (
                "bf16 accumulates wide",
                (ones((1, 300, 1), BF16), ones((1, 300, 1), BF16), None, [1], [0], [1], False, [0], 1),
            ),
            ("transposed groups", (ramp(1, 4, 2), ramp(4, 1, 2), None, [1], [0], [1], True, [0], 2)),
            ("a bias that is not finite", (ramp(1, 1, 3), ramp(2, 1, 2), t([INF, NAN]), [1], [0], [1], False, [0], 1)),
        ],
        "avg_pool2d.out": [
            ("a window that starts in the padding is dropped", (ramp(1, 3, 3), [1, 1], [3, 3], [0, 0], True)),
            ("ceil with padding counts clipped cells", (ones((1, 4, 4)), [3, 3], [2, 2], [1, 1], True)),
            ("divisor 0 refused", (ones((1, 4, 4)), [2, 2], [], [0, 0], False, True, 0)),
            ("divisor -2", (ones((1, 4, 4)), [2, 2], [], [0, 0], False, True, -2)),
            ("padding above half refused", (ones((1, 4, 4)), [2, 2], [1, 1], [2, 2])),
            ("i64 truncates", (t([[[-1, -2], [-2, -2]]], I64), [2, 2])),
            ("i32 refused", (ones((1, 2, 2), I32), [2, 2])),
            ("no batch", (torch.empty(0, 1, 2, 2), [2, 2])),
            ("no channel refused", (torch.empty(1, 0, 2, 2), [2, 2])),
            ("f16 accumulates wide", (ones((1, 40, 40), F16), [40, 40])),
            ("padding not counted", (ones((1, 3, 3)), [2, 2], [1, 1], [1, 1], False, False)),
        ],
        "max_pool2d_with_indices.out": [
            ("the last NaN wins", (t([[[1.0, NAN, 2.0, NAN]]]), [1, 4])),
            ("first of ties", (t([[[2.0, 2.0, 1.0, 2.0]]]), [1, 4])),
            ("all -inf points at a cell", (torch.full((1, 2, 2), -INF), [2, 2], [1, 1], [1, 1])),
            ("integers with padding", (t([[[-5, -7], [-6, -8]]], I64), [2, 2], [1, 1], [1, 1])),
            ("dilation", (ramp(1, 5, 5), [2, 2], [1, 1], [0, 0], [2, 2])),
            ("padding beyond half of the kernel refused, though it is dilated", (ramp(1, 5, 5), [3, 3], [1, 1], [2, 2], [2, 2])),
            ("u8 minimum with padding", (torch.zeros(1, 2, 2, dtype=U8), [2, 2], [1, 1], [1, 1])),
        ],
        "_adaptive_avg_pool2d.out": [
            ("5 to 7", (ramp(1, 5, 5), [7, 7])),
            ("to nothing", (ramp(1, 3, 3), [0, 2])),
            ("integers refused", (ramp(1, 3, 3, dtype=I64), [2, 2])),
            ("f16 accumulates wide", (ones((1, 40, 40), F16), [1, 1])),
        ],
        "adaptive_max_pool2d.out": [
            ("5 to 7", (ramp(1, 5, 5), [7, 7])),
            ("the last NaN wins", (t([[[1.0, NAN, 2.0, NAN]]]), [1, 1])),
            ("first of ties", (t([[[2.0, 2.0, 1.0, 2.0]]]), [1, 2])),
            ("all -inf points at a cell", (torch.full((1, 2, 4), -INF), [1, 2])),
            ("to nothing", (ramp(1, 3, 3), [0, 2])),
            ("integers refused", (ramp(1, 3, 3, dtype=I64), [2, 2])),
        ],
        "adaptive_max_pool3d.out": [
            ("5 to 7", (ramp(1, 5, 2, 3), [7, 3, 2])),
            ("the last NaN wins", (t([[[[1.0, NAN], [2.0, NAN]]]]), [1, 1, 1])),
            ("first of ties", (t([[[[2.0, 2.0], [1.0, 2.0]]]]), [1, 1, 1])),
            ("all -inf points at a cell", (torch.full((1, 2, 2, 2), -INF), [1, 2, 1])),
        ],
        "_embedding_bag.out": [
            *((f"an empty bag in mode {m}", (ramp(4, 3), t([0, 2, 1], I64), t([0, 2, 2], I64), False, m)) for m in range(3)),
            *((f"nothing but padding in mode {m}", (ramp(4, 3), t([3, 3], I64), t([0], I64), False, m, False, None, False, 3)) for m in range(3)),
            *((f"no bag in mode {m}", (ramp(4, 3), t([], I64), t([], I64), False, m)) for m in range(3)),
            *((f"NaN first or later in mode {m}", (t([[NAN, 1.0], [2.0, NAN]]), t([0, 1], I64), t([0], I64), False, m)) for m in range(3)),
            ("first of equals", (ones((3, 2)), t([2, 0], I64), t([0], I64), False, 2)),
            ("weighed", (ramp(4, 3), t([0, 2, 1], I64), t([0, 2], I64), False, 0, False, ramp(3))),
            ("weighed without padding", (ramp(4, 3), t([0, 2, 1], I64), t([0, 2], I64), False, 0, False, ramp(3), False, 2)),
            *((f"weighed in mode {m} refused", (ramp(4, 3), t([0, 2, 1], I64), t([0], I64), False, m, False, ramp(3))) for m in (1, 2)),
            ("f64 sums know the bag of each", (ramp(4, 3, dtype=F64), t([0, 2, 1], I64), t([0, 2], I64))),
            ("a single index in the second bag", (ramp(4, 3, dtype=F64), t([2], I64), t([0, 0], I64))),
            ("the mean of large f16", (torch.full((2, 1), 60000.0, dtype=F16), t([0, 1], I64), t([0], I64), False, 1)),
            ("first offset 1 refused", (ramp(4, 3), t([0, 2, 1], I64), t([1, 2], I64))),
            ("offset beyond the indices refused", (ramp(4, 3), t([0, 2, 1], I64), t([0, 4], I64))),
            ("no last offset refused", (ramp(4, 3), t([], I64), t([], I64), False, 0, False, None, True)),
        ],
        "avg_pool1d.out": [
            ("a window that starts in the padding is dropped", (ramp(1, 3), [1], [3], [0], True)),
            ("ceil with padding counts clipped cells", (ones((1, 4)), [3], [2], [1], True)),
            ("i64 truncates", (t([[-1, -2]], I64), [2])),
            ("padding not counted", (ones((1, 3)), [2], [1], [1], False, False)),
        ],
        "adaptive_avg_pool1d.out": [
            ("5 to 7", (ramp(1, 5), [7])),
            ("no integer", (ramp(1, 3, dtype=I64), [2])),
            ("integers to nothing", (ramp(1, 3, dtype=I64), [0])),
            ("the mean of nothing", (torch.empty(1, 0), [1])),
            ("no other average of nothing", (torch.empty(1, 0), [2])),
            ("the mean of complex numbers", (t([[[1 + 2j, 3j]]], C64), [1])),
            ("no other average of complex numbers", (t([[[1 + 2j, 3j]]], C64), [2])),
        ],
        "avg_pool3d.out": [
            ("a window that starts in the padding is dropped", (ramp(1, 3, 3, 3), [1], [3], [0], True)),
            ("ceil with padding counts clipped cells", (ones((1, 4, 4, 4)), [3], [2], [1], True)),
            ("divisor 0 refused", (ones((1, 2, 2, 2)), [2], [], [0], False, True, 0)),
            ("divisor -2", (ones((1, 2, 2, 2)), [2], [], [0], False, True, -2)),
            ("i64 truncates", (t([[[[-1, -2], [-2, -2]], [[-1, -1], [-1, -1]]]], I64), [2])),
            ("f16 refused", (ones((1, 2, 2, 2), F16), [2])),
            ("two entries refused", (ones((1, 2, 2, 2)), [2, 2])),
            ("padding not counted", (ones((1, 2, 2, 2)), [2], [1], [1], False, False)),
        ],
        "max_pool3d_with_indices.out": [
            ("the last NaN wins", (t([[[[1.0, NAN], [2.0, NAN]]]]), [1, 2, 2])),
            ("first of ties", (t([[[[2.0, 2.0], [1.0, 2.0]]]]), [1, 2, 2])),
            ("all -inf points at a cell", (torch.full((1, 2, 2, 2), -INF), [2], [1], [1])),
            ("integers with padding", (t([[[[-5, -7], [-6, -8]]]], I64), [2], [1], [1])),
            ("a window without a cell", (ramp(1, 1, 2, 3), [2], [1], [1], [2])),
            ("a window of integers without a cell", (ramp(1, 1, 2, 3, dtype=U8), [2], [1], [1], [2])),
        ],
        "_adaptive_avg_pool3d.out": [("5 to 7", (ramp(1, 5, 2, 3), [7, 3, 2])), ("integers to nothing refused", (ramp(1, 1, 1, 1, dtype=I64), [0, 1, 1]))],
        "llama::custom_sdpa.out": [
            ("keys up to the end of the query", (*heads(2, 4), 1, None, 0.0, False)),
            ("causal keys up to the query", (*heads(2, 4), 1, None, 0.0, True)),
            ("at the last position", (*heads(1, 4), 3, None, 0.0, True)),
            ("a mask sees all keys", (*heads(1, 4), 0, t([[0.0, -INF, 0.5, 0.0]]), 0.0, False)),
            ("a row that masks every key", (*heads(2, 4), 0, t([[-INF] * 4, [0.0] * 4]), 0.0, False)),
            ("heads in groups", (*heads(1, 3, 4, 2), 2, None, 0.0, False)),
            ("f16", (*heads(2, 4, dtype=F16), 1, None, 0.0, True)),
            ("bf16", (*heads(2, 4, dtype=BF16), 1, None, 0.0, True)),
            ("a mask of f16 refused", (*heads(1, 4, dtype=F16), 0, torch.zeros(1, 4, dtype=F16), 0.0, False)),
            ("beyond the keys refused", (*heads(2, 4), 3, None, 0.0, True)),
            ("two of a batch", (*heads(2, 3, 2, batch=2), 1, None, 0.0, True)),
        ],
        "llama::fast_hadamard_transform.out": [("28 times 32", (ramp(896) % 7,))],
        "_cdist_forward.out": [
            ("the largest leaves NaN out", (t([[NAN, 1.0], [NAN, NAN]]), t([[0.0, 4.0]]), INF, None)),
            ("NaN in a sum", (t([[NAN, 1.0]]), t([[0.0, 4.0]]), 2.0, None)),
            ("NaN in a count", (t([[NAN, 1.0], [1e-45, 4.0]]), t([[0.0, 4.0]]), 0.0, None)),
            ("infinities", (t([[INF, 1.0], [-INF, 1.0]]), t([[INF, 1.0], [0.0, 1.0]]), 2.0, 2)),
            ("no columns", (torch.empty(2, 0), torch.empty(3, 0), 2.0, None)),
            ("no columns of two dtypes", (torch.empty(2, 0), torch.empty(3, 0, dtype=F64), 2.0, None)),
            ("equal rows by products", (t([[1000.1, 999.9]]), t([[1000.1, 999.9]]), 2.0, 1)),
            ("near rows without products", (t([[1000.1, 999.9]]), t([[1000.0, 1000.0]]), 2.0, 2)),
            ("half types by products only", (ramp(2, 3, dtype=F16), ones((2, 3), F16), 2.0, 1)),
            ("half types refused", (ramp(2, 3, dtype=F16), ones((2, 3), F16), 2.0, 2)),
            ("squares overflow", (t([[1e30, 0.0]]), t([[0.0, 0.0]]), 2.0, 2)),
            ("powers vanish", (t([[1e-3, 0.0]]), t([[0.0, 0.0]]), 40.0, None)),
            ("p vanishes in float32", (t([[3.0, 1.0]]), t([[0.0, 1.0]]), 1e-300, None)),
            ("negative p refused", (ramp(2, 3), ramp(2, 3), -1.0, None)),
            ("the largest is infinite", (t([[INF, 1.0]]), t([[0.0, 4.0]]), INF, None)),
        ],
        "_pdist_forward.out": [
            ("pairs in order", (t([[0.0], [1.0], [3.0], [7.0]]), 1.0)),
            ("the largest is NaN", (t([[NAN, 1.0], [0.0, 4.0]]), INF)),
            ("one row", (ramp(1, 3), 2.0)),
            ("one row of integers", (ramp(1, 3, dtype=I64), 2.0)),
            ("no columns", (torch.empty(3, 0, dtype=I32), 2.0)),
            ("integers refused", (ramp(2, 3, dtype=I64), 2.0)),
        ],
        "grid_sampler_2d.out": [
            (f"NaN, infinities and far places, mode {i}, padding {p}", (ramp(1, 1, 1, 4) + 1, FAR, i, p, corners))
            for i in range(3)
            for p in range(3)
            for corners in (False, True)
        ]
        + [
            ("halves to even", (ramp(1, 1, 1, 4), along_x(-0.75, -0.25, 0.25, 0.75), 1, 0, False)),
            ("halves to even on corners", (ramp(1, 1, 1, 3), along_x(-0.5, 0.5), 1, 0, True)),
            ("half outside of the edge", (ones((1, 1, 1, 4)), along_x(-1.0, 1.0, -1.25, 1.25), 0, 0, False)),
            ("one cell on corners", (ones((1, 1, 1, 1)), along_x(-1.0, 0.3, 2.0), 0, 2, True)),
            ("two dtypes refused", (ones((1, 1, 1, 4)), along_x(0.0).double(), 0, 0, False)),
            *((f"beside an infinity, mode {i}", (t([[[[INF, 1.0, 2.0, 3.0, NAN]]]]), along_x(-0.5, 0.0, 0.5), i, 0, True)) for i in range(3)),
            ("below an infinity", (t([[[[INF], [1.0], [2.0]]]]), t([[[[0.0, 0.0], [0.0, 1.0]]]]), 0, 0, True)),
        ],
        "_upsample_bilinear2d_aa.out": [
            ("a triangle as wide as the step", (ramp(1, 1, 1, 4), [1, 2], False)),
            ("half pixels with aligned corners too", (ramp(1, 1, 1, 4), [1, 3], True)),
            ("given scale", (ramp(1, 1, 1, 4), [1, 2], False, None, 0.75)),
            ("three channels of uint8", ((ramp(1, 3, 5, 7) * 7 % 256).to(U8), [3, 4], False)),
            ("four channels of uint8", ((ramp(1, 4, 5, 7) * 11 % 256).to(U8), [8, 3], False)),
            ("uint8 is rounded in each pass", (t([[[[0, 1], [1, 1]]]], U8), [1, 1], False)),
            ("any dtype keeps its sizes", (ramp(1, 1, 2, 2, dtype=I64), [2, 2], False)),
            ("half types refused", (ones((1, 1, 2, 2), F16), [1, 1], False)),
            *((f"{name} refused to other sizes", (t([[[[1 + 2j, 3j]]]], dtype), [1, 1], False)) for name, dtype in (("complex32", C32), ("complex64", C64), ("complex128", C128))),
            ("uint8 in 16 bits", ((ramp(1, 1, 1, 11) * 10).to(U8), [1, 4], False)),
            ("uint8 in 22 bits", (codes(590, 75), [1, 2], False)),
            ("uint8 in no more than 22 bits", (codes(598, 92), [1, 2], False)),
            ("uint8, the largest weight is rounded to 2^15", ((ramp(1, 1, 1, 4) * 7).to(U8), [1, 2], False, None, 0.4666693)),
            ("uint8, the largest weight is rounded to less", ((ramp(1, 1, 1, 4) * 7).to(U8), [1, 2], False, None, 0.466672)),
        ],
        "upsample_nearest2d.vec_out": [
            ("given scale is used", (ramp(1, 1, 1, 4), None, [1.0, 1.7])),
            ("size recomputes the scale", (ramp(1, 1, 1, 4), [1, 6], None)),
            ("a size that is doubled shifts", (ramp(1, 1, 5, 4), None, [2.1, 2.2])),
            ("a width that is doubled shifts", (ramp(1, 1, 5, 4, dtype=F64), None, [1.1, 2.2])),
            ("a size that is doubled shifts, channels last", (ramp(1, 8, 5, 4).to(memory_format=torch.channels_last), None, [2.1, 2.2])),
            ("both refused", (ramp(1, 1, 1, 4), [1, 6], [1.0, 1.5])),
            ("neither refused", (ramp(1, 1, 1, 4), None, None)),
            ("u8", (ramp(1, 1, 2, 2, dtype=U8), [3, 3], None)),
            ("i64 refused", (ramp(1, 1, 2, 2, dtype=I64), [3, 3], None)),
        ],
        "upsample_bilinear2d.vec_out": [
            ("half pixel", (ramp(1, 1, 1, 4), [1, 7], False, None)),
            ("align corners", (ramp(1, 1, 1, 4), [1, 7], True, None)),
            ("one output with align corners", (ramp(1, 1, 3, 4), [1, 1], True, None)),
            ("scale is ignored with align corners", (ramp(1, 1, 1, 4), None, True, [1.0, 1.7])),
            ("scale is used without", (ramp(1, 1, 1, 4), None, False, [1.0, 1.7])),
            ("u8 rounds", (ramp(1, 1, 2, 2, dtype=U8) * 9, [3, 3], False, None)),
            ("f16", (ramp(1, 1, 3, 3, dtype=F16) * 0.3, [5, 5], False, None)),
            ("a place just below a cell and an infinity", (t([[[[1.0, 2.0, 3.0, INF]]]]), None, False, [1.0, 0.600000024])),
        ],
        **{
            f"{kind}_pad{n}d.out": [("all dimensions but one may be cropped away", (ramp(*[1] * (n + 2)), [-1, 0] * (n - 1) + [0, 0]))]
            for kind in ("reflection", "replication")
            for n in (2, 3)
        },
        "native_layer_norm.out": [
            ("constant row with eps", (ones((2, 3)), [3], None, None, 1e-5)),
            ("constant row without eps", (ones((2, 3)), [3], None, None, 0.0)),
            ("bf16 with f32 weights", (ramp(2, 3, dtype=BF16), [3], ones(3), ones(3), 1e-5)),
            ("f16 statistics in f16", (ramp(2, 3, dtype=F16), [3], None, None, 1e-5)),
            ("over nothing", (torch.empty(2, 0), [0], None, None, 1e-5)),
            ("large mean", (t([[1e4, 1e4 + 1, 1e4 + 2]]), [3], None, None, 1e-5)),
        ],
        "native_group_norm.out": [
            ("statistics are (N, groups)", (ramp(2, 4, 2), None, None, 2, 4, 2, 2, 1e-5)),
            ("bf16 with f32 weights", (ramp(1, 2, 2, dtype=BF16), ones(2), ones(2), 1, 2, 2, 1, 1e-5)),
            ("groups must divide", (ramp(1, 3, 2), None, None, 1, 3, 2, 2, 1e-5)),
        ],
        "_native_batch_norm_legit.out": [
            ("running_var is that of a sample", (ramp(2, 1), None, None, torch.zeros(1), ones(1), True, 0.1, 1e-5)),
            ("one value has none", (ramp(1, 3), None, None, ramp(3), ones(3), True, 0.1, 1e-5)),
            ("nothing is saved without training", (ramp(2, 3), None, None, ramp(3), ones(3), False, 0.1, 1e-5)),
            ("no batch refused", (torch.empty(0, 3), None, None, ramp(3), ones(3), True, 0.1, 1e-5)),
            ("no batch", (torch.empty(0, 3), None, None, ramp(3), ones(3), False, 0.1, 1e-5)),
            ("f16 with f32 statistics", (ramp(2, 3, dtype=F16), None, None, ramp(3), ones(3), True, 0.1, 1e-5)),
            ("bf16 with f32 weights", (ramp(2, 3, dtype=BF16), ones(3), ones(3), ramp(3), ones(3), True, 0.1, 1e-5)),
            ("weights of another dtype refused", (ramp(2, 3, dtype=F16), ones(3), None, ramp(3, dtype=F16), ones(3, F16), True, 0.1, 1e-5)),
            ("all equal, no eps", (ones((2, 3)), None, None, ramp(3), ones(3), True, 0.1, 0.0)),
        ],
        "_native_batch_norm_legit_no_training.out": [
            ("saved statistics are empty", (ramp(2, 3), None, None, ramp(3), ones(3), 0.1, 1e-5)),
            ("bf16 with f32 statistics", (ramp(2, 3, dtype=BF16), ones(3), ones(3), ramp(3), ones(3), 0.1, 1e-5)),
            (
                "f16 with f16 statistics",
                (ramp(2, 3, dtype=F16), None, None, ramp(3, dtype=F16), ones(3, F16), 0.1, 1e-5),
            ),
            ("zero variance without eps", (ramp(2, 3), None, None, ramp(3), torch.zeros(3), 0.1, 0.0)),
        ],
        "quantized_decomposed::quantize_per_tensor.out": [
            ("half-way cases by the inverse in double", (torch.arange(-20, 20) * 0.05, 0.1, 0, -128, 127, I8)),
            ("half to even", (t([0.5, 1.5, 2.5, -0.5]), 1.0, 0, -128, 127, I8)),
            ("NaN, infinities and large", (t([NAN, INF, -INF, 3e9, -3e9]), 1.0, 3, -128, 127, I8)),
            ("3e9 into i32", (t([3e9, -3e9, INF]), 1.0, 0, I32_MIN, I32_MAX, I32)),
            ("f64 refused", (t([1.0], F64), 1.0, 0, -128, 127, I8)),
            ("f16", (t([0.33, 1.7], F16), 0.1, 0, -128, 127, I8)),
            ("zero point outside the range", (t([0.0, 1.0]), 1.0, 300, -128, 127, I8)),
            ("range beyond the dtype refused", (t([1.0]), 1.0, 0, -129, 127, I8)),
        ],
        "quantized_decomposed::dequantize_per_tensor.out": [
            ("every i8 code in f32", (torch.arange(-128, 128).to(I8), 0.1, 3, -128, 127, I8)),
            ("large i32 lose bits", (t([2**24 + 1, I32_MAX], I32), 1.0, 1, I32_MIN, I32_MAX, I32)),
            ("rounds at the end", (torch.arange(-9, 9).to(I8), 0.3, 0, -128, 127, I8, F16)),
            ("dtype must be the input's", (t([1], I8), 0.1, 0, 0, 255, U8)),
            ("differences wrap in u8", (t([1, 9], I8), 0.5, 2, -128, 127, I8, U8)),
            ("large i32 in u8", (t([2**24 + 3], I32), 0.5, 2, I32_MIN, I32_MAX, I32, U8)),
            ("out dtype bool refused", (t([1], I8), 0.5, 2, -128, 127, I8, B1)),
        ],
        "quantized_decomposed::embedding_byte.out": [
            ("one zero point for all groups", (t([[1, 2, 3, 4]], U8), t([[0.5, 2.0]]), t([3.0]), 0, 255, t([0], I64))),
            ("a zero point for each of two rows", (t([[1, 2], [3, 4]], U8), t([0.5, 2.0]), t([3.0, 1.0]), 0, 255, t([0, 1], I64))),
        ],
        "repeat_interleave.Tensor_out": [("output size of nothing is not looked at", (torch.empty(0, dtype=I64), 4))],
        "masked_select.out": [
            ("u16 of which nothing is selected", (t([1, 2], U16), t([False, False]))),
            ("u16 refused where something is", (t([1, 2], U16), t([False, True]))),
        ],
        "embedding_dense_backward.out": [
            ("u16 of which no row is named", (t([[1, 2]], U16), t([3], I64), 3, -1, False)),
            ("u16 refused where one is", (t([[1, 2]], U16), t([2], I64), 3, -1, False)),
        ],
        "scatter_reduce.two_out": [
            ("mean of a sum that wraps", (t([250], U8), 0, t([0], I64), t([10], U8), "mean", True)),
            ("partial product overflows", (t([3e38]), 0, t([0, 0], I64), t([10.0, 1e-5]), "prod", True)),
            *(
                (f"{reduce} of zeros and NaN", (t([0.0, -0.0, NAN, 1.0]), 0, ramp(4, dtype=I64), t([-0.0, 0.0, 1.0, NAN]), reduce, True))
                for reduce in ("amax", "amin")
            ),
            *(
                (f"{reduce} from either side, {name}", (t([1, 5, 3], dtype), 0, ramp(3, dtype=I64), t([2, 4, 3], dtype), reduce, True))
                for reduce in ("amax", "amin")
                for name, dtype in (("f32", F32), ("i32", I32))
            ),
        ],
        "convolution_backward.out": [
            (
                "a weight of one cell with its channels last",
                (ramp(2, 1, 7), ramp(2, 4, 7), ramp(1, 1, 4).transpose(1, 2), None, [1], [0], [1], False, [0], 1, [True] * 3),
            ),
            (
                "dilated in i64",
                (ramp(1, 1, 2, dtype=I64), ramp(1, 2, 6, dtype=I64), ramp(1, 2, 3, dtype=I64), None, [1], [0], [2], False, [0], 1, [True] * 3),
            ),
            (
                "i64 refused where nothing is dilated",
                (ramp(1, 1, 4, dtype=I64), ramp(1, 2, 6, dtype=I64), ramp(1, 2, 3, dtype=I64), None, [1], [0], [1], False, [0], 1, [True] * 3),
            ),
            (
                "output padding refused where nothing is transposed",
                (ramp(1, 1, 4), ramp(1, 2, 6), ramp(1, 2, 3), None, [1], [0], [1], False, [1], 1, [True] * 3),
            ),
            (
                "an infinite weight over the padding of a transposed one",
                (ramp(1, 1, 5), ramp(1, 2, 5), t([[[INF, 1.0, 2.0]], [[1.0, 2.0, 3.0]]]), None, [1], [1], [1], True, [0], 1, [True] * 3),
            ),
        ],
        "elu.out": [
            ("zeros times a negative alpha", (t([0.0, -0.0, -1.0]), -1.0)),
            ("zeros and an infinite alpha", (t([0.0, -0.0]), INF)),
        ],
        "logit.out": [
            ("0 and 1 within eps", (t([0.0, 0.05, 0.5, 0.95, 1.0]), 0.1)),
            ("eps beyond f16", (t([0.5], F16), 1e30)),
            ("limits that cross", (t([0.1, 0.9]), 1.0)),
        ],
        "glu.out": [("a sigmoid that vanishes", (t([INF, 100.0, -104.0, -90.0]),))],
        "quantized_decomposed::choose_qparams.Tensor_out": [
            ("zero is in the range", (t([1.0, 3.0]), -128, 127, 1e-5, I8)),
            ("eps is the least scale", (t([0.0]), -128, 127, 1e-5, I8)),
            ("NaN", (t([NAN, 1.0]), -128, 127, 1e-5, I8)),
            ("half to even", (t([-1.0, 1.0]), -128, 127, 1e-5, I8)),
            ("nothing refused", (torch.empty(0), -128, 127, 1e-5, I8)),
            ("inf", (t([INF, 1.0]), -128, 127, 1e-5, I8)),
        ],
        "quantized_decomposed::choose_qparams_per_token_asymmetric.out": [
            ("a row of zeros", (torch.zeros(2, 3), I8)),
            ("positive and negative rows", (t([[1.0, 3.0], [-3.0, -1.0]]), I8)),
            ("NaN and inf", (t([[NAN, 1.0], [INF, 1.0]]), I8)),
        ],
    },
)
