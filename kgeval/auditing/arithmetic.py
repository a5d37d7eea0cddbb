"""Arithmetic that nearly all rows of a sample keep: a total that is a product or a sum of other numbers, of one node, over a relation, or
of all relations of a node; and that would not be kept by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations
from typing import Any, Literal

from kgeval.auditing.number_tables import LEAST, GroupTable, NumberGroup, Numbers, NumberTable, dealt, some_of
from kgeval.auditing.suspects import PropertyAt, plain_words
from kgeval.text.wordlists import word_set

Form = Literal["plain", "minus", "percent", "more", "less", "more share", "less share"]
KEPT, KEPT_IN_PROBE, FAILS_IN_PROBE = 0.95, 0.9, 4  # shares of rows that keep a rule; rows of the probe that may break it, at least
PROBE, LEAST_PROBED = 48, 6  # rows that a formula is tried on first, and rows of them that have all numbers
MOST_ROWS = 2_000  # rows of a table that are looked at
SHOW, KEPT_SHOW = 10, 0.9  # rows in which an operand changes the result, and the share of them that keep the rule
BY_CHANCE = 0.3  # share of rows that keep it with the total dealt at random, at most
BY_CHANCE_OPERAND = 0.7  # the same of an operand, in the rows in which it changes the result
BY_CHANCE_GROUP = 0.4  # of totals of relations, of which many are small
DIFFERENT, DIFFERENT_COUNTS = 8, 3  # totals that differ, at least; of counts
OPTIONAL = 0.98  # share of rows below which a number may be left out: no discount, no shipping
PART_OF_TOTAL = 0.005  # of the total, the most that rounding makes of a difference
MOST_DECIMALS, MOST_MEASURED = 4, 200  # decimals that are told apart, and values that show them
CONSTANTS = (1.0, 100.0)  # what shares of one thing make up
SHARES_BY_CHANCE = 0.6
NEAR, OVER = 0.8, 1.25  # of a limit: near below it, and near above it
NEAR_SHARE, LEAST_NEAR, EDGE = 0.1, 8, 5  # share and number of the sums near below a limit, and how many times those above it
BROKEN = 0.03  # share of rows that may break it; two always may
ALWAYS = 2
OVER_BY_CHANCE = 0.05  # share of sums over their limit by chance, at least
MOST_COLUMNS, MOST_IN_THREES = 12, 9  # columns of a table that are combined, and up to which also three at a time
AROUND: dict[Form, tuple[str, str]] = {
    "more": ("(1 + ", " %)"), "less": ("(1 - ", " %)"), "more share": ("(1 + ", ")"), "less share": ("(1 - ", ")"), "percent": ("", " %"),
}  # what is said around the value of a rate
TOTALS = word_set("""
    total sum amount gross net count number importe suma cantidad numero betrag gesamt summe anzahl montant somme nombre totale importo
    numero bedrag totaal aantal valor soma
""")  # of two ways to say one rule the one whose total has such a name
NO_LIMIT = word_set("""
    year years jahr annee ano anno jaar version rank position index order sequence id age alter edad rating score grade note
    elevation altitude lat latitude lon lng longitude x y z
