"""A run in a process of its own, for tests that kill it: `room_worker.py run URL JOURNAL OUT COUNT` asks COUNT tasks and writes
OUT at the end; `room_worker.py kill ... KILLS SEED` starts that run KILLS times in a fork of itself (so that the imports are paid
once), and kills each with SIGKILL: every third within its first moments, the others when a random amount more of the work is in the
journal, so that the kills together get through about half of it. Prints how many runs were killed before their end."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

import openai
import tenacity  # noqa: F401 - imported before the forks
from room import as_text, judging, kept, session, telling

sys.path.append(str(Path(__file__).parents[1]))
from waiting import wait_until


def run(url: str, journal: str, out: str, count: str) -> None:
    with session(url, Path(journal), concurrency=4) as models:
        tasks = [*judging(int(count) // 2), *telling(int(count) - int(count) // 2)]
        outcomes = list(models.ask_all(tasks))
    Path(out).write_text(as_text(outcomes) + "".join(f"{o.calls}\n" for o in outcomes))


def kill(url: str, journal: str, out: str, count: str, kills: str, seed: str) -> None:
    moments, died = random.Random(seed), 0
    most = int(count) / int(kills)  # as much again is left for the end, if every kill waits for the most
    with openai.OpenAI(base_url=url, api_key="none") as client:  # what the client loads at its first request, loaded before the forks
        client.models.list()
    for number in range(int(kills)):
        wanted = kept(Path(journal)) + round(moments.uniform(0, most))
        child = os.fork()
        if child == 0:
            run(url, journal, out, count)
            os._exit(0)
        if number % 3:
            wait_until(lambda at_least=wanted: kept(Path(journal)) >= at_least)  # type: ignore[misc]
        time.sleep(moments.uniform(0, 0.05))
        os.kill(child, signal.SIGKILL)
        died += os.WIFSIGNALED(os.waitpid(child, 0)[1])
    sys.stdout.write(f"{died}\n")


if __name__ == "__main__":
    {"run": run, "kill": kill}[sys.argv[1]](*sys.argv[2:])
