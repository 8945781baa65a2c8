"""`holdfast mcp`: what tool servers promise."""
