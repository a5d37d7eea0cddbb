// create-graph-constraint: one mark a graph's name, so that two imports cannot begin under the same name.
// Only our own label is touched.
//
// returns: nothing
// mode: write
CREATE CONSTRAINT kgeval_graph_name IF NOT EXISTS FOR (g:__KgevalGraph__) REQUIRE g.name IS UNIQUE
