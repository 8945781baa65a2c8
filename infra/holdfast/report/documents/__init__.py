"""JSON documents with their schemas: what programs read."""
