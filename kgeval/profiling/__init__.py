"""What a graph is: its labels, keys, names and relations, and which kind of graph it is. All other rooms ask here."""
