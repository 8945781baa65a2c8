"""The kind Agent: its fields, by concern, and what must agree between them."""
