"""What holds for every test: Ctrl-C reaches the programs that tests start, and what collecting has made is not looked through again."""

from __future__ import annotations

import gc
import signal


def pytest_configure() -> None:
    """A suite that is started with SIGINT ignored (nohup, a shell's background, some CI runners) would hand that on to every program
    that its tests start, which then could not be interrupted: Python sets up Ctrl-C only where the signal is not ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Thousands of tests and the libraries that they import live to the end: without this each whole collection of garbage looks at all
    of them, and some libraries ask for one at each call (statsmodels' multipletests)."""
    gc.collect()
    gc.freeze()
