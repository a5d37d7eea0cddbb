"""What commands that ask models share: options, opening a session, showing a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgeval.cli.common import Seconds, say
from kgeval.cli.derive import flags_of, under
from kgeval.config import ModelOptions
from kgeval.config.audit import EMBEDDINGS

if TYPE_CHECKING:
    from kgeval.config import Config, ModelChoice
    from kgeval.llm.calls import Limits
    from kgeval.llm.plan import Plan
    from kgeval.llm.progress import Progress
    from kgeval.llm.session import Models
    from kgeval.llm.shared import Shared
    from kgeval.records.model import Role
    from kgeval.workflows.session import EmbeddingChoice

F = TypeVar("F", bound=Callable[..., Any])
MONEY = click.FloatRange(min=0, max=1e9)


def model_options(role: Role) -> Callable[[F], F]:
    """--model, --base-url, --language for the model that plays `role`. The key comes from OPENAI_API_KEY."""

    def decorate(command: F) -> F:
        return _with(command, (
            click.option("--model", metavar="NAME", help=f"The model that is the {role} [default: model.{role}.name of kgeval.toml]."),
            click.option(
                "--base-url", envvar="OPENAI_BASE_URL", show_envvar=True, metavar="URL",
                help="OpenAI-compatible endpoint [default: the client's]. The key comes from OPENAI_API_KEY.",
            ),
            click.option("--language", default="en", show_default=True, metavar="CODE", help="Language of the prompts."),
        ))

    return decorate


def model_flags(role: Role) -> Callable[[F], F]:
    """The flags of ModelOptions for the model that plays `role`, --dry-run and --no-progress."""

    def decorate(command: F) -> F:
        return _with(command, (
            flags_of(ModelOptions, role=role),
            click.option("--dry-run", is_flag=True, help="Say how many calls, tokens and how much money it would take; send nothing."),
            click.option("--no-progress", is_flag=True, help="No progress on stderr."),
        ))

    return decorate


def limit_options(command: F) -> F:
    """How much at a time and in all, what is kept where, and the dry run. Defaults: [limits] of kgeval.toml."""
    return _with(command, (
        click.option("-j", "--max-concurrency", type=click.IntRange(1, 1024), help="Requests in flight [default: 8]."),
        click.option("--rpm", type=click.IntRange(min=1), help="Requests a minute to one endpoint [default: no limit]."),
        click.option("--tpm", type=click.IntRange(min=1), help="Tokens a minute to one endpoint [default: no limit]."),
        click.option("--max-retries", type=click.IntRange(0, 100), help="Retries of a request that did not get through [default: 6]."),
        click.option("--max-reasks", type=click.IntRange(0, 20), help="Times that missing answers are asked again [default: 2]."),
        click.option("--call-timeout", type=Seconds(), help="Seconds a request may take, in silence and in all [default: 60]."),
        click.option("--cost-limit", type=MONEY, metavar="USD", help="Stop (exit 3) before more than this is spent."),
        click.option("--max-calls", type=click.IntRange(min=0), help="Stop (exit 3) after so many requests."),
        click.option("--max-error-rate", type=click.FloatRange(0, 1), help="Exit 3 if more than this share of items fails [default: 0.1]."),
        click.option("--prices", type=click.Path(path_type=Path), help="Price file to use instead of kgeval's own, which is unchecked."),
        click.option("--dry-run", is_flag=True, help="Say how many calls, tokens and how much money it would take; send nothing."),
        click.option("--journal", type=click.Path(path_type=Path), help="Journal of finished calls [default: in the cache folder]."),
        click.option("--cache-dir", type=click.Path(path_type=Path), help="Cache folder [default: the user's]."),
        click.option("--no-progress", is_flag=True, help="No progress on stderr."),
    ))


def embedding_options(command: F) -> F:
    """Which model embeds, and where. Default: all-MiniLM-L6-v2 on this machine."""
    option = under(EMBEDDINGS)
    return _with(command, (
        option(
            "--embedding-model", metavar="NAME",
            help="sentence-transformers model (hub name or folder), or the endpoint's model [default: all-MiniLM-L6-v2].",
        ),
        option("--embedding-url", metavar="URL", help="OpenAI-compatible endpoint that embeds [default: this machine does]."),
        option("--embedding-batch", type=click.IntRange(1, 4096), default=64, show_default=True, help="Texts at a time."),
        option("--embedding-device", metavar="NAME", help="cpu, cuda, mps... [default: the best there is]."),
    ))


def open_models_from_options(config: Config, role: Role, options: Mapping[str, Any]) -> Models:
    """An open session with the role's model: flag > environment > kgeval.toml > default.

    Raises: UsageError without a model's name; ModelError where the session cannot be opened (no price for --cost-limit...).
    """
    from kgeval.llm.calls import Endpoint
    from kgeval.llm.endpoints import endpoint_in_use
    from kgeval.llm.places import journal_file
    from kgeval.llm.session import open_models

    choice = _choice(config, role)
    own = {} if options.get("temperature") is None else {"temperature": options["temperature"]}
    url = options.get("base_url") or choice.base_url
    endpoint = Endpoint(
        model=_name(options.get("model") or choice.name, role), base_url=url, parameters={**choice.parameters, **own},
        name=endpoint_in_use(choice.base_url, choice.endpoint, url),
    )
    limits = limits_from_options(config, options)
    models = open_models(
        endpoint, limits, role=role, journal=journal_file(options.get("journal"), options.get("cache_dir")),
        prices=options.get("prices"), language=options.get("language") or "en", progress=progress_of(options),
        shared=command_shared(limits),
    )
    if models.price_is_unchecked and not options.get("dry_run"):
        say(f"warning: {models.price_note}")
    return models


def limits_from_options(config: Config, options: Mapping[str, Any]) -> Limits:
    """The limits in force: a flag that was given, else kgeval.toml's, else the default."""
    from kgeval.llm.calls import Limits

    section = config.limits

    def chosen(flag: str, configured: Any) -> Any:
        given = options.get(flag)
        return configured if given is None else given

    return Limits(
        concurrency=chosen("max_concurrency", section.concurrency), rpm=chosen("rpm", section.rpm), tpm=chosen("tpm", section.tpm),
        max_retries=chosen("max_retries", section.retries), max_reasks=chosen("max_reasks", section.reasks),
        timeout=chosen("call_timeout", section.timeout), cost_limit=chosen("cost_limit", section.cost),
        max_calls=chosen("max_calls", section.calls), max_error_rate=chosen("max_error_rate", section.error_rate),
    )


