"""Shards of a comparison, joined: the same bytes as one run, asked no more often, and refused where they are not the parts of one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from compare_world import _DATA, UNDECIDED, PairJudge, files
from shard_world import join, summary

from kgeval.cli.main import run
from kgeval.llm.fake import Chat, FakeServer, Rule

WORTHS = {"a": (4, 5, 2, 3), "b": (3, 3, 3, 3), "c": (1, 4, 2)}


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(PairJudge(first=1)) as running:
        yield running


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-never-on-disk")


def words(name: str) -> Any:
    """Answers of lengths that have to be brought together."""
    more = " so" * (40 if name == "a" else 0)
    return lambda i: f"Mill {i}, says {name}: worth {WORTHS[name][i % len(WORTHS[name])]}.{more}"


def pad(chat: Chat, reply: Any) -> Any:
    """As a model that adds or takes away as many words as it is asked to."""
    if list((chat.schema or {})["properties"]) != ["answer"]:
        return reply
    blocks = {name: json.loads(body) for name, body in _DATA.findall(chat.subject)}
    more, less = (blocks["change"].get(name, 0) for name in ("add_words", "remove_words"))
    own = blocks["answer"].split()
    return {"answer": " ".join([*own[: len(own) - less], *["well"] * more])}


@pytest.fixture
def world(server: FakeServer) -> list[str]:
    return arguments(server, files(Path(), WORTHS, n=4))


def arguments(server: FakeServer, answers: list[Path], journal: str = "j.sqlite", trials: int = 2) -> list[str]:
    given = [*map(str, answers), "--questions", "questions.jsonl", "--model", "m", "--base-url", server.base_url, "--journal", journal]
    return [*given, "--trials", str(trials), "--temperature", "0.5", "--no-progress", "-q"]


def compare(*given: object) -> int:
    return run(["compare", *map(str, given)])


def in_shards(of: int, *given: object, folder: str = "parts", ending: str = ".jsonl") -> list[Path]:
    Path(folder).mkdir(exist_ok=True)
    parts = [Path(folder) / f"{number}{ending}" for number in range(1, of + 1)]
    for number, part in enumerate(parts, 1):
        assert compare(*given, "--shard", f"{number}/{of}", "-o", part) == 0
    return parts


@pytest.mark.long
@pytest.mark.parametrize(("of", "more"), [
    (3, ("--baseline-biased", "--contrast", "single", "--seed", "3")), (5, ()),
    (2, ("--redact", "--against", "b", "--threshold", "a:win>=2")),
])
def test_shards_joined_are_one_run_byte_for_byte(world: list[str], of: int, more: tuple[str, ...], server: FakeServer) -> None:
    parts = in_shards(of, *world, *more)
    asked = server.stats().requests
    code = compare(*world, *more, "-o", "whole.jsonl", "-o", "whole.json", "-o", "whole/")
    assert code == UNDECIDED
    assert server.stats().requests == asked, "the shards asked all that the whole run asks, and no more"
    server.reset()
    assert join(*parts, "-o", "joined.jsonl", "-o", "joined.json", "-o", "joined/") == code
    assert server.stats().requests == 0
    same = (".jsonl", "/verdicts.jsonl", *(() if "--redact" in more else ("/aligned.jsonl",)))
    for name in same:
        assert Path(f"joined{name}").read_bytes() == Path(f"whole{name}").read_bytes(), name
    hidden = ("questions", "drill", "notes") if "--redact" in more else ()
    assert summary(Path("joined.json"), *hidden) == summary(Path("whole.json"), *hidden)
    assert sum(stage["calls"] for stage in json.loads(Path("joined.json").read_text())["run"]["model_use"]) == asked


@pytest.fixture
def writer() -> Iterator[FakeServer]:
    """A server whose model also lengthens answers."""
    with FakeServer(PairJudge(first=1, spoil=pad)) as running:
        yield running


@pytest.mark.long
def test_lengthened_answers_come_from_the_journals_of_the_parts(writer: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    answers = files(Path(), {name: words(name) for name in ("a", "b")}, n=4)
    parts = [Path("1.jsonl"), Path("2/")]
    for number, part in enumerate(parts, 1):
        assert compare(*arguments(writer, answers, f"{number}.sqlite"), "--shard", f"{number}/2", "-o", part) == 0
    assert compare(*arguments(writer, answers, "whole.sqlite"), "-o", "whole.jsonl", "-o", "whole.json") == UNDECIDED
    assert any(json.loads(line)["aligned"] for line in Path("whole.jsonl").read_text().splitlines())
    writer.reset()
    assert join(*parts, "--journal", "all.sqlite", "-o", "joined.jsonl") == 2
    said = capsys.readouterr().err
    assert "are not in this journal" in said and "--import-journal" in said
    assert not Path("joined.jsonl").exists()
    given = ("--journal", "all.sqlite", "--import-journal", "1.sqlite", "--import-journal", "2.sqlite")
    assert join(*parts, *given, "-o", "joined.jsonl", "-o", "joined.json") == UNDECIDED
    assert writer.stats().requests == 0
    assert Path("joined.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    assert summary(Path("joined.json")) == summary(Path("whole.json"))
    for path in (Path("1.jsonl"), Path("1.run.json"), Path("2/run.json"), Path("joined.jsonl")):
        assert path.stat().st_mode & 0o077 == 0
        assert b"sk-never" not in path.read_bytes()


def test_what_failed_in_a_part_is_failed_in_the_whole_with_its_cause(server: FakeServer) -> None:
    def refuse(chat: Chat, reply: Any) -> Any:
        return Rule(fault="refusal") if "mill 2" in chat.text else reply

    with FakeServer(PairJudge(spoil=refuse)) as stubborn:
        given = [*arguments(stubborn, files(Path(), {"a": (4,), "b": (3,)}, n=4)), "--max-error-rate", "1"]
        parts = in_shards(2, *given)
        assert compare(*given, "-o", "whole.jsonl") == UNDECIDED
        assert join(*parts, "-o", "joined.jsonl") == UNDECIDED
    assert Path("joined.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()
    lost = [json.loads(line) for line in Path("joined.jsonl").read_text().splitlines()]
    assert {one["question_id"] for one in lost if (one["failure"] or "").startswith("refused")} == {"q2"}


@pytest.mark.long
def test_an_incomplete_part_makes_an_incomplete_whole(world: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(*world, "--shard", "1/2", "-o", "1.jsonl") == 0
    assert compare(*world, "--shard", "2/2", "-o", "2.jsonl", "--max-calls", "3") == 3
    assert join("1.jsonl", "2.jsonl", "-o", "joined.jsonl") == 3
    assert "incomplete" in capsys.readouterr().err
    assert compare(*world, "--shard", "2/2", "-o", "2.jsonl") == 0
    assert join("1.jsonl", "2.jsonl", "-o", "joined.jsonl") == UNDECIDED
    assert compare(*world, "-o", "whole.jsonl") == UNDECIDED
    assert Path("joined.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


@pytest.mark.long
def test_every_fault_of_the_parts_is_named_at_once(world: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(*world, "--shard", "1/5", "-o", "1.jsonl") == 0
    assert compare(*world, "--limit", "3", "--shard", "2/5", "-o", "other.jsonl") == 0
    assert compare(*world, "--tolerance", "3", "--seed", "4", "--shard", "4/5", "-o", "settings.jsonl") == 0
    assert compare(*world, "-o", "whole/") == UNDECIDED
    for name in ("jsonl", "run.json"):
        for copied in ("twice", "third"):
            shutil.copy(f"1.{name}", f"{copied}.{name}")
    manifest = Path("third.run.json")
    manifest.write_text(manifest.read_text().replace('"1/5"', '"5/5"').replace('"kgeval": "', '"kgeval": "0'))
    capsys.readouterr()
    parts = [f"{name}.jsonl" for name in ("1", "twice", "third", "other", "settings", "nothing")]
    assert join(*parts, "whole/", "-o", "joined.jsonl") == 2
    said = capsys.readouterr().err
    for expected in (
        "nothing.jsonl: is no part", "whole: is a whole run", "shard 1/5 is there 2 times: 1.jsonl, twice.jsonl",
        "shards that are missing: 3/5", "other.jsonl: was made from other rows", "settings.jsonl: other metrics, models or settings",
        "settings.jsonl: other options than the other parts: seed", "third.jsonl: was made by kgeval 0",
    ):
        assert expected in said, said
    assert not Path("joined.jsonl").exists()


@pytest.mark.long
def test_a_part_that_was_cut_or_whose_inputs_changed_is_refused(world: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    parts = in_shards(2, *world)
    lines = parts[1].read_text().splitlines(keepends=True)
    spoilt = ((lines[4:], "the file was cut or changed"), ([*lines, lines[0]], "belong to no question"), (["{}\n"], "2.jsonl:1"))
    for kept, expected in spoilt:
        parts[1].write_text("".join(kept))
        assert join(*parts, "-o", "joined.jsonl") == 2
        assert expected in capsys.readouterr().err
    parts[1].write_text("".join(lines))
    assert join(*parts, "-o", parts[0]) == 2
    assert "-o would replace a file of a part" in capsys.readouterr().err
    Path("a.jsonl").write_text(Path("a.jsonl").read_text().replace("worth 4", "worth 1"))
    assert join(*parts, "-o", "joined.jsonl") == 2
    assert "other questions or answers than the parts" in capsys.readouterr().err
    assert not Path("joined.jsonl").exists()


def test_a_merge_has_the_options_of_its_parts(server: FakeServer) -> None:
    files(Path(), WORTHS, n=6)
    for name in ("a", "b"):
        Path(f"{name}.jsonl").write_text(Path(f"{name}.jsonl").read_text().replace('"answer"', '"words"'))
    given = [*arguments(server, [Path("a.jsonl"), Path("b.jsonl")]), "--map", "answer=words", "--limit", "3", "--filter-id", "q0,q1,q4,q5"]
    given += ["--aspects", "relevance,directness"]
    parts = in_shards(2, *given)
    assert compare(*given, "-o", "whole.jsonl") == UNDECIDED
    assert join(*parts, "-o", "joined.jsonl") == UNDECIDED
    assert Path("joined.jsonl").read_bytes() == Path("whole.jsonl").read_bytes()


@pytest.mark.parametrize(("more", "expected"), [
    (("--shard", "1/2", "--stop-when-sure"), "--stop-when-sure looks at all questions in one random order"),
    (("--shard", "1/2", "--system", "c=answers:x"), "--system asks systems"),
    (("--shard", "1/2", "--anchors", "questions.jsonl"), "--anchors judges the anchors"),
    (("--shard", "3/2"), "write K/N"),
    (("--shard", "1/2"), "add -o parts/1.jsonl"),
    (("--shard", "1/2", "--verdicts", "v.csv"), "add -o parts/1.jsonl"),
])
def test_what_does_not_go_with_a_shard_is_refused_before_anything_is_asked(
    world: list[str], more: tuple[str, ...], expected: str, server: FakeServer, capsys: pytest.CaptureFixture[str],
) -> None:
    assert compare(*world, *more) == 2
    assert expected in capsys.readouterr().err
    assert server.stats().requests == 0


def test_the_dry_runs_of_the_shards_add_up_to_that_of_the_whole(world: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    def counted(*more: str) -> int:
        assert compare(*world, *more, "--dry-run") == 0
        line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("total"))
        return int(line.split()[1].replace(",", ""))

    assert sum(counted("--shard", f"{number}/3") for number in (1, 2, 3)) == counted() == 4 * 3 * 2 * 2 * 2
