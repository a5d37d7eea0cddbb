"""Questions grounded in a graph and its texts: sample structures, make questions of them, check them, say what a set
covers.

    sampling/     structures out of Neo4j and GDS: nodes, edges, walks, paths, chains, pairs, communities; seeded
    kinds.py      what a kind of question is, and the table of all kinds; each group of kinds is a module of making/
    making/       Structure -> Question: the levels of [Z], [X] and [K], hop questions from templates or a model, negatives, the baseline
    drafts.py     what all makers share: structures as prompts show them, numbers and quotes looked up; excerpts.py: texts within a budget
    proof.py      what the database proves; graph_facts.py, word_index.py: what is read of the whole graph, once a run
    generate.py   draws, has questions made, drops what repeats, counts; duplicates.py: repeats; spool.py: on disk
    sheet.py      people confirm questions
    checking/     any question file: answerable, closed book, unique, leak, near duplicate
    coverage.py   what a set covers of a graph; covering/: the graph's groups, and where each question stands in them
    classify.py   the four levels of [X], given by a judge
    figures.py    shares, lengths, breadth and depth of a set; gold_triples.py, complexity.py: how these are counted
"""
