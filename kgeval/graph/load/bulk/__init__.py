"""Loads a large graph into the stopped store of an embedded home with Neo4j's own import tool.

    convert   the user's tables -> the tool's CSV files, column by column, in flat memory
    load      the tool, the exchange of the store, the server's start, indexes and the mark
"""
