"""One agent ready to be rendered: references resolved, names and labels given."""
