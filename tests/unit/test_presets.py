"""`--preset`: the baselines with the figures that the papers print, and what the user sets over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

import kgeval
from kgeval.config.answer import PresetName
from kgeval.errors import UsageError
from kgeval.llm.fake import Chat, FakeServer
from kgeval.systems.builtin import PRESETS, defaults, read_settings

QUESTIONS = [{"id": "q1", "question": "Who built the mill?"}]


def test_a_preset_has_what_its_paper_prints() -> None:
    assert set(PRESETS) == set(get_args(PresetName))
    # GraphRAG-Bench, appendix H.2, "RAG Configuration", and the sentence above it
    xiang = defaults("vector", "xiang")
    assert (xiang.k, xiang.chunk_tokens, xiang.rerank) == (5, 256, "BAAI/bge-reranker-large")
    assert (PRESETS["xiang"].embedding, PRESETS["xiang"].temperature) == ("BAAI/bge-large-en-v1.5", 0.7)
    assert xiang.l_max == xiang.k * xiang.chunk_tokens == defaults("graph", "xiang").l_max, "five whole pieces, and the graph no more"
    # Kasiak 3.4 and 3.3.2: the models, one hop, a relation is a sentence
    kasiak = defaults("graph", "kasiak")
    assert (kasiak.rerank, kasiak.hops, kasiak.describe) == ("cross-encoder/ms-marco-MiniLM-L-6-v2", 1, False)
    assert PRESETS["kasiak"].embedding.endswith("all-MiniLM-L6-v2")


def test_a_setting_wins_over_the_preset_and_both_are_in_name_and_signature() -> None:
    printed = defaults("vector", "xiang")
    changed = read_settings("vector", {"k": 8}, base=printed)
    assert (changed.k, changed.chunk_tokens, changed.name) == (8, 256, "vector@preset=xiang,k=8")
    assert printed.name == "vector@preset=xiang" and printed.signature.endswith("|preset=xiang")
    plain = defaults("vector")
    assert "preset" not in plain.signature and "chunk_tokens" not in plain.signature  # such answers are found again
    assert plain.variant is None


def reply(chat: Chat) -> Any:
    return {"answer": "Ada did."}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def asked(server: FakeServer) -> list[tuple[str, Any]]:
    return [(request.body["model"], request.body.get("temperature")) for request in server.requests]


@pytest.mark.slow
def test_the_reader_is_the_papers_with_its_temperature_unless_another_is_named() -> None:
    with FakeServer(reply) as server:
        usual: dict[str, Any] = {"system": "closed-book", "preset": "xiang", "base_url": server.base_url, "journal": Path("j.sqlite")}
        result = kgeval.answer(QUESTIONS, **usual, config=False)
        assert asked(server) == [("gpt-4o-mini", 0.7)]
        assert [(answer.system, answer.variant) for answer in result] == [("closed-book@preset=xiang", "preset=xiang")]
        assert any("GraphRAG-Bench" in note for note in result.report.notes)
        server.reset()
        Path("kgeval.toml").write_text("[model.reader]\nparameters = {temperature = 0.2}\n")
        other = kgeval.answer(QUESTIONS, **usual, config=Path("kgeval.toml"), model="mine")
        assert asked(server) == [("mine", 0.2)]
        assert any("mine stands for gpt-4o-mini" in note for note in other.report.notes)


def test_a_preset_without_a_built_in_system_is_refused() -> None:
    with pytest.raises(UsageError, match="preset kasiak: no built-in system is asked"):
        kgeval.answer(QUESTIONS, system={"mine": str.upper}, preset="kasiak", config=False)
