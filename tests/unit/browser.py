"""A real Chromium over its debugging pipe: no network, no further library. Skips aloud where there is none."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from waiting import LONGEST, wait_until

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
)


class Gone(AssertionError):
    """The browser refused: mostly because the page is going away."""


class Browser:
    """One page at a time. `evaluate` gives the value of an expression in it."""

    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._count, self._rest = 0, b""
        self._session: str | None = None

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": params}
        if self._session and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self._rest:
                ready, _, _ = select.select([self._read], [], [], LONGEST)
                got = os.read(self._read, 1 << 16) if ready else b""
                assert got, "the browser has ended, or says nothing"
                self._rest += got
            text, _, self._rest = self._rest.partition(b"\0")
            found = json.loads(text)
            if found.get("id") == self._count:
                if "error" in found:
                    raise Gone(str(found["error"]))
                result: dict[str, Any] = found["result"]
                return result

    def open(self, path: Path) -> None:
        """Opens a page and waits until it is there."""
        if self._session is None:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.navigate", url=path.as_uri())
        self._loaded()

    def reload(self, *, until: str) -> None:
        """Loads the page again until that is so: a browser writes what a page stores in its own time, and says nothing of it."""
        wait_until(lambda: self._reloaded() and self._is(until))

    def _reloaded(self) -> bool:
        self.evaluate("window.before = true")
        self.evaluate("setTimeout(() => location.reload(), 0)")
        self.until("!window.before")
        self._loaded()
        return True

    def _loaded(self) -> None:
        self.until("document.readyState === 'complete' && location.protocol === 'file:'")

    def evaluate(self, expression: str) -> Any:
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        wait_until(lambda: self._is(expression))

    def _is(self, expression: str) -> bool:
        try:
            return bool(self.evaluate(expression))
        except Gone:  # the page is being loaded
            return False

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" and len(key) == 1 else "")


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with its own profile; ended with the block."""
    program = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    command = ["bash", "-c", f'exec "$0" "$@" 3<&{to_read} 4>&{from_write}', program, *FLAGS, f"--user-data-dir={profile}"]
    process = subprocess.Popen(command, pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for end in (to_read, from_write):
            os.close(end)
        yield Browser(to_write, from_read)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for end in (to_write, from_read):
            os.close(end)
