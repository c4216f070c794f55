"""doc/examples/slurm on a Slurm of one node: eight parts, of which two are killed and go on, are the run that was never cut.

Of Debian's slurmctld, slurmd and munge, in the foreground, with everything that they write in a folder of its own; as root, whom slurmd wants. For tools/test all.
"""
import os
import pathlib
import signal
import socket
import subprocess
import time
import unittest

from shards_test import Runs, lines_of
from source import SOURCE

RUN = "--operators", "aten::add.out,aten::mm.out,aten::relu.out", "--mutations", "6000"
PARTS = 8


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Slurm(Runs):
    def setUp(self):
        super().setUp()
        self.state = self.folder / "slurm"
        self.state.mkdir()
        (self.state / "key").write_bytes(os.urandom(1024))
        (self.state / "key").chmod(0o400)
        host = socket.gethostname().partition(".")[0]
        settings = {
            "ClusterName": "one", "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmUser": "root", "SlurmctldPort": free_port(), "SlurmdPort": free_port(),
            "AuthType": "auth/munge", "AuthInfo": f"socket={self.state}/socket", "CryptoType": "crypto/munge", "StateSaveLocation": self.state, "SlurmdSpoolDir": self.state / "spool",
            "SlurmctldPidFile": self.state / "slurmctld.pid", "SlurmdPidFile": self.state / "slurmd.pid", "ProctrackType": "proctrack/pgid", "TaskPlugin": "task/none",
            "JobAcctGatherType": "jobacct_gather/none", "AccountingStorageType": "accounting_storage/none", "MpiDefault": "none", "SwitchType": "switch/none",
            "SelectType": "select/cons_tres", "SelectTypeParameters": "CR_Core", "ReturnToService": 2, "KillWait": 1, "SchedulerParameters": "requeue_delay=1,batch_sched_delay=1,sched_interval=2",
        }
        nodes = f"NodeName={host} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} State=UNKNOWN\nPartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP\n"
        self.environment = os.environ | {"SLURM_CONF": str(self.state / "slurm.conf"), "PATH": f"{pathlib.Path(os.environ['ASSAY']).resolve().parent}:{os.environ['PATH']}:/usr/sbin"}
        (self.state / "slurm.conf").write_text("".join(f"{key}={value}\n" for key, value in settings.items()) + nodes)
        files = {name: f"{self.state}/munged.{name}" for name in ("pid-file", "log-file", "seed-file")}
        self.start("munged", "--foreground", "--force", f"--key-file={self.state}/key", f"--socket={self.state}/socket", *(f"--{name}={file}" for name, file in files.items()))
        self.until(lambda: (self.state / "socket").exists())
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D")
        self.until(lambda: "idle" in self.said("sinfo", "--noheader"))

    def start(self, *command):
        with (self.state / f"{command[0]}.log").open("w") as log:
            process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)

    def said(self, *command):
        return subprocess.run(command, env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False).stdout

    def until(self, condition, every=0.5):
        end = time.monotonic() + 300
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(every)
        self.fail("".join(log.read_text()[-2000:] for log in self.state.glob("*.log")))

    def test_parts_that_are_killed_go_on(self):
        job = self.said("sbatch", "--parsable", f"--array=1-{PARTS}", "--ntasks=1", "--requeue", SOURCE / "doc/examples/slurm/judge.sh", self.library, *RUN).strip()
        for part in 1, 2:
            file = self.folder / f"part-{part}.jsonl.part"
            self.until(lambda: file.exists() and file.read_text().count("\n") > 150, every=0.02)
            self.kill(f"part-{part}.jsonl")
            self.said("scontrol", "requeue", f"{job}_{part}")
            print(f"part {part} was killed behind {file.read_text().count(chr(10)) if file.exists() else 0} lines, and is put back")
        self.until(lambda: not self.said("squeue", "--noheader").strip())  # two minutes, until what was put back begins
        parts = sorted(self.folder.glob("part-*.jsonl"))
        self.assertEqual(len(parts), PARTS, self.said("sh", "-c", "cat slurm-*.out"))
        code, err = self.assay("merge", *parts, "--testee", self.library, "-o", "merged.jsonl")
        self.assertEqual(code, 1, err)
        self.assertEqual(lines_of(self.folder / "merged.jsonl"), lines_of(self.judged("whole.jsonl", *RUN)))

    def kill(self, name):
        """The process that writes a part, as a node that fails would."""
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if name.encode() in words and str(self.folder) == os.readlink(process / "cwd"):
                os.kill(int(process.name), signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
