"""kgeval without its extras, as `pip install kgeval-toolkit` brings it: what works, and the command that adds what does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgeval.errors import EXTRAS

HIDDEN = [*EXTRAS, "torch", "transformers", "tokenizers", "huggingface_hub"]
ENDPOINT = ["--embedding-url", "http://127.0.0.1:9/v1", "--embedding-model", "m"]
# an address where nothing listens: what lacks an extra says so before it opens a server, and starts none of its own
NOWHERE = ["--graph", "g", "--uri", "bolt://127.0.0.1:1"]
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({HIDDEN!r})); from kgeval.cli.main import run; sys.exit(run(sys.argv[1:]))"


def core(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """`kgeval` in a process that has none of the extras."""
    env = {**os.environ, "OPENAI_API_KEY": "x"}
    return subprocess.run([sys.executable, "-c", WITHOUT, *words], cwd=folder, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    row = {"id": "a", "question": "Who built it?", "answer": "Ada built it", "reference": "Ada", "contexts": ["Ada built the mill."]}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "a", "question": "Who built it?"}) + "\n")
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4\n")
    (tmp_path / "a.docx").write_bytes(b"PK")
    (tmp_path / "a.txt").write_text("Ada built the mill.")
    return tmp_path


@pytest.mark.slow
def test_scores_and_their_page_need_no_extra(folder: Path) -> None:
    done = core(folder, "score", "a.jsonl", "--metrics", "token_f1,rouge_l", "-o", "s.html", "-o", "s.json")
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert (folder / "s.html").is_file()


@pytest.mark.slow
@pytest.mark.parametrize(("words", "extra"), [
    (["score", "a.jsonl", "--metrics", "semantic_similarity"], "embeddings"),
    (["score", "a.jsonl", "--metrics", "semantic_similarity", *ENDPOINT], "vectors"),
    (["score", "a.jsonl", "--metrics", "token_f1", "--shards", "2", "--executor", "ray", "-o", "s.jsonl"], "ray"),
    (["build", "a.pdf", *NOWHERE, "--extractor", "rules", "--dry-run"], "documents"),
    (["build", "a.docx", *NOWHERE, "--extractor", "rules", "--dry-run"], "documents"),
    (["build", "a.txt", *NOWHERE, "--extractor", "spacy", "--dry-run"], "spacy"),
])
def test_what_needs_an_extra_says_the_command_that_adds_it(words: list[str], extra: str, folder: Path) -> None:
    done = core(folder, *words)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert f"pip install 'kgeval-toolkit[{extra}]'" in done.stderr


@pytest.mark.slow
def test_one_command_is_enough_for_vectors_of_an_endpoint(folder: Path) -> None:
    done = core(folder, "score", "a.jsonl", "--metrics", "semantic_similarity")
    assert "; or pip install 'kgeval-toolkit[vectors]' and an endpoint: --embedding-url URL --embedding-model NAME" in done.stderr


@pytest.mark.slow
def test_the_doctor_has_a_line_an_extra(folder: Path) -> None:
    lines = [line.split()[1] for line in core(folder, "doctor", "--uri", "bolt://127.0.0.1:1").stdout.splitlines() if "extra " in line]
    assert sorted(lines) == sorted({extra for extra, _ in EXTRAS.values()})
