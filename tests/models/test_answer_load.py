"""`kgeval answer --load`: answers a second and latency at given numbers of questions in flight, against systems whose speed is known."""

from __future__ import annotations

import json
import statistics
import threading
import time
from itertools import pairwise
from math import ceil
from pathlib import Path

import pytest
from answer_world import questions, script, spec
from scipy import stats as reference

import kgeval
from kgeval.cli.main import run
from kgeval.errors import UsageError
from kgeval.llm.fake import FakeServer
from kgeval.records import Answer, LoadReport
from kgeval.reports.write import rendered
from kgeval.stats.intervals import quantile_interval
from kgeval.systems.load import Request, level_of, measure
from kgeval.systems.system import Ask, ClosedAtEnd

SLOW = "for r in requests():\n    time.sleep(0.05)\n    say(id=r['id'], answer='x')\n"


pytestmark = pytest.mark.usefixtures("alone")


def answer(*arguments: object) -> int:
    return run(["answer", *map(str, arguments), "--no-progress"])


def read(path: str) -> LoadReport:
    return LoadReport.model_validate_json(Path(path).read_text())


def loop(places: int, seconds: float, asked: int, *, busy: float = 0.1, cores: float = 0.2) -> list[Request]:
    """A closed loop in which each answer takes this long: what every place sends and gets, on a clock from 0."""
    requests = []
    for number in range(asked):
        sent = number // places * seconds
        came = sent + seconds
        requests.append(Request(sent, came, None, 0.1 * seconds, cores * came, (busy * 2 * came, 2 * came)))
    return requests


def test_a_level_is_counted_from_the_end_of_the_warm_up_to_the_last_question_sent() -> None:
    level = level_of(loop(4, 0.5, 140), 4, 140, 20)
    # 35 rounds of half a second: the warm-up's five end at 2.5, the last one is sent at 17.0
    assert (level.seconds, level.answered, level.n_latency) == (14.5, 4 * 29, 140 - 20)
    assert level.per_second.value == pytest.approx(4 / 0.5)
    assert level.p50.value == level.p99.value == pytest.approx(0.5) and level.slowest == pytest.approx(0.5)
    assert level.ttft_s is not None and level.ttft_s.p95 == pytest.approx(0.05)
    assert (level.process_cores, level.machine_busy, level.limits) == (pytest.approx(0.2), pytest.approx(0.1), [])


def test_the_interval_of_the_rate_is_students_t_over_ten_slices() -> None:
    requests = loop(1, 0.1, 230)
    level = level_of(requests, 1, 230, 30)
    start, end = sorted(one.came for one in requests)[29], max(one.sent for one in requests)
    edges = [start + number * (end - start) / 10 for number in range(11)]
    counts = [sum(low < one.came <= high for one in requests) for low, high in pairwise(edges)]
    mean, low, high = statistics.mean(counts), *reference.t.interval(0.95, 9, statistics.mean(counts), reference.sem(counts))
    width = (end - start) / 10
    assert level.per_second.value == pytest.approx(mean / width)
    assert (level.per_second.low, level.per_second.high) == (pytest.approx(low / width), pytest.approx(high / width))


def test_quantiles_have_the_ranks_of_the_binomial_distribution() -> None:
    ordered = [float(number) for number in range(1, 101)]
    assert quantile_interval(ordered, 0.5) == (40.0, 61.0), "the ranks of the textbook for the median of 100"
    assert quantile_interval(ordered, 0.99)[1] is None, "a hundred values do not bound the 99th hundredth"
    for share in (0.5, 0.9):
        low, high = quantile_interval(ordered, share)
        assert low is not None and high is not None
        # the quantile is between them where at least `low` and fewer than `high` values are below it
        assert sum(reference.binom.pmf(below, 100, share) for below in range(int(low), int(high))) >= 0.95


@pytest.mark.parametrize(("busy", "cores", "limits"), [(0.95, 0.3, ["machine"]), (0.4, 0.97, ["process"]), (0.5, 0.5, [])])
def test_the_machine_is_named_where_it_was_the_limit(busy: float, cores: float, limits: list[str]) -> None:
    level = level_of(loop(2, 0.5, 100, busy=busy, cores=cores), 2, 100, 10)
    assert level.limits == limits
    run_ = {"kgeval": "0", "command": "answer", "started": "2026-01-01T00:00:00+00:00", "seconds": 0.0}
    system = {"system": "s", "signature": "s", "levels": [level.model_dump()]}
    text = " ".join(rendered(LoadReport.model_validate({"run": run_, "questions": 5, "cores": 2, "systems": [system]}), "text").split())
    assert ("the machine was the limit" in text) is ("machine" in limits)
    assert ("kgeval's own process was busy" in text) is ("process" in limits)


