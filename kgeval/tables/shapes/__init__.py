"""Which tool wrote a file, by the names of its fields; and which field of it means what. The tables are the .toml files here.

Two names mean two things: `answer` is the system's answer in ragas and benchmark-qed, and the right answer in GraphRAG-Bench's
question files; `context` is gold in deepeval and retrieved in GraphRAG-Bench. Where a file's other fields do not decide, InputError
says which --map does.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from kgeval.errors import InputError
from kgeval.tables.fields import OF_ANSWERS, ROWS

ShapeRole = Literal["answers", "questions"]
FOLDER = Path(__file__).parent
PLAIN = "plain fields"


@dataclass(frozen=True)
class RowShape:
    """A tool's file. `needs`: names that it has (alternatives with |), `lacks`: names that it has not. `fields`: kgeval's name ->
    the file's (alternatives with |, dotted paths). `ignored`: names that are left out. `only`: it holds questions and no answers.
    `derive`: reads what no table can say. `without_answer`: what was retrieved, and no answers."""

    name: str
    needs: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    only: Literal["questions"] | None = None
    derive: str | None = None
    without_answer: bool = False

    def fits(self, names: Collection[str]) -> bool:
        """Whether a file with these names is one of this tool's."""
        return not any(name in names for name in self.lacks) and all(any(own in names for own in need.split("|")) for need in self.needs)


@dataclass(frozen=True)
class ShapeReading:
    """How a file is read: kgeval's name -> the file's names, in the order in which they are tried."""

    shape: RowShape
    fields: Mapping[str, tuple[str, ...]]

    def uses(self, name: str) -> bool:
        """Whether a top-level name of the file is read as something."""
        return any(top(path) == name or path == name for paths in self.fields.values() for path in paths)


@dataclass(frozen=True)
class FileNames:
    """What a reading is decided by: the file's name for messages, the names of its fields, what it was given as, and --map.

    `with_questions`: the questions come from a file of their own, so `answer` cannot be the right answer."""

    file: str
    names: frozenset[str]
    role: ShapeRole
    maps: Mapping[str, str] = field(default_factory=dict)
    with_questions: bool = False

    @property
    def mapped(self) -> dict[str, str]:
        """The part of --map that names a field of this file."""
        return {ours: theirs for ours, theirs in self.maps.items() if theirs in self.names or top(theirs) in self.names}


@cache
def shapes() -> tuple[RowShape, ...]:
    """Every known shape, file by file."""
    known: list[RowShape] = []
    for path in sorted(FOLDER.glob("*.toml")):
        for table in tomllib.loads(path.read_text(encoding="utf-8"))["shape"]:
            lists: dict[str, Any] = {key: tuple(table.pop(key, ())) for key in ("needs", "lacks", "ignored")}
            known.append(RowShape(**lists, **table))
    return tuple(known)


def top(name: str) -> str:
    """The top-level name of a dotted path."""
    return name.split(".", 1)[0].removesuffix("[]")


def reading_of(file: FileNames) -> ShapeReading:
    """How the file is read.

    Raises: InputError where two tools fit and differ, where a name means two things and nothing decides, and where a file of
    questions is given as answers.
    """
    shape = _chosen(file)
    mapped = file.mapped
    fields = {name: _names(shape, name, file) for name in ROWS}
    taken = set(mapped.values())
    fields = {name: tuple(path for path in paths if path not in taken and top(path) not in taken) for name, paths in fields.items()}
    fields.update({ours: (theirs,) for ours, theirs in mapped.items() if ours != "extra"})  # --map extra=FIELD: FIELD means nothing
    reading = ShapeReading(shape, {name: paths for name, paths in fields.items() if paths})
    if shape.only == "questions" and file.role == "answers" and not _present("answer", reading, file):
        raise _given_as_answers(shape, file)
    return _settled(reading, file)


def check_steady(before: ShapeReading, after: ShapeReading, file: FileNames, new: Collection[str]) -> None:
    """Raises InputError where fields that turn up late give another meaning to those that were read before."""
    for name in sorted(file.names - set(new)):
        past, now = (sorted(ours for ours, paths in reading.fields.items() if name in paths) for reading in (before, after))
        if past != now:
            was, becomes = (" and ".join(meanings) or "nothing" for meanings in (past, now))
            raise InputError(
                f"{file.file}: '{name}' was read as {was}, but rows further down have {_listed(new)}, and with that it is {becomes}",
                fix=f"say what it is: --map {(past or now)[0]}={name}, or leave it out: --map extra={name}",
            )


def _chosen(file: FileNames) -> RowShape:
    """The shape that fits. Where several fit, they must agree on what is what."""
    fitting = [shape for shape in shapes() if shape.fits(file.names - set(file.mapped.values()))]
    if not fitting:
        return RowShape(PLAIN)
    first = fitting[0]
    for other in fitting[1:]:
        for name in sorted(file.names):
            first_is, other_is = _meaning(first, name), _meaning(other, name)
            if first_is != other_is and first_is is not None and other_is is not None:
                raise InputError(
                    f"{file.file}: its fields fit {first.name} (where '{name}' is {first_is}) and {other.name} (where it is {other_is})",
                    fix=f"say which: --map {first_is}={name} or --map {other_is}={name}",
                )
    return first


