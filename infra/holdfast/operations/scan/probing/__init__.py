"""Probes of a stack: models, tool servers, cards, images, mounted content."""
