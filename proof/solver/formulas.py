"""Numbers and conditions. Known ones are Python's and are computed at once; open ones are z3's."""
import z3


class Broken(Exception):
    """A requirement of a word is known not to hold."""


class Meaningless(Exception):
    """A word was applied to arguments that a rule before it refuses."""


def known(*values):
    return not any(isinstance(v, z3.ExprRef) for v in values)


def all_of(*conditions):
    return _joined(conditions, False, z3.And)


def any_of(*conditions):
    return _joined(conditions, True, z3.Or)


def _joined(conditions, decisive, join):
    """`decisive` where a condition is known to be that; else the open conditions joined; else `not decisive`."""
    still_open = []
    for condition in conditions:
        if condition is decisive:
            return decisive
        if condition is not (not decisive):
            still_open.append(condition)
    return join(still_open) if len(still_open) > 1 else still_open[0] if still_open else not decisive


def no(condition):
    return not condition if known(condition) else z3.Not(condition)


def choose(condition, then, otherwise):
    if known(condition):
        return then if condition else otherwise
    return then if then is otherwise else z3.If(condition, then, otherwise)


def maximum(a, b):
    return max(a, b) if known(a, b) else choose(a >= b, a, b)


def minimum(a, b):
    return min(a, b) if known(a, b) else choose(a <= b, a, b)


def clamp(n, least, most):
    return minimum(maximum(n, least), most)


def quotient(a, b):
    """floor(a / b) for b > 0."""
    if known(b) and b <= 0:
        raise Meaningless
    return a // b if known(a, b) else a / b


def remainder(a, b):
    """The remainder of a / b, from 0 to |b| - 1; b is not 0."""
    if known(b) and b == 0:
        raise Meaningless
    return a % abs(b) if known(a, b) else a % b


def divisible(n, divisor):
    """Whether divisor > 0 divides n."""
    return all_of(divisor > 0, remainder(n, choose(divisor > 0, divisor, 1)) == 0)


def product(factors):
    result = 1
    for n in factors:
        if known(n) and n == 0:
            return 0
        result = n if known(result) and result == 1 else result if known(n) and n == 1 else result * n
    return result


def equal(a, b):
    """Whether two lists are equal."""
    return len(a) == len(b) and all_of(*(x == y for x, y in zip(a, b)))


def pick(values, index):
    """values[index], a negative index counting from the end."""
    if known(index):
        try:
            return values[index]
        except IndexError:
            raise Meaningless from None
    if not values:
        raise Meaningless
    picked = values[-1]
    for i, value in enumerate(values[:-1]):
        picked = choose(any_of(index == i, index == i - len(values)), value, picked)
    return picked


INT64 = range(-2**63, 2**63)


def in_int64(n):
    return n in INT64 if known(n) else all_of(n >= INT64.start, n < INT64.stop)


def wrapped(n):
    """The number wrapped to int64; an open number is assumed to be in range."""
    return (n - INT64.start) % 2**64 + INT64.start if known(n) else n


class Collected:
    """The requirements of words, and the sums and products that C++ computes in 64 bits without a check, while a word is evaluated."""

    def __init__(self):
        self.required, self.unguarded = [], []


_asked = []


def require(condition):
    if condition is False:
        raise Broken
    if condition is not True:
        _asked[-1].required.append(condition)


def unguarded(n):
    """n, which C++ computes in 64 bits without a check: the rules must keep it in range."""
    _asked[-1].unguarded.append(n)
    return n


def ask(word, *arguments):
    """(whether the requirements of the word hold, None where the word is meaningless; its value; its unguarded numbers)"""
    collected = Collected()
    _asked.append(collected)
    try:
        value = word(*arguments)
        return all_of(*collected.required), value, collected.unguarded
    except Broken:
        return False, None, []
    except (Meaningless, IndexError):
        return None, None, []
    finally:
        _asked.pop()


def or_else(condition, word):
    """Whether the condition holds or, asked only where it does not, the word."""
    if condition is True:
        return True
    holds, value, _ = ask(word)
    if holds is None:
        raise Meaningless
    require(any_of(condition, holds))
    return any_of(condition, value is not None and value)
