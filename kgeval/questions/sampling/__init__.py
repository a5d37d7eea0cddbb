"""Structures out of a graph: seeded, repeatable, lazy.

    sampler.py         open_sampler: what the rest of kgeval uses
    capacity.py        how many structures a graph can give
    sampled_graph.py   one open graph with what has been read of it: entities in the order that the seed decides
    strata.py          which stratum an entity is in
    turns.py           who is drawn next: seeds in turn from each stratum
    links.py           the relations at entities, by place
    uniform.py         nodes, edges, pairs: each with the same chance
    paths.py           simple paths, without GDS
    random_walks.py    subgraphs, chains
    neighbourhoods.py  neighbourhoods, communities
    details.py         names, descriptions, passages
"""
