"""The one door: modes, links, pipes, failures, and cells that come back as they were."""

from __future__ import annotations

import csv
import errno
import os
import re
import shutil
import stat
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgeval.config import cache_folder
from kgeval.errors import InputError
from kgeval.records import Answer, ComparisonVerdict, Passage, Score
from kgeval.tables.answers import read_answers, write_answers
from kgeval.tables.columns import write_csv
from kgeval.tables.output import UNSAVED, defuse_cell, open_log, replacing, restore_cell, write_text
from kgeval.tables.score_forms import read_scores, write_scores
from kgeval.tables.sheets import FilledSheet, write_sheet
from kgeval.tables.stream import stream
from kgeval.tables.verdict_files import VerdictsWanted, read_verdicts, write_duels

HOSTILE = (
    " =1+1", "\u00a0=1", "\u3000@x", " \t-2+3", " '=1", " plain",
    "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "'quoted", "''tis", "'=1", "-", "--",
    "\x1b[2J\x1b]0;title\x07", "\x9b31m", "\u202egnp.exe", "\u2066x\u2069", "a\x00b", "a\rb", "a\r\nb", "a\r\r\nb",
    "[U+001B]", "[U+005B]", "[U+ZZZZ]", "[U+10FFFF]", "[U+FFFFFF]", "'[U+001B]", "a\u200db", "x\U000e0041", "\ud800",
    "plain", "-5", "+4.5e3", "a, b; \"c\"\n", "שלום\u200f", "\u0627\u200c\u0628", "é",
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


@pytest.mark.parametrize(("mask", "old", "private", "shared"), [
    (0o022, None, 0o600, 0o644), (0o077, None, 0o600, 0o600), (0o002, None, 0o600, 0o664), (0o022, 0o600, 0o600, 0o600),
    (0o022, 0o644, 0o600, 0o644), (0o077, 0o644, 0o600, 0o600), (0o022, 0o640, 0o600, 0o640), (0o000, 0o666, 0o600, 0o666),
    (0o022, 0o755, 0o600, 0o644),
])
def test_no_right_is_given_that_file_or_umask_withhold(
    tmp_path: Path, umask: Callable[[int], int], mask: int, old: int | None, private: int, shared: int,
) -> None:
    umask(mask)
    for is_shared, wanted in ((False, private), (True, shared)):
        path = tmp_path / str(is_shared)
        if old is not None:
            path.write_text("old")
            path.chmod(old)
        write_text(path, "new", shared=is_shared)
        assert (mode(path), path.read_text()) == (wanted, "new")


def test_what_fails_in_the_middle_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "f.txt"
    write_text(path, "old")
    for failure in (ValueError("no"), KeyboardInterrupt(), InputError("no", fix="")):
        with pytest.raises(type(failure)), replacing(path) as file:
            file.write("half" * 100_000)
            raise failure
    assert path.read_text() == "old"
    assert names(tmp_path) == ["f.txt"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_no_room_and_no_right_are_said_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int,
) -> None:
    path = tmp_path / "f.txt"
    write_text(path, "old")

    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    for step in ("fsync", "fchmod"):
        with monkeypatch.context() as patch, pytest.raises(InputError) as caught:
            patch.setattr(os, step, refused)
            write_text(path, "new")
        assert caught.value.message == f"{path}: cannot be written: {os.strerror(number)}"
        assert "make room" in str(caught.value.fix)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["f.txt"]


def test_a_place_where_no_file_can_be_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for bad in (tmp_path, tmp_path / "file" / "x", tmp_path / ("x" * 300), tmp_path / "loop", Path("/proc/no/file")):
        for write in (write_text, lambda path, text: open_log(path).close()):
            with pytest.raises(InputError, match=re.escape(f"{bad}: cannot be written: ")):
                write(bad, "x")


def test_where_a_link_leads_is_written_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    for name, target in (("link", "real/file"), ("dangling", "real/new")):
        (tmp_path / name).symlink_to(target)
    write_text(tmp_path / "real" / "file", "old")
    for name in ("link", "dangling"):
        write_text(tmp_path / name, "new")
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / name).read_text() == "new"
    assert names(tmp_path / "real") == ["file", "new"]


def test_another_name_of_the_file_keeps_what_it_had(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "old")
    os.link(tmp_path / "a", tmp_path / "b")
    write_text(tmp_path / "a", "new")
    assert (tmp_path / "b").read_text() == "old"


