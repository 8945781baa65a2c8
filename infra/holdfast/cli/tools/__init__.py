"""`holdfast tools`: what tool servers promise."""
