"""The rule by which two answers come to one length: asked again, words added, discarded; and what a word is."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.comparison.align.force import Forcer, RewriteWish
from kgeval.comparison.align.rule import AlignmentRule, align_length, align_pair, alignment, join_sides
from kgeval.llm.asker import Later
from kgeval.llm.calls import Failure, Outcome, Task
from kgeval.llm.prompts import load_prompt
from kgeval.records import Aligned, Answer, Question
from kgeval.text.length import LETTERS_A_WORD, count_words, first_words

QUESTION = Question(id="q1", question="Why?")


def said(words: int, system: str = "A", **more: object) -> Answer:
    return Answer(question_id="q1", system=system, answer=" ".join(["w"] * words), **more)  # type: ignore[arg-type]


@dataclass
class Scripted:
    """A stand-in for a system and a model: answers with these numbers of words, one after the other; a text is an error."""

    lengths: list[int | str] = field(default_factory=list)
    forced_lengths: list[int | str] = field(default_factory=list)
    adjusts: bool = True
    forces: bool = True
    asked: list[tuple[int, int, int]] = field(default_factory=list)  # words before, target, attempt

    def again(self, previous: Answer, target: int, attempt: int) -> Answer:
        return self._next(self.lengths, previous, target, attempt)

    def padded(self, nearest: Answer, target: int, attempt: int) -> Answer:
        return self._next(self.forced_lengths, nearest, target, attempt)

    def _next(self, lengths: list[int | str], previous: Answer, target: int, attempt: int) -> Answer:
        self.asked.append((count_words(previous.answer), target, attempt))
        given = lengths[min(attempt, len(lengths)) - 1]
        return said(given) if isinstance(given, int) else said(0, error=given)


IDLE = Scripted(adjusts=False, forces=False)


def test_answers_that_differ_by_ten_words_are_left_as_they_are_and_eleven_are_not() -> None:
    hands = Scripted([100])
    assert align_pair(said(90), said(100, "B"), alignment(), (hands, IDLE)).how == "equal" and not hands.asked
    made = align_pair(said(89), said(100, "B"), alignment(), (hands, IDLE))
    assert (made.how, made.attempt, made.words_a, made.words_b, made.gap_before) == ("adjusted", 1, 100, 100, 11)


def test_the_shorter_one_is_asked_again_whichever_side_it_stands_on_with_the_longer_ones_words() -> None:
    left, right = Scripted([100]), Scripted([100])
    assert align_pair(said(50), said(100, "B"), alignment(), (left, right)).words_a == 100 and left.asked == [(50, 100, 1)]
    made = align_pair(said(100), said(50, "B"), alignment(), (IDLE, right))
    assert made.words_b == 100 and right.asked == [(50, 100, 1)]


def test_it_is_asked_until_it_fits_each_time_from_the_nearest_so_far() -> None:
    hands = Scripted([70, 60, 95])
    made = align_pair(said(50), said(100, "B"), alignment(), (hands, IDLE))
    assert (made.how, made.attempt, made.words_a) == ("adjusted", 3, 95)
    assert hands.asked == [(50, 100, 1), (70, 100, 2), (70, 100, 3)]


def test_a_re_answer_longer_than_the_target_counts_by_how_far_it_is_off() -> None:
    hands = Scripted([140, 111, 110])
    made = align_pair(said(50), said(100, "B"), alignment(), (hands, IDLE))
    assert (made.how, made.attempt, made.words_a) == ("adjusted", 3, 110)
    assert [before for before, _, _ in hands.asked] == [50, 140, 111]


def test_after_five_attempts_words_are_added_to_the_nearest() -> None:
    hands = Scripted([60, 80, 130, 70, 75], [92])
    made = align_pair(said(50), said(100, "B"), alignment(), (hands, IDLE))
    assert (made.how, made.attempt, made.words_a) == ("forced", 1, 92)
    assert len(hands.asked) == 6 and hands.asked[-1] == (80, 100, 1)


def test_a_system_without_a_hook_goes_straight_to_forced_alignment() -> None:
    hands = Scripted([100], [100], adjusts=False)
    made = align_pair(said(50), said(100, "B"), alignment(), (hands, IDLE))
    assert made.how == "forced" and hands.asked == [(50, 100, 1)]


def test_what_still_differs_is_discarded_and_not_judged() -> None:
    hands = Scripted([60], [70, 71, 72])
    made = align_pair(said(50), said(100, "B"), alignment(), (hands, IDLE))
    assert (made.how, made.judged, made.words_a) == ("discarded", False, 72) and len(hands.asked) == 5 + 3


def test_without_hook_and_without_a_model_it_is_discarded_at_once() -> None:
    made = align_pair(said(50), said(100, "B"), alignment(), (IDLE, IDLE))
    assert (made.how, made.words_a, made.gap_before) == ("discarded", 50, 50)
    assert align_pair(said(50), said(100), alignment(force=False), (Scripted(adjusts=False), IDLE)).how == "discarded"


def test_an_answer_without_words_is_lost_and_nobody_is_asked_to_lengthen_it() -> None:
    for kind in ("pair", "none"):
        hands = Scripted([99], [100])
        made = align_pair(said(0), said(100, "B"), alignment(kind=kind), (hands, IDLE))
        assert (made.how, made.judged, made.unanswered, hands.asked) == ("silent", False, "a", [])
    assert align_pair(said(5), said(0, "B"), alignment(), (IDLE, IDLE)).unanswered == "b"
    assert align_pair(said(0), said(0, "B"), alignment(), (IDLE, IDLE)).unanswered == "both"


def test_an_answer_with_an_error_fails_the_pair_with_its_cause_and_asks_nobody() -> None:
    hands = Scripted([100])
    made = align_pair(said(50), said(0, "B", error="timeout: 30 s"), alignment(), (hands, hands))
    assert (made.how, made.judged, made.failure) == ("failed", False, "timeout: B: 30 s") and not hands.asked
    assert align_pair(said(50, error="bad"), said(9), alignment(kind="none"), (IDLE, IDLE)).how == "failed"


def test_an_attempt_that_fails_is_one_without_a_result_but_five_of_them_are_no_length() -> None:
    assert align_pair(said(50), said(100), alignment(), (Scripted(["timeout: x", 100]), IDLE)).attempt == 2
    made = align_pair(said(50), said(100), alignment(), (Scripted(["timeout: x"], [100]), IDLE))
    assert (made.how, made.failure) == ("failed", "timeout: x")  # not discarded: a later run may know


def test_where_the_run_is_stopped_nothing_more_is_tried() -> None:
    hands = Scripted([60, "budget: spent", 100], [100])
    made = align_pair(said(50), said(100), alignment(), (hands, IDLE))
    assert (made.how, made.failure) == ("failed", "budget: spent") and len(hands.asked) == 2
    hands = Scripted([60], ["cancelled: x"])
    assert align_pair(said(50), said(100), alignment(), (hands, IDLE)).failure == "cancelled: x"


def test_without_alignment_everything_is_judged_as_it_is() -> None:
    made = align_pair(said(1), said(500), alignment(kind="none"), (Scripted([500]), IDLE))
    assert (made.how, made.words_a, made.words_b, made.gap_before, made.judged) == ("free", 1, 500, 499, True)


@given(
    st.integers(0, 80), st.integers(0, 80), st.lists(st.integers(0, 120), min_size=1, max_size=5),
    st.lists(st.integers(0, 120), min_size=1, max_size=3), st.integers(0, 15),
)
def test_laws_what_is_judged_is_within_the_tolerance_and_no_more_is_asked_than_allowed(
    a: int, b: int, again: list[int], forced: list[int], tolerance: int,
) -> None:
    hands = Scripted(list(again), list(forced)), Scripted(list(again), list(forced))
    made = align_pair(said(a), said(b), alignment(tolerance=tolerance), hands)
    assert made.judged == (bool(a and b) and abs(made.words_a - made.words_b) <= tolerance)
    assert abs(made.words_a - made.words_b) <= abs(a - b)  # never worse than it was
    longer = hands[0] if a >= b else hands[1]
    assert not longer.asked and len(hands[0].asked + hands[1].asked) <= 5 + 3
    assert made.words_a == count_words(made.a.answer) and made.words_b == count_words(made.b.answer)


def test_brought_to_a_third_length_any_two_differ_by_the_tolerance_at_most() -> None:
    rule = AlignmentRule(to_longest=True)
    low, high = align_length(said(50), 100, 5, rule, Scripted([95])), align_length(said(60, "B"), 100, 5, rule, Scripted([120, 105]))
    made = join_sides(low, high, (said(50), said(60, "B")), rule)
    assert (made.how, made.attempt, made.words_a, made.words_b, made.gap_before) == ("adjusted", 2, 95, 105, 10)
    lost = join_sides(low, align_length(said(60, "B"), 100, 5, rule, IDLE), (said(50), said(60, "B")), rule)
    assert lost.how == "discarded" and not lost.judged


def test_a_rule_that_is_none_is_refused() -> None:
    for wrong in ({"kind": "middle"}, {"attempts": -1}, {"tolerance": -1}):
        with pytest.raises(ValueError, match="no rule"):
            alignment(**wrong)  # type: ignore[arg-type]


# ---- forced alignment


@dataclass
class Model:
    """An Asker that answers with these numbers of words, or not at all."""

    words: list[int]
    dry: bool = False
    tasks: list[Task] = field(default_factory=list)  # type: ignore[type-arg]
    put_off: list[Later] = field(default_factory=list)

    def prompt(self, name: str):  # type: ignore[no-untyped-def]
        return load_prompt(name)

    def ask(self, task):  # type: ignore[no-untyped-def]
        self.tasks.append(task)
        if not self.words:
            return Outcome(task.id, None, Failure("refused", "no"))
        return Outcome(task.id, task.reply(answer=" ".join(["w"] * self.words.pop(0))))

    def later(self, call: Later) -> None:
        self.put_off.append(call)


def test_a_model_is_asked_for_what_is_lacking_or_too_much_and_never_for_less_than_one_word() -> None:
    model = Model([100, 100])
    forcer = Forcer(model)
    longer = forcer.rewritten(said(60), RewriteWish(QUESTION, 100, "B", 1, 1, 3))
    shorter = forcer.rewritten(said(140), RewriteWish(QUESTION, 100, "B", 1, 2, 3))
    same = forcer.rewritten(said(100), RewriteWish(QUESTION, 100, "B", 1, 1, 3))
    assert [task.prompt.name for task in model.tasks] == ["align-longer", "align-shorter"] and same == said(100)
    assert [task.slots["change"] for task in model.tasks] == [
        {"add_words": 40, "now_words": 60, "attempt": 1}, {"remove_words": 40, "now_words": 140, "attempt": 2},
    ]
    assert longer.aligned_to == Aligned(system="B", target_words=100, attempt=1, forced=True) and count_words(shorter.answer) == 100


def test_a_model_that_does_not_answer_is_an_error_with_its_cause() -> None:
    assert Forcer(Model([])).rewritten(said(60), RewriteWish(QUESTION, 100, "B", 1, 1, 3)).error == "refused: no"


@pytest.mark.slow
def test_a_dry_run_counts_the_first_try_as_certain_and_the_others_as_at_most() -> None:
    model = Model([], dry=True)
    Forcer(model).rewritten(said(60), RewriteWish(QUESTION, 100, "B", 1, 1, 3))
    assert len(model.tasks) == 1 and len(model.put_off) == 2 and not any(call.certain for call in model.put_off)


# ---- words


@pytest.mark.parametrize(("text", "words"), [
    ("", 0), ("  \n", 0), ("...", 0), ("- **", 0), ("one", 1), ("A well-known U.S. fact: 3.5 %.", 5), ("**bold** and `code`", 3),
    ("one—two – three", 3), ("a…b", 2), ("| a | b |", 2), ("|a|b|", 2), ("naïve café", 2), ("нет, да", 2), ("לא כן", 2),
    ("我是中国人。", 5), ("東京タワーは高い!", 8), ("我有 3 个 apples", 5), ("한국어 문장입니다", 2), ("ไทย", 1), ("ก็", 1), ("👍", 0),
])
def test_words_are_counted_as_a_reader_counts_them_in_any_script(text: str, words: int) -> None:
    assert count_words(text) == words


def test_thai_is_counted_by_words_and_not_by_letters() -> None:
    words = ["ภาษาไทย", "เป็น", "ภาษา", "ที่", "มี", "ระดับ", "เสียง", "ของ", "คำ", "แน่นอน", "หรือ", "วรรณยุกต์", "เช่นเดียวกับ", "ภาษา", "จีน"]
    assert abs(count_words("".join(words)) - len(words)) <= 3
    assert count_words("ก" * 320) == round(320 / LETTERS_A_WORD) == 100


@given(st.text(st.sampled_from("ab 我国กิ็ำ—.é\n"), max_size=60), st.integers(0, 20))
def test_the_first_words_of_a_text_are_no_more_than_asked_for_and_begin_it(text: str, most: int) -> None:
    cut = first_words(text, most)
    assert count_words(cut) <= max(most, 0) or not most
    if count_words(text) <= most:
        assert cut == text


@given(st.text(st.sampled_from("ab 1-—|….,*é\n\t_"), max_size=60))
def test_a_text_is_counted_alike_whether_or_not_another_script_stands_beside_it(text: str) -> None:
    assert count_words(text + " 我") == count_words(text) + 1


def test_the_first_words_are_cut_where_they_end() -> None:
    assert first_words("one, two; three.", 2) == "one, two;" and first_words("我是中国人", 3) == "我是中" and first_words("a b", 0) == ""
