"""Which layout a command works with: the one that was named, or the one that is recognised; asks where two fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from kgeval.errors import LayoutError
from kgeval.format import percent

if TYPE_CHECKING:
    from pydantic import JsonValue

    from kgeval.config import Config
    from kgeval.graph.connect import Graph
    from kgeval.graph.layouts import Catalogue, Detection, Profile
    from kgeval.records import Layout


class Asking(Protocol):
    """A person who can be asked."""

    def password(self, prompt: str) -> str:
        """A password, not shown."""

    def number(self, prompt: str, most: int) -> int:
        """One of 1 to `most`."""


def configured_layout(
    graph: Graph, config: Config, graph_name: str | None, layout_option: str | None, overrides: Mapping[str, Any], *,
    ask: Asking | None = None, say: Callable[[str], None],
) -> Layout:
    """As `choose_layout`, what is given over `[graph.layout]` and `[graph] name`."""
    named, keys = _configured(config, layout_option, overrides)
    return choose_layout(graph, named, graph_name or config.graph.name, keys, ask=ask, say=say)


def layout_settings(config: Config, layout_option: str | None, overrides: Mapping[str, Any]) -> dict[str, JsonValue]:
    """What of a layout the user sets, for signatures: single keys, and what a layout file holds. Empty where a layout of kgeval's, named or
    recognised, stands as it is: what binding makes of it changes with the graph. Raises: ConfigError for a faulty file."""
    from kgeval.graph.layouts import load_profile
    from kgeval.graph.layouts.profile import names

    named, keys = _configured(config, layout_option, overrides)
    settings: dict[str, JsonValue] = {"keys": keys} if keys else {}
    if named not in ("auto", *names()):
        settings["file"] = load_profile(named).layout.model_dump(exclude_defaults=True)
    return settings


def _configured(config: Config, layout_option: str | None, overrides: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The layout's name, its file or auto, and the single keys over it."""
    section = config.graph.layout
    keys = dict(section) if isinstance(section, dict) else {"extends": section}
    named = keys.pop("extends", None)
    if named and layout_option not in (None, "auto", named):
        keys = {}  # the keys of kgeval.toml were written for another layout than the one that is named now
    return layout_option or named or "auto", keys | dict(overrides)


def choose_layout(
    graph: Graph, layout_option: str, graph_name: str | None, overrides: Mapping[str, Any], *, ask: Asking | None = None,
    say: Callable[[str], None],
) -> Layout:
    """The bound layout for auto, a layout's name or file, the graph's name, and single keys replaced by `overrides`.

    `auto` recognises the layout; where several fit, the person is asked, if there is one. A layout that is named is taken at its word where
    something of it is there.
    Raises: LayoutError: several fit and nobody can be asked, nothing matches (with what the database holds), or the graph's name is
    missing or unknown; ConfigError: an unknown layout or a faulty file; QueryTimeout at the server's own limit.
    """
    from kgeval.graph.failures import QueryTimeout
    from kgeval.graph.layouts import bind, catalogue, load_profile, misfit, override

    auto = layout_option == "auto"
    try:
        seen = catalogue(graph)
        profile = _recognised(graph, graph_name, seen, ask, say) if auto else load_profile(layout_option)
        bound = bind(graph, override(profile.layout, overrides), graph_name, seen=seen)
        if not auto and not overrides and (fault := misfit(graph, profile, seen)):
            raise fault
        return bound
    except QueryTimeout as late:
        what = "the server stopped the look at labels and counts that every command begins with, at its time limit"
        raise QueryTimeout(what, fix="raise db.transaction.timeout on the server for this user or this time") from late


def _recognised(
    graph: Graph, graph_name: str | None, seen: Catalogue, ask: Asking | None, say: Callable[[str], None],
) -> Profile:
    from kgeval.graph.layouts import detect, load_profile
    from kgeval.graph.layouts.nodes import empty_database

    if seen.nodes == 0:
        raise empty_database(graph)
    detection = detect(graph, graph_name, seen=seen)
    if detection.choice is None:
        if ask is None or not detection.tied:
            raise undecided(detection)
        return load_profile(_asked(detection, ask, say))
    if detection.candidates[0].fit == "perhaps":
        say(f"layout: {detection.choice}: {detection.reason}")
    return load_profile(detection.choice)


def undecided(found: Detection) -> LayoutError:
    """The error where no layout can be chosen: which fit, and what speaks for each."""
    lines = [f"cannot tell which layout this database follows: {found.reason}. It holds {found.database}"]
    for candidate in found.tied:
        lines.append(f"  {candidate.name}: {'; '.join(candidate.evidence_for)}")
        lines += [f"    against: {text}" for text in candidate.evidence_against]
    names = " or ".join(f"--layout {c.name}" for c in found.tied)
    fix = f"choose {names}; kgeval layout detect explains" if names else "kgeval layout init writes a layout for this database"
    return LayoutError("\n".join(lines), fix=fix)


def _asked(found: Detection, ask: Asking, say: Callable[[str], None]) -> str:
    say(f"{found.reason}.")
    for number, profile in enumerate(found.tied, start=1):
        share = "" if profile.share is None else f" ({percent(profile.share)} of the nodes)"
        say(f"  {number}  {profile.name}{share}: {'; '.join(profile.evidence_for)}")
    return found.tied[ask.number("Which one", len(found.tied)) - 1].name
