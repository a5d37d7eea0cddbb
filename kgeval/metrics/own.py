"""Metrics of the user's own: functions with `@kgeval.metric`, and criteria that the judge is asked about. Code of the
user's runs here, and whatever it raises becomes a cause."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from threading import RLock
from types import MappingProxyType, ModuleType
from typing import Any, Literal, get_args, overload

from pydantic import JsonValue

from kgeval.code_digest import digest_function, has_file
from kgeval.config import Criterion
from kgeval.errors import UsageError
from kgeval.llm.calls import Failure
from kgeval.llm.characters import whole
from kgeval.metrics.definition import Metric, MetricValue, Need, Subject, not_applicable, scored, unscored
from kgeval.metrics.judge.context import answer_text
from kgeval.metrics.table import PRESETS, all_metrics
from kgeval.records import MetricInfo, Row

CODE = "code"  # parameter of a function's signature: which code it was
LONGEST = 300  # characters of a reason
FORM = "write FILE.py:NAME (or module:NAME), with the name of a function that has @kgeval.metric, or a kgeval.Criterion"
Returned = float | None | tuple[float | None, str | Mapping[str, Any]]
_loading = RLock()  # a file that is loaded may score by another one


@dataclass(frozen=True)
class MetricRow:
    """What a metric of one's own sees of a row: an answer with its question.

    `answer`: its text, "" where the system said nothing or failed. `reference`: the first right answer; `references`:
    all of them. `contexts`: texts that the system retrieved, in its order; None: not told. `evidence`: texts that hold
    the answer. `trial`: which repetition. `metadata`: fields of the files that kgeval has no name for, the answer's
    before the question's. `record`: the whole row, as `kgeval help records` describes it; what it holds must not be
    changed.
    """

    question: str
    answer: str
    reference: str | None = None
    references: tuple[str, ...] = ()
    contexts: tuple[str, ...] | None = None
    evidence: tuple[str, ...] = ()
    question_id: str = ""
    system: str = ""
    trial: int | None = None
    level: str | None = None
    kinds: tuple[str, ...] = ()
    dataset: str | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    record: Row | None = None


class OwnMetric:
    """A function that is a metric; it can be called as before. `metric`: what the engine computes. `reference`:
    FILE.py:NAME or module:NAME, by which another process finds it; None: it is there in this process alone."""

    def __init__(self, function: Callable[[MetricRow], Returned], metric: Metric, reference: str | None) -> None:
        self.function, self._metric, self.reference = function, metric, reference
        self.__doc__, self.__name__ = function.__doc__, metric.name

    @property
    def metric(self) -> Metric:
        """With the signature of what the function is now: what a notebook's function names may have changed since it was made."""
        if CODE not in self._metric.parameters or has_file(self.function):
            return self._metric
        return replace(self._metric, parameters={**self._metric.parameters, CODE: digest_function(self.function)})

    def __call__(self, row: MetricRow) -> Returned:
        """What the function returns for the row."""
        return self.function(row)

    def __repr__(self) -> str:
        return f"<metric {self._metric.name}>"


@overload
def metric(function: Callable[[MetricRow], Returned], /) -> OwnMetric: ...
@overload
def metric(
    function: None = ..., /, *, name: str | None = ..., needs: Sequence[Need] | Need = ..., low_is_good: bool = ...,
    range: tuple[float, float] = ...,
) -> Callable[[Callable[[MetricRow], Returned]], OwnMetric]: ...


