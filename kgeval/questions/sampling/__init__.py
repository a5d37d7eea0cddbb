"""Structures out of a graph: seeded, repeatable, lazy.

    sampler.py   open_sampler: what the rest of kgeval uses
    world.py     one open graph with what has been read of it: entities, walks, strata
    entities.py  every named entity in the order that the seed decides;  strata.py: which stratum it is in
    turns.py     who is drawn next: seeds in turn from each stratum
    around.py    the relations at entities, by place
    simple.py    nodes, edges, pairs;  paths.py: paths;  walked.py: subgraphs, chains;  grown.py: neighbourhoods, communities
    capacity.py  what a graph can give;  details.py: names, descriptions, passages
"""
