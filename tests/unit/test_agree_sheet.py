"""Blind sheets: what is drawn, who gets it, what nobody can see, and that nothing is lost."""

from __future__ import annotations

import html
import json
import stat
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from people_world import SYSTEMS, header_of, key_at, rows_of, write_world

from kgeval.cli.main import run
from kgeval.comparison.people.drawing import DrawSettings, drawn, shares, spread_of
from kgeval.errors import UsageError
from kgeval.records import Answer, Question, Row, Score

LAW = settings(deadline=None, max_examples=60)


def rows(questions: int, systems: int, *, hops: bool = False, error: str | None = None) -> list[Row]:
    return [
        Row(
            n=n, where=f"f:{n}",
            question=Question(id=f"q{n}", question=f"What is {n}?", level=("node", "edge")[n % 2], hops=1 + n % 3 if hops else None),
            answer=Answer(question_id=f"q{n}", system=f"s{s}", answer=f"text {n} {s}", error=error),
        )
        for n in range(questions) for s in range(systems)
    ]


def wanted(n: int, people: int, per_item: int, seed: int = 0, scope: str = "pairs") -> DrawSettings:
    return DrawSettings(scope, n, tuple(f"p{at}" for at in range(people)), per_item, seed)  # type: ignore[arg-type]


@LAW
@given(st.integers(1, 25), st.integers(1, 30), st.integers(1, 6), st.integers(0, 5), st.integers(0, 99))
def test_items_are_dealt_evenly_and_each_person_sees_half_of_them_in_either_order(
    questions: int, n: int, people: int, fewer: int, seed: int,
) -> None:
    per_item = max(1, people - fewer)
    found = drawn(rows(questions, 2), wanted(n, people, per_item, seed))
    assert len(found.items) == min(n, questions)
    loads = [len(own) for own in found.dealt.values()]
    assert sum(loads) == per_item * len(found.items) and max(loads) - min(loads) <= 1
    for who, own in found.dealt.items():
        assert len(set(own)) == len(own) and set(found.first[who]) == set(own)
        firsts = Counter(found.first[who].values())
        assert abs(firsts["s0"] - firsts["s1"]) <= 1


@LAW
@given(st.dictionaries(st.text(min_size=1, max_size=3), st.integers(1, 50), min_size=1, max_size=8), st.integers(0, 60))
def test_shares_add_up_and_leave_no_stratum_out_where_there_is_room(sizes: dict[str, int], more: int) -> None:
    n = min(more, sum(sizes.values()))
    given_ = shares(sizes, n)
    assert sum(given_.values()) == n and all(0 <= given_[name] <= size for name, size in sizes.items())
    assert n < len(sizes) or min(given_.values()) >= 1
    assert all(abs(given_[name] - n * size / sum(sizes.values())) < len(sizes) + 1 for name, size in sizes.items())


def test_the_sample_is_stratified_by_level_and_hops() -> None:
    found = drawn(rows(60, 2, hops=True), wanted(12, 3, 3))
    assert {n for n, _ in found.strata.values()} == {2} and len(found.strata) == 6
    assert "node / 1 hop" in found.strata and "edge / 2 hops" in found.strata


def test_without_hops_difficulty_is_how_far_scores_lie_apart() -> None:
    scores = [
        Score(question_id=f"q{n}", system=f"s{s}", metric="m", value=n / 10 if s else 0.0, status="scored", signature="x")
        for n in range(9) for s in range(2)
    ]
    found = drawn(rows(9, 2), wanted(9, 1, 1), spread_of(scores))
    by_question = {item.question_id: item.difficulty for item in found.items.values()}
    assert [by_question[f"q{n}"] for n in (0, 4, 8)] == ["near", "apart", "far apart"]


def test_the_seed_decides_and_a_sample_of_more_people_has_the_same_items() -> None:
    one, again, other = (drawn(rows(40, 3), wanted(15, 3, 2, seed)) for seed in (1, 1, 2))
    assert one == again and [i.question_id for i in one.items.values()] != [i.question_id for i in other.items.values()]
    assert drawn(rows(40, 3), wanted(15, 6, 2, 1)).items == one.items


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(UsageError, match="no question has answers of two systems"):
        drawn(rows(4, 1), wanted(3, 1, 1))
    with pytest.raises(UsageError, match="there is no answer"):
        drawn(rows(4, 1, error="timeout"), wanted(3, 1, 1, scope="answers"))
    with pytest.raises(UsageError, match="need as many annotators"):
        wanted(3, 2, 3)
    assert drawn([*rows(2, 2), *rows(1, 2)], wanted(3, 1, 1)).left_out == {"further answers of a system to a question": 2}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert run(["annotate", "sheet", *write_world(tmp_path), "-o", str(tmp_path / "sheets"), "--key", str(tmp_path / "key.json"),
                "--annotators", "5", "--n", "10", "--seed", "3"]) == 0
    return tmp_path


def test_three_evaluators_an_item_by_default_of_five_annotators(folder: Path) -> None:
    key = key_at(folder / "key.json")
    assert sorted(path.name for path in (folder / "sheets").iterdir()) == sorted(
        f"annotator-{n}{ending}" for n in range(1, 6) for ending in (".csv", ".html"))
    assert Counter(Counter(item for own in key.first.values() for item in own).values()) == {3: 10}
    assert key.aspects == ["comprehensiveness", "relevance", "empowerment", "directness", "overall"]


def test_no_sheet_tells_which_system_is_which(folder: Path) -> None:
    for path in (folder / "sheets").iterdir():
        text = path.read_text(encoding="utf-8")
        assert not any(system in text for system in SYSTEMS), path.name
        assert "q0" not in text and '"seed"' not in text
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "key.json").stat().st_mode) == 0o600


