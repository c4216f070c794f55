"""Highlighted sources: entries of spec/operators, functions of reference/operators, whole files."""
import functools
import re

import yaml
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.lexers.special import TextLexer
from pygments.util import ClassNotFound

PLAIN = HtmlFormatter(nowrap=True)


@functools.cache
def highlighted(text, language):
    """HTML for the inside of a <pre>."""
    return marked(text, get_lexer_by_name(language, stripnl=False))


def marked(text, lexer):
    return re.sub(r'<span class="w">(.*?)</span>', r"\1", highlight(text, lexer, PLAIN), flags=re.S).rstrip("\n")


def highlighted_file(path):
    try:
        lexer = get_lexer_for_filename(path.name, stripnl=False)
    except ClassNotFound:
        lexer = TextLexer(stripnl=False)
    return marked(path.read_text(), lexer)


class EntryFile:
    """A file of spec/operators: its comment, its items as data, and the source of each item."""

    def __init__(self, path):
        self.path, text = path, path.read_text()
        self.lines = text.splitlines()
        loader = yaml.CSafeLoader(text)
        root = loader.get_single_node()
        self.starts = [item.start_mark.line for item in root.value]
        merged = [[self.item_of(root, node) for node in merges(item)] for item in root.value]
        self.merged = merged
        self.data = loader.construct_document(root)  # forgets what was merged

    @staticmethod
    def item_of(root, node):
        return next(i for i, item in enumerate(root.value) if item is node)

    @property
    def about(self):
        lines = []
        for line in self.lines:
            if not line.startswith("# "):
                break
            lines.append(line[2:])
        return " ".join(lines)

    def item(self, i):
        """(text, line from 1)"""
        end = self.starts[i + 1] if i + 1 < len(self.starts) else len(self.lines)
        while not self.lines[end - 1].strip() or self.lines[end - 1].startswith("#"):
            end -= 1
        return "\n".join(self.lines[self.starts[i]:end]), self.starts[i] + 1

    def chain(self, i):
        """The item after all items that it merges, most general first."""
        return [at for base in self.merged[i] for at in self.chain(base)] + [i]


def merges(item):
    for key, value in item.value:
        if key.tag == "tag:yaml.org,2002:merge":
            yield from value.value if isinstance(value, yaml.SequenceNode) else [value]


class Functions:
    """The definitions of `operators::name` in reference/operators: the text of all functions of the name."""

    def __init__(self, folder):
        self.found = {}
        for path in sorted(folder.glob("*.cpp")):
            lines = path.read_text().splitlines()
            for i, line in enumerate(lines):
                if match := re.match(r"[\w:<>,&* ]*\boperators::(\w+)\(", line):
                    self.found.setdefault(match[1], []).append((path, i + 1, definition(lines, i)))

    def text(self, name):
        return "\n".join(text for _, _, text in self.found.get(name, []))

    def place(self, name):
        """(path, line) of the first."""
        path, line, _ = self.found[name][0]
        return path, line


def definition(lines, i):
    """The definition that begins on line i, with the comment above it, up to its last brace."""
    first, end = i, i
    while first > 0 and lines[first - 1].startswith("//"):
        first -= 1
    while not ("{" in "".join(lines[i:end + 1]) and braces_match(lines[i:end + 1])):
        end += 1
    return "\n".join(lines[first:end + 1])


def braces_match(lines):
    text = "".join(lines)
    return text.count("{") == text.count("}")
