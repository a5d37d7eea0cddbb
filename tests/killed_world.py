"""kill -9 at random moments: the same command goes on, and what it makes is what a run that nobody killed makes.

KGEVAL_KILLS: how often each command is killed (100 before a release).
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

KILLS = int(os.environ.get("KGEVAL_KILLS", "3"))
IN_FLIGHT = 4


def asked_again(concurrency: int) -> int:
    """How many calls at most an ended run leaves to be made again, with so many on the wire (one: no threads). A call is repeated until its
    reply is in the journal. Twice as many threads as calls on the wire make requests and read replies (llm/session.py), so that as many
    replies again may have arrived and wait for the disk: rare, and seen on loaded machines."""
    return 2 * concurrency if concurrency > 1 else 1


def killed_and_whole(
    words: Callable[[str], Sequence[str]], folder: Path, made: Callable[[str], Any], *, asked: Callable[[], int], again: Sequence[str] = (),
    clean: Callable[[], None] = lambda: None,
) -> None:
    """Runs a command once as it is, then again and again with kills at random moments until it has been killed KILLS times: each run that
    comes to its end has made the same, and asked for nothing twice but what was in flight or not yet written at a kill.

    `words`: the command by the name of a run, which its files bear; `again`: what is added when it goes on; `made`: what a run of a name
    has made, None where it has not come to its end; `asked`: how much was asked for since the last time; `clean`: before each run.
    """
    rng = random.Random(KILLS)
    clean()
    began = time.monotonic()
    run(words("whole"), folder)
    seconds = time.monotonic() - began
    whole, paid = made("whole"), asked()
    assert whole and paid
    kills = number = 0
    while kills < KILLS:
        number, here = number + 1, 0
        name = f"killed{number}"
        clean()
        while made(name) is None:
            longest = rng.uniform(0.3, 0.7 * seconds) if kills < KILLS else 300
            if run([*words(name), *(again if here else ())], folder, longest):
                break
            here, kills = here + 1, kills + 1
        assert made(name) == whole, f"run {number}, killed {here} times"
        again_asked = asked() - paid
        said = f"run {number}, killed {here} times: {again_asked} asked again, {IN_FLIGHT} are in flight"
        assert again_asked <= here * asked_again(IN_FLIGHT), said


def run(words: Sequence[str], folder: Path, seconds: float = 300) -> bool:
    """Runs a command, and kills it after so many seconds; returns whether it came to its end by itself."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kgeval", *words, "--no-progress"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )
    try:
        error = process.communicate(timeout=seconds)[1].decode()
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return False
    assert process.returncode in (0, 3), error
    return True
