"""What a set of questions touches of a graph: the graph's groups, where each question stands in it, and the figures."""
