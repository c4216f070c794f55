"""A runtime that does one thing wrong with one program: what stands behind it is right.

faulty_runtime.py FAULT PROGRAM COMMAND..., with the program's file and the end that answers for it."""
import os
import pathlib
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "doc" / "examples" / "protocol"))
import wire
from wire import CAPS, EXECUTE, GET_OUTPUT, LOAD, METHOD, OK, PING, QUIT, SET_INPUT, STATE, UNLOAD

EXHAUSTED, INTERNAL = 5, 6
HEAD = struct.Struct("<BQQII")  # of a reply without words

FAULT, PROGRAM, *COMMAND = sys.argv[1:]
CHOSEN = pathlib.Path(PROGRAM).read_bytes()


class Behind:
    def __init__(self):
        self.process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, kind, number, body):
        self.process.stdin.write(wire.framed(kind, number, body))
        self.process.stdin.flush()
        header = self.process.stdout.read(wire.HEADER.size)
        return self.process.stdout.read(wire.HEADER.unpack(header)[4])


class Faulty:
    def __init__(self):
        self.behind, self.chosen = Behind(), {}  # handles of the chosen program, with what a fault counts

    def answer(self, kind, number, body):
        if kind in (PING, QUIT):
            return getattr(self, f"{FAULT}_{kind}", self.right)(kind, number, body, None)
        handle = struct.unpack_from("<I", body)[0] if kind > LOAD else None
        if kind == LOAD:
            return self.load(number, body)
        if handle not in self.chosen:
            reply = self.behind.ask(kind, number, body)
            return reply.replace(b"dim_orders", b"dim_others") if kind == CAPS and FAULT == "silent" else reply
        return getattr(self, FAULT, self.right)(kind, number, body, handle)

    def right(self, kind, number, body, _):
        return self.behind.ask(kind, number, body)

    def load(self, number, body):
        program = body[4:4 + struct.unpack_from("<I", body)[0]]
        is_cut = 8 < len(program) < len(CHOSEN) and CHOSEN.startswith(program)
        if FAULT == "crash" and is_cut:
            os.kill(os.getpid(), signal.SIGSEGV)
        if FAULT == "instances" and program == CHOSEN and self.chosen:
            handle = next(iter(self.chosen))
            self.chosen[handle] += 1
            return HEAD.pack(OK, 0, 0, 0, 0) + struct.pack("<I", handle)
        reply = self.behind.ask(LOAD, number, body)
        if program == CHOSEN and reply[0] == OK:
            self.chosen[struct.unpack("<I", reply[-4:])[0]] = 0
        return reply

    def unload(self, number, body, handle):
        del self.chosen[handle]
        return self.behind.ask(UNLOAD, number, body)

    # -- faults ----------------------------------------------------------------------------------------------------

    def second(self, kind, number, body, handle):
        """Its second execution gives another output."""
        if kind == UNLOAD:
            return self.unload(number, body, handle)
        reply = self.behind.ask(kind, number, body)
        self.chosen[handle] += kind == EXECUTE and reply[0] == OK
        return reply[:-1] + bytes([reply[-1] ^ 0x40]) if kind == GET_OUTPUT and self.chosen[handle] == 2 else reply

    def instances(self, kind, number, body, handle):
        """Loaded twice it is one program."""
        if kind != UNLOAD or self.chosen[handle] == 0:
            return self.unload(number, body, handle) if kind == UNLOAD else self.right(kind, number, body, handle)
        self.chosen[handle] -= 1
        return HEAD.pack(OK, 0, 0, 0, 0)

    def hang(self, kind, number, body, handle):
        if kind == EXECUTE:
            time.sleep(1000)
        return self.right(kind, number, body, handle)

    def ends(self, kind, number, body, handle):
        if kind == EXECUTE:
            os._exit(3)
        return self.right(kind, number, body, handle)

    def drip(self, kind, number, body, handle):
        if kind == EXECUTE:
            for byte in wire.framed(EXECUTE | 0x80, number, self.right(kind, number, body, handle)):
                wire_out.write(bytes([byte]))
                wire_out.flush()
                time.sleep(0.5)
        return self.right(kind, number, body, handle)

    def garbage(self, kind, number, body, handle):
        if kind == EXECUTE:
            wire_out.write(b"not a frame at all, and more of it")
            wire_out.flush()
        return self.right(kind, number, body, handle)

    def accepts(self, kind, number, body, handle):
        """Sizes beyond what the program declares are answered."""
        reply = self.right(kind, number, body, handle)
        is_beyond = kind == EXECUTE and reply[0] != OK and (b"has the upper bound" in reply or b"but must have (" in reply)
        return HEAD.pack(OK, 0, 0, 0, 0) + struct.pack("<I", 0) if is_beyond else reply

    def remembers(self, kind, number, body, handle):
        """METHOD does not forget inputs."""
        if kind == METHOD and self.chosen[handle] == body:
            return HEAD.pack(OK, 0, 0, 0, 0)
        if kind == METHOD:
            self.chosen[handle] = body
        return self.right(kind, number, body, handle)

    def first_input(self, kind, number, body, handle):
        """An input that is set keeps its value until the next METHOD."""
        if kind == METHOD:
            self.set = set()
        if kind == SET_INPUT:
            index = body[4:8]
            if index in self.set:
                return HEAD.pack(OK, 0, 0, 0, 0)
            self.set.add(index)
        return self.right(kind, number, body, handle)

    def former_11(self, kind, number, body, _):
        """A PING gets what the one before got."""
        self.former, body = body, getattr(self, "former", body)
        return self.right(kind, number, body, _)

    def stays_12(self, kind, number, body, _):
        """It is still there when it has answered QUIT."""
        wire_out.write(wire.framed(kind | 0x80, number, self.right(kind, number, body, _)))
        wire_out.flush()
        time.sleep(1000)

    def code_12(self, kind, number, body, _):
        wire_out.write(wire.framed(kind | 0x80, number, self.right(kind, number, body, _)))
        wire_out.flush()
        os._exit(3)

    def deaf_12(self, kind, number, body, _):
        time.sleep(1000)

    def twice(self, kind, number, body, handle):
        """What it keeps is named twice."""
        reply = self.right(kind, number, body, handle)
        return reply[:HEAD.size] + struct.pack("<I", 2) + reply[HEAD.size + 4:] * 2 if kind == STATE else reply

    def drifts(self, kind, number, body, handle):
        """What it keeps is another state each time."""
        reply = self.right(kind, number, body, handle)
        return reply[:-4] + struct.pack("<I", number) if kind == STATE else reply

    def zeros(self, kind, number, body, handle):
        """Generated inputs are of another seed."""
        is_generated = kind == SET_INPUT and body[8] == 10
        return self.right(kind, number, body[:-8] + struct.pack("<Q", 9) if is_generated else body, handle)

    def spoilt(self, kind, number, body, handle):
        """When an allocation was refused, the next execution gives another output."""
        reply = self.right(kind, number, body, handle)
        if kind == EXECUTE:
            self.is_spoilt, self.refused = getattr(self, "refused", False), reply[0] == EXHAUSTED
        return reply[:-1] + bytes([reply[-1] ^ 0x40]) if kind == GET_OUTPUT and self.is_spoilt else reply

    def internal(self, kind, number, body, handle):
        """It has no word for memory that is missing."""
        reply = self.right(kind, number, body, handle)
        return bytes([INTERNAL]) + reply[1:] if reply[0] == EXHAUSTED else reply

    def gives_up(self, kind, number, body, handle):
        """It ends where memory is missing."""
        reply = self.right(kind, number, body, handle)
        if reply[0] == EXHAUSTED:
            os.abort()
        return reply

    def nothing(self, kind, number, body, handle):
        """No program is run."""
        return HEAD.pack(3, 0, 0, 0, 0) if kind == EXECUTE else self.right(kind, number, body, handle)


if __name__ == "__main__":
    wire_out = os.fdopen(os.dup(1), "wb")
    faulty = Faulty()
    for kind, number, body in wire.requests(sys.stdin.buffer):
        reply = faulty.answer(kind, number, body)
        wire_out.write(wire.framed(kind | 0x80, number, reply))
        wire_out.flush()
