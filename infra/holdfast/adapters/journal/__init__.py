"""What scans have seen over time: an append-only journal per stack. The only room that keeps it."""
