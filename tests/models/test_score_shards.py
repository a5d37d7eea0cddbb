"""Shards of a scoring run, joined: the same bytes as one run, and refused where they are not the parts of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_judge import Judge
from shard_world import in_shards, join, score, summary, write_world

from kgeval.llm.fake import FakeServer
from kgeval.tables.shards import shard_of


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(Judge()) as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer) -> list[str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return [*write_world(tmp_path), "--model", "m", "--base-url", server.base_url, "--journal", str(tmp_path / "journal.sqlite")]


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Without a model: cheap metrics only."""
    monkeypatch.chdir(tmp_path)
    return [*write_world(tmp_path)[:-1], "token_f1,rouge_l"]


@pytest.mark.long
@pytest.mark.parametrize(("of", "more"), [
    (8, ()), (3, ("--trials", "2", "--against", "a", "--threshold", "token_f1=0.9")), (2, ("--redact", "--limit", "9")),
])
def test_shards_joined_are_one_run_byte_for_byte(world: list[str], of: int, more: tuple[str, ...], server: FakeServer) -> None:
    code = score(*world, *more, "-o", "whole.jsonl", "-o", "whole.json", "-o", "whole.csv", "-o", "whole/")
    asked = server.stats().requests
    parts = in_shards(Path("parts"), of, *world, *more)
    assert server.stats().requests == asked, "a shared journal: no call is paid twice"
    assert join(*parts, "-o", "joined.jsonl", "-o", "joined.json", "-o", "joined.csv", "-o", "joined/") == code == ("--threshold" in more)
    for name in (".jsonl", ".csv", "/results.jsonl", *(() if "--redact" in more else (".verdicts.jsonl", "/verdicts.jsonl"))):
        assert Path(f"joined{name}").read_bytes() == Path(f"whole{name}").read_bytes(), name
    salted = ("notes", "worst") if "--redact" in more else ()  # names are hidden by marks that no two reports share
    for name in ("joined.json", "joined.run.json"):
        assert summary(Path(name), *salted) == summary(Path(name.replace("joined", "whole")), *salted)
    assert Path("joined.verdicts.jsonl").exists() == ("--redact" not in more)


def test_the_answers_to_a_question_lie_in_one_shard_and_every_row_in_one(plain: list[str]) -> None:
    parts = in_shards(Path("parts"), 3, *plain)
    found = {number: [json.loads(line) for line in part.read_text().splitlines()] for number, part in enumerate(parts, 1)}
    assert all(shard_of(one["question_id"], 3) == number for number, rows in found.items() for one in rows)
    names = [(one["question_id"], one["system"], one["metric"]) for rows in found.values() for one in rows]
    assert len(set(names)) == len(names) == 2 * (24 + 21)


