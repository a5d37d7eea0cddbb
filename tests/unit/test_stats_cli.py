"""`kgeval stats` on scores: every figure computed a second time, and what bad files are told; the page shows what is printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as reference
from stats_files import duels, in_a_folder_of_its_own, refused, report, wide, wrote
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower

from kgeval.cli.main import run
from kgeval.stats.bootstrap import bootstrap_mean

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "stats.md"
__all__ = ["in_a_folder_of_its_own"]  # a fixture that every test here uses


@pytest.mark.slow
def test_the_page_shows_what_the_commands_print(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = PAGE.read_text(encoding="utf-8")
    names = [one for line in text.splitlines() if line.endswith(":") for one in re.findall(r"`(\w+\.(?:csv|jsonl))`", line)]
    files = re.findall(r"```(?:csv|json)\n(.*?)```", text, re.DOTALL)
    names += [one for one in re.findall(r"`(\w+\.csv)` \(people", text) if one not in names]
    order = sorted(set(names), key=lambda one: text.index(f"`{one}`"))
    assert len(order) == len(files) == 9
    for name, content in zip(order, files, strict=True):
        wrote(name, content)
    shown = re.findall(r"^\$ (kgeval stats .*?)\n(.*?)(?=\n\n\$ |\n```)", text, re.DOTALL | re.MULTILINE)
    assert len(shown) == 8
    for command, output in shown:
        assert run(command.split()[1:]) == 0
        printed = iter(capsys.readouterr().out.splitlines())
        lines = [line for line in output.splitlines() if line]
        assert len(lines) > 1 and [line for line in lines if line not in printed] == [], command  # some of its lines, in their order


@pytest.mark.long
def test_paired_figures_are_those_of_scipy_and_statsmodels(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(3)
    a, b, c = rng.random((3, 40))
    found = report(capsys, "paired", wide({"a": a + 0.1, "b": b, "c": c}))
    by_pair = {(one.system_a, one.system_b): one for one in found.paired}
    values = {"a": a + 0.1, "b": b, "c": c}
    for (one, other), result in by_pair.items():
        differences = values[one] - values[other]
        assert result.difference.value == pytest.approx(differences.mean(), abs=1e-9)
        assert result.wilcoxon_p == pytest.approx(reference.wilcoxon(differences, method="exact").pvalue, abs=1e-9)
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
    assert (one.difference.value, one.p, one.superiority) == (0, 1, 0.5)
    assert one.difference.low is not None and one.difference.high is not None and one.difference.low < 0 < one.difference.high
    assert one.effect is None and one.needed is None


@pytest.mark.parametrize(("a", "b", "more", "conclusion", "because"), [
    ([0.9, 0.7, 0.8] * 8, [0.5, 0.4, 0.6] * 8, [], "a better", []),
    ([0.5, 0.4, 0.6] * 8, [0.9, 0.7, 0.8] * 8, [], "b better", []),
    ([0.5, 0.6] * 12, [0.6, 0.5] * 12, [], "no difference found", []),
    ([0.9] * 9, [0.1] * 9, [], "not decidable", ["only 9 questions have a result, and fewer than 10 decide nothing"]),
    ([0.7, 0.72] * 12 + [None] * 16, [0.5, 0.55] * 20, [], "not decidable", [
        "16 questions without a result could decide it: with them it is -0.099 to +0.301"]),
    ([0.7, 0.72] * 12 + [None], [0.5, 0.55] * 12 + [0.5], [], "a better", []),
    ([70, 72] * 12 + [None], [50, 55] * 12 + [50], [], "not decidable", [
        "1 question without a score of both could decide it: give --range LOW,HIGH, the least and largest score there can be"]),
    ([70, 72] * 12 + [None], [50, 55] * 12 + [50], ["--range", "0,100"], "a better", []),
])
def test_what_may_be_concluded_is_said_by_the_rules_of_comparisons(
    a: list[float | None], b: list[float | None], more: list[str], conclusion: str, because: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = report(capsys, "paired", wide({"a": a, "b": b}), *more)
    (outcome,) = found.outcomes
    assert (outcome.conclusion, outcome.because) == (conclusion, because)
    assert outcome.coverage[0].absent == sum(value is None for value in a)


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
    (("paired", "s.csv", "--filter-system", "zz,a"), "there are: a, b"), (("paired", "gone.csv"), "no such file"),
    (("paired", "s.csv", "--filter-system", "a"), "two systems are needed"),
    (("paired", "s.csv", "--paired-by", "nothing"), "no file has a field"),
    (("paired", "s.csv", "-o", "s.csv"), "no form '.csv'"), (("paired", "s.csv", "-o", "r.xml"), "no form '.xml'"),
    (("power", "--sd", "0.3"), "nothing is asked"), (("power", "--difference", "0.1"), "no spread is known"),
    (("power", "--sd", "-1", "--n", "5"), "above 0"), (("power", "--sd", "1", "--difference", "0"), "no number of questions"),
    (("power", "--sd", "1", "--n", "9", "--power", "0.01"), "--power must lie above"),
    (("rank", "s.csv"), "no field for winner"), (("correct", "s.csv"), "--labels FILE"),
    (("judge", "s.csv", "--winner", "x"), "faulty --winner"),
    (("paired", "s.csv", "--confidence", "1"), "not in the range 0<x<1"),
])
def test_options_and_files_that_do_not_fit_are_refused(arguments: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    wide({"a": [1, 0.5], "b": [0.25, 0]})
    before = Path("s.csv").read_bytes()
    assert words in refused(capsys, *arguments)
    assert Path("s.csv").read_bytes() == before


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


def test_reports_are_written_for_the_owner_alone_and_redacted_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    long = wrote("l.csv", "question_id,system,score\nsecret-question,a,1\nq2,a,0\nq2,b,0\nq3,b,1\nq3,a,1\n")
    assert run(["stats", "paired", long, "--allow-missing", "-o", "r.json", "-o", "r.md", "-q"]) == 0
    assert Path("r.json").stat().st_mode & 0o777 == 0o600
    assert "secret-question" in Path("r.md").read_text() and "| graph" not in Path("r.md").read_text()
    assert run(["stats", "paired", long, "--allow-missing", "-o", "s.json", "--redact", "-q"]) == 0
    assert "secret-question" not in Path("s.json").read_text()


def test_values_that_are_all_equal_have_an_interval_with_width(capsys: pytest.CaptureFixture[str]) -> None:
    """Four of four do not show that all are: as `stats rank` and `compare` have it (Clopper and Pearson)."""
    found = report(capsys, "paired", wide({"a": np.ones(4), "b": np.zeros(4)}))
    (pair,), others = found.paired, 1 - 0.025 ** (1 / 4)
    assert (pair.difference.low, pair.difference.high) == (pytest.approx(1 - 2 * others), 1)
    assert [(one.mean.low, one.mean.high) for one in found.systems] == [(pytest.approx(1 - others), 1), (0, pytest.approx(others))]
    far = report(capsys, "paired", wide({"a": np.full(4, 5.0), "b": np.full(4, 3.0)}))
    assert far.paired[0].difference.low is None and any("give --range LOW,HIGH" in note for note in far.notes)
    told = report(capsys, "paired", wide({"a": np.full(4, 5.0), "b": np.full(4, 3.0)}), "--range", "1,5")
    assert told.paired[0].difference.low == pytest.approx(2 - 6 * others) and not any("--range" in note for note in told.notes)


def test_what_no_score_can_differ_by_is_not_promised(capsys: pytest.CaptureFixture[str]) -> None:
    """Two questions would find a difference of 8 or 10 on a scale from 0 to 1: they find none."""
    name = wide({"a": np.array([1.0, 0.0]), "b": np.array([0.3, 0.6])})
    found = report(capsys, "paired", name)
    assert found.paired[0].detectable is None and found.paired[0].needed is not None
    assert run(["stats", "paired", name]) == 0
    assert "2 questions find no difference that the scale has" in " ".join(capsys.readouterr().out.split())
    assert report(capsys, "power", name).power[0].detectable is None
    assert report(capsys, "power", "--sd", "0.3", "--n", "2").power[0].detectable is not None, "nobody said how wide the scale is"
    assert report(capsys, "power", "--sd", "0.3", "--n", "2", "--range", "0,1").power[0].detectable is None


@pytest.mark.parametrize(("row", "kind"), [
    ({"id": "q", "question": "Who?", "reference": "A", "hops": 2, "triples_needed": 3}, "questions"),
    ({"question_id": "q", "answer": "A", "input_tokens": 12, "output_tokens": 3, "latency_s": 0.5}, "answers"),
])
def test_fields_of_questions_and_answers_are_no_systems(capsys: pytest.CaptureFixture[str], row: dict[str, object], kind: str) -> None:
    key = "id" if kind == "questions" else "question_id"
    lines = [json.dumps({**row, key: f"q{at}"}) for at in range(3)]
    wrote("rows.jsonl", "\n".join(lines) + "\n")
    assert run(["stats", "paired", "rows.jsonl"]) == 2
    assert f"is a file of {kind}, not of scores" in capsys.readouterr().err
    wrote("rows.jsonl", "\n".join(json.dumps({**json.loads(line), "one": at, "two": 1 - at}) for at, line in enumerate(lines)) + "\n")
    assert run(["stats", "paired", "rows.jsonl"]) == 0
    assert "one - two" in capsys.readouterr().out


def drawn(documents: int) -> str:
    """A wide table: ten questions a document, of which the systems differ from document to document."""
    rng = np.random.default_rng(documents)
    lines = ["question_id,document,topic,A,B"]
    for document in range(documents):
        effect = rng.normal() * 0.3
        for at in range(10):
            a, b = (int(rng.random() < 0.6 + side * effect) for side in (1, -1))
            lines.append(f"q{document}-{at},{document},t{document % 7},{a},{b}")
    return "\n".join(lines) + "\n"


def test_questions_of_one_document_are_no_questions_that_stand_alone(capsys: pytest.CaptureFixture[str]) -> None:
    file = wrote("w.csv", drawn(12))
    (pair,), means = (found := report(capsys, "paired", file)).paired, found.systems
    assert (pair.groups, pair.wilcoxon_p, pair.mcnemar_p) == (12, None, None) and [one.groups for one in means] == [12, 12]
    (alone,) = report(capsys, "paired", file, "--cluster", "question").paired
    assert alone.groups is None and alone.wilcoxon_p is not None
    width, width_alone = (one.difference.high - one.difference.low for one in (pair, alone))
    assert width > 1.5 * width_alone and pair.effective < 60 and pair.detectable > alone.detectable
    (topics,) = report(capsys, "paired", file, "--cluster", "topic").paired
    assert topics.groups == 7
    assert any("over groups of questions (document): 120 questions of 12 groups" in note for note in found.notes)
    assert "no row has a field 'nope'" in refused(capsys, "paired", file, "--cluster", "nope")


def test_of_few_groups_there_is_no_interval_and_it_is_said_why(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "paired", wrote("w.csv", drawn(3)))
    assert found.paired[0].difference.low is None and found.paired[0].difference.value is not None
    assert any(note.startswith("no interval: 30 questions of 3 groups (document), and fewer than 6") for note in found.notes)
