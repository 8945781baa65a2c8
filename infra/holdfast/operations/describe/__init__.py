"""Read views: agents, fleets, differences between stacks."""
