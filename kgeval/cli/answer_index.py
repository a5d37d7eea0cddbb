"""`kgeval answer --index-record FILE`: what the indexes of built-in systems took."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kgeval.cli.common import say
from kgeval.errors import UsageError

if TYPE_CHECKING:
    from kgeval.cli.answer_run import Job


def write_index_records(job: Job, output: Path) -> None:
    """Writes an Index record for each built-in system with an index; `{system}` in the name stands for the system's.

    Raises: UsageError where there is none, where several would go into one file, and where one would replace a file of this run.
    """
    from kgeval.files.answers import file_name
    from kgeval.files.plain import write_text
    from kgeval.systems.builtin.record import index_record
    from kgeval.systems.builtin.system import BuiltinSystem
    from kgeval.systems.spec import SystemSpec

    found = [one for one in job.systems if isinstance(one, BuiltinSystem) and one.retriever is not None]
    if not found:
        raise UsageError("--index-record: no system here builds an index", fix="it is for vector, graph and graph+text")
    if len(found) > 1 and "{system}" not in str(output):
        raise UsageError(f"--index-record: {len(found)} systems have an index", fix="put {system} into the file's name")
    paths = [Path(str(output).replace("{system}", file_name(system.name))) for system in found]
    if lost := sorted({str(path) for path in paths if path.resolve() in _taken(job)}):
        raise UsageError(f"--index-record would replace a file of this run: {', '.join(lost)}", fix="name another file")
    tools = [job.box.tools(SystemSpec("builtin", system.settings.system)) for system in found]
    records = [index_record(system, its, job.manifest(0)) for system, its in zip(found, tools, strict=True)]
    for path, record in zip(paths, records, strict=True):
        write_text(path, record.model_dump_json(indent=1) + "\n")
        say(f"wrote {path}")


def _taken(job: Job) -> set[Path]:
    """The files that this run reads, and those that its answers go to."""
    from kgeval.files.answers import files_of, targets

    given = [job.options[name] for name in ("questions", "config_file", "prices")]
    read = [Path(name) for name in (*given, *(one.spec.argument for one in job.chosen)) if name and Path(name).is_file()]
    written = files_of(targets(job.options["outputs"], [system.name for system in job.systems]))
    return {path.resolve() for path in (*read, *written)}
