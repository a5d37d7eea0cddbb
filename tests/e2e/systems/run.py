"""End to end with the real packages: install, index three tiny documents, answer two questions in every mode, against the fake model.

python tests/e2e/systems/run.py [--folder out/e2e-systems] [--only NAME,...]

Each adapter goes through kgeval's own commands: `kgeval system install` (unless it is installed), `kgeval system index`, `kgeval answer`.
Checked: every answer is right (the fake model answers only from what the prompt shows), the calls and tokens are those that the fake
server counted, contexts are told with their document, and the endpoint's key is nowhere on the disk. neo4j-graphrag gets an embedded
Neo4j. An adapter that cannot be installed is reported with the installer's words, and the run goes on. The figures go to results.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from scripted import DOCUMENTS, QUESTIONS, reply

from kgeval.llm.fake import FakeServer

KGEVAL = str(Path(sys.executable).with_name("kgeval"))
KEY = "sk-the-real-key-of-the-endpoint"
LIGHTEST_FIRST = ("lightrag", "nano-graphrag", "neo4j-graphrag", "fast-graphrag", "graphrag", "hipporag")
# modes that bring only reports or reasoning to the model: no context names a document there
WITHOUT_DOCUMENTS = {("nano-graphrag", "global"), ("graphrag", "global"), ("graphrag", "drift"), ("neo4j-graphrag", "text2cypher")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("out/e2e-systems"))
    parser.add_argument("--only", default=",".join(LIGHTEST_FIRST))
    given = parser.parse_args()
    folder: Path = given.folder.resolve()
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    write_inputs(run)
    os.environ.setdefault("KGEVAL_SYSTEMS_DIR", str(folder / "environments"))
    results, wrong = [], 0
    for name in given.only.split(","):
        result = one(name, run)
        wrong += "error" in result
        results.append(result)
        print(json.dumps(result), flush=True)
        (run / "results.json").write_text(json.dumps(results, indent=2), encoding="utf-8")
    print(f"{len(results) - wrong} passed, {wrong} failed")
    sys.exit(1 if wrong else 0)


def write_inputs(run: Path) -> None:
    (run / "documents").mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (run / "documents" / name).write_text(text, encoding="utf-8")
    rows = [{"id": f"q{at}", "question": question, "reference": answer} for at, (question, (_, answer)) in enumerate(QUESTIONS.items())]
    (run / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def one(name: str, run: Path) -> dict[str, Any]:
    """The figures of one adapter, or its error."""
    result: dict[str, Any] = {"adapter": name}
    try:
        result |= installed(name)
        with FakeServer(reply, key=KEY) as server, database(name, run) as neo4j:
            environ = {**os.environ, **neo4j, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY, **vocabularies(run)}
            result |= indexed(name, run, environ, server)
            state = next(one for one in listed() if one["name"] == name)
            result["modes"] = {mode: answered(name, mode, run, environ, server) for mode in state["modes"]}
        check_no_key(run / name)
    except (RuntimeError, AssertionError) as cause:
        result["error"] = str(cause)[-2000:]
    return result


def installed(name: str) -> dict[str, Any]:
    state = next(one for one in listed() if one["name"] == name)["installed"]
    if state is None:
        kgeval(["system", "install", name], dict(os.environ), 3600)
        state = next(one for one in listed() if one["name"] == name)["installed"]
    return {"version": state["version"], "install_s": state["seconds"], "by": state["by"], "mb": round(state["bytes"] / 2**20)}


def listed() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(kgeval(["system", "list", "-f", "json"], dict(os.environ), 60))
    return rows


def indexed(name: str, run: Path, environ: dict[str, str], server: FakeServer) -> dict[str, Any]:
    kgeval([
        "system", "index", name, "--documents", str(run / "documents"), "--folder", str(run / name), "--model", "fake-model",
        "--embedding-model", "fake-embedding", "-o", str(run / f"{name}.index.json"),
    ], environ, 900)
    record = json.loads((run / f"{name}.index.json").read_text(encoding="utf-8"))
    chats = server.stats().by_path.get("/v1/chat/completions", 0)
    assert record["calls"] == chats, f"{name}: {record['calls']} calls in the index record, {chats} at the server"
    asked = [entry.body for entry in server.requests if entry.path == "/v1/chat/completions"]
    assert record["input_tokens"] == sum(tokens(body) for body in asked), f"{name}: tokens differ from the server's"
    assert record["entities"] and record["relations"], f"{name}: nothing was found"
    return {"index_s": record["seconds"], **{key: record[key] for key in ("calls", "input_tokens", "entities", "relations")}}


def tokens(body: Any) -> int:
    """What the fake server says that a request took."""
    from kgeval.llm.fake import Chat

    return len(Chat(body).text) // 4 + 1


def answered(name: str, mode: str, run: Path, environ: dict[str, str], server: FakeServer) -> dict[str, Any]:
    server.reset()
    out = run / f"{name}.{mode}.jsonl"
    started = time.perf_counter()
    spec = name if mode == "graph" else f"{name}:{mode}"
    kgeval([
        "answer", str(run / "questions.jsonl"), "--system", spec, "--folder", str(run / name), "--question-timeout", "240", "-o", str(out),
    ], environ, 600)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if "question_id" in row]
    assert len(rows) == len(QUESTIONS), f"{name}:{mode}: {len(rows)} answers"
    for row, (_, right) in zip(rows, QUESTIONS.values(), strict=True):
        assert not row.get("error"), f"{name}:{mode}: {row['error']}"
        assert right in row["answer"], f"{name}:{mode}: {row['answer']!r} is not {right}"
        assert row["contexts"], f"{name}:{mode}: no contexts"
        told = {passage.get("document") for passage in row["contexts"]} - {None}
        assert told or (name, mode) in WITHOUT_DOCUMENTS, f"{name}:{mode}: no context names its document"
        assert told <= set(DOCUMENTS), f"{name}:{mode}: documents {told}"
    chats = server.stats().by_path.get("/v1/chat/completions", 0)
    assert sum(row["calls"] for row in rows) == chats, f"{name}:{mode}: calls differ from the server's {chats}"
    return {
        "s": round(time.perf_counter() - started, 1), "latency_s": [round(row["latency_s"], 3) for row in rows],
        "calls": [row["calls"] for row in rows], "contexts": [len(row["contexts"]) for row in rows],
    }


def kgeval(words: list[str], environ: dict[str, str], seconds: float) -> str:
    """What a command printed. Raises: RuntimeError with what it said where it failed."""
    done = subprocess.run([KGEVAL, *words], env=environ, capture_output=True, text=True, timeout=seconds, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"kgeval {' '.join(words[:3])}: exit code {done.returncode}: {done.stderr.strip()[-1500:]}")
    return done.stdout


@contextmanager
def database(name: str, run: Path) -> Iterator[dict[str, str]]:
    """An embedded Neo4j for the one adapter that needs a database."""
    if name != "neo4j-graphrag":
        yield {}
        return
    home = run / "neo4j"
    kgeval(["server", "start", "--home", str(home), "--heap", "512m"], dict(os.environ), 300)
    try:
        status = json.loads(kgeval(["server", "status", "--home", str(home), "-f", "json"], dict(os.environ), 60))
        password = Path(status["password_file"]).read_text(encoding="utf-8").strip()
        yield {"NEO4J_URI": status["uri"], "NEO4J_USERNAME": status["username"], "NEO4J_PASSWORD": password}
    finally:
        kgeval(["server", "stop", "--home", str(home)], dict(os.environ), 120)


def vocabularies(run: Path) -> dict[str, str]:
    """Without a network tiktoken cannot load its vocabularies: litellm, which several packages bring, has two of them in its wheel."""
    if "TIKTOKEN_CACHE_DIR" in os.environ:
        return {}
    carried = "*/lib/python*/site-packages/litellm/litellm_core_utils/tokenizers"
    found = sorted(Path(os.environ["KGEVAL_SYSTEMS_DIR"]).glob(carried))
    folder = run / "tiktoken"
    folder.mkdir(exist_ok=True)
    for source in found:
        for file in source.iterdir():
            if len(file.name) == 40 and not (folder / file.name).exists():
                shutil.copy(file, folder / file.name)
    return {"TIKTOKEN_CACHE_DIR": str(folder)} if found else {}


def check_no_key(folder: Path) -> None:
    holds = [str(path) for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert not holds, f"the endpoint's key is in {holds}"


if __name__ == "__main__":
    main()
