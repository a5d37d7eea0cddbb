"""`kgeval help --for-agents`: the guide is made of the pages, short, and every command, flag and code line in it exists."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from command_lines import command_of, faults, words_of

from kgeval.cli.help import GUIDE as FILE
from kgeval.cli.main import cli, run

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from skill_guide import skill_guide  # noqa: E402

GUIDE = FILE.read_text(encoding="utf-8")
CODE = [line for block in re.findall(r"```bash\n(.*?)```", GUIDE, re.DOTALL) for line in block.splitlines()]
LINES = [line for line in CODE if line.startswith("kgeval ")]
NAMED = sorted(set(re.findall(r"`(kgeval [^`]+)`", GUIDE)))


def test_it_is_what_the_pages_say_today() -> None:
    assert skill_guide(ROOT / "docs") == GUIDE


def test_it_is_short_and_has_a_head_of_name_and_description() -> None:
    head = GUIDE.split("---\n")[1].splitlines()
    assert [line.split(":")[0] for line in head] == ["name", "description"]
    assert len(GUIDE.splitlines()) < 200


def test_every_line_of_code_is_one_that_kgeval_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MODEL", "judge")
    assert len(LINES) > 10
    assert [fault for line in LINES for fault in faults(line)] == []


def test_every_command_named_in_it_exists() -> None:
    words = [words_of(name) for name in NAMED]
    assert {"audit", "compare", "run", "annotate"} <= {found[0] for found in words if found}
    assert [found for found in words if found and command_of(found) is None] == []


def test_every_flag_in_it_is_one_of_some_command() -> None:
    flags = set(re.findall(r"--[a-z][a-z-]+", GUIDE)) - {"--help"}
    known = {flag for command in all_commands(cli) for option in command.params for flag in (*option.opts, *option.secondary_opts)}
    assert flags - known == set()


def test_a_line_with_a_flag_that_does_not_exist_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for line in ("kgeval compare a.jsonl --no-such-flag", "kgeval no-such-command", "kgeval stats no-such-command", "kgeval"):
        assert faults(line)


def test_a_place_that_a_page_does_not_have_is_told(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("## There\n\n```bash\nkgeval audit\n```\n")
    for line, told in (("page.md # Elsewhere : code 1", "no heading"), ("page.md # There : code 2", "has 1"), ("page.md", "another form")):
        (tmp_path / "skill.md").write_text(f"<!-- from {line} -->\n")
        with pytest.raises(ValueError, match=told):
            skill_guide(tmp_path, tmp_path / "skill.md")


def test_it_is_printed_or_written_and_never_over_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "--for-agents"]) == 0
    assert capsys.readouterr().out == GUIDE
    path = tmp_path / "SKILL.md"
    assert run(["help", "--for-agents", "-o", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == GUIDE
    path.write_text("mine")
    assert run(["help", "--for-agents", "-o", str(path)]) == 2
    assert path.read_text() == "mine"
    assert run(["help", "--for-agents", "-o", str(path / "below a file.md")]) == 2


def all_commands(command: click.Command) -> Iterator[click.Command]:
    yield command
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            found = command.get_command(click.Context(command), name)
            assert found is not None, name
            yield from all_commands(found)
