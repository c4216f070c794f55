"""Writes the pages of the book as files, the links between them, and the index of the search."""
import json
import os
import re
import shutil

import jinja2
import markupsafe

import chapters
from sources import highlighted_file

HERE = os.path.dirname(__file__)


class Page:
    def __init__(self, path, title, template, **content):
        self.path, self.title, self.template, self.content = path, title, template, content
        self.root = "../" * path.count("/")


class Site:
    def __init__(self, book, root, out):
        self.book, self.source, self.out = book, root, out
        self.pages, self.menu, self.searched = [], {}, []
        self.addresses = {"spec/operators": "index.html", "spec": "index.html"}  # of pages, by the path of the file that they show
        self.environment = jinja2.Environment(loader=jinja2.FileSystemLoader(f"{HERE}/templates"), autoescape=True,
                                              trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
        self.environment.filters |= {"breakable": breakable, "prose": prose, "capitalized": lambda text: text[:1].upper() + text[1:], "inline": lambda text: markupsafe.Markup(chapters.inline(text))}

    # -- pages -------------------------------------------------------------------------------------------------

    def add(self, page, part=None, shows=None):
        self.pages.append(page)
        if part:
            self.menu.setdefault(part, []).append(page)
        if shows:
            self.addresses[str(shows.relative_to(self.source))] = page.path

    def path_of(self, source):
        return re.sub(r"\.(md|yaml|fbs)$", "", str(source.relative_to(self.source))) + ".html"

    def add_chapter(self, path, part):
        text = path.read_text()
        title = chapters.title_of(text)
        self.add(Page(self.path_of(path), title, "chapter.html", text=text, file=path), part, path)

    def add_table(self, table, part):
        title = {"dtypes": "Dtypes", "faults": "Outcomes"}[table.path.stem]
        self.add(Page(self.path_of(table.path), title, "table.html", table=table), part, table.path)

    def add_format_rules(self, rules, part):
        self.format_rules = self.path_of(rules.path)
        self.add(Page(self.format_rules, "Rules of files", "format_rules.html", rules=rules), part, rules.path)

    def add_format_tables(self, tables, part):
        self.add(Page(self.path_of(tables.path), f"Tables of {tables.path.name}", "format_tables.html", tables=tables), part, tables.path)

    def add_source(self, path, part=None):
        """A page with a file's text, or with all files of a folder."""
        files = [path] if path.is_file() else sorted(f for f in path.iterdir() if f.is_file())
        relative = str(path.relative_to(self.source))
        shown = [(str(f.relative_to(self.source)), markupsafe.Markup(highlighted_file(f))) for f in files]
        self.add(Page(f"{relative}.html", relative, "source.html", files=shown), part, path)

    def add_header(self, header, example, part):
        """A page with an example program and the installed header that it uses."""
        shown = [(str(f.relative_to(self.source)), markupsafe.Markup(highlighted_file(f))) for f in (example, header)]
        self.add(Page(f"{header.relative_to(self.source)}.html", str(header.relative_to(self.source)), "source.html", files=shown), part, header)

    # -- writing -------------------------------------------------------------------------------------------------

    def write(self):
        self.make_folder()
        book = self.book
        self.pages += [Page("index.html", "The operators", "index.html"), Page("operators.html", "All operators", "all_operators.html")]
        chapters_to_render = [page for page in self.pages if page.template == "chapter.html"]
        for page in chapters_to_render:
            self.render_chapter(page)
        for group, pages in book.groups:
            for i, page in enumerate(pages):
                self.pages.append(Page(page.path, page.name, "operator.html", page=page, before=pages[i - 1] if i else None, behind=pages[i + 1] if i + 1 < len(pages) else None))
        for page in self.pages:
            self.write_page(page)
        self.write_index()

    def make_folder(self):
        """Replaces an earlier book."""
        refuse_what_is_no_book(self.out)
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        look = (self.source / "conformance/report/look.css").read_text()
        (self.out / "book.css").write_text(look + switched(look) + read(f"{HERE}/book.css"))
        shutil.copy(f"{HERE}/book.js", self.out)

    def render_chapter(self, page):
        path, text = page.content["file"], page.content["text"]
        text = re.sub(r"\A# .*\n", "", text)
        if path.name == "rules.md":
            text = self.book.words.with_anchors(text)
        html, headings = chapters.rendered(chapters.FENCES.sub(self.book.fence, text))
        page.content = {"html": markupsafe.Markup(self.linked(html, page, path)), "headings": headings, "file": path.relative_to(self.source)}
        self.searched += [{"title": heading, "in": page.title, "page": f"{page.path}#{anchor}", "text": words}
                          for anchor, heading, words in chapters.sections(html)]

    def linked(self, html, page, path):
        return re.sub(r'href="([^":#]+)(#[^"]*)?"', lambda m: f'href="{self.address(m[1], page, path)}{m[2] or ""}"', html)

    def address(self, link, page, path):
        """The page for a link of a file of the repository. Makes the page if there is none."""
        if link.startswith("operators/"):
            return f"{page.root}{link}.html"
        target = (path.parent / link).resolve()
        relative = str(target.relative_to(self.source))
        if relative not in self.addresses:
            self.add_source(target)
        return page.root + self.addresses[relative]

    def write_page(self, page):
        template = self.environment.get_template(page.template)
        html = template.render(book=self.book, site=self, this=page, root=page.root, **page.content)
        file = self.out / page.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(html, encoding="utf-8")

    def write_index(self):
        operators = [{"title": page.name, "in": page.group.path.stem, "page": page.path, "text": page.searched} for page in self.book.pages]
        titles = [{"title": page.title, "in": part, "page": page.path, "text": ""} for part, pages in self.menu.items() for page in pages]
        index = json.dumps(operators + titles + self.searched, ensure_ascii=False, separators=(",", ":"))
        (self.out / "search.js").write_text(f"const searched = {index};\n", encoding="utf-8")


def refuse_what_is_no_book(folder):
    if folder.exists() and any(folder.iterdir()) and not (folder / "book.css").exists():
        raise RuntimeError(f"{folder} is not empty and does not contain a book")


def switched(look):
    """The colours of the light and of the dark scheme, selected by the switch."""
    light, dark = re.search(r":root (\{.*?\n\})", look, re.S)[1], re.search(r"dark\) \{\s*:root (\{.*?\n  \})", look, re.S)[1]
    return f":root[data-theme=light] {light}\n:root[data-theme=dark] {dark}\n"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def breakable(name):
    """A long name that may break after its punctuation."""
    return markupsafe.Markup(re.sub(r"(::|\.|_)", r"\1<wbr>", str(markupsafe.escape(name))))


def prose(text):
    """A sentence of the spec, with code in backquotes."""
    return markupsafe.Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(markupsafe.escape(text))))
