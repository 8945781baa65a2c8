"""`holdfast operator`: agents as resources of a cluster."""
