"""Reports in every form: the ending of a file's name or `--format` chooses it, and a file is either whole or not there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from kgeval.errors import UsageError
from kgeval.format import joined
from kgeval.records import AuditDiff, AuditReport, GraphsReport
from kgeval.reports.kinds import DOCUMENTS, ENDINGS, KINDS, Form
from kgeval.reports.page import Report
from kgeval.reports.redact import redacted
from kgeval.reports.render import html, markdown, terminal
from kgeval.tables.output import ROOM, blocked, write_text

STDIN = Path("-")
MARK = "<!-- a report of kgeval -->"  # below Markdown reports, where no page shows it: `kgeval init` takes them for no documents


@dataclass(frozen=True)
class Screen:
    """Where a text summary is shown: width in characters, with escape codes or plain, and the report files that exist now."""

    width: int = 100
    colour: bool = False
    written: Sequence[Path] = ()


def rendered(report: Report, form: Form, *, redact: bool = False, screen: Screen | None = None) -> str:
    """The report in one form, as a text that ends with a newline. `redact` leaves users' texts out. `screen`: for form text.

    Raises: UsageError for a form that this kind of report does not have.
    """
    kind = KINDS[type(report)]
    check_form(form, type(report))
    shown = redacted(report) if redact else report
    module, name = kind.forms[form]
    made = getattr(import_module(f"kgeval.{module}"), name)
    screen = screen or Screen()
    shape = {"width": screen.width, "colour": screen.colour, "written": screen.written} if form == "text" else {}
    text: str
    if form not in DOCUMENTS:
        text = made(shown, **shape)
    elif form == "html":
        text = html.render(made(shown), shown)
    else:
        text = (terminal if form == "text" else markdown).render(made(shown), **shape)
    return f"{text}\n{MARK}\n" if form == "md" else text


def check_form(form: Form, kind: type[Report]) -> None:
    """Raises: UsageError where this kind of report (its class) does not have the form."""
    forms = KINDS[kind].forms
    if form not in forms:
        raise UsageError(f"{KINDS[kind].words} has no form '{form}'", fix=f"choose one of: {', '.join(forms)}")


def write_report(report: Report, path: Path, *, redact: bool = False) -> None:
    """Writes the report to `path`: .html, .json or .md; audits and reports over a run also .xml and .sarif, scores and diffs of
    audits .xml, comparisons .xml and .csv, graphs side by side .csv.

    What is redacted, and the figures of scores, comparisons and runs in JUnit and CSV, quote no text of the user's but the names of
    systems, and may be read by others; all else is its owner's alone.
    Raises: UsageError for another ending; InputError where the file cannot be written.
    """
    check_outputs([path], type(report))
    form = ENDINGS[path.suffix.lower()]
    figures = form in ("xml", "csv") and not isinstance(report, AuditReport | AuditDiff | GraphsReport)
    # names in a graph may hold lone surrogates, which UTF-8 has not
    text = rendered(report, form, redact=redact).encode("utf-8", "replace").decode()
    write_text(path, text, shared=redact or figures)


def check_outputs(paths: Sequence[Path], kind: type[Report] = AuditReport, *, read: Iterable[Path | None] = ()) -> None:
    """Tells before a long run whether the files can be written at all. `kind`: the class of the report to be written; `read`: files that
    are read, None: that none was given.

    Raises: UsageError naming every bad path, and the endings that this kind of report has; as `check_replaced`.
    """
    known = [ending for ending, form in ENDINGS.items() if form in KINDS[kind].forms]
    faults = [f"{path}: {_foreign(path.suffix, kind)}" for path in paths if path.suffix.lower() not in known]
    if faults:
        faults += [f"{path}: {why}" for path in paths if (why := blocked(path))]
        raise UsageError("; ".join(faults), fix=f"give the path of a file that ends with one of: {', '.join(known)}")
    check_replaced(paths, read)


def check_replaced(outputs: Iterable[Path], read: Iterable[Path | None], *, flag: str = "-o", what: str = "that is read") -> None:
    """Raises: UsageError where an output cannot be written, or would replace a file that is read, or standard input is read twice.
    `flag`: that names the outputs; `what`: which files they would replace."""
    files = [path for path in read if path is not None]
    if files.count(STDIN) > 1:
        raise UsageError("standard input can be read once only", fix="write '-' for one file")
    outputs = list(dict.fromkeys(outputs))
    if faults := [f"{path}: {why}" for path in outputs if (why := blocked(path))]:
        raise UsageError("; ".join(faults), fix=ROOM)
    inputs = {path.resolve() for path in files if path != STDIN}
    if lost := dict.fromkeys(str(path) for path in outputs if path.resolve() in inputs):
        raise UsageError(f"{flag} would replace a file {what}: {', '.join(lost)}", fix=f"name another file or folder with {flag}")


def _foreign(ending: str, kind: type[Report]) -> str:
    form = ENDINGS.get(ending.lower())
    if form is None:
        return f"unknown ending '{ending}'"
    others = [other.words for other in KINDS.values() if form in other.forms]
    return f"{KINDS[kind].words} has no form '{ending}', only {joined(others)} {'has' if len(others) == 1 else 'have'} it"

