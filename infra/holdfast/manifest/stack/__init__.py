"""Settings of an environment: stack files, controllers, ignore rules."""
