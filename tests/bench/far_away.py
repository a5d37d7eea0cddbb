"""What commands cost on a server that is far away: round trips, and seconds at several distances. Not a test.

    python tests/bench/far_away.py [--round-trips 0,0.05,0.2] [--repeats 1] [--home FOLDER]

Loads the sample graph into an embedded server of its own and runs each command through a proxy that counts messages and holds each back
(../bolt_proxy.py). A round trip is what the client sends before anything comes back, over all connections, those that open one included.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))
from bolt_proxy import BoltProxy

from kgeval.graph.server import ensure_started, stop

SAMPLE = Path(__file__).parents[2] / "kgeval" / "sample"


def commands(folder: Path) -> dict[str, list[str]]:
    """What is run, by name. None asks a model."""
    gold, questions = folder / "gold.csv", folder / "questions.jsonl"
    gold.write_text("name,type\n" + "".join(f"Name {at},Person\n" for at in range(300)), encoding="utf-8")
    return {
        "audit": ["audit", "--graph", "sample", "-o", str(folder / "page.html")],
        "completeness": ["completeness", "--graph", "sample", "--gold", str(gold)],
        "questions generate": [
            "questions", "generate", "--graph", "sample", "--kind", "hops=20,negative=10", "--template", "--seed", "3",
            "-o", str(questions),
        ],
        "questions check": ["questions", "check", str(questions), "--graph", "sample", "--no-model"],
        "accuracy": ["accuracy", "--graph", "sample", "--n", "50", "--sheet", str(folder / "sheet.csv")],
    }


def run(port: int, password: str, command: list[str], round_trip: float) -> tuple[float, int]:
    """Seconds and round trips of one run. Raises: SystemExit where it fails."""
    with BoltProxy("127.0.0.1", port, round_trip=round_trip) as proxy:
        where = {**os.environ, "NEO4J_URI": proxy.uri, "NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD": password}
        for part in command:
            if part.endswith("sheet.csv"):  # it may hold labels, and is never replaced
                Path(part).unlink(missing_ok=True)
        begun = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "kgeval", *command], env=where, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begun
        if done.returncode:
            raise SystemExit(f"{' '.join(command)}: {done.stderr[-2000:]}")
        return seconds, proxy.trips


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--round-trips", default="0,0.05,0.2", help="seconds that one takes")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--home", type=Path, help="folder of the server; its graph `sample` is replaced")
    chosen = parser.parse_args()
    distances = [float(one) for one in chosen.round_trips.split(",")]
    with tempfile.TemporaryDirectory(prefix="kgeval-bench-") as folder:
        home = (chosen.home or Path(folder) / "home").resolve()
        address = ensure_started(home=home, say=lambda _: None)
        try:
            load = ["import", "--home", str(home), "--replace", "--graph", "sample", str(SAMPLE / "graph.json")]
            subprocess.run([sys.executable, "-m", "kgeval", *load], check=True, capture_output=True)
            port = urlsplit(address.uri).port or 0
            print(f"{'':<20}{'round trips':>12}" + "".join(f"{f'{1000 * one:g} ms':>12}" for one in distances))
            for name, command in commands(Path(folder)).items():
                run(port, address.password, command, 0.0)  # the server plans what it has not seen
                runs = [[run(port, address.password, command, one) for _ in range(chosen.repeats)] for one in distances]
                trips = {trips for several in runs for _, trips in several}
                shown = str(*trips) if len(trips) == 1 else f"{min(trips)} to {max(trips)}"
                medians = [statistics.median(seconds for seconds, _ in several) for several in runs]
                print(f"{name:<20}{shown:>12}" + "".join(f"{one:>10.1f} s" for one in medians), flush=True)
        finally:
            stop(home)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