def embedding_from_options(options: Mapping[str, Any]) -> EmbeddingChoice:
    """What the flags of `embedding_options` choose."""
    from kgeval.workflows.session import EmbeddingChoice

    return EmbeddingChoice(
        options.get("embedding_model"), options.get("embedding_url"), options.get("embedding_device"),
        options.get("embedding_batch") or 64, options.get("cache_dir"),
    )


def _with(command: F, options: tuple[Callable[[F], F], ...]) -> F:
    for option in reversed(options):
        command = option(command)
    return command


def _choice(config: Config, role: Role) -> ModelChoice:
    choice: ModelChoice = getattr(config.model, role)
    return choice


def _name(name: str | None, role: str) -> str:
    from kgeval.errors import UsageError

    if name and name.strip():
        return name.strip()
    raise UsageError(f"no model is named for the {role}", fix=f"give --model NAME, or name = ... in [model.{role}] of kgeval.toml")


def command_shared(limits: Limits) -> Shared:
    """The budget and the rates of this command: its first session makes them, the others take part in them."""
    from kgeval.llm.shared import Shared

    context = click.get_current_context(silent=True)
    made: Shared = context.meta.setdefault("kgeval.llm.shared", Shared(limits)) if context is not None else Shared(limits)
    return made


def progress_of(options: Mapping[str, Any]) -> Progress:
    """The progress line of a command; none with --no-progress."""
    from kgeval.llm.progress import Progress

    return Progress(shown=False if options.get("no_progress") else None)


def show_plan(plan: Plan) -> None:
    """A plan on stdout. Nothing was sent."""
    click.echo(str(plan))
