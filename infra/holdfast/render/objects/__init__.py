"""One file an object or concern: what an agent becomes in the cluster."""
