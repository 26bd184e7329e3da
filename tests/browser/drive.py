#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives a page in headless Chromium by commands on standard input, with the
events that a mouse and a keyboard make.

	open URL        load it and wait until it is there
	size W H        of the window
	dark            the reader prefers dark pages
	text SELECTOR   print what is written there ("(hidden)" if it is not seen)
	print EXPR      print a value of JavaScript
	key NAME        press a key: Enter, Escape, ArrowUp, / ...
	write TEXT      type into what has the focus
	click SELECTOR  the middle of an element
	find NAME       put the pointer on the frame called so, print its place
	frames N        point at each of the N widest frames of a flame graph and
			click there; print what moved when the pointer came, and
			where a click zoomed another frame; then how many were
			the ones that were clicked
	press           the mouse button where the pointer is
	shot FILE       a picture of the page
	paper FILE      the page as it is printed, in PDF
	errors          print what went wrong in the page so far
	requests        print what the page asked the network for

A command that the page or the browser refuses prints why, and the next one is
carried out; the exit status is 1 at the end. When the browser or the page's
process ends early, the driver prints how and why and ends with status 1.

The browser is $CHROMIUM, or the first of chromium and google-chrome. It is
spoken to through a pipe; no port is open.
"""

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "End": 35, "Home": 36}
ROW = 18
FIND = """
((row, name) => {
    const view = document.getElementById("view");
    const tip = document.getElementById("tip");
    const box = view.getBoundingClientRect();
    for (let y = box.bottom - row / 2; y > box.top; y -= row)
        for (let x = box.left + 4; x < box.right - 4; x += 12) {
            view.dispatchEvent(new MouseEvent("mousemove",
                { bubbles: true, clientX: x, clientY: y }));
            if (!tip.hidden && tip.firstChild.textContent === name)
                return [x, y];
        }
    return null;
})(%d, %s)
"""
# The widest frames, where they are when nothing is zoomed, and what may not
# move. Names of a page's script are seen from here.
WIDEST = """
((row, most) => {
    const width = graph.all[graph.state.column], start = [], next = [];
    for (let i = 0; i < graph.nr; i++) {
        start[i] = i ? next[graph.parent[i]] : 0;
        if (i)
            next[graph.parent[i]] += width[i];
        next[i] = start[i];
    }
    const order = [...start.keys()].sort((a, b) => width[b] - width[a] || a - b);
    const scale = document.getElementById("view").clientWidth / width[0];
    return order.slice(0, most).filter(i => width[i] * scale >= 3).map(i =>
        [i, (start[i] + width[i] / 2) * scale, graph.depth[i] * row + row / 2,
         graph.nameOf(i)]);
})(%d, %d)
"""
BRING = """
((x, below) => {
    const view = document.getElementById("view"), box = view.getBoundingClientRect();
    const from = graph.state.icicle ? below : view.scrollHeight - below;
    view.scrollTop = from - view.clientHeight / 2;
    return [box.left + view.clientLeft + x, box.top + view.clientTop + from - view.scrollTop];
})(%r, %r)
"""
PLACES = """
JSON.stringify([...document.querySelectorAll("body *")].filter(e => !e.closest("#tip, #details *"))
    .map(e => [e.tagName + (e.id ? "#" + e.id : ""),
               ...Object.values(e.getBoundingClientRect().toJSON())]))
