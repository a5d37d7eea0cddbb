"""Users' files in and out.

`output`: the one door through which files are written. `plain`: text, JSON, JSONL, CSV, Parquet; every fault named
with its file and line. `fields`: what files call things, and how a value is read. Answers and questions of any tool:
`stream` (rows of large files one by one) -> `shapes` (which tool wrote them, by the names of their fields) ->
`convert` (a row as records) -> `joining` (answers with their questions, all faults at once) -> `staging` (on disk) ->
`rows` (what a run goes through). Tables of judges and people: `given` -> `verdict_files`, `score_tables`,
`label_files`; `sheets`: what people fill in. `asked`: the questions that a run asks. `partial`: what a run has
finished, on disk as it comes; `scores` and `answers`: what a row of it is, and where results go; `score_forms`: the
forms of scores.
"""

from kgeval.tables.output import write_jsonl, write_text
from kgeval.tables.plain import (
    Line,
    check_readable,
    decode,
    parquet_columns,
    read_json,
    read_jsonl,
    read_parquet,
    read_table,
    read_text,
    sha256,
)

__all__ = [
    "Line", "check_readable", "decode", "parquet_columns", "read_json", "read_jsonl", "read_parquet", "read_table", "read_text", "sha256",
    "write_jsonl", "write_text",
]
