"""A Chromium without a window, driven by its own protocol (DevTools) over a pipe: no package is needed."""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

NAMES = ["chromium", "chromium-browser", "google-chrome"]
# The protocol goes through file descriptors 3 and 4, which the shell sets up.
SHELL = 'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null'


def program():
    named = os.environ.get("TABSEGNET_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if not named:
        sys.exit("no Chromium: install one (apt-get install chromium) or name it in TABSEGNET_CHROMIUM")
    return named


class Browser:
    """A browser with one page."""

    def __init__(self):
        self.profile = tempfile.mkdtemp()
        flags = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--no-sandbox"]
        flags += ["--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars"]
        command = ["sh", "-c", SHELL, program(), *flags, f"--user-data-dir={self.profile}", "about:blank"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.calls, self.session, self.rest, self.events = 0, None, b"", []
        target = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime"):
            self.call(f"{domain}.enable")

    def message(self):
        while b"\0" not in self.rest:
            read = os.read(self.process.stdout.fileno(), 1 << 16)
            if not read:
                sys.exit("Chromium ended; start it by hand to see why")
            self.rest += read
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.calls += 1
        message = {"id": self.calls, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.process.stdin.write(json.dumps(message).encode() + b"\0")
        self.process.stdin.flush()
        while True:
            answer = self.message()
            if answer.get("id") == self.calls:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def window(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, file):
        self.events.clear()
        self.call("Page.navigate", url=f"file://{os.path.abspath(file)}")
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            sys.exit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def screenshot(self, file):
        with open(file, "wb") as output:
            output.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def pdf(self, file):
        with open(file, "wb") as output:
            output.write(base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"]))

    def close(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
