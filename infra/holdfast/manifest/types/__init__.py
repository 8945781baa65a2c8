"""What a value of a manifest may be."""
