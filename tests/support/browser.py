"""Pages in headless Chromium."""
import base64
import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path

DESK = (1440, 900)
PHONE = (400, 844)


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise RuntimeError("pages need Chromium to be tested; found no chromium on PATH")


class Browser:
    """Chromium behind its DevTools pipe: messages are JSON, each ended by a zero byte."""

    def __init__(self, profile):
        command_out, self.commands = os.pipe()
        self.replies, reply_in = os.pipe()
        # Chromium reads commands from descriptor 3 and writes replies to 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{command_out} 4>&{reply_in}', "bash",
             chromium(), "--headless", "--no-sandbox", "--disable-gpu",
             f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(command_out, reply_in), stderr=subprocess.DEVNULL)
        os.close(command_out)
        os.close(reply_in)
        self.ids = itertools.count(1)
        self.buffer = b""
        self.events = []
        self.session = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send("Page.bringToFront")

    def close(self):
        self.session = None
        self.send("Browser.close")
        self.process.wait(timeout=20)
        os.close(self.commands)
        os.close(self.replies)

    def receive(self):
        while b"\0" not in self.buffer:
            chunk = os.read(self.replies, 1 << 16)
            if not chunk:
                raise RuntimeError("Chromium ended before it answered")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def send(self, method, **parameters):
        identity = next(self.ids)
        message = {"id": identity, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while (reply := self.receive()).get("id") != identity:
            self.events.append(reply)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']['message']}")
        return reply["result"]

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive())

    def open(self, address, size=DESK, scheme="light"):
        self.send("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1],
                  deviceScaleFactor=1, mobile=size == PHONE)
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        # By way of an empty page: a change of the hash alone would not load the report again.
        for url in ("about:blank", address):
            self.events.clear()
            self.send("Page.navigate", url=url)
            self.wait_for("Page.loadEventFired")

    def run(self, script):
        reply = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in reply:
            raise RuntimeError(reply["exceptionDetails"]["exception"]["description"])
        return reply["result"].get("value")

    def press(self, key):
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def complaints(self):
        """What the page wrote to the console, and every exception nobody caught."""
        wanted = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event["params"] for event in self.events if event.get("method") in wanted]

    def requests(self):
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def screenshot(self, path, whole_page=False):
        size = self.send("Page.getLayoutMetrics")["cssContentSize"] if whole_page else None
        clip = {"clip": {**size, "scale": 1}} if size else {}
        image = self.send("Page.captureScreenshot", captureBeyondViewport=whole_page, **clip)["data"]
        Path(path).write_bytes(base64.b64decode(image))

    def wider_than_the_window(self):
        """What sticks out at the right; chips and long texts scroll inside boxes of their own."""
        return self.run("""
            [...document.body.querySelectorAll("*")]
              .filter(node => !node.closest("script, .chips, .box, .scroll")
                && node.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
              .map(node => node.outerHTML.slice(0, 200))""")
