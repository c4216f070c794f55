#!/usr/bin/env python3
"""Opens an HTML report in headless Chromium and checks what a reader sees and can do.

usage: report_browser_test.py RENDER_REPORT RECORDS.jsonl [--screenshots FOLDER]
"""
import argparse
import pathlib
import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

DESK = (1440, 900)
PHONE = (390, 844)


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise RuntimeError("the report's page needs Chromium to be tested; found no chromium on PATH")


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


class ReportPage(unittest.TestCase):
    render = None
    records = None

    @classmethod
    def open_browser(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        page = Path(cls.folder.name) / "report.html"
        subprocess.run([cls.render, cls.records, page], check=True, stdout=subprocess.DEVNULL)
        cls.address = page.as_uri()
        cls.browser = Browser(Path(cls.folder.name) / "profile")
        cls.addClassCleanup(cls.browser.close)

    @classmethod
    def setUpClass(cls):
        cls.open_browser()
        lines = [json.loads(line) for line in Path(cls.records).read_text(encoding="utf-8").splitlines()]
        first, cls.other_testee = sorted({line["testee"] for line in lines})
        cls.cases = [line for line in lines if line["testee"] == first]
        cls.operators = sorted({case["operator"] for case in cls.cases})
        cls.other_operators = sorted({line["operator"] for line in lines if line["testee"] != first})

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def operators_with(self, field, value):
        return sorted({case["operator"] for case in self.cases if case[field] == value})

    def shown(self):
        return self.browser.run(
            "[...document.querySelectorAll('tbody:not([hidden]) .name')].map(name => name.textContent)")

    def assert_nothing_wider_than_the_window(self, width):
        self.assertEqual(self.browser.run("innerWidth"), width)
        # The class chips and long texts scroll inside boxes of their own.
        wider = self.browser.run("""
            [...document.body.querySelectorAll("*")]
              .filter(node => !node.closest("script, .kinds, .box")
                && node.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
              .map(node => node.outerHTML.slice(0, 200))""")
        self.assertEqual(wider, [])
        self.assertEqual(self.browser.run("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)

    def test_every_operator_has_a_row_with_its_counts(self):
        self.browser.open(self.address)
        self.assertEqual(sorted(self.shown()), self.operators)
        rows = dict(self.browser.run(
            "[...document.querySelectorAll('tbody')].map(body => [body.querySelector('.name').textContent,"
            " Object.fromEntries([...body.querySelectorAll('.count[data-label]')]"
            ".map(cell => [cell.dataset.label, Number(cell.textContent.replace('–', '0').replace(',', ''))]))])"))
        for operator in self.operators:
            mine = [case["verdict"] for case in self.cases if case["operator"] == operator]
            counts = {verdict: mine.count(verdict)
                      for verdict in ("pass", "quality", "fail", "unsupported", "crash", "timeout")}
            self.assertEqual(rows[operator], {"cases": len(mine), **counts})

    def test_nothing_is_loaded_from_elsewhere(self):
        self.browser.open(self.address)
        self.assertEqual([url for url in self.browser.requests() if not url.startswith("data:")],
                         [self.address])

    def test_filter_from_the_address(self):
        self.browser.open(self.address + "#filter=softmax")
        expected = [operator for operator in self.operators if "softmax" in operator]
        self.assertTrue(0 < len(expected) < len(self.operators))
        self.assertEqual(sorted(self.shown()), expected)
        self.assertEqual(self.browser.run("document.getElementById('filter').value"), "softmax")

    def test_verdict_chip_filters_and_is_kept_in_the_address(self):
        self.browser.open(self.address)
        self.browser.run("document.querySelector('#verdicts [data-name=crash]').click()")
        self.assertEqual(sorted(self.shown()), self.operators_with("verdict", "crash"))
        self.assertEqual(self.browser.run("location.hash"), "#verdict=crash")

    def test_finding_chip_filters(self):
        self.browser.open(self.address)
        self.browser.run("document.querySelector('#kinds [data-name=value]').click()")
        self.assertEqual(sorted(self.shown()), self.operators_with("class", "value"))

    def test_filter_without_match_says_so_and_escape_clears_it(self):
        self.browser.open(self.address + "#filter=nosuchoperator")
        self.assertEqual(self.shown(), [])
        self.assertFalse(self.browser.run("document.getElementById('empty').hidden"))
        self.browser.press("Escape")
        self.assertEqual(sorted(self.shown()), self.operators)

    def test_sort_by_column_and_back(self):
        self.browser.open(self.address)
        click = "document.querySelector('#columns [data-key=operator] button').click()"
        self.browser.run(click)
        first = self.shown()
        self.browser.run(click)
        self.assertEqual(sorted(first), self.operators)
        self.assertEqual(first, self.shown()[::-1])
        self.assertEqual(
            self.browser.run("document.querySelector('[data-key=operator]').getAttribute('aria-sort')"),
            "descending")

    def test_most_serious_operator_is_first(self):
        self.browser.open(self.address)
        first = self.shown()[0]
        serious = [case for case in self.cases if case["operator"] == first and (
            case["verdict"] in ("crash", "timeout") or case["class"] in ("writes-out-of-bounds", "abort"))]
        self.assertTrue(serious)

    def test_keyboard_opens_an_operator(self):
        self.browser.open(self.address)
        self.browser.press("/")
        self.assertEqual(self.browser.run("document.activeElement.id"), "filter")
        self.browser.run("document.querySelector('tbody .name').focus()")
        self.browser.press("Enter")
        self.assertEqual(
            self.browser.run("document.querySelector('tbody .name').getAttribute('aria-expanded')"), "true")
        self.assertGreater(self.browser.run("document.querySelectorAll('tbody .finding').length"), 0)

    def test_smallest_case_is_shown_as_the_records_state_it(self):
        case = next(case for case in self.cases if "</script>" in case.get("message", ""))
        self.browser.open(self.address + "#open=" + case["operator"])
        text = self.browser.run("document.querySelector('tbody .panel').textContent")
        for expected in (case["message"], case["got"], case["expected"], case["rule"], case["case"]):
            self.assertIn(expected, text)
        for given in case["inputs"] + case["outs"]:
            self.assertIn(given["text"], text)

    def test_infinite_distance_is_said(self):
        case = next(case for case in self.cases if case["distance"] == "inf")
        self.browser.open(self.address + "#open=" + case["operator"])
        self.assertIn("infinite", self.browser.run("document.querySelector('tbody .measures').textContent"))

    def test_repro_line_is_copied(self):
        case = next(case for case in self.cases if case["verdict"] == "crash")
        self.browser.open(self.address + "#open=" + case["operator"])
        self.browser.run("""
            Object.defineProperty(navigator, "clipboard",
              { value: { writeText: async text => { window.copied = text; } } });
            document.querySelector(".repro button").click()""")
        self.assertEqual(self.browser.run("window.copied"), "assay case " + case["case"])
        self.assertEqual(self.browser.run("document.querySelector('.repro button').textContent"), "Copied")

    def test_another_testee_is_a_click_away(self):
        self.browser.open(self.address)
        self.browser.run("document.querySelector('#testees button:last-child').click()")
        self.assertEqual(self.browser.run("document.getElementById('testee').textContent"), self.other_testee)
        self.assertEqual(sorted(self.shown()), self.other_operators)
        self.browser.open(self.address + self.browser.run("location.hash"))
        self.assertEqual(sorted(self.shown()), self.other_operators)

    def test_expected_failure_is_folded_and_no_news(self):
        case = next(case for case in self.cases if case.get("known"))
        self.browser.open(self.address + "#open=" + case["operator"])
        finding = self.browser.run("document.querySelector('tbody details.finding').textContent")
        self.assertIn("listed as expected", finding)
        self.assertIn(case["message"], finding)
        self.assertFalse(self.browser.run("document.querySelector('tbody details.finding').open"))

    def test_differing_elements_are_marked(self):
        case = next(case for case in self.cases if case["class"] == "nan")
        self.browser.open(self.address + "#open=" + case["operator"])
        self.assertEqual(self.browser.run("[...document.querySelectorAll('tbody mark')].map(m => m.textContent)"),
                         ["0"])

    def test_nothing_overflows_with_every_operator_open(self):
        opened = "#open=" + ",".join(self.operators)
        for size in (PHONE, (768, 1024), DESK):
            with self.subTest(width=size[0]):
                self.browser.open(self.address + opened, size)
                self.assertEqual(self.browser.run("document.querySelectorAll('.panel').length"),
                                 len(self.operators))
                self.assert_nothing_wider_than_the_window(size[0])

    def test_dark_scheme_is_dark(self):
        for scheme, dark in (("light", False), ("dark", True)):
            self.browser.open(self.address, scheme=scheme)
            red = self.browser.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0]")
            self.assertEqual(int(red) < 128, dark)


def take_screenshots(folder):
    """The top of the page and an opened operator, at desk and phone width, light and dark."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    ReportPage.open_browser()
    browser = ReportPage.browser
    for (name, size), scheme in itertools.product((("desk", DESK), ("phone", PHONE)), ("light", "dark")):
        browser.open(ReportPage.address, size, scheme)
        browser.screenshot(Path(folder) / f"{name}-{scheme}.png")
        first = browser.run("document.querySelector('tbody .name').textContent")
        browser.open(f"{ReportPage.address}#filter={first}&open={first}", size, scheme)
        browser.screenshot(Path(folder) / f"{name}-{scheme}-open.png", whole_page=True)
    ReportPage.doClassCleanups()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--render-report", default=os.environ.get("ASSAY_RENDER_REPORT"), help="program that turns records into a page")
    parser.add_argument("--records", default=pathlib.Path(__file__).parent / "data/report.jsonl", help="JSONL file")
    parser.add_argument("--screenshots", metavar="FOLDER", help="take pictures instead of testing")
    given = parser.parse_args()
    ReportPage.render = given.render_report
    ReportPage.records = given.records
    if given.screenshots:
        take_screenshots(given.screenshots)
    else:
        unittest.main(argv=["report_browser_test.py"], verbosity=2)


main()
