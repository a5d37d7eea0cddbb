"""One meaning a flag and one flag a meaning, over all commands; names of earlier versions work as before, with one note on stderr."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete

from kgeval.cli.common import Option
from kgeval.cli.main import COMMANDS, SECTIONS, cli, run
from kgeval.cli.suggest import RENAMED
from kgeval.config import load

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "kgeval" / "sample"

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


def renamed() -> list[tuple[str, Option, str]]:
    return [(path, option, old) for path, option in options() if isinstance(option, Option) for old in option.old]


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


def test_every_command_that_prints_a_result_has_the_same_format_flag() -> None:
    for path, option in options():
        if "--format" in option.opts:
            assert "-f" in option.opts and isinstance(option.type, click.Choice), path
            assert {"text", "json"} <= set(map(str, option.type.choices)) and option.default == "text", path


def test_an_old_word_of_a_command_is_no_word_of_it_today() -> None:
    words: dict[str, set[str]] = {}
    for path, option in options():
        words.setdefault(path, set()).update(option.opts, option.secondary_opts)
    assert [f"{path} {old}" for path, _, old in renamed() if set(old.split("/")) & words[path]] == []
    assert len(renamed()) > 30


def test_the_help_lists_every_command_once_under_a_heading_and_no_old_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    page = capsys.readouterr().out
    assert all(f"\n{heading}:\n" in page for heading in SECTIONS)
    assert all(len(re.findall(rf"^  {re.escape(name)} ", page, re.MULTILINE)) == 1 for name in COMMANDS)
    assert not [old for old in RENAMED if re.search(rf"^  {old} ", page, re.MULTILINE)]
    for path, _, old in renamed():
        assert run([*path.split(), "--help"]) == 0
        assert not re.search(rf"(^|\s){old.partition('/')[0]}[\s,]", capsys.readouterr().out), f"{path}: {old}"


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


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, list[str]]:
    """Exit code, stdout, and the lines of stderr."""
    code = run(words)
    out, err = capsys.readouterr()
    return code, out, err.splitlines()


@pytest.mark.parametrize("old", RENAMED)
def test_a_command_of_an_earlier_version_works_with_one_note(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    more = {"matrix": ["."], "rule": ["list"], "skill": [], "join": ["none.jsonl"], "agree matrix": ["none.jsonl"]}
    words = more.get(old, ["--help"])
    code, out, lines = said([*old.split(), *words], capsys)
    now = said([*RENAMED[old].split(), *words], capsys)
    assert (code, out) == now[:2]
    assert lines[0] == f"NOTE: `kgeval {old}` is now `kgeval {RENAMED[old]}`" and lines[1:] == now[2]


@pytest.mark.parametrize(("path", "option", "old"), [pytest.param(*one, id=f"{one[0]} {one[2]}") for one in renamed()])
def test_a_flag_of_an_earlier_version_is_parsed_as_that_of_today_with_one_note(
    path: str, option: Option, old: str, capsys: pytest.CaptureFixture[str],
) -> None:
    value = option.old[old]
    for number, earlier in enumerate(old.split("/")):
        now = [[*option.opts][-1], *option.secondary_opts][number]
        given = [] if option.is_flag else [value if value is not None else sample_of(option)]
        assert parsed(path, option, [now, *given]) == parsed(path, option, [earlier, *(given if value is None else [])])
        note = f"NOTE: `kgeval {path} {earlier}` is now `kgeval {path} {now}{'' if value is None else f' {value}'}`"
        assert capsys.readouterr().err.splitlines() == [note]


def sample_of(option: click.Option) -> str:
    """A value that the option takes."""
    if isinstance(option.type, click.Choice):
        return str(option.type.choices[0])
    return "1" if "int" in option.type.name or option.type.name in ("float", "float range", "seconds") else __file__


def parsed(path: str, option: click.Option, words: list[str]) -> object:
    """What an option of a command is when its words are read."""
    command: click.Command = cli
    parent: click.Context | None = click.Context(cli, info_name="kgeval")
    for name in path.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), name)
        assert found is not None and parent is not None
        command, parent = found, click.Context(found, info_name=name, parent=parent)
    assert parent is not None
    parser = command.make_parser(parent)
    opts, _, _ = parser.parse_args(list(words))
    return option.process_value(parent, option.consume_value(parent, opts)[0])


CALLS = {  # whole commands: old words, those of today
    "rule list --json": "checks list -f json",
    "layout list --json": "layout list -f json",
    "layout show lightrag --json": "layout show lightrag -f json",
    "schema list --json": "schema list -f json",
    "system list --json": "system list -f json",
    "score graph.jsonl --questions questions.jsonl --metrics token_f1 --filter-first-n 3 --system mine -f json --no-progress":
        "score graph.jsonl --questions questions.jsonl --metrics token_f1 --limit 3 --system-name mine -f json --no-progress",
    "stats paired scores.csv --systems one,two -f md": "stats paired scores.csv --filter-system one,two -f md",
    "questions check questions.jsonl --no-model --checks leak --near 0.5 --query-timeout 3 -f md":
        "questions check questions.jsonl --no-model --check leak --duplicate-threshold 0.5 --timeout 3 -f md",
    "report scores.json --fail-if-worse": "report scores.json --fail-on-worse",
    "accuracy --uri bolt://127.0.0.1:1 --no-judge": "accuracy --uri bolt://127.0.0.1:1 --no-model",
    "compare --simulate --runs 2 --simulate-questions 5 --trials 2 -f json":
        "compare --simulate --simulate-runs 2 --simulate-questions 5 --trials 2 -f json",
}
TIMES = re.compile(r'"(started|seconds)": [^,\n]*|\b\d+(\.\d+)? s\b|0\.\d+s')


@pytest.mark.parametrize("old", CALLS)
def test_a_call_of_an_earlier_version_gives_the_same_with_a_note_for_each_old_word(
    old: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("graph.jsonl", "questions.jsonl"):
        shutil.copy(SAMPLE / "answers" / name, tmp_path / name)
    rows = [f"q{n},{system},{n % 3 / 2}" for n in range(9) for system in ("one", "two", "three")]
    (tmp_path / "scores.csv").write_text("\n".join(["question_id,system,score", *rows]) + "\n")
    shutil.copy(ROOT / "schemas" / "examples" / "score-report" / "valid" / "harbour.json", tmp_path / "scores.json")
    monkeypatch.chdir(tmp_path)
    code, out, lines = said(old.split(), capsys)
    now = said(CALLS[old].split(), capsys)
    assert (code, TIMES.sub("", out)) == (now[0], TIMES.sub("", now[1]))
    notes = [line for line in lines if line.startswith("NOTE: ")]
    words = {word for word in old.split() if word.startswith("--")} - set(CALLS[old].split())
    assert len(notes) == len(words) + old.startswith("rule ")
    assert [line for line in lines if line not in notes] == now[2]


def test_variables_of_earlier_names_work(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("KGEVAL_AUDIT_LIMIT", "many")
    assert run(["audit", "--uri", "bolt://127.0.0.1:1"]) == 2
    assert "'many' is not a valid integer" in capsys.readouterr().err
    monkeypatch.setenv("KGEVAL_AUDIT_EXAMPLES", "4")
    monkeypatch.setenv("KGEVAL_JOIN_JOURNAL", "old.sqlite")
    monkeypatch.setenv("KGEVAL_AGREE_MATRIX_SEED", "7")
    monkeypatch.setenv("KGEVAL_SCORE_FILTER_FIRST_N", "3")
    context = click.Context(cli)
    found = {(path, option.name): option.value_from_envvar(context) for path, option in options()}
    assert found["audit", "examples"] == "4", "that of today counts"
    assert found["merge-shards", "journal"] == "old.sqlite" and found["metrics correlate", "seed"] == "7" and found["score", "limit"] == "3"


def test_keys_of_earlier_versions_are_read_with_a_note(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "kgeval.toml"
    file.write_text(
        '[audit]\nlimit = 3\nwrite_baseline = "a.json"\n[questions]\nno_embedding = true\n'
        "[completeness]\nlimit = 0\n[build]\nbatch_size = 7\n"
    )
    config = load(file)
    assert (config.audit.examples, str(config.audit.write_ratchet), config.questions.no_embeddings) == (3, "a.json", True)
    assert (config.completeness.examples, config.build.transaction_rows) == (0, 7)
    assert f"NOTE: {file}: [audit] limit is now examples" in caplog.messages and len(caplog.messages) == 5
    load(file)
    assert len(caplog.messages) == 5, "a command reads the file more than once, and says it once"


def test_the_home_of_the_server_has_one_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KGEVAL_HOME", str(tmp_path / "graphs"))
    assert run(["server", "status", "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["home"] == str(tmp_path / "graphs")


@pytest.mark.parametrize(("words", "meant"), [
    (["matrx"], "report score-matrix"), (["sensitivty"], "metrics sensitivity"), (["rules"], "checks"),
    (["annotate", "measure"], "annotate agreement"), (["schema", "list", "--jsn"], "--format json"),
    (["accuracy", "--humn", "a"], "--labels"),
])
def test_who_mistypes_an_old_name_is_told_that_of_today(words: list[str], meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    assert f"Did you mean '{meant}'" in capsys.readouterr().err


def test_a_shell_completes_the_names_of_today_without_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    def completed(*words: str) -> list[str]:
        *before, last = words
        return [one.value for one in BashComplete(cli, {}, "kgeval", "_KGEVAL_COMPLETE").get_completions(list(before), last)]

    assert completed("m") == ["metrics", "merge-shards"] and completed("agr") == []
    assert "sensitivity" in completed("metrics", "") and completed("audit", "--exa") == ["--examples"] and completed("audit", "--lim") == []
    assert completed("report", "score-m")[0] == "score-matrix"
    assert completed("build", "merges", "l") == ["list"] and "merges" not in completed("build", "docs", "m")
    assert completed("rule", "sh") == ["show"] and capsys.readouterr().err == ""


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
