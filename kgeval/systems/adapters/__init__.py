"""Ready adapters: other packages as systems under test, each run by a small script in an environment of its own.

    adapters.toml    which packages, what they are installed with, modes, settings and presets
    catalog.py       reads it
    environment.py   makes, checks and removes a package's environment in the user's data folder
    folder.py        the folder of an index: documents, the card that says how it is made
    indexing.py      runs a script's index step and writes the Index record
    launch.py        an open system: the script as a process that speaks JSONL
    embedding_server.py  kgeval's own embedding model behind /embeddings, for packages without one
    scripts/         what runs in the other environments: it imports the wrapped package and the standard library, never kgeval
"""

ADAPTERS = ("graphrag", "lightrag", "fast-graphrag", "hipporag", "nano-graphrag", "neo4j-graphrag")