""")  # numbers that limit nothing


@dataclass(frozen=True)
class Operand:
    """A column of a table, and what is done with it. `optional`: counts as nothing where there is no value."""

    at: int
    form: Form = "plain"
    optional: bool = False

    def factor(self, value: float) -> float:
        match self.form:
            case "percent":
                return value / 100
            case "more":
                return 1 + value / 100
            case "less":
                return 1 - value / 100
            case "more share":
                return 1 + value
            case "less share":
                return 1 - value
        return value


@dataclass(frozen=True)
class Formula:
    """A product of operands, or (`adds`) their sum. Without any it counts."""

    operands: tuple[Operand, ...] = ()
    adds: bool = False

    def value(self, row: Numbers) -> float | None:
        """None where a number is missing."""
        result = 0.0 if self.adds else 1.0
        for operand in self.operands:
            value = row[operand.at]
            if value is None:
                if not operand.optional:
                    return None
                continue
            if self.adds:
                result += -value if operand.form == "minus" else value
            else:
                result *= operand.factor(value)
        return result

    def matters(self, operand: Operand, row: Numbers) -> bool:
        """Whether the operand changes the result."""
        value = row[operand.at]
        neutral = 1.0 if operand.form in ("plain", "percent") and not self.adds else 0.0
        return value is not None and value != neutral and (self.adds or value != 0)


@dataclass(frozen=True)
class Rule:
    """What nearly all rows of a table keep: the number at `total` (a column, or `constant`) is what the formula gives; of a group table its
    sum over all relations. `is_limit`: is never less. `unit`: of the total's last decimal; `kept`: share of the sample's rows."""

    table: NumberTable | GroupTable
    total: int | None
    formula: Formula
    unit: float
    kept: float
    constant: float | None = None
    is_limit: bool = False

    def asked(self, at: int) -> dict[str, Any]:
        """As the query takes it."""
        table = self.table
        is_group = isinstance(table, GroupTable)
        parts = table.parts if isinstance(table, GroupTable) else table.columns
        ends = {"start": table.centre, "end": table.other, "out": table.out} if isinstance(table, GroupTable) else {
            "start": table.start, "end": table.end, "out": True,
        }
        total = None if self.total is None else table.columns[self.total]
        operands = [_operand_asked(one, parts[one.at], self.formula, first=place == 0) for place, one in enumerate(self.formula.operands)]
        return {
            "at": at, "on": "group" if is_group else "node" if table.type is None else "relation", "type": table.type, **ends,
            "total": total and total.key, "total_of": total and total.side, "constant": self.constant, "adds": self.formula.adds,
            "operands": operands, "unit": self.unit, "is_limit": self.is_limit,
            "says": "".join(one["before"].rstrip(" ") + one["after"] for one in operands) if is_group else "",
        }


def tolerance(total: float, unit: float, terms: int) -> float:
    """How far a total may be off for rounding."""
    return min(unit * (1 + 0.5 * terms), PART_OF_TOTAL * abs(total)) + 1e-9 * max(1.0, abs(total))


def unit_of(values: Iterable[float]) -> float:
    """The unit of the last decimal that nearly all of the values have."""
    decimals = sorted(len(f"{value:.{MOST_DECIMALS}f}".rstrip("0").partition(".")[2]) for value in islice(values, MOST_MEASURED))
    return float(10.0 ** -decimals[int(0.95 * (len(decimals) - 1))]) if decimals else 1.0


def row_rules(table: NumberTable) -> list[Rule]:
    """Rules of numbers of one row: of each total the one that most rows keep."""
    rows = some_of(table.rows, MOST_ROWS)
    columns = _columns(table.columns, rows)
    units = {at: unit_of(row[at] or 0.0 for row in rows if row[at] is not None) for at in columns}
    probe, found = rows[:PROBE], []
    for formula in _formulas(columns, rows):
        used = {operand.at for operand in formula.operands}
        totals = [at for at in columns if at not in used and table.is_across({at, *used})]
        for at in _left(formula, totals, probe, units):
            if (kept := _share_kept(formula, at, rows, units[at])) is not None:
                found.append(Rule(table, at, formula, units[at], kept))
    return _best(_each_once(found, table.columns))


def group_rules(table: GroupTable) -> list[Rule]:
    """Rules of a node's number and all of its relations of a type."""
    groups = some_of(table.groups)
    lines = some_of([line for group in groups for line in group.lines], MOST_ROWS)
    if sum(len(group.lines) > 1 for group in groups) < SHOW:
        return []
    columns = _columns(table.parts, lines)
    totals = [at for at in range(len(table.columns)) if sum(group.own[at] is not None for group in groups) >= LEAST]
    units = {at: unit_of(value for group in groups if (value := group.own[at]) is not None) for at in totals}
    singles = [Formula((Operand(at),)) for at in columns]
    products = [formula for formula in _formulas(columns, lines) if not formula.adds]
    found, limits = [], []
    for formula in [Formula(), *singles, *products]:
        left = _left_of_groups(formula, totals, groups[:PROBE], units)
        may_limit = [at for at in totals if len(formula.operands) < 2 and not {*plain_words(table.columns[at].key)} & NO_LIMIT]
        sums = [_sum(formula, group.lines) for group in groups] if left or may_limit else []
        for at in {*left, *may_limit}:
            cases = [
                (total, value, len(group.lines)) for group, value in zip(groups, sums, strict=True)
                if (total := group.own[at]) is not None and value is not None
            ]
            if at in left and (kept := _share_of_groups(formula, cases, units[at])) is not None:
                found.append(Rule(table, at, formula, units[at], kept))
            elif at in may_limit and _are_limited(cases):
                limits.append(Rule(table, at, formula, units[at], 0.0, is_limit=True))
    known = {rule.total for rule in found}
    shares = [Rule(table, None, formula, 0.01, kept, constant) for formula in singles if (
        constant := _constant(formula, table)) is not None and (kept := _share_of_constant(formula, table, constant)) is not None]
    return [*_best(found), *shares, *_tightest([rule for rule in limits if rule.total not in known])]


