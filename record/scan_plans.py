"""Plans of operators along rows: running results, positions in rows that ascend, and runs of equal elements."""

import math

import torch

from shapes import Ascending, I, Runs, S, Shape, V

INF, NAN = math.inf, math.nan
ROWS = [S(2, 3, 4), S(), S(1), S(5), S(37), S(0), S(2, 0, 3), S(3, 20), S(20, 3), S(2, 3, 2, 2), S(1, 2, 1, 3, 2)]
# Equal extremes, zeros of both signs, and NaN at the beginning, in the middle and at the end.
EXTREMES = [V(1, 3, 3, 2, 3), V(-1, -3, -3, -2, -3), V(0.0, -0.0, 0.0), V(NAN, 1, 2), V(1, NAN, 5, NAN, 2), V(3, 1, NAN), V(INF, -INF, INF, -INF)]
# Sums of which exponentials overflow or vanish, and infinities in either order.
EXPONENTS = [
    V(-INF, -INF, 1, -INF), V(INF, 1, -INF), V(INF, INF), V(INF, -INF), V(-INF, INF, 2), V(1000, 1000, -1000), V(-1000, -1000.5, -1001),
    V(NAN, 1, INF), V(1, NAN, 2), V(INF, NAN), V(0, -0.6931471805599453), V(-1.5, -0.25, 0.125, 30, 60000),
]
SORTED = [Ascending((4,)), Ascending((1,)), Ascending((0,)), Ascending((37,)), V(1, 2, 2, 2, 3), V(-INF, 0, INF), V(1, 2, NAN, NAN), V(NAN, 1, 2)]
WANTED = [S(2, 3, 4), S(), S(1), S(5), S(0), S(3, 0), V(2, 1, 3, 0, 4, 2.5), V(NAN, INF, -INF, 1, 2), S(2, 3, 2, 2)]
SIDE = {"right": [False, True], "side": [None, "left", "right", "", "both"], "out_int32": [False, True]}

SCAN_PLANS = {
    "cummax": [{"self": ROWS + EXTREMES}],
    "cummin": [{"self": ROWS + EXTREMES}],
    "logcumsumexp": [{"self": ROWS + EXPONENTS}],
    "bucketize.Tensor_out": [{"self": WANTED, "boundaries": SORTED + [S(4), S(2, 2), S()]}],
    "bucketize.Scalar_out": [{"boundaries": SORTED + [S(4), S(2, 2), S()]}],
    "searchsorted.Tensor_out": [
        SIDE | {"sorted_sequence": SORTED + [S()], "self": WANTED, "sorter": [None]},
        SIDE
        | {
            "sorted_sequence": [Ascending((2, 5)), S(2, 5), Ascending((2, 1)), S(2, 0), Ascending((3, 5)), Ascending((2, 2, 5))],
            "self": [S(2, 3), S(2, 1), S(2, 0), S(2), S(3, 3), S(), S(2, 2, 3)],
            "sorter": [None, I(2, 5, below=5), I(2, 5, below=7), I(2, 5, low=-1), I(5, below=5), I(2, 5, below=5, dtype=torch.int32)],
        },
        SIDE
        | {
            "sorted_sequence": [S(5), V(3, 1, 2, 2, 5)],
            "self": [S(4), S(), S(2, 2), S(0)],
            "sorter": [V(1, 2, 3, 0, 4, dtype=torch.int64), None, I(5, below=5), I(4, below=4), Shape((5,), torch.int64, 4, 6)],
        },
    ],
    "searchsorted.Scalar_out": [
        SIDE
        | {
            "sorted_sequence": SORTED + [V(3, 1, 2, 2), S(2, 2), S()],
            "sorter": [None, V(1, 2, 3, 0, dtype=torch.int64), I(4, below=4), I(4, below=6), I(3), I(4, dtype=torch.int32)],
        }
    ],
    "unique_consecutive": [
        {
            "self": [
                Runs((2, 3, 4)), Runs(()), Runs((1,)), Runs((5,)), Runs((37,)), Runs((0,)), Runs((2, 0, 3)), Runs((0, 3)), Runs((7, 2)), Runs((7, 1)),
                S(5), V(NAN, NAN, 1, 1), V(0.0, -0.0, 0.0, 1), V(NAN, NAN, NAN, NAN, 1, 1, sizes=(3, 2)), V(1, 1, 2, 2, 1, 1), Runs((2, 2, 3, 2)),
            ],
            "dim": [None, 0, 1, -1, 2, -2, -3, 3, 7],
        }
    ],
}
