"""Runs the command on hostile input and limits its memory and time to what a laptop survives."""
import collections
import os
import re
import signal
import subprocess
import tempfile
import threading

from folder import WithFolder

ASSAY = os.environ["ASSAY"]
MIB = 1 << 20
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]")


Done = collections.namedtuple("Done", "code out err peak seconds")


def assay(*arguments, stdin=None, feed=None):
    """The command with its peak memory in bytes and its CPU time. `feed` writes to its standard input; `stdin` is the path of a file."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.NamedTemporaryFile() as used, open(stdin or os.devnull, "rb") as given:
        # A child that this process starts itself would have at least the memory of this one as its peak.
        command = ["time", "-qf", "%M %U %S", "-o", used.name, ASSAY, *map(str, arguments)]
        child = subprocess.Popen(command, stdin=subprocess.PIPE if feed else given, stdout=out, stderr=err, start_new_session=True)
        if feed:
            threading.Thread(target=_feed, args=(feed, child.stdin), daemon=True).start()
        try:
            code = child.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            raise
        out.seek(0), err.seek(0)
        kib, *seconds = map(float, used.read().split())
        return Done(code, out.read(), err.read(), int(kib) * 1024, sum(seconds))


def _feed(feed, pipe):
    try:
        with pipe:
            feed(pipe)
    except BrokenPipeError:
        pass


class Hostile(WithFolder):
    def harmless(self, *arguments, code=None, rule=None, memory=2048 * MIB, output=20 * MIB, **how):
        done = assay(*arguments, **how)
        said = (done.out[:2000] + done.err[-2000:]).decode(errors="replace")
        self.assertIn(done.code, range(0, 8), said)
        self.assertNotIn(b"Sanitizer", done.err, said)
        self.assertLess(done.seconds, 20, arguments)
        self.assertLess(done.peak, memory, arguments)
        self.assertLess(len(done.out) + len(done.err), output, arguments)
        for text in done.out.decode(), done.err.decode():  # UTF-8 it is
            self.assertIsNone(CONTROLS.search(text), text[:300])
        if code is not None:
            self.assertEqual(done.code, code, said)
        if rule is not None:
            self.assertIn(rule, said)
        return done