"""


class Refused(Exception):
    """What the browser or the page says of a command that failed."""


class BrowserGone(Exception):
    """No command can be answered any more."""


def how_ended(status):
    if status >= 0:
        return "ended with status %d" % status
    return "was ended by signal %d (%s)" % (-status, signal.strsignal(-status))


def memory_left():
    """For messages: what a browser may have run out of."""
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                memory = int(line.split()[1]) >> 10
    shared = os.statvfs("/dev/shm")
    return "memory left: %d MB; /dev/shm: %d of %d MB left" % (
        memory, shared.f_bavail * shared.f_frsize >> 20,
        shared.f_blocks * shared.f_frsize >> 20)


class Browser:
    def __init__(self, program, home):
        self.log = open(os.path.join(home, "log"), "w+", errors="replace",
                        encoding="utf-8")
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        command = [program, "--headless", "--disable-gpu", "--no-first-run",
                   "--hide-scrollbars", "--force-color-profile=srgb",
                   "--remote-debugging-pipe", "--user-data-dir=" + home]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        # The browser reads descriptor 3 and writes 4, whatever ours are.
        shell = 'exec "$@" 3<&%d 4>&%d' % (to_read, back_write)
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "browser", *command],
            pass_fds=(to_read, back_write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=self.log)
        os.close(to_read)
        os.close(back_write)
        self.pending = b""
        self.number = 0
        self.session = None
        self.target = None
        self.events = []

    def gone(self, what):
        self.log.seek(0)
        # Where there is no desktop the browser looks for its bus all the time.
        said = [line for line in self.log if ":dbus/" not in line][-5:]
        if said:
            said.insert(0, "the last messages:\n")
        return BrowserGone("%s\n%s\n%s" % (what, memory_left(), "".join(said)))

    def receive(self):
        while b"\0" not in self.pending:
            more = os.read(self.back, 1 << 16)
            if not more:
                raise self.gone("the browser " + how_ended(self.process.wait()))
            self.pending += more
        message, self.pending = self.pending.split(b"\0", 1)
        message = json.loads(message)
        if message.get("method") == "Target.targetCrashed":
            about = message["params"]
            if about["targetId"] == self.target:
                raise self.gone("the page's process ended early: %s, code %d" % (
                    about["status"], about["errorCode"]))
        return message

    def send(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        try:
            os.write(self.to, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            pass  # receive() tells why
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Refused("%s: %s" % (
                        method, answer["error"]["message"]))
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def wait_for(self, method):
        while not any(e["method"] == method for e in self.events):
            self.events.append(self.receive())

    def attach(self):
        # Without it the end of the page's process is not told.
        self.send("Target.setDiscoverTargets", discover=True)
        self.target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", flatten=True,
                                 targetId=self.target)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.send(domain + ".enable")

    def evaluate(self, expression):
        answer = self.send("Runtime.evaluate", expression=expression,
                           awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            why = details.get("exception", {}).get("description", details["text"])
            raise Refused("%s: %s" % (expression, why.split("\n")[0]))
        return answer["result"].get("value")

    def settle(self):
        self.evaluate("new Promise(done => requestAnimationFrame("
                      "() => requestAnimationFrame(() => done(0))))")

    def mouse(self, kind, x, y):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left"
                  if kind != "mouseMoved" else "none", clickCount=1)


class Driver:
    def __init__(self, browser):
        self.browser = browser
        self.at = (0, 0)

    def open(self, url):
        # The same page with another hash would not be loaded again.
        for to in "about:blank", url:
            self.browser.events = [e for e in self.browser.events
                                   if e["method"] != "Page.loadEventFired"]
            self.browser.send("Page.navigate", url=to)
            self.browser.wait_for("Page.loadEventFired")

    def size(self, text):
        width, height = map(int, text.split())
        self.browser.send("Emulation.setDeviceMetricsOverride", width=width,
                          height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, _):
        self.browser.send("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark"}])

    def text(self, selector):
        print(self.browser.evaluate(
            "(e => e.getClientRects().length ? e.textContent : '(hidden)')"
            "(document.querySelector(%s))" % json.dumps(selector)))

    def print(self, expression):
        print(self.browser.evaluate(expression))

    def key(self, name):
        key = {"key": name, "windowsVirtualKeyCode": KEYS.get(name, 0)}
        if len(name) == 1:
            key["text"] = name
        self.browser.send("Input.dispatchKeyEvent", type="keyDown", **key)
        self.browser.send("Input.dispatchKeyEvent", type="keyUp", **key)

    def write(self, text):
        self.browser.send("Input.insertText", text=text)

    def press(self, _):
        self.browser.mouse("mousePressed", *self.at)
        self.browser.mouse("mouseReleased", *self.at)

    def point(self, x, y):
        self.at = (x, y)
        self.browser.mouse("mouseMoved", x, y)

    def box(self, selector):
        return self.browser.evaluate(
            "(b => [b.left, b.top, b.width, b.height])(document"
            ".querySelector(%s).getBoundingClientRect())" % json.dumps(selector))

    def click(self, selector):
        left, top, width, height = self.box(selector)
        self.point(left + width / 2, top + height / 2)
        self.press(None)

    def find(self, name):
        # A thousand places are too many to bring the mouse to: the page tries
        # them, and the mouse goes to the one that is found.
        place = self.browser.evaluate(FIND % (ROW, json.dumps(name)))
        if place:
            self.point(*place)
        print("%s %s" % ("found" if place else "nowhere:", name))

    def frames(self, most):
        right = 0
        for node, x, below, name in self.browser.evaluate(WIDEST % (ROW, int(most))):
            self.browser.evaluate("graph.go({ zoom: 0 })")
            self.point(0, 0)
            self.browser.settle()
            at = self.browser.evaluate(BRING % (x, below))
            self.browser.settle()
            before = self.browser.evaluate(PLACES)
            self.point(*at)
            self.browser.settle()
            if self.browser.evaluate(PLACES) != before:
                print("moved by the pointer on", name)
            if self.browser.evaluate("graph.current()") != node:
                print("pointed elsewhere than at", name)
            self.press(None)
            self.browser.settle()
            zoomed = self.browser.evaluate("graph.state.zoom")
            right += zoomed == node
            if zoomed != node:
                print("clicked on %s, zoomed %s" % (
                    name, self.browser.evaluate("graph.nameOf(graph.state.zoom)")))
        self.browser.evaluate("graph.go({ zoom: 0 })")
        print("%d frames are zoomed by a click on them" % right)

    def shot(self, path):
        picture = self.browser.send("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))

    def paper(self, path):
        pages = self.browser.send("Page.printToPDF", printBackground=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(pages["data"]))

    def errors(self, _):
        for event in self.browser.events:
            if event["method"] == "Runtime.exceptionThrown":
                print(event["params"]["exceptionDetails"]["exception"]["description"])
            elif event["method"] == "Log.entryAdded":
                print(event["params"]["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled":
                print(event["params"]["args"])

    def requests(self, _):
        for event in self.browser.events:
            if event["method"] == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith(("file:", "about:", "data:")):
                    print(url)


@contextlib.contextmanager
def home_folder():
    """For the browser, of which some processes outlive the one that was
    started: what they still write must not be in the way."""
    home = tempfile.mkdtemp()
    try:
        yield home
    finally:
        while os.path.exists(home):
            shutil.rmtree(home, ignore_errors=True)


def obey(browser, commands):
    """Returns the exit status."""
    status = 0
    browser.attach()
    driver = Driver(browser)
    for line in commands:
        command, _, rest = line.strip().partition(" ")
        if command:
            try:
                getattr(driver, command)(rest)
                browser.settle()
            except Refused as refused:
                print("drive.py: %s: %s" % (command, refused))
                status = 1
            sys.stdout.flush()
    browser.session = None
    browser.send("Browser.close")
    browser.process.wait()
    return status


def main():
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or \
        shutil.which("google-chrome")
    with home_folder() as home:
        browser = Browser(program, home)
        try:
            return obey(browser, sys.stdin)
        except BrowserGone as gone:
            print("drive.py:", gone)
            return 1
        finally:
            browser.process.kill()
            browser.process.wait()
            browser.log.close()


sys.exit(main())
