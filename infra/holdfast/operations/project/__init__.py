"""A repository of one's own: what is written, and what a cluster says for it."""
