"""The engine without the command: order, places that are lost, stopping, tables read back, and the count beforehand."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare_world import PairJudge
from room import session

from kgeval.comparison.align.rule import AlignedPair
from kgeval.comparison.engine import ComparedAnswers, JudgeRun, StopWhenSure
from kgeval.comparison.judge.grades import chosen_aspects
from kgeval.comparison.judge.procedures import judge_procedure
from kgeval.comparison.planning import Planning, count, exact, plan
from kgeval.comparison.stopping import Stopping
from kgeval.comparison.verdict_store import Pairing, ProcedureRun, VerdictStore
from kgeval.errors import InputError
from kgeval.llm.asker import Dry, Live
from kgeval.llm.calls import Outcome, Task
from kgeval.llm.fake import FakeServer
from kgeval.llm.prompts import Prompt, load_prompt
from kgeval.llm.session import Models
from kgeval.records import Answer, ComparisonVerdict, Procedure, Question, TrialKind

QUESTIONS = tuple(Question(id=f"q{n}", question=f"Who built {n}?", level=("node", "edge")[n % 2]) for n in range(6))


class Texts:
    """Answers by system: the worth of each question's answer, over again; in q2 they cannot be brought to one length in trial 2, and of q3
    the second system has no answer."""

    trial_kind: TrialKind = "rejudge"

    def __init__(self, **worth: Sequence[int]) -> None:
        self.worth, self.asked = worth, list[tuple[str, str, str, int]]()

    def pair(self, question: Question, a: str, b: str, trial: int) -> AlignedPair:
        self.asked.append((a, b, question.id, trial))
        n = int(question.id[1:])
        points = {name: self.worth[name][n % len(self.worth[name])] for name in (a, b)}
        one, other = (
            Answer(question_id=question.id, system=name, answer=f"{question.id} worth {points[name]}, {name}") for name in (a, b)
        )
        made = AlignedPair(one, other, 4, 4, "equal")
        if question.id == "q2" and trial == 2:
            return replace(made, how="discarded", words_b=40)
        return replace(made, how="failed", failure="timeout: after 5 s") if question.id == "q3" else made

    def pair_if_known(self, question: Question, a: str, b: str, trial: int) -> AlignedPair | None:
        return self.pair(question, a, b, trial) if question.id != "q5" else None


def rounds(*procedures: Procedure, trials: int = 2, repeats: int = 2) -> list[ProcedureRun]:
    return [ProcedureRun(judge_procedure(one, chosen_aspects(())), trials, repeats, True) for one in procedures]


def made(models: Models, verdicts: VerdictStore, texts: Texts, given: Sequence[ProcedureRun], **more: object) -> JudgeRun:
    names = list(texts.worth)
    pairings = [Pairing(a, b, QUESTIONS) for at, a in enumerate(names) for b in names[at + 1:]]
    run = JudgeRun(models, Live(models), ComparedAnswers(texts, texts), verdicts, pairings, given, **more)  # type: ignore[arg-type]
    run.carry_out()
    return run


def test_places_that_are_discarded_or_failed_are_told_from_losses_and_cost_nothing(tmp_path: Path) -> None:
    texts = Texts(a=(4,), b=(2,))
    with FakeServer(PairJudge()) as server, session(server.base_url, tmp_path / "j") as models:
        with VerdictStore((tmp_path / "v.jsonl",)) as verdicts:
            run = made(models, verdicts, texts, rounds("scores"))
            table = verdicts.table(verdicts.segments[0])
            verdicts.written()
        assert server.stats().requests == (4 * 2 + 1) * 4, "four questions in both trials, q2 in one"
    assert [sorted(one.discarded) for one in table.questions] == [[], [], [2], [], [], []]
    assert table.failures == {(3, 0): "timeout: after 5 s", (3, 1): "timeout: after 5 s"}
    wins = table.wins()
    assert np.array_equal(wins, [[1, 1], [1, 1], [1, np.nan], [np.nan, np.nan], [1, 1], [1, 1]], equal_nan=True)
    assert table.gaps()[0, 0] == 8 and table.gaps("relevance")[0, 0] == 2 and table.points.shape == (6, 2, 2, 2, 4, 2)
    rows = [ComparisonVerdict.model_validate_json(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    lost = [row for row in rows if row.failure]
    assert len(lost) == (1 + 2) * 4 and {row.failure.partition(":")[0] for row in lost if row.failure} == {"discarded", "timeout"}
    assert run.notes == []


def test_tables_come_one_pair_at_a_time_in_order_and_the_same_again(tmp_path: Path) -> None:
    texts = Texts(a=(4,), b=(2,), c=(3, 5))
    with FakeServer(PairJudge()) as server, session(server.base_url, tmp_path / "j") as models, VerdictStore() as verdicts:
        made(models, verdicts, texts, given := rounds("scores", "single"))
        found = [(table.procedure, table.system_a, table.system_b) for one in given for table in verdicts.tables(one)]
        assert found == [(name, a, b) for name in ("scores", "single") for a, b in (("a", "b"), ("a", "c"), ("b", "c"))]
        first, again = (list(verdicts.tables(given[0])) for _ in range(2))
        assert all(np.array_equal(x.points, y.points, equal_nan=True) for x, y in zip(first, again, strict=True))
        told = list(verdicts.verdicts(verdicts.segments[0], 1))
    assert {one.question_id for one in told} == {"q1"} and len(told) == 2 * 2 * 2 * 4
    assert [(one.first, one.repeat) for one in told[::4]] == [("a", 1), ("a", 2), ("b", 1), ("b", 2)] * 2


def test_a_pair_that_is_clear_stops_early_in_an_order_of_the_seed_alone(tmp_path: Path) -> None:
    many = tuple(Question(id=f"q{4 + 4 * n}", question=f"Who built {n}?") for n in range(80))
    seen = []
    for threads in (1, 8):
        texts = Texts(a=(4,), b=(2,))
        with FakeServer(PairJudge()) as server, session(server.base_url, tmp_path / f"j{threads}", concurrency=threads) as models:
            with VerdictStore() as verdicts:
                pairings = [Pairing("a", "b", many)]
                sure = StopWhenSure(lambda: Stopping(tie_region=0.1, least=10), seed=7)
                once = rounds("scores", trials=1, repeats=1)
                run = JudgeRun(models, Live(models), ComparedAnswers(texts, texts), verdicts, pairings, once, sure)
                run.carry_out()
                table = verdicts.table(verdicts.segments[0])
            (stopped,) = run.stopped
            assert server.stats().requests == stopped.calls == stopped.questions * 2
            seen.append(([one.question_id for one in table.questions], stopped))
    assert seen[0] == seen[1]
    ids, stopped = seen[0]
    assert stopped.decision == "a" and len(ids) == stopped.questions < 80 and stopped.of_calls == 160
    places = [int(name[1:]) for name in ids]
    assert places == sorted(places) != list(range(4, 4 + 4 * len(places), 4)), "a random part, shown in the order of the file"


def test_a_system_is_not_asked_for_answers_that_nobody_judges_any_more(tmp_path: Path) -> None:
    texts = Texts(a=(4,), b=(2,))
    texts.trial_kind = "regenerate"
    with (
        FakeServer(PairJudge()) as server, session(server.base_url, tmp_path / "j", max_calls=4, concurrency=1) as models,
        VerdictStore() as verdicts,
    ):
        made(models, verdicts, texts, rounds("scores"))
        table = verdicts.table(verdicts.segments[0])
    assert len(texts.asked) == 2, "the first had its four calls, the second met the limit"
    assert np.count_nonzero(~np.isnan(table.wins())) == 1 and {cause.partition(":")[0] for cause in table.failures.values()} == {"budget"}


def test_the_count_is_exact_where_answers_are_known_and_at_most_where_not(tmp_path: Path) -> None:
    texts, given = Texts(a=(4,), b=(2,)), rounds("scores", "differential")
    with FakeServer(PairJudge()) as server, session(server.base_url, tmp_path / "j") as models:
        dry = Dry(models)
        assert plan(Planning(models, dry, texts, texts, [Pairing("a", "b", QUESTIONS)], given)) == ((), [])  # type: ignore[arg-type]
        found = {stage.stage: (stage.calls_low, stage.calls_high) for stage in dry.stages()}
        assert server.stats().requests == 0
    known, unknown = (3 * 2 + 1) * 4, 2 * 4  # q0, q1, q4 and a trial of q2; q5 is not known, q3 has failed
    assert found == {
        "compare-scores": (known, known + unknown), "compare-content": (known, known + unknown), "compare-unique": (0, known + unknown),
    }


@pytest.mark.long
def test_a_count_above_the_limit_is_worked_out_and_tells_so(tmp_path: Path) -> None:
    texts, given = Texts(a=(4,), b=(2,)), rounds("scores", "single", trials=25)
    pairings = [Pairing("a", "b", QUESTIONS[:2])]
    with FakeServer(PairJudge()) as server, session(server.base_url, tmp_path / "j") as models:
        planning = Planning(models, Dry(models), texts, texts, pairings, given)  # type: ignore[arg-type]
        assert exact(planning) and not exact(planning, most=399)
        stages, notes = plan(planning, most=399)
        assert [(stage.stage, stage.calls_low, stage.calls_high) for stage in stages] == [
            ("compare-scores", 200, 200), ("compare-single", 200, 200),
        ]
        assert notes and all(count(one, pairings[0]) == 200 for one in given)
        dry = Dry(models)
        plan(replace(planning, dry=dry))
        for worked_out, counted in zip(stages, dry.stages(), strict=True):
            assert (worked_out.calls_high, pytest.approx(worked_out.input_tokens_high, rel=0.02)) == (
                counted.calls_high, counted.input_tokens_high,
            )


class Offline:
    """Stands in for a session and its asker: every answer has 3 points, and nothing of it is kept."""

    dry, stopped = False, None

    def prompt(self, name: str) -> Prompt:
        return load_prompt(name)

    def ask(self, task: Task[Any]) -> Outcome[Any]:
        part = {"reason": "why " * 50, "score": 3}
        said = {name: {"first": part, "second": part} for name in task.reply.model_fields}
        return Outcome(task.id, task.reply.model_validate(said))

    def map(self, work: Any, items: Any, *, total: int) -> Iterator[Any]:
        return map(work, items)


@pytest.mark.long
def test_memory_stays_flat_with_many_pairs_and_trials(tmp_path: Path) -> None:
    """Verdicts are on disk: thirty times as many take a few places a line more."""
    peaks, sizes, offline = [], [], Offline()
    for systems, trials in ((3, 2), (12, 3)):
        texts = Texts(**{f"s{n}": (3,) for n in range(systems)})
        with VerdictStore((tmp_path / f"{systems}.jsonl",)) as verdicts:
            pairings = [Pairing(a, b, QUESTIONS) for a, b in combinations(texts.worth, 2)]
            (one,) = rounds("scores", trials=trials, repeats=1)
            JudgeRun(offline, offline, ComparedAnswers(texts, texts), verdicts, pairings, [one]).carry_out()  # type: ignore[arg-type]
            sizes.append(verdicts.written()[0].stat().st_size)
            tracemalloc.start()
            ties = sum(int(np.count_nonzero(table.wins() == 0)) for table in verdicts.tables(one))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
            assert ties == len(pairings) * (5 * trials - 1)
    assert sizes[1] > 30 * sizes[0] and peaks[1] < 6 * peaks[0] < sizes[1], (peaks, sizes)


def test_a_run_holds_its_output_and_leaves_nothing_before_its_end(tmp_path: Path) -> None:
    texts = Texts(a=(4,), b=(2,))
    with FakeServer(PairJudge()) as server, session(server.base_url, tmp_path / "j") as models:
        (tmp_path / "out").mkdir()
        with VerdictStore((tmp_path / "out" / "v.jsonl",)) as verdicts:
            made(models, verdicts, texts, rounds("scores", trials=1))
            with pytest.raises(InputError, match=r"v\.jsonl: another run is writing it"):
                VerdictStore((tmp_path / "out" / "v.jsonl",))
        assert not list((tmp_path / "out").iterdir())
