"""The formula of an entry, one line of plain text, as HTML: variables in italics, powers raised, roots and sums as signs.
Unknown parts stay as they are."""
import re
from html import escape

TOKEN = re.compile(r"\s+|[A-Za-z]\w*|\d+(?:\.\d+)?|<=|>=|!=|==|\.\.\.|.")
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "*": "·", "...": "…"}
GREEK = {"pi": "π", "Phi": "Φ", "gamma": "Γ"}
BRACKETS = {"floor": ("⌊", "⌋"), "ceil": ("⌈", "⌉")}
CLOSING = {"(": ")", "{": "}"}
VERBS = {"as", "is", "the", "where", "and", "or", "mod", "else", "in", "being"}  # behind a variable named a, not behind the article


class Formula:
    def __init__(self, text, names):
        self.tokens, self.names = TOKEN.findall(text), set(names)

    def html(self):
        return self.of(self.tokens)

    def of(self, tokens):
        out, i = [], 0
        while i < len(tokens):
            piece, i = self.piece(tokens, i)
            out.append(piece)
        return "".join(out)

    def piece(self, tokens, i):
        """(the HTML of the part that begins at i, the index of the next part)"""
        token, following = tokens[i], tokens[i + 1] if i + 1 < len(tokens) else ""
        if token == "^":
            return self.power(tokens, i + 1)
        if following == "(" and (token == "sqrt" or token in BRACKETS):
            end = closing(tokens, i + 1)
            inside = self.of(tokens[i + 2:end])
            left, right = BRACKETS.get(token, ('√<span class="root">', "</span>"))
            return f"{left}{inside}{right}", end + 1
        if token.endswith("_") and following == "{":
            end = closing(tokens, i + 1)
            return f"{self.summed(token[:-1])}<sub>{self.of(tokens[i + 2:end])}</sub>", end + 1
        if token == "-":
            return "-" if self.is_hyphen(tokens, i) else "−", i + 1
        if token == "a" and self.is_article(tokens, i):
            return token, i + 1
        if token[0].isalpha():
            return (GREEK.get(token, token) if following == "(" else self.word(token)), i + 1
        return SIGNS.get(token, escape(token)), i + 1

    def power(self, tokens, i):
        end = i + 1 if tokens[i] == "-" else i
        last = closing(tokens, end) if tokens[end] == "(" else end
        raised = tokens[i:end] + (tokens[end + 1:last] if tokens[end] == "(" else tokens[end:last + 1])
        return f"<sup>{self.of(raised)}</sup>", last + 1

    def word(self, token):
        base, _, index = token.partition("_")
        if token in self.names or len(index) != 1 or len(base) > 1 and base not in ("sum", "softmax"):
            return self.name(token)
        return f"{self.summed(base)}<sub>{self.name(index)}</sub>"

    def summed(self, base):
        return "∑" if base == "sum" else self.name(base)

    def name(self, token):
        return f"<var>{token}</var>" if token in self.names or len(token) == 1 else GREEK.get(token, token)

    @staticmethod
    def is_hyphen(tokens, i):
        """Whether a sign is between two words, as in row-major."""
        return 0 < i < len(tokens) - 1 and tokens[i - 1][-1].isalpha() and tokens[i + 1][0].isalpha() and max(len(tokens[i - 1]), len(tokens[i + 1])) > 1

    def is_article(self, tokens, i):
        following = tokens[i + 2] if i + 2 < len(tokens) and tokens[i + 1].isspace() else ""
        return len(following) > 1 and following.isalpha() and following not in VERBS


def closing(tokens, i):
    """The index at which the bracket that opens at i closes."""
    depth = 0
    for at in range(i, len(tokens)):
        depth += (tokens[at] == tokens[i]) - (tokens[at] == CLOSING[tokens[i]])
        if depth == 0:
            return at
    return len(tokens) - 1


def formula(text, names):
    return Formula(text, names).html()
