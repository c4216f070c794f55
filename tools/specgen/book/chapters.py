"""Markdown as pages: the chapters of spec, with links between pages, anchors, and the contents of their fences."""
import functools
import html as entities
import re

import markdown

FENCES = re.compile(r"^```(entry|wrapper|function|calls)\n(\S+)\n```$", re.M)


def rendered(text):
    """(HTML, the headings as python-markdown's toc has them)"""
    converter = markdown.Markdown(extensions=["tables", "fenced_code", "sane_lists", "toc", "codehilite"],
                                  extension_configs={"codehilite": {"guess_lang": False, "css_class": "source"}})
    html = converter.convert(text)
    # Fenced text keeps its lines: it scrolls in a box, as a wide table does.
    html = html.replace('<div class="source">', '<div class="source scroll">')
    html = html.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    return html, converter.toc_tokens


@functools.cache
def inline(text):
    """Markdown of one paragraph."""
    html, _ = rendered(text)
    return re.sub(r"^<p>|</p>$", "", html)


def title_of(text):
    return re.match(r"# (.*)", text)[1]


def sections(html):
    """[(id, heading, text)] of a page, for the search."""
    parts = re.split(r'<h([23]) id="([^"]+)">(.*?)</h\1>', html)
    return [(parts[i + 1], stripped(parts[i + 2]), stripped(parts[i + 3])) for i in range(1, len(parts), 4)]


def stripped(html):
    return re.sub(r"\s+", " ", entities.unescape(re.sub(r"<[^>]+>", " ", html))).strip()
