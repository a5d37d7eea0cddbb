"""`kgeval.score` with a judge over HTTP: from a script, a running event loop, threads; dry run, journal, budget, interrupts."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import kgeval
from kgeval.llm.fake import FakeServer
from kgeval.llm.plan import Plan


def answers(count: int = 6) -> list[dict[str, Any]]:
    return [
        {"question_id": f"q{n}", "question": f"Question {n}?", "answer": f"Answer {n}.", "contexts": [f"Context {n}."]}
        for n in range(count)
    ]


def scored(server: FakeServer, folder: Path, rows: Any = None, **options: Any) -> Any:
    return kgeval.score(
        answers() if rows is None else rows, metrics="faithfulness", judge="judge-1", base_url=server.base_url, config=False,
        journal=folder / "j.sqlite", **options,
    )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.chdir(tmp_path)


def test_a_dry_run_counts_the_calls_and_a_second_run_makes_none(tmp_path: Path) -> None:
    with FakeServer() as server:
        plan = scored(server, tmp_path, dry_run=True)
        assert isinstance(plan, Plan) and server.stats().requests == 0
        first = scored(server, tmp_path)
        asked = server.stats().requests
        assert plan.calls[0] <= asked <= plan.calls[1] and len(list(first.verdicts)) > 0
        again = scored(server, tmp_path, iter(answers()))
        assert server.stats().requests == asked
    assert list(again.scores) == list(first.scores) and first.report.run.arguments["model"] == "judge-1"


def test_inside_a_running_event_loop_and_from_threads(tmp_path: Path) -> None:
    async def cell(server: FakeServer) -> Any:
        return scored(server, tmp_path)

    with FakeServer() as server:
        one = asyncio.run(cell(server))
        with ThreadPoolExecutor(2) as pool:
            others = list(pool.map(lambda _: scored(server, tmp_path), range(2)))
    assert all(list(other.scores) == list(one.scores) for other in others)


def test_a_budget_ends_early_and_raises_nothing(tmp_path: Path) -> None:
    with FakeServer() as server:
        result = scored(server, tmp_path, max_calls=3, max_concurrency=1)
    assert result.exit_code == 3 and "goes on" in result.messages[0]


def test_two_tasks_over_one_session_have_budgets_of_their_own(tmp_path: Path) -> None:
    with FakeServer() as server, kgeval.connect(config=False) as session:
        options: dict[str, Any] = {"metrics": "faithfulness", "judge": "j", "base_url": server.base_url, "journal": tmp_path / "j.sqlite"}
        first = kgeval.score(answers(2), connection=session, max_calls=4, **options)
        second = kgeval.score(answers(4)[2:], connection=session, max_calls=4, **options)
    assert (first.exit_code, second.exit_code) == (0, 0)


def test_vectors_are_kept_between_calls_and_the_tasks_of_a_session_share_what_embeds(tmp_path: Path) -> None:
    rows = [row | {"reference": f"Reference {n}."} for n, row in enumerate(answers())]
    own = {"metrics": "semantic_similarity", "config": False}
    with FakeServer() as server:
        where = {"embedding_url": server.base_url, "embedding_model": "e", "cache_dir": tmp_path / "cache"}

        def asked() -> int:
            return sum("embeddings" in entry.path for entry in server.requests)

        first = kgeval.score(rows, **own, **where)
        once = asked()
        assert once and kgeval.score(rows, **own, **where).to_pandas().equals(first.to_pandas())
        assert asked() == once
        with kgeval.connect(config=False, **where | {"cache_dir": tmp_path / "other"}) as session:
            for _ in range(2):
                kgeval.score(rows, connection=session, metrics="semantic_similarity")
                assert asked() == 2 * once
            assert session.task("a").embedder is session.task("b").embedder is session.embedder


@pytest.mark.parametrize("url", ["http://user:SECRET@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?api_key=SECRET"])
def test_an_address_with_a_secret_is_not_written_down(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    rows = [row | {"reference": "x"} for row in answers()]
    for more in ({}, {"base_url": url}, {"embedding_url": url}):
        result = kgeval.score(rows, metrics="token_f1", config=False, **more)
        assert "SECRET" not in result.rendered("json") and result.report.run.arguments["base_url"]
