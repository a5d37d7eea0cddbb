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

    Raises: UsageError where there is none, or where several would go into one file.
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
    for system in found:
        tools = job.box.tools(SystemSpec("builtin", system.settings.system))
        record = index_record(system, tools, job.manifest(0))
        path = Path(str(output).replace("{system}", file_name(system.name)))
        write_text(path, record.model_dump_json(indent=1) + "\n")
        say(f"wrote {path}")
