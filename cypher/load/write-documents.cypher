// write-documents: brings documents and their chunks to their new state; each document is written as a whole or not at all.
// A row is {element_id (null: new), labels, properties, gone: [element id of chunk], kept: [[element id, properties]],
// new: [properties], chunk_labels}. Chunks of a document are linked in the order of their index.
//
// :param rows => [{element_id: null, labels: ['Document'], properties: {id: 'd'}, gone: [], kept: [], new: [{id: 'c', index: 0}], chunk_labels: ['Chunk']}] -- LIST OF MAP: documents
//
// returns: id STRING, chunks LIST OF LIST
// mode: write
UNWIND $rows AS row
CALL (row) {
  UNWIND row.gone AS id
  MATCH (c:Chunk) WHERE elementId(c) = id
  DETACH DELETE c
  RETURN count(*) AS deleted
}
CALL (row) {
  WITH row WHERE row.element_id IS NULL
  CREATE (d:$(row.labels)) SET d = row.properties
  RETURN d
  UNION
  WITH row WHERE row.element_id IS NOT NULL
  MATCH (d:Document) WHERE elementId(d) = row.element_id
  SET d += row.properties
  RETURN d
}
CALL (row, d) {
  UNWIND row.new AS properties
  CREATE (c:$(row.chunk_labels))-[:FROM_DOCUMENT]->(d)
  SET c = properties
  RETURN collect([c.id, elementId(c)]) AS chunks
}
CALL (row) {
  UNWIND row.kept AS chunk
  MATCH (c:Chunk) WHERE elementId(c) = chunk[0]
  SET c += chunk[1]
  RETURN count(c) AS updated
}
CALL (d) {
  MATCH (d)<-[:FROM_DOCUMENT]-(:Chunk)-[n:NEXT_CHUNK]->()
  DELETE n
  RETURN count(*) AS unlinked
}
CALL (d) {
  MATCH (d)<-[:FROM_DOCUMENT]-(c:Chunk)
  WITH c ORDER BY c.index, c.id
  WITH collect(c) AS chain
  UNWIND range(0, size(chain) - 2) AS at
  WITH chain[at] AS a, chain[at + 1] AS b
  CREATE (a)-[:NEXT_CHUNK]->(b)
  RETURN count(*) AS linked
}
RETURN d.id AS id, chunks
