"""The guide of 15 minutes: every line of code in docs/quick-comparison.md is carried out, in its order, as it stands there.

Left out: installing (test_wheel.py does it), and stopping the server, which is the suite's. The fake model's port is a free one; embeddings
come from the fake model too, and `kgeval run` goes as far as the comparison, so that no other model is loaded.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.llm.fake import FakeServer
from kgeval.records import ComparisonReport

PAGE = (Path(__file__).parents[2] / "docs" / "quick-comparison.md").read_text(encoding="utf-8")
FENCED = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)
NOT_HERE = ("cd kgeval", "python3 -m venv", "pip install", "python -m kgeval.llm.fake", "kgeval server stop")
LINES = [line for kind, body in FENCED if kind == "bash" for line in body.splitlines() if not line.startswith(NOT_HERE)]
DEPTH = 2  # questions of each depth instead of 20, so that the test is quick

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]  # the fixture is all of the guide, and kgeval run starts processes of its own


@pytest.fixture(scope="module")
def folder(address: Address, connection: Graph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that a reader of the guide ends in, after `kgeval run`; every command has given 0."""
    connection.write("MATCH (n) CALL (n) { DETACH DELETE n }")
    home = tmp_path_factory.mktemp("guide")
    with pytest.MonkeyPatch.context() as patch, FakeServer() as server:
        set_up(patch, address, server.base_url, home)
        for line in LINES:
            carry_out(line, patch, server.base_url)
        yield home / "first-comparison"


def set_up(patch: pytest.MonkeyPatch, address: Address, base_url: str, home: Path) -> None:
    patch.chdir(home)
    names = {
        "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password,
        "XDG_CACHE_HOME": str(home / "cache"),
        "KGEVAL_ANSWER_EMBEDDING_URL": base_url, "KGEVAL_ANSWER_EMBEDDING_MODEL": "fake",
        "KGEVAL_QUESTIONS_GENERATE_NO_EMBEDDING": "1", "KGEVAL_RUN_STAGE": "compare", "KGEVAL_RUN_QUIET": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for name, value in names.items():
        patch.setenv(name, value)
    patch.delenv("OPENAI_API_KEY", raising=False)


def carry_out(line: str, patch: pytest.MonkeyPatch, base_url: str) -> None:
    """One line of the guide: kgeval's in this process, the others in a shell; `export` and `cd` change this process."""
    words = [os.path.expandvars(word) for word in shlex.split(line, comments=True)]
    if line.startswith("kgeval "):
        if words[1] == "run":
            config = next(body for kind, body in FENCED if kind == "toml").replace("hops=20", f"hops={DEPTH}")
            Path("kgeval.toml").write_text(config, encoding="utf-8")
        given = [word.replace("hops=20", f"hops={DEPTH}") for word in words[1:]]
        assert run(given) == 0, line
    elif line.startswith("export "):
        for word in words[1:]:
            name, _, value = word.partition("=")
            patch.setenv(name, base_url if "127.0.0.1" in value else value)
    else:
        subprocess.run(["bash", "-ec", line], check=True)
        if found := re.search(r"\bcd (\S+)$", line):
            patch.chdir(found[1])


def test_the_guide_has_lines_to_carry_out_and_nothing_else_is_left_out() -> None:
    assert [line for line in LINES if line.startswith("kgeval compare")] and [line for line in LINES if line.startswith("kgeval run")]
    left = [line for kind, body in FENCED if kind in ("sh", "bash") for line in body.splitlines() if line not in LINES]
    assert all(line.startswith(NOT_HERE) for line in left)


@pytest.mark.long
def test_the_comparison_is_there_with_every_question_scored(folder: Path) -> None:
    report = ComparisonReport.model_validate_json((folder / "comparison.json").read_text(encoding="utf-8"))
    whole = next(pair for pair in report.pairs if pair.aspect == "overall" and pair.by == "all")
    assert {whole.system_a, whole.system_b} == {"vector", "graph"}
    assert whole.n_scored == whole.n == 3 * DEPTH
    assert (folder / "comparison.html").is_file()


def test_the_same_as_one_command_comes_to_a_comparison(folder: Path) -> None:
    ledger = json.loads((folder / "out" / "run" / "run.json").read_text(encoding="utf-8"))
    assert {stage["id"]: stage["state"] for stage in ledger["stages"]} == dict.fromkeys(("questions", "answers", "compare"), "done")
    assert (folder / "out" / "run" / "compare.html").is_file()
