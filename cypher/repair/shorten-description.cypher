// shorten-description: keeps each piece of a merged description once, in order.
// What merely says the same in other words stays: that takes a model.
//
// :param element_ids => ['4:...:1']      -- LIST OF STRING: the entities, as the finding lists them; leave out those that are right
//
// returns: changed INTEGER, repeated INTEGER
// mode: write
MATCH (e)
WHERE elementId(e) IN $element_ids AND e.@description_key IS :: STRING NOT NULL AND size(@source_separator) > 0
  AND @is(e, Entity)
WITH e, split(e.@description_key, @source_separator) AS parts
WITH e, parts, reduce(kept = [], piece IN parts | CASE WHEN piece IN kept THEN kept ELSE kept + [piece] END) AS pieces
WHERE size(pieces) < size(parts)
// writes:
SET e[@description_key] = reduce(text = head(pieces), piece IN tail(pieces) | text + @source_separator + piece)
// counts:
RETURN count(*) AS changed, sum(size(parts) - size(pieces)) AS repeated
