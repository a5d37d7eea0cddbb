"""Makes small graphs with the real writers, against an embedded Neo4j and a model that says what we wrote down, and dumps them.

python tests/writers/run.py [--folder out/writers] [--only NAME,...] [--dumps tests/writers/dumps]

Every package is installed in an environment of its own, in the version that is pinned here. The model is kgeval's fake one, a real HTTP
server. A writer that cannot be installed or run is told with its own words, and the others go on. Dumps that come out other than the
ones that are there are named: `git diff` shows what a new version of a package does differently.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from apoc_server import APOC, server_with_apoc
from dump import Run, dump
from replies import reply

from kgeval.llm.fake import FakeServer

HERE = Path(__file__).parent
UV = Path(sys.executable).with_name("uv")
SIZE = 8
LIMIT = 600


@dataclass(frozen=True)
class Writer:
    """One dump. `packages`: the first is the writer. `folder`: the script wants a working folder as its argument."""

    name: str
    script: str
    packages: tuple[str, ...]
    settings: str
    argument: str = ""
    folder: bool = False

    @property
    def environment(self) -> str:
        return self.packages[0].split("==")[0].split("[")[0]


GRAPHRAG = ("neo4j-graphrag[openai]==1.22.0", "neo4j==6.4.1")
LANGCHAIN = ("langchain-neo4j==0.11.0", "langchain-openai==1.7.3", "langchain-core==1.7.2", "json-repair==0.64.6", "neo4j==6.4.1")
LLAMA = (
    "llama-index-graph-stores-neo4j==0.8.0", "llama-index-core==0.14.25", "llama-index-llms-openai-like==0.8.1",
    "llama-index-embeddings-openai-like==0.4.0", "neo4j==5.28.8",
)
WRITERS = (
    Writer("neo4j-graphrag", "write_neo4j_graphrag.py", GRAPHRAG, "SimpleKGPipeline, schema FREE, entity resolution on", "resolved"),
    Writer(
        "neo4j-graphrag-unresolved", "write_neo4j_graphrag.py", GRAPHRAG, "SimpleKGPipeline, schema FREE, entity resolution off",
        "unresolved",
    ),
    Writer("langchain", "write_langchain.py", LANGCHAIN, "LLMGraphTransformer; baseEntityLabel=True, include_source=True", "base"),
    Writer("langchain-sources", "write_langchain.py", LANGCHAIN, "LLMGraphTransformer; include_source=True", "sources"),
    Writer("langchain-plain", "write_langchain.py", LANGCHAIN, "LLMGraphTransformer; add_graph_documents as it is by default", "plain"),
    Writer("llamaindex", "write_llamaindex.py", LLAMA, "PropertyGraphIndex; DynamicLLMPathExtractor, ImplicitPathExtractor", "dynamic"),
    Writer(
        "llamaindex-simple", "write_llamaindex.py", LLAMA, "PropertyGraphIndex; SimpleLLMPathExtractor, ImplicitPathExtractor", "simple",
    ),
    Writer(
        "lightrag", "write_lightrag.py", ("lightrag-hku==1.5.7", "openai==2.54.0", "neo4j==6.4.1"), "Neo4JStorage, workspace base",
        folder=True,
    ),
    Writer("nano-graphrag", "write_nano_graphrag.py", ("nano-graphrag==0.0.8.2", "neo4j==6.4.1"), "Neo4jStorage", folder=True),
    # graphiti-core uses httpx without requiring it; openai 3 does not bring it any more
    Writer(
        "graphiti", "write_graphiti.py", ("graphiti-core==0.31.1", "openai==2.54.0", "neo4j==6.4.1"),
        "an episode a document, six entity types, one group",
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("out/writers"))
    parser.add_argument("--dumps", type=Path, default=HERE / "dumps")
    parser.add_argument("--only", default=",".join(writer.name for writer in WRITERS))
    given = parser.parse_args()
    folder, failed = given.folder.resolve(), []
    folder.mkdir(parents=True, exist_ok=True)
    given.dumps.mkdir(parents=True, exist_ok=True)
    known = {writer.name: writer for writer in WRITERS}
    if unknown := set(given.only.split(",")) - set(known):
        raise SystemExit(f"no such writer: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    with server_with_apoc(folder) as address:
        for name in given.only.split(","):
            try:
                print(one(known[name], folder, given.dumps, address), flush=True)
            except RuntimeError as cause:
                failed.append(name)
                print(f"{name}: failed: {cause}", flush=True)
    print(f"{len(failed)} failed" if failed else "all written")
    sys.exit(1 if failed else 0)


def one(writer: Writer, folder: Path, dumps: Path, address: Any) -> str:
    """Installs, writes, dumps; what came of it, in words. Raises: RuntimeError with the last words of what failed."""
    import neo4j

    python = installed(writer, folder / "environments")
    file = dumps / f"{writer.name}.jsonl"
    before = file.read_text(encoding="utf-8") if file.exists() else None
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password), notifications_min_severity="OFF") as driver:
        empty(driver)
        start = time.time()
        requests = write(writer, python, folder / "work" / writer.name, address)
        server = driver.execute_query("CALL dbms.components() YIELD versions RETURN versions[0] AS version").records[0]["version"]
        head = {
            "writer": writer.name, "package": writer.environment, "version": writer.packages[0].split("==")[1],
            "beside": list(writer.packages[1:]), "settings": writer.settings, "neo4j": server, "apoc": APOC,
        }
        dump(driver, Run(start, time.time()), head, file)
    after = file.read_text(encoding="utf-8")
    state = "new" if before is None else "the same as before" if before == after else "OTHER than before"
    return f"{writer.name}: {after.count(chr(10))} lines, {requests} requests, {time.time() - start:.0f} s, {state}"


def write(writer: Writer, python: Path, work: Path, address: Any) -> int:
    """Lets the writer write; how many requests it made to the model. What it said is kept in its working folder."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    argument = str(work) if writer.folder else writer.argument
    words = [str(python), str(HERE / writer.script), *([argument] if argument else [])]
    with FakeServer(reply, dimensions=SIZE) as model:
        reach = {
            "WRITERS_URI": address.uri, "WRITERS_PASSWORD": address.password, "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_BASE": model.base_url, "OPENAI_API_KEY": "none",
        }
        (work / "said.txt").write_text(called(words, {**settings(), **reach}, cwd=work), encoding="utf-8")
        return model.stats().requests


