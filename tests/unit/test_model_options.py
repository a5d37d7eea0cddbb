"""Options of commands that ask models: flag > environment > kgeval.toml > default, and a plan that people and scripts can read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from kgeval.cli.common import say
from kgeval.cli.derive import options_from
from kgeval.cli.options import embedding_options, model_flags
from kgeval.config import Config, EmbeddingOptions, ModelOptions, ScoreOptions
from kgeval.errors import UsageError
from kgeval.graph.server.jars import jars_folder
from kgeval.llm.calls import Limits
from kgeval.llm.places import embedding_folder, journal_file
from kgeval.llm.plan import Plan, PlannedStage
from kgeval.llm.prices import Price
from kgeval.workflows.session import Session

TOML = Config.model_validate({
    "model": {
        "judge": {"name": "toml-model", "base_url": "http://127.0.0.1:1/toml", "parameters": {"seed": 3}}, "embedding": {"name": "toml-e"},
    },
    "limits": {"concurrency": 3, "rpm": 30, "timeout": 9, "cost": 0.5, "calls": 0},
})


def parsed(*arguments: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What a command with these options gets."""
    got: dict[str, Any] = {}

    @click.command()
    @model_flags("judge")
    @embedding_options
    def command(**given: Any) -> None:
        got.update(given)

    done = CliRunner().invoke(command, list(arguments), env=dict(env or {}), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return got


def session(config: Config, options: Mapping[str, Any]) -> Session:
    """The session of a command with these options."""
    asking, embedding = options_from(ModelOptions, options), options_from(EmbeddingOptions, options)
    return Session("", config=config, asking=asking, embedding=embedding, say=say)


def test_limits_come_from_the_flag_then_the_file_then_the_default() -> None:
    assert session(Config(), parsed()).limits == Limits()
    assert session(TOML, parsed()).limits == Limits(concurrency=3, rpm=30, timeout=9.0, cost_limit=0.5, max_calls=0)
    flags = parsed(
        "-j", "64", "--rpm", "5", "--tpm", "7", "--max-retries", "0", "--max-reasks", "0", "--call-timeout", "2", "--cost-limit", "0",
        "--max-calls", "11", "--max-error-rate", "0",
    )
    assert session(TOML, flags).limits == Limits(64, 5, 7, 0, 0, 2.0, 0.0, 11, 0.0), "0 is a value, not an absence"


@pytest.mark.parametrize(("arguments", "env", "config", "expected"), [
    (["--model", "flag", "--base-url", "http://127.0.0.1:1/flag"], {"OPENAI_BASE_URL": "http://127.0.0.1:1/env"}, TOML, ("flag", "flag")),
    ([], {"OPENAI_BASE_URL": "http://127.0.0.1:1/env"}, TOML, ("toml-model", "env")),
    ([], {}, TOML, ("toml-model", "toml")),
])
def test_the_endpoint_comes_from_the_flag_then_the_environment_then_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], env: dict[str, str], config: Config, expected: tuple[str, str],
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    options = parsed(*arguments, env=env) | {"journal": tmp_path / "j"}
    with session(config, options) as here:
        models = here.models("judge", ScoreOptions())
        assert models.endpoint.model == expected[0]
        assert models.endpoint.base_url == f"http://127.0.0.1:1/{expected[1]}"
        assert models.endpoint.parameters["seed"] == 3
    assert (tmp_path / "j").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("section", "url", "name"), [
    ({"endpoint": "ours"}, "http://127.0.0.1:2/v1", "ours"),
    ({"endpoint": "ours", "base_url": "http://localhost:2/v1/"}, "http://127.0.0.1:2/v1", "ours"),
    ({"endpoint": "ours", "base_url": "http://localhost:1/v1"}, None, "ours"),
    ({"endpoint": "ours", "base_url": "http://localhost:1/v1"}, "http://127.0.0.1:2/v1", "localhost:2"),
    ({}, "http://127.0.0.1:2/v1", "localhost:2"),
])
def test_the_name_of_an_endpoint_holds_for_the_address_of_its_section(
    tmp_path: Path, section: dict[str, str], url: str | None, name: str,
) -> None:
    config = Config.model_validate({"model": {"judge": {"name": "m", **section}, "embedding": {"name": "e", **section}}})
    options = parsed("--cache-dir", str(tmp_path)) | {"base_url": url, "embedding_url": url}
    with session(config, options) as here:
        assert here.models("judge", ScoreOptions()).endpoint.name == name
        with here.embedder as embedder:
            assert (embedder.endpoint, embedder.identity) == (name, f"e@{name}")


def test_the_journal_lies_in_the_cache_folder_that_is_given(tmp_path: Path) -> None:
    options = parsed("--base-url", "http://127.0.0.1:1/v1", "--model", "m", "--cache-dir", str(tmp_path / "c"))
    with session(Config(), options) as here:
        here.models("judge", ScoreOptions())
        assert (tmp_path / "c" / "journal.sqlite").is_file()
    assert (tmp_path / "c").stat().st_mode & 0o077 == 0


