"""The eight kinds of questions of [K 4.1] and attribution [K 5.4.2], each with a condition that is checked and recorded.

[K] sorts questions that people wrote; here each kind's condition is tried when a question is made: by code, by the database, or by a
model that answers from a part of the evidence. What fails is no question.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from kgeval.questions.kind import Desk, Kind, LaterCall, MakingOptions, Need
from kgeval.questions.making.kasiak_draft import passage_tokens, trial_calls
from kgeval.questions.making.kasiak_hops import ANSWERABLE, HOPS, SINGLE, make_long_hop, make_multi_doc, make_multi_hop, make_single_hop
from kgeval.questions.making.kasiak_searched import NEAREST, OUTSIDE, QUOTED, SPEAKER, make_attribution, make_out_of_context
from kgeval.questions.making.kasiak_told import (
    COMPARED,
    COMPARING,
    DISTRACTING,
    INFERRED,
    THINKING,
    TRUE,
    WITHOUT,
    make_comparing,
    make_distracting,
    make_thinking,
)
from kgeval.questions.wanted import Wanted
from kgeval.records import Question

_ENOUGH = trial_calls(ANSWERABLE)
_MAYBE = tuple(replace(call, certain=False) for call in trial_calls(SPEAKER))  # not where the document is asked for


def _wanted(_options: MakingOptions, *, wanted: Wanted) -> Wanted:
    return wanted


def _kind(
    name: str, about: str, wanted: Wanted, make: Callable[[Desk], Question], *, first: str, later: tuple[LaterCall, ...],
    needs: tuple[Need, ...] = ("chunks",), source: str = "[K] 4.1",
) -> Kind:
    return Kind(
        name=name, group="kasiak", level=name, about=about, source=source, wanted=partial(_wanted, wanted=wanted), make=make,
        needs=frozenset({"model", *needs}), first=first, later=later,
    )


def _checking(prompt: str, stage: str = "") -> LaterCall:
    return LaterCall(prompt, passage_tokens, stage=stage)


KINDS: tuple[Kind, ...] = (
    _kind(
        "single_hop", "one relation; tried: one passage of one document is enough", Wanted("edge"), make_single_hop, first=SINGLE,
        later=_ENOUGH,
    ),
    _kind(
        "multi_hop", "two relations joined, told in one document; tried: no single passage is enough", Wanted("path", hops=2),
        make_multi_hop, first=HOPS, later=_ENOUGH, needs=("graph", "chunks"),
    ),
    _kind(
        "long_hop", "a chain of four relations without a shorter way; tried: no single passage is enough", Wanted("path", hops=4),
        make_long_hop, first=HOPS, later=_ENOUGH, needs=("graph", "chunks"),
    ),
    _kind(
        "thinking", "an answer that follows from the texts, but that no sentence of them says", Wanted("neighbourhood", most_relations=6),
        make_thinking, first=THINKING, later=(_checking(INFERRED),),
    ),
    _kind(
        "distracting", "carries a true fact that it does not need; tried: without it the answer stays", Wanted("path", hops=2),
        make_distracting, first=DISTRACTING, later=(_checking("bench-evidence", TRUE), *_ENOUGH, *trial_calls(WITHOUT)),
    ),
    _kind(
        "out_of_context", "near the topics, but what it names is in no name, alias or text", Wanted("node"), make_out_of_context,
        first=OUTSIDE, later=trial_calls(NEAREST)[:1], needs=("graph", "documents"),
    ),
    _kind(
        "comparing", "two entities of one type, with facts of both in the answer", Wanted("pair"), make_comparing, first=COMPARING,
        later=(_checking(COMPARED), *_ENOUGH),
    ),
    _kind(
        "multi_doc", "two relations told in two documents; tried: no single document is enough", Wanted("path", hops=2, documents=2),
        make_multi_doc, first=HOPS, later=_ENOUGH, needs=("graph", "chunks"),
    ),
    _kind(
        "attribution", "who said it, or where: a quote that stands in one document only", Wanted("node"), make_attribution, first=QUOTED,
        later=_MAYBE, needs=("graph", "documents"), source="[K] 5.4.2",
    ),
)