def settings() -> dict[str, str]:
    """Few variables, so that nothing of the user's reaches the packages; no telemetry."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    fixed = {"GRAPHITI_TELEMETRY_ENABLED": "false", "EMBEDDING_DIM": str(SIZE), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**kept, **fixed}


def installed(writer: Writer, folder: Path) -> Path:
    """The Python of the writer's environment, which is made if it is not there."""
    place = folder / writer.environment
    done = place / "packages.txt"
    if not done.exists() or done.read_text(encoding="utf-8") != "\n".join(writer.packages):
        shutil.rmtree(place, ignore_errors=True)
        called([str(UV), "venv", "--quiet", "--python", sys.executable, str(place)], dict(os.environ))
        called([str(UV), "pip", "install", "--quiet", "--python", str(place / "bin" / "python"), *writer.packages], dict(os.environ))
        done.write_text("\n".join(writer.packages), encoding="utf-8")
    return place / "bin" / "python"


def called(words: list[str], environ: dict[str, str], cwd: Path | None = None) -> str:
    """What a command said. Raises: RuntimeError with its last words."""
    try:
        done = subprocess.run(words, env=environ, cwd=cwd, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired as cause:
        raise RuntimeError(f"{Path(words[0]).name}: not done after {LIMIT} s") from cause
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(Path(word).name for word in words[:3])}: exit code {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout + done.stderr


def empty(driver: Any) -> None:
    """No nodes, no constraints, no indexes."""
    driver.execute_query("MATCH (n) DETACH DELETE n")
    for kind in ("CONSTRAINT", "INDEX"):
        for row in driver.execute_query(f"SHOW {kind} YIELD name, type WHERE type <> 'LOOKUP' RETURN name").records:
            driver.execute_query(f"DROP {kind} `{row['name']}` IF EXISTS")


if __name__ == "__main__":
    main()
