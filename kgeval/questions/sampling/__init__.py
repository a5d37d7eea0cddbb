"""Structures out of a graph: seeded, repeatable, lazy.

    sampler.py   open_sampler: what the rest of kgeval uses; paths; what a graph can give
    world.py     one open graph with what has been read of it: entities in the order that the seed decides, walks
    strata.py    which stratum an entity is in
    turns.py     who is drawn next: seeds in turn from each stratum
    around.py    the relations at entities, by place
    simple.py    nodes, edges, pairs;  walked.py: subgraphs, chains;  grown.py: neighbourhoods, communities
    details.py: names, descriptions, passages
"""
