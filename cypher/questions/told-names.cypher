// told-names: all names and aliases of every entity in one text, one row an entity (streamed; a run's searches read all names once).
//
// returns: element_id STRING, id STRING, text STRING
// mode: read
MATCH (e:@Entity)
WITH e, reduce(all = [left(@shown(e), 2000)], k IN @name_keys + @alias_keys | all + CASE
       WHEN e[k] IS NULL THEN []
       WHEN e[k] IS :: LIST<ANY> THEN [x IN e[k] | left(toStringOrNull(x), 2000)]
       ELSE [left(toStringOrNull(e[k]), 2000)] END) AS spelled
RETURN elementId(e) AS element_id, '' AS id, reduce(all = '', x IN spelled | all + '\u0001' + coalesce(x, '')) AS text
