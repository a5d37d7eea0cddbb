"""Knowledge-graph metrics on text pairs: triples, their graph, matching and communities by GDS."""
