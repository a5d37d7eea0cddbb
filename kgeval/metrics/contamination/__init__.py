"""What a model knows without any text, and what that does to the scores of systems that retrieve [K 4.1, 6.3]."""
