"""`read_shares` as it was called before: see `label_files`."""

from kgeval.files.label_files import read_shares as read_shares
