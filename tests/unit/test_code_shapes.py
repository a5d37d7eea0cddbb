"""Which values are codes by their shape."""

from __future__ import annotations

import pytest

from kgeval.auditing.code_shapes import are_codes


def many(pattern: str) -> list[str]:
    """Sixty values, by a pattern with {i}, {n} (some digits) and {a} (letters)."""
    letters = "ABCDEFGHKLMNPRSTUVWX"
    return [
        pattern.format(i=i, n=(i * 7919 + 1234) % 9000 + 1000, m=(i * 104729 + 31) % 900_000 + 100_000, big=9_000_000 + i * 7919,
                       a=letters[i % 20] + letters[(i * 7) % 20], y=1950 + i, d=i % 28 + 1, mo=i % 12 + 1, h=i % 24, mi=i * 7 % 60)
        for i in range(60)
    ]


@pytest.mark.parametrize("pattern", [
    "{big}", "GB{a}{m}{n}", "[{y}] EWCC {i}1", "MSKU{m}7", "SN-{n}-{m}", "{a}{n}{a}", "{i}/{y}/KR", "978-3-16-{m}-4", "{n}{n}Z",
    "3f2a{n}-00ab-4c1d-8e9f-0123456{n}a",
])
def test_codes_have_one_pattern(pattern: str) -> None:
    assert are_codes(many(pattern))


def test_a_few_patterns_of_letters_may_be_mixed() -> None:
    courts = ["UKSC", "EWCA Civ", "EWHC", "CC", "MC", "EWCC"]
    assert are_codes([f"[{1995 + i % 25}] {courts[i % 6]} {i + 10}" for i in range(150)])


@pytest.mark.parametrize("pattern", [
    "{y}-{mo:02}-{d:02}", "{y}{mo:02}{d:02}", "{d:02}.{mo:02}.{y}", "{h:02}:{mi:02}:11", "{d} Jan {y} {i}", "160{big}", "160{big}000",
    "{n}.{i}", "{n},50 EUR", "{n} kg", "$ {n}.00", "{m}00", "{n}", "52.{n}, 13.{n}", "-{n}.{n}",
    "+49 30 {m}", "030 {m}", "(555) 123-{n}", "555-{n}", "555-010-{n}", "p{n}@x.org", "https://x.org/{m}", "/data/{m}/x",
    "Chapter {n}", "Water Act {y}", "{n} Long Street", "s.{i}", "Abc", "", "a{m}\nb",
])
def test_dates_measures_amounts_telephones_and_words_are_no_codes(pattern: str) -> None:
    assert not are_codes(many(pattern))


def test_words_and_mixed_values_are_no_codes() -> None:
    assert not are_codes([])
    assert not are_codes([f"{'ab1c' * (i % 4 + 1)}{i}" for i in range(60)])
    assert not are_codes([*many("SN-{n}-{m}")[:50], *["unknown"] * 10])
