"""Questions that wait on disk: whole lines come back, also where the disk is full in the middle of one."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kgeval.errors import IncompleteError
from kgeval.questions.spool import QuestionSpool
from kgeval.records import Question
from kgeval.tables.plain import read_table


def test_a_full_disk_ends_the_run_and_the_questions_before_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [Question(id=f"q{n}", question="Who? " * 20) for n in range(9)]
    write = os.pwrite

    def on_a_small_disk(file: int, data: bytes, at: int) -> int:
        """Room for 500 bytes: the write that goes beyond is done in part."""
        if at >= 500:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data[: 500 - at], at)

    with QuestionSpool() as kept:
        monkeypatch.setattr(os, "pwrite", on_a_small_disk)
        with pytest.raises(IncompleteError, match=r"No space left.*\n.*TMPDIR"):
            for question in questions:
                kept.add_question(question)
        assert 0 < kept.count < 9 and list(kept) == questions[: kept.count]
        assert sum(1 for _ in kept.lines()) == kept.count


def test_questions_can_be_gone_through_between_additions() -> None:
    first, second = Question(id="a", question="Who\u2028ever?"), Question(id="b", question="How?")
    with QuestionSpool() as kept:
        kept.add_question(first)
        assert list(kept) == [first]
        next(iter(kept))
        kept.add_question(second)
        assert list(kept) == [first, second]


def test_a_line_separator_in_a_cell_ends_no_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\nx\u2028y,\x85z\r\n\"1\n2\",3\n", encoding="utf-8", newline="")
    assert [line.value for line in read_table(tmp_path / "t.csv", ",")] == [["a", "b"], ["x\u2028y", "\x85z"], ["1\n2", "3"]]
