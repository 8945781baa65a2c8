"""Day-two operations on one agent."""
