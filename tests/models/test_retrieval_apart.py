"""What is said of retrieved contexts does not depend on the answer: systems with equal contexts have equal figures, from the same calls."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from judged import by_name, judged, planned, row
from room import items_shown, session, user_text
from scripted_judge import sentences

from kgeval.llm.fake import Chat, FakeServer
from kgeval.llm.fake.request import draw

RETRIEVAL = ("claim_recall", "evidence_recall", "context_relevance", "context_precision", "context_precision_compat")
BOTH = (*RETRIEVAL, "faithfulness", "factual_correctness", "noise_sensitivity_relevant")
CONTEXTS = ["The mill was built in 1846.", "It stood by the river.", "Ada Holm owned it."]
QUESTIONS = 20


def moody(chat: Chat) -> Any:
    """A judge whose every verdict depends on the whole request: other words anywhere in it, and it is another draw."""
    if "statements" in (chat.schema or {})["properties"]:
        text = chat.messages[-1][1].partition('<data name="text">\n"')[2].partition('"\n')[0]
        return {"statements": sentences(text), "nothing_claimed": False}
    drawn = {tag: draw(chat.hash, tag) for tag in chat.items}
    return {"items": [
        {
            "tag": tag, "reason": "r", "rating": number % 3, "label": ("supported", "not_stated")[number % 2],
            "sources": sorted(chat.sources)[number % 3 :][:1] if number % 2 == 0 else [],
        } for tag, number in drawn.items()
    ]}


def rows(answer: str, system: str) -> list[Any]:
    reference = "The mill was built in 1846. Ada Holm owned it. It burned in 1901."
    return [
        row(n, answer.replace("N", str(n)), system=system, reference=reference.replace("1846", str(1846 + n)), contexts=CONTEXTS,
            evidence=[f"Mill {n} was put up in 1846.", CONTEXTS[1]])
        for n in range(QUESTIONS)
    ]


def test_systems_with_equal_contexts_have_equal_figures_of_retrieval_whatever_they_answer(tmp_path: Path) -> None:
    with FakeServer(moody) as server, session(server.base_url, tmp_path / "j", concurrency=1) as models:
        one = judged(models, rows("The mill N is old. It is gone.", "a"), BOTH)
        first = server.stats().requests
        two = judged(models, rows("Nobody knows of N, but Ada Holm had a mill. It burned. It is said so.", "b"), BOTH)
        second = server.stats().requests - first
        against = Counter(tuple(items_shown(entry)) for entry in server.requests if 'name="passages"' in user_text(entry))
        assert server.stats().repeated_successes == 0
    for name in RETRIEVAL:
        values = [(by_name(a)[name].value, by_name(b)[name].value) for a, b in zip(one, two, strict=True)]
        assert all(a == b for a, b in values), name
        assert name == "context_precision" or len({a for a, _ in values}) > 1, "the judge does not say the same of all"
    assert any(by_name(a)["faithfulness"].value != by_name(b)["faithfulness"].value for a, b in zip(one, two, strict=True))
    # a row: claims of both, verdicts against the reference, the answer, and the contexts twice, ratings
    assert first == 7 * QUESTIONS
    assert second == 4 * QUESTIONS, "claims of the reference, what the contexts hold of it, and ratings are there"
    assert not [shown for shown in against if CONTEXTS[1] in shown], "evidence that stands there word for word is not asked"


def test_figures_of_retrieval_are_the_same_with_and_without_metrics_of_the_answer(tmp_path: Path) -> None:
    given = rows("The mill N is old.", "a")
    with FakeServer(moody) as server, session(server.base_url, tmp_path / "j") as models:
        alone, beside = judged(models, given, RETRIEVAL), judged(models, given, BOTH)
    assert [[by_name(made)[name].value for name in RETRIEVAL] for made in alone] == [
        [by_name(made)[name].value for name in RETRIEVAL] for made in beside
    ]


def test_systems_that_are_judged_at_once_share_the_call_too(tmp_path: Path) -> None:
    given = [row_ for pair in zip(rows("The mill N is old.", "a"), rows("N is gone. So it is.", "b"), strict=True) for row_ in pair]
    with FakeServer(moody, delay=0.02) as server, session(server.base_url, tmp_path / "j", concurrency=16) as models:
        made = judged(models, given, BOTH)
        assert (server.stats().requests, server.stats().repeated_successes) == (11 * QUESTIONS, 0)
    for one, two in zip(made[::2], made[1::2], strict=True):
        assert [by_name(one)[name].value for name in RETRIEVAL] == [by_name(two)[name].value for name in RETRIEVAL]


def test_a_dry_run_counts_both_calls(tmp_path: Path) -> None:
    given = [*rows("The mill N is old.", "a"), *rows("N is gone.", "b")]
    with FakeServer(moody) as server, session(server.base_url, tmp_path / "j", concurrency=1) as models:
        plan = planned(models, given, BOTH)
        judged(models, given, BOTH)
        made = server.stats().requests
    low, high = plan.calls
    assert low <= made == 11 * QUESTIONS <= high


@pytest.mark.parametrize(("evidence", "context", "found"), [
    ("It stood by the river.", "Long ago it  stood\nby the RIVER, they say.", True), ("stood by", "it understood byways", False),
    ("\u5df4\u9ece\u662f\u9996\u90fd", "\u4eca\u5929\u5df4\u9ece\u662f\u9996\u90fd\u3002", True),
    ("1846", "in 18466", False), ("1846", "(1846)", True), ("5% of it", "5 of it", False),
])
def test_evidence_is_found_by_its_words(tmp_path: Path, evidence: str, context: str, found: bool) -> None:
    with FakeServer(moody) as server, session(server.base_url, tmp_path / "j") as models:
        (made,) = judged(models, [row(0, contexts=["other", context], evidence=[evidence])], ("evidence_recall",))
        assert server.stats().requests == (0 if found else 1)
    (verdict,) = made.verdicts
    assert not found or (verdict.label, verdict.sources, verdict.call) == ("supported", [2], None)