def _operand_asked(operand: Operand, column: PropertyAt, formula: Formula, *, first: bool) -> dict[str, Any]:
    """As the query takes it, with what is said before its value and after it."""
    sign = "" if first else " + " if formula.adds and operand.form != "minus" else " - " if formula.adds else " * "
    before, after = AROUND.get(operand.form, ("", ""))
    return {
        "side": column.side, "key": column.key, "form": operand.form, "optional": operand.optional,
        "before": f"{sign}{before}{column.key[:60]} ", "after": after,
    }


def _columns(columns: Sequence[PropertyAt], rows: Sequence[Numbers]) -> list[int]:
    """Those with enough numbers, the fullest first."""
    filled = {at: sum(row[at] is not None for row in rows) for at in range(len(columns))}
    return sorted((at for at in filled if filled[at] >= SHOW), key=lambda at: (-filled[at], at))[:MOST_COLUMNS]


def _formulas(columns: Sequence[int], rows: Sequence[Numbers]) -> Iterator[Formula]:
    """Products and sums of two and three columns. The first is never left out."""
    told = {at: [value for row in rows if (value := row[at]) is not None] for at in columns}
    filled = {at: len(told[at]) / max(1, len(rows)) for at in columns}
    rates = [(at, form) for at in columns for form in _rates(told[at])]
    changing = [at for at in columns if len(set(told[at])) > 1]

    def rate(at: int, form: Form) -> Operand:
        return Operand(at, form, optional=form != "percent" and filled[at] < OPTIONAL)

    def added(at: int, form: Form = "plain") -> Operand:
        return Operand(at, form, optional=filled[at] < OPTIONAL)

    for a, b in combinations(changing, 2):
        yield Formula((Operand(a), Operand(b)))
        yield Formula((Operand(a), added(b)), adds=True)
        if len(columns) <= MOST_IN_THREES:
            yield from (Formula((Operand(a), Operand(b), rate(c, form))) for c, form in rates if c not in (a, b) and form != "percent")
    yield from (Formula((Operand(a), rate(c, form))) for a in changing for c, form in rates if c != a)
    if len(columns) <= MOST_IN_THREES:
        for a, b, c in combinations(changing, 3):
            yield Formula((Operand(a), Operand(b), Operand(c)))
            yield Formula((Operand(a), added(b), added(c)), adds=True)
        for a, b, c in permutations(changing, 3):
            if a < b or filled[a] > filled[b]:
                yield Formula((Operand(a), added(b), added(c, "minus")), adds=True)


def _rates(values: Sequence[float]) -> list[Form]:
    """How a column may be a rate: in percent, or as a share of one."""
    if not values or min(values) < 0 or max(values) > 100 or max(values) == 0:
        return []
    if max(values) <= 1:
        return ["more share", "less share"] if any(not value.is_integer() for value in values) else []
    return ["percent", "more", "less"]


