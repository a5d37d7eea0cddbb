"""Which shard a question belongs to, and whether parts make up a run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgeval.errors import UsageError
from kgeval.tables.shards import Groups, PartManifest, Shard, fingerprint_in, parse_shard, part_faults, shard_of

IDS = st.text(min_size=1)
SIZES = st.integers(1, 100)
PINNED = {"q1": 1, "q2": 3, "Żółw": 7, "": 5}


@given(IDS, SIZES)
def test_a_question_is_in_exactly_one_shard(name: str, of: int) -> None:
    assert [number for number in range(1, of + 1) if Shard(number, of).has(name)] == [shard_of(name, of)]


def test_the_shard_of_a_question_never_changes() -> None:
    """Counted by hand with hashlib: parts of one run may be made by different machines, years apart."""
    assert [shard_of(name, 8) for name in ("q1", "q2", "Żółw", "")] == [PINNED[name] for name in ("q1", "q2", "Żółw", "")]


def test_shards_are_about_as_large_as_each_other() -> None:
    counts = [sum(shard_of(f"q{i}", 8) == number for i in range(8000)) for number in range(1, 9)]
    assert sum(counts) == 8000
    assert all(abs(count - 1000) < 150 for count in counts)  # five standard deviations of a binomial (29.6 each)


@given(SIZES.flatmap(lambda of: st.tuples(st.integers(1, of), st.just(of))))
def test_a_shard_is_written_as_it_is_read(pair: tuple[int, int]) -> None:
    assert parse_shard(str(Shard(*pair))) == Shard(*pair)


@pytest.mark.parametrize("text", ["", "1", "0/1", "2/1", "1/0", "1/101", "1 / 2", "1/2x", "¹/2", "-1/3", "1/-3"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no shard"):
        parse_shard(text)


def test_the_fingerprint_of_a_shard_is_no_other_ones() -> None:
    made = {fingerprint_in(whole, Shard(k, n)) for whole in ("x", "y") for k, n in ((1, 2), (2, 2), (1, 3), (1, 1))}
    assert len(made) == 8
    assert not made & {"x", "y"}


def part(number: int, of: int = 3) -> PartManifest:
    return PartManifest(f"p{number}", Shard(number, of), kgeval="1", rows="r", run="f", signatures=("a@1:x",), also=(("seed", "0"),))


def test_all_parts_of_a_run_once_have_no_fault_in_any_order() -> None:
    assert part_faults([part(3), part(1), part(2)], kgeval="1") == []


@pytest.mark.parametrize(("parts", "said"), [
    ([part(1), part(3)], "shards that are missing: 2/3"),
    ([part(1), part(2)], "shards that are missing: 3/3"),
    ([part(1), part(2), replace(part(2), name="again"), part(3)], "shard 2/3 is there 2 times: p2, again"),
    ([part(1), part(2), part(3), part(4, of=4)], "p4: is shard 4/4, others are of 3"),
    ([part(1), part(2), replace(part(3), kgeval="2")], "p3: was made by kgeval 2, this is 1"),
    ([part(1), part(2), replace(part(3), rows="s")], "p3: was made from other rows"),
    ([part(1), part(2), replace(part(3), signatures=("a@1:x", "b@1:y"))], "p3: other metrics, models or settings than the other parts: b"),
    ([part(1), part(2), replace(part(3), also=(("seed", "1"),))], "p3: other options than the other parts: seed"),
    ([part(1), part(2), replace(part(3), run="g")], "the parts are of several runs"),
    ([part(1), part(2), part(3), replace(part(3), shard=None, name="w")], "w: is a whole run"),
    ([replace(part(1), shard=None)], "p1: is a whole run"),
])
def test_what_is_wrong_with_parts_is_said(parts: list[PartManifest], said: str) -> None:
    faults = part_faults(parts, kgeval="1")
    assert len(faults) == 1
    assert faults[0].startswith(said)


def test_groups_are_taken_in_order_and_only_by_their_key() -> None:
    groups = Groups(iter("aabccc"), key=str)
    assert groups.take("b") == []
    assert (groups.take("a"), groups.take("a"), groups.take("b"), groups.key) == (["a", "a"], [], ["b"], "c")
    assert (groups.take("c"), groups.key, groups.take("c")) == (["c", "c", "c"], None, [])
