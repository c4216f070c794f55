"""Pages of doc/ that are followed as they stand."""
import pathlib
import re
import subprocess

DOC = pathlib.Path(__file__).resolve().parent.parent / "doc"


def steps(page, wanted=lambda section: True):
    """The commands of the wanted sections of a page, each block with the lines that it is to print."""
    sections = re.split(r"^(?=## )", (DOC / page).read_text(), flags=re.MULTILINE)
    text = "".join(s for s in sections if wanted(s.splitlines()[0].removeprefix("## ")))
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [(text, said.splitlines() if below == "" else []) for (kind, text), (below, said) in zip(blocks, [*blocks[1:], ("sh", "")]) if kind == "sh"]


def follow(test, page, folder, environment, at=None, wanted=lambda section: True, seconds=300):
    """Runs the blocks of a page, or of its wanted sections, in a folder, or at another place, each in its time. In place of /tmp they write there, too; one that says what is printed may end with 1, as judges do."""
    test.assertGreater(len(steps(page, wanted)), 1)
    for text, said in steps(page, wanted):
        with test.subTest(page, command=text):
            done = subprocess.run(["sh", "-c", text.replace("/tmp/", f"{folder}/")], capture_output=True, text=True, check=False, timeout=seconds, env=environment, cwd=at or folder)
            test.assertIn(done.returncode, (0, 1) if said else (0,), done.stdout + done.stderr)
            for line in said:
                test.assertIn(line, done.stdout, done.stderr)