def _meaning(shape: RowShape, name: str) -> str | None:
    return next((ours for ours, theirs in shape.fields.items() if name in theirs.split("|")), None)


def _names(shape: RowShape, name: str, file: FileNames) -> tuple[str, ...]:
    """The file's names for a field: the tool's; where the file has none of them, the ones that are known without doubt and that the
    tool uses for nothing else."""
    own = tuple(shape.fields.get(name, "").split("|")) if name in shape.fields else ()
    if any(path in file.names or top(path) in file.names for path in own):
        return own
    used = {path for theirs in shape.fields.values() for path in theirs.split("|")} | set(shape.ignored)
    names = ROWS[name].names
    # Where nobody has answered yet, a query can only be the gold one.
    if file.role == "questions" and name in ("cypher", "gold_cypher"):
        names = ("gold_cypher", "cypher") if name == "gold_cypher" else ()
    return own + tuple(path for path in names if path not in used)


def _present(name: str, reading: ShapeReading, file: FileNames) -> bool:
    return any(path in file.names or top(path) in file.names for path in reading.fields.get(name, ()))


def _settled(reading: ShapeReading, file: FileNames) -> ShapeReading:
    """The reading, with a meaning for `answer` and `context` where the file has them and its tool does not say."""
    fields = dict(reading.fields)
    left = file.mapped.get("extra")
    undecided = not reading.uses("answer") or (file.role == "questions" and _reads_answer_as_answer(reading, file))
    if "answer" in file.names and left != "answer" and undecided:
        meaning = _answer_is(reading, file)
        fields["answer"] = tuple(path for path in fields.get("answer", ()) if path != "answer")
        fields[meaning] = ("answer",) if meaning != "extra" else fields.get("extra", ())
    if "context" in file.names and left != "context" and not reading.uses("context") and "context" not in reading.shape.ignored:
        possible = ("contexts", "evidence") if file.role == "answers" else ("evidence",)
        if not any(_present(name, reading, file) for name in possible):
            what = " or ".join(f"--map {name}=context" for name in possible)
            why = f"{file.file}: 'context' may be what the system retrieved (GraphRAG-Bench) or the gold context (deepeval)"
            kinds = "contexts: retrieved, evidence: gold" if file.role == "answers" else "--map extra=context leaves it out"
            raise InputError(why, fix=f"say which: {what} ({kinds})")
    return ShapeReading(reading.shape, {name: paths for name, paths in fields.items() if paths})


def _reads_answer_as_answer(reading: ShapeReading, file: FileNames) -> bool:
    """Whether the tool says that `answer` is the system's. In a file of questions that is asked again."""
    return "answer" in reading.fields.get("answer", ()) and "answer" not in file.mapped


def _answer_is(reading: ShapeReading, file: FileNames) -> str:
    """What `answer` is: answer, reference or extra."""
    has_reference = _present("reference", reading, file) or _present("references", reading, file)
    if file.role == "questions":
        looks = sorted((OF_ANSWERS & file.names) - {"question_id", "question_text"} - set(file.mapped.values()))
        if has_reference or not looks:
            return "extra" if has_reference else "reference"
        raise InputError(
            f"{file.file}: given as questions, but it looks like a system's answers (it has {_listed(looks)}); "
            "it cannot be told whether 'answer' is the right answer",
            fix="say what it is: --map reference=answer, or leave it out: --map extra=answer",
        )
    if _present("answer", reading, file):
        if has_reference:
            return "extra"
        other = next(name for name in reading.fields["answer"] if name in file.names)
        raise InputError(
            f"{file.file}: it has '{other}' and 'answer', and it cannot be told whether 'answer' is the right answer",
            fix="say what it is: --map reference=answer, or leave it out: --map extra=answer",
        )
    signs = (OF_ANSWERS & file.names) - set(file.mapped.values()) or file.with_questions or "reference" in file.mapped
    if signs or not _present("question", reading, file):
        return "answer"
    raise InputError(
        f"{file.file}: 'answer' may be the system's answer (ragas, benchmark-qed) or the right answer (GraphRAG-Bench questions); "
        f"nothing else in the file decides (its fields: {_listed(file.names)})",
        fix="say which: --map answer=answer (the system's), or --map reference=answer with --map answer=FIELD; a file of questions "
        "is given with --questions",
    )


def _given_as_answers(shape: RowShape, file: FileNames) -> InputError:
    right = " ('answer' is the right answer in it, not a system's)" if "answer" in file.names else ""
    return InputError(
        f"{file.file}: is a file of {shape.name}, it holds no system's answers{right}",
        fix=f"give it with --questions and the answers as the argument; or name the system's answer: --map answer=FIELD "
        f"(its fields: {_listed(file.names)})",
    )


def _listed(names: Collection[str]) -> str:
    shown = sorted(names)[:20]
    return ", ".join(shown) + (" ..." if len(names) > 20 else "")
