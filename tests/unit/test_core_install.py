"""kgeval without its extras, as `pip install kgeval-toolkit` brings it: what works, and the command that adds what does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kgeval.errors import EXTRAS

HIDDEN = [*EXTRAS, "torch", "transformers", "tokenizers", "huggingface_hub"]
ENDPOINT = ["--embedding-url", "http://127.0.0.1:9/v1", "--embedding-model", "m"]
# an address where nothing listens: what lacks an extra says so before it opens a server, and starts none of its own
NOWHERE = ["--graph", "g", "--uri", "bolt://127.0.0.1:1"]
# one process for all commands, each in the folder that it names: it is the starting that takes long
WITHOUT = f"""
import contextlib, io, json, os, sys
sys.modules.update(dict.fromkeys({HIDDEN!r}))
from kgeval.cli.main import run
ended = []
for words in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = run(words)
    ended.append((code, out.getvalue(), err.getvalue()))
json.dump(ended, sys.stdout)
"""
SCORES = ["score", "a.jsonl", "--metrics", "token_f1,rouge_l", "-o", "s.html", "-o", "s.json"]
NEEDS = [
    (["score", "a.jsonl", "--metrics", "semantic_similarity"], "embeddings"),
    (["score", "a.jsonl", "--metrics", "semantic_similarity", *ENDPOINT], "vectors"),
    (["score", "a.jsonl", "--metrics", "token_f1", "--shards", "2", "--executor", "ray", "-o", "s.jsonl"], "ray"),
    (["build", "a.pdf", *NOWHERE, "--extractor", "rules", "--dry-run"], "documents"),
    (["build", "a.docx", *NOWHERE, "--extractor", "rules", "--dry-run"], "documents"),
    (["build", "a.txt", *NOWHERE, "--extractor", "spacy", "--dry-run"], "spacy"),
]
DOCTOR = ["doctor", "--uri", "bolt://127.0.0.1:1"]
Ended = tuple[int, str, str]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("core")
    row = {"id": "a", "question": "Who built it?", "answer": "Ada built it", "reference": "Ada", "contexts": ["Ada built the mill."]}
    (folder / "a.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "q.jsonl").write_text(json.dumps({"id": "a", "question": "Who built it?"}) + "\n")
    (folder / "a.pdf").write_bytes(b"%PDF-1.4\n")
    (folder / "a.docx").write_bytes(b"PK")
    (folder / "a.txt").write_text("Ada built the mill.")
    return folder


@pytest.fixture(scope="module")
def core(folder: Path) -> Callable[[list[str]], Ended]:
    """The exit code and what was said by a command of a process that has none of the extras."""
    commands = [SCORES, *(words for words, _ in NEEDS), DOCTOR]
    env = {**os.environ, "OPENAI_API_KEY": "x", "KGEVAL_CACHE_DIR": str(folder / "cache")}
    script = [sys.executable, "-c", WITHOUT, json.dumps(commands)]
    done = subprocess.run(script, cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    ended = json.loads(done.stdout)
    return lambda words: ended[commands.index(words)]


@pytest.mark.long
def test_scores_and_their_page_need_no_extra(core: Callable[[list[str]], Ended], folder: Path) -> None:
    code, _, said = core(SCORES)
    assert (code, said.count("Traceback")) == (0, 0), said
    assert (folder / "s.html").is_file()


@pytest.mark.parametrize(("words", "extra"), NEEDS)
def test_what_needs_an_extra_says_the_command_that_adds_it(words: list[str], extra: str, core: Callable[[list[str]], Ended]) -> None:
    code, _, said = core(words)
    assert code == 2 and "Traceback" not in said, said
    assert f"pip install 'kgeval-toolkit[{extra}]'" in said


def test_one_command_is_enough_for_vectors_of_an_endpoint(core: Callable[[list[str]], Ended]) -> None:
    assert "; or pip install 'kgeval-toolkit[vectors]' and an endpoint: --embedding-url URL --embedding-model NAME" in core(NEEDS[0][0])[2]


def test_the_doctor_has_a_line_an_extra(core: Callable[[list[str]], Ended]) -> None:
    lines = [line.split()[1] for line in core(DOCTOR)[1].splitlines() if "extra " in line]
    assert sorted(lines) == sorted({extra for extra, _ in EXTRAS.values()})
