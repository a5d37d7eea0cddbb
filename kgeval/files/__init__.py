"""Users' files in and out.

`plain`: text, JSON, JSONL, CSV, Parquet; every fault named with its file and line. `stream`: rows of large files one by one.
`shapes`: which tool wrote a row, by its field names. `rows`: answers joined with questions, checked as a whole, kept on disk.
`scores`: results as they come, and the run folder.
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
