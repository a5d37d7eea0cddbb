"""Which systems are compared on which questions: found before anything is paid, with every fault named."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from kgeval.comparison.pairs import ComparedPairs, PairSelection, pair_up
from kgeval.errors import InputError, UsageError
from kgeval.tables.question_rows import open_questions
from kgeval.tables.rows import RowSelection, open_rows


def questions(folder: Path, n: int = 4) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps({"id": f"q{i}", "question": f"Question {i}?"}) + "\n" for i in range(n)))
    return path


def answers(folder: Path, system: str, ids: Sequence[int], name: str | None = None, **more: object) -> Path:
    path = folder / f"{name or system}.jsonl"
    rows = [{"id": f"q{i}", "system": system, "answer": f"{system} {i}", **more} for i in ids]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@contextmanager
def paired(folder: Path, files: Sequence[Path], n: int = 4, **wanted: object) -> Iterator[ComparedPairs]:
    asked, second = wanted.pop("asked", ()), wanted.pop("second_runs", ())
    with open_rows(RowSelection(tuple(files), questions=questions(folder, n))) as rows:
        yield pair_up(rows, PairSelection(**wanted), asked=asked, second_runs=second)  # type: ignore[arg-type]


def test_three_systems_are_three_pairs_over_the_questions_that_all_have(tmp_path: Path) -> None:
    files = [answers(tmp_path, name, range(4)) for name in "ABC"]
    with paired(tmp_path, files) as found:
        assert found.systems == ("A", "B", "C") and found.pairs == (("A", "B"), ("A", "C"), ("B", "C"))
        assert [question.id for question in found.questions("A", "C")] == ["q0", "q1", "q2", "q3"] and found.count("A", "C") == 4
        assert not found.missing and not found.notes


def test_several_systems_in_one_file_are_several_systems(tmp_path: Path) -> None:
    both = tmp_path / "both.jsonl"
    both.write_text(answers(tmp_path, "A", range(2)).read_text() + answers(tmp_path, "B", range(2)).read_text())
    with paired(tmp_path, [both], n=2) as found:
        assert found.pairs == (("A", "B"),)


def test_questions_that_not_all_share_are_refused_and_listed_by_system(tmp_path: Path) -> None:
    files = [answers(tmp_path, "A", [0, 1, 2]), answers(tmp_path, "B", [1, 2, 3])]
    with pytest.raises(InputError, match="same questions") as refused, paired(tmp_path, files):
        pass
    assert refused.value.exit_code == 2 and "--allow-missing" in refused.value.fix
    assert refused.value.faults == ("A: lacks 1 of 4 questions: q3", "B: lacks 1 of 4 questions: q0")


def test_where_they_are_allowed_a_pair_uses_what_both_have_and_the_rest_is_counted(tmp_path: Path) -> None:
    files = [answers(tmp_path, "A", [0, 1, 2]), answers(tmp_path, "B", [1, 2, 3]), answers(tmp_path, "C", range(4))]
    with paired(tmp_path, files, allow_missing=True) as found:
        assert [question.id for question in found.questions("A", "B")] == ["q1", "q2"]
        assert (found.count("A", "C"), found.count("B", "C")) == (3, 3)
        assert found.missing == {"A": ["q3"], "B": ["q0"]} and any("A: lacks 1" in note for note in found.notes)
        assert found.systems_of("q0") == ["A", "C"]


def test_a_question_that_no_system_answered_is_said_and_no_fault(tmp_path: Path) -> None:
    with paired(tmp_path, [answers(tmp_path, name, [0, 1]) for name in "AB"]) as found:
        assert found.count("A", "B") == 2 and "questions without an answer of any system: 2" in found.notes


def test_systems_that_are_asked_share_all_questions_and_files_that_lack_some_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused, paired(tmp_path, [answers(tmp_path, "A", [0, 1])], asked=("X",)):
        pass
    assert refused.value.faults == ("A: lacks 2 of 4 questions: q2, q3",)
    with paired(tmp_path, [answers(tmp_path, "A", range(4))], asked=("X",)) as found:
        assert found.pairs == (("A", "X"),) and found.count("A", "X") == 4 and found.asked == {"X"}


def test_systems_alone_need_no_answer_file(tmp_path: Path) -> None:
    with open_questions(RowSelection((), questions=questions(tmp_path, 3))) as asked:
        found = pair_up(asked, PairSelection(), asked=("X", "Y"))
        assert found.pairs == (("X", "Y"),) and found.count("X", "Y") == 3 and found.question("q2") is not None


def test_one_system_alone_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="only one system, A") as refused, paired(tmp_path, [answers(tmp_path, "A", range(4))]):
        pass
    assert "--self-check" in refused.value.fix
    with paired(tmp_path, [answers(tmp_path, "A", range(4))], second_runs=[("A", "A (second run)")]) as found:
        assert found.pairs == (("A", "A (second run)"),) and found.count(*found.pairs[0]) == 4


def test_against_one_system_gives_its_pairs_only_and_it_is_b(tmp_path: Path) -> None:
    files = [answers(tmp_path, name, range(4)) for name in ("base", "one", "two")]
    with paired(tmp_path, files, against="base") as found:
        assert found.pairs == (("one", "base"), ("two", "base"))
    with pytest.raises(UsageError, match="did you mean base"), paired(tmp_path, files, against="bose"):
        pass
    with pytest.raises(UsageError, match="different things"), paired(tmp_path, files, against="base", pairs=("one:two",)):
        pass


def test_pairs_are_chosen_by_name_each_once_whichever_way_round(tmp_path: Path) -> None:
    files = [answers(tmp_path, "A", range(4)), answers(tmp_path, "B", range(4)), answers(tmp_path, "C", [0])]
    with paired(tmp_path, files, pairs=("B:A", "A:B")) as found:
        assert found.pairs == (("B", "A"),) and found.systems == ("A", "B")  # C's gaps do not matter: it is in no pair
        assert not found.missing
    for wrong, said in (("A", "no pair"), ("A:A", "beside itself"), ("A:Z", "no such system")):
        with pytest.raises(UsageError, match=said), paired(tmp_path, files, pairs=(wrong,)):
            pass


def test_names_with_colons_are_understood_where_they_can_be(tmp_path: Path) -> None:
    files = [answers(tmp_path, name, range(4), name=f"f{at}") for at, name in enumerate(("x:1", "y:2", "x", "1:y:2"))]
    with paired(tmp_path, files[:2], pairs=("x:1:y:2",)) as found:
        assert found.pairs == (("x:1", "y:2"),)
    with pytest.raises(UsageError, match="2 ways"), paired(tmp_path, files, pairs=("x:1:y:2",)):
        pass


def test_two_systems_of_one_name_are_refused(tmp_path: Path) -> None:
    file = answers(tmp_path, "A", range(4))
    with pytest.raises(UsageError, match="two systems are called A"), paired(tmp_path, [file], asked=("A",)):
        pass
    with pytest.raises(UsageError, match="two systems are called X"), paired(tmp_path, [file], asked=("X", "X")):
        pass


def test_answers_that_are_errors_are_said_to_be_no_losses(tmp_path: Path) -> None:
    files = [answers(tmp_path, "A", range(4)), answers(tmp_path, "B", range(4), error="timeout: 30 s")]
    with paired(tmp_path, files) as found:
        assert found.failed == {"B": 4} and any("no losses" in note for note in found.notes)


def test_nothing_in_common_is_an_error_and_one_pair_without_is_left_out(tmp_path: Path) -> None:
    files = [answers(tmp_path, "A", [0]), answers(tmp_path, "B", [1]), answers(tmp_path, "C", [0, 1])]
    with pytest.raises(InputError, match="no pair of systems has a question in common"), paired(tmp_path, files[:2], allow_missing=True):
        pass
    with paired(tmp_path, files, allow_missing=True) as found:
        assert found.pairs == (("A", "C"), ("B", "C")) and any("A and B: no question in common" in note for note in found.notes)


@pytest.mark.long
def test_fifty_systems_are_1225_pairs_and_their_rows_stay_on_disk(tmp_path: Path) -> None:
    text = "word " * 2_000  # 10 kB an answer, 5 MB in all
    files = []
    for at in range(50):
        path = tmp_path / f"s{at:02}.jsonl"
        path.write_text("".join(json.dumps({"id": f"q{i}", "answer": text}) + "\n" for i in range(10)))
        files.append(path)
    with open_rows(RowSelection(tuple(files), questions=questions(tmp_path, 10))) as rows:
        tracemalloc.start()
        found = pair_up(rows, PairSelection())
        seen = sum(found.count(*pair) for pair in found.pairs)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert len(found.pairs) == 1225 and seen == 12_250 and peak < 2_000_000
    assert "50 systems: 1,225 pairs" in found.notes
