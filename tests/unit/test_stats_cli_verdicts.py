"""`kgeval stats` on verdicts: order of systems, the judge, streams, labels of people, anchors; and what bad files are told."""

from __future__ import annotations

import json
from pathlib import Path

import evalica
import numpy as np
import pytest
from evalica.__main__ import read_csv
from stats_files import duels, in_a_folder_of_its_own, refused, report, wrote

from kgeval.cli.main import run

__all__ = ["in_a_folder_of_its_own"]  # a fixture that every test here uses


@pytest.mark.slow
def test_strengths_and_average_win_rates_are_evalicas(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(8)
    names = ["u", "v", "w", "x"]
    outcomes = []
    for at in range(120):
        a, b = rng.choice(4, size=2, replace=False)
        winner = rng.choice(["left", "right", "tie"], p=[0.5 + 0.05 * (b - a), 0.3 - 0.05 * (b - a), 0.2])
        outcomes.append((names[a], names[b], str(winner), at))
    found = report(capsys, "rank", duels([one[:3] for one in outcomes]), "--allow-missing")
    meaning = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    columns = ([one[0] for one in outcomes], [one[1] for one in outcomes], [meaning[one[2]] for one in outcomes])
    newman = evalica.newman(*columns, tolerance=1e-14, limit=100_000).scores
    logs = np.log(newman.to_numpy()) - np.log(newman.to_numpy()).mean()
    ours = {one.system: one.strength.value for one in found.ranking.systems} if found.ranking else {}
    assert [ours[name] for name in newman.index] == pytest.approx(list(logs), abs=1e-9)
    half = report(capsys, "rank", "d.csv", "--allow-missing", "--ties", "half")
    plain = evalica.bradley_terry(*columns, tolerance=1e-14, limit=100_000).scores
    logs = np.log(plain.to_numpy()) - np.log(plain.to_numpy()).mean()
    ours = {one.system: one.strength.value for one in half.ranking.systems} if half.ranking else {}
    assert [ours[name] for name in plain.index] == pytest.approx(list(logs), abs=1e-9)


def test_a_system_that_always_wins_is_not_given_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "rank", duels([("a", "b", "left")] * 6))
    assert found.ranking is not None and not found.ranking.rankable and found.ranking.reason
    assert [(one.system, one.strength.value, one.average_win_rate) for one in found.ranking.systems] == [("a", None, 1.0), ("b", None, 0.0)]
    assert run(["stats", "rank", "d.csv"]) == 0
    assert "Not rankable" in capsys.readouterr().out


def test_all_ties_are_a_result(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "rank", duels([("a", "b", "tie")] * 5))
    assert found.pairs[0].rates is not None and found.pairs[0].rates.tie == 1
    assert found.pairs[0].p == 1
    assert report(capsys, "judge", "d.csv").judge[0].ties == 1
    assert report(capsys, "sequential", "d.csv").sequences[0].relative.value == 0


def test_pairs_with_different_questions_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    path = wrote("v.csv", "question_id,left,right,winner\nq1,a,b,left\nq2,a,b,left\nq1,a,c,right\n")
    assert "a - c lacks 1: q2" in refused(capsys, "rank", path)
    assert report(capsys, "rank", path, "--allow-missing").missing == {"a - c": ["q2"]}


def test_the_judges_preference_for_a_place_is_counted_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """Both orders of two questions: A wins 2 of 2 first, 0 of 2 second: 100 % for the first place, every winner turns."""
    both = {"system_a": "a", "system_b": "b"}
    rows = [{"question_id": q, **both, "first": first, "winner": first} for q in ("1", "2") for first in ("a", "b")]
    found = report(capsys, "judge", wrote("v.jsonl", "".join(json.dumps(row) + "\n" for row in rows))).judge[0]
    assert (found.first_wins.value, found.ab_win, found.ba_win, found.flips, found.calls) == (1.0, 1.0, 0.0, 1.0, 4)


def test_one_random_order_a_question_still_shows_the_preference(capsys: pytest.CaptureFixture[str]) -> None:
    """A first: wins 3 of 4. B first: A wins 1 of 4. So (0.75 + 0.75) / 2 for the first place."""
    rows = [("a", "a"), ("a", "a"), ("a", "a"), ("a", "b"), ("b", "a"), ("b", "b"), ("b", "b"), ("b", "b")]
    text = "question_id,system_a,system_b,first,winner\n" + "".join(f"q{at},a,b,{f},{w}\n" for at, (f, w) in enumerate(rows))
    found = report(capsys, "judge", wrote("v.csv", text)).judge[0]
    assert (found.first_wins.value, found.ab_win, found.ba_win) == (0.75, 0.75, 0.25)
    assert found.first_wins.low is not None and found.first_wins.low <= 0.75 <= (found.first_wins.high or 0)
    assert any("in one order" in note for note in found.notes)


