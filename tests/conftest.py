"""What holds for every test: a journal of its own, signals reach the programs that tests start, and what collecting has made is not
looked through again."""

from __future__ import annotations

import atexit
import gc
import itertools
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kgeval.config import cache_folder

# a busy machine is no reason to fail: no test knows absolute times
settings.register_profile("kgeval", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kgeval")
LOADED = [0]  # how many modules were loaded when last looked


def pytest_configure() -> None:
    """A suite that is started with signals ignored (nohup, a shell's background, some CI runners) would hand that on to every program
    that its tests start, which then could not be interrupted: kgeval listens only to what is not ignored. The suite itself goes on
    ignoring a terminal that is closed; a handler, unlike SIG_IGN, is not handed on."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


def pytest_sessionstart() -> None:
    """Tests open a thousand clients of models, each of which would read the certificates of the world (37 ms) to talk to this machine.
    And they make and drop so many objects that looking for cycles after every 700, as Python does, takes a sixth of their time."""
    gc.set_threshold(100_000, 20, 50)
    atexit.register(gc.unfreeze)  # else Triton, at the end, lists on stderr what is left of it
    with suppress(ImportError):  # an older client of openai has them elsewhere
        import httpcore2

        httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)


def pytest_collection_finish() -> None:
    """Thousands of tests and the libraries that they import live to the end: without this each whole collection of garbage looks at all
    of them, and some libraries ask for one at each call (statsmodels' multipletests)."""
    leave_alive_alone()


def pytest_runtest_setup() -> None:
    """As pytest_collection_finish, where tests have loaded libraries since then."""
    if len(sys.modules) > LOADED[0] + 50:
        leave_alive_alone()


def leave_alive_alone() -> None:
    """Later collections of garbage pass over what is alive now."""
    gc.collect()
    gc.freeze()
    LOADED[0] = len(sys.modules)


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """New folders. (mktemp looks through all that there are for the number of a new one.)"""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def cache_of_its_own(caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test, or the same one yesterday, asked a model is in no journal that this one reads, and what it trusted is not trusted.
    What was downloaded is kept."""
    own = next(caches)
    own.mkdir()
    for name in ("jars", "tiktoken"):
        kept = cache_folder() / name
        if kept.is_dir():
            (own / name).symlink_to(kept)
    monkeypatch.setenv("KGEVAL_CACHE_DIR", str(own))
    monkeypatch.setenv("XDG_STATE_HOME", str(own / "state"))
