"""A headless Chromium that is spoken to over a pipe: pages are opened, asked, typed into, photographed."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from select import select
from time import monotonic
from typing import Any

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_SECONDS = 60.0

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""


class Browser:
    """One tab. What the page logs, and what it asks the network for, is kept."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._number = 0
        self._rest = b""
        self._session = ""
        self.logged: list[str] = []
        self.requested: list[str] = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(f"{domain}.enable")

    def open(self, page: Path, *, width: int = 1280, dark: bool = False) -> None:
        """Open a file and wait until it has loaded."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self.logged.clear()
        self.requested.clear()
        self._call("Page.navigate", url=page.as_uri())
        self._wait_for("Page.loadEventFired")

    def ask(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        # Debugging tools are not bound by the page's policy.
        done = self._call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def type(self, selector: str, text: str) -> None:
        """Focus an element and type."""
        self.ask(f"document.querySelector({json.dumps(selector)}).focus()")
        self._call("Input.insertText", text=text)

    def photograph(self, file: Path) -> None:
        """The whole page as a PNG."""
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self._call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        file.write_bytes(b64decode(shot["data"]))

    def _call(self, method: str, **params: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def _wait_for(self, event: str) -> None:
        while self._read().get("method") != event:
            pass

    def _read(self) -> dict[str, Any]:
        until = monotonic() + _SECONDS
        while b"\0" not in self._rest:
            ready, _, _ = select([self._from], [], [], max(0.0, until - monotonic()))
            assert ready, f"Chromium said nothing for {_SECONDS:g} s"
            read = os.read(self._from, 1 << 16)
            assert read, "Chromium went away"
            self._rest += read
        message, self._rest = self._rest.split(b"\0", 1)
        told: dict[str, Any] = json.loads(message)
        params = told.get("params", {})
        if told.get("method") == "Runtime.consoleAPICalled":
            self.logged.append(str(params["args"]))
        elif told.get("method") == "Runtime.exceptionThrown":
            self.logged.append(str(params["exceptionDetails"]))
        elif told.get("method") == "Log.entryAdded":
            self.logged.append(str(params["entry"]["text"]))
        elif told.get("method") == "Network.requestWillBeSent":
            self.requested.append(str(params["request"]["url"]))
        return told


@contextlib.contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """A browser with a fresh profile in that folder."""
    its_input, our_output = os.pipe()
    our_input, its_output = os.pipe()
    # The browser reads commands from descriptor 3 and answers on 4.
    command = f'exec 3<&{its_input} 4>&{its_output}; exec "$0" "$@"'
    process = subprocess.Popen(
        ["bash", "-c", command, CHROMIUM, *_FLAGS, f"--user-data-dir={folder}"],
        pass_fds=(its_input, its_output),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(its_input)
    os.close(its_output)
    try:
        yield Browser(our_output, our_input)
    finally:
        # It ends when its commands end.
        os.close(our_output)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(our_input)
