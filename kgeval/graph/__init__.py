"""The only room that touches Neo4j: embedded server, connection, layouts, Cypher files, projections, importers."""