def test_half_an_exchange_is_a_failure_with_its_cause(capsys: pytest.CaptureFixture[str]) -> None:
    text = "question_id,system_a,system_b,first,winner\nq1,a,b,a,a\nq1,a,b,b,a\nq2,a,b,a,a\n"
    one = report(capsys, "rank", wrote("v.csv", text)).pairs[0]
    assert (one.n, one.n_scored, one.failures) == (2, 1, {"one order only": 1})


def test_lengths_give_bins_and_a_rate_at_equal_lengths(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(2)
    rows = []
    for at in range(80):
        a, b = rng.integers(20, 200, size=2)
        winner = "a" if a + rng.normal(0, 40) > b else "b"  # the longer one wins, nothing else matters
        rows.append(f"q{at},x,y,{winner},{a},{b}\n")
    found = report(capsys, "judge", wrote("v.csv", "question_id,system_a,system_b,winner,length_a,length_b\n" + "".join(rows))).judge[0]
    assert sum(one.n for one in found.length_bins) >= 78
    assert found.length_slope.low is not None and found.length_slope.low > 0
    assert found.length_controlled.low is not None and found.length_controlled.low <= 0 <= (found.length_controlled.high or 0)


@pytest.mark.slow
def test_a_clear_stream_is_sure_and_an_even_one_stays_open(capsys: pytest.CaptureFixture[str]) -> None:
    clear = report(capsys, "sequential", duels([("a", "b", "left")] * 60 + [("a", "b", "right")] * 5)).sequences[0]
    assert clear.decision == "a" and clear.decided_at is not None and 20 <= clear.decided_at < 65
    assert clear.n == 65 and clear.path[-1].n == 65
    lows = [point.low for point in clear.path]
    assert lows == sorted(lows)  # it only narrows
    even = report(capsys, "sequential", duels([("a", "b", "left"), ("a", "b", "right")] * 20)).sequences[0]
    assert even.decision == "open" and even.decided_at is None
    assert even.relative.low is not None and even.fixed.low is not None and even.relative.low < even.fixed.low


def test_labels_correct_a_win_rate_and_labels_of_other_questions_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = duels([("a", "b", "left" if at % 3 else "right") for at in range(60)])
    rows = "".join(f"q{at},{'a' if at % 2 else 'b'}\n" for at in range(0, 60, 4))
    found = report(capsys, "correct", verdicts, "--labels", wrote("l.csv", "question_id,label\n" + rows))
    assert [one.method for one in found.corrected] == ["judge", "people", "ppi++", "rogan-gladen"]
    assert found.corrected[1].relative.value == -1.0 and found.corrected[1].labels == 15
    said = refused(capsys, "correct", verdicts, "--labels", wrote("o.csv", "question_id,label\nother1,a\nother2,b\n"))
    assert "2 labels are about nothing that was judged" in said and "o.csv:2: question 'other1'" in said
    mixed = wrote("m.csv", "question_id,label\nq0,a\nq1,b\nq2,a\nother,b\n")
    assert "question 'other'" in refused(capsys, "correct", verdicts, "--labels", mixed)
    assert report(capsys, "correct", verdicts, "--labels", mixed, "--allow-missing").corrected[0].labels == 3
    systems = wrote("s.csv", "question_id,system_a,system_b,label\nq0,a,zz,a\n")
    assert "no verdict on 'a' and 'zz'" in refused(capsys, "correct", verdicts, "--labels", systems)
    assert "there is no label at all" in refused(capsys, "correct", verdicts, "--labels", wrote("e.csv", "question_id,label\nq0,\n"))


def test_labels_that_are_no_random_part_are_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{at % 2},{at % 2 if at % 2 and at < 60 else ''},q{at}\n" for at in range(200))
    found = report(capsys, "correct", wrote("s.csv", "judge,human,question_id\n" + rows))
    assert found.selection_p is not None and found.selection_p < 0.001
    assert "no random part" in found.notes[0]


def test_drift_takes_an_earlier_report_as_its_baseline(capsys: pytest.CaptureFixture[str]) -> None:
    wrote("a.csv", "id,question,answer_a,answer_b,label\n" + "".join(f"p{at},Q{at}?,one {at},two,a\n" for at in range(12)))
    for name, lost in (("then", 0), ("now", 9)):
        rows = "".join(f"p{at},x,y,{'b' if at < lost else 'a'},{trial}\n" for at in range(12) for trial in (1, 2))
        wrote(f"{name}.csv", "question_id,system_a,system_b,winner,trial\n" + rows)
    assert run(["stats", "drift", "then.csv", "--anchors", "a.csv", "-o", "then.json", "-q"]) == 0
    capsys.readouterr()
    by_report = report(capsys, "drift", "now.csv", "--anchors", "a.csv", "--baseline", "then.json").drift
    by_file = report(capsys, "drift", "now.csv", "--anchors", "a.csv", "--baseline", "then.csv").drift
    assert by_report == by_file and by_report is not None
    assert by_report.moved is True and by_report.changed == 0.75
    wrote("others.csv", "question_id,system_a,system_b,winner\nzz,x,y,a\n")
    assert "no verdict is about an anchor" in refused(capsys, "drift", "others.csv", "--anchors", "a.csv")
    assert "holds no anchors" in refused(capsys, "drift", "now.csv", "--anchors", "a.csv", "--baseline", wrote("r.json", '{"run": {}}'))


def test_hostile_names_do_not_steer_the_terminal_or_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    path = wrote("v.csv", "question_id,left,right,winner\nq1,\x1b[31mred,<b>|x,left\nq2,\x1b[31mred,<b>|x,right\n")
    assert run(["stats", "rank", path, "-o", "r.md"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    page = Path("r.md").read_text()
    assert "\x1b" not in page and "<b>" not in page


def test_the_same_seed_gives_the_same_report_and_the_rows_order_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = [("a", "b", "left"), ("a", "b", "right"), ("a", "b", "left"), ("a", "b", "tie")] * 6
    one = report(capsys, "rank", duels(outcomes)).pairs
    text = Path("d.csv").read_text().splitlines()
    two = report(capsys, "rank", wrote("e.csv", "\n".join([text[0], *reversed(text[1:])]) + "\n")).pairs
    assert one == two


def test_outcomes_go_out_as_evalica_reads_them_and_come_back_as_the_same_ranking(capsys: pytest.CaptureFixture[str]) -> None:
    """Both orders of a question are one outcome: u wins q1 in both, wins and loses q2; q3 has no second order."""
    rows = [
        ("q1", "u", "v", "u", "u"), ("q1", "u", "v", "v", "u"), ("q2", "u", "v", "u", "u"), ("q2", "u", "v", "v", "v"),
        ("q1", "v", "w", "v", "w"), ("q1", "v", "w", "w", "w"), ("q2", "v", "w", "v", "v"), ("q2", "v", "w", "w", "v"),
        ("q3", "v", "w", "v", "v"), ("q1", "w", "u", "w", "w"), ("q1", "w", "u", "u", "w"), ("q2", "w", "u", "w", "u"),
        ("q2", "w", "u", "u", "u"),
    ]
    path = wrote("v.csv", "question_id,system_a,system_b,first,winner\n" + "".join(",".join(row) + "\n" for row in rows))
    first = report(capsys, "rank", path, "--allow-missing", "--export", "e.csv")
    assert Path("e.csv").read_text() == (
        "left,right,winner,question_id\nu,v,left,q1\nu,v,tie,q2\nv,w,right,q1\nv,w,left,q2\nw,u,left,q1\nw,u,right,q2\n"
    )
    again = report(capsys, "rank", "e.csv", "--allow-missing")
    assert first.ranking is not None and first.ranking == again.ranking
    with Path("e.csv").open() as file:
        theirs = evalica.newman(*read_csv(file), tolerance=1e-14, limit=100_000).scores
    logs = np.log(theirs.to_numpy()) - np.log(theirs.to_numpy()).mean()
    ours = {one.system: one.strength.value for one in first.ranking.systems}
    assert [ours[name] for name in theirs.index] == pytest.approx(list(logs), abs=1e-6)


def test_an_export_replaces_no_input_and_holds_no_formula(capsys: pytest.CaptureFixture[str]) -> None:
    path = duels([("=1+1", "b", "left")])
    assert "would replace a file that is read" in refused(capsys, "rank", path, "--export", path)
    assert "d.csv is no folder" in refused(capsys, "rank", path, "--export", "d.csv/e.csv")
    assert "unknown ending" in refused(capsys, "rank", path, "--export", "e.json")
    assert run(["stats", "rank", path, "--export", "e.csv", "-q"]) == 0
    assert Path("e.csv").read_text().splitlines()[1].startswith("'=1+1,b,left")


def test_the_confidence_reaches_every_interval_or_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    path = duels([("a", "b", "left"), ("a", "b", "right"), ("a", "b", "left"), ("a", "b", "tie")] * 10)
    wide_one, narrow = (report(capsys, "rank", path, "--confidence", one).pairs[0].relative for one in ("0.99", "0.8"))
    assert None not in (wide_one.low, narrow.low) and (wide_one.low or 0) < (narrow.low or 0) < (narrow.high or 0) < (wide_one.high or 0)
    assert run(["stats", "rank", path, "--confidence", "0.8"]) == 0
    assert "80 %" in (out := capsys.readouterr().out) and "95 %" not in out
    for command in ("judge", "correct"):
        assert "No such option" in refused(capsys, command, path, "--confidence", "0.8")
