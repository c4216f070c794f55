import html
import json
import pathlib
import tempfile

from assay import _command


class Report:
    """A run: its cases and its defects.

    spec/verdicts.md defines `header`, `cases`, `defects` and `counts`. `passed` is true if no promised call fails. str() gives the
    table; a notebook shows the page that `assay report --html` writes.
    """

    def __init__(self, lines: str, table: str, passed: bool):
        self.lines, self.table, self.passed = lines, table, passed
        objects = [json.loads(line) for line in lines.splitlines()]
        self.header: dict = objects[0]["header"]
        self.defects: list[dict] = [o["defect"] for o in objects if "defect" in o]
        self.cases: list[dict] = [o for o in objects if "case" in o]
        self.counts: dict = {k: v for k, v in objects[-1]["footer"].items() if k not in ("complete", "seconds", "verdicts")}

    def save(self, file) -> None:
        """Writes the lines of the run, for `assay report`, `compare` and `--baseline`."""
        pathlib.Path(file).write_text(self.lines)

    def html(self) -> str:
        """Returns the page of the report."""
        with tempfile.TemporaryDirectory() as folder:
            lines, page = pathlib.Path(folder) / "run.jsonl", pathlib.Path(folder) / "report.html"
            self.save(lines)
            _command.run("report", lines, "--html", page)
            return page.read_text()

    def failure(self) -> str:
        """Returns each defect with the smallest call that shows it, and the command that repeats this call."""
        return "\n\n".join(_words(defect) for defect in self.defects)

    def __str__(self) -> str:
        return self.table

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html())}" style="width: 100%; height: 40em; border: 0"></iframe>'


def _words(defect: dict) -> str:
    smallest = defect["smallest"]
    lines = [defect["sentence"], *(f"  {i['name']} = {i['text']}" for i in smallest.get("inputs", []))]
    lines += [f"  {what}: {smallest[what]}" for what in ("expected", "got", "bound", "message") if smallest.get(what)]
    return "\n".join([*lines, f"  again: {defect['command']}"])
