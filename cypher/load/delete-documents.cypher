// delete-documents: deletes documents with their chunks, each as a whole or not at all. Nodes of other graphs are passed over.
//
// :param graph => 'novels'                           -- STRING: the graph's name, a label of its nodes
// :param ids => ['4:00000000-0000-0000-0000-000000000000:0'] -- LIST OF STRING: element ids of documents
//
// returns: chunks INTEGER
// mode: write
UNWIND $ids AS id
MATCH (d:Document) WHERE elementId(d) = id AND $graph IN labels(d)
CALL (d) {
  MATCH (d)<-[:FROM_DOCUMENT]-(c:Chunk)
  DETACH DELETE c
  RETURN count(*) AS chunks
}
DETACH DELETE d
RETURN sum(chunks) AS chunks
