"""Systems that anyone can run: closed book, vector, graph, graph+text, communities.

    tools.py      what they work with, and which needs what
    settings.py   their settings in one table, variants for ablations
    system.py     retrieve, read, say what it took; opens a system by name and settings
    readers.py    a model, or the extractive reader that asks none
    retrieval.py  what both retrievers have in common
    vector_rag.py the chunks nearest to a question
    graph_rag.py  the graph around entry entities, as text: order, budget, passages
    communities.py summaries of communities, asked one and all: map and reduce
    sweep.py      which theta, k and l_max find most of the gold evidence
    record.py     the Index record of an index that was built
"""

from kgeval.systems.builtin.settings import PRESETS, SETTINGS, BuiltinSetting, Preset, Settings, defaults, read_settings, variants
from kgeval.systems.builtin.system import open_builtin, open_variant
from kgeval.systems.builtin.tools import NEEDS, BuiltinNeed, BuiltinTools

__all__ = [
    "NEEDS",
    "PRESETS",
    "SETTINGS",
    "BuiltinNeed",
    "BuiltinSetting",
    "BuiltinTools",
    "Preset",
    "Settings",
    "defaults",
    "open_builtin",
    "open_variant",
    "read_settings",
    "variants",
]
