"""Users' files in and out.

`plain`: text, JSON, JSONL, CSV, Parquet; every fault named with its file and line. Answers and questions of any tool:
`stream` (rows of large files one by one) -> `shapes` (which tool wrote them, by the names of their fields) -> `convert` (a row as
records) -> `joining` (answers with their questions, all faults at once) -> `staging` (on disk) -> `rows` (what a run goes through).
`scores`: results as they come, and the run folder; `score_forms`: their forms.
"""

from kgeval.files.plain import (
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
    write_jsonl,
    write_text,
)

__all__ = [
    "Line", "check_readable", "decode", "parquet_columns", "read_json", "read_jsonl", "read_parquet", "read_table", "read_text", "sha256",
    "write_jsonl", "write_text",
]
