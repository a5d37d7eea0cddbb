"""How well kgeval.names tells whether two names are one thing. Not a test.

    python tests/bench/names.py [--records ../shared/data/er-kg-bench/records.csv] [--model FOLDER]

The 600 labelled pairs of tests/labelled/names.csv, by kind and by what joined them, for the half that the rules were made with and for the
half that was not looked at. Then ER-KG-Bench (206 names of 48 things, all pairs of names that stand in one group against pairs of one
thing), by class, with and without the brand names of medicines, which no name can tell: from names, and with embeddings of the names of a
sentence-transformers model. Its column `context` gives the truth away (equal contexts alone would link with an F1 of 0.944): what
embeddings of name and context give is told apart.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "labelled"))
from name_figures import by_form, figures_of, labelled_names, of_groups

from kgeval.names import group_names, with_type

RECORDS = Path(__file__).parents[3] / "shared" / "data" / "er-kg-bench" / "records.csv"
BRANDS = "synonym_brand"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=Path, default=RECORDS, help="ER-KG-Bench's records.csv")
    parser.add_argument("--model", help="a sentence-transformers model, for embeddings of the names")
    options = parser.parse_args()
    rows = list(labelled_names())
    for half in ("dev", "held"):
        own = [row for row in rows if row.half == half]
        print(f"{half}: {figures_of(own)}")
        for kind in sorted({row.kind for row in own}):
            print(f"  {kind:14}{figures_of([row for row in own if row.kind == kind])}")
        for form, certainty, right, times in by_form(own):
            print(f"  {certainty:10}{form:26}{right} of {times}")
    if options.records.is_file():
        records(options.records, options.model)
    else:
        print(f"{options.records} is not there: ER-KG-Bench left out")


def records(path: Path, model: str | None) -> None:
    """The figures of ER-KG-Bench."""
    with path.open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    names, types, truth = ([row[column] for row in table] for column in ("mention", "entity_type", "entity_id"))
    groups = {"names": group_names(names, types)}
    if model:
        named = [with_type(name, type_) for name, type_ in zip(names, types, strict=True)]
        groups["names with embeddings"] = group_names(names, types, vectors=vectors_of(named, model))
        described = [f"{name}: {row['context']}" for name, row in zip(named, table, strict=True)]
        groups["names with context, which leaks"] = group_names(names, types, vectors=vectors_of(described, model))
    classes = defaultdict(list)
    for place, row in enumerate(table):
        classes[row["failure_class"]].append(place)
    for what, found in groups.items():
        print(f"ER-KG-Bench, {what}: {of_groups(found, truth)}")
        others = [place for place, row in enumerate(table) if row["failure_class"] != BRANDS]
        print(f"  without {BRANDS}: {of_groups(found, truth, others)}")
        for name, places in sorted(classes.items()):
            print(f"  {name:22}{of_groups(found, truth, places)}")


def vectors_of(texts: list[str], model: str) -> np.ndarray:
    """Embeddings of unit length."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(model).encode(texts, normalize_embeddings=True)


if __name__ == "__main__":
    main()
