"""`kgeval stats`: every sub-command through the command line, its figures computed a second time, and what bad files are told."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import evalica
import numpy as np
import pytest
from scipy import stats as reference
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from kgeval.cli.main import run
from kgeval.records import StatsReport
from kgeval.stats.bootstrap import bootstrap_mean

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "stats.md"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "130")


def wrote(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> StatsReport:
    """The report of a command that succeeds."""
    assert run(["stats", *arguments, "-f", "json"]) == 0, capsys.readouterr().err
    return StatsReport.model_validate_json(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["stats", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def wide(columns: dict[str, Any], name: str = "s.csv") -> str:
    rows = [",".join(["question_id", *columns])]
    rows += [",".join([f"q{at}", *("" if value is None else repr(float(value)) for value in row)]) for at, row in
             enumerate(zip(*columns.values(), strict=True))]
    return wrote(name, "\n".join(rows) + "\n")


def duels(outcomes: list[tuple[str, str, str]], name: str = "d.csv") -> str:
    return wrote(name, "question_id,left,right,winner\n" + "".join(f"q{at},{a},{b},{w}\n" for at, (a, b, w) in enumerate(outcomes)))


def test_the_page_shows_what_the_commands_print(capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = [one for line in text.splitlines() if line.endswith(":") for one in re.findall(r"`(\w+\.(?:csv|jsonl))`", line)]
    files = re.findall(r"```(?:csv|json)\n(.*?)```", text, re.DOTALL)
    names += [one for one in re.findall(r"`(\w+\.csv)` \(people", text) if one not in names]
    order = sorted(set(names), key=lambda one: text.index(f"`{one}`"))
    assert len(order) == len(files) == 9
    for name, content in zip(order, files, strict=True):
        wrote(name, content)
    shown = re.findall(r"^\$ (kgeval stats .*?)\n(.*?)(?=\n\n\$ |\n```)", text, re.DOTALL | re.MULTILINE)
    assert len(shown) == 9
    for command, output in shown:
        assert run(command.split()[1:]) == 0
        assert capsys.readouterr().out.rstrip() == output.rstrip(), command


def test_paired_figures_are_those_of_scipy_and_statsmodels(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    a, b, c = rng.random((3, 40)).round(3)
    found = report(capsys, "paired", wide({"a": a + 0.1, "b": b, "c": c}))
    by_pair = {(one.system_a, one.system_b): one for one in found.paired}
    values = {"a": a + 0.1, "b": b, "c": c}
    for (one, other), result in by_pair.items():
        differences = values[one] - values[other]
        assert result.difference.value == pytest.approx(differences.mean(), abs=1e-9)
        assert result.wilcoxon_p == pytest.approx(reference.wilcoxon(np.round(differences, 12), zero_method="pratt").pvalue, abs=1e-9)
        assert result.effect == pytest.approx(differences.mean() / differences.std(ddof=1), abs=1e-9)
        assert result.superiority == pytest.approx((differences > 0).mean() + (differences == 0).mean() / 2, abs=1e-9)
        assert result.needed is not None and result.detectable is not None
        needed = TTestPower().solve_power(abs(differences.mean()) / differences.std(ddof=1), power=0.8, alpha=0.05)
        assert result.needed == int(np.ceil(needed))
    corrected = multipletests([one.p for one in found.paired], method="holm")[1]
    assert [one.p_holm for one in found.paired] == pytest.approx(list(corrected), abs=1e-9)
    ends = bootstrap_mean(values["b"] - values["c"], seed=0)
    assert ends is not None
    assert (by_pair["b", "c"].difference.low, by_pair["b", "c"].difference.high) == pytest.approx((ends.low, ends.high), abs=1e-12)


def test_sign_flips_of_few_questions_are_counted_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    """Differences 1, 1, 1: of 8 patterns two are as far out, so p is 1/4."""
    assert report(capsys, "paired", wide({"a": [1, 1, 1], "b": [0, 0, 0]})).paired[0].p == 0.25


def test_mcnemar_is_that_of_statsmodels_and_only_for_zeros_and_ones(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = [1, 1, 1, 1, 1, 1, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1, 1, 0, 1, 0]
    one = report(capsys, "paired", wide({"a": a, "b": b})).paired[0]
    assert (one.only_a, one.only_b) == (5, 1)
    assert one.mcnemar_p == pytest.approx(mcnemar([[2, 5], [1, 2]], exact=True).pvalue, abs=1e-9)
    assert report(capsys, "paired", wide({"a": a, "b": [0.5] * 10})).paired[0].mcnemar_p is None


def test_trials_of_a_question_are_averaged_before_anything_else(capsys: pytest.CaptureFixture[str]) -> None:
    rows = "question_id,system,score,trial\n" + "".join(
        f"q{q},{s},{v},{t}\n" for q, s, t, v in [(1, "a", 1, 1), (1, "a", 2, 0), (1, "b", 1, 0), (2, "a", 1, 1), (2, "b", 1, 0)]
    )
    one = report(capsys, "paired", wrote("t.csv", rows)).paired[0]
    assert (one.n, one.n_scored, one.mean_a, one.mcnemar_p) == (2, 2, 0.75, None)


def test_an_empty_cell_is_a_failure_with_its_cause_and_never_a_zero(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "paired", wide({"a": [1, None, 0.5, 0.25], "b": [0, 1, None, 0.25]}))
    one = found.paired[0]
    assert (one.n, one.n_scored, one.failures) == (4, 2, {"a: no score": 1, "b: no score": 1})
    assert one.difference.value == 0.5
    assert [(mean.n, mean.n_scored, mean.failures) for mean in found.systems] == [(4, 3, {"no score": 1})] * 2


def test_one_question_gives_a_difference_and_says_that_there_is_no_test(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "paired", wide({"a": [1], "b": [0.25]}))
    one = found.paired[0]
    assert (one.difference.value, one.difference.low, one.p, one.effect) == (0.75, None, None, None)
    assert any("one question only" in note for note in found.notes)


def test_equal_systems_differ_by_nothing_with_p_1(capsys: pytest.CaptureFixture[str]) -> None:
    one = report(capsys, "paired", wide({"a": [0.1, 0.5, 0.9], "b": [0.1, 0.5, 0.9]})).paired[0]
    assert (one.difference.value, one.difference.low, one.difference.high, one.p, one.superiority) == (0, 0, 0, 1, 0.5)
    assert one.effect is None and one.needed is None


def test_systems_with_different_questions_are_refused_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    long = wrote("l.csv", "question_id,system,score\nq1,a,1\nq2,a,0\nq3,a,1\nq1,b,0\nq2,b,0\nq4,b,1\n")
    said = refused(capsys, "paired", long)
    assert "a lacks 1: q4" in said and "b lacks 1: q3" in said and "--allow-missing" in said
    found = report(capsys, "paired", long, "--allow-missing")
    assert found.missing == {"a": ["q4"], "b": ["q3"]}
    assert (found.paired[0].n, found.paired[0].n_scored) == (4, 2)
    assert found.paired[0].failures == {"b: no row": 1, "a: no row": 1}


def test_scores_outside_their_range_nan_and_infinite_ones_are_told_together(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "paired", wrote("s.csv", "question_id,a,b\nq1,0.5,1.5\nq2,inf,0.5\nq3,nan,0.5\nq1,0.5,0.5\n"), "--range", "0,1")
    assert "s.csv:2: b: 1.5 is outside the range 0 to 1" in said
    assert "s.csv:3: a: a finite number expected" in said
    assert "s.csv:5: a second score of 'a' for the place of s.csv:2" in said
    assert "s.csv:4" not in said  # nan is what is missing, not a fault


@pytest.mark.parametrize(("arguments", "words"), [
    (("paired", "s.csv", "--range", "1,0"), "faulty --range"), (("paired", "s.csv", "s.csv"), "given twice"),
    (("paired", "s.csv", "--systems", "zz,a"), "there are: a, b"), (("paired", "gone.csv"), "no such file"),
    (("paired", "s.csv", "--systems", "a"), "two systems are needed"),
    (("paired", "s.csv", "--paired-by", "nothing"), "no file has a field"),
    (("paired", "s.csv", "-o", "s.csv"), "no form '.csv'"), (("paired", "s.csv", "-o", "r.html"), "no form '.html'"),
    (("power", "--sd", "0.3"), "nothing is asked"), (("power", "--difference", "0.1"), "no spread is known"),
    (("power", "--sd", "-1", "--n", "5"), "above 0"), (("power", "--sd", "1", "--difference", "0"), "no number of questions"),
    (("power", "--sd", "1", "--n", "9", "--power", "0.01"), "--power must lie above"),
    (("rank", "s.csv"), "no field for winner"), (("correct", "s.csv"), "--human FILE"),
    (("judge", "s.csv", "--winner", "x"), "faulty --winner"),
    (("paired", "s.csv", "--confidence", "1"), "not between 0 and 1"),
])
def test_options_and_files_that_do_not_fit_are_refused(arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    wide({"a": [1, 0.5], "b": [0.25, 0]})
    before = Path("s.csv").read_bytes()
    assert words in refused(capsys, *arguments)
    assert Path("s.csv").read_bytes() == before


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


def test_power_is_that_of_statsmodels(capsys: pytest.CaptureFixture[str]) -> None:
    one = report(capsys, "power", "--sd", "0.4", "--difference", "0.1", "--n", "100").power[0]
    assert one.needed == int(np.ceil(TTestPower().solve_power(0.25, power=0.8, alpha=0.05)))
    assert one.detectable == pytest.approx(0.4 * TTestPower().solve_power(nobs=100, power=0.8, alpha=0.05), abs=1e-6)
    assert one.tier == "standard"


def test_an_a_a_check_passes_for_equal_runs_and_fails_for_different_ones(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    base = rng.random(60)
    for name, shift in (("one", 0.0), ("two", 0.3)):
        values = base + shift + rng.normal(0, 0.1, 60)
        rows = "".join(f"q{at},same,{value}\n" for at, value in enumerate(values))
        wrote(f"{name}.csv", "question_id,system,score\n" + rows)
    wrote("again.csv", Path("one.csv").read_text())
    same = report(capsys, "aa", "one.csv", "again.csv").self_checks[0]
    assert (same.passed, same.n, same.system) == (True, 60, "one / again, score")
    assert report(capsys, "aa", "one.csv", "two.csv").self_checks[0].passed is False
    verdicts = duels([("run1", "run2", "left"), ("run1", "run2", "right")] * 20)
    assert report(capsys, "aa", verdicts).self_checks[0].passed is True


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
    found = report(capsys, "correct", verdicts, "--human", wrote("l.csv", "question_id,label\n" + rows))
    assert [one.method for one in found.corrected] == ["judge", "people", "ppi++", "rogan-gladen"]
    assert found.corrected[1].relative.value == -1.0 and found.corrected[1].labels == 15
    said = refused(capsys, "correct", verdicts, "--human", wrote("o.csv", "question_id,label\nother1,a\nother2,b\n"))
    assert "2 labels are about nothing that was judged" in said and "o.csv:2: question 'other1'" in said
    mixed = wrote("m.csv", "question_id,label\nq0,a\nq1,b\nq2,a\nother,b\n")
    assert "question 'other'" in refused(capsys, "correct", verdicts, "--human", mixed)
    assert report(capsys, "correct", verdicts, "--human", mixed, "--allow-missing").corrected[0].labels == 3
    systems = wrote("s.csv", "question_id,system_a,system_b,label\nq0,a,zz,a\n")
    assert "no verdict on 'a' and 'zz'" in refused(capsys, "correct", verdicts, "--human", systems)
    assert "there is no label at all" in refused(capsys, "correct", verdicts, "--human", wrote("e.csv", "question_id,label\nq0,\n"))


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


def test_reports_are_written_for_the_owner_alone_and_redacted_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    long = wrote("l.csv", "question_id,system,score\nsecret-question,a,1\nq2,a,0\nq2,b,0\nq3,b,1\nq3,a,1\n")
    assert run(["stats", "paired", long, "--allow-missing", "-o", "r.json", "-o", "r.md", "-q"]) == 0
    assert Path("r.json").stat().st_mode & 0o777 == 0o600
    assert "secret-question" in Path("r.md").read_text() and "| graph" not in Path("r.md").read_text()
    assert run(["stats", "paired", long, "--allow-missing", "-o", "s.json", "--redact", "-q"]) == 0
    assert "secret-question" not in Path("s.json").read_text()


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
