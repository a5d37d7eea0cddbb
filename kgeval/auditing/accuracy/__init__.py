"""Whether what a graph says is true: drawing a sample, labels by a judge or by people, estimates."""
