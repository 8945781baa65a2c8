"""One stack of one project: its files, declaration, cluster and engine."""
