"""One meaning a flag and one flag a meaning, over all commands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete

from kgeval.cli.main import COMMANDS, SECTIONS, cli, run

ROOT = Path(__file__).resolve().parents[2]
# what tools/generate.py puts on written pages: named parts, and tables of options
MADE_PART = re.compile(
    r"<!-- (?:[\w-]+, made by tools/generate\.py -->.*?<!-- end of [\w-]+|options of .*?<!-- end of options) -->", re.DOTALL,
)

# What a flag means, by how its help begins, in every command that has it.
MEANINGS = {
    "--format": r"What goes to stdout|The counts|Table or JSON",
    "--limit": r"Only the first N ",
    "--examples": r"Examples ",
    "--timeout": r"Seconds a query may take",
    "--call-timeout": r"Seconds a request may take",
    "--question-timeout": r"Seconds a question may take",
    "--time-limit": r"Seconds that it may take in all",
    "--seed": r"Seed of ",
    "--baseline": r"(An e|E)arlier ",
    "--fail-on-worse": r"Exit 1 if a (check|figure) .*(became|is) worse",
    "--fail-on": r"Exit 1 if a check of this severity or worse",
    "--threshold": r"E\.g\. |What still passes",
    "--home": r"Home of the embedded server",
    "--batch": r"Ask by the provider's batch endpoints",
    "--batch-size": r"Requests a file",
    "--transaction-rows": r"Rows in one transaction",
    "--check": r"(Run|Only) these checks",
    "--labels": r"Labels of people",
    "--sheet": r"(Also w|W)rite (the sample as )?a (blind )?sheet ",
    "--max-bad-rows": r"Share of bad rows that are left out",
    "--max-error-rate": r"Exit 3 if more than this share of items fails",
    "--duplicate-threshold": r"Cosine from which two questions are one",
    "--no-model": r"Ask no model",
    "--no-embeddings": r"Find duplicates by their words only",
    "--system-name": r"The system's name",
    "--questions-per-call": r"Questions of one call",
    "--journal": r"(The j|J)ournal |Where they go",
    "--cache-dir": r"(The c|C)ache (folder|of made embeddings)",
    "--config": r"Configuration file",
    "--redact": r"Leave names and texts out",
    "--yes": r"Do not ask",
    "--dry-run": r"Say how |As --list, and what|Read and check the files, say what",
}
ONLY = {"--filter-system", "--filter-document", "--filter-id", "--filter-level", "--filter-kind", "--filter-dataset", "--filter-hops"}
# the same word with and without a value
SHAPES = {"--fail-on-worse": "of checks by severity, of figures beyond noise", "--sweep": "over a grid that is written, or a fixed one"}
# what other commands call it
GONE = {"--json": "-f json", "--filter-first-n": "--limit", "--query-timeout": "--timeout", "--fail-if-worse": "--fail-on-worse",
        "--write-baseline": "--write-ratchet", "--human": "--labels", "--near": "--duplicate-threshold", "--no-judge": "--no-model",
        "--no-embedding": "--no-embeddings", "--checks": "--check", "--systems": "--filter-system", "--drill": "--examples"}


def options() -> Iterator[tuple[str, click.Option]]:
    """Every option with its command's words."""

    def walk(command: click.Command, path: str) -> Iterator[tuple[str, click.Option]]:
        yield from ((path, option) for option in command.params if isinstance(option, click.Option))
        if isinstance(command, click.Group):
            for name, child in command.commands.items():
                yield from walk(child, f"{path} {name}")

    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        yield from walk(command, name)


def test_a_flag_means_the_same_in_every_command() -> None:
    meanings = MEANINGS | dict.fromkeys(ONLY, "Only ")
    faults = {
        f"{path} {flag}: {option.help}" for path, option in options() for flag in option.opts
        if flag in meanings and not re.match(meanings[flag], option.help or "")
    }
    assert faults == set()
    assert set(meanings) - {flag for _, option in options() for flag in option.opts} == set(), "a meaning of a flag that is not there"


def test_a_flag_takes_a_value_in_every_command_or_in_none() -> None:
    shapes: dict[str, set[bool]] = {}
    for _, option in options():
        for flag in (*option.opts, *option.secondary_opts):
            shapes.setdefault(flag, set()).add(option.is_flag)
    assert {flag for flag, found in shapes.items() if len(found) > 1} == set(SHAPES)


def test_a_short_flag_stands_for_one_long_one() -> None:
    long: dict[str, set[str]] = {}
    for _, option in options():
        for flag in option.opts:
            if len(flag) == 2:
                long.setdefault(flag, set()).add(max(option.opts, key=len))
    assert {flag: found for flag, found in long.items() if len(found) > 1} == {"-n": {"--n", "--lines"}}
    assert all("-y" in option.opts for _, option in options() if "--yes" in option.opts)


def test_no_command_has_a_word_that_others_have_under_another_name() -> None:
    there = {flag for _, option in options() for flag in (*option.opts, *option.secondary_opts)}
    assert there & set(GONE) == set()


