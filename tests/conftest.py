"""What holds for every test: a journal of its own, signals reach the programs that tests start, and what collecting has made is not
looked through again."""

from __future__ import annotations

import gc
import signal
from contextlib import suppress
from functools import cache

import pytest
from hypothesis import HealthCheck, settings

from kgeval.config import cache_folder

# a busy machine is no reason to fail: no test knows absolute times
settings.register_profile("kgeval", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kgeval")


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
    with suppress(ImportError):  # an older client of openai has them elsewhere
        import httpcore2

        httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)


def pytest_collection_finish() -> None:
    """Thousands of tests and the libraries that they import live to the end: without this each whole collection of garbage looks at all
    of them, and some libraries ask for one at each call (statsmodels' multipletests)."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test, or the same one yesterday, asked a model is in no journal that this one reads, and what it trusted is not trusted.
    What was downloaded is kept."""
    own = tmp_path_factory.mktemp("cache")
    for name in ("jars", "tiktoken"):
        kept = cache_folder() / name
        if kept.is_dir():
            (own / name).symlink_to(kept)
    monkeypatch.setenv("KGEVAL_CACHE_DIR", str(own))
    monkeypatch.setenv("XDG_STATE_HOME", str(own / "state"))
