"""Runs the commands of pages in doc/ as they are written."""
import os
import re
import subprocess
import time

from source import SOURCE

DOC = SOURCE / "doc"
KERNEL, RUNTIME = "test_your_kernel.md", "test_your_runtime.md"


def blocks(page, wanted=lambda section: True):
    """The kind and text of each block of the wanted sections of a page."""
    sections = re.split(r"^(?=## )", (DOC / page).read_text(), flags=re.MULTILINE)
    text = "".join(s for s in sections if wanted(s.splitlines()[0].removeprefix("## ")))
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def steps(page, wanted=lambda section: True):
    """The commands of the wanted sections of a page, each block with the lines that it is to print."""
    all_blocks = blocks(page, wanted)
    return [(text, said.splitlines() if below == "" else []) for (kind, text), (below, said) in zip(all_blocks, [*all_blocks[1:], ("sh", "")]) if kind == "sh"]


def follow(test, page, folder, environment, at=None, wanted=lambda section: True, seconds=300, shell=("sh", "-c")):
    """Runs the blocks of a page, or of its wanted sections, in a folder, or at another place, each in its time. In place of /tmp they write there, too; one that says what is printed may end with 1, as judges do."""
    test.assertGreater(len(steps(page, wanted)), 1)
    for text, said in steps(page, wanted):
        with test.subTest(page, command=text):
            done = subprocess.run([*shell, text.replace("/tmp/", f"{folder}/")], capture_output=True, text=True, check=False, timeout=seconds, env=environment, cwd=at or folder)
            test.assertIn(done.returncode, (0, 1) if said else (0,), done.stdout + done.stderr)
            for line in said:
                test.assertIn(line, done.stdout, done.stderr)


def environment_of(prefix, path):
    return os.environ | {"PATH": f"{prefix}/bin:{path}", "PROGRAMS": f"{prefix}/share/assay/golden/programs"}


def follow_kernel_page(test, prefix, folder, path=os.environ["PATH"], **how):
    """The page on kernels, but for its first section, which installs, with what is installed under a prefix."""
    (folder / "assay").symlink_to(prefix)
    source, = (text for kind, text in blocks(KERNEL) if kind == "c")
    (folder / "relu.c").write_text(source)
    follow(test, KERNEL, folder, environment_of(prefix, path) | {"HOME": str(folder)}, wanted=lambda section: not section.startswith("# "), **how)


def follow_runtime_page(test, prefix, folder, path=os.environ["PATH"], **how):
    """The page on runtimes, with what is installed under a prefix, examples among it."""
    follow(test, RUNTIME, folder, environment_of(prefix, path), at=prefix / "share/doc/assay/examples/protocol", **how)


def follow_in_time(test, prefix, scratch, path, **how):
    """Both, from nothing to a verdict in ten minutes, and in five."""
    folder = scratch / "guide"
    folder.mkdir()
    for follow_page, minutes in (follow_kernel_page, 10), (follow_runtime_page, 5):
        begin = time.monotonic()
        follow_page(test, prefix, folder, path, **how)
        test.assertLess(time.monotonic() - begin, 60 * minutes)
