"""The tutorials: each is carried out from its first line to its last in an empty folder, as it stands, and prints what it says.

A block `bash` is carried out line by line; a line that ends in `# exit code N` must give N, all others 0. A block with a title is
that file, with the address of the test's fake model. A block `text` shows some of what the commands of the `bash` block before it
print: each of its lines must be found there (spaces aside; `...` where it is cut). Blocks `sh` are left out: installing (test_wheel.py
does it), and the fake model's server, which is one of the test. KGEVAL_RENEW_GOLDENS=1 puts the nearest printed line in the place of
one that is not found; then read the diff.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

import pytest

from kgeval.cli.main import run
from kgeval.graph.connect import Address, Graph
from kgeval.llm.fake import FakeServer

PAGES = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
LEFT_OUT = (
    "python3 -m venv .venv && . .venv/bin/activate && pip install ", ". ../.venv/bin/activate && python -m kgeval.llm.fake --port 8001",
)
FAKE = "http://127.0.0.1:8001/v1"
MOST_LINES = 100

# each is all of its page, with processes of its own
pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture
def base_url(address: Address, connection: Graph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A new folder to be in, an empty database, no journal, no key: the fake model's address."""
    connection.write("MATCH (n) CALL (n) { DETACH DELETE n }")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    names = {
        "NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username, "NEO4J_PASSWORD": address.password,
        "COLUMNS": "100",  # workers of the suite have 80
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for name, value in names.items():
        monkeypatch.setenv(name, value)
    with FakeServer() as server:
        yield server.base_url


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_does_what_it_says(
    page: Path, base_url: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:
    text = page.read_text(encoding="utf-8")
    for _, title, body in BLOCK.findall(text):
        if title:
            Path(title).write_text(body.replace(FAKE, base_url), encoding="utf-8")
    printed, missing = "", []
    for kind, _, body in BLOCK.findall(text):
        if kind == "bash":
            printed = ""
            for line in body.splitlines():
                wanted = re.search(r"  # exit code (\d)$", line)
                assert carry_out(line, monkeypatch, base_url) == int(wanted[1] if wanted else 0), line
                printed += "\n".join(capfd.readouterr())
        elif kind == "text":
            lines = [spaced(line) for line in printed.splitlines()]
            missing += [(line, lines) for line in body.splitlines() if not any(spaced(line.strip(". ")) in one for one in lines)]
    if missing and os.environ.get("KGEVAL_RENEW_GOLDENS"):
        for line, lines in missing:
            text = text.replace(line, get_close_matches(spaced(line), lines, n=1, cutoff=0)[0])
        page.write_text(text, encoding="utf-8")
    assert [line for line, _ in missing] == [], "\n".join(line for _, lines in missing for line in lines)


def carry_out(line: str, monkeypatch: pytest.MonkeyPatch, base_url: str) -> int:
    """The exit code of one line: kgeval's in this process, `export` changes its environment, all others go to a shell."""
    words = [os.path.expandvars(word) for word in shlex.split(line, comments=True)]
    if words[0] == "export":
        for word in words[1:]:
            name, _, value = word.partition("=")
            monkeypatch.setenv(name, base_url if value == FAKE else value)
        return 0
    if words[0] == "kgeval" and "&&" not in words:
        return run(words[1:])
    return subprocess.run(["bash", "-ec", line], check=False).returncode


def spaced(line: str) -> str:
    return " ".join(line.split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_is_short_and_leaves_nothing_else_out(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(text.splitlines()) <= MOST_LINES
    assert {kind for kind, title, _ in blocks if not title} <= {"bash", "sh", "text", "json", "yaml"}
    assert all(line.startswith(LEFT_OUT) for kind, _, body in blocks if kind == "sh" for line in body.splitlines())
    assert sum(kind == "text" for kind, _, _ in blocks) >= 2
    for kind, _, body in blocks:  # what a CI job runs is a line that is carried out above
        if kind == "yaml":
            step = body.removeprefix("- run: ").strip()
            assert any(step in block for other, _, block in blocks if other == "bash"), step


def test_there_are_three() -> None:
    assert [page.stem for page in PAGES] == ["are-my-answers-any-good", "audit-fix-gate", "which-system-is-better"]
