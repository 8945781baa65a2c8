"""The pod of an agent: containers, environment, volumes, sidecars."""
