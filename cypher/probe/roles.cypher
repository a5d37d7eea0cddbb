// roles: whether the graph has what checks need: names, mentions, sources, relation labels, descriptions, aliases, validity times.
// Looks for one of each only, so it is quick on large graphs.
//
// returns: entities BOOLEAN, names BOOLEAN, mentions BOOLEAN, entity_sources BOOLEAN, relation_sources BOOLEAN, relation_labels BOOLEAN, descriptions BOOLEAN, aliases BOOLEAN, validity BOOLEAN, entity_embeddings BOOLEAN, chunk_embeddings BOOLEAN
// mode: read
RETURN EXISTS {
         MATCH (e:@Entity)
       } AS entities,
       EXISTS {
         MATCH (c:@Chunk)-[m:@MENTION]-(e:@Entity)
       } AS mentions,
       EXISTS {
         MATCH (e:@Entity)
         WHERE @name(e) IS NOT NULL
       } AS names,
       EXISTS {
         MATCH (e:@Entity)
         WHERE e.@entity_source_key IS NOT NULL
       } AS entity_sources,
       EXISTS {
         MATCH (s:@Endpoint)-[r:@RELATION]->(t:@Endpoint)
         WHERE r.@relation_source_key IS NOT NULL
       } AS relation_sources,
       EXISTS {
         MATCH (s:@Endpoint)-[r:@RELATION]->(t:@Endpoint)
         WHERE r.@relation_label_key IS NOT NULL
       } AS relation_labels,
       EXISTS {
         MATCH (e:@Entity)
         WHERE e.@description_key IS NOT NULL
       } AS descriptions,
       EXISTS {
         MATCH (e:@Entity)
         WHERE any(k IN @alias_keys WHERE e[k] IS NOT NULL)
       } AS aliases,
       EXISTS {
         MATCH (s:@Endpoint)-[r:@RELATION]->(t:@Endpoint)
         WHERE any(k IN [@valid_from_key, @valid_to_key, @expired_key] WHERE r[k] IS NOT NULL)
       } AS validity,
       EXISTS {
         MATCH (e:@Entity)
         WHERE @embedding_key IS NOT NULL AND e.@embedding_key IS NOT NULL
       } AS entity_embeddings,
       EXISTS {
         MATCH (c:@Chunk)
         WHERE @chunk_embedding_key IS NOT NULL AND c.@chunk_embedding_key IS NOT NULL
       } AS chunk_embeddings
