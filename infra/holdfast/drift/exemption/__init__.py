"""What differs and is no drift: the server's own fields, controllers' fields, ignore rules."""
