"""What spec/numerics.md states about a row of accuracy."""
import re


class Rows:
    def __init__(self, text):
        section = text.split("\n## Accuracy rows\n")[1].split("\n## ")[0]
        described = {name: text for text, name in re.findall(r"^(In an? `(?:N )?(\w+)` row.*(?:\n.+)*)", section, re.M)}
        self.measures = {}
        for names, meaning in re.findall(r"^\| (`.*?) \| (.*) \|$", section, re.M):
            for name in re.findall(r"`([^`]+)`", names):
                measure = name.removeprefix("N ")
                self.measures[measure] = (name, f"{meaning}. {described[measure]}" if measure in described else meaning)
        self.flags = re.findall(r"^- (\*\*.*(?:\n  .*)*)", section, re.M)

    def explained(self, rows):
        """[(name, Markdown)] of the measures and flags that the texts of rows use, each once."""
        texts = [part.strip() for row in rows for part in str(row).split(",")]
        measures = [self.measures[re.sub(r"^[\d.]+ ", "", t)] for t in texts if re.sub(r"^[\d.]+ ", "", t) in self.measures]
        flags = [(t, self.flag(t)) for t in texts if self.flag(t)]
        return list(dict.fromkeys(measures + flags))

    def flag(self, name):
        return next((text for text in self.flags if f"`{name}`" in text), None)
