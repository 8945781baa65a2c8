"""Pages that need no network and no script."""
