// create-name-index: index on the normalised names of entities that kgeval wrote.
// Names in their normal form are how gold entities and questions find entities. No other writer has `name_key`.
//
// returns: nothing
// mode: write
CREATE INDEX kgeval_entity_name_key IF NOT EXISTS FOR (e:__Entity__) ON (e.name_key)
