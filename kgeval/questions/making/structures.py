"""Questions that need more of a graph's form than one chain [X C.2-C.4, figure 8]: several chains from one entity, two
subgraphs that no relation joins, hierarchies, dependencies.

They are made and checked as the levels are; beside the number of relations code counts from how many parts of the
structure they are: chains, subgraphs, steps. """

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kgeval.questions.draw_spec import DrawSpec
from kgeval.questions.kinds import QuestionKind
from kgeval.questions.making.graphrag_bench import REASONING, SUMMARY, level_kind

_kind = partial(level_kind, group="structures", source="[X] C.2-C.6, figure 8")
_OF_PARTS = replace(REASONING, apart=False, parts=2)
MOST_RELATIONS = 8  # of a hierarchy or dependency: enough for a choice, and a reader can still look through them

KINDS: tuple[QuestionKind, ...] = (
    _kind(
        replace(_OF_PARTS, prompt="bench-chains"), "three relations or more of two chains or more that begin at one entity",
        DrawSpec("chains", hops=2, parts=3), name="several_chains",
    ),
    _kind(
        replace(SUMMARY, prompt="bench-disjoint", least=4, half=False, parts=2, of_part=2),
        "two subgraphs that no relation joins brought together, with two relations or more of each",
        DrawSpec("disjoint", hops=1, most_relations=5), name="disjoint_subgraphs",
    ),
    _kind(
        replace(_OF_PARTS, prompt="bench-hierarchy"), "three relations or more, on two steps or more, of what is a kind or part of what",
        DrawSpec("hierarchy", hops=2, min_relations=3, most_relations=MOST_RELATIONS), name="hierarchy",
    ),
    _kind(
        replace(_OF_PARTS, prompt="bench-dependency"), "three relations or more, on two steps or more, of what causes or requires what",
        DrawSpec("dependency", hops=2, min_relations=3, most_relations=MOST_RELATIONS), name="dependency",
    ),
)
