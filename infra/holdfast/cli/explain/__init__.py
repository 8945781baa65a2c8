"""`holdfast explain`: agents, fields and rules in words."""