class Failing(ClosedAtEnd):
    """Answers, but for every second question."""

    name, variant, signature, adjusts, parallel = "failing", None, "s", False, 8

    def answer(self, ask: Ask) -> Answer:
        failed = (ask.trial or 0) % 2 == 0
        return Answer(question_id=ask.question_id, system="failing", answer="", error="timeout: slow" if failed else None)


def test_errors_are_no_answers_and_too_many_of_them_end_it() -> None:
    asks = [Ask("q", "Who?", trial=number) for number in range(1, 201)]
    level, stopped = measure(Failing(), asks, 2, 4, max_error_rate=1.0, heard=lambda _: None)
    assert stopped is None and level.errors == {"timeout": pytest.approx(98, abs=4)} and level.answered <= 100
    _, stopped = measure(Failing(), asks, 2, 4, max_error_rate=0.1, heard=lambda _: None)
    assert stopped is not None and stopped.startswith("error_rate")


@pytest.mark.long
def test_more_in_flight_are_more_answers_a_second_until_the_system_takes_no_more(tmp_path: Path) -> None:
    system = spec(script(tmp_path, SLOW))
    given = [questions(tmp_path), "--system", f"mine={system}", "--load", "1,4", "--load-answers", 40]
    assert answer(*given, "-o", "l.json", "-o", "l.html", "-q") == 0
    report = read("l.json")
    one, four = report.systems[0].levels
    assert (one.in_flight, four.in_flight, one.warm_up, one.asked) == (1, 4, 10, 50)
    assert (one.p50.value or 0) >= 0.05 and (one.per_second.value or 0) <= 20
    assert (four.per_second.value or 0) > 1.2 * (one.per_second.value or 0)
    assert "journal" not in report.run.arguments and "questions in flight" in Path("l.html").read_text()


@pytest.mark.long
def test_a_built_in_system_is_asked_anew_at_every_level_as_often_as_the_dry_run_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    file = questions(tmp_path, 3)
    with FakeServer(lambda chat: {"answer": "A mill."}) as server:
        given = [file, "--system", "closed-book", "--model", "m", "--base-url", server.base_url, "--load", "2,1", "--load-answers", 20]
        assert answer(*given, "--dry-run") == 0
        counted = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("total")).split()[1]
        assert server.stats().requests == 0
        assert answer(*given, "-o", "l.json", "-q") == 0
        assert server.stats().requests == int(counted) == 2 * (10 + 20), "none of them from the journal"
        assert [level.in_flight for level in read("l.json").systems[0].levels] == [1, 2]
        assert answer(file, "--system", "closed-book", "--model", "m", "--base-url", server.base_url, "-o", "a.jsonl", "-q") == 0
        assert server.stats().requests == int(counted) + 3, "and none of them is an answer of later runs"


def test_systems_that_send_the_same_do_not_answer_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(lambda chat: {"answer": "A mill."}) as server:
        given = [questions(tmp_path, 3), "--system", "one=closed-book", "--system", "two=closed-book", "--model", "m"]
        given += ["--base-url", server.base_url, "--load", "1,2", "--load-answers", 20]
        assert answer(*given, "--dry-run") == 0
        assert next(line for line in capsys.readouterr().out.splitlines() if line.startswith("total")).split()[1] == "120"
        assert answer(*given, "-q") == 0
        assert server.stats().requests == 2 * 2 * (10 + 20), "or the second would be as fast as the journal"


def test_the_library_gives_a_result(tmp_path: Path) -> None:
    result = kgeval.answer(questions(tmp_path), system={"mine": lambda question: "x"}, load=[1, 2], load_answers=40)
    rows = result.to_pandas()
    assert list(rows["in_flight"]) == [1, 2] and (rows["per_second"] > 0).all() and "p95_high" in rows.columns
    assert ceil(rows["answered"].min()) <= 40


def test_a_budget_that_is_reached_is_neither_an_error_of_the_system_nor_a_whole_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    with FakeServer(lambda chat: {"answer": "A mill."}) as server:
        given = [questions(tmp_path, 3), "--system", "closed-book", "--model", "m", "--base-url", server.base_url]
        given += ["--load", "1,2", "--load-answers", 40, "--max-calls", 70, "--max-error-rate", 1]
        assert answer(*given, "-o", "l.json") == 3
    report, told = read("l.json"), capsys.readouterr()
    assert "closed-book: budget: " in told.err and "error_rate" not in told.err + told.out
    assert not report.complete and [level.errors for level in report.systems[0].levels] == [{}, {}]
    assert (report.systems[0].stopped or "").startswith("budget: ") and report.run.exit_code == 3


