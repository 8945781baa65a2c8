"""Live tool servers, asked over the Model Context Protocol: the only room that speaks it."""
