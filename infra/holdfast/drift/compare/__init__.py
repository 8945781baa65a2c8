"""Two objects compared field by field, as their types say."""