def _left(formula: Formula, totals: Sequence[int], probe: Sequence[Numbers], units: dict[int, float]) -> list[int]:
    """The totals that the formula gives on nearly all rows of the probe."""
    alive, seen, fails = list(totals), dict.fromkeys(totals, 0), dict.fromkeys(totals, 0)
    for row in probe:
        value = formula.value(row)
        if value is None:
            continue
        for at in alive:
            total = row[at]
            if total:
                seen[at] += 1
                fails[at] += abs(total - value) > tolerance(total, units[at], len(formula.operands))
        alive = [at for at in alive if fails[at] <= FAILS_IN_PROBE]
        if not alive:
            return []
    return [at for at in alive if seen[at] >= LEAST_PROBED and fails[at] <= max(2, (1 - KEPT_IN_PROBE) * seen[at])]


def _share_kept(formula: Formula, at: int, rows: Sequence[Numbers], unit: float) -> float | None:
    """The share of rows that keep the rule; None where that is too few, or no wonder."""
    cases = [(total, row) for row in rows if (total := row[at]) and formula.value(row) is not None]

    def keeps(total: float, row: Numbers) -> bool:
        value = formula.value(row)
        return value is not None and abs(total - value) <= tolerance(total, unit, len(formula.operands))

    kept = [keeps(total, row) for total, row in cases]
    if len(cases) < LEAST or sum(kept) < min(KEPT * len(cases), len(cases) - 1) or len({total for total, _ in cases}) < DIFFERENT:
        return None
    totals = dealt(total for total, _ in cases)
    if sum(keeps(total, row) for total, (_, row) in zip(totals, cases, strict=True)) > BY_CHANCE * len(cases):
        return None
    if all(_shows(formula, operand, cases, kept, keeps) for operand in formula.operands):
        return sum(kept) / len(cases)
    return None


def _shows(
    formula: Formula, operand: Operand, cases: Sequence[tuple[float, Numbers]], kept: Sequence[bool],
    keeps: Callable[[float, Numbers], bool],
) -> bool:
    """Whether the operand has to do with the result: the rule is kept where it changes that, and not with another row's."""
    some = [(total, row, is_kept) for (total, row), is_kept in zip(cases, kept, strict=True) if formula.matters(operand, row)]
    if len(some) < SHOW or sum(is_kept for _, _, is_kept in some) < min(KEPT_SHOW * len(some), len(some) - 1):
        return False
    if operand.form not in ("plain", "minus"):
        return True
    values = dealt(row[operand.at] for _, row, _ in some)
    others = [[*row[: operand.at], value, *row[operand.at + 1 :]] for (_, row, _), value in zip(some, values, strict=True)]
    return sum(keeps(total, row) for (total, _, _), row in zip(some, others, strict=True)) <= BY_CHANCE_OPERAND * len(some)


def _each_once(rules: Sequence[Rule], columns: Sequence[PropertyAt]) -> list[Rule]:
    """Of a sum that can be said with several totals (a + b - c = d, a + b - d = c) one."""
    known: dict[object, Rule] = {}
    others = []
    for rule in sorted(rules, key=lambda rule: not {*plain_words(columns[rule.total or 0].key)} & TOTALS):
        if not rule.formula.adds:
            others.append(rule)
            continue
        plus = frozenset(one.at for one in rule.formula.operands if one.form == "plain")
        minus = frozenset({rule.total, *(one.at for one in rule.formula.operands if one.form == "minus")})
        known.setdefault(frozenset((plus, minus)), rule)
    return [*others, *known.values()]


def _best(rules: Sequence[Rule]) -> list[Rule]:
    """Of each total the rule that most rows keep, of several the shortest."""
    best: dict[int | None, Rule] = {}
    for rule in sorted(rules, key=lambda rule: (-round(rule.kept, 3), len(rule.formula.operands))):
        best.setdefault(rule.total, rule)
    return list(best.values())


def _sum(formula: Formula, lines: Sequence[Numbers]) -> float | None:
    """The sum over the relations; None where one of them lacks a number."""
    result = 0.0
    for line in lines:
        value = formula.value(line)
        if value is None:
            return None
        result += value
    return result


def _left_of_groups(formula: Formula, totals: Sequence[int], probe: Sequence[NumberGroup], units: dict[int, float]) -> list[int]:
    """As `_left`, of the sums over a node's relations."""
    alive, fails = list(totals), dict.fromkeys(totals, 0)
    for group in probe:
        value = _sum(formula, group.lines) if group.lines else None
        if value is None:
            continue
        for at in alive:
            total = group.own[at]
            if total and abs(total - value) > tolerance(total, units[at], len(group.lines)):
                fails[at] += 1
        alive = [at for at in alive if fails[at] <= FAILS_IN_PROBE]
        if not alive:
            return []
    return alive


