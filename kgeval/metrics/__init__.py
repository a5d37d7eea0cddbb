"""Question + Answer -> Score.

How data flows: `table` (all metrics) -> `select` (which ones, for which rows) -> `engine` (rows -> facts -> scores) -> `summary`.
A metric is a pure function of a Subject: a row and the facts found out about it. Facts are asked for once and shared by all metrics:
`judge/` asks the model (claims, verdicts, ratings), `similarity` embeds, `kg/` matches triples by GDS, `stored/` looks into the graph.
"""
