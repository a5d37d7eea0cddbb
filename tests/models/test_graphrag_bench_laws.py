"""The four levels of GraphRAG-Bench, without a model: laws of what may come of a reply, and the profiles."""

from __future__ import annotations

from typing import Any

import pytest
from bench_world import KIND, chain
from hypothesis import given, settings
from hypothesis import strategies as st

from kgeval.config.questions import PROFILES
from kgeval.errors import ConfigError
from kgeval.llm.calls import Outcome, Task
from kgeval.llm.prompts import Prompt, load_prompt
from kgeval.questions.kinds import MakingContext, MakingOptions, RejectedError
from kgeval.questions.making.bench_draft import BenchAnswerVerdict, BenchQuestion, EvidenceVerdict, EvidenceVerdicts, Refined
from kgeval.questions.making.graphrag_bench import KINDS
from kgeval.questions.profiles import load_profile

LEAST = {"fact_retrieval": 1, "complex_reasoning": 3, "contextual_summarize": 3, "creative_generation": 5}


class Oracle:
    """Plays the model: says what it is given, whatever sense that makes."""

    dry = False

    def __init__(self, numbers: list[int], follows: list[bool], passages: list[int]) -> None:
        self.numbers, self.follows, self.passages = numbers, follows, passages

    def prompt(self, name: str) -> Prompt:
        return load_prompt(name)

    def later(self, call: Any) -> None:
        raise AssertionError("no dry run")

    def ask(self, task: Task[Any]) -> Outcome[Any]:
        shown = sorted(task.sources)
        named = [shown[number - 1] for number in self.passages if 0 < number <= len(shown)]
        replies: dict[type, Any] = {
            BenchQuestion: lambda: BenchQuestion(question="Where does it end?", answer="Nowhere", triples=self.numbers),
            EvidenceVerdicts: lambda: EvidenceVerdicts(items=[
                EvidenceVerdict(tag=tag, reason="", passages=named, follows=self.follows[n % len(self.follows)])
                for n, tag in enumerate(task.tags, start=1)
            ]),
            BenchAnswerVerdict: lambda: BenchAnswerVerdict(reason="", follows=True, corrected=""),
            Refined: lambda: Refined(question="Where does it end, after all?"),
        }
        return Outcome(task.id, replies[task.reply]())


@settings(deadline=None)  # the first example loads the tokenizer
@given(
    kind=st.sampled_from(sorted(KIND)), numbers=st.lists(st.integers(-2, 9), max_size=9),
    follows=st.lists(st.booleans(), min_size=1, max_size=4), passages=st.lists(st.integers(-1, 9), max_size=4),
)
def test_whatever_a_model_names_a_question_rests_on_relations_that_exist_follow_and_are_enough(
    kind: str, numbers: list[int], follows: list[bool], passages: list[int],
) -> None:
    try:
        found = KIND[kind].make(MakingContext(chain(), MakingOptions(seed=1), Oracle(numbers, follows, passages)))
    except RejectedError as error:
        assert error.cause in {"wrong_number", "no_evidence", "too_few_relations", "too_many_relations"}
        return
    assert set(numbers) <= set(range(1, 7))
    assert found.path is not None
    used = {ref.element_id for ref in found.path.relations}
    assert used <= {f"r{n}" for n in numbers}
    assert LEAST[kind] <= len(used) == found.triples_needed
    assert found.triples_needed <= (found.hops or 0) <= 6
    assert {p.chunk_id for p in found.evidence} <= {f"c{n}" for n in range(1, 7)}
    assert found.evidence
    if kind == "fact_retrieval":
        assert len(used) <= 3


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_has_topics_for_every_level_and_creative_forms_of_both_ways(name: str) -> None:
    profile = load_profile(name)
    assert all((profile.facts, profile.reasoning, profile.summaries))
    assert {form.way for form in profile.creative} == {"role", "rewriting"}
    assert [profile.form(n).name for n in range(len(profile.creative))] == [form.name for form in profile.creative]


def test_the_profiles_have_the_forms_that_their_domains_use() -> None:
    forms = {name: {form.name for form in load_profile(name).creative} for name in PROFILES}
    assert {"diary", "news"} <= forms["narrative"]
    assert {"clinical note", "referral"} <= forms["medical"]
    assert {"letter", "report"} <= forms["generic"]
    with pytest.raises(ConfigError, match="generic, narrative, medical"):
        load_profile("../generic")


def test_the_levels_are_four_kinds_of_one_group() -> None:
    assert [kind.name for kind in KINDS] == ["fact_retrieval", "complex_reasoning", "contextual_summarize", "creative_generation"]
    assert {kind.group for kind in KINDS} == {"graphrag-bench"}
    assert all(load_prompt(str(kind.first)) for kind in KINDS)
    assert all(load_prompt(call.prompt) for kind in KINDS for call in kind.later)
    assert all({"model", "chunks"} <= kind.needs for kind in KINDS)
