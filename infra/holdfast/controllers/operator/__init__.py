"""The operator: agents as resources are watched, compared, reverted and applied."""