def metric(
    function: Callable[[MetricRow], Returned] | None = None, /, *, name: str | None = None,
    needs: Sequence[Need] | Need = (), low_is_good: bool = False, range: tuple[float, float] = (0, 1),
) -> OwnMetric | Callable[[Callable[[MetricRow], Returned]], OwnMetric]:
    """A decorator: a function of yours becomes a metric: `kgeval.score(answers, metrics=["token_f1", starts_right])`.

    The function takes a MetricRow and returns a number, None (it has no meaning for this row), or (number, detail):
    detail is a text that says why, or a mapping of plain values. What it raises, and a number outside of `range`,
    leaves that row without a score, counted under metric_error. Its docstring is its description.

    Args:
        name: what it is called in reports [default: the function's name].
        needs: what a row must have, else it is not applicable: reference, contexts, ... (kgeval help own-metrics).
        low_is_good: a low value is the better one.
        range: what the function returns, lowest and highest; it is scaled to 0..1.

    Raises: UsageError with everything that is wrong.
    """
    def decorate(function: Callable[[MetricRow], Returned]) -> OwnMetric:
        return _own_metric(function, name, (needs,) if isinstance(needs, str) else tuple(needs), low_is_good, range)

    return decorate if function is None else decorate(function)


def _own_metric(
    function: Callable[[MetricRow], Returned], name: str | None, needs: tuple[Need, ...], low_is_good: bool,
    limits: tuple[float, float],
) -> OwnMetric:
    if not inspect.isfunction(function):
        what = f"@kgeval.metric is for functions, not for {type(function).__name__}"
        raise UsageError(what, fix="write def name(row): ...")
    called, faults = name or function.__name__, []
    if not called.isidentifier() or len(called) > 60:
        faults.append(f"name: {called[:60]!r} is no word of letters, digits and _")
    if strange := [str(need) for need in needs if need not in get_args(Need)]:
        faults.append(f"needs: {', '.join(strange)}: unknown (there are {', '.join(get_args(Need))})")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        faults.append("the function must return a number: neither async nor a generator")
    try:
        inspect.signature(function).bind(None)
    except TypeError:
        faults.append("the function must take one argument, the row")
    ends = tuple(limits) if isinstance(limits, Sequence) else ()
    if len(ends) != 2 or not all(isinstance(end, int | float) and isfinite(end) for end in ends) or ends[0] >= ends[1]:
        faults.append(f"range: {limits!r} is no pair of the lowest and the highest value")
    if faults:
        what = f"{called[:60]} cannot be a metric: " + "; ".join(faults)
        raise UsageError(what, fix="help(kgeval.metric) describes it")
    text = inspect.cleandoc(function.__doc__ or "")
    better: Literal["higher", "lower"] = "lower" if low_is_good else "higher"
    own = Metric(
        name=called, group="own", summary=text.partition("\n")[0].strip() or f"Your own metric {called}",
        definition=" ".join(text.split()) or "What its code says.",
        source=f"your own code: {Path(function.__code__.co_filename).name}", needs=needs, better=better,
        compute=_compute(function, ends[0], ends[1]),
        parameters={CODE: digest_function(function), "needs": list(needs), "range": list(ends), "better": better},
    )
    return OwnMetric(function, own, _reference(function))


def _reference(function: Callable[..., Any]) -> str | None:
    module, name = sys.modules.get(function.__module__), function.__qualname__
    file = getattr(module, "__file__", None)
    if module is None or not file or function.__module__ == "__main__" or not name.isidentifier():
        return None
    return f"{function.__module__}:{name}" if module.__package__ else f"{file}:{name}"