def _share_of_groups(formula: Formula, cases: Sequence[tuple[float, float, int]], unit: float) -> float | None:
    """The share of nodes whose number is the sum; None where that is too few, or no wonder. Nothing can be said of an amount of nothing."""
    is_count = not formula.operands
    cases = [case for case in cases if is_count or (case[0] and case[2])]

    def keeps(total: float, value: float, lines: int) -> bool:
        return abs(total - value) <= (0 if is_count else tolerance(total, unit, lines))

    kept = [keeps(*case) for case in cases]
    several = [is_kept for case, is_kept in zip(cases, kept, strict=True) if case[2] > 1]
    if len(cases) < LEAST or sum(kept) < min(KEPT * len(cases), len(cases) - 1):
        return None
    if len(several) < SHOW or sum(several) < min(KEPT_SHOW * len(several), len(several) - 1):
        return None
    totals = [case[0] for case in cases]
    if len(set(totals)) < (DIFFERENT_COUNTS if is_count else DIFFERENT):
        return None
    by_chance = sum(keeps(total, value, lines) for total, (_, value, lines) in zip(dealt(totals), cases, strict=True))
    return sum(kept) / len(cases) if by_chance <= BY_CHANCE_GROUP * len(cases) else None


def _constant(formula: Formula, table: GroupTable) -> float | None:
    """What the shares of a node may make up, by most nodes."""
    sums = [value for group in table.groups if group.lines and (value := _sum(formula, group.lines)) is not None]
    return next((one for one in CONSTANTS if sum(abs(value - one) <= PART_OF_TOTAL * one for value in sums) > 0.5 * len(sums)), None)


def _share_of_constant(formula: Formula, table: GroupTable, constant: float) -> float | None:
    """As `_share_of_groups`, of shares that make up one, or a hundred."""
    groups = [group.lines for group in table.groups if group.lines and _sum(formula, group.lines) is not None]

    def keeps(lines: Sequence[Numbers]) -> bool:
        return abs((_sum(formula, lines) or 0.0) - constant) <= PART_OF_TOTAL * constant

    several = [lines for lines in groups if len(lines) > 1]
    kept = sum(map(keeps, several))
    if len(several) < LEAST or kept < min(KEPT * len(several), len(several) - 1) or sum(map(keeps, groups)) < KEPT * len(groups):
        return None
    pool, by_chance = dealt(line for lines in groups for line in lines), []
    for lines in several:
        by_chance.append([pool.pop() for _ in lines])
    return kept / len(several) if sum(map(keeps, by_chance)) <= SHARES_BY_CHANCE * len(several) else None


def _are_limited(cases: Sequence[tuple[float, float, int]]) -> bool:
    """Whether the sums stop at the node's number: many come near it, hardly one is above it, and by chance many would be."""
    cases = [case for case in cases if case[0] > 0 and case[1] > 0]
    above = sum(value > total for total, value, _ in cases)
    if len(cases) < LEAST or above > max(ALWAYS, BROKEN * len(cases)):
        return False
    near = sum(NEAR * total <= value <= total for total, value, _ in cases)
    just_above = sum(total < value <= OVER * total for total, value, _ in cases)
    if near < max(LEAST_NEAR, NEAR_SHARE * len(cases)) or near < EDGE * max(above, just_above):
        return False
    by_chance = sum(value > total for total, (_, value, _) in zip(dealt(case[0] for case in cases), cases, strict=True))
    return bool(by_chance >= max(OVER_BY_CHANCE * len(cases), EDGE * (above + 1)))


def _tightest(rules: Sequence[Rule]) -> list[Rule]:
    """Of the limits of each number the one with a sum rather than a count: the sum says more."""
    best: dict[int | None, Rule] = {}
    for rule in sorted(rules, key=lambda rule: -len(rule.formula.operands)):
        best.setdefault(rule.total, rule)
    return list(best.values())
