"""What a run asked of models, in words: calls, tokens, cost."""

from __future__ import annotations

from kgeval.format import joined, money, number, plural, visible
from kgeval.records import Construction, RunManifest


def usage_line(run: RunManifest) -> str:
    """`Models: gpt-x (judge): 61 calls, 3 from the journal, 81,000 tokens in, 2,100 out, $0.0213.` Of a run that goes on with
    earlier starts: `61 calls (20 of them in earlier starts of this run)`."""
    use = [one.in_all for one in run.model_use]
    earlier = sum(one.earlier_calls for one in run.model_use)
    models = joined([f"{visible(model.name, longest=60)} ({model.role})" for model in run.models]) or "models"
    costs = [one.cost for one in use]
    known = [cost for cost in costs if cost is not None]
    cost = money(sum(known)) + ("" if len(known) == len(costs) else " and what has no known price") if known else money(None)
    calls = plural(sum(one.calls for one in use), "call")
    if earlier:
        calls += f" ({number(earlier)} of them in earlier starts of this run)"
    return (
        f"{models}: {calls}, {number(sum(one.from_journal for one in use))} from the journal, "
        f"{number(sum(one.input_tokens for one in use))} tokens in, {number(sum(one.output_tokens for one in use))} out, {cost}"
    )


def usage(run: RunManifest) -> list[str]:
    """The line where models were asked."""
    return [usage_line(run)] if run.model_use else []


def construction_line(built: Construction) -> str:
    """What building the graph took: `Built by kgeval build in 12.3 s from 3 documents (61 chunks, 31,000 tokens): ...`"""
    counts = ((built.chunks, "chunk"), (built.tokens, "token"))
    sizes = joined([plural(count, noun) for count, noun in counts if count is not None])
    texts = "" if built.documents is None else f" from {plural(built.documents, 'document')}" + (f" ({sizes})" if sizes else "")
    seconds = "" if built.seconds is None else f" in {number(round(built.seconds, 1))} s"
    return f"Built by {visible(built.system, longest=120)}{seconds}{texts}: {_asked(built)}."


def _asked(built: Construction) -> str:
    if built.calls is None:
        return "what models were asked is not recorded"
    if built.calls == 0 and not built.input_tokens:
        return "no model was asked"
    tokens = f"{number(built.input_tokens or 0)} tokens in, {number(built.output_tokens or 0)} out"
    return f"{plural(built.calls, 'model call')}, {tokens}, {money(built.cost)}"