def _compute(function: Callable[[MetricRow], Returned], low: float, high: float) -> Callable[[Subject], MetricValue]:
    def compute(subject: Subject) -> MetricValue:
        try:
            returned = function(_row(subject))
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - the row's border: a sys.exit() in it must not end the run
            return _failed(_fault_text(fault, function.__code__.co_filename))
        number, detail = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, {})
        try:
            reason = whole(detail)[:LONGEST] if isinstance(detail, str) else None
            text = json.dumps({} if isinstance(detail, str) else dict(detail), ensure_ascii=False, allow_nan=False)
            plain = json.loads(whole(text))
        except (TypeError, ValueError, RecursionError):
            return _failed("the detail must be a text, or a mapping of plain values")
        if number is None:
            return not_applicable(reason or "the metric says so", **plain)
        # numpy's integers and float32 are no Python numbers, and JSON does not take them
        number = number.item() if type(number).__module__ == "numpy" and hasattr(number, "item") else number
        if not isinstance(number, int | float):
            return _failed(f"a number is needed, not {type(number).__name__}")
        if not low <= number <= high:
            # Python refuses to write the largest whole numbers
            shown = "a huge number" if isinstance(number, int) and abs(number) > 10**18 else number
            return _failed(f"{shown} is not in {low:g}..{high:g}")
        value = scored((number - low) / (high - low))
        return MetricValue(value.status, value.value, reason=reason, detail=plain)

    return compute


def _failed(reason: str) -> MetricValue:
    return unscored(Failure("metric_error", whole(reason)[:LONGEST]))


def _fault_text(fault: BaseException, file: str) -> str:
    """What was raised, and at which line of the metric's own file."""
    lines = [frame.lineno for frame in traceback.extract_tb(fault.__traceback__) if frame.filename == file]
    place = f" ({Path(file).name}, line {lines[-1]})" if lines else ""
    try:
        return f"{type(fault).__name__}: {' '.join(str(fault).split())[: LONGEST - 80]}{place}"
    except Exception:  # noqa: BLE001 - a __str__ that fails too
        return f"{type(fault).__name__}{place}"


def _row(subject: Subject) -> MetricRow:
    question, answer = subject.row.question, subject.row.answer
    return MetricRow(
        question=question.question, answer=answer_text(subject.row), reference=next(iter(question.right_answers), None),
        references=question.right_answers, contexts=None if answer.contexts is None else answer.context_texts,
        evidence=question.evidence_texts, question_id=question.id, system=answer.system, trial=subject.repetition,
        level=question.level, kinds=question.kinds, dataset=question.dataset,
        metadata=MappingProxyType({**question.extra, **answer.extra}), record=subject.row,
    )


def criterion_metric(criterion: Criterion) -> Metric:
    """The metric of a judged criterion: the grade that the judge gives, in 0..1."""
    fact = f"criterion:{criterion.name}"
    better: Literal["higher", "lower"] = "lower" if criterion.low_is_good else "higher"

    def compute(subject: Subject) -> MetricValue:
        checked = subject.facts.checks[fact]
        if (failure := checked.unscored) is not None:
            return unscored(failure)
        if not checked.items:
            return not_applicable("there is no answer", empty_answer=True) if criterion.low_is_good else scored(0.0, empty_answer=True)
        item = checked.items[0]
        return scored(item.rating or 0.0, grade=next(grade for grade in criterion.grades if str(grade) == item.label))

    low, high = min(criterion.grades), max(criterion.grades)
    grades = "; ".join(
        f"{grade} (value {(grade - low) / (high - low):.3g}): {text}" for grade, text in criterion.grades.items()
    )
    about = f"{criterion.description.rstrip('.')}. " if criterion.description else ""
    return Metric(
        name=criterion.name, group="own", summary=criterion.question,
        definition=f"{about}The judge is shown {', '.join(criterion.sees)} and asked: {criterion.question} "
        f"Grades: {grades}",
        source="your own criterion", compute=compute,
        needs=tuple(_NEEDS[name] for name in criterion.sees if name in _NEEDS),
        asks=(fact,), tools=("judge",), calls="1", better=better, criterion=criterion,
        parameters={
            "question": criterion.question, "grades": {str(grade): text for grade, text in criterion.grades.items()},
            "sees": list(criterion.sees), "better": better,
        },
    )


_NEEDS: Mapping[str, Need] = {"reference": "reference", "contexts": "contexts", "evidence": "evidence"}