def test_a_shard_without_rows_is_a_part_too(plain: list[str]) -> None:
    assert score(*plain, "--filter-id", "q1,q2", "-o", "whole.jsonl") == 0
    parts = in_shards(Path("parts"), 8, *plain, "--filter-id", "q1,q2")
    assert sum(not part.stat().st_size for part in parts) >= 6
    assert join(*parts, "-o", "joined.jsonl") == 0
    assert Path("joined.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


@pytest.mark.long
@pytest.mark.parametrize("ending", [".csv", ".parquet", ""])
def test_parts_may_have_any_form_of_results(plain: list[str], ending: str) -> None:
    assert score(*plain, "-o", "whole.jsonl") == 0
    assert join(*in_shards(Path("parts"), 2, *plain, ending=ending), "-o", "joined.jsonl") == 0
    assert Path("joined.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


@pytest.mark.long
def test_a_joined_result_is_gone_on_with_as_any_other(world: list[str], server: FakeServer) -> None:
    assert join(*in_shards(Path("parts"), 2, *world), "-o", "joined.jsonl") == 0
    before = Path("joined.jsonl").read_bytes()
    Path("journal.sqlite").unlink()
    server.reset()
    assert score(*world, "--resume", "-o", "joined.jsonl") == 0
    assert server.stats().requests == 0
    assert Path("joined.jsonl").read_bytes() == before


@pytest.mark.long
def test_shards_with_journals_of_their_own_are_taken_into_one(world: list[str], server: FakeServer) -> None:
    own = world[:-2]
    parts = [Path(f"{k}.jsonl") for k in (1, 2)]
    for k, part in enumerate(parts, 1):
        assert score(*own, "--journal", f"{k}.sqlite", "--shard", f"{k}/2", "-o", part) == 0
    assert join(*parts, "--import-journal", "1.sqlite", "--import-journal", "2.sqlite", "--journal", "all.sqlite", "-o", "j.jsonl") == 0
    server.reset()
    assert score(*own, "--journal", "all.sqlite", "-o", "whole.jsonl") == 0
    assert server.stats().requests == 0
    assert Path("whole.jsonl").read_bytes() == Path("j.jsonl").read_bytes()


@pytest.mark.long
def test_every_fault_of_the_parts_is_named_at_once(plain: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    parts = in_shards(Path("parts"), 5, *plain)
    twice = in_shards(Path("twice"), 5, *plain)[0]
    other = in_shards(Path("other"), 5, *plain, "--limit", "9")[1]
    seeded = in_shards(Path("seeded"), 5, *plain, "--seed", "4")[2]
    assert score(*plain, "-o", "whole.jsonl") == 0
    capsys.readouterr()
    assert join(parts[0], twice, other, seeded, parts[4], "whole.jsonl", "nothing.jsonl", "-o", "joined.jsonl") == 2
    said = capsys.readouterr().err
    for words in (
        "nothing.jsonl: is no part", "whole.jsonl: is a whole run", "shard 1/5 is there 2 times: parts/1.jsonl, twice/1.jsonl",
        "shards that are missing: 4/5", "other/2.jsonl: was made from other rows",
        "seeded/3.jsonl: other options than the other parts: seed",
    ):
        assert words in said, said
    assert not Path("joined.jsonl").exists()


def test_parts_of_other_metrics_or_another_kgeval_are_refused(plain: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    parts = in_shards(Path("parts"), 3, *plain)
    foreign = in_shards(Path("foreign"), 3, *plain[:-1], "token_f1")[1]
    manifest = Path("parts/3.run.json")
    value = json.loads(manifest.read_text())
    value["run"]["kgeval"] = "0.0.1"
    manifest.write_text(json.dumps(value))
    assert join(parts[0], foreign, parts[2], "-o", "joined.jsonl") == 2
    said = capsys.readouterr().err
    assert "foreign/2.jsonl: other metrics, models or settings than the other parts: rouge_l" in said
    assert "parts/3.jsonl: was made by kgeval 0.0.1" in said


def test_a_part_that_was_cut_or_whose_inputs_changed_is_refused(plain: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    parts = in_shards(Path("parts"), 2, *plain)
    whole = parts[1].read_text().splitlines(keepends=True)
    parts[1].write_text("".join(whole[:4] + whole[6:]))
    assert join(*parts, "-o", "joined.jsonl") == 2
    assert "parts/2.jsonl: the scores of" in capsys.readouterr().err
    parts[1].write_text("".join([*whole, whole[0]]))
    assert join(*parts, "-o", "joined.jsonl") == 2
    assert "scores or verdicts that belong to no row: parts/2.jsonl" in capsys.readouterr().err
    parts[1].write_text("".join(whole))
    answers = Path("a.jsonl")
    answers.rename("elsewhere.jsonl")
    assert join(*parts, "-o", "joined.jsonl") == 2
    assert "a.jsonl" in capsys.readouterr().err
    Path("a.jsonl").write_text(Path("elsewhere.jsonl").read_text().replace("Ada 1", "Eve 1"))
    assert join(*parts, "-o", "joined.jsonl") == 2
    assert "other rows than the parts were made from" in capsys.readouterr().err
    assert not Path("joined.jsonl").exists()


def test_an_output_never_replaces_a_part(plain: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    parts = in_shards(Path("parts"), 2, *plain)
    before = parts[0].read_bytes()
    assert join(*parts, "-o", parts[0]) == 2
    assert "-o would replace a file of a part" in capsys.readouterr().err
    assert parts[0].read_bytes() == before


@pytest.mark.parametrize("shard", ["0/2", "3/2", "2", "1/101", "a/b", "1/2/3", "-1/2"])
def test_a_shard_that_cannot_be_is_refused(plain: list[str], shard: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(*plain, "--shard", shard) == 2
    assert "write K/N" in capsys.readouterr().err


@pytest.mark.long
def test_an_incomplete_part_makes_an_incomplete_whole(world: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert score(*world, "--shard", "1/2", "-o", "1.jsonl") == 0
    assert score(*world, "--shard", "2/2", "-o", "2.jsonl", "--max-calls", "3") == 3
    assert join("1.jsonl", "2.jsonl", "-o", "joined.jsonl") == 3
    assert "incomplete" in capsys.readouterr().err
    assert score(*world, "--shard", "2/2", "-o", "2.jsonl", "--retry-errors") == 0
    assert join("1.jsonl", "2.jsonl", "-o", "joined.jsonl") == 0