def test_the_key_says_which_answer_is_first(folder: Path) -> None:
    key = key_at(folder / "key.json")
    for who, firsts in key.first.items():
        sheet = rows_of(folder / "sheets" / f"{who}.csv")
        at = header_of(sheet)
        assert [row[0] for row in sheet[at + 1 :]] and {row[0] for row in sheet[at + 1 :]} == set(firsts)
        for row in sheet[at + 1 :]:
            shown = dict(zip(sheet[at], row, strict=True))
            assert shown["answer_1"].endswith(f"words of {firsts[row[0]][0]}.") and shown["answer_1"] != shown["answer_2"]
            assert shown["question"] == f"Who is number {key.items[row[0]].question_id[1:]}?"


@pytest.mark.slow
def test_the_rubric_stands_on_both_forms_and_the_reference_only_where_asked_for(folder: Path, tmp_path: Path) -> None:
    page, sheet = ((folder / "sheets" / f"annotator-1{ending}").read_text() for ending in (".html", ".csv"))
    for text in (page, sheet):
        assert "comprehensiveness" in text and "Covers nothing of what is asked, or gives no answer." in text
        assert "Number 1." not in text and "Right answer" not in text
    assert run(["annotate", "sheet", *write_world(tmp_path), "-o", str(tmp_path / "more"), "--key", str(tmp_path / "k2.json"),
                "--show", "reference"]) == 0
    assert "Number 1." in (tmp_path / "more" / "annotator-1.csv").read_text()
    assert "Right answer" in (tmp_path / "more" / "annotator-1.html").read_text()


def test_people_are_shown_every_right_answer(tmp_path: Path) -> None:
    for system in "ab":
        row = {"question_id": "q", "question": "Who?", "system": system, "answer": system, "reference": "Ada", "references": ["Countess"]}
        (tmp_path / f"{system}.jsonl").write_text(json.dumps(row) + "\n")
    assert run(["annotate", "sheet", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), "-o", str(tmp_path / "s"), "--key",
                str(tmp_path / "k.json"), "--show", "reference"]) == 0
    sheet = (tmp_path / "s" / "annotator-1.csv").read_text()
    assert "Ada" in sheet and "or: Countess" in sheet


def test_the_page_loads_nothing_and_runs_only_its_own_script(folder: Path) -> None:
    page = html.unescape((folder / "sheets" / "annotator-1.html").read_text())
    assert "default-src 'none'" in page and "http://" not in page and "https://" not in page
    assert page.count("<script") == 2 and " onclick" not in page and "style=" not in page


def test_hostile_texts_neither_run_nor_calculate(tmp_path: Path) -> None:
    for system, text in (("a", "=HYPERLINK(1)"), ("b", "</script><script>alert(1)</script>\u202e<img src=x onerror=alert(1)>")):
        (tmp_path / f"{system}.jsonl").write_text(json.dumps(
            {"question_id": "q", "question": "+1 <b>?", "system": system, "answer": text}) + "\n")
    assert run(["annotate", "sheet", str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl"), "-o", str(tmp_path / "s"),
                "--key", str(tmp_path / "k.json"), "--annotators", "ann", "--per-item", "1"]) == 0
    page = (tmp_path / "s" / "ann.html").read_text()
    assert "<img src=x" not in page and "&lt;img src=x" in page and page.count("<script") == 2
    for row in rows_of(tmp_path / "s" / "ann.csv"):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)


def test_single_answers_are_graded(tmp_path: Path) -> None:
    assert run(["annotate", "sheet", *write_world(tmp_path, 4), "-o", str(tmp_path / "s"), "--key", str(tmp_path / "k.json"),
                "--of", "answers", "--aspects", "relevance,directness", "--annotators", "ann,ben,cem"]) == 0
    key = key_at(tmp_path / "k.json")
    assert key.aspects == ["relevance", "directness"] and {len(item.systems) for item in key.items.values()} == {1} and len(key.items) == 8
    sheet = rows_of(tmp_path / "s" / "ann.csv")
    assert sheet[header_of(sheet)] == ["id", "relevance", "directness", "question", "answer", "note"]


@pytest.mark.parametrize(("options", "what"), [
    (["--key", "{0}/s/key.json"], "would be sent to people"),
    (["--key", "{0}/k.json", "--annotators", "ann,ANN,../x", "--per-item", "1"], "no name of a person"),
    (["--key", "{0}/k.json", "--annotators", "ann,ANN", "--per-item", "1"], "two annotators have the same name"),
    (["--key", "{0}/k.json", "--annotators", "2", "--per-item", "3"], "need as many annotators"),
    (["--key", "{0}/k.json", "--annotators", "0"], "between 1 and 200"),
    (["--key", "{0}/k.json", "--aspects", "directnes"], "did you mean directness"),
    (["--key", "{0}/questions.jsonl"], "is there already"),
])
def test_wrong_options_are_refused_before_anything_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], what: str,
) -> None:
    given_ = [option.format(tmp_path) for option in options]
    assert run(["annotate", "sheet", *write_world(tmp_path), "-o", str(tmp_path / "s"), *given_]) == 2
    assert what in capsys.readouterr().err and not (tmp_path / "s").exists()


def test_sheets_that_may_hold_labels_are_never_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / "sheets" / "annotator-1.csv").read_bytes()
    assert run(["annotate", "sheet", *write_world(folder), "-o", str(folder / "sheets"), "--key", str(folder / "other.json")]) == 2
    assert "may hold labels" in capsys.readouterr().err and (folder / "sheets" / "annotator-1.csv").read_bytes() == before