def unloaded_metric(info: MetricInfo, reference: str) -> OwnMetric:
    """A metric of one's own that was computed before, as a report has it. Its code is not run, and it cannot be computed again."""
    def refuse(_: MetricRow) -> Returned:
        raise UsageError(f"{reference}: its code was not run", fix="score the answers with it")

    metric = Metric(
        name=info.metric, group="own", summary=info.summary, definition=info.definition, source=info.source,
        compute=_compute(refuse, 0, 1), better=info.better, parameters=info.parameters,
    )
    return OwnMetric(refuse, metric, reference)


def own_metrics(
    names: Iterable[str | Criterion], criteria: Iterable[Criterion] = (),
    functions: Mapping[str, OwnMetric] = MappingProxyType({}),
) -> tuple[dict[str, Metric], dict[str, str], list[str]]:
    """The metrics of one's own by name: all `criteria`, and those of `names` that are criteria, in `functions`, or
    FILE.py:NAME, whose file is run. Then how each is written -> its name, and what is wrong: names that are taken, what
    cannot be loaded."""
    by_name: dict[str, Metric] = {}
    written: dict[str, str] = {}
    faults: list[str] = []
    chosen: list[tuple[str, OwnMetric | Criterion]] = [(own.name, own) for own in criteria]
    for name in names:
        try:
            if not isinstance(name, str):
                chosen.append((name.name, name))
            elif name in functions:
                chosen.append((name, functions[name]))
            elif ":" in name:
                chosen.append((name, load_metric(name)))
        except UsageError as fault:
            faults.append(fault.message)
    for text, own in chosen:
        metric = criterion_metric(own) if isinstance(own, Criterion) else own.metric
        if metric.name in all_metrics() or metric.name in PRESETS:
            faults.append(f"{text}: {metric.name} is what kgeval calls one of its own (give it another name)")
        elif metric.name in by_name and by_name[metric.name].parameters != metric.parameters:
            faults.append(f"{text}: two are called {metric.name}")
        else:
            by_name.setdefault(metric.name, metric)
        written[text] = metric.name
    return by_name, written, list(dict.fromkeys(faults))


def load_metric(reference: str) -> OwnMetric | Criterion:
    """What FILE.py:NAME or module:NAME names. The file is run.

    Raises: UsageError where there is no such metric, or the code fails.
    """
    place, _, name = reference.rpartition(":")
    in_file = place.endswith(".py") or "/" in place
    if in_file and not Path(place).is_file():
        raise UsageError(f"{reference}: there is no file {place}", fix=FORM)
    try:
        module = _file_module(Path(place).resolve()) if in_file else importlib.import_module(place)
    except (Exception, SystemExit) as fault:
        why = _fault_text(fault, str(Path(place).resolve()))
        raise UsageError(f"{reference}: cannot be loaded: {why}", fix=FORM) from fault
    own = getattr(module, name, None)
    if not isinstance(own, OwnMetric | Criterion):
        strange = f"{name} has no @kgeval.metric above it, and is no kgeval.Criterion"
        raise UsageError(f"{reference}: {f'there is no {name} in it' if own is None else strange}", fix=FORM)
    return own


def _file_module(file: Path) -> ModuleType:
    """The file as a module, run once as long as it does not change. It can import what is beside it, as a script."""
    code = file.read_bytes()
    name = "_kgeval_own_" + hashlib.sha256(str(file).encode("utf-8", "surrogateescape") + code).hexdigest()[:16]
    with _loading:
        if name in sys.modules:
            return sys.modules[name]
        module = ModuleType(name)
        module.__file__ = str(file)
        sys.modules[name] = module  # dataclasses of the file look their module up
        sys.path.insert(0, str(file.parent))
        try:
            # not by an importer: that may take bytecode of an earlier text
            exec(compile(code, str(file), "exec"), module.__dict__)  # noqa: S102
        except BaseException:
            del sys.modules[name]
            raise
        finally:
            if str(file.parent) in sys.path:
                sys.path.remove(str(file.parent))
    return module
