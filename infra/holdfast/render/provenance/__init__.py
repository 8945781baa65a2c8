"""Which field of a manifest stands behind a field of an object."""
