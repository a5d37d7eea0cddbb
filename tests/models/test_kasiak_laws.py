"""The kinds of [K] without a server: whatever a model names, a question rests on what it was shown."""

from __future__ import annotations

from typing import Any

from bench_world import chain
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kasiak_world import KIND

from kgeval.llm.calls import Outcome, Task
from kgeval.llm.prompts import Prompt, load_prompt
from kgeval.questions.kinds import MakingContext, MakingOptions, RejectedError
from kgeval.records import Question

FACTS = [{"entity": 1, "fact": "Mara lives there.", "passage": 1}, {"entity": 2, "fact": "It has a harbour.", "passage": 2}]
CAUSES = {
    "wrong_number", "no_evidence", "no_distractor", "distractor_needed", "distractor_untrue", "one_sided", "not_both_named", "stated",
    "answer_not_supported", "not_answerable",
}
NUMBERS = st.lists(st.sampled_from([1, 2, 1, 2, 3, 0, -1, 4]), max_size=3)
FACT = st.fixed_dictionaries({"entity": st.integers(0, 3), "fact": st.just("So."), "passage": st.integers(0, 4)})


class Oracle:
    """Plays the model: says what it is given, whatever sense that makes; a trial is always won."""

    dry = False

    def __init__(self, made: dict[str, Any], follows: bool, passages: list[int]) -> None:
        self.made, self.follows, self.passages = made, follows, passages

    def prompt(self, name: str) -> Prompt:
        return load_prompt(name)

    def later(self, call: Any) -> None:
        raise AssertionError("no dry run")

    def ask(self, task: Task[Any]) -> Outcome[Any]:
        verdict = {"reason": "so", "follows": self.follows, "used": True}
        shown = sorted(task.sources)
        named = [shown[number - 1] for number in self.passages if 0 < number <= len(shown)]
        items = [{"tag": tag, **verdict, "passages": named} for tag in task.tags]
        reply = {**self.made, **verdict, "passages": self.passages, "stated": False, "answered": True, "items": items, "label": "correct"}
        return Outcome(task.id, task.reply.model_validate(reply))


@settings(deadline=None, max_examples=200)  # the first example loads the tokenizer
@given(
    kind=st.sampled_from(["single_hop", "thinking", "distracting", "comparing"]), numbers=st.just([1]) | NUMBERS,
    one=st.sampled_from([1, 2, 1, 2, 3, 0, 4, -1]), passages=st.just([1]) | NUMBERS, follows=st.sampled_from([True, True, False]),
    facts=st.just(FACTS) | st.lists(FACT, max_size=3),
    asked=st.sampled_from(["Whither, Mara?", "Mara and Velmouth, how so?", "North Light and Mara: how so?", "How so?"]),
)
@example(kind="distracting", numbers=[1], one=2, passages=[1], follows=True, facts=FACTS, asked="North Light and Mara: how so?")
def test_whatever_a_model_names_a_question_rests_on_what_it_was_shown(
    kind: str, numbers: list[int], one: int, passages: list[int], follows: bool, facts: list[dict[str, Any]], asked: str,
) -> None:
    size = {"single_hop": 1, "thinking": 3, "distracting": 3, "comparing": 1}[kind]
    made = {
        "question": asked, "plain": "Whither, Mara?", "answer": "By and by, as it seems", "passage": one, "triples": numbers,
        "distractor": one, "facts": facts or FACTS,
    }
    structure = chain(size)
    if kind == "comparing":
        both = ["c1", "c2"]
        nodes = [node.model_copy(update={"chunk_ids": both}) for node in structure.nodes]
        structure = structure.model_copy(update={"nodes": nodes, "passages": chain(2).passages})
    try:
        question = KIND[kind].make(MakingContext(structure, MakingOptions(seed=1), Oracle(made, follows, passages)))
    except RejectedError as error:
        nameless = kind == "single_hop" and asked == "How so?"
        assert error.cause in CAUSES or (nameless and error.cause == "start_not_named")
        return
    assert isinstance(question, Question)
    shown = {p.chunk_id for p in structure.passages}
    assert question.evidence and {p.chunk_id for p in question.evidence} <= shown
    assert all(set(group) <= shown for group in question.evidence_ids)
    assert all(check.passed for check in question.checks)
    if kind in ("thinking", "distracting"):
        assert set(numbers) <= set(range(1, size + 1))
        assert question.triples_needed == len(set(numbers)) and follows
    if kind == "distracting":
        assert one not in numbers and 1 <= one <= size
    if kind == "comparing":
        assert follows and {fact["entity"] for fact in facts or FACTS} == {1, 2}
    if kind == "single_hop":
        assert one == 1 and question.triples_needed == 1
