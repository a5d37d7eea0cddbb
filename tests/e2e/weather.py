"""Commands while connections to a healthy server break: what comes out is what comes out in good weather, or it is said what has no answer.

    python tests/e2e/weather.py [--moments 200] [--seed 0] [--home FOLDER]

Loads the sample graph into an embedded server of its own, runs each command undisturbed through a proxy (../bolt_proxy.py), and then with
one fault at a moment drawn at random: the connection is reset, an answer is cut in half, a message is swallowed or comes a second late, the
server is away for two seconds. Prints each run that differs; exit code 1 where one differs without saying so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[1]))
from bolt_proxy import BoltProxy, Fault, Weather

from kgeval.graph.server import ensure_started, stop

SAMPLE = Path(__file__).parents[2] / "kgeval" / "sample"
FAULTS: tuple[Fault, ...] = ("drop", "truncate", "swallow", "delay", "restart")
SECONDS = {"delay": 1.0, "restart": 2.0}
TIMEOUT = "20"


@dataclass(frozen=True)
class Command:
    """One command: its arguments with {out} for what it writes, and what of that is to be the same."""

    arguments: tuple[str, ...]
    result: Callable[[Path], Any]


def audited(path: Path) -> Any:
    """What an audit found, without times."""
    report = json.loads(path.read_text(encoding="utf-8"))
    findings = [(one["rule_id"], one["status"], one["count"], one["total"]) for one in report["findings"]]
    structure = json.loads(json.dumps(report["structure"]), parse_float=lambda text: f"{float(text):.10g}")  # GDS adds in threads
    return {"findings": findings, "structure": structure, "skipped": report["structure_skipped"]}


def lines(path: Path) -> Any:
    """The rows of a file, without times."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{key: value for key, value in row.items() if key not in ("seconds", "stages", "created", "latency_s")} for row in rows]


def completeness(path: Path) -> Any:
    """The figures of a completeness report."""
    report = json.loads(path.read_text(encoding="utf-8"))
    return {key: value for key, value in report.items() if key not in ("run", "manifest", "created")}


def commands(folder: Path) -> dict[str, Command]:
    """What is run, by name. None asks a model."""
    gold, questions = folder / "gold.csv", folder / "questions.jsonl"
    gold.write_text("name,type\n" + "".join(f"Name {at},Person\n" for at in range(50)), encoding="utf-8")
    graph = ("--graph", "sample")
    generate = ("questions", "generate", *graph, "--kind", "hops=10,negative=4", "--template", "--seed", "3", "-o")
    subprocess.run([sys.executable, "-m", "kgeval", *generate, str(questions)], check=True, capture_output=True)
    answer = ("answer", str(questions), *graph, "--system", "graph", "--extractive", "-o", "{out}.jsonl")
    return {
        "audit": Command(("audit", *graph, "--timeout", TIMEOUT, "-o", "{out}.json"), audited),
        "completeness": Command(("completeness", *graph, "--gold", str(gold), "--timeout", TIMEOUT, "-o", "{out}.json"), completeness),
        "questions generate": Command((*generate, "{out}.jsonl"), lines),
        "answer": Command(answer, lines),
    }


@dataclass(frozen=True)
class Ran:
    """What came of one run."""

    code: int
    result: Any
    words: str
    trips: int
    met: int
    seconds: float


def run(port: int, password: str, command: Command, out: Path, weather: Weather | None) -> Ran:
    """One run of a command through a proxy with this weather."""
    with BoltProxy("127.0.0.1", port) as proxy:
        proxy.expect(weather)
        where = {**os.environ, "NEO4J_URI": proxy.uri, "NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD": password}
        begun = time.perf_counter()
        asked = [part.replace("{out}", str(out)) for part in command.arguments]
        done = subprocess.run([sys.executable, "-m", "kgeval", *asked], env=where, capture_output=True, text=True, check=False)
        written = next((path for path in (out.with_suffix(".json"), out.with_suffix(".jsonl")) if path.exists()), None)
        result = command.result(written) if written is not None else None
        return Ran(done.returncode, result, done.stderr, proxy.trips, proxy.hurt, time.perf_counter() - begun)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("moments", 200), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--home", type=Path, help="folder of the server; its graph `sample` is replaced")
    chosen = parser.parse_args()
    draw = random.Random(chosen.seed)
    tally: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="kgeval-weather-") as name:
        folder = Path(name)
        home = (chosen.home or folder / "home").resolve()
        address = ensure_started(home=home, say=lambda _: None)
        os.environ |= {"NEO4J_URI": address.uri, "NEO4J_USERNAME": "neo4j", "NEO4J_PASSWORD": address.password}
        try:
            load = ["import", "--replace", "--graph", "sample", str(SAMPLE / "graph.json")]
            subprocess.run([sys.executable, "-m", "kgeval", *load], check=True, capture_output=True)
            port = urlsplit(address.uri).port or 0
            known = {}
            for kind, command in commands(folder).items():
                known[kind] = command, run(port, address.password, command, folder / f"calm-{kind.replace(' ', '-')}", None)
                print(f"{kind}: {known[kind][1].trips} round trips, exit {known[kind][1].code}", flush=True)
            for moment in range(chosen.moments):
                kind = list(known)[moment % len(known)]
                command, calm = known[kind]
                fault = FAULTS[moment // len(known) % len(FAULTS)]
                weather = Weather(fault, draw.randint(1, calm.trips), seconds=SECONDS.get(fault, 0.0))
                ran = run(port, address.password, command, folder / f"run-{moment}", weather)
                if ran.code == calm.code and ran.result == calm.result:
                    verdict = "the same"
                else:
                    verdict = "says what has no answer" if ran.code == 3 or (ran.code == 2 and ran.result is None) else "DIFFERS"
                    where = f"{kind}, {fault} at {weather.at} of {calm.trips}"
                    print(f"{where}: exit {ran.code}, {ran.seconds:.1f} s: {verdict}\n  {ran.words[-400:]}", flush=True)
                tally[f"{kind}: {verdict} (exit {ran.code})"] += 1
        finally:
            stop(home)
    for what, count in sorted(tally.items()):
        print(f"{count:5} {what}")
    return int(any("DIFFERS" in what for what in tally))


if __name__ == "__main__":
    raise SystemExit(main())
