"""The answers of a comparison: each asked once, brought to one length, kept on disk, and counted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from answering_world import Given, Writer, all_pairs, answers, asked, command, killed, opened
from room import RECOVERABLE
from waiting import wait_until

from kgeval.comparison.align.rule import alignment
from kgeval.comparison.answering_plan import plan
from kgeval.comparison.sources import FAR
from kgeval.errors import UsageError
from kgeval.llm.fake import FakeServer, Rule
from kgeval.text.length import count_words

HERE = Path(__file__).parent


def text(count: int, word: str = "w") -> str:
    return " ".join([word] * count)


def test_the_shorter_system_is_asked_again_with_the_longer_ones_words(tmp_path: Path) -> None:
    systems = {"A": command(tmp_path, "A", free="100"), "B": command(tmp_path, "B", free="40", again="target - 30 + 15 * attempt")}
    with opened(Given(tmp_path, 2, systems)) as answering:
        made = all_pairs(answering)
        [count, *levels] = answering.counts()
    assert [(one.how, one.attempt, one.words_a, one.words_b, one.gap_before) for one in made] == [("adjusted", 2, 100, 100, 60)] * 2
    aligned = made[0].b.aligned_to
    assert aligned is not None and (aligned.system, aligned.target_words, aligned.attempt, aligned.forced) == ("A", 100, 2, False)
    assert [row[2:4] for row in asked(tmp_path, "B") if row[0] == "q0"] == [[None, None], [100, 1], [100, 2]]
    assert [len(row[4].split()) for row in asked(tmp_path, "B") if row[4]] == [40, 85] * 2 or len(asked(tmp_path, "B")) == 6
    assert (count.n, count.adjusted, count.attempts, count.forced, count.discarded) == (2, 2, {"2": 2}, 0, 0)
    assert count.gap_before is not None and count.gap_after is not None
    assert (count.gap_before.p50, count.gap_after.p50) == (60, 0) and [one.level for one in levels] == ["edge", "node"]


def test_each_answer_is_asked_once_however_many_pairs_need_it(tmp_path: Path) -> None:
    systems = {name: command(tmp_path, name, free="30", slow="time.sleep(0.002)") for name in "ABCD"}
    with opened(Given(tmp_path, 5, systems), trials=3) as answering:
        assert answering.trial_kind == "regenerate"
        made = all_pairs(answering, threads=12)
    assert len(made) == 6 * 5 * 3 and {one.how for one in made} == {"equal"}
    for name in "ABCD":
        seen = [tuple(row[:2]) for row in asked(tmp_path, name)]
        assert sorted(seen) == sorted((f"q{n}", trial) for n in range(5) for trial in (1, 2, 3))
    with opened(Given(tmp_path, 5, systems), trials=3) as answering:
        all_pairs(answering)
        assert [note.split(" came")[0] for note in answering.notes if "came from" in note] == [f"{name}: 15 answers" for name in "ABCD"]


def test_files_go_straight_to_added_words_and_the_counts_say_so(tmp_path: Path) -> None:
    files = answers(tmp_path, "A", [text(50), text(95), text(30)]), answers(tmp_path, "B", [text(100), text(100), text(80)])
    writer = Writer(off=lambda attempt: 30 - 15 * attempt)  # 15 off, then right
    with FakeServer(writer) as server, opened(Given(tmp_path, 3, {}, files, server.base_url)) as answering:
        made = all_pairs(answering, threads=1)
        count = answering.counts()[0]
        notes = answering.notes
    assert answering.trial_kind == "rejudge" and [(one.how, one.attempt) for one in made] == [("forced", 2), ("equal", None), ("forced", 2)]
    assert (count.n, count.equal, count.forced, count.adjusted) == (3, 1, 2, 0)
    assert any("cannot be asked for a length: A, B" in note and "words are added" in note for note in notes)
    first, second = writer.changes[:2]
    assert first == {"add_words": 50, "now_words": 50, "attempt": 1} and second == {"remove_words": 15, "now_words": 115, "attempt": 2}
    assert made[0].a.aligned_to is not None and made[0].a.aligned_to.forced and count_words(made[0].a.answer) == 100


def test_a_file_with_a_hook_is_asked_through_it(tmp_path: Path) -> None:
    files = answers(tmp_path, "A", [text(50)]), answers(tmp_path, "B", [text(100)])
    with opened(Given(tmp_path, 1, {"A": command(tmp_path, "A")}, files, hooks=("A",))) as answering:
        [made] = all_pairs(answering)
    assert (made.how, made.words_a) == ("adjusted", 100) and [row[2] for row in asked(tmp_path, "A")] == [100]


def test_what_cannot_be_brought_together_is_discarded_and_counted_by_level_and_system(tmp_path: Path) -> None:
    files = [answers(tmp_path, name, [text(size)] * 4) for name, size in (("A", 50), ("B", 100), ("C", 104))]
    with FakeServer(Writer(off=lambda attempt: 500)) as server, opened(Given(tmp_path, 4, {}, tuple(files), server.base_url)) as answering:
        made = all_pairs(answering)
        counts = {(one.system_a, one.system_b, one.level): one for one in answering.counts()}
    assert {one.how for one in made} == {"discarded", "equal"} and not any(one.judged for one in made if one.how == "discarded")
    assert {pair[:2]: one.discarded for pair, one in counts.items() if pair[2] is None} == {("A", "B"): 4, ("A", "C"): 4, ("B", "C"): 0}
    assert counts["A", "B", "node"].discarded == 2 and counts["A", "B", "edge"].discarded == 2
    assert counts["A", "B", None].gap_after is None


def test_longest_brings_all_systems_to_one_length_that_pairs_share(tmp_path: Path) -> None:
    systems = {name: command(tmp_path, name, free=str(size)) for name, size in (("A", 100), ("B", 40), ("C", 70))}
    with opened(Given(tmp_path, 2, systems), rule=alignment(kind="longest")) as answering:
        made = all_pairs(answering)
    assert {(one.words_a, one.words_b) for one in made} == {(100, 100)}
    assert len(asked(tmp_path, "A")) == 2 and len(asked(tmp_path, "B")) == len(asked(tmp_path, "C")) == 4  # free, and once again
    assert made[-1].b.aligned_to is not None and made[-1].b.aligned_to.system == "A"


def test_without_alignment_nobody_is_asked_again(tmp_path: Path) -> None:
    systems = {"A": command(tmp_path, "A", free="100"), "B": command(tmp_path, "B", free="5")}
    with opened(Given(tmp_path, 1, systems), rule=alignment(kind="none")) as answering:
        [made] = all_pairs(answering)
        assert answering.counts()[0].n == 1
    assert (made.how, made.words_a, made.words_b) == ("free", 100, 5) and len(asked(tmp_path, "B")) == 1


def test_a_second_run_of_the_command_asks_nothing_again_and_says_so(tmp_path: Path) -> None:
    systems = {"A": command(tmp_path, "A", free="100"), "B": command(tmp_path, "B", free="40", again="target - 30")}
    with FakeServer(Writer()) as server:
        runs = []
        for _ in range(2):
            with opened(Given(tmp_path, 3, systems, url=server.base_url), trials=2) as answering:
                made = all_pairs(answering)
                runs.append(([one.b.answer for one in made], answering.counts(), answering.uses()))
                notes = answering.notes
            calls = len(asked(tmp_path, "A")), len(asked(tmp_path, "B")), server.stats().successes
            assert calls == (6, 6 + 6 * 5, 3 * 2)
        assert server.stats().repeated_successes == 0
    assert runs[0] == runs[1] and any(note.startswith("A: 6 answers came from") for note in notes)
    with opened(Given(tmp_path, 3, systems, fresh=True), trials=1) as answering:
        all_pairs(answering)
    assert len(asked(tmp_path, "A")) == 9  # a fresh run asks again


@pytest.mark.long
def test_kill_9_in_the_middle_loses_only_what_is_in_flight(tmp_path: Path) -> None:
    with FakeServer(Writer()) as server:
        given = killed(tmp_path, server.base_url)
        process = subprocess.Popen([sys.executable, str(HERE / "answering_world.py"), str(tmp_path), server.base_url])
        wait_until(lambda: len(asked(tmp_path, "B")) > 30)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        for name in "AB":
            (tmp_path / f"{name}.mark.on").touch()
        assert 30 <= len(asked(tmp_path, "B")) < 10 * 2 * 6
        with opened(given, trials=2) as answering:
            made = all_pairs(answering)
            [count, *_] = answering.counts()
        repeated = server.stats().repeated_successes
    assert {one.how for one in made} <= {"adjusted", "forced"} and len(made) == 20 and count.n == 20
    for name, each in (("A", 1), ("B", 6)):
        rows = [json.dumps(row) for row in asked(tmp_path, name)]
        assert len(set(rows)) <= 10 * 2 * each and len(rows) - len(set(rows)) <= 4  # four threads: four questions in flight
    assert repeated <= 4


def test_what_failed_is_asked_again_by_a_later_run_and_once_in_this_one(tmp_path: Path) -> None:
    flaky = command(tmp_path, "A", free='20 if os.path.exists(mark + ".well") else "overloaded"')
    systems = {"A": flaky, "B": command(tmp_path, "B"), "C": command(tmp_path, "C")}
    with opened(Given(tmp_path, 2, systems), max_error_rate=1.0) as answering:
        made = all_pairs(answering)
        assert answering.counts()[0].failed == 2 and answering.uses()[0].answers == 0
    assert [one.failure for one in made[:2]] == ["system_error: A: overloaded"] * 2 and len(asked(tmp_path, "A")) == 2
    (tmp_path / "A.mark.well").touch()
    with opened(Given(tmp_path, 2, systems)) as answering:
        assert {one.how for one in all_pairs(answering)} == {"equal"} and answering.counts()[0].failed == 0
    assert len(asked(tmp_path, "A")) == 4 and len(asked(tmp_path, "B")) == 2


def test_a_system_that_fails_too_often_is_not_asked_any_more(tmp_path: Path) -> None:
    systems = {"A": command(tmp_path, "A", free='"broken"'), "B": command(tmp_path, "B")}
    with opened(Given(tmp_path, 60, systems)) as answering:
        made = all_pairs(answering, threads=1)
        assert answering.exit_code == 3 and answering.stopped is not None and "--max-error-rate" in answering.stopped
        assert any("A is not asked any more" in note for note in answering.notes)
    assert {one.how for one in made} == {"failed"} and len(asked(tmp_path, "A")) < 60 and made[-1].failure is not None
    assert made[-1].failure.startswith("error_rate: A")


def test_a_model_that_refuses_to_add_words_is_a_failure_with_its_cause_not_a_discard(tmp_path: Path) -> None:
    files = answers(tmp_path, "A", [text(50)]), answers(tmp_path, "B", [text(100)])
    with FakeServer([Rule(fault="refusal")]) as server, opened(Given(tmp_path, 1, {}, files, server.base_url)) as answering:
        [made] = all_pairs(answering)
        count = answering.counts()[0]
    assert made.how == "failed" and (made.failure or "").startswith("refused") and (count.failed, count.discarded) == (1, 0)


def test_faults_of_the_endpoint_change_nothing_but_the_time(tmp_path: Path) -> None:
    files = answers(tmp_path, "A", [text(40 + n) for n in range(12)]), answers(tmp_path, "B", [text(100)] * 12)
    seen: dict[str, int] = {}
    kinds = [kind for kind in RECOVERABLE if kind not in ("extra", "shifted")]  # faults of lists: there is none here

    class Faulty(Writer):
        """Each kind of fault, once a request, before it answers."""

        def __call__(self, chat):  # type: ignore[no-untyped-def]
            tried = seen[chat.subject] = seen.get(chat.subject, 0) + 1
            return Rule(fault=kinds[len(seen) % len(kinds)]) if tried == 1 else super().__call__(chat)

    with FakeServer(Faulty(), retry_after=0.01) as server, opened(Given(tmp_path, 12, {}, files, server.base_url)) as answering:
        made = all_pairs(answering)
        assert len(server.stats().faults) >= 5 and server.stats().repeated_successes == 0
    assert {(one.how, one.words_a) for one in made} == {("forced", 100)}


def test_words_of_chinese_and_thai_are_what_counts(tmp_path: Path) -> None:
    thai = "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน" * 4
    files = (
        answers(tmp_path, "A", ["我是中国人，我住在北京。" * 3, "我" * 12, thai]),
        answers(tmp_path, "B", ["我是中国人，我住在北京。" * 3 + "他也是。", "他" * 40, thai + " ครับ"]),
    )
    with opened(Given(tmp_path, 3, {}, files)) as answering:
        made = all_pairs(answering)
    assert [(one.how, one.words_a, one.words_b) for one in made[:2]] == [("equal", 30, 33), ("discarded", 12, 40)]
    assert made[2].how == "equal" and 40 <= made[2].words_a <= 60


def test_trials_of_a_file_are_used_as_they_are_and_others_stay(tmp_path: Path) -> None:
    for trial in (1, 2, 3):
        file_a = answers(tmp_path, "A", [text(20, f"a{trial}")], trial, mode="a")
    file_b = answers(tmp_path, "B", [text(20, "b")])
    with opened(Given(tmp_path, 1, {}, (file_a, file_b)), trials=4) as answering:
        assert answering.trial_kind == "rejudge"
        texts = [(one.a.answer.split()[0], one.b.answer.split()[0]) for one in all_pairs(answering)]
        assert answering.counts()[0].n == 3 and any("A: 3 answers" in note for note in answering.notes)
        assert answering.texts("A", "B", "q0", 4) == (text(20, "a1"), text(20, "b")) and answering.texts("A", "B", "q9", 1) is None
        assert answering.texts("B", "A", "q0", 2) == (text(20, "b"), text(20, "a2")) and answering.texts("A", "Z", "q0", 1) is None
    assert texts == [("a1", "b"), ("a2", "b"), ("a3", "b"), ("a1", "b")]
    with pytest.raises(UsageError, match=r"too few answers.*A \(3\), B \(1\)"), opened(
        Given(tmp_path, 1, {}, (file_a, file_b)), trials=4, kind="regenerate",
    ):
        pass


def test_files_with_a_trial_each_are_trials_that_were_generated_again(tmp_path: Path) -> None:
    for trial in (1, 2):
        files = answers(tmp_path, "A", [text(20)], trial, mode="a"), answers(tmp_path, "B", [text(20)], trial, mode="a")
    with opened(Given(tmp_path, 1, {}, files), trials=2) as answering:
        assert answering.trial_kind == "regenerate" and len(all_pairs(answering)) == 2


def test_systems_that_are_asked_answer_once_where_only_the_judge_is_repeated(tmp_path: Path) -> None:
    systems = {name: command(tmp_path, name) for name in "AB"}
    with opened(Given(tmp_path, 2, systems), trials=5, kind="rejudge") as answering:
        assert len(all_pairs(answering)) == 10 and answering.counts()[0].n == 2
    assert len(asked(tmp_path, "A")) == 2


def test_the_second_run_of_a_system_is_asked_for_itself(tmp_path: Path) -> None:
    with opened(Given(tmp_path, 2, {"A": command(tmp_path, "A")}, self_checks=("A",)), trials=2) as answering:
        made = all_pairs(answering)
        assert answering.paired.pairs == (("A", "A (second run)"),)
    assert sorted({row[1] for row in asked(tmp_path, "A")}) == [1, 2, FAR + 1, FAR + 2] and len(asked(tmp_path, "A")) == 8
    assert {one.b.system for one in made} == {"A (second run)"} and made[0].a.answer != made[0].b.answer


def test_the_second_run_of_a_file_is_the_other_half_of_its_trials(tmp_path: Path) -> None:
    for trial in range(1, 6):
        file = answers(tmp_path, "A", [text(20, f"a{trial}")], trial, mode="a")
    with opened(Given(tmp_path, 1, {}, (file,), self_checks=("A",)), trials=3) as answering:
        said = [(one.a.answer.split()[0], one.b.answer.split()[0]) for one in all_pairs(answering)]
    assert said == [("a1", "a3"), ("a2", "a4"), ("a1", "a3")]  # never an answer beside itself
    once = answers(tmp_path, "B", [text(20)])
    with pytest.raises(UsageError, match="one answer to a question"), opened(Given(tmp_path, 1, {}, (once,), self_checks=("B",))):
        pass


def test_use_is_the_mean_over_free_answers_that_tell(tmp_path: Path) -> None:
    file = answers(tmp_path, "F", [text(30), text(50)])
    with opened(Given(tmp_path, 2, {"A": command(tmp_path, "A", free="20 + 10 * n")}, (file,))) as answering:
        all_pairs(answering)
        use = {one.system: one for one in answering.uses()}
    mine = use["A"]
    assert (mine.answers, mine.words, mine.tokens, mine.seconds, mine.calls, mine.cost) == (2, 25, 35, 2.0, 1, 0.5)
    assert mine.known == {"words": 2, "tokens": 2, "seconds": 2, "calls": 2, "cost": 2}
    assert (use["F"].words, use["F"].tokens, use["F"].known) == (40, None, {"words": 2})


def test_the_meaning_of_a_sample_is_checked_by_the_judge(tmp_path: Path) -> None:
    kept, lost = "Ada built it. Bob paid for it.", "Ada built it. Bob paid for it. " + text(60, "x")
    files = answers(tmp_path, "A", [kept, lost]), answers(tmp_path, "B", [text(20), text(20)])
    with FakeServer(Writer()) as server, opened(Given(tmp_path, 2, {}, files, server.base_url), rule=alignment(tolerance=5)) as answering:
        made = all_pairs(answering)
        answering.check_meaning()
        count = answering.counts()[0]
        sent = server.stats().requests
        answering.check_meaning()
        assert server.stats().requests == sent  # known already
    assert [one.how for one in made] == ["forced", "forced"] and count.meaning_checked == 2
    # q0: A got longer and keeps both claims; q1: B got longer; its one claim is still said
    assert count.kept_meaning.value == 1.0
    assert count.kept_meaning.low is not None and count.kept_meaning.high == 1.0


def test_a_claim_that_was_cut_away_shows_in_the_share_that_is_kept(tmp_path: Path) -> None:
    long = "Ada built it. Bob paid for it. Eve saw it."
    systems = {"A": command(tmp_path, "A", again="target + 30")}  # too long: the model then takes words away again
    files = answers(tmp_path, "A", [long]), answers(tmp_path, "B", [text(30)])

    class Cutting(Writer):
        def __call__(self, chat):  # type: ignore[no-untyped-def]
            said = super().__call__(chat)
            return {"answer": "Ada built it. " + text(27, "so")} if "answer" in said else said

    given = Given(tmp_path, 1, systems, files, hooks=("A",))
    with FakeServer(Cutting()) as server, opened(replace(given, url=server.base_url), rule=alignment(tolerance=5)) as answering:
        [made] = all_pairs(answering)
        answering.check_meaning()
        count = answering.counts()[0]
    assert made.how == "forced" and made.words_a == 30
    assert count.meaning_checked == 1 and count.kept_meaning.value == pytest.approx(1 / 3) and count.kept_meaning.low is None
    with opened(given, meaning_sample=0) as answering:
        answering.check_meaning()
        assert answering.counts()[0].meaning_checked == 0


def test_a_dry_run_of_files_counts_what_is_certain_and_what_is_at_most(tmp_path: Path) -> None:
    files = answers(tmp_path, "A", [text(50), text(98), text(20)]), answers(tmp_path, "B", [text(100)] * 3)
    with FakeServer(Writer()) as server:
        with opened(Given(tmp_path, 3, {}, files, server.base_url, dry=True), trials=5) as answering:
            planned = plan(answering)
            stages = {stage.stage: stage for stage in answering.judge.stages()}  # type: ignore[union-attr]
        assert server.stats().requests == 0 and not planned.stages and not planned.lines
        forced, claims = stages["align-forced"], stages["claims-answer"]
        assert (forced.calls_low, forced.calls_high) == (2, 6)  # q0 and q2, a try each, three at most
        assert (claims.calls_low, claims.calls_high) == (0, 2) and stages["verdicts-answer"].calls_high == 2
        with opened(Given(tmp_path, 3, {}, files, server.base_url)) as answering:
            all_pairs(answering)
        assert forced.calls_low <= server.stats().requests <= forced.calls_high
        with opened(Given(tmp_path, 3, {}, files, server.base_url, dry=True), trials=5) as answering:
            plan(answering)
            again = {stage.stage: stage for stage in answering.judge.stages()}["align-forced"]  # type: ignore[union-attr]
            assert (again.calls_low, again.calls_high, again.from_journal) == (0, 0, 2)


def test_a_dry_run_of_systems_counts_free_answers_once_and_what_may_follow(tmp_path: Path) -> None:
    systems = {"A": command(tmp_path, "A", free="100"), "B": command(tmp_path, "B", free="40"), "C": command(tmp_path, "C", adjusts=False)}
    with opened(Given(tmp_path, 3, systems), trials=2) as answering:
        lines = plan(answering).lines
        assert lines == (  # two pairs each, 6 question-trials, 5 attempts at most
            "A: 6 answers, 0 to 60 asked again for a length; what they cost is not known here",
            "B: 6 answers, 0 to 60 asked again for a length; what they cost is not known here",
            "C: 6 answers; what they cost is not known here",
        )
        assert not asked(tmp_path, "A")
        all_pairs(answering)
        assert plan(answering).lines == ()  # all of it is known now
