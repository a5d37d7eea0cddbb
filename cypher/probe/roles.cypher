// roles: whether the graph has what checks need: names, mentions, sources, relation labels, descriptions, aliases, validity times.
// Looks for one of each only, so it is quick on large graphs.
//
// :param layout => {...}          -- MAP: the graph's layout (kgeval layout show NAME --cypher prints it)
//
// returns: entities BOOLEAN, names BOOLEAN, mentions BOOLEAN, entity_sources BOOLEAN, relation_sources BOOLEAN, relation_labels BOOLEAN, descriptions BOOLEAN, aliases BOOLEAN, validity BOOLEAN, entity_embeddings BOOLEAN, chunk_embeddings BOOLEAN
// mode: read
RETURN EXISTS {
         MATCH (e)
         WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
    AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
       } AS entities,
       EXISTS {
         MATCH (c)-[m]-(e)
         WHERE type(m) IN $layout.mention_types AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
           AND any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
       } AS mentions,
       EXISTS {
         MATCH (e)
         WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
    AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
           AND @name(e) IS NOT NULL
       } AS names,
       EXISTS {
         MATCH (e)
         WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
           AND e[$layout.entity_source_key] IS NOT NULL
       } AS entity_sources,
       EXISTS {
         MATCH (s)-[r]->(t)
         WHERE type(r) IN $layout.relation_types AND r[$layout.relation_source_key] IS NOT NULL
           AND ($layout.relations_join_entities_only OR (
    any(l IN labels(s) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(s) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(s))
    AND ($layout.scope_property IS NULL OR s[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(t) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(t) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(t))
    AND ($layout.scope_property IS NULL OR t[$layout.scope_property] = $layout.scope_value)))
       } AS relation_sources,
       EXISTS {
         MATCH (s)-[r]->(t)
         WHERE type(r) IN $layout.relation_types AND r[$layout.relation_label_key] IS NOT NULL
           AND ($layout.relations_join_entities_only OR (
    any(l IN labels(s) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(s) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(s))
    AND ($layout.scope_property IS NULL OR s[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(t) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(t) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(t))
    AND ($layout.scope_property IS NULL OR t[$layout.scope_property] = $layout.scope_value)))
       } AS relation_labels,
       EXISTS {
         MATCH (e)
         WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
           AND e[$layout.description_key] IS NOT NULL
       } AS descriptions,
       EXISTS {
         MATCH (e)
         WHERE any(l IN labels(e) WHERE l IN $layout.entity_labels)
  AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
  AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
  AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
           AND any(k IN $layout.alias_keys WHERE e[k] IS NOT NULL)
       } AS aliases,
       EXISTS {
         MATCH (s)-[r]->(t)
         WHERE type(r) IN $layout.relation_types
           AND ($layout.relations_join_entities_only OR (
    any(l IN labels(s) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(s) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(s))
    AND ($layout.scope_property IS NULL OR s[$layout.scope_property] = $layout.scope_value)
    AND any(l IN labels(t) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(t) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(t))
    AND ($layout.scope_property IS NULL OR t[$layout.scope_property] = $layout.scope_value)))
           AND any(k IN [$layout.valid_from_key, $layout.valid_to_key, $layout.expired_key] WHERE r[k] IS NOT NULL)
       } AS validity,
       EXISTS {
         MATCH (e)
         WHERE $layout.embedding_key IS NOT NULL AND e[$layout.embedding_key] IS NOT NULL
    AND any(l IN labels(e) WHERE l IN $layout.entity_labels)
    AND none(l IN labels(e) WHERE l IN $layout.entity_excluded_labels)
    AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(e))
    AND ($layout.scope_property IS NULL OR e[$layout.scope_property] = $layout.scope_value)
       } AS entity_embeddings,
       EXISTS {
         MATCH (c)
         WHERE $layout.chunk_embedding_key IS NOT NULL AND c[$layout.chunk_embedding_key] IS NOT NULL
           AND any(l IN labels(c) WHERE l IN $layout.chunk_labels)
           AND ($layout.scope_label IS NULL OR $layout.scope_label IN labels(c))
           AND ($layout.scope_property IS NULL OR c[$layout.scope_property] = $layout.scope_value)
       } AS chunk_embeddings
