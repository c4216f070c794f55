"""The words of spec/rules.md as links to where they are defined."""
import re
from collections import Counter
from html import escape

from entry import definitions, parse_word

KINDS = {"rule": "Rules", "condition": "Conditions", "dtype": "Dtypes", "shape": "Sizes", "layout": "Dim orders", "terms": "Terms"}


def anchor(kind, word, nth=0):
    """Where a section of spec/rules.md defines a word, once or more."""
    return f"{KINDS[kind].lower().replace(' ', '-')}.{word}{f'.{nth + 1}' if nth else ''}"


def arguments(signature):
    """Of a signature, each as its type or, where the word has no expression, its name."""
    inside = re.fullmatch(r"\w+(?:\((.*)\))?", signature)
    return [a.partition(" ")[0].lower() for a in inside[1].split(", ")] if inside and inside[1] else []


def fit(signature, word, entry):
    """How well arguments agree with those of a signature: as many, None or not, tensors or not."""
    named = arguments(signature)
    alike = 3 * (len(named) == len(word.arguments))
    for parameter, given in zip(named, word.arguments):
        argument = entry.argument(given.removesuffix("?"))
        is_tensor = argument is not None and argument.type.startswith("Tensor")
        alike += (parameter.endswith("?") == given.endswith("?")) + (parameter.startswith("tensor") == is_tensor)
    return alike


class Words:
    def __init__(self, rules):
        self.page = "spec/rules.html"
        self.defined = {}
        for definition in definitions(rules):
            for word in dict.fromkeys(definition.words):
                self.defined.setdefault((definition.kind, word), []).append(definition)

    def definition(self, kind, word, entry):
        """The one whose signature fits best, where the word has several."""
        return max(self.defined[KINDS[kind], word.name], key=lambda d: max(fit(s, word, entry) for s in d.signatures if s.startswith(word.name)))

    def linked(self, kind, word, entry, root):
        inside = f"({escape(', '.join(word.arguments))})" if word.arguments else ""
        nth = self.defined[KINDS[kind], word.name].index(self.definition(kind, word, entry))
        return f'<a href="{root}{self.page}#{anchor(kind, word.name, nth)}">{word.name}</a>{inside}'

    def explained(self, kind, text, entry, root):
        """{code, signatures, sentence} of a word of an entry, or of a plain name such as common or float32."""
        word = parse_word(text)
        if (KINDS[kind], word.name) not in self.defined:
            return {"code": escape(str(text)), "signatures": [], "sentence": ""}
        definition = self.definition(kind, word, entry)
        return {"code": self.linked(kind, word, entry, root), "signatures": definition.signatures, "sentence": definition.sentence}

    @staticmethod
    def with_anchors(text):
        """spec/rules.md with the places to which `linked` leads."""
        kinds = {title: kind for kind, title in KINDS.items()}
        parts = re.split(r"^## (.*)\n", text, flags=re.M)
        for i in range(1, len(parts), 2):
            if parts[i] in kinds:
                parts[i + 1] = anchored(kinds[parts[i]], parts[i + 1])
            parts[i] = f"## {parts[i]}\n"
        return "".join(parts)


def anchored(kind, section):
    times = Counter()

    def place(match):
        words = list(dict.fromkeys(re.findall(r"`(\w+)[^`]*`", match[1])))
        ids = [anchor(kind, word, times[word]) for word in words]
        times.update(words)
        return "- " + "".join(f'<a id="{i}"></a>' for i in ids) + match[1]

    return re.sub(r"^- ((?:`[^`]+`(?:,\s+)?)+)", place, section, flags=re.M)