def test_devices_and_pipes_are_written_to_as_they_stand(tmp_path: Path) -> None:
    write_text(Path("/dev/null"), "x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(InputError, match="/dev/full: cannot be written: No space left"):
        write_text(Path("/dev/full"), "x")
    os.mkfifo(tmp_path / "pipe")
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_text(tmp_path / "pipe", "through")
    reader.join()
    assert got == ["through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


FULL = """
import resource, signal, sys
from pathlib import Path
from kgeval.tables.output import replacing
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
# the disk is full at the 100,000th byte; the one of the cache folder is not
signal.signal(signal.SIGXFSZ, lambda *_: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, most))
try:
    with replacing(Path(sys.argv[1])) as file:
        file.writelines(f"line {n}\\n" for n in range(40_000))
except Exception as fault:
    print(fault)
"""


def kept() -> list[Path]:
    return sorted((cache_folder() / UNSAVED).glob("*"))


@pytest.mark.slow
def test_what_a_disk_has_no_room_for_is_kept_whole_in_the_cache_folder(tmp_path: Path) -> None:
    write_text(tmp_path / "rows.jsonl", "old")
    told = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "rows.jsonl")], capture_output=True, text=True, check=True,
    ).stdout
    (there,) = kept()
    assert f"rows.jsonl: cannot be written: File too large; it is kept whole in {there}\nFix: move it" in told
    assert (mode(there), mode(there.parent)) == (0o600, 0o700)
    assert there.read_text() == "".join(f"line {n}\n" for n in range(40_000))
    assert (names(tmp_path), (tmp_path / "rows.jsonl").read_text()) == (["rows.jsonl"], "old")


def test_where_the_folder_goes_or_is_none_the_contents_are_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "gone").mkdir()
    with pytest.raises(InputError, match=r"gone\.txt: cannot be written: No such file"):  # noqa: SIM117
        with replacing(tmp_path / "gone" / "gone.txt") as file:
            file.write("a")
            file.flush()
            shutil.rmtree(tmp_path / "gone")
            file.write("b")
    for bad in (tmp_path / "file" / "none.txt", Path("/dev/full")):
        with pytest.raises(InputError, match="it is kept whole in"):
            write_text(bad, "ab" * 100_000)
    assert {path.name.split("-")[0]: len(path.read_bytes()) for path in kept()} == {"gone": 2, "none": 200_000, "full": 200_000}


def test_where_nothing_can_be_kept_either_both_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KGEVAL_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"x: cannot be written: File exists; nor can .*/unsaved: Not a directory"):
        write_text(tmp_path / "file" / "x", "x")
    assert names(tmp_path) == ["file"]


def test_what_is_made_anew_in_a_moment_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No space left on device\nFix: make room"):
        write_text(Path("/dev/full"), "x", kept=False)
    assert kept() == []


@pytest.mark.long
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_the_standard_output_by_its_name_is_appended_to(tmp_path: Path, name: str) -> None:
    """Also where it is a file that has something already."""
    out = tmp_path / "out"
    out.write_text("before\n")
    code = f"from pathlib import Path; from kgeval.tables.output import write_text; print('first'); write_text(Path('{name}'), 'second\\n')"
    with out.open("a") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert out.read_text() == "before\nfirst\nsecond\n"
    assert names(tmp_path) == ["out"]


def test_a_log_grows_for_its_owner_only(tmp_path: Path, umask: Callable[[int], int]) -> None:
    umask(0o000)
    path = tmp_path / "logs" / "x.log"
    with open_log(path) as file:
        file.write("one\n")
    path.chmod(0o644)
    with open_log(path, append=True) as file:
        file.write("two\ud800\n")
    assert (mode(path), path.read_text()) == (0o600, "one\ntwo\\ud800\n")
    open_log(path).close()
    assert path.read_text() == ""


@pytest.mark.slow
@given(st.text(st.sampled_from("=+-@'\t\r\n[U+001B]5 \x1b\u202e\x85.e\ud800x＝")) | st.text(max_size=30))
@example("'")
@example("[U+000D]\n")
def test_no_cell_is_a_formula_or_steers_a_terminal_and_each_comes_back(cell: str) -> None:
    shown = defuse_cell(cell)
    assert restore_cell(shown) == cell
    number = re.fullmatch(r"[-+]?[\d.]+([eE][-+]?\d+)?", shown, re.ASCII)
    assert number or not shown.startswith(tuple("=+-@\t\r\n＝＋－＠"))
    assert number or not shown.lstrip().startswith(tuple("=+-@＝＋－＠")), "white space does not keep it from being one"
    assert hidden(shown) == ""
    shown.encode()


