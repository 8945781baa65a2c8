"""Findings over time: opened, closed, seen how often, and what a scan saw as a whole."""
