"""`holdfast agent`: day-two operations on one agent."""