def test_every_flag_is_named_on_a_page_that_people_write() -> None:
    pages = "".join(MADE_PART.sub("", page.read_text(encoding="utf-8")) for page in written_pages())
    named = set(re.findall(r"(?<![\w-])--[a-z0-9-]+", pages))
    root = [flag for option in cli.params for flag in option.opts]
    flags = {flag for _, option in options() for flag in (*option.opts, *option.secondary_opts)} | set(root)
    assert sorted(flag for flag in flags if flag.startswith("--") and flag not in named) == []


def written_pages() -> list[Path]:
    """The pages without those that tools/generate.py makes as a whole."""
    made = {ROOT / "docs" / name for name in ("cli.md", "glossary.md")}
    return [
        ROOT / "README.md",
        *(page for page in (ROOT / "docs").rglob("*.md") if page not in made and page.parent.name not in ("rules", "metrics")),
    ]


def test_every_command_that_prints_a_result_has_the_same_format_flag() -> None:
    for path, option in options():
        if "--format" in option.opts:
            assert "-f" in option.opts and isinstance(option.type, click.Choice), path
            assert {"text", "json"} <= set(map(str, option.type.choices)) and option.default == "text", path


def test_the_help_lists_every_command_once_under_a_heading(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    page = capsys.readouterr().out
    assert all(f"\n{heading}:\n" in page for heading in SECTIONS)
    assert all(len(re.findall(rf"^  {re.escape(name)} ", page, re.MULTILINE)) == 1 for name in COMMANDS)


@pytest.mark.parametrize("command", ["audit", "score", "compare", "answer", "completeness", "accuracy", "questions generate", "build"])
def test_h_is_one_screen_that_names_every_option_and_says_how_to_read_more(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command.split(), "--help"]) == 0
    whole = capsys.readouterr().out
    assert run([*command.split(), "-h"]) == 0
    brief = capsys.readouterr().out
    named = set(re.findall(r"(?<![\w-])--[a-z-]+", whole))
    assert {flag for path, option in options() if path == command for flag in option.opts if flag.startswith("--")} <= named
    assert {flag for path, option in options() if path == command for flag in option.opts if flag.startswith("--")} <= set(
        re.findall(r"(?<![\w-])--[a-z-]+", brief))
    assert f"More, which kgeval {command} --help describes:" in brief and "More, which" not in whole
    assert len(brief.splitlines()) <= 80 < len(whole.splitlines())


def test_the_home_of_the_server_has_one_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KGEVAL_HOME", str(tmp_path / "graphs"))
    assert run(["server", "status", "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["home"] == str(tmp_path / "graphs")


@pytest.mark.parametrize(("words", "meant"), [
    (["metrcs"], "metrics"), (["annotate", "agrement"], "agreement"), (["schema", "list", "--jsn"], "--format json"),
    (["accuracy", "--lables", "a"], "--labels"),
])
def test_who_mistypes_a_name_is_told_the_nearest(words: list[str], meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    assert f"Did you mean '{meant}'" in capsys.readouterr().err


def test_a_shell_completes_commands_and_flags(capsys: pytest.CaptureFixture[str]) -> None:
    def completed(*words: str) -> list[str]:
        *before, last = words
        return [item.value for item in BashComplete(cli, {}, "kgeval", "_KGEVAL_COMPLETE").get_completions(list(before), last)]

    assert completed("m") == ["metrics", "merge-shards"]
    assert "sensitivity" in completed("metrics", "") and completed("audit", "--exa") == ["--examples"]
    assert completed("report", "score-m")[0] == "score-matrix"
    assert completed("build", "merges", "l") == ["list"] and "merges" not in completed("build", "docs", "m")
    assert capsys.readouterr().err == ""


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, list[str]]:
    """Exit code, stdout, and the lines of stderr."""
    code = run(words)
    out, err = capsys.readouterr()
    return code, out, err.splitlines()


@pytest.mark.parametrize(
    "words", ["build none.txt", "import none.csv", "build merges list", "build merges undo x", "stats drift none.jsonl"],
)
def test_what_a_command_must_be_told_is_asked_for(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, lines = said(words.split(), capsys)
    flag = "--anchors" if "drift" in words else "--graph"
    assert code == 2 and any(f"Missing option '{flag}'" in line for line in lines), lines


def test_a_home_is_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.txt").touch()
    code, _, lines = said(["server", "status", "--home", str(tmp_path / "d.txt")], capsys)
    assert code == 2 and any("is a file" in line for line in lines), lines


def test_a_shell_that_asks_for_completions_gets_them_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COMP_WORDS", "kgeval sc")
    for how in ("bash_complete", "zsh_complete", "fish_complete", "bash_source", "zsh_source", "fish_source"):
        monkeypatch.setenv("_KGEVAL_COMPLETE", how)
        monkeypatch.setenv("COMP_CWORD", "sc" if how.startswith("fish") else "1")
        assert run([]) == 0
        said = capsys.readouterr()
        assert said.err == "" and ("score" in said.out) == how.endswith("complete")