def test_one_variable_moves_all_that_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KGEVAL_CACHE_DIR", str(tmp_path))
    assert (journal_file(), embedding_folder(), jars_folder()) == (tmp_path / "journal.sqlite", tmp_path / "embeddings", tmp_path / "jars")
    assert journal_file(cache_dir=tmp_path / "given") == tmp_path / "given" / "journal.sqlite"


def test_a_missing_model_name_is_one_clear_error() -> None:
    with pytest.raises(UsageError, match="no model is named for the judge") as caught:
        session(Config(), parsed()).models("judge", ScoreOptions())
    assert "--model" in caught.value.fix and "[model.judge]" in caught.value.fix


def test_the_embedder_comes_from_the_flag_then_the_file(tmp_path: Path) -> None:
    at = ("--embedding-url", "http://127.0.0.1:1/v1", "--cache-dir", str(tmp_path))
    for words, name in (((), "toml-e"), (("--embedding-model", "flag-e"), "flag-e")):
        assert session(TOML, parsed(*words, *at)).embedder.name == name


STAGES = (
    PlannedStage("extract", 120, 120, from_journal=30, input_tokens_low=60_000, input_tokens_high=60_000, output_tokens_high=36_000,
                 price=Price(1.0, 2.0), seconds_a_call=2.0),
    PlannedStage("glean", 0, 120, input_tokens_high=90_000, output_tokens_high=36_000, price=Price(1.0, 2.0), seconds_a_call=2.0),
)


def test_a_plan_on_a_pipe_is_plain_text_with_sums(capsys: pytest.CaptureFixture[str]) -> None:
    """Cost by hand: input 60,000 tokens at 1 USD a million, at most 150,000 and 72,000 out at 2 USD: 0.06 to 0.294 USD.
    Time: 120 to 240 calls of 2 s, 8 at a time: 30 to 60 s."""
    click.echo(str(Plan(STAGES, Limits())))
    lines = capsys.readouterr().out.splitlines()
    cells = [[cell for cell in line.split("  ") if cell.strip()] for line in lines[:4]]
    assert [cell.strip() for cell in cells[3]] == ["total", "120 to 240", "30", "60,000 to 150,000", "72,000", "0.0600 to 0.2940 USD"]
    assert lines[4].startswith("about 30 s to 1 min at 8 requests at a time")
    assert lines[-1] == "dry run: nothing was sent"
    assert not any("\x1b" in line or "│" in line for line in lines)


def test_costs_by_the_shipped_price_list_are_called_unchecked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = ("--model", "gpt-4o", "--base-url", "https://api.openai.com/v1", "--cache-dir", str(tmp_path))
    with session(Config(), parsed(*at)) as here:
        models = here.models("judge", ScoreOptions())
        assert "nobody has checked" in capsys.readouterr().err
        assert any("nobody has checked" in note for note in models.notes)
        click.echo(str(Plan((models.plan(()),), models.limits)))
    assert "nobody has checked" in capsys.readouterr().out
    prices = tmp_path / "prices.toml"
    prices.write_text('[[model]]\nname = "gpt-4o"\ninput = 1\noutput = 2\n')
    with session(Config(), parsed(*at, "--prices", str(prices))) as here:
        models = here.models("judge", ScoreOptions())
        click.echo(str(Plan((models.plan(()),), models.limits)))
        assert models.notes == []
    assert "checked" not in "".join(capsys.readouterr())


def test_a_plan_calls_no_estimate_a_bound(capsys: pytest.CaptureFixture[str]) -> None:
    click.echo(str(Plan(STAGES, Limits())))
    out = capsys.readouterr().out
    assert "estimates" in out and "bound" not in out


def test_the_models_of_one_session_share_its_budget_and_the_rates_of_an_endpoint(tmp_path: Path) -> None:
    options = parsed(
        "--model", "m", "--max-calls", "3", "--rpm", "60", "--cache-dir", str(tmp_path), "--base-url", "http://127.0.0.1:1/v1",
    )
    with session(Config(), options) as here, session(Config(), options) as other:
        judge, extractor = here.models("judge", ScoreOptions()), here.models("extractor", ScoreOptions())
        here.asking = here.asking.model_copy(update={"base_url": "http://127.0.0.1:2/v1"})
        away = here.models("judge", ScoreOptions())
        assert judge._caller.budget is extractor._caller.budget is away._caller.budget
        assert judge._caller.rates is extractor._caller.rates is not away._caller.rates
        assert other.models("judge", ScoreOptions())._caller.budget is not judge._caller.budget


def test_a_plan_without_a_price_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    click.echo(str(Plan((PlannedStage("judge", 1, 1),), Limits(rpm=10))))
    out = capsys.readouterr().out
    assert "unknown" in out and "--prices" in out and "10 requests a minute" in out
