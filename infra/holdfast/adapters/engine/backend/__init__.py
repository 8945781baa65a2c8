"""Where a stack's state is kept, and who holds its lock."""