@pytest.mark.long
def test_a_cost_limit_that_holds_calls_back_is_named_as_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # a reply could cost 2 USD by its longest, so that two at a time do not fit; it costs a few cents
    Path("p.toml").write_text('as_of = 2026-01-15\n[[model]]\nname = "m"\ninput = 0.0\noutput = 2000\nmax_output = 1000\n')

    def slow(_: object) -> dict[str, str]:
        time.sleep(0.01)
        return {"answer": "A mill."}

    with FakeServer(slow) as server:
        given = [questions(tmp_path, 3), "--system", "closed-book", "--model", "m", "--base-url", server.base_url, "--prices", "p.toml"]
        assert answer(*given, "--load", "1,4", "--load-answers", 20, "--cost-limit", 3, "-o", "l.json") == 0
        assert answer(*given, "--load", "4", "--load-answers", 20, "--cost-limit", 1000, "-o", "m.json") == 0
    assert ["budget" in level.limits for level in read("l.json").systems[0].levels] == [False, True]
    assert "budget" not in read("m.json").systems[0].levels[0].limits
    assert "calls waited here" in " ".join(capsys.readouterr().out.split())


class Hanging(Failing):
    """Does not answer the first question until all others are there, which fail."""

    def __init__(self) -> None:
        self.asked, self.over = 0, threading.Event()

    def answer(self, ask: Ask) -> Answer:
        self.asked += 1
        if ask.trial == 1:
            self.over.wait(20)
        elif self.asked > 40:
            self.over.set()
        return Answer(question_id=ask.question_id, system="failing", answer="", error="system_error: broken")


def test_one_that_hangs_does_not_hide_that_all_others_fail() -> None:
    system = Hanging()
    timer = threading.Timer(1, system.over.set)
    timer.start()
    asks = [Ask("q", "Who?", trial=number) for number in range(1, 201)]
    _, stopped = measure(system, asks, 2, 4, max_error_rate=0.1, heard=lambda _: None)
    timer.cancel()
    assert stopped is not None and system.asked < 30


def test_more_failures_than_are_allowed_end_a_system_though_chance_may_explain_them() -> None:
    class Rarely(Failing):
        def answer(self, ask: Ask) -> Answer:
            failed = (ask.trial or 0) % 8 == 0
            return Answer(question_id=ask.question_id, system="failing", answer="", error="timeout: slow" if failed else None)

    asks = [Ask("q", "Who?", trial=number) for number in range(1, 81)]
    level, stopped = measure(Rarely(), asks, 1, 4, max_error_rate=0.1, heard=lambda _: None)
    assert level.asked == 80 and stopped == "error_rate: 10 of 80 answers failed with 1 in flight"
    assert measure(Rarely(), asks, 1, 4, max_error_rate=0.125, heard=lambda _: None)[1] is None


def test_a_system_that_fails_has_no_figures_and_says_why_in_a_redacted_report_too(tmp_path: Path) -> None:
    def broken(_: str) -> str:
        raise ValueError("of Livia Tarrant")

    result = kgeval.answer(questions(tmp_path), system={"mine": broken}, load=[1, 4], load_answers=20)
    for text in (result.rendered("text"), result.rendered("text", redact=True)):
        lines = " ".join(text.split())
        assert "mine: stopped: error_rate: 20 of 20 answers failed with 1 in flight." in lines and "Tarrant" not in lines
        assert "mine: no answer without an error came." in lines and "answers a second with" not in lines


def test_what_does_not_go_with_it_is_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, system = questions(tmp_path), spec(script(tmp_path, SLOW))
    assert answer(file, "--system", system, "--load", "4", "--trials", 2, "-j", 2) == 2
    told = capsys.readouterr().err
    assert "--load does not go with --trials" in told and "--max-concurrency 2 lets fewer" in told
    assert answer(file, "--system", system, "--load", "4", "--processes", 2) == 2
    assert "takes 2 at a time" in capsys.readouterr().err
    assert answer(file, "--system", "graph", "--load", "4", "--sweep") == 2
    assert "--load does not go with --sweep" in capsys.readouterr().err
    assert answer(file, "--system", system, "--load", "four") == 2
    assert "whole numbers" in capsys.readouterr().err
    assert answer(file, "--system", system, "--load", "1,20", "--load-answers", 20, "--dry-run") == 2
    assert "nothing would be measured" in capsys.readouterr().err, "or it would be paid for"
    assert answer(file, "--system", system, "--load", "1", "-o", "answers.jsonl") == 2
    Path("answers.jsonl").write_text(json.dumps({"question_id": "q0", "answer": "x"}) + "\n")
    assert answer(file, "--system", "file:answers.jsonl", "--load", "1") == 2
    assert "are there already" in capsys.readouterr().err
    with pytest.raises(UsageError, match="whole numbers"):
        kgeval.answer(file, system={"mine": lambda question: "x"}, load="many")
