"""`read_anchors` as it was called before: see `label_files`."""

from kgeval.files.label_files import read_anchors as read_anchors
