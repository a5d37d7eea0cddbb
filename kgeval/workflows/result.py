"""What a task of the library gives back: a record, and what can be done with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgeval.errors import GateError, InputError, KgevalError, UsageError

if TYPE_CHECKING:
    import pandas as pd

    from kgeval.records import Gate, Question


MISSED, INCOMPLETE = 1, 3  # exit codes


def exit_code(gates: Iterable[Gate] = (), *, incomplete: object = False) -> int:
    """3 if something did not run to its end or a gate that decides has no answer: no answer is not a pass. 1 if a gate that decides is
    missed. Else 0."""
    met = [gate.met for gate in gates if gate.decides]
    return INCOMPLETE if incomplete or None in met else MISSED if False in met else 0


def gate_lines(gates: Iterable[Gate]) -> list[str]:
    """A line for each gate that decides and is missed or has no answer: `gate missed: vector: faithfulness >= 0.8 (0.74)`."""
    from kgeval.format import about, beyond

    lines = []
    for gate in gates:
        if gate.decides and not gate.met:
            value = "" if gate.value is None else beyond(gate.value, gate.limit)
            why = ": ".join(filter(None, [value, gate.reason]))
            outcome = "not answered" if gate.met is None else "missed"
            lines.append(f"gate {outcome}: {about(gate.of, gate.wanted)}" + (f" ({why})" if why else ""))
    return lines


@dataclass(frozen=True)
class Result:
    """`report`: the record, as its JSON has it. `fault`: what went wrong after it was made, if anything did (a file beside it could not be
    written). `redact`: save and show it without the texts and names of users where nothing else is asked for ([report] of kgeval.toml). A
    notebook shows it as its page; `print` shows the summary."""

    report: Any
    fault: KgevalError | None = None
    redact: bool = False

    def __init_subclass__(cls) -> None:
        """Keeps the short `repr`: a dataclass writes one of its own, with the whole record, which notebooks store as a cell's text."""
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Result.__repr__  # type: ignore[method-assign]

    @property
    def exit_code(self) -> int:
        """As the command's: 0 done, 1 a gate is missed, 3 something is incomplete or a gate has no answer."""
        return int(self.report.run.exit_code)

    @property
    def gates(self) -> list[Any]:
        """The gates that were asked for; none where a report has none."""
        return list(getattr(self.report, "gates", ()))

    @property
    def messages(self) -> Sequence[str]:
        """What a caller who looks at the exit code alone should know: gates that are missed or have no answer, and what is lacking."""
        return tuple(gate_lines(self.gates))

    @property
    def written(self) -> Sequence[Path]:
        """Files of rows that were written."""
        return ()

    def raise_for_gates(self) -> None:
        """Raises: GateError with every gate that is missed or has no answer; nothing where all are met."""
        if lines := gate_lines(self.gates):
            raise GateError("; ".join(lines))

    def redacts(self, redact: bool | None) -> bool:
        """Whether texts and names of users are left out: as it is asked for, else as this result does."""
        return self.redact if redact is None else redact

    def save(self, path: str | Path, *, redact: bool | None = None) -> Path:
        """Writes the report; the ending of the name chooses the form (.html, .json, .md and those of its kind). `redact`: without the texts
        and names of users; None: as `redact` of this result.

        Raises: UsageError for an ending that this kind of report does not have, or where the file cannot be written.
        """
        self.write(path, redact=redact)
        return Path(path)

    def write(self, path: str | Path, *, redact: bool | None = None) -> None:
        """Writes the report alone, without the rows that `save` knows of. Raises: UsageError, as `save`."""
        from kgeval.reports.write import write_report

        write_report(self._made(), Path(path), redact=self.redacts(redact))

    def _made(self) -> Any:
        """The record. Raises: UsageError where none was made."""
        if self.report is None:
            raise UsageError("no report was made", fix="see what came of the task: print(result)")
        return self.report

    def to_dict(self) -> dict[str, Any]:
        """The record as plain data, as the JSON report has it."""
        data: dict[str, Any] = self._made().model_dump(mode="json")
        return data

    def to_pandas(self) -> pd.DataFrame:
        """The rows of the report."""
        raise NotImplementedError

    def rendered(self, form: str, *, redact: bool | None = None) -> str:
        """The report in one form: text, json, md, html and those of its kind. Raises: UsageError for another form."""
        from kgeval.reports.write import rendered

        return rendered(self._made(), form, redact=self.redacts(redact))  # type: ignore[arg-type]  # another form is refused by name

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither its styles nor the notebook's reach the other; the summary of a report that has
        no page."""
        from html import escape

        from kgeval.reports.kinds import KINDS

        kind = KINDS.get(type(self.report))
        if kind is None or "html" not in kind.forms:
            return f"<pre>{escape(str(self))}</pre>"
        page = escape(self.rendered("html"), quote=True)
        # without allow-same-origin the page, which holds texts of others, cannot reach the notebook
        return f'<iframe srcdoc="{page}" style="width:100%;height:40em;border:1px solid #ccc" sandbox="allow-scripts"></iframe>'

    def __str__(self) -> str:
        """The summary; its last paragraph says how to get more of it in Python, where the command names its flags."""
        head, gap, last = self.rendered("text").rstrip("\n").rpartition("\n\n")
        calls = re.sub(r'(?:\badd\s+)?(?<!\S)-o\s+([\w.]+)', r'result.save("\1")', last)
        return head + gap + (last if calls == last else " ".join(calls.split()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(exit_code={self.exit_code})"


@dataclass(frozen=True)
class QuestionsResult(Result):
    """Questions that were made or marked: to go through (`for question in result`), or to hand to another function. `file`: the questions,
    one a line; None where nobody asked to keep them. `written`: all files that were written. `messages`: what is lacking, and thresholds
    that are missed or without an answer."""

    file: Path | None = None
    written: tuple[Path, ...] = ()
    messages: tuple[str, ...] = ()
    _folder: Any = field(default=None, repr=False)  # of questions that nobody asked to be written: gone with this object

    @property
    def questions(self) -> Iterator[Question]:
        """The questions in their order; read from the file, so that memory stays flat."""
        from kgeval.tables.rows import read_questions

        if self.file:  # a generator holds this object, and so the file, however the result is called: for q in generate_questions(...)
            yield from read_questions(self.file)

    def __iter__(self) -> Iterator[Question]:
        return self.questions

    def __len__(self) -> int:
        """How many questions there are; 0 where they were not kept."""
        if self.file is None:
            return 0
        with self.kept().open("rb") as lines:
            return sum(1 for line in lines if line.strip())

    def kept(self) -> Path:
        """The file with the questions. Raises: UsageError where they were not kept, InputError where the file is gone."""
        if self.file is None:
            raise UsageError("the questions were not kept", fix="give one set of questions, or name the file when they are made")
        if not self.file.is_file():
            raise InputError(f"{self.file}: the questions are not there any more", fix="make them again")
        return self.file

    def to_pandas(self) -> pd.DataFrame:
        """A row a question, its fields as its JSON has them."""
        import pandas as pd

        return pd.DataFrame([question.model_dump(mode="json") for question in self.questions])

    def save(self, path: str | Path, *, redact: bool | None = None) -> Path:
        """Writes the questions, and the report beside them (X.run.json); with another ending than .jsonl the report alone.

        Raises: UsageError for an ending that this kind of report does not have, or for questions with `redact`; InputError where nothing
        can be written.
        """
        from kgeval.reports.kinds import KINDS
        from kgeval.tables.output import replacing

        output = Path(path)
        if output.suffix.lower() != ".jsonl" and type(self.report) in KINDS:
            return super().save(output, redact=redact)
        if redact or output.suffix.lower() != ".jsonl":
            raise UsageError(f"{output}: questions are written as .jsonl, and whole", fix="name a .jsonl file")
        with replacing(output) as out, self.kept().open(encoding="utf-8", newline="\n") as lines:
            out.writelines(lines)
        with replacing(beside(output)) as out:
            out.write(self.rendered("json", redact=False))
        return output


def beside(output: Path) -> Path:
    """The file with report and manifest that stands beside an output of rows."""
    return output.with_name(f"{output.stem}.run.json")
