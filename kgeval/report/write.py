"""Report files: the ending of the name chooses the format, and a file is either whole or not there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from kgeval.errors import InputError, UsageError
from kgeval.files import write_text
from kgeval.records import AuditReport


def write_report(report: AuditReport, path: Path, *, redact: bool = False) -> None:
    """Writes the report to `path`: .html, .json or .md. Folders are made; an existing file is replaced in one step (0644).

    `redact` leaves users' texts out. Raises: UsageError for another ending, or where the file cannot be written.
    """
    check_outputs([path])
    renderer = _renderers()[path.suffix.lower()]
    if redact:
        from kgeval.report.redact import redacted

        report = redacted(report)
    _replace(path, renderer(report))


def check_outputs(paths: Iterable[Path]) -> None:
    """Tells before a long run whether the files can be written at all. Raises: UsageError naming every bad path."""
    known = ", ".join(_renderers())
    faults = [f"{path}: unknown ending '{path.suffix}'" for path in paths if path.suffix.lower() not in _renderers()]
    faults += [f"{path}: is a folder" for path in paths if path.is_dir()]
    if faults:
        raise UsageError("; ".join(faults), fix=f"give the path of a file that ends with one of: {known}")


def _renderers() -> dict[str, Callable[[AuditReport], str]]:
    return {".html": _html, ".json": _json, ".md": _markdown}


def _html(report: AuditReport) -> str:
    from kgeval.report.html import render

    return render(report)


def _json(report: AuditReport) -> str:
    from kgeval.report.json_ import render

    return render(report)


def _markdown(report: AuditReport) -> str:
    from kgeval.report.markdown import render

    return render(report)


def _replace(path: Path, text: str) -> None:
    target = path.resolve()  # a link keeps pointing to the file
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_text(target, text.encode("utf-8", "replace").decode(), mode=0o644)
    except (OSError, InputError) as cause:
        raise UsageError(f"{path}: cannot be written ({_why(cause)})", fix="give another path with -o") from cause


def _why(cause: OSError | InputError) -> str:
    system = cause.__cause__ if isinstance(cause, InputError) else cause
    return str(getattr(system, "strerror", None) or cause)
