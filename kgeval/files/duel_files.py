"""`write_duels` as it was called before: see `verdict_files`."""

from kgeval.files.verdict_files import write_duels as write_duels