def hidden(text: str) -> str:
    """The characters that nobody sees, by the tables of Unicode; joiners have a test of their own."""
    lines = re.sub("[\n\t\u200c\u200d]", "", text.replace("\r\n", ""))
    return "".join(char for char in lines if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp"))


@pytest.mark.slow
def test_every_character_that_reports_show_is_shown_and_joiners_stay_where_they_are_needed() -> None:
    assert hidden(defuse_cell("".join(map(chr, range(sys.maxunicode + 1))))) == ""
    family, persian = "\U0001f469\u200d\U0001f467", "\u0645\u06cc\u200c\u0631\u0648\u062f"
    assert [defuse_cell(text) for text in (family, persian, "a\u200db", "\u200dx")] == [
        family, persian, "a[U+200D]b", "[U+200D]x",
    ]


def check_cells(path: Path) -> None:
    """What anybody reads who knows nothing of kgeval."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file, strict=True):
            for cell in row:
                assert re.fullmatch(r"[-+]?\d+(\.\d*)?(e[-+]?\d+)?", cell) or cell[:1] not in tuple("=+-@\t\r\n＝＋－＠"), cell
                assert hidden(cell) == "", cell


def utf8(text: str) -> bool:
    return "\ud800" not in text


def test_scores_answers_and_verdicts_come_back_as_they_were(tmp_path: Path) -> None:
    texts = list(filter(utf8, HOSTILE))
    scores = [
        Score(question_id=text, system=text, metric="token_f1", value=0.25, status="scored", reason=text, signature=text,
              detail={"x": text})
        for text in texts
    ]
    write_scores(tmp_path / "s.csv", scores)
    answers = [
        Answer(question_id=text, system=text, answer=text, error=text, contexts=[Passage(text=text, chunk_id=text)], cost=0.5)
        for text in texts
    ]
    write_answers(tmp_path / "a.csv", answers)
    verdicts = [
        ComparisonVerdict(question_id=text, system_a=text, system_b=f"{text} too", first=text, trial=1, repeat=1, aspect=text,
                          procedure="pairwise-choice", winner="a", score_a=1.0, score_b=0.0, reason_a=text)
        for text in texts
    ]
    columns = tuple(ComparisonVerdict.model_fields)
    write_csv(tmp_path / "v.csv", columns, (verdict.model_dump() for verdict in verdicts))
    write_duels(tmp_path / "d.csv", [(text, f"{text} too", 1, text) for text in texts])
    for path in tmp_path.iterdir():
        check_cells(path)
    assert list(read_scores(tmp_path / "s.csv")) == scores
    assert list(read_answers(tmp_path / "a.csv")) == answers
    for name in ("v.csv", "d.csv"):
        read = read_verdicts([tmp_path / name], VerdictsWanted()).verdicts
        stripped = [(text.strip(), f"{text} too".strip()) for text in texts]
        assert [(verdict.system_a.strip(), verdict.system_b.strip()) for verdict in read] == stripped


def test_a_sheet_comes_back_as_it_was(tmp_path: Path) -> None:
    write_sheet(tmp_path / "s.csv", ["id", "text"], [[str(at), text] for at, text in enumerate(HOSTILE)])
    check_cells(tmp_path / "s.csv")
    faults: list[str] = []
    assert [row["text"] for _, row in FilledSheet(tmp_path / "s.csv", faults).rows()] == list(HOSTILE)
    assert faults == []


def test_a_table_of_another_tool_is_read_as_it_is(tmp_path: Path) -> None:
    """There an apostrophe is an apostrophe."""
    texts = ["'=1", "''tis", "[U+001B]", "plain"]
    with (tmp_path / "other.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["question_id", "answer"], *([text, text] for text in texts)])
    assert [line.value for line in stream(tmp_path / "other.csv")] == [{"question_id": text, "answer": text} for text in texts]


def test_a_table_of_ours_that_went_through_a_spreadsheet_is_known(tmp_path: Path) -> None:
    """Columns in another order, one more, and semicolons."""
    score = Score(question_id="=1", system="- x", metric="m", value=0.5, status="scored", signature="s", reason="\x1b[2J")
    write_scores(tmp_path / "s.csv", [score])
    rows = list(csv.DictReader((tmp_path / "s.csv").open(encoding="utf-8", newline="")))
    with (tmp_path / "t.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, [*reversed(rows[0]), "note"], delimiter=";")
        writer.writeheader()
        writer.writerows({**row, "note": "mine"} for row in rows)
    (line,) = stream(tmp_path / "t.csv")
    assert {name: line.value[name] for name in ("question_id", "system", "reason")} == {
        "question_id": "=1", "system": "- x", "reason": "\x1b[2J",
    }
