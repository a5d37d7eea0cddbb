"""What a graph lacks of a gold set: reading gold, matching it level by level, counting."""
