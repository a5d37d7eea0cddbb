"""Checks of which fewer than half of the hits are true are information, on the kind of graph where that was measured."""

from __future__ import annotations

import pytest

from kgeval.auditing import hit_shares as measured
from kgeval.auditing.asked_labels import as_in
from kgeval.auditing.hit_shares import HitShare, HitShares, Made, seldom_true
from kgeval.auditing.rule_pages import rule_page
from kgeval.auditing.rulebook import load_rules
from kgeval.profiling.record import GraphProfile, Kind


def share(made: Made, true: int, labelled: int, *, graphs: int = 2, check: str = "self-loop") -> HitShare:
    return HitShare(
        check=check, made=made, labelled=labelled, true=true, graphs=graphs, measured=labelled >= 20 and graphs >= 2,
    )


@pytest.mark.parametrize(("shares", "extracted", "made"), [
    ([share("extracted", 26, 60)], True, True),  # of the other kind nothing is known but this
    ([share("extracted", 26, 60), share("made", 20, 20)], True, False),
    ([share("extracted", 30, 60)], False, False), ([share("extracted", 0, 19)], False, False),
    ([share("extracted", 0, 60, graphs=1)], False, False),
    ([share("extracted", 5, 15, graphs=1), share("made", 4, 10, graphs=1)], True, True),
    ([share("extracted", 5, 15, graphs=1), share("made", 10, 10, graphs=1)], False, False),
    ([share("extracted", 0, 60, check="super-node")], False, False), ([], False, False),
])
def test_what_is_seldom_true_is_information(
    shares: list[HitShare], extracted: bool, made: bool, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measured, "hit_shares", lambda: HitShares(share=shares))
    kinds: dict[Made, tuple[Kind, bool]] = {"extracted": ("extracted", extracted), "made": ("hand-made", made)}
    for of, (kind, is_info) in kinds.items():
        assert (seldom_true("self-loop", of) is not None) is is_info
        profile = GraphProfile(written_by="generic", kind=kind, kind_because="", nodes=1, relations=0, sampled=1, seed=0)
        assert as_in(load_rules()["self-loop"], profile).severity == ("info" if is_info else "warning")


def test_the_page_of_a_check_says_the_figure() -> None:
    assert "Info at most: 26 of 60 hits that readers saw are true." in rule_page(load_rules()["isolated-entity"])
