"""A run in a process of its own, for tests that kill it: `room_worker.py run URL JOURNAL OUT COUNT` asks COUNT tasks and writes
OUT at the end; `room_worker.py kill ... KILLS SEED` starts that run KILLS times in a fork of itself (so that the imports are paid
once), and kills each with SIGKILL at a random moment. The longest moment follows the machine's speed, so that the kills together get
through about 3/4 of the work. Prints how many runs were killed before their end."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import time
from pathlib import Path

import openai
import tenacity  # noqa: F401 - imported before the forks
from room import as_text, finished, judging, session, telling


def run(url: str, journal: str, out: str, count: str) -> None:
    with session(url, Path(journal), concurrency=4) as models:
        tasks = [*judging(int(count) // 2), *telling(int(count) - int(count) // 2)]
        outcomes = list(models.ask_all(tasks))
    Path(out).write_text(as_text(outcomes) + "".join(f"{o.calls}\n" for o in outcomes))


def kill(url: str, journal: str, out: str, count: str, kills: str, seed: str) -> None:
    moments, died, longest = random.Random(seed), 0, 0.2
    with openai.OpenAI(base_url=url, api_key="none") as client:  # what the client loads at its first request, loaded before the forks
        client.models.list()
    for number in range(1, int(kills) + 1):
        child = os.fork()
        if child == 0:
            run(url, journal, out, count)
            os._exit(0)
        time.sleep(moments.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        died += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        behind = done(journal) < 0.75 * int(count) * number / int(kills)
        longest = min(max(longest * (1.15 if behind else 0.85), 0.05), 3.0)
    sys.stdout.write(f"{died}\n")


def done(journal: str) -> int:
    """Finished calls in the journal so far; the first kills come before there is one."""
    try:
        return len(finished(Path(journal)))
    except sqlite3.OperationalError:
        return 0


if __name__ == "__main__":
    {"run": run, "kill": kill}[sys.argv[1]](*sys.argv[2:])
